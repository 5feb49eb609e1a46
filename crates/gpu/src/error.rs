//! What can go wrong on a machine: memory, threads, instruction sets.

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
}
