//! How much ranks send: messages, their bytes, and agreements of all ranks.

use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{CommError, Communicator, Exchange, Partner};

/// An amount of communication of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amount {
    /// Messages from this rank to another one.
    pub messages: u64,
    /// Their length.
    pub bytes: u64,
    /// Sums, maxima and barriers of all ranks.
    pub agreements: u64,
}

impl Amount {
    /// Messages of these lengths. Those without a byte are not sent.
    pub(crate) fn of(lengths: impl IntoIterator<Item = usize>) -> Self {
        let sent = lengths.into_iter().filter(|n| *n > 0);
        sent.fold(Self::default(), |all, n| all + Self { messages: 1, bytes: n as u64, agreements: 0 })
    }

    /// One sum, maximum or barrier.
    pub(crate) const AGREEMENT: Self = Self { messages: 0, bytes: 0, agreements: 1 };
}

impl Add for Amount {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            messages: self.messages.wrapping_add(o.messages),
            bytes: self.bytes.wrapping_add(o.bytes),
            agreements: self.agreements.wrapping_add(o.agreements),
        }
    }
}

impl Sub for Amount {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self {
            messages: self.messages.wrapping_sub(o.messages),
            bytes: self.bytes.wrapping_sub(o.bytes),
            agreements: self.agreements.wrapping_sub(o.agreements),
        }
    }
}

/// What a rank has sent so far, by all threads.
#[derive(Debug, Default)]
pub struct Traffic {
    messages: AtomicU64,
    bytes: AtomicU64,
    agreements: AtomicU64,
}

impl Traffic {
    /// The amount so far.
    #[must_use]
    pub fn now(&self) -> Amount {
        Amount {
            messages: self.messages.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            agreements: self.agreements.load(Relaxed),
        }
    }

    /// Counts an amount.
    pub(crate) fn add(&self, amount: Amount) {
        self.messages.fetch_add(amount.messages, Relaxed);
        self.bytes.fetch_add(amount.bytes, Relaxed);
        self.agreements.fetch_add(amount.agreements, Relaxed);
    }

    /// Takes back an amount that was counted, but not sent.
    pub(crate) fn take(&self, amount: Amount) {
        self.add(Amount::default() - amount);
    }
}

/// A communicator that counts what it sends, in [`Communicator::traffic`]. A [`Link`](crate::cuda::Link)
/// between devices made for it counts its messages there too.
///
/// ```
/// use dgsuite_gpu::comm::{Alone, Counted, Communicator};
/// use std::sync::Arc;
///
/// let comm = Counted::new(Arc::new(Alone));
/// comm.max(&mut [1.0])?;
/// assert_eq!(comm.traffic().map(|traffic| traffic.now().agreements), Some(1));
/// # Ok::<(), dgsuite_gpu::comm::CommError>(())
/// ```
pub struct Counted {
    inner: Arc<dyn Communicator>,
    traffic: Arc<Traffic>,
}

impl Counted {
    /// Counts what a communicator sends from here on.
    #[expect(clippy::new_ret_no_self, reason = "all that matters of it is the communicator")]
    pub fn new(inner: Arc<dyn Communicator>) -> Arc<dyn Communicator> {
        Arc::new(Self { inner, traffic: Arc::default() })
    }
}

impl Communicator for Counted {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn plane(&self) -> &'static str {
        self.inner.plane()
    }

    fn traffic(&self) -> Option<&Arc<Traffic>> {
        Some(&self.traffic)
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let others = partners.iter().filter(|p| p.rank != self.rank());
        Ok(Box::new(CountedExchange {
            inner: self.inner.exchange(partners)?,
            round: Amount::of(others.map(|p| p.send)),
            traffic: Arc::clone(&self.traffic),
        }))
    }

    fn sum(&self, values: &mut [i64]) -> Result<(), CommError> {
        self.traffic.add(Amount::AGREEMENT);
        self.inner.sum(values)
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        self.traffic.add(Amount::AGREEMENT);
        self.inner.max(values)
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        if root != self.rank() {
            self.traffic.add(Amount::of([bytes.len()]));
        }
        self.inner.gather(root, bytes)
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        if root == self.rank() {
            self.traffic.add(Amount::of(vec![bytes.len(); self.size() - 1]));
        }
        self.inner.broadcast(root, bytes)
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.traffic.add(Amount::AGREEMENT);
        self.inner.barrier()
    }

    fn failure(&self) -> Option<CommError> {
        self.inner.failure()
    }

    fn abort(&self, message: &str) {
        self.inner.abort(message);
    }
}

struct CountedExchange {
    inner: Box<dyn Exchange>,
    /// What is sent in a round.
    round: Amount,
    traffic: Arc<Traffic>,
}

impl Exchange for CountedExchange {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.inner.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        self.traffic.add(self.round);
        self.inner.start()
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.inner.poll()
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.inner.finish()
    }

    fn incoming(&self, i: usize) -> &[u8] {
        self.inner.incoming(i)
    }
}
