//! The correspondence of face points between two elements.

use crate::{BasisError, Shape};

/// Distance below which two face points coincide.
const SAME_POINT: f64 = 1e-9;

/// For each point of the minus side's face, the index of the plus side's point that coincides with it, when
/// the two sides have the same points in their frames and meet with orientation `k` ([`Shape::meet`]).
///
/// The permutation is its own inverse.
///
/// ```
/// use dgsuite_basis::{Quadrature, Shape, face_permutation};
/// let edge = Quadrature::gauss(Shape::Line, 3);
/// assert_eq!(face_permutation(Shape::Line, 1, &edge.points)?, [2, 1, 0]);
/// # Ok::<(), dgsuite_basis::BasisError>(())
/// ```
///
/// # Errors
/// [`BasisError::NotSymmetric`] if a point has no counterpart, or two points have the same one.
///
/// # Panics
/// If `k` is not a rotation of the face, or the shape is not that of a face.
pub fn face_permutation(face_shape: Shape, k: usize, points: &[[f64; 3]]) -> Result<Vec<usize>, BasisError> {
    let mut taken = vec![false; points.len()];
    let mut out = Vec::with_capacity(points.len());
    for (i, &x) in points.iter().enumerate() {
        let there = face_shape.meet(k, x);
        let same = |y: &[f64; 3]| (0..3).all(|d| (y[d] - there[d]).abs() < SAME_POINT);
        match points.iter().position(same) {
            Some(j) if !taken[j] => {
                taken[j] = true;
                out.push(j);
            }
            _ => return Err(BasisError::NotSymmetric { shape: face_shape, orientation: k, point: i }),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeSet, Quadrature, nodes::nodes};

    #[test]
    fn symmetric_sets_are_permuted_and_twice_is_the_identity() {
        for shape in [Shape::Line, Shape::Triangle, Shape::Quadrilateral] {
            let mut sets: Vec<Vec<[f64; 3]>> = Vec::new();
            for degree in [0, 3, 10, 20, 24] {
                sets.push(Quadrature::symmetric(shape, degree).points);
            }
            for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
                sets.push(nodes(shape, 5, set).unwrap());
            }
            for points in sets {
                for k in 0..shape.n_vertices() {
                    let there = face_permutation(shape, k, &points).unwrap();
                    for (i, &j) in there.iter().enumerate() {
                        assert_eq!(there[j], i);
                        let x = shape.meet(k, points[i]);
                        assert!((0..3).all(|d| (x[d] - points[j][d]).abs() < 1e-12));
                    }
                }
            }
        }
    }

    #[test]
    fn two_points_in_one_place_are_refused() {
        assert_eq!(
            face_permutation(Shape::Line, 1, &[[0.0; 3]; 2]),
            Err(BasisError::NotSymmetric { shape: Shape::Line, orientation: 1, point: 1 })
        );
    }

    #[test]
    fn a_lopsided_set_is_refused() {
        let rule = Quadrature::new(Shape::Triangle, 25); // collapsed, not symmetric
        assert!(matches!(
            face_permutation(Shape::Triangle, 0, &rule.points),
            Err(BasisError::NotSymmetric { orientation: 0, .. })
        ));
    }
}
