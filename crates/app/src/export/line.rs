//! The solution along a line, as a table.

use super::{ExportError, Fields, Stored};
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Located;
use crate::post::line;
use crate::post::points::at_places;
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
        let places: Vec<_> = points.iter().map(|&x| locator.find(x)).collect();
        let (at, rows_of): (Vec<_>, Vec<_>) =
            at_places(&self.polynomials(fields), &places).into_iter().unzip();
        let axes = &["x", "y", "z"][..mesh.dim];
        let mut columns: Vec<String> =
            std::iter::once("s").chain(axes.iter().copied()).map(str::to_owned).collect();
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); points.len()];
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
