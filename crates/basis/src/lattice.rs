//! Equispaced lattices: the node order of curved geometry and of output cells.
//!
//! A lattice of order `n` has its points at multiples of `2/n`; `r` runs fastest, then `s`, then `t`. On
//! simplices the rows become shorter; on the pyramid level `k` of `0..=n` is a square of `(n − k + 1)²`
//! points. Order 0 is the single point at the centroid of the vertices.

use crate::Shape;

/// Number of points of the lattice of order `n`.
#[must_use]
pub const fn lattice_len(shape: Shape, n: usize) -> usize {
    match shape {
        Shape::Line => n + 1,
        Shape::Triangle => (n + 1) * (n + 2) / 2,
        Shape::Quadrilateral => (n + 1) * (n + 1),
        Shape::Tetrahedron => (n + 1) * (n + 2) * (n + 3) / 6,
        Shape::Hexahedron => (n + 1) * (n + 1) * (n + 1),
        Shape::Prism => (n + 1) * (n + 1) * (n + 2) / 2,
        Shape::Pyramid => (n + 1) * (n + 2) * (2 * n + 3) / 6,
    }
}

/// Integer coordinates `[i, j, k]` of the lattice points of order `n`, in lattice order.
///
/// On the pyramid `i` and `j` count from the corner of level `k`.
#[must_use]
pub fn lattice_indices(shape: Shape, n: usize) -> Vec<[usize; 3]> {
    let mut out = Vec::with_capacity(lattice_len(shape, n));
    let (k_end, plane): (usize, fn(Shape, usize, usize) -> (usize, bool)) = match shape {
        Shape::Line | Shape::Triangle | Shape::Quadrilateral => (0, |_, n, _| (n, false)),
        Shape::Tetrahedron => (n, |_, n, k| (n - k, true)),
        Shape::Prism => (n, |_, n, _| (n, true)),
        Shape::Hexahedron => (n, |_, n, _| (n, false)),
        Shape::Pyramid => (n, |_, n, k| (n - k, false)),
    };
    for k in 0..=k_end {
        let (m, triangular) = plane(shape, n, k);
        let triangular = triangular || shape == Shape::Triangle;
        let j_end = if shape == Shape::Line { 0 } else { m };
        for j in 0..=j_end {
            let i_end = if triangular { m - j } else { m };
            for i in 0..=i_end {
                out.push([i, j, k]);
            }
        }
    }
    out
}

/// Reference coordinates of the lattice of order `n`.
///
/// ```
/// use dgsuite_basis::{Shape, lattice::lattice};
/// assert_eq!(lattice(Shape::Triangle, 1), Shape::Triangle.vertices());
/// ```
#[must_use]
pub fn lattice(shape: Shape, n: usize) -> Vec<[f64; 3]> {
    if n == 0 {
        let v = shape.vertices();
        return vec![std::array::from_fn(|d| v.iter().map(|x| x[d]).sum::<f64>() / v.len() as f64)];
    }
    let h = 2.0 / n as f64;
    lattice_indices(shape, n)
        .into_iter()
        .map(|[i, j, k]| {
            let at = |i: usize| if 2 * i == n { 0.0 } else { -1.0 + h * i as f64 };
            match shape {
                Shape::Line => [at(i), 0.0, 0.0],
                Shape::Triangle | Shape::Quadrilateral => [at(i), at(j), 0.0],
                Shape::Pyramid => {
                    // Level k is a square of half width 1 − k/n about the axis.
                    let half = 0.5 * h * k as f64;
                    [at(i) + half, at(j) + half, at(k)]
                }
                _ => [at(i), at(j), at(k)],
            }
        })
        .collect()
}

/// Indices of the shape's vertices in the lattice of order `n ≥ 1`.
#[must_use]
pub fn lattice_vertices(shape: Shape, n: usize) -> Vec<usize> {
    let points = lattice(shape, n);
    let close = |a: &[f64; 3], b: &[f64; 3]| (0..3).all(|d| (a[d] - b[d]).abs() < 1e-12);
    shape.vertices().iter().map(|v| points.iter().position(|x| close(x, v)).unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattices_have_their_count_lie_inside_and_hold_the_vertices() {
        for shape in Shape::ALL {
            for n in 1..=6 {
                let points = lattice(shape, n);
                assert_eq!(points.len(), lattice_len(shape, n), "{shape} {n}");
                assert!(points.iter().all(|&x| shape.contains(x, 1e-12)), "{shape} {n}");
                assert!(lattice_vertices(shape, n).iter().all(|&i| i < points.len()));
            }
        }
    }
}
