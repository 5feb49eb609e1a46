//! A preconditioner that tells how far a solve has come, and that can end it.

use std::sync::atomic::{AtomicBool, Ordering};

use dgsuite_amg::Preconditioner;
use dgsuite_gpu::{HostVector, Vector};

/// A preconditioner of double-precision vectors that may go to another thread.
pub(super) type Apply = dyn Preconditioner<HostVector<f64>> + Send;

/// It is asked once in each iteration, with the residual. Once the flag is set it answers zero, which ends conjugate
/// gradients with the iterate at hand.
pub(super) struct Watched<'a> {
    inner: &'a mut Apply,
    stop: &'a AtomicBool,
    progress: &'a mut (dyn FnMut(usize, f64) + Send),
    iteration: usize,
    /// Whether the flag was seen.
    pub(super) stopped: bool,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        inner: &'a mut Apply,
        stop: &'a AtomicBool,
        progress: &'a mut (dyn FnMut(usize, f64) + Send),
    ) -> Self {
        Self { inner, stop, progress, iteration: 0, stopped: false }
    }
}

impl Preconditioner<HostVector<f64>> for Watched<'_> {
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        if self.stop.load(Ordering::Relaxed) {
            self.stopped = true;
            z.fill(0.0);
            return;
        }
        (self.progress)(self.iteration, r.norm2());
        self.iteration += 1;
        self.inner.apply(r, z);
    }
}
