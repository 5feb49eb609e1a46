//! A preconditioner that reports the progress of a solve, and that can end it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dgsuite_amg::Preconditioner;
use dgsuite_gpu::Vector;
use dgsuite_gpu::comm::Joint;

use super::machine::Apply;

/// Time between two norms of the residual; on a device the solve waits for each of them.
const INTERVAL: Duration = Duration::from_millis(200);

/// On several ranks, the part of this time between two agreements on what to do, and the largest number of
/// iterations: a message takes as long as an iteration of a small problem.
const ASKED: f64 = 0.25;
const MOST: f64 = 50.0;

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
    /// The iteration and the time of the last agreement of the ranks, and the iteration of the next.
    agreed: (usize, Instant),
    next: usize,
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
        let now = Instant::now();
        Self {
            inner,
            stop,
            progress,
            iteration: 0,
            said: now,
            ranks,
            agreed: (0, now),
            next: 0,
            stopped: false,
        }
    }

    /// What all ranks do together, in the iterations in which they ask each other: whether they stop, and
    /// whether they report.
    fn together(&mut self, ranks: &Joint, own: [bool; 2]) -> [bool; 2] {
        if self.iteration < self.next {
            return [false; 2];
        }
        let (last, since) = self.agreed;
        let of_one = since.elapsed().as_secs_f64() / (self.iteration - last).max(1) as f64;
        let [stop, report] = own.map(|asked| f64::from(u8::from(asked)));
        let mut asked = [stop, report, of_one];
        ranks.max(&mut asked);
        let [stop, report, of_one] = asked;
        let pause = (ASKED * INTERVAL.as_secs_f64() / of_one).clamp(1.0, MOST);
        // Before the first iteration no time is known.
        let pause = if self.iteration == 0 { 1 } else { pause as usize };
        self.agreed = (self.iteration, Instant::now());
        self.next = self.iteration + pause;
        // After a failure of the communication they are not numbers.
        self.stopped = stop != 0.0 && (own[0] || !stop.is_nan());
        [stop, report].map(|asked| asked != 0.0)
    }
}

impl<V: Vector> Preconditioner<V> for Watched<'_, V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        let stop = self.stop.load(Ordering::Relaxed);
        let report = self.iteration == 0 || self.said.elapsed() >= INTERVAL;
        let [stop, report] = match self.ranks {
            Some(ranks) => self.together(ranks, [stop, report]),
            None => {
                self.stopped = stop;
                [stop, report]
            }
        };
        if stop {
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
