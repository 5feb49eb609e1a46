//! Collapsed rules: Gauss–Jacobi products mapped to triangle, tetrahedron and pyramid.
//!
//! With `n` points in each direction they integrate degree `2n − 1`; weights are positive and points
//! inside. On the pyramid the same holds for the rational functions `τ^m (r/τ)^i (s/τ)^j t^k` with
//! `i, j, m + k ≤ 2n − 1`, `τ = (1 − t)/2`: products of two functions of the pyramid's space of
//! order `p`, and of such a function with a gradient, are integrated exactly from degree `2p` on.

use super::{Points, Weights, symmetric};
use crate::{Shape, jacobi};

/// The rule exact to `degree`.
///
/// # Panics
/// If the shape is not a triangle, tetrahedron or pyramid.
pub(super) fn collapsed(shape: Shape, degree: usize) -> (Points, Weights) {
    let n = degree / 2 + 1;
    let (a, wa) = jacobi::gauss_legendre(n);
    let mut points = Vec::new();
    let mut weights = Vec::new();
    match shape {
        Shape::Triangle => {
            let (b, wb) = jacobi::gauss_jacobi(n, 1, 0);
            for j in 0..n {
                for i in 0..n {
                    points.push([0.5 * (1.0 + a[i]) * (1.0 - b[j]) - 1.0, b[j], 0.0]);
                    weights.push(0.5 * wa[i] * wb[j]);
                }
            }
        }
        Shape::Tetrahedron => {
            let (b, wb) = jacobi::gauss_jacobi(n, 1, 0);
            let (c, wc) = jacobi::gauss_jacobi(n, 2, 0);
            for k in 0..n {
                for j in 0..n {
                    for i in 0..n {
                        let r = 0.25 * (1.0 + a[i]) * (1.0 - b[j]) * (1.0 - c[k]) - 1.0;
                        let s = 0.5 * (1.0 + b[j]) * (1.0 - c[k]) - 1.0;
                        points.push([r, s, c[k]]);
                        weights.push(0.125 * wa[i] * wb[j] * wc[k]);
                    }
                }
            }
        }
        Shape::Pyramid => {
            let (c, wc) = jacobi::gauss_jacobi(n, 2, 0);
            for k in 0..n {
                let tau = 0.5 * (1.0 - c[k]);
                for j in 0..n {
                    for i in 0..n {
                        points.push([a[i] * tau, a[j] * tau, c[k]]);
                        weights.push(0.25 * wa[i] * wa[j] * wc[k]);
                    }
                }
            }
        }
        _ => panic!("there is no collapsed rule on a {shape}"),
    }
    (points, weights)
}

/// The average of a collapsed rule over the symmetry group of the simplex, with one orbit for each point of
/// the rule and equal orbits merged.
///
/// # Panics
/// If the shape is neither triangle nor tetrahedron.
pub(super) fn symmetrised(shape: Shape, degree: usize) -> (Points, Weights) {
    let (points, weights) = collapsed(shape, degree);
    let n = shape.n_vertices();
    let mut orbits: Vec<([f64; 4], f64)> = Vec::new();
    for (&x, &w) in points.iter().zip(&weights) {
        let mut l = barycentric(shape, x);
        l[..n].sort_by(f64::total_cmp);
        // Coordinates that agree up to rounding are made equal, so that no point is counted twice.
        for a in 1..n {
            if l[a] - l[a - 1] < SAME {
                l[a] = l[a - 1];
            }
        }
        match orbits.iter_mut().find(|(m, _)| (0..n).all(|a| (m[a] - l[a]).abs() < SAME)) {
            Some((_, sum)) => *sum += w,
            None => orbits.push((l, w)),
        }
    }
    let mut rule = (Points::new(), Weights::new());
    for (l, w) in orbits {
        let first = rule.0.len();
        symmetric::expand(shape, l, w, &mut rule);
        let size = (rule.0.len() - first) as f64;
        rule.1[first..].iter_mut().for_each(|w| *w /= size);
    }
    rule
}

/// Difference below which two barycentric coordinates are the same.
const SAME: f64 = 1e-12;

/// Barycentric coordinates of a point of a simplex.
fn barycentric(shape: Shape, x: [f64; 3]) -> [f64; 4] {
    let mut l = [0.0; 4];
    for d in 0..shape.dim() {
        l[d + 1] = 0.5 * (1.0 + x[d]);
    }
    l[0] = 1.0 - l[1] - l[2] - l[3];
    l
}
