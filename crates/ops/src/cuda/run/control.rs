//! Adaptive steps on a device: it accepts or rejects steps by error estimates, without the host.
//!
//! For schemes with an embedded error estimate. Each attempt of a step is followed by a kernel that compares
//! the weighted error with the tolerance, accepts the step or restores the state before it, and computes the
//! size of the next attempt. The host launches several attempts without waiting and reads their records
//! later.

use crate::cuda::run::clock::RING;
use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::run::norm::SquareSum;
use crate::cuda::text::kernel_text::REDUCE_THREADS;
use crate::lanes::simd::PackScalar;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, LaunchConfig, PinnedBuffer};

/// Words of `Control` and of `Attempt` in clock.cu.
const CONTROL_WORDS: usize = 8;
const ATTEMPT_WORDS: usize = 4;
/// Blocks and threads of the kernel that restores an array.
const RESTORE: (u32, u32) = (528, 256);

/// Initial data of the error control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlStart {
    /// The desired step.
    pub wanted: f64,
    /// Errors of the last accepted steps relative to the tolerance, the newest first.
    pub errors: [f64; 2],
    /// Number of attempts rejected since then.
    pub rejected: u32,
    /// The step bound of the state.
    pub limit: f64,
    /// The largest norm of the weighted error of an accepted step.
    pub tolerance: f64,
    /// The largest allowed multiple of the step bound.
    pub cfl: f64,
}

/// An attempted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// Its size.
    pub dt: f64,
    /// Its error relative to the tolerance; infinite if the new state is not admissible.
    pub error: f64,
    /// The step bound of the new state.
    pub limit: f64,
    /// Whether it was accepted.
    pub good: bool,
}

/// The error control of a device, with the data for undoing a step.
pub struct DeviceControl {
    control: DeviceBuffer<u64>,
    record: DeviceBuffer<u64>,
    /// The sum of the squares of weighted errors.
    square: DeviceBuffer<f64>,
    sum: SquareSum,
    /// The boundary's time integrals before the step.
    sums: DeviceBuffer<f64>,
    /// Number of attempts so far.
    attempts: u64,
}

/// A copy of the record of attempts, made asynchronously.
pub struct AttemptsCopy(PinnedBuffer<u64>);

impl AttemptsCopy {
    /// Allocates a copy.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        Ok(Self(PinnedBuffer::zeros(cuda, RING * ATTEMPT_WORDS)?))
    }

    /// Attempt `i`, counted from the beginning; only the last [`RING`] are stored.
    #[must_use]
    pub fn at(&self, i: u64) -> Attempt {
        let at = (i % RING as u64) as usize * ATTEMPT_WORDS;
        let words = &self.0[at..at + ATTEMPT_WORDS];
        let [dt, error, limit] = [0, 1, 2].map(|k| f64::from_bits(words[k]));
        Attempt { dt, error, limit, good: words[3] != 0 }
    }
}

impl DeviceControl {
    /// Number of attempts launched so far.
    #[must_use]
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Adds `n` to the number of launched attempts.
    pub fn count(&mut self, n: usize) {
        self.attempts += n as u64;
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Creates an error control that has not started.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn control(&self) -> Result<DeviceControl, GpuError> {
        let cuda = &self.cuda;
        Ok(DeviceControl {
            control: DeviceBuffer::zeros(cuda, "control of errors", CONTROL_WORDS)?,
            record: DeviceBuffer::zeros(cuda, "attempts", RING * ATTEMPT_WORDS)?,
            square: DeviceBuffer::zeros(cuda, "an error", 1)?,
            sum: SquareSum::new(cuda, &self.description)?,
            sums: DeviceBuffer::zeros(cuda, "boundary fluxes", self.sums().len())?,
            attempts: 0,
        })
    }

    /// Starts, or restarts, with the device's clock as it is.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn begin_attempts(
        &mut self,
        control: &mut DeviceControl,
        start: &ControlStart,
    ) -> Result<(), GpuError> {
        let ControlStart { wanted, errors: [second, third], rejected, limit, tolerance, cfl } = *start;
        let numbers = [wanted, second, third, limit, tolerance, cfl];
        let mut words: Vec<u64> = numbers.map(f64::to_bits).to_vec();
        words.extend([control.attempts, u64::from(rejected)]);
        control.control.upload(&words)?;
        let clock = &mut self.clock;
        clock.args.clear();
        clock.args.buffer(&control.control).buffer(&clock.clock);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&clock.begin, LaunchConfig::new(1, 1), &clock.args) }
    }

    /// Saves what a step changes besides the state. To be called before each attempt, in the device's stream.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn keep_sums(&self, control: &mut DeviceControl) -> Result<(), GpuError> {
        control.sums.copy_from(self.sums(), self.cuda.stream())
    }

    /// Restores what [`keep_sums`](Self::keep_sums) saved.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn put_sums_back(&mut self, control: &DeviceControl) -> Result<(), GpuError> {
        self.restore_sums(&control.sums)
    }

    /// Ends an attempt in the device's stream, whose weighted errors are at the address `errors`. If it is
    /// accepted, time advances; otherwise state and boundary sums are restored. Computes the size of the next
    /// attempt. On several ranks only if [`is_recordable`](Self::is_recordable).
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// `u` and `start` are addresses of distinct states on this device, after and before the step, and
    /// `errors` that of an array like them; they are valid until the stream has processed this call.
    pub unsafe fn judge(
        &mut self,
        control: &mut DeviceControl,
        errors: u64,
        u: u64,
        start: u64,
    ) -> Result<(), GpuError> {
        let link = self.halo.as_ref().map(|halo| &halo.messages.link);
        // SAFETY: the caller's contract.
        unsafe { control.sum.launch(&self.cuda, link, errors, &control.square)? };
        self.launch_speeds(u, false)?;
        let alone = self.halo.is_none();
        if !alone {
            self.least_of_all()?;
        }
        let state = self.len() * T::BYTES / 4;
        let (sums, n_sums) = (self.sums().ptr(), self.sums().len() * 2);
        let clock = &mut self.clock;
        clock.args.clear();
        if alone {
            clock.args.buffer(&clock.bounds).value(clock.n_bounds as u32);
        } else {
            // The bound of all ranks takes the place of the bounds of blocks.
            clock.args.buffer(&clock.found).value(1_u32);
        }
        clock.args.buffer(&control.square);
        clock.args.buffer(&control.control).buffer(&control.record).value(RING as u32).buffer(&clock.clock);
        let arrays = [(u, start, state), (sums, control.sums.ptr(), n_sums)];
        // SAFETY: the arguments are the kernels'; the addresses are the caller's contract, and sums have the
        // kept ones' length.
        unsafe {
            let config = LaunchConfig::new(1, REDUCE_THREADS as u32);
            self.cuda.launch(&clock.judge, config, &clock.args)?;
            for (to, from, n) in arrays {
                if n > 0 {
                    clock.args.clear();
                    clock.args.buffer(&control.control).pointer(to).pointer(from).value(n as u64);
                    self.cuda.launch(&clock.restore, LaunchConfig::new(RESTORE.0, RESTORE.1), &clock.args)?;
                }
            }
        }
        Ok(())
    }

    /// Starts to copy the record of attempts and returns at once.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// Until the stream has processed the copy, `to` must stay valid and must be neither read nor written.
    pub unsafe fn copy_attempts(
        &self,
        control: &DeviceControl,
        to: &mut AttemptsCopy,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's contract.
        unsafe { control.record.download_async(0, &mut to.0, self.cuda.stream()) }
    }
}
