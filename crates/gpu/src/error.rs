//! Errors of a machine: memory, threads, SIMD levels, devices and their compiler.

use std::fmt;

use crate::SimdLevel;
use crate::comm::CommError;

/// Failure of a machine operation.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// An array did not fit into memory.
    #[error("out of memory: {bytes} bytes are needed for one array")]
    OutOfMemory {
        /// Size of the array, in bytes.
        bytes: u128,
    },
    /// More threads than a pool can have.
    #[error("{wanted} threads were requested, at most {most} are possible")]
    TooManyThreads {
        /// The requested number.
        wanted: usize,
        /// The largest possible number.
        most: usize,
    },
    /// The operating system did not start the threads.
    #[error("could not start {wanted} threads")]
    Threads {
        /// The requested number (0: all).
        wanted: usize,
        /// The error of the pool.
        source: rayon::ThreadPoolBuildError,
    },
    /// A word that is not a SIMD level.
    #[error("unknown SIMD level '{word}': expected portable, avx2 or avx512")]
    UnknownSimdLevel {
        /// The word.
        word: String,
    },
    /// A SIMD level that this CPU does not have.
    #[error("this CPU does not support {wanted}: its best level is {best}")]
    SimdUnavailable {
        /// The requested level.
        wanted: SimdLevel,
        /// The best level of this CPU.
        best: SimdLevel,
    },
    /// There is no NVIDIA driver on this machine.
    #[error("no NVIDIA driver was found (libcuda.so.1): install one, or run on the CPU")]
    NoDriver,
    /// The driver is older than the interface used here.
    #[error(
        "the NVIDIA driver is too old: it supports CUDA {found}, but at least {needed} is needed; update the driver"
    )]
    DriverTooOld {
        /// The CUDA version that the driver supports.
        found: CudaVersion,
        /// The oldest supported version.
        needed: CudaVersion,
    },
    /// The driver does not see any device.
    #[error("the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES = {visible})")]
    NoDevice {
        /// The environment variable that hides devices, or `unset`.
        visible: String,
    },
    /// A device number that this machine does not have.
    #[error("there is no device {ordinal}: this machine has {count}, numbered from 0")]
    NoSuchDevice {
        /// The requested number.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// An array did not fit into the memory of a device.
    #[error("out of memory on the device: {bytes} bytes are needed for {what}, {free} of {total} are free")]
    OutOfDeviceMemory {
        /// The purpose of the array.
        what: String,
        /// Its size, in bytes.
        bytes: u128,
        /// Free memory of the device, in bytes.
        free: usize,
        /// All memory of the device, in bytes.
        total: usize,
    },
    /// NVIDIA's run-time compiler was not found.
    #[error(
        "no run-time compiler was found (libnvrtc.so; it comes with the CUDA toolkit and as PyPI's \
         nvidia-cuda-nvrtc): let DGSUITE_NVRTC name the file; tried: {tried}"
    )]
    NoCompiler {
        /// The names and paths that were tried.
        tried: String,
    },
    /// Other ranks could not be reached.
    #[error(transparent)]
    Ranks(#[from] CommError),
    /// The run-time compiler found errors in a kernel text.
    #[error("{name} does not compile for {architecture}:\n{log}")]
    Compile {
        /// The name of the text.
        name: String,
        /// The architecture, such as `sm_90`.
        architecture: String,
        /// The compiler's messages, with the names and lines of the kernel texts.
        log: String,
    },
    /// The run-time compiler failed for another reason.
    #[error("the run-time compiler failed while {doing} (code {code})")]
    Compiler {
        /// The operation that failed.
        doing: &'static str,
        /// Its error code.
        code: i32,
    },
    /// A compiled text has no kernel, or no constant, of this name.
    #[error("{module} has no {what} named '{name}'")]
    NoSymbol {
        /// The name of the text.
        module: String,
        /// `kernel` or `constant`.
        what: &'static str,
        /// The requested name.
        name: String,
    },
    /// A kernel cannot be launched in this way.
    #[error("kernel {kernel} cannot be launched with {config}: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// Grid, block and shared memory.
        config: String,
        /// The driver's reason.
        reason: String,
    },
    /// A kernel failed while it ran. This process cannot use the device any more.
    #[error(
        "a kernel failed on the device ({reason}), noticed while {doing}: this run cannot use the device any more"
    )]
    Kernel {
        /// The operation that noticed it.
        doing: &'static str,
        /// The driver's reason.
        reason: String,
    },
    /// Any other failure of the driver.
    #[error("the NVIDIA driver failed while {doing}: {reason}")]
    Driver {
        /// The operation that failed.
        doing: &'static str,
        /// The driver's reason.
        reason: String,
    },
    /// Two arrays of one copy differ in length.
    #[error("{doing}: {wanted} entries do not fit into {found}")]
    Length {
        /// The operation.
        doing: &'static str,
        /// Entries expected.
        wanted: usize,
        /// Entries found.
        found: usize,
    },
}

/// A version of CUDA, as drivers and compilers report it.
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
