//! A preconditioner that reports the progress of a solve, and that can end it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dgsuite_amg::Preconditioner;
use dgsuite_gpu::Vector;
use dgsuite_gpu::comm::Joint;

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
    /// The ranks that solve together, if there are several: they stop and report together.
    ranks: Option<&'a Joint>,
    /// Whether the flag was set.
    pub stopped: bool,
}

impl<'a, V: Vector> Watched<'a, V> {
    pub(crate) fn new(
        inner: &'a mut Apply<V>,
        stop: &'a AtomicBool,
        progress: &'a mut (dyn FnMut(usize, f64) + Send),
        ranks: Option<&'a Joint>,
    ) -> Self {
        Self { inner, stop, progress, iteration: 0, said: Instant::now(), ranks, stopped: false }
    }
}

impl<V: Vector> Preconditioner<V> for Watched<'_, V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        let stop = self.stop.load(Ordering::Relaxed);
        let report = self.iteration == 0 || self.said.elapsed() >= INTERVAL;
        let mut asked = [stop, report].map(|asked| f64::from(u8::from(asked)));
        if let Some(ranks) = self.ranks {
            ranks.max(&mut asked);
        }
        // After a failure of the communication they are not numbers.
        let [stop, report] = asked.map(|asked| asked != 0.0);
        if stop {
            self.stopped = self.stop.load(Ordering::Relaxed) || !asked[0].is_nan();
            z.fill(0.0);
            return;
        }
        if report {
            (self.progress)(self.iteration, r.norm2());
            self.said = Instant::now();
        }
        self.iteration += 1;
        self.inner.apply(r, z);
    }
}
