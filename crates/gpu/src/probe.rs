//! Measurement of this machine's speed limits: memory bandwidth and multiply-add rate.
//!
//! The figures are the axes of a roofline: a kernel that moves `b` bytes and does `f` operations takes at
//! least `max(b / bandwidth, f / rate)`. Each figure is the best of several runs on the CPU, and the median
//! of several runs on a device.

mod bandwidth;
mod device;
mod fma;
mod messages;

use std::time::Instant;

pub use device::{DeviceEffort, DeviceLimits, measure_device};
pub use messages::{MessageTime, MessageTimes, measure_link, measure_messages};

use crate::{GpuError, Host};

/// The size of the measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Bytes of each of the three arrays of the bandwidth tests; more than the last-level cache.
    pub array_bytes: usize,
    /// Multiply-adds of each accumulator in the rate tests.
    pub fma_rounds: u64,
    /// Runs of each test, of which the best is used.
    pub runs: usize,
}

impl Default for Effort {
    /// Arrays of 128 MiB, 8 million rounds (20 to 200 ms), best of 5: one to three seconds in all.
    fn default() -> Self {
        Self { array_bytes: 128 << 20, fma_rounds: 8_000_000, runs: 5 }
    }
}

/// Measured limits of a [`Host`], with all its threads in use.
///
/// Bandwidths count the bytes of the loop (8 per `f64` read or written), without the cache line that a store
/// may fetch first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `b_i = a_i`: 16 bytes each, in bytes per second.
    pub copy: f64,
    /// `a_i = b_i + s c_i`: 24 bytes each, in bytes per second.
    pub triad: f64,
    /// `Σ a_i b_i`: 16 bytes each, none written, in bytes per second.
    pub read: f64,
    /// Double precision operations per second, a multiply-add counted as two.
    pub flops_double: f64,
    /// Single precision operations per second, a multiply-add counted as two.
    pub flops_single: f64,
}

/// Measures the limits of `host` with its threads and its SIMD level.
///
/// # Errors
/// [`GpuError::OutOfMemory`] if the arrays do not fit.
///
/// ```
/// use dgsuite_gpu::{Host, probe};
/// let little = probe::Effort { array_bytes: 1 << 16, fma_rounds: 1000, runs: 1 };
/// let limits = probe::measure(&Host::new(1)?, little)?;
/// assert!(limits.copy > 0.0 && limits.flops_double > 0.0);
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
pub fn measure(host: &Host, effort: Effort) -> Result<Limits, GpuError> {
    let memory = bandwidth::measure(host, effort)?;
    Ok(Limits {
        copy: memory.copy,
        triad: memory.triad,
        read: memory.read,
        flops_double: fma::rate_double(host, effort),
        flops_single: fma::rate_single(host, effort),
    })
}

/// Shortest time of `runs` calls, in seconds, after one call that is not counted.
fn best_time(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut best = f64::INFINITY;
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best.max(1e-9)
}
