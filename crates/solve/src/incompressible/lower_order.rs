//! A pressure of lower order than the velocity, in vectors of the velocity's nodes.
//!
//! With the interpolation P from the lower order, a pressure is `p = P x`. All first-order operators see p;
//! the pressure's problem `−∇²p = …`, tested with functions of the lower order, is `A x = Pᵀ b` for a load b
//! of the velocity's functions.

use dgsuite_amg::{Preconditioner, Transfer};
use dgsuite_gpu::{GpuError, Vector};

/// The space of a pressure of lower order, on any machine.
pub(super) struct LowerOrder<V> {
    transfer: Box<dyn Transfer<V> + Send + Sync>,
    inverse_mass: Box<dyn Preconditioner<V> + Send>,
    /// Vectors of the lower order.
    load: V,
    x: V,
}

impl<V: Vector<Scalar = f64>> LowerOrder<V> {
    /// The space with the transfer from the velocity's order, the inverse mass matrix of the lower order, and
    /// a vector of the lower order.
    pub(super) fn new(
        transfer: impl Transfer<V> + Send + Sync + 'static,
        inverse_mass: impl Preconditioner<V> + Send + 'static,
        like: &V,
    ) -> Result<Self, GpuError> {
        Ok(Self {
            transfer: Box::new(transfer),
            inverse_mass: Box::new(inverse_mass),
            load: like.zeros_like()?,
            x: like.zeros_like()?,
        })
    }

    /// `p ← P M⁻¹ Pᵀ b`, the pressure with the load b. The load of a field is that of its L² projection.
    pub(super) fn of_load(&mut self, b: &V, p: &mut V) {
        self.transfer.restrict(b, &mut self.load);
        self.inverse_mass.apply(&self.load, &mut self.x);
        p.fill(0.0);
        self.transfer.prolong_add(&self.x, p);
    }

    /// Solves a problem of the lower order for the load `b` from the guess in `p`, of which `guess` is the
    /// load: `solve` gets the restricted load and the vector of the guess and the solution.
    pub(super) fn solve<R>(
        &mut self,
        (b, guess): (&V, &V),
        p: &mut V,
        solve: impl FnOnce(&V, &mut V) -> R,
    ) -> R {
        self.transfer.restrict(guess, &mut self.load);
        self.inverse_mass.apply(&self.load, &mut self.x);
        self.transfer.restrict(b, &mut self.load);
        let done = solve(&self.load, &mut self.x);
        p.fill(0.0);
        self.transfer.prolong_add(&self.x, p);
        done
    }

    /// Bytes of the vectors.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.load.len() + self.x.len())
    }
}
