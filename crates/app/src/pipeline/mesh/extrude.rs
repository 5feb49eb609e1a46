//! The section `mesh.extrude`: layers over a mesh of the plane.

use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Place;

use super::MAX_CELLS;

/// Layers of prisms and hexahedra over a mesh of the plane.
#[derive(Clone, Debug)]
pub struct ExtrudeSpec {
    /// The lower end of z.
    pub start: f64,
    /// The distance of the two ends.
    pub length: f64,
    /// Number of layers.
    pub layers: usize,
    /// Whether the two ends are joined.
    pub periodic: bool,
    /// Where the section starts.
    pub place: Place,
}

/// The default lower end.
pub(super) const DEFAULT_START: f64 = 0.0;

impl ExtrudeSpec {
    pub(super) fn read(mesh: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = mesh.section("extrude")? else { return Ok(None) };
        let Some(length) = section.positive("length")? else {
            return Err(section.missing("length", "the extent in z"));
        };
        let Some(layers) = section.count("layers", 1)? else {
            return Err(section.missing("layers", "the number of layers of elements in z"));
        };
        if layers.value as f64 > MAX_CELLS {
            return Err(InputError::range(&layers, format!("from 1 to {MAX_CELLS}")));
        }
        Ok(Some(Self {
            start: section.number("start")?.map_or(DEFAULT_START, |start| start.value),
            length: length.value,
            layers: layers.value,
            periodic: section.flag("periodic")?.is_none_or(|periodic| periodic.value),
            place: section.place().clone(),
        }))
    }
}
