//! Communication between the processes, or threads, that work on one problem together.
//!
//! Each of them is a *rank*, numbered from 0. A [`Communicator`] connects them; its implementations are
//! called planes.
//!
//! | plane | ranks are | for |
//! |---|---|---|
//! | [`Alone`] | one process | runs on one device |
//! | [`Mpi`] | processes on any number of machines, started by `mpiexec` or `srun` | runs on several devices |
//! | [`Threads`] | threads of one process | tests: messages can be delayed, reordered and lost |
//! | `children` | processes started on one host by [`run_children`] | the control of ranks with devices |
//! | `sockets` | processes of a launcher without MPI, such as `torchrun` | the same on any number of machines |
//!
//! Messages between the memories of NVIDIA devices are work of streams: see
//! [`cuda::nccl`](crate::cuda::nccl), which uses the ranks of a communicator.
//!
//! A program begins with [`launched`] and [`connect`], which choose the plane.
//!
//! Sums are sums of integers, so that no result depends on the order in which ranks answer. Floating-point
//! numbers are summed exactly by [`ExactSum`](crate::ExactSum) and [`sum_all`](crate::sum_all). Every wait
//! has a deadline. The first error of any rank ends the waits of all others, which return
//! [`CommError::Aborted`] with the rank and the sentence of that error. Waits in a driver, which have no
//! deadline, are the business of a [`Guard`].
//!
//! All ranks make the same calls in the same order: they create the same exchanges, and take part in the same
//! sums, maxima, gathers, broadcasts and barriers. Each rank may start and finish its exchanges in any order.
//!
//! Two ranks send each other eight bytes, and sum integers:
//!
//! ```
//! use dgsuite_gpu::comm::{Communicator, Partner, on_each, threads};
//!
//! let results = on_each(threads(2), |comm| {
//!     let other = 1 - comm.rank();
//!     let mut exchange = comm.exchange(&[Partner { rank: other, send: 8, receive: 8 }])?;
//!     let mut found = Vec::new();
//!     for step in 0..3u64 {
//!         let message = 10 * step + comm.rank() as u64;
//!         exchange.outgoing(0).copy_from_slice(&message.to_ne_bytes());
//!         exchange.start()?;
//!         // … work that does not need the message …
//!         exchange.finish()?;
//!         found.push(exchange.incoming(0)[0]);
//!     }
//!     let mut sum = [1, comm.rank() as i64];
//!     comm.sum(&mut sum)?;
//!     assert_eq!(sum, [2, 1]);
//!     Ok::<_, dgsuite_gpu::comm::CommError>(found)
//! });
//! assert_eq!(results, [Ok(vec![1, 11, 21]), Ok(vec![0, 10, 20])]);
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

mod alone;
mod buffers;
#[cfg_attr(not(unix), path = "comm/no_children.rs")]
mod children;
mod error;
mod guard;
mod joint;
mod launch;
mod mpi;
mod order;
pub(crate) mod process;
mod served;
mod sockets;
mod threads;
mod traffic;
mod unequal;

pub use alone::Alone;
pub(crate) use buffers::check_rank;
pub use children::{Endings, child_rank, run_children};
pub use error::CommError;
pub use guard::{GRACE, Guard};
pub use joint::Joint;
pub use launch::{COMM_PLANE_VARIABLE, Launch, connect, launched};
pub use mpi::{MPI_ADAPTER, MPI_VARIABLE, Mpi, mpi_library};
pub use threads::{Delay, Loss, ThreadOptions, Threads, on_each, threads, threads_with};
pub use traffic::{Amount, Counted, Traffic};
pub use unequal::{one_works, pass};

/// The environment variable with the deadline of every wait, in seconds.
pub const TIMEOUT_VARIABLE: &str = "DGSUITE_COMM_TIMEOUT";

/// The deadline of every wait, unless [`TIMEOUT_VARIABLE`] has another.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// The ranks that work on one problem together, as seen by one of them.
///
/// Every operation but [`abort`](Self::abort) and the queries is collective: all ranks call it, in the same
/// order. An operation that waits returns [`CommError::Silent`] with the ranks that did not answer within the
/// deadline, [`CommError::Left`] if a rank has ended, and [`CommError::Aborted`] after the first such error,
/// or a call of [`abort`](Self::abort), on any rank. After an error no operation succeeds any more.
///
/// A communicator may be shared between threads; the order of collective operations is then the caller's
/// duty. A rank that still waits when another one drops its communicator and exchanges gets
/// [`CommError::Left`].
pub trait Communicator: Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The name of the plane: `alone`, `threads`, ….
    fn plane(&self) -> &'static str;

    /// A persistent exchange of messages with neighbours. Rank a lists rank b if and only if b lists a, once,
    /// and what a sends has the length that b receives. Messages of zero bytes are allowed, and so is the own
    /// rank as partner. Exchanges belong together by the order of their creation; several may exist and be
    /// under way at a time.
    ///
    /// # Errors
    /// [`CommError::Partner`] for a rank that does not exist or is listed twice, [`CommError::OutOfMemory`].
    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError>;

    /// Replaces each value by its sum over all ranks, as integers with wrapping.
    ///
    /// # Errors
    /// Those of waits; [`CommError::Calls`] if another rank takes part in another operation.
    fn sum(&self, values: &mut [i64]) -> Result<(), CommError>;

    /// Replaces each value by its maximum over all ranks. NaN is larger than every number, so that all ranks
    /// see a bad value, and +0 is larger than −0.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn max(&self, values: &mut [f64]) -> Result<(), CommError>;

    /// The bytes of all ranks, in the order of ranks, on rank `root`; `None` on the other ranks. Lengths may
    /// differ.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError>;

    /// Replaces the bytes of all ranks by those of rank `root`.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError>;

    /// Returns when all ranks have called it.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn barrier(&self) -> Result<(), CommError>;

    /// Returns the error with which the next operation would end, as far as it is known without waiting:
    /// planes whose connections show that a rank has ended.
    fn failure(&self) -> Option<CommError> {
        None
    }

    /// What this rank has sent, if it is counted.
    fn traffic(&self) -> Option<&Arc<Traffic>> {
        None
    }

    /// Ends the waits of all ranks: their operations return [`CommError::Aborted`] with this rank and
    /// message. Of several calls the first one counts.
    fn abort(&self, message: &str);
}

impl fmt::Debug for dyn Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} ({})", self.rank(), self.size(), self.plane())
    }
}

/// A neighbour in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partner {
    /// Its rank.
    pub rank: usize,
    /// Length of the message to it, in bytes.
    pub send: usize,
    /// Length of the message from it, in bytes.
    pub receive: usize,
}

/// A repeated exchange of messages with fixed partners and lengths. A round is: fill the
/// [`outgoing`](Self::outgoing) buffers, [`start`](Self::start), other work, [`finish`](Self::finish), read
/// the [`incoming`](Self::incoming) buffers. Buffers are aligned to 64 bytes and contain zeros at first.
pub trait Exchange: Send + Sync {
    /// The buffer sent to partner `i`, in the order of the partners at creation.
    ///
    /// # Panics
    /// If there is no partner `i`, or between `start` and `finish`.
    fn outgoing(&mut self, i: usize) -> &mut [u8];

    /// Sends all messages and returns at once.
    ///
    /// # Errors
    /// [`CommError::Round`] if the exchange is under way, [`CommError::Aborted`].
    fn start(&mut self) -> Result<(), CommError>;

    /// Moves messages on, and returns whether [`finish`](Self::finish) would return without waiting. Some
    /// planes transfer large messages only inside calls: call this between pieces of other work.
    ///
    /// # Errors
    /// Those of waits, except for [`CommError::Silent`]; [`CommError::Round`] if the exchange was not
    /// started.
    fn poll(&mut self) -> Result<bool, CommError>;

    /// Waits for all messages.
    ///
    /// # Errors
    /// Those of waits; [`CommError::Round`] if the exchange was not started; [`CommError::Length`].
    fn finish(&mut self) -> Result<(), CommError>;

    /// The last message from partner `i`.
    ///
    /// # Panics
    /// If there is no partner `i`, or between `start` and `finish`.
    fn incoming(&self, i: usize) -> &[u8];
}

/// The deadline of waits: [`TIMEOUT_VARIABLE`] if it is set, else [`DEADLINE`].
///
/// # Errors
/// [`CommError::Variable`] if the variable is not a positive number of seconds.
pub fn deadline() -> Result<Duration, CommError> {
    std::env::var_os(TIMEOUT_VARIABLE).map_or(Ok(DEADLINE), |text| {
        let seconds = text.to_str().and_then(|text| text.trim().parse().ok()).filter(|&s: &f64| s > 0.0);
        seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).ok_or_else(|| CommError::Variable {
            variable: TIMEOUT_VARIABLE,
            value: text.to_string_lossy().into_owned(),
            expected: "a positive number of seconds",
        })
    })
}
