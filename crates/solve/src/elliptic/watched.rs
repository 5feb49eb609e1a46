//! A preconditioner that reports the progress of a solve, and that can end it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dgsuite_amg::Preconditioner;
use dgsuite_gpu::Vector;

use super::machine::Apply;

/// Time between two norms of the residual; on a device the solve waits for each of them.
const INTERVAL: Duration = Duration::from_millis(200);

/// Conjugate gradients call this preconditioner once in each iteration, with the residual. When the flag is
/// set it returns zero, which ends the iteration with the current iterate.
pub(crate) struct Watched<'a, V> {
    inner: &'a mut Apply<V>,
    stop: &'a AtomicBool,
    progress: &'a mut (dyn FnMut(usize, f64) + Send),
    iteration: usize,
    said: Instant,
    /// Whether the flag was set.
    pub stopped: bool,
}

impl<'a, V: Vector> Watched<'a, V> {
    pub(crate) fn new(
        inner: &'a mut Apply<V>,
        stop: &'a AtomicBool,
        progress: &'a mut (dyn FnMut(usize, f64) + Send),
    ) -> Self {
        Self { inner, stop, progress, iteration: 0, said: Instant::now(), stopped: false }
    }
}

impl<V: Vector> Preconditioner<V> for Watched<'_, V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        if self.stop.load(Ordering::Relaxed) {
            self.stopped = true;
            z.fill(0.0);
            return;
        }
        if self.iteration == 0 || self.said.elapsed() >= INTERVAL {
            (self.progress)(self.iteration, r.norm2());
            self.said = Instant::now();
        }
        self.iteration += 1;
        self.inner.apply(r, z);
    }
}
