//! The CPU as a machine: a thread pool and a SIMD level.

use std::fmt;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::simd::simd_versions;
use crate::{GpuError, SimdLevel};

/// Largest number of threads of a pool.
pub const MAX_THREADS: usize = 4096;

/// Stack of each thread: element kernels keep their small matrices there.
const STACK_BYTES: usize = 8 << 20;

/// The CPU: a thread pool of its own, and the SIMD level of loops.
///
/// A handle: clones share the pool. Work that calls many small operations (a time step, a solve) should run
/// inside one [`install`](Self::install); operations called from there neither switch threads nor allocate.
///
/// ```
/// use dgsuite_gpu::Host;
/// let host = Host::new(2)?;                 // 0 = all cores
/// assert_eq!(host.n_threads(), 2);
/// assert_eq!(host.install(|| 6 * 7), 42);   // runs on the pool
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

struct Inner {
    pool: ThreadPool,
    n_threads: usize,
    simd: SimdLevel,
}

/// A loop that [`Host::vectorized`] runs at the host's SIMD level.
///
/// ```
/// use dgsuite_gpu::{Host, Vectorized};
/// struct Add<'a>(&'a mut [f64], &'a [f64]);
/// impl Vectorized for Add<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run(self) {
///         self.0.iter_mut().zip(self.1).for_each(|(y, x)| *y += 2.0 * x);
///     }
/// }
/// let mut y = [0.5; 3];
/// Host::new(1)?.vectorized(Add(&mut y, &[1.0, 2.0, 3.0]));
/// assert_eq!(y, [2.5, 4.5, 6.5]);
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
pub trait Vectorized {
    /// The result.
    type Output;
    /// The loop. It must be `#[inline(always)]`, and so must be what it calls. Results have the same bits at
    /// all levels: `a * b + c` is never contracted.
    fn run(self) -> Self::Output;
}

simd_versions! {
    fn run_vectorized<W: Vectorized>(work: W) -> W::Output = Vectorized::run;
}

impl Host {
    /// A pool of `threads` threads (0: one for each core available to the process), at the best SIMD level
    /// that `DGSUITE_SIMD` allows.
    ///
    /// # Errors
    /// Too many threads, threads that do not start, or an unknown level in `DGSUITE_SIMD`.
    pub fn new(threads: usize) -> Result<Self, GpuError> {
        Self::build(threads, SimdLevel::hardware_lowered()?)
    }

    /// As [`new`](Self::new), at the given SIMD level; the environment is ignored.
    ///
    /// # Errors
    /// As for [`new`](Self::new), or [`GpuError::SimdUnavailable`] if this CPU lacks the level.
    pub fn with_simd(threads: usize, simd: SimdLevel) -> Result<Self, GpuError> {
        Self::build(threads, simd)
    }

    fn build(threads: usize, simd: SimdLevel) -> Result<Self, GpuError> {
        let best = SimdLevel::hardware();
        if simd > best {
            return Err(GpuError::SimdUnavailable { wanted: simd, best });
        }
        if threads > MAX_THREADS {
            return Err(GpuError::TooManyThreads { wanted: threads, most: MAX_THREADS });
        }
        let n_threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let pool = ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .thread_name(|i| format!("dgsuite-{i}"))
            .stack_size(STACK_BYTES)
            .build()
            .map_err(|source| GpuError::Threads { wanted: threads, source })?;
        // A thread allocates when it starts and when it first looks for work. On a busy machine both could be
        // delayed into the caller's first steps, which must not allocate.
        pool.broadcast(|_| ());
        Ok(Self { inner: Arc::new(Inner { pool, n_threads, simd }) })
    }

    /// Number of threads in the pool.
    pub fn n_threads(&self) -> usize {
        self.inner.n_threads
    }

    /// The SIMD level of loops; never above [`SimdLevel::hardware`].
    pub fn simd(&self) -> SimdLevel {
        self.inner.simd
    }

    /// Runs `work` on the pool and returns its value: every rayon call inside uses this pool's threads.
    /// From a thread of the pool it is a plain call.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.inner.pool.install(work)
    }

    /// Runs a loop on this thread, in a function compiled for the host's SIMD level.
    #[inline]
    pub fn vectorized<W: Vectorized>(&self, work: W) -> W::Output {
        run_vectorized(self, work)
    }

    /// Runs `work(i)` once on each thread `i` of the pool at the same time.
    pub(crate) fn on_each_thread<R: Send>(&self, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        self.inner.pool.broadcast(|context| work(context.index()))
    }

    /// Whether two handles share one pool.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("n_threads", &self.n_threads()).field("simd", &self.simd()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_means_all_cores() {
        let all = std::thread::available_parallelism().unwrap().get();
        assert_eq!(Host::new(0).unwrap().n_threads(), all);
    }

    #[test]
    fn rayon_inside_install_uses_this_pool() {
        let host = Host::new(3).unwrap();
        assert_eq!(host.install(rayon::current_num_threads), 3);
        assert!(host.same_as(&host.clone()) && !host.same_as(&Host::new(3).unwrap()));
    }

    #[test]
    fn bad_requests_are_named() {
        assert!(matches!(Host::new(1 << 40), Err(GpuError::TooManyThreads { .. })));
        if SimdLevel::hardware() < SimdLevel::Avx512 {
            let refused = Host::with_simd(1, SimdLevel::Avx512);
            assert!(matches!(refused, Err(GpuError::SimdUnavailable { wanted: SimdLevel::Avx512, .. })));
        }
    }
}
