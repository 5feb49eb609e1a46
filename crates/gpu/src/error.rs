//! What can go wrong on a machine: memory, threads, instruction sets, devices and their compiler.

use std::fmt;

use crate::SimdLevel;

/// Failure of a machine operation.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// An array did not fit into memory.
    #[error("out of memory: {bytes} bytes were wanted for one array")]
    OutOfMemory {
        /// Size of the array that could not be had, in bytes.
        bytes: u128,
    },
    /// More threads were asked for than a pool may have.
    #[error("{wanted} threads were asked for, at most {most} are possible")]
    TooManyThreads {
        /// The number asked for.
        wanted: usize,
        /// The largest number accepted.
        most: usize,
    },
    /// The operating system refused to start the threads.
    #[error("could not start {wanted} threads")]
    Threads {
        /// The number asked for (0: all).
        wanted: usize,
        /// The pool's own error.
        source: rayon::ThreadPoolBuildError,
    },
    /// A word that names no instruction level.
    #[error("unknown instruction level '{word}': expected portable, avx2 or avx512")]
    UnknownSimdLevel {
        /// The word as it was written.
        word: String,
    },
    /// An instruction level that this CPU does not have.
    #[error("this CPU has no {wanted}: its best level is {best}")]
    SimdUnavailable {
        /// The level asked for.
        wanted: SimdLevel,
        /// The best level of this CPU.
        best: SimdLevel,
    },
    /// There is no NVIDIA driver on this machine.
    #[error("no NVIDIA driver was found (libcuda.so.1): install one, or run on the CPU")]
    NoDriver,
    /// The driver does not know the interface that we use.
    #[error(
        "the NVIDIA driver is too old: it serves CUDA {found}, at least {needed} is needed; update the driver"
    )]
    DriverTooOld {
        /// The CUDA version that the driver serves.
        found: CudaVersion,
        /// The oldest that will do.
        needed: CudaVersion,
    },
    /// The driver is there but sees no device.
    #[error("the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES = {visible})")]
    NoDevice {
        /// The environment variable that hides devices, or `unset`.
        visible: String,
    },
    /// A device number that this machine does not have.
    #[error("there is no device {ordinal}: this machine has {count}, numbered from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// An array did not fit into the memory of a device.
    #[error("out of memory on the device: {bytes} bytes were wanted for {what}, {free} of {total} are free")]
    OutOfDeviceMemory {
        /// What the array is for.
        what: String,
        /// Its size, in bytes.
        bytes: u128,
        /// Free memory of the device, in bytes.
        free: usize,
        /// All memory of the device, in bytes.
        total: usize,
    },
    /// NVIDIA's run-time compiler is not on this machine.
    #[error(
        "no run-time compiler was found (libnvrtc.so; it comes with the CUDA toolkit and as PyPI's \
         nvidia-cuda-nvrtc): let DGSUITE_NVRTC name the file; tried: {tried}"
    )]
    NoCompiler {
        /// The names and paths that were tried.
        tried: String,
    },
    /// The run-time compiler refused a kernel's text.
    #[error("{name} does not compile for {architecture}:\n{log}")]
    Compile {
        /// The name of the text.
        name: String,
        /// What it was compiled for, such as `sm_90`.
        architecture: String,
        /// The compiler's messages, with our file names and lines.
        log: String,
    },
    /// The run-time compiler failed for a reason of its own.
    #[error("the run-time compiler failed at {doing} (code {code})")]
    Compiler {
        /// What was asked of it.
        doing: &'static str,
        /// Its error number.
        code: i32,
    },
    /// A compiled text has no kernel, or no constant, of a name.
    #[error("{module} has no {what} named '{name}'")]
    NoSymbol {
        /// The name of the text.
        module: String,
        /// `kernel` or `constant`.
        what: &'static str,
        /// The name asked for.
        name: String,
    },
    /// A kernel cannot be launched as asked.
    #[error("kernel {kernel} cannot be launched with {config}: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// Grid, block and shared memory.
        config: String,
        /// The driver's reason.
        reason: String,
    },
    /// A kernel failed while it ran. The device is unusable in this process from here on.
    #[error(
        "a kernel failed on the device ({reason}), noticed at {doing}: the device cannot be used any more by this run"
    )]
    Kernel {
        /// What was being done when it was noticed.
        doing: &'static str,
        /// The driver's reason.
        reason: String,
    },
    /// Any other failure of the driver.
    #[error("the NVIDIA driver failed at {doing}: {reason}")]
    Driver {
        /// What was asked of it.
        doing: &'static str,
        /// The driver's reason.
        reason: String,
    },
    /// Two arrays of one copy differ in length.
    #[error("{doing}: {wanted} entries do not fit {found}")]
    Length {
        /// What was asked for.
        doing: &'static str,
        /// Entries asked for.
        wanted: usize,
        /// Entries there are.
        found: usize,
    },
}

/// A version of CUDA as drivers and compilers state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion {
    /// 12 of 12.4.
    pub major: u32,
    /// 4 of 12.4.
    pub minor: u32,
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
