//! Means of a boundary's points over a homogeneous direction.

use std::collections::{BTreeMap, BTreeSet};

use super::Surface;

/// Two points of a boundary belong together if their distance across the homogeneous direction is below this
/// part of the boundary's extent.
const CLOSE: f64 = 1e-8;

/// Why there are no means.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the point ({}, {}, {}) has no other points of the boundary beside it in the direction {}",
    .point[0], .point[1], .point[2], ["x", "y", "z"][*.axis]
)]
pub struct NotInColumns {
    /// The point.
    pub point: [f64; 3],
    /// The direction, 0 to 2.
    pub axis: usize,
}

/// Coordinates in the order in which the direction `axis` is the last: a rotation, so that normals keep their
/// side.
#[must_use]
pub fn turned(x: [f64; 3], axis: usize) -> [f64; 3] {
    std::array::from_fn(|d| x[(axis + 1 + d) % 3])
}

/// The inverse of [`turned`].
#[must_use]
pub fn turned_back(x: [f64; 3], axis: usize) -> [f64; 3] {
    std::array::from_fn(|d| x[(d + 2 - axis) % 3])
}

/// The means of a boundary in three dimensions over the direction `axis`, weighted by area: a boundary in the
/// plane across it, with coordinates as [`turned`] returns them and zero along `axis`. Each face of the
/// result stands for all faces above each other, each of its points for all points of these at one place.
///
/// # Errors
/// [`NotInColumns`] for a point that is alone, as on meshes that were not extruded along `axis`.
pub fn means(surface: &Surface, axis: usize) -> Result<Surface, NotInColumns> {
    let points: Vec<[f64; 3]> = surface.points.iter().map(|x| turned(*x, axis)).collect();
    let Columns { of_point, count, first } = Columns::of(&points);
    if let Some(i) = (0..points.len()).find(|&i| count[of_point[i]] < 2) {
        return Err(NotInColumns { point: surface.points[i], axis });
    }
    // The points of a face in the order in which they appear are those of a curve in order, or in the reverse
    // one, each several times.
    let mut known: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut out = Surface { first: vec![0], scalars: surface.scalars, ..Surface::default() };
    let mut place = vec![usize::MAX; count.len()];
    for face in surface.first.windows(2) {
        let mut columns: Vec<usize> = Vec::new();
        for &column in &of_point[face[0]..face[1]] {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let mut key = columns.clone();
        key.sort_unstable();
        if columns.is_empty() || !known.insert(key) {
            continue;
        }
        for column in columns {
            let x = points[first[column]];
            place[column] = out.points.len();
            out.points.push([x[0], x[1], 0.0]);
        }
        out.first.push(out.points.len());
    }
    let n = out.points.len();
    let target = |i: usize| place[of_point[i]];
    out.weights = vec![0.0; n];
    for (i, w) in surface.weights.iter().enumerate() {
        out.weights[target(i)] += w;
    }
    let weights = &out.weights;
    let mean = |values: &[f64]| {
        let mut sums = vec![0.0; if values.is_empty() { 0 } else { n }];
        for (i, (v, w)) in values.iter().zip(&surface.weights).enumerate() {
            sums[target(i)] += v * w;
        }
        sums.iter().zip(weights).map(|(sum, w)| sum / w).collect::<Vec<f64>>()
    };
    let vectors = |values: &[[f64; 3]]| {
        let part = |d: usize| mean(&values.iter().map(|v| turned(*v, axis)[d]).collect::<Vec<f64>>());
        let parts = [part(0), part(1), part(2)];
        (0..parts[0].len()).map(|i| std::array::from_fn(|d| parts[d][i])).collect::<Vec<[f64; 3]>>()
    };
    let values = surface.values.iter().map(|values| mean(values)).collect();
    let unit = |v: &[f64; 3]| {
        let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.map(|x| x / size)
    };
    let normals = vectors(&surface.normals).iter().map(unit).collect();
    let (traction, heat) = (vectors(&surface.traction), mean(&surface.heat));
    let (u_tau, y_plus) = (mean(&surface.u_tau), mean(&surface.y_plus));
    Ok(Surface { values, normals, traction, heat, u_tau, y_plus, ..out })
}

/// Points of which those above each other have one column.
struct Columns {
    /// The column of each point.
    of_point: Vec<usize>,
    /// The number of points of each column.
    count: Vec<usize>,
    /// The first point of each column.
    first: Vec<usize>,
}

impl Columns {
    /// The columns along the last direction.
    fn of(points: &[[f64; 3]]) -> Self {
        let extent = |d: usize| {
            let all = || points.iter().map(|x| x[d]);
            all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
        };
        let close = (CLOSE * extent(0).max(extent(1))).max(f64::MIN_POSITIVE);
        let cell = |x: &[f64; 3]| [0, 1].map(|d| (x[d] / close).floor() as i64);
        let mut cells: BTreeMap<[i64; 2], Vec<usize>> = BTreeMap::new();
        let (mut count, mut first) = (Vec::new(), Vec::<usize>::new());
        let of_point = points.iter().enumerate().map(|(i, x)| {
            let at = cell(x);
            let near = (-1..=1).flat_map(|a| (-1..=1).map(move |b| [at[0] + a, at[1] + b]));
            let mut candidates = near.filter_map(|c| cells.get(&c)).flatten();
            let same = |column: &&usize| (0..2).all(|d| (points[first[**column]][d] - x[d]).abs() <= close);
            if let Some(&column) = candidates.find(same) {
                count[column] += 1;
                return column;
            }
            cells.entry(at).or_default().push(first.len());
            first.push(i);
            count.push(1);
            first.len() - 1
        });
        let of_point = of_point.collect();
        Self { of_point, count, first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two faces above each other, with two points along x and along `z` each; the second face has its points
    /// in another order, and moved by rounding.
    fn strips(lift: f64) -> Surface {
        let mut s = Surface { first: vec![0], values: vec![Vec::new()], ..Surface::default() };
        for (z, order) in [(0.0, [0, 1, 2, 3]), (1.0, [3, 1, 2, 0])] {
            for i in order {
                let (x, above) = (f64::from(i % 2), f64::from(i / 2));
                s.points.push([x + 1e-12 * z, lift * above, z + 0.5 * above]);
                s.normals.push([0.0, -1.0, 0.0]);
                s.weights.push(1.0 + z);
                s.values[0].push(10.0 * x + z);
                s.traction.push([x, 2.0, z]);
            }
            s.first.push(s.points.len());
        }
        s
    }

    #[test]
    fn points_above_each_other_become_one() {
        let mean = means(&strips(0.0), 2).unwrap();
        assert_eq!((mean.first, mean.points), (vec![0, 2], vec![[0.0; 3], [1.0, 0.0, 0.0]]));
        // The second face has twice the weight.
        assert_eq!(mean.weights, [6.0, 6.0]);
        assert_eq!(mean.values, [[4.0 / 6.0, 64.0 / 6.0]]);
        assert_eq!(mean.normals, [[0.0, -1.0, 0.0]; 2]);
        assert!((mean.traction[1][2] - 4.0 / 6.0).abs() < 1e-15 && mean.traction[1][0] == 1.0);
        assert!(mean.heat.is_empty());
    }

    #[test]
    fn points_that_are_alone_are_named() {
        let error = means(&strips(0.1), 1).unwrap_err();
        assert_eq!((error.axis, error.point), (1, [0.0; 3]));
        assert!(error.to_string().ends_with("in the direction y"));
    }

    #[test]
    fn turning_keeps_the_hand() {
        for axis in 0..3 {
            let x = [1.0, 2.0, 3.0];
            assert_eq!(turned(x, axis)[2], x[axis]);
            assert_eq!(turned_back(turned(x, axis), axis), x);
        }
        assert_eq!(turned([1.0, 2.0, 3.0], 2), [1.0, 2.0, 3.0]);
        assert_eq!(turned([1.0, 2.0, 3.0], 1), [3.0, 1.0, 2.0]);
    }
}
