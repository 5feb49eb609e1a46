//! The solution along a line or at the points of a file, as a table.

use std::path::{Path, PathBuf};

use super::{ExportError, Fields, Stored};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use crate::monitors::samples;
use dgsuite_mesh::Locator;
use dgsuite_output::writer::Values;
use dgsuite_solve::post::line;
use dgsuite_solve::post::points::at_places;

/// Fields at points.
pub struct Line {
    /// Names of the columns: on a line the distance `s` from the first point, the coordinates, the fields (of
    /// vectors the components, such as `Velocity.x`).
    pub columns: Vec<String>,
    /// Rows in the order of the points.
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
        let [a, b] = ends.value;
        let (s, points) = line::points(a, b, n.saturating_sub(1).max(1));
        let table = self.table(Some(&s), &points, fields);
        if table.rows.is_empty() {
            return Err(InputError::at(&ends.place, Problem::LineOutside { from: a, to: b }).into());
        }
        Ok(table)
    }

    /// Evaluates the solution at the points of a file (as [`samples::read`] reads them) and the fields from
    /// it.
    ///
    /// # Errors
    /// A file that cannot be read, no point in the mesh.
    pub fn at(&self, file: &Located<PathBuf>, fields: &Fields) -> Result<Line, ExportError> {
        let table = self.table(None, &samples::read(file, self.mesh().dim, Path::new(""))?, fields);
        if table.rows.is_empty() {
            let key = file.key.clone();
            return Err(InputError::at(&file.place, Problem::SampleOutside { key }).into());
        }
        Ok(table)
    }

    /// The table of the fields at points, with distances if there are any.
    fn table(&self, s: Option<&[f64]>, points: &[[f64; 3]], fields: &Fields) -> Line {
        let mesh = self.mesh();
        let locator = Locator::new(mesh);
        let places: Vec<_> = points.iter().map(|&x| locator.find(x)).collect();
        let (at, rows_of): (Vec<_>, Vec<_>) =
            at_places(&self.polynomials(fields), &places).into_iter().unzip();
        let axes = &["x", "y", "z"][..mesh.dim];
        let mut columns: Vec<String> =
            s.map(|_| "s").into_iter().chain(axes.iter().copied()).map(str::to_owned).collect();
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
                rows[row] = s.map(|s| s[row]).into_iter().collect();
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
        Line { columns, outside: points.len() - rows.len(), rows }
    }
}
