//! The solution along a line, as a table.

use std::collections::HashMap;

use super::points::evaluate;
use super::{ExportError, Fields, Stored};
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Located;
use crate::post::line;
use crate::writer::Values;
use dgsuite_mesh::Locator;

/// Fields at the points of a line.
pub struct Line {
    /// Names of the columns: the distance `s` from the first point, the coordinates, the fields (of vectors
    /// the components, such as `Velocity.x`).
    pub columns: Vec<String>,
    /// Rows in the order of the line.
    pub rows: Vec<Vec<f64>>,
    /// The number of points that are not in the mesh; they have no row.
    pub outside: usize,
}

impl Stored {
    /// Evaluates the solution at `n ≥ 2` equally spaced points from `a` to `b`, and the fields from it. On a
    /// face the values are those of the element with the lowest number.
    ///
    /// # Errors
    /// A line outside of the mesh.
    pub fn line(
        &self,
        ends: &Located<[[f64; 3]; 2]>,
        n: usize,
        fields: &Fields,
    ) -> Result<Line, ExportError> {
        let (mesh, [a, b]) = (self.mesh(), ends.value);
        let (s, points) = line::points(a, b, n.saturating_sub(1).max(1));
        let locator = Locator::new(mesh);
        let samples = self.polynomials(fields);
        // The sample and the position in it of each element.
        let mut known: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, sample) in samples.iter().enumerate() {
            known.extend(sample.elements.iter().enumerate().map(|(cell, &e)| (e, (number, cell))));
        }
        let mut places = vec![Vec::new(); samples.len()];
        let mut rows_of = vec![Vec::new(); samples.len()];
        for (row, &x) in points.iter().enumerate() {
            let found = locator.find(x).and_then(|(element, r)| Some((*known.get(&element)?, r)));
            if let Some(((number, cell), r)) = found {
                places[number].push((cell, r));
                rows_of[number].push(row);
            }
        }
        let axes = &["x", "y", "z"][..mesh.dim];
        let mut columns: Vec<String> =
            std::iter::once("s").chain(axes.iter().copied()).map(str::to_owned).collect();
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); points.len()];
        let at = samples.iter().zip(&places).map(|(sample, places)| evaluate(sample, places)).collect();
        for (number, piece) in self.computed(at, fields, 1).into_iter().enumerate() {
            let arrays =
                piece.point_data.iter().chain(piece.cell_data.iter().filter(|f| f.name != "element_id"));
            let names = arrays.clone().flat_map(|field| {
                let parts = if field.components == 3 { mesh.dim } else { field.components };
                let part = |part: usize| match field.components {
                    1 => field.name.clone(),
                    _ => format!("{}.{}", field.name, ["x", "y", "z"].get(part).unwrap_or(&"?")),
                };
                (0..parts).map(part).collect::<Vec<_>>()
            });
            if number == 0 {
                columns.extend(names);
            }
            for (i, &row) in rows_of[number].iter().enumerate() {
                rows[row] = vec![s[row]];
                rows[row].extend(&points[row][..mesh.dim]);
                for field in arrays.clone() {
                    let parts = if field.components == 3 { mesh.dim } else { field.components };
                    if let Values::Real(values) = &field.values {
                        rows[row].extend(&values[i * field.components..i * field.components + parts]);
                    }
                }
            }
        }
        rows.retain(|row| !row.is_empty());
        if rows.is_empty() {
            return Err(InputError::at(&ends.place, Problem::LineOutside { from: a, to: b }).into());
        }
        Ok(Line { columns, outside: points.len() - rows.len(), rows })
    }
}
