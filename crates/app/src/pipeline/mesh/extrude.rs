//! The section `mesh.extrude`: layers over a mesh of the plane.

use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Place;

use super::{EXTRUDE, JOINED, LAYERS, LENGTH, START};

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

impl ExtrudeSpec {
    pub(super) fn read(mesh: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = EXTRUDE.open(mesh)? else { return Ok(None) };
        Ok(Some(Self {
            length: LENGTH.read(&section)?.value,
            layers: LAYERS.read(&section)?.value,
            start: START.read(&section)?,
            periodic: JOINED.read(&section)?,
            place: section.place().clone(),
        }))
    }
}
