//! Errors of communication: silent, lost and disagreeing ranks, missing libraries.

use std::fmt;
use std::time::Duration;

/// Failure of an operation between ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommError {
    /// A rank ended the work of all; the first error of any rank.
    #[error("rank {rank} ended the run: {message}")]
    Aborted {
        /// The rank with the error.
        rank: usize,
        /// Its sentence.
        message: String,
    },
    /// Ranks did not answer within the deadline.
    #[error("{} did not answer within {}", Ranks(ranks), Seconds(*deadline))]
    Silent {
        /// These ranks, in ascending order.
        ranks: Vec<usize>,
        /// The deadline.
        deadline: Duration,
    },
    /// A rank has ended, and its message will not come.
    #[error("rank {rank} has ended, but other ranks still wait for it")]
    Left {
        /// This rank.
        rank: usize,
    },
    /// A message has another length than the receiver expects.
    #[error("rank {from} sent {found} bytes where rank {to} expects {expected}")]
    Length {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The expected length, in bytes.
        expected: usize,
        /// The length of the message, in bytes.
        found: usize,
    },
    /// Ranks take part in different operations.
    #[error(
        "ranks do not make the same calls: {first} on rank {first_rank}, but {second} on rank {second_rank}"
    )]
    Calls {
        /// A rank.
        first_rank: usize,
        /// Its operation.
        first: String,
        /// Another rank.
        second_rank: usize,
        /// The operation of that rank.
        second: String,
    },
    /// A rank cannot be a partner, or a root, in an operation.
    #[error("rank {rank} of {size} cannot take part: {reason}")]
    Partner {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `start` and `finish` of an exchange do not alternate.
    #[error("an exchange was {found}: calls of start and finish must alternate")]
    Round {
        /// What happened.
        found: &'static str,
    },
    /// The process at the other side of a connection does not keep to what this program says there.
    #[error("the connection asks for {found}: is it that of another program?")]
    Protocol {
        /// What it asks for.
        found: &'static str,
    },
    /// The buffers of an exchange do not fit into memory.
    #[error("out of memory: {bytes} bytes are needed for one message")]
    OutOfMemory {
        /// Size of the buffer, in bytes.
        bytes: usize,
    },
    /// There is no library of MPI's standard ABI, and no adapter for another one.
    #[error(
        "no MPI library of the standard ABI was found (libmpi_abi.so.1 of MPICH 5, Open MPI 6 or a recent Intel MPI): \
         for another MPI, such as Open MPI 5, compile the adapter that `dgsuite mpi-adapter` prints, or install one \
         (`pip install mpich` brings a library and its mpiexec), or let DGSUITE_MPI_LIBRARY name the file; \
         tried: {tried}"
    )]
    NoMpi {
        /// The names and paths that were tried, each with the reason why it does not serve.
        tried: String,
    },
    /// The launcher and the MPI library do not belong together.
    #[error(
        "{launcher} started {started} processes, but {library} sees {found}: start the program with the mpiexec \
         that belongs to this library (under Slurm with `srun --mpi=pmi2` or `--mpi=pmix`), let DGSUITE_MPI_LIBRARY name the library of the launcher, or set \
         DGSUITE_COMM_PLANE=sockets to do without MPI"
    )]
    Strangers {
        /// The launcher.
        launcher: &'static str,
        /// The number of processes according to the launcher.
        started: usize,
        /// The library and its version.
        library: String,
        /// The number of processes according to the library.
        found: usize,
    },
    /// A function of the MPI library failed.
    #[error("MPI failed while {doing}: {reason}")]
    Mpi {
        /// The operation.
        doing: &'static str,
        /// The library's reason.
        reason: String,
    },
    /// There is no library for messages between NVIDIA devices.
    #[error(
        "no NCCL library was found (libnccl.so.2; it comes with CUDA for clusters and as PyPI's nvidia-nccl-cu12): \
         install one, or let DGSUITE_NCCL_LIBRARY name the file; tried: {tried}"
    )]
    NoNccl {
        /// The names and paths that were tried, each with the reason why it does not serve.
        tried: String,
    },
    /// A function of NCCL failed.
    #[error("NCCL failed while {doing}: {reason}")]
    Nccl {
        /// The operation.
        doing: &'static str,
        /// The reason.
        reason: String,
    },
    /// Devices cannot reach each other's memory.
    #[error("devices cannot write into each other's memory: {reason}")]
    Peer {
        /// The reason.
        reason: String,
    },
    /// The processes of a launcher did not find each other without MPI.
    #[error("the processes of {launcher} did not meet: {reason}")]
    Meeting {
        /// The launcher.
        launcher: &'static str,
        /// The reason.
        reason: String,
    },
    /// The process that started this rank cannot be reached.
    #[error("the process that started this rank does not answer: {reason}")]
    Parent {
        /// The error of the connection.
        reason: String,
    },
    /// An environment variable has a value that makes no sense.
    #[error("the environment variable {variable} is '{value}': expected {expected}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// Description of good values.
        expected: &'static str,
    },
}

/// Ranks in a sentence: `rank 3`, `ranks 1 and 3`, `ranks 0, 1, 2, 3 and 12 more`.
pub(super) struct Ranks<'a>(pub(super) &'a [usize]);

impl fmt::Display for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        let ranks = self.0;
        let list = |ranks: &[usize]| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        match ranks {
            [] => write!(f, "some rank"),
            [one] => write!(f, "rank {one}"),
            [first @ .., last] if ranks.len() <= SHOWN => write!(f, "ranks {} and {last}", list(first)),
            _ => write!(f, "ranks {} and {} more", list(&ranks[..SHOWN]), ranks.len() - SHOWN),
        }
    }
}

/// A duration in seconds, without superfluous digits.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_the_silent_ranks_and_the_deadline() {
        let sentence = |ranks: &[usize], seconds: f64| {
            CommError::Silent { ranks: ranks.to_vec(), deadline: Duration::from_secs_f64(seconds) }
                .to_string()
        };
        assert_eq!(sentence(&[3], 300.0), "rank 3 did not answer within 300 s");
        assert_eq!(sentence(&[1, 2, 5], 0.5), "ranks 1, 2 and 5 did not answer within 0.5 s");
        let many: Vec<usize> = (0..16).collect();
        assert_eq!(sentence(&many, 2.0), "ranks 0, 1, 2, 3 and 12 more did not answer within 2 s");
    }
}
