//! The direct solver of the coarsest level: the dense inverse of its matrix.

use dgsuite_gpu::{HostVector, Scalar};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};

use crate::sparse::View;
use crate::{AmgError, NullSpace};

/// The inverse of a small symmetric matrix, or its pseudo-inverse where parts of it are singular; row-major.
///
/// The inverse is stored and multiplied in double precision, in whatever precision the vectors are. Rounded
/// to single precision, the inverse of a matrix with a condition number beyond 10⁷ may be singular, and then
/// it is not a preconditioner.
pub(crate) struct DenseInverse {
    n: usize,
    entries: Vec<f64>,
    singular: bool,
}

/// A connected part has constants in its null space if each of its rows sums to less than this fraction of
/// the diagonal.
const SINGULAR: f64 = 1e-12;

impl DenseInverse {
    /// Inverts by Cholesky factorisation. On each connected part with vanishing row sums the projector onto
    /// constants is added before and subtracted afterwards, which gives the pseudo-inverse there.
    ///
    /// `terms` are the sums of magnitudes of which the rows have become by coarsening, if they count: where
    /// large couplings have cancelled, the rounding of these is what row sums consist of.
    ///
    /// # Errors
    /// [`AmgError::Singular`] (rows numbered on this level) or [`AmgError::NotPositiveDefinite`].
    pub(crate) fn new(
        a: View<'_, f64>,
        null_space: NullSpace,
        terms: Option<&[f64]>,
    ) -> Result<Self, AmgError> {
        let n = a.n_rows();
        let mut dense = Mat::<f64>::zeros(n, n);
        let mut scale = 0.0f64;
        for i in 0..n {
            for (j, value) in a.entries(i) {
                dense[(i, j)] = value;
            }
            scale = scale.max(dense[(i, i)]);
        }
        let parts = singular_parts(a, terms);
        if let (NullSpace::None, Some(part)) = (null_space, parts.first()) {
            return Err(AmgError::Singular { row: part[0], rows: part.len() });
        }
        let add = |dense: &mut Mat<f64>, factor: f64| {
            for part in &parts {
                for &i in part {
                    for &j in part {
                        dense[(i, j)] += factor / part.len() as f64;
                    }
                }
            }
        };
        for &i in parts.iter().flatten() {
            let sum: f64 = a.entries(i).map(|(_, value)| value).sum();
            dense[(i, i)] -= sum;
        }
        add(&mut dense, scale);
        let factor = dense.llt(Side::Lower).map_err(|_| AmgError::NotPositiveDefinite { rows: n })?;
        let mut inverse = factor.inverse();
        add(&mut inverse, -1.0 / scale);
        let entry = |i: usize, j: usize| 0.5 * (inverse[(i, j)] + inverse[(j, i)]);
        let entries: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        // Rounding leaves pivots of any size in a singular matrix.
        let largest = (0..n).map(|i| entry(i, i)).fold(0.0, f64::max);
        if largest * scale * f64::EPSILON * 16.0 >= 1.0 || entries.iter().any(|a| !a.is_finite()) {
            return Err(AmgError::NotPositiveDefinite { rows: n });
        }
        Ok(Self { n, entries, singular: !parts.is_empty() })
    }

    /// `x ← A⁻¹ b`.
    pub(crate) fn apply<T: Scalar>(&self, b: &HostVector<T>, x: &mut HostVector<T>) {
        let b = b.as_slice();
        for (x, row) in x.iter_mut().zip(self.entries.chunks_exact(self.n)) {
            // Separate partial sums, which the compiler can keep in one register.
            let mut lanes = [0.0; 16];
            let (blocks, rest) = row.as_chunks::<16>();
            let (b_blocks, b_rest) = b.as_chunks::<16>();
            for (a, b) in blocks.iter().zip(b_blocks) {
                for l in 0..16 {
                    lanes[l] += a[l] * b[l].to_f64();
                }
            }
            let mut sum = 0.0;
            for (a, b) in rest.iter().zip(b_rest) {
                sum += *a * b.to_f64();
            }
            for lane in lanes {
                sum += lane;
            }
            *x = T::from_f64(sum);
        }
    }

    /// Whether some part of the matrix is singular.
    pub(crate) fn is_singular(&self) -> bool {
        self.singular
    }

    /// The entries, row by row.
    pub(crate) fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub(crate) fn n_nonzeros(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<f64>() * self.entries.len()
    }
}

/// Connected parts of a matrix whose rows sum to zero, each as an ascending list of rows.
fn singular_parts(a: View<'_, f64>, terms: Option<&[f64]>) -> Vec<Vec<usize>> {
    let n = a.n_rows();
    let mut seen = vec![false; n];
    let mut parts = Vec::new();
    for start in 0..n {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut part = vec![start];
        let mut regular = false;
        let mut next = 0;
        while let Some(&i) = part.get(next) {
            next += 1;
            let (mut sum, mut magnitude) = (0.0, terms.map_or(0.0, |terms| terms[i]));
            for (j, value) in a.entries(i) {
                sum += value;
                magnitude += value.abs();
                if value != 0.0 && !seen[j] {
                    seen[j] = true;
                    part.push(j);
                }
            }
            regular |= sum.abs() > SINGULAR * magnitude;
        }
        if !regular {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host};

    use super::*;
    use crate::{Csr, gallery};

    #[test]
    fn a_regular_matrix_is_inverted() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(7, 6, 1.0).unwrap();
        let inverse = DenseInverse::new(a.view(), NullSpace::None, None).unwrap();
        let exact: Vec<f64> = (0..42).map(|i| f64::from(i).sin()).collect();
        let b: Vec<f64> = (0..42).map(|i| a.row(i).map(|(j, v)| v * exact[j]).sum()).collect();
        let (b, mut x) = (host.upload(&b).unwrap(), host.zeros(42).unwrap());
        inverse.apply(&b, &mut x);
        assert!(x.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-13));
    }

    /// Two chains with free ends and one with fixed ends: the pseudo-inverse solves the solvable part, with
    /// mean zero on each free chain.
    #[test]
    fn each_floating_part_gets_its_pseudo_inverse() {
        let host = Host::new(1).unwrap();
        let mut entries = vec![(9, 9, 1.0)];
        for (first, end) in [(0, 4), (4, 7), (7, 10)] {
            for i in first + 1..end {
                entries.extend([(i, i, 1.0), (i - 1, i - 1, 1.0), (i, i - 1, -1.0), (i - 1, i, -1.0)]);
            }
        }
        let a = Csr::from_triplets(10, 10, entries).unwrap();
        let refused = DenseInverse::new(a.view(), NullSpace::None, None).map(|_| ());
        assert!(matches!(refused, Err(AmgError::Singular { row: 0, rows: 4 })));
        let inverse = DenseInverse::new(a.view(), NullSpace::Constant, None).unwrap();
        let exact = [-3.0, -1.0, 1.0, 3.0, 2.0, -1.0, -1.0, 5.0, 6.0, 7.0];
        // Constants added to the right-hand side of floating parts change nothing.
        let b: Vec<f64> = (0..10)
            .map(|i| a.row(i).map(|(j, v)| v * exact[j]).sum::<f64>() + if i < 4 { 10.0 } else { 0.0 })
            .collect();
        let (b, mut x) = (host.upload(&b).unwrap(), host.zeros(10).unwrap());
        inverse.apply(&b, &mut x);
        assert!(x.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-13), "{:?}", x.as_slice());
    }

    /// Solves for (1, −1) in single precision beside a constant component that is 10⁸ times as large in the
    /// inverse.
    #[test]
    fn single_precision_vectors_keep_a_matrix_near_singular_definite() {
        let host = Host::new(1).unwrap();
        let (weight, shift) = (1e4, 1e-4);
        let (on, off) = (weight + shift, -weight);
        let a = Csr::from_triplets(2, 2, [(0, 0, on), (1, 1, on), (0, 1, off), (1, 0, off)]).unwrap();
        let inverse = DenseInverse::new(a.view(), NullSpace::None, None).unwrap();
        let (b, mut x) = (host.upload(&[1.0f32, -1.0]).unwrap(), host.zeros::<f32>(2).unwrap());
        inverse.apply(&b, &mut x);
        assert!((x[0] * 2e4 - 1.0).abs() < 0.1 && (x[1] * 2e4 + 1.0).abs() < 0.1, "{:?}", x.as_slice());
    }

    #[test]
    fn indefinite_matrices_are_refused() {
        let a = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 2.0), (1, 0, 2.0)]).unwrap();
        let refused = DenseInverse::new(a.view(), NullSpace::Constant, None).map(|_| ());
        assert!(matches!(refused, Err(AmgError::NotPositiveDefinite { rows: 2 })));
        // Singular, but its null vector is not constant.
        let a = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 1.0), (1, 0, 1.0)]).unwrap();
        assert!(DenseInverse::new(a.view(), NullSpace::Constant, None).is_err());
    }
}
