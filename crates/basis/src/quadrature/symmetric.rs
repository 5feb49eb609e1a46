//! Fully symmetric rules from their orbits.
//!
//! An orbit is one point, given by barycentric coordinates, with all its images under permutations of the
//! vertices; all have the same weight. Tables contain only the orbits, normalised so that the weights of all
//! points add up to the reference measure.

use super::tetrahedron_table::TETRAHEDRON;
use super::triangle_table::TRIANGLE;
use super::{Points, Weights};
use crate::Shape;

/// An orbit of the triangle's symmetry group; the weight comes last.
pub(super) enum Orbit2 {
    /// The centroid.
    Centre(f64),
    /// Three points on the medians, `(a, a, 1 − 2a)`.
    Median(f64, f64),
    /// Six points, `(a, b, 1 − a − b)`.
    General(f64, f64, f64),
}

/// An orbit of the tetrahedron's symmetry group; the weight comes last.
pub(super) enum Orbit3 {
    /// The centroid.
    Centre(f64),
    /// Four points on the medians, `(a, a, a, 1 − 3a)`.
    Median(f64, f64),
    /// Six points on the axes through opposite edges, `(a, a, ½ − a, ½ − a)`.
    Axis(f64, f64),
    /// Twelve points in the planes of symmetry, `(a, a, b, 1 − 2a − b)`.
    Plane(f64, f64, f64),
    /// Twenty-four points, `(a, b, c, 1 − a − b − c)`.
    General(f64, f64, f64, f64),
}

/// The tabulated rule of the smallest degree that is at least `degree`, with its degree.
pub(super) fn triangle(degree: usize) -> Option<(Points, Weights, usize)> {
    let (degree, orbits) = TRIANGLE.iter().find(|(d, _)| *d >= degree)?;
    let mut rule = (Points::new(), Weights::new());
    for orbit in *orbits {
        let (l, w) = match *orbit {
            Orbit2::Centre(w) => ([1.0 / 3.0; 3], w),
            Orbit2::Median(a, w) => ([a, a, 1.0 - 2.0 * a], w),
            Orbit2::General(a, b, w) => ([a, b, 1.0 - a - b], w),
        };
        expand(Shape::Triangle, [l[0], l[1], l[2], 0.0], w, &mut rule);
    }
    Some((rule.0, rule.1, *degree))
}

/// The tabulated rule of the smallest degree that is at least `degree`, with its degree.
pub(super) fn tetrahedron(degree: usize) -> Option<(Points, Weights, usize)> {
    let (degree, orbits) = TETRAHEDRON.iter().find(|(d, _)| *d >= degree)?;
    let mut rule = (Points::new(), Weights::new());
    for orbit in *orbits {
        let (l, w) = match *orbit {
            Orbit3::Centre(w) => ([0.25; 4], w),
            Orbit3::Median(a, w) => ([a, a, a, 1.0 - 3.0 * a], w),
            Orbit3::Axis(a, w) => ([a, a, 0.5 - a, 0.5 - a], w),
            Orbit3::Plane(a, b, w) => ([a, a, b, 1.0 - 2.0 * a - b], w),
            Orbit3::General(a, b, c, w) => ([a, b, c, 1.0 - a - b - c], w),
        };
        expand(Shape::Tetrahedron, l, w, &mut rule);
    }
    Some((rule.0, rule.1, *degree))
}

/// Append the distinct permutations of `l` (coordinates are equal to the last bit or distinct).
pub(super) fn expand(shape: Shape, l: [f64; 4], w: f64, rule: &mut (Points, Weights)) {
    let n = shape.n_vertices();
    let mut seen: Vec<[f64; 4]> = Vec::new();
    for code in 0..n.pow(n as u32) {
        let index: [usize; 4] = std::array::from_fn(|a| if a < n { code / n.pow(a as u32) % n } else { a });
        let is_permutation = (0..n).all(|a| index.contains(&a));
        let image = index.map(|a| l[a]);
        if is_permutation && !seen.contains(&image) {
            seen.push(image);
            rule.0.push(cartesian(shape, image));
            rule.1.push(w);
        }
    }
}

/// Reference coordinates of a point of a simplex with the given barycentric coordinates.
///
/// The coordinates sum to one only up to rounding. This does no harm, because each reference coordinate is
/// computed from its own barycentric one.
fn cartesian(shape: Shape, l: [f64; 4]) -> [f64; 3] {
    std::array::from_fn(|d| if d < shape.dim() { 2.0 * l[d + 1] - 1.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use crate::{Quadrature, Shape};

    #[test]
    fn symmetric_rules_are_mapped_to_themselves() {
        for degree in [1, 2, 5, 8, 13, 20, 23] {
            let rule = Quadrature::symmetric(Shape::Triangle, degree);
            for k in 0..3 {
                for (i, &x) in rule.points.iter().enumerate() {
                    let there = Shape::Triangle.meet(k, x);
                    let meets = (0..rule.len()).filter(|&j| {
                        let y = rule.points[j];
                        (0..2).all(|d| (y[d] - there[d]).abs() < 1e-13)
                            && (rule.weights[i] - rule.weights[j]).abs() < 1e-14
                    });
                    assert_eq!(meets.count(), 1, "degree {degree} point {i}");
                }
            }
        }
    }

    #[test]
    fn tetrahedral_rules_are_mapped_to_themselves_by_vertex_swaps() {
        for degree in 1..=20 {
            let rule = Quadrature::symmetric(Shape::Tetrahedron, degree);
            for (i, x) in rule.points.iter().enumerate() {
                let fourth = -2.0 - x[0] - x[1] - x[2];
                for image in [[x[1], x[0], x[2]], [x[0], x[2], x[1]], [fourth, x[1], x[2]]] {
                    let meets = (0..rule.len()).filter(|&j| {
                        let y = rule.points[j];
                        (0..3).all(|d| (y[d] - image[d]).abs() < 1e-13) && rule.weights[i] == rule.weights[j]
                    });
                    assert_eq!(meets.count(), 1, "degree {degree} point {i}");
                }
            }
        }
    }
}
