//! The arrays of cells as VTK stores them, the same in every file format: points, cells, fields.

use std::io;

use dgsuite_basis::lattice::lattice_len;
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use super::{CellBlock, Field, Precision, UnstructuredFields, Values, WriterError};

/// A group of arrays. The arrays of [`Cells`](Section::Cells) are named `connectivity`, `offsets` (the end of
/// each cell) and `types`, that of [`Points`](Section::Points) `Points`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Points,
    Cells,
    PointData,
    CellData,
}

/// The type of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Float32,
    Float64,
    Int64,
    UInt8,
}

/// A file that takes arrays, section by section.
pub(super) trait Sink {
    /// Starts a section; its arrays follow.
    fn section(&mut self, section: Section);

    /// Takes an array of `n` numbers of `W` bytes, of which `components` make one tuple.
    fn array<const W: usize>(
        &mut self,
        kind: Kind,
        name: &str,
        components: usize,
        n: usize,
        value: impl Fn(usize) -> [u8; W] + Sync,
    ) -> io::Result<()>;
}

/// Gives the arrays of a block to a file; nodes are numbered within the block.
pub(super) fn write(
    sink: &mut impl Sink,
    block: &CellBlock,
    pattern: &Pattern,
    precision: Precision,
) -> io::Result<()> {
    let (n_elements, n_points) = (block.n_cells(), block.points.len());
    let per_element = lattice_len(block.shape, block.order);
    let n_parts = pattern.types.len();
    let n_cells = n_elements * n_parts;

    sink.section(Section::Points);
    real(sink, precision, "Points", 3, 3 * n_points, |i| block.points[i / 3][i % 3])?;
    sink.section(Section::Cells);
    let n_nodes = pattern.nodes.len();
    sink.array(Kind::Int64, "connectivity", 1, n_elements * n_nodes, |i| {
        ((i / n_nodes * per_element + pattern.nodes[i % n_nodes]) as i64).to_le_bytes()
    })?;
    sink.array(Kind::Int64, "offsets", 1, n_cells, |i| {
        ((i / n_parts * n_nodes + pattern.ends[i % n_parts]) as i64).to_le_bytes()
    })?;
    sink.array(Kind::UInt8, "types", 1, n_cells, |i| [pattern.types[i % n_parts] as u8])?;
    sink.section(Section::PointData);
    for values in &block.point_data {
        field(sink, precision, values, n_points, |point| point)?;
    }
    sink.section(Section::CellData);
    for values in &block.cell_data {
        field(sink, precision, values, n_cells, |cell| cell / n_parts)?;
    }
    Ok(())
}

/// Gives a field with `n` tuples, where tuple `i` is `tuple(i)`; vectors in the plane get a zero.
fn field(
    sink: &mut impl Sink,
    precision: Precision,
    field: &Field,
    n: usize,
    tuple: impl Fn(usize) -> usize + Sync,
) -> io::Result<()> {
    let given = field.components;
    let written = if given == 2 { 3 } else { given };
    let at = |i: usize| (i % written < given).then(|| tuple(i / written) * given + i % written);
    match &field.values {
        Values::Real(values) => {
            let value = |i| at(i).map_or(0.0, |at| values[at]);
            real(sink, precision, &field.name, written, n * written, value)
        }
        Values::Integer(values) => {
            let value = |i| at(i).map_or(0, |at| values[at]).to_le_bytes();
            sink.array(Kind::Int64, &field.name, written, n * written, value)
        }
    }
}

fn real(
    sink: &mut impl Sink,
    precision: Precision,
    name: &str,
    components: usize,
    n: usize,
    value: impl Fn(usize) -> f64 + Sync,
) -> io::Result<()> {
    match precision {
        Precision::Single => {
            sink.array(Kind::Float32, name, components, n, |i| (value(i) as f32).to_le_bytes())
        }
        Precision::Double => sink.array(Kind::Float64, name, components, n, |i| value(i).to_le_bytes()),
    }
}

impl UnstructuredFields {
    /// Checks that arrays have the lengths of their cells, and that all pieces have the same fields.
    pub(super) fn check(&self) -> Result<(), WriterError> {
        let signature = |fields: &[Field]| -> Vec<(String, usize, bool)> {
            let real = |f: &Field| matches!(f.values, Values::Real(_));
            fields.iter().map(|f| (f.name.clone(), f.components, real(f))).collect()
        };
        for (piece, block) in self.pieces.iter().enumerate() {
            let per_cell = lattice_len(block.shape, block.order);
            let (n_cells, n_points) = (block.n_cells(), block.points.len());
            if n_points % per_cell != 0 {
                let expected = (n_cells + 1) * per_cell;
                return Err(WriterError::Length { name: "points".into(), expected, found: n_points });
            }
            for (fields, n) in [(&block.point_data, n_points), (&block.cell_data, n_cells)] {
                for field in fields {
                    let (expected, found) = (n * field.components.max(1), field.values.len());
                    if expected != found || field.components == 0 {
                        return Err(WriterError::Length { name: field.name.clone(), expected, found });
                    }
                }
            }
            let first = &self.pieces[0];
            if signature(&block.point_data) != signature(&first.point_data)
                || signature(&block.cell_data) != signature(&first.cell_data)
            {
                return Err(WriterError::FieldsDiffer { piece });
            }
        }
        Ok(())
    }
}
