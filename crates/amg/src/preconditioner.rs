//! Simple preconditioners: the identity, the diagonal, and a wrapper for single precision.

use dgsuite_gpu::{Backend, GpuError, Host, HostVector, Scalar, Vector};

use crate::{Csr, MatrixError, Preconditioner};

/// No preconditioning: `z = r`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl<V: Vector> Preconditioner<V> for Identity {
    fn apply(&mut self, r: &V, z: &mut V) {
        z.copy_from(r);
    }
}

/// Jacobi's preconditioner: `z_i = r_i / a_ii`.
#[derive(Clone, Debug)]
pub struct Jacobi<V: Vector> {
    inverse_diagonal: V,
}

impl<V: Vector> Jacobi<V> {
    /// From `1 / a_ii`, for operators that are not stored as matrices.
    pub fn from_inverse_diagonal(inverse_diagonal: V) -> Self {
        Self { inverse_diagonal }
    }

    /// From the diagonal of a matrix, for vectors on `machine`.
    ///
    /// # Errors
    /// [`JacobiError`] if a diagonal entry is not positive or the vector does not fit into memory.
    pub fn new<T: Scalar, B: Backend<Vector<T> = V>>(
        machine: &B,
        matrix: &Csr<T>,
    ) -> Result<Self, JacobiError> {
        let mut diagonal = matrix.diagonal();
        for (row, entry) in diagonal.iter_mut().enumerate() {
            if *entry <= T::ZERO {
                return Err(MatrixError::DiagonalNotPositive { row, value: entry.to_f64() }.into());
            }
            *entry = T::ONE / *entry;
        }
        Ok(Self { inverse_diagonal: machine.upload(&diagonal)? })
    }
}

impl<V: Vector> Preconditioner<V> for Jacobi<V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        z.add_product(1.0, &self.inverse_diagonal, r, 0.0);
    }
}

/// Jacobi's preconditioner with a borrowed diagonal.
pub(crate) struct Diagonal<'a, V>(pub(crate) &'a V);

impl<V: Vector> Preconditioner<V> for Diagonal<'_, V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        z.add_product(1.0, self.0, r, 0.0);
    }
}

/// A preconditioner in single precision inside a solve in double precision. It halves the memory traffic and
/// does not change the accuracy of the Krylov method around it. Residuals are scaled to a largest entry of 1,
/// so that they neither overflow nor underflow.
#[derive(Clone, Debug)]
pub struct InSingle<M> {
    inner: M,
    r: HostVector<f32>,
    z: HostVector<f32>,
}

impl<M: Preconditioner<HostVector<f32>>> InSingle<M> {
    /// Wraps a preconditioner for vectors of `n_rows` entries.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if two vectors in single precision do not fit.
    pub fn new(host: &Host, n_rows: usize, inner: M) -> Result<Self, GpuError> {
        Ok(Self { inner, r: host.zeros(n_rows)?, z: host.zeros(n_rows)? })
    }

    /// The preconditioner inside.
    pub fn inner(&self) -> &M {
        &self.inner
    }
}

impl<M: Preconditioner<HostVector<f32>>> Preconditioner<HostVector<f64>> for InSingle<M> {
    #[track_caller]
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        assert_eq!(r.len(), self.r.len(), "the residual has as many entries as the preconditioner has rows");
        let size = r.norm_max();
        if size == 0.0 {
            z.fill(0.0);
            return;
        }
        let scale = 1.0 / size;
        self.r.for_each_piece(|first, piece| {
            for (single, r) in piece.iter_mut().zip(&r[first..]) {
                *single = (scale * r) as f32;
            }
        });
        self.inner.apply(&self.r, &mut self.z);
        let single = self.z.as_slice();
        z.for_each_piece(|first, piece| {
            for (z, single) in piece.iter_mut().zip(&single[first..]) {
                *z = size * f64::from(*single);
            }
        });
    }
}

/// Why a Jacobi preconditioner could not be built.
#[derive(Debug, thiserror::Error)]
pub enum JacobiError {
    /// The diagonal is not positive.
    #[error("no Jacobi preconditioner for this matrix")]
    Matrix {
        /// The entry at fault.
        #[from]
        source: MatrixError,
    },
    /// The vector does not fit into memory.
    #[error("no memory for the diagonal")]
    Machine {
        /// The machine's error.
        #[from]
        source: dgsuite_gpu::GpuError,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jacobi_divides_by_the_diagonal() {
        let host = Host::new(1).unwrap();
        let a = Csr::from_triplets(2, 2, [(0, 0, 4.0), (1, 1, 0.5), (0, 1, 9.0)]).unwrap();
        let r = HostVector::from_slice(&host, &[1.0, 1.0]).unwrap();
        let mut z = r.zeros_like().unwrap();
        Jacobi::new(&host, &a).unwrap().apply(&r, &mut z);
        assert_eq!(z.as_slice(), [0.25, 2.0]);
        Identity.apply(&r, &mut z);
        assert_eq!(z.as_slice(), [1.0, 1.0]);
    }

    #[test]
    fn single_precision_neither_overflows_nor_reads_zeros() {
        let host = Host::new(1).unwrap();
        let inverse = host.upload(&[0.25f32, 2.0]).unwrap();
        let mut m = InSingle::new(&host, 2, Jacobi::from_inverse_diagonal(inverse)).unwrap();
        let mut z = host.upload(&[f64::NAN; 2]).unwrap();
        for size in [1e-200, 1.0, 1e200] {
            m.apply(&host.upload(&[size, -0.5 * size]).unwrap(), &mut z);
            assert!((z[0] / size - 0.25).abs() < 1e-7 && (z[1] / size + 1.0).abs() < 1e-7, "{z:?}");
        }
        m.apply(&host.zeros(2).unwrap(), &mut z);
        assert_eq!(z.as_slice(), [0.0, 0.0]);
        m.apply(&host.upload(&[1.0, f64::NAN]).unwrap(), &mut z);
        assert!(z.iter().any(|z| z.is_nan()));
    }

    #[test]
    fn a_missing_diagonal_entry_is_named() {
        let host = Host::new(1).unwrap();
        let a = Csr::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 1.0)]).unwrap();
        let refused = Jacobi::<HostVector<f64>>::new(&host, &a).map(|_| ());
        let reason = MatrixError::DiagonalNotPositive { row: 1, value: 0.0 };
        assert!(matches!(refused, Err(JacobiError::Matrix { source }) if source == reason));
    }
}
