//! Matrices with known spectra, to test solvers with.

use std::f64::consts::PI;

use crate::{Csr, MatrixError};

/// The second difference `(−1, 2, −1)` on `n` points between zero ends.
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

/// The five-point Laplacian on `nx × ny` points (x fastest) between zero sides, with the factor `epsilon` in
/// front of the second difference in y: 1 is the isotropic problem, less or more an anisotropic one.
///
/// Eigenvectors are products of those in one dimension, eigenvalues
/// `λ_kl = λ_k(nx) + ε λ_l(ny)` by [`poisson_1d_eigenvalue`].
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
}
