//! The two simplest preconditioners: none, and the diagonal.

use dgsuite_gpu::{Backend, Scalar, Vector};

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

    /// From a matrix's diagonal, for vectors on `machine`.
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

/// Why there is no Jacobi preconditioner.
#[derive(Debug, thiserror::Error)]
pub enum JacobiError {
    /// The diagonal is not positive.
    #[error("no Jacobi preconditioner")]
    Matrix {
        /// The entry.
        #[from]
        source: MatrixError,
    },
    /// The machine refused the vector.
    #[error("no room for the diagonal")]
    Machine {
        /// The machine's error.
        #[from]
        source: dgsuite_gpu::GpuError,
    },
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Host, HostVector};

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
    fn a_missing_diagonal_entry_is_named() {
        let host = Host::new(1).unwrap();
        let a = Csr::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 1.0)]).unwrap();
        let refused = Jacobi::<HostVector<f64>>::new(&host, &a).map(|_| ());
        let reason = MatrixError::DiagonalNotPositive { row: 1, value: 0.0 };
        assert!(matches!(refused, Err(JacobiError::Matrix { source }) if source == reason));
    }
}
