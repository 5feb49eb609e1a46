//! What a Krylov method asks of a matrix and of a preconditioner.

use std::sync::Arc;

use dgsuite_gpu::Vector;

/// A linear map `y = A x` of vectors of one kind. It need not be stored as a matrix.
pub trait LinearOperator<V: Vector> {
    /// Number of rows; square operators are meant where nothing else is said.
    fn n_rows(&self) -> usize;

    /// `y ← A x`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn apply(&self, x: &V, y: &mut V);
}

impl<V: Vector, A: LinearOperator<V> + ?Sized> LinearOperator<V> for &A {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    #[track_caller]
    fn apply(&self, x: &V, y: &mut V) {
        (**self).apply(x, y);
    }
}

impl<V: Vector, A: LinearOperator<V> + ?Sized> LinearOperator<V> for Box<A> {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    #[track_caller]
    fn apply(&self, x: &V, y: &mut V) {
        (**self).apply(x, y);
    }
}

impl<V: Vector, A: LinearOperator<V> + ?Sized> LinearOperator<V> for Arc<A> {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    #[track_caller]
    fn apply(&self, x: &V, y: &mut V) {
        (**self).apply(x, y);
    }
}

/// An approximate inverse `z = M⁻¹ r`; symmetric positive definite for conjugate gradients.
pub trait Preconditioner<V: Vector> {
    /// `z ← M⁻¹ r`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn apply(&mut self, r: &V, z: &mut V);
}

impl<V: Vector, M: Preconditioner<V> + ?Sized> Preconditioner<V> for Box<M> {
    fn apply(&mut self, r: &V, z: &mut V) {
        (**self).apply(r, z);
    }
}
