//! Conjugate gradients with operator and preconditioner, on any machine.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dgsuite_amg::{KrylovVector, LinearOperator, Pcg, Preconditioner, Solution, SolveError, Stop};
use dgsuite_gpu::comm::Joint;
use dgsuite_gpu::{GpuError, HostVector, Vector};

use super::EllipticDescription;
use super::machine::Apply;
use super::preconditioner::Built;
use super::watched::Watched;

/// The solver of an elliptic problem on some machine; data and solution are on the host.
pub(super) trait Solver: Send {
    /// Adds sizes and times of set-up to a description.
    fn describe(&self, description: &mut EllipticDescription);

    /// Takes the right-hand side to the machine.
    ///
    /// # Errors
    /// The first failure of any work on a device, as for [`fetch`](Self::fetch).
    fn take(&mut self, _b: &HostVector<f64>) -> Result<(), GpuError> {
        Ok(())
    }

    /// Solves from 0, with which `x` is filled. Returns the outcome, and whether `stop` ended the solve.
    fn solve(
        &mut self,
        b: &HostVector<f64>,
        x: &mut HostVector<f64>,
        limits: &Stop,
        stop: &AtomicBool,
        progress: &mut (dyn FnMut(usize, f64) + Send),
    ) -> (Result<Solution, SolveError>, bool);

    /// Brings the last iterate to the host.
    fn fetch(&self, _x: &mut HostVector<f64>) -> Result<(), GpuError> {
        Ok(())
    }
}

/// An operator with its preconditioner and the vectors of the iteration.
pub(crate) struct Krylov<V: KrylovVector, A> {
    pub operator: A,
    pub built: Built<V>,
    pcg: Pcg<V>,
    /// The ranks that solve together, if there are several.
    pub ranks: Option<Arc<Joint>>,
}

impl<V: KrylovVector<Scalar = f64>, A: LinearOperator<V>> Krylov<V, A> {
    /// `one` is the function 1; for a singular operator, the iteration removes it.
    pub(crate) fn new(operator: A, built: Built<V>, one: &V, singular: bool) -> Result<Self, GpuError> {
        let mut pcg = Pcg::new(one)?;
        if built.flexible {
            pcg = pcg.flexible();
        }
        if singular {
            pcg = pcg.without(one)?;
        }
        Ok(Self { operator, built, pcg, ranks: None })
    }

    /// Adds the preconditioner to a description.
    pub(super) fn describe(&self, description: &mut EllipticDescription) {
        description.preconditioner_bytes = self.built.bytes();
        description.levels.clone_from(&self.built.levels);
        description.lines.clone_from(&self.built.lines);
        description.applications = self.built.applications + 1.0;
    }

    /// The number of vectors of the iteration.
    pub(super) fn vectors(&self) -> usize {
        4 + usize::from(self.built.flexible)
    }

    /// Solves from the guess in `x`.
    pub(crate) fn solve(&mut self, b: &V, x: &mut V, limits: &Stop) -> Result<Solution, SolveError> {
        self.pcg.solve(&self.operator, &mut Borrowed(&mut *self.built.apply), b, x, limits)
    }

    /// As [`solve`](Self::solve), with reports of the progress and a flag that ends the solve. Returns the
    /// outcome, and whether the flag ended it.
    pub(super) fn solve_watched(
        &mut self,
        b: &V,
        x: &mut V,
        limits: &Stop,
        stop: &AtomicBool,
        progress: &mut (dyn FnMut(usize, f64) + Send),
    ) -> (Result<Solution, SolveError>, bool) {
        let mut watched = Watched::new(&mut *self.built.apply, stop, progress, self.ranks.as_deref());
        let outcome = self.pcg.solve(&self.operator, &mut watched, b, x, limits);
        let stopped = watched.stopped && outcome.is_err();
        (outcome, stopped)
    }
}

/// A preconditioner behind a pointer.
struct Borrowed<'a, V>(&'a mut Apply<V>);

impl<V: Vector> Preconditioner<V> for Borrowed<'_, V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        self.0.apply(r, z);
    }
}
