//! Restriction and prolongation between two levels, and the implementation as a stored matrix.

use dgsuite_gpu::{HostVector, Scalar, Vector};

use crate::{Csr, LinearOperator};

/// Restriction R and prolongation P between a level and the next coarser one; `R = Pᵀ` for symmetric cycles.
pub trait Transfer<V: Vector> {
    /// `coarse ← R fine`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn restrict(&self, fine: &V, coarse: &mut V);

    /// `fine ← fine + P coarse`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn prolong_add(&self, coarse: &V, fine: &mut V);
}

/// A prolongation stored as a matrix, and its transpose.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpolation<T: Scalar> {
    p: Csr<T>,
    transposed: Csr<T>,
}

impl<T: Scalar> Interpolation<T> {
    /// From P, with a row for each row of the finer level and a column for each row of the coarser.
    pub fn new(p: Csr<T>) -> Self {
        let transposed = p.transpose();
        Self { p, transposed }
    }
}

/// Rows in parallel, each summed from left to right: the same bits for any number of threads.
impl<T: Scalar> Transfer<HostVector<T>> for Interpolation<T> {
    #[track_caller]
    fn restrict(&self, fine: &HostVector<T>, coarse: &mut HostVector<T>) {
        self.transposed.apply(fine, coarse);
    }

    #[track_caller]
    fn prolong_add(&self, coarse: &HostVector<T>, fine: &mut HostVector<T>) {
        assert_eq!(coarse.len(), self.p.n_cols(), "P has as many columns as the coarser level has rows");
        assert_eq!(fine.len(), self.p.n_rows(), "P has as many rows as the finer level");
        let (p, coarse) = (self.p.view(), coarse.as_slice());
        fine.for_each_piece(|first, piece| {
            for (i, x) in (first..).zip(piece) {
                *x += p.product(i, coarse);
            }
        });
    }
}
