//! Points at which monitors sample the solution: found in the mesh once, before the run.

use std::path::{Path, PathBuf};

use dgsuite_mesh::Locator;

use super::places::{PlacesSpec, Spacing};
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, read_text};
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::post::line;
use dgsuite_solve::{Place, RankMesh};

/// A point with its element and the coordinates in it, which are `None` outside of the mesh.
pub type Placed = ([f64; 3], Option<Place>);

/// The points of a sample.
pub struct Places {
    /// The points, in the order of the file, of the line, or of the plane, along its first side fastest.
    pub points: Vec<Placed>,
    /// For a line the distances from its first point.
    pub distances: Option<Vec<f64>>,
    /// For a plane the numbers of points along its sides.
    pub grid: Option<[usize; 2]>,
}

/// The largest number of points of a sample.
const MOST: usize = 10_000_000;

impl Places {
    /// Finds the points in the mesh; the path of a file is relative to `base`. A rank with a part of the mesh
    /// gets the places from rank 0.
    ///
    /// # Errors
    /// Points of another dimension, a file that cannot be read, no point in the mesh, a listed point outside.
    pub fn find(spec: &PlacesSpec, mesh: &RankMesh, base: &Path) -> Result<Self, InputError> {
        let locator = (!mesh.is_part()).then(|| Locator::new(mesh.seen()));
        let outside = |place: Option<Place>| place.is_none() && locator.is_some();
        let placed = |x: [f64; 3]| (x, locator.as_ref().and_then(|locator| locator.find(x)));
        let dim = mesh.dim();
        let (mut distances, mut grid) = (None, None);
        let (points, key): (Vec<Placed>, Located<()>) = match spec {
            PlacesSpec::Listed(points) => {
                let one = |point: &Located<Vec<f64>>| match placed(coordinates(point, dim)?) {
                    (x, place) if outside(place) => {
                        Err(InputError::at(&point.place, Problem::PointOutside { point: x }))
                    }
                    found => Ok(found),
                };
                let points = points.iter().map(one).collect::<Result<_, _>>()?;
                return Ok(Self { points, distances, grid });
            }
            PlacesSpec::File(file) => {
                (read(file, dim, base)?.into_iter().map(placed).collect(), file.with(()))
            }
            PlacesSpec::Line { from, to, n, spacing } => {
                let (a, b) = (coordinates(from, dim)?, coordinates(to, dim)?);
                if a == b {
                    let shown = to.with(format!("{:?}", to.value));
                    return Err(InputError::range(&shown, "a point other than the first of the line"));
                }
                few(*n, from)?;
                let (s, points) = match spacing {
                    Spacing::Uniform => line::points(a, b, n - 1),
                    Spacing::Cosine => line::cosine_points(a, b, n - 1),
                };
                distances = Some(s);
                (points.into_iter().map(placed).collect(), from.with(()))
            }
            PlacesSpec::Plane { corner, sides, n } => {
                let origin = coordinates(corner, dim)?;
                let [a, b] = [coordinates(&sides[0], dim)?, coordinates(&sides[1], dim)?];
                let normal: [f64; 3] = std::array::from_fn(|d| {
                    let (e, f) = ((d + 1) % 3, (d + 2) % 3);
                    a[e] * b[f] - a[f] * b[e]
                });
                if normal == [0.0; 3] {
                    let shown = sides[1].with(format!("{:?}", sides[1].value));
                    return Err(InputError::range(&shown, "a side that is not parallel to the first one"));
                }
                few(n[0].saturating_mul(n[1]), corner)?;
                grid = Some(*n);
                let share = |i: usize, side: usize| i as f64 / (n[side] - 1) as f64;
                let at = |k: usize| {
                    let (i, j) = (share(k % n[0], 0), share(k / n[0], 1));
                    std::array::from_fn(|d| origin[d] + i * a[d] + j * b[d])
                };
                ((0..n[0] * n[1]).map(at).map(placed).collect(), corner.with(()))
            }
        };
        if points.iter().all(|&(_, place)| outside(place)) {
            return Err(InputError::at(&key.place, Problem::SampleOutside { key: key.key }));
        }
        Ok(Self { points, distances, grid })
    }

    /// Returns the number of points outside of the mesh.
    pub fn outside(&self) -> usize {
        self.points.iter().filter(|(_, place)| place.is_none()).count()
    }
}

fn few(n: usize, place: &Located<Vec<f64>>) -> Result<(), InputError> {
    match n <= MOST {
        true => Ok(()),
        false => Err(InputError::range(&place.with(n), format!("at most {MOST} points"))),
    }
}

/// Reads the points of a table with or without a header: the columns `x`, `y` and `z`, or else the first
/// ones.
///
/// # Errors
/// A file that cannot be read, without points or with rows that are no points.
pub fn read(file: &Located<PathBuf>, dim: usize, base: &Path) -> Result<Vec<[f64; 3]>, InputError> {
    let shown = file.with(file.value.display().to_string());
    let refuse = |expected: String| InputError::range(&shown, expected);
    let path = base.join(&file.value);
    read_text(&path).map_err(|error| refuse(format!("a table that can be read: {error}")))?;
    let table =
        Columns::read_data(&path).map_err(|error| refuse(format!("a table that can be read: {error}")))?;
    points(&table, dim).map_err(refuse)
}

/// The points of a table.
///
/// # Errors
/// What is expected, in words.
fn points(table: &Columns, dim: usize) -> Result<Vec<[f64; 3]>, String> {
    let axes = &["x", "y", "z"][..dim];
    let named: Option<Vec<&[f64]>> = axes.iter().map(|axis| table.column(axis)).collect();
    let first = table.values.iter().take(dim).map(Vec::as_slice).collect::<Vec<_>>();
    let columns = named.unwrap_or(first);
    if columns.len() < dim {
        return Err(format!("{dim} columns with the coordinates of points"));
    }
    let rows = columns[0].len();
    if rows == 0 || rows > MOST {
        return Err(format!("1 to {MOST} points, a row each"));
    }
    if let Some(row) = (0..rows).find(|&row| columns.iter().any(|column| !column[row].is_finite())) {
        return Err(format!("{dim} numbers in each row, which point {} lacks", row + 1));
    }
    Ok((0..rows).map(|i| std::array::from_fn(|d| columns.get(d).map_or(0.0, |column| column[i]))).collect())
}

/// Checks that a point or vector has the dimension of the mesh.
pub(super) fn coordinates(point: &Located<Vec<f64>>, dim: usize) -> Result<[f64; 3], InputError> {
    if point.value.len() != dim {
        let expected = format!("{dim} numbers, as the mesh has {dim} dimensions");
        return Err(InputError::range(&point.with(format!("{:?}", point.value)), expected));
    }
    Ok(std::array::from_fn(|d| point.value.get(d).copied().unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_columns_of_their_names_or_the_first_ones() {
        let table = |names: &[&str], values: &[&[f64]]| Columns {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            values: values.iter().map(|column| column.to_vec()).collect(),
        };
        let named = table(&["id", "y", "x"], &[&[7.0, 8.0], &[0.5, 1.5], &[2.0, 3.0]]);
        assert_eq!(points(&named, 2).unwrap(), [[2.0, 0.5, 0.0], [3.0, 1.5, 0.0]]);
        let plain = table(&["1", "2", "3"], &[&[1.0], &[2.0], &[3.0]]);
        assert_eq!(points(&plain, 3).unwrap(), [[1.0, 2.0, 3.0]]);
        assert!(points(&plain, 2).is_ok() && points(&named, 3).is_ok());
        let short = points(&table(&["x"], &[&[1.0]]), 2).unwrap_err();
        assert_eq!(short, "2 columns with the coordinates of points");
        let broken = points(&table(&["x", "y"], &[&[1.0, 2.0], &[0.0, f64::NAN]]), 2).unwrap_err();
        assert_eq!(broken, "2 numbers in each row, which point 2 lacks");
    }
}
