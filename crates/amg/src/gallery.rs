//! Matrices with known spectra, for tests of solvers.

mod sipdg;

use std::f64::consts::PI;

pub use sipdg::sipdg_triangles;

use crate::{Csr, MatrixError};

/// The second difference `(−1, 2, −1)` on `n` points with zero boundary values.
///
/// Eigenvectors `sin(k π i / (n + 1))`, `i = 1 … n`, eigenvalues [`poisson_1d_eigenvalue`].
///
/// # Errors
/// [`MatrixError::TooLarge`].
pub fn poisson_1d(n: usize) -> Result<Csr<f64>, MatrixError> {
    poisson_2d(n, 1, 0.0)
}

/// `λ_k = 2 − 2 cos(k π / (n + 1))`, `k = 1 … n`.
pub fn poisson_1d_eigenvalue(n: usize, k: usize) -> f64 {
    // 4 sin² keeps its digits for small k.
    let s = (0.5 * PI * k as f64 / (n + 1) as f64).sin();
    4.0 * s * s
}

/// The five-point Laplacian on `nx × ny` points (x fastest) with zero boundary values and the factor
/// `epsilon` in front of the second difference in y: 1 is the isotropic problem, smaller or larger values an
/// anisotropic one.
///
/// Eigenvectors are products of the one-dimensional ones; eigenvalues are `λ_kl = λ_k(nx) + ε λ_l(ny)` with
/// [`poisson_1d_eigenvalue`].
///
/// # Errors
/// [`MatrixError::TooLarge`].
pub fn poisson_2d(nx: usize, ny: usize, epsilon: f64) -> Result<Csr<f64>, MatrixError> {
    let n = nx.saturating_mul(ny);
    let mut entries = Vec::new();
    if n <= crate::MAX_ROWS {
        entries.reserve(5 * n);
        for j in 0..ny {
            for i in 0..nx {
                let here = i + nx * j;
                entries.push((here, here, 2.0 + 2.0 * epsilon));
                if i > 0 {
                    entries.push((here, here - 1, -1.0));
                }
                if i + 1 < nx {
                    entries.push((here, here + 1, -1.0));
                }
                if j > 0 {
                    entries.push((here, here - nx, -epsilon));
                }
                if j + 1 < ny {
                    entries.push((here, here + nx, -epsilon));
                }
            }
        }
    }
    Csr::from_triplets(n, n, entries)
}

/// A Laplacian on `n × n × n` points (x fastest) with zero boundary values: `−Σ w (u_neighbour − u)`, where
/// the weight depends on the number of coordinates in which the neighbour differs.
fn stencil_3d(n: usize, weights: [f64; 3]) -> Result<Csr<f64>, MatrixError> {
    let rows = n.saturating_mul(n).saturating_mul(n);
    if rows > crate::MAX_ROWS {
        return Csr::from_triplets(rows, rows, []);
    }
    let centre = 6.0 * weights[0] + 12.0 * weights[1] + 8.0 * weights[2];
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let reach = |i: usize| i.saturating_sub(1)..n.min(i + 2);
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                for (k2, j2, i2) in
                    reach(k).flat_map(|k2| reach(j).flat_map(move |j2| reach(i).map(move |i2| (k2, j2, i2))))
                {
                    let differing = usize::from(k2 != k) + usize::from(j2 != j) + usize::from(i2 != i);
                    let value = if differing == 0 { centre } else { -weights[differing - 1] };
                    if value != 0.0 {
                        columns.push((i2 + n * (j2 + n * k2)) as u32);
                        values.push(value);
                    }
                }
                starts.push(columns.len());
            }
        }
    }
    Csr::from_arrays(rows, rows, starts, columns, values)
}

/// The seven-point Laplacian on `n³` points (x fastest) with zero boundary values. Eigenvectors are products
/// of the one-dimensional ones, eigenvalues the sums.
///
/// # Errors
/// [`MatrixError::TooLarge`].
pub fn poisson_7(n: usize) -> Result<Csr<f64>, MatrixError> {
    stencil_3d(n, [1.0, 0.0, 0.0])
}

/// The 27-point Laplacian on `n³` points (x fastest) with zero boundary values: 26 on the diagonal, −1 for
/// each neighbour.
///
/// # Errors
/// [`MatrixError::TooLarge`].
pub fn poisson_27(n: usize) -> Result<Csr<f64>, MatrixError> {
    stencil_3d(n, [1.0; 3])
}

/// `−∇·(κ ∇u)` by finite volumes on `nx × ny` cells of side 1 (x fastest), with a positive `κ(i, j)` in cell
/// (i, j) and the harmonic mean of κ on faces between cells. With `zero_sides`, u = 0 half a cell outside;
/// without, there is no flux through the boundary, and constants are in the null space.
///
/// # Errors
/// [`MatrixError::TooLarge`], or [`MatrixError::NotFinite`] if κ is.
pub fn diffusion_2d(
    nx: usize,
    ny: usize,
    zero_sides: bool,
    kappa: impl Fn(usize, usize) -> f64,
) -> Result<Csr<f64>, MatrixError> {
    let rows = nx.saturating_mul(ny);
    if rows > crate::MAX_ROWS {
        return Csr::from_triplets(rows, rows, []);
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..ny {
        for i in 0..nx {
            let here = kappa(i, j);
            // Below, left, right, above: ascending columns.
            let sides = [
                (j > 0).then(|| (i, j - 1)),
                (i > 0).then(|| (i - 1, j)),
                (i + 1 < nx).then_some((i + 1, j)),
                (j + 1 < ny).then_some((i, j + 1)),
            ];
            let coupling = |side: Option<(usize, usize)>| match side {
                Some((i, j)) => {
                    let there = kappa(i, j);
                    2.0 * here * there / (here + there)
                }
                None if zero_sides => 2.0 * here,
                None => 0.0,
            };
            let couplings = sides.map(coupling);
            for (k, side) in sides.iter().enumerate() {
                if k == 2 {
                    columns.push((i + nx * j) as u32);
                    values.push(couplings.iter().sum());
                }
                if let Some((i, j)) = side {
                    columns.push((i + nx * j) as u32);
                    values.push(-couplings[k]);
                }
            }
            starts.push(columns.len());
        }
    }
    Csr::from_arrays(rows, rows, starts, columns, values)
}

/// The Laplacian of a random graph, plus `shift` on the diagonal: `n` nodes, each connected with its
/// successor and with `degree` others that a fixed generator draws from `seed`, with weights between 0.1 and
/// 1.1. With `shift = 0` constants are in the null space.
///
/// # Errors
/// [`MatrixError::TooLarge`], or [`MatrixError::NotFinite`] if `shift` is.
pub fn random_graph(n: usize, degree: usize, shift: f64, seed: u64) -> Result<Csr<f64>, MatrixError> {
    let mut entries = Vec::new();
    if n <= crate::MAX_ROWS {
        let mut state = seed;
        let mut draw = || {
            // Knuth's linear congruential generator, high half.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as usize
        };
        for i in 0..n {
            entries.push((i, i, shift));
            for k in 0..=degree {
                let j = if k == 0 { (i + 1) % n } else { draw() % n };
                let weight = 0.1 + (draw() % 1000) as f64 / 1000.0;
                if i != j {
                    entries.extend([(i, j, -weight), (j, i, -weight), (i, i, weight), (j, j, weight)]);
                }
            }
        }
    }
    Csr::from_triplets(n, n, entries)
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host, Vector};

    use super::*;
    use crate::LinearOperator;

    #[test]
    fn eigenvectors_are_sines() {
        let host = Host::new(1).unwrap();
        let (nx, ny, epsilon) = (9, 6, 0.3);
        let a = poisson_2d(nx, ny, epsilon).unwrap();
        a.require_symmetric(0.0).unwrap();
        for (k, l) in [(1, 1), (3, 2), (9, 6), (1, 6)] {
            let sine = |k: usize, i: usize, n: usize| (k as f64 * PI * (i + 1) as f64 / (n + 1) as f64).sin();
            let v: Vec<f64> = (0..nx * ny).map(|i| sine(k, i % nx, nx) * sine(l, i / nx, ny)).collect();
            let eigenvalue = poisson_1d_eigenvalue(nx, k) + epsilon * poisson_1d_eigenvalue(ny, l);
            let v = host.upload(&v).unwrap();
            let mut av = v.zeros_like().unwrap();
            a.apply(&v, &mut av);
            av.axpby(-eigenvalue, &v, 1.0);
            assert!(av.norm_max() < 1e-14, "{k} {l}: {}", av.norm_max());
        }
    }

    #[test]
    fn one_dimension_is_the_second_difference() {
        let a = poisson_1d(3).unwrap();
        let rows: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| a.get(i, j)).collect()).collect();
        assert_eq!(rows, [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]);
        assert!((poisson_1d_eigenvalue(3, 2) - 2.0).abs() < 1e-15);
        assert!(matches!(poisson_1d(1 << 40), Err(MatrixError::TooLarge { .. })));
    }

    #[test]
    fn stencils_in_space_have_their_rows() {
        let a = poisson_7(4).unwrap();
        let inner = 1 + 4 * (1 + 4);
        let row: Vec<_> = a.row(inner).collect();
        let neighbours = [inner - 16, inner - 4, inner - 1, inner, inner + 1, inner + 4, inner + 16];
        assert_eq!(row, neighbours.map(|j| (j, if j == inner { 6.0 } else { -1.0 })));
        let b = poisson_27(4).unwrap();
        assert_eq!((b.row(inner).count(), b.row(0).count(), b.get(0, 0)), (27, 8, 26.0));
        b.require_symmetric(0.0).unwrap();
        assert!(poisson_7(1 << 40).is_err());
    }

    #[test]
    fn diffusion_is_symmetric_and_conserves() {
        let kappa = |i: usize, j: usize| 1.0 + (i * j) as f64;
        let open = diffusion_2d(7, 5, true, kappa).unwrap();
        let closed = diffusion_2d(7, 5, false, kappa).unwrap();
        open.require_symmetric(0.0).unwrap();
        // The harmonic mean of κ = 1 + 2·3 and 1 + 3·3; the coefficient of an open side is 2κ.
        assert_eq!(closed.get(2 + 7 * 3, 3 + 7 * 3), -2.0 * 7.0 * 10.0 / 17.0);
        let sums = |a: &Csr<f64>| (0..35).map(|i| a.row(i).map(|(_, v)| v).sum::<f64>()).collect::<Vec<_>>();
        assert!(sums(&closed).iter().all(|sum| sum.abs() < 1e-12));
        let open = sums(&open);
        assert!((open[3 + 7 * 2]).abs() < 1e-12 && (open[7 * 2] - 2.0).abs() < 1e-12);
        let graph = random_graph(50, 3, 0.0, 1).unwrap();
        graph.require_symmetric(1e-15).unwrap();
        assert!((0..50).all(|i| graph.row(i).map(|(_, v)| v).sum::<f64>().abs() < 1e-13));
    }
}
