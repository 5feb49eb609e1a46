//! The interfaces of matrices and preconditioners that Krylov methods use.

use std::sync::Arc;

use dgsuite_gpu::Vector;

/// A linear map `y = A x` of vectors of one kind. It need not be stored as a matrix.
pub trait LinearOperator<V: Vector> {
    /// Number of rows. Operators are square unless something else is stated.
    fn n_rows(&self) -> usize;

    /// `y ← A x`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn apply(&self, x: &V, y: &mut V);

    /// Whether [`apply`](Self::apply) only launches work on a device, so that it can be recorded and
    /// replayed: then a number that differs if anything differs that the recording contains, except the
    /// entries of vectors.
    fn recordable(&self) -> Option<u64> {
        None
    }

    /// `r ← b − A x`. Override it where a single pass over the vectors is possible.
    ///
    /// # Panics
    /// If a length does not fit.
    fn residual(&self, b: &V, x: &V, r: &mut V) {
        self.apply(x, r);
        r.axpby(1.0, b, -1.0);
    }

    /// One step of a smoother with the inverse of a diagonal, `y ← x + β D⁻¹ (b − A x)`, for operators that
    /// compute all of it in one pass. Returns whether the step was done.
    ///
    /// # Panics
    /// If a length does not fit.
    fn relax(&self, _beta: f64, _inverse_diagonal: &V, _b: &V, _x: &V, _y: &mut V) -> bool {
        false
    }
}

impl<V: Vector, A: LinearOperator<V> + ?Sized> LinearOperator<V> for &A {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    #[track_caller]
    fn apply(&self, x: &V, y: &mut V) {
        (**self).apply(x, y);
    }

    fn recordable(&self) -> Option<u64> {
        (**self).recordable()
    }

    #[track_caller]
    fn residual(&self, b: &V, x: &V, r: &mut V) {
        (**self).residual(b, x, r);
    }

    #[track_caller]
    fn relax(&self, beta: f64, inverse_diagonal: &V, b: &V, x: &V, y: &mut V) -> bool {
        (**self).relax(beta, inverse_diagonal, b, x, y)
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

    fn recordable(&self) -> Option<u64> {
        (**self).recordable()
    }

    #[track_caller]
    fn residual(&self, b: &V, x: &V, r: &mut V) {
        (**self).residual(b, x, r);
    }

    #[track_caller]
    fn relax(&self, beta: f64, inverse_diagonal: &V, b: &V, x: &V, y: &mut V) -> bool {
        (**self).relax(beta, inverse_diagonal, b, x, y)
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

    fn recordable(&self) -> Option<u64> {
        (**self).recordable()
    }

    #[track_caller]
    fn residual(&self, b: &V, x: &V, r: &mut V) {
        (**self).residual(b, x, r);
    }

    #[track_caller]
    fn relax(&self, beta: f64, inverse_diagonal: &V, b: &V, x: &V, y: &mut V) -> bool {
        (**self).relax(beta, inverse_diagonal, b, x, y)
    }
}

/// An approximate inverse `z = M⁻¹ r`; symmetric positive definite for conjugate gradients.
pub trait Preconditioner<V: Vector> {
    /// `z ← M⁻¹ r`.
    ///
    /// # Panics
    /// If a length does not fit.
    fn apply(&mut self, r: &V, z: &mut V);

    /// As [`LinearOperator::recordable`].
    fn recordable(&self) -> Option<u64> {
        None
    }

    /// The first step of a smoother, from a zero guess: `x ← β M⁻¹ b`. `z` is work space.
    ///
    /// # Panics
    /// If a length does not fit.
    fn relax_from_zero(&mut self, beta: f64, b: &V, x: &mut V, z: &mut V) {
        if !self.step(beta, b, None, x) {
            self.apply(b, z);
            x.axpby(beta, z, 0.0);
        }
    }

    /// A further step of a smoother: `y ← x + β M⁻¹ (b − A x)`, with `A x` in `r`; `r` and `z` are
    /// overwritten. Override it where fewer passes over the vectors are possible.
    ///
    /// # Panics
    /// If a length does not fit.
    fn relax(&mut self, beta: f64, b: &V, r: &mut V, z: &mut V, x: &V, y: &mut V) {
        if !self.step(beta, b, Some([x, r]), y) {
            r.axpby(1.0, b, -1.0);
            self.apply(r, z);
            y.lincomb(0.0, &[(1.0, x), (beta, z)]);
        }
    }

    /// A whole step of a smoother, `y ← x + β M⁻¹ (b − A x)` from `[x, A x]` or `y ← β M⁻¹ b` without them,
    /// if it takes fewer passes over the vectors than its parts. Returns whether the step was done.
    ///
    /// # Panics
    /// If a length does not fit.
    fn step(&mut self, _beta: f64, _b: &V, _from: Option<[&V; 2]>, _y: &mut V) -> bool {
        false
    }

    /// `M⁻¹` if it is diagonal, for operators that do a smoother's step themselves
    /// ([`LinearOperator::relax`]).
    fn inverse_diagonal(&self) -> Option<&V> {
        None
    }
}

impl<V: Vector, M: Preconditioner<V> + ?Sized> Preconditioner<V> for Box<M> {
    fn apply(&mut self, r: &V, z: &mut V) {
        (**self).apply(r, z);
    }

    fn relax_from_zero(&mut self, beta: f64, b: &V, x: &mut V, z: &mut V) {
        (**self).relax_from_zero(beta, b, x, z);
    }

    fn relax(&mut self, beta: f64, b: &V, r: &mut V, z: &mut V, x: &V, y: &mut V) {
        (**self).relax(beta, b, r, z, x, y);
    }

    fn inverse_diagonal(&self) -> Option<&V> {
        (**self).inverse_diagonal()
    }
}
