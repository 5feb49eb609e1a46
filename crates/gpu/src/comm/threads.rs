//! Ranks as threads of one process, for tests: messages can be delayed, reordered and lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::buffers::{Buffers, check_rank};
use super::{CommError, Communicator, Exchange, Partner, deadline, order};

mod hub;

use hub::{Hub, Need};

/// How the messages between threads travel.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadOptions {
    /// Deadline of every wait.
    pub deadline: Duration,
    /// Delays of messages; without, a message arrives at once.
    pub delay: Option<Delay>,
    /// A message that does not arrive.
    pub loss: Option<Loss>,
}

impl Default for ThreadOptions {
    /// The deadline of [`deadline`](super::deadline), no delays, no loss.
    fn default() -> Self {
        let deadline = deadline().unwrap_or(super::DEADLINE);
        Self { deadline, delay: None, loss: None }
    }
}

/// Delays of messages, uniformly distributed between 0 and `longest`, the same for the same seed. Messages of
/// different senders, receivers or exchanges overtake each other; those of one exchange between the same two
/// ranks do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Seed of the pseudo-random numbers.
    pub seed: u64,
    /// The longest delay.
    pub longest: Duration,
}

/// The loss of one message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its sender.
    pub from: usize,
    /// Its receiver.
    pub to: usize,
    /// How many messages from this sender to this receiver arrive before it.
    pub after: u64,
}

/// `n` ranks, each for one thread, with the options' defaults.
///
/// # Panics
/// If `n` is 0.
pub fn threads(n: usize) -> Vec<Threads> {
    threads_with(n, &ThreadOptions::default())
}

/// `n` ranks, each for one thread.
///
/// # Panics
/// If `n` is 0.
pub fn threads_with(n: usize, options: &ThreadOptions) -> Vec<Threads> {
    assert!(n > 0, "no rank at all");
    let hub = Arc::new(Hub::new(n, options.clone()));
    let member = |rank| Threads {
        member: Arc::new(Member { hub: hub.clone(), rank }),
        exchanges: AtomicU64::new(0),
        collectives: AtomicU64::new(0),
    };
    (0..n).map(member).collect()
}

/// Runs a function on every rank, each on a thread of its own, and returns the results in the order of ranks.
///
/// # Panics
/// After all threads have ended, if the function panicked on one of them.
pub fn on_each<C: Communicator, T: Send>(ranks: Vec<C>, work: impl Fn(C) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(move || work(rank))).collect();
        let ended: Vec<_> = started.into_iter().map(|thread| thread.join()).collect();
        ended.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// One of several threads that work together. When it is dropped, with its exchanges, before others have its
/// messages, they get [`CommError::Left`]; if its thread panics, [`CommError::Aborted`].
pub struct Threads {
    member: Arc<Member>,
    /// Exchanges and collective operations so far: their numbers are the same on all ranks.
    exchanges: AtomicU64,
    collectives: AtomicU64,
}

/// A view of the first error of any rank.
pub(super) struct Watch(Arc<Hub>);

impl Watch {
    pub(super) fn failure(&self) -> Option<CommError> {
        self.0.failure()
    }
}

/// The membership of a rank, which ends with its communicator and all its exchanges.
struct Member {
    hub: Arc<Hub>,
    rank: usize,
}

impl Drop for Member {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.hub.abort(self.rank, "its thread panicked");
        }
        self.hub.leave(self.rank);
    }
}

impl Threads {
    pub(super) fn watch(&self) -> Watch {
        Watch(Arc::clone(&self.member.hub))
    }

    /// A collective operation: deposits bytes, waits for those that are needed, and reads them.
    fn together<T>(
        &self,
        call: String,
        deposit: Option<Vec<u8>>,
        need: Need,
        read: impl FnOnce(&[&[u8]]) -> T,
    ) -> Result<T, CommError> {
        let number = self.collectives.fetch_add(1, Ordering::Relaxed);
        self.member.hub.together(self.member.rank, number, call, deposit, need, read)
    }

    /// Combines numbers of 8 bytes of all ranks.
    fn combine(&self, name: &str, values: &mut [i64], with: fn(i64, i64) -> i64) -> Result<(), CommError> {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.together(format!("{name} of {} values", values.len()), Some(bytes), Need::All, |parts| {
            for (i, value) in values.iter_mut().enumerate() {
                let numbers = parts.iter().map(|part| i64::from_ne_bytes(part.as_chunks().0[i]));
                *value = numbers.reduce(with).unwrap_or(*value);
            }
        })
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.member.rank
    }

    fn size(&self) -> usize {
        self.member.hub.size()
    }

    fn plane(&self) -> &'static str {
        "threads"
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let buffers = Buffers::new(partners, self.size())?;
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let waiting = vec![false; partners.len()];
        Ok(Box::new(Mail { member: self.member.clone(), number, buffers, waiting }))
    }

    fn sum(&self, values: &mut [i64]) -> Result<(), CommError> {
        self.combine("a sum", values, i64::wrapping_add)
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        let mut keys: Vec<i64> = values.iter().map(|&value| order::key(value)).collect();
        self.combine("a maximum", &mut keys, i64::max)?;
        for (value, key) in values.iter_mut().zip(keys) {
            *value = order::number(key);
        }
        Ok(())
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        check_rank(root, self.size())?;
        let is_root = self.rank() == root;
        let need = if is_root { Need::All } else { Need::None };
        self.together(format!("a gather on rank {root}"), Some(bytes.to_vec()), need, |parts| {
            is_root.then(|| parts.iter().map(|part| part.to_vec()).collect())
        })
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        check_rank(root, self.size())?;
        let is_root = self.rank() == root;
        let deposit = is_root.then(|| bytes.clone());
        let need = if is_root { Need::None } else { Need::One(root) };
        self.together(format!("a broadcast from rank {root}"), deposit, need, |parts| {
            if !is_root {
                bytes.clear();
                bytes.extend_from_slice(parts[0]);
            }
        })
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.together("a barrier".to_owned(), Some(Vec::new()), Need::All, |_| ())
    }

    fn failure(&self) -> Option<CommError> {
        self.member.hub.failure_beside(self.member.rank)
    }

    fn abort(&self, message: &str) {
        self.member.hub.abort(self.member.rank, message);
    }
}

/// An exchange between threads.
struct Mail {
    member: Arc<Member>,
    number: u64,
    buffers: Buffers,
    /// The partners whose message of this round has not arrived.
    waiting: Vec<bool>,
}

impl Exchange for Mail {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.buffers.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        self.buffers.begin()?;
        self.waiting.fill(true);
        for (partner, bytes) in self.buffers.partners.iter().zip(&self.buffers.outgoing) {
            self.member.hub.send(self.member.rank, partner.rank, self.number, bytes)?;
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.buffers.check_begun()?;
        let Self { member, number, buffers, waiting } = self;
        let Buffers { partners, incoming, .. } = buffers;
        member.hub.receive(member.rank, *number, partners, incoming, waiting, Instant::now())
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.buffers.check_begun()?;
        let Self { member, number, buffers, waiting } = self;
        let Buffers { partners, incoming, .. } = buffers;
        member.hub.receive_all(member.rank, *number, partners, incoming, waiting)?;
        self.buffers.end();
        Ok(())
    }

    fn incoming(&self, i: usize) -> &[u8] {
        self.buffers.incoming(i)
    }
}
