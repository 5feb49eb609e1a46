//! Ranks as processes connected by MPI, on any number of machines.
//!
//! The library is loaded at run time ([`library`]). All messages are non-blocking, and waits test for them
//! until the deadline; nothing but start and end of MPI itself blocks. Beside the messages of the caller,
//! ranks send each other notices of errors and of their end ([`link`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::buffers::{Buffers, check_rank};
use super::{CommError, Communicator, Exchange, Launch, Partner, order};

mod exchange;
mod library;
mod link;
mod operation;

use exchange::Messages;
use library::{INT64, MAX, SUM, UINT64};
pub use library::{MPI_ADAPTER, MPI_VARIABLE, mpi_library};
use link::{Call, Link};
use operation::Operation;

/// One of several processes connected by MPI. There is at most one in a process.
///
/// When it is dropped, with its exchanges, it waits for the other ranks and then ends MPI. After an error it
/// does not end MPI, which needs all ranks, but waits two seconds at most until the others have noticed.
pub struct Mpi {
    link: Arc<Link>,
    exchanges: AtomicU64,
    collectives: AtomicU64,
}

impl Mpi {
    /// Connects this process with the others of its launch.
    ///
    /// # Errors
    /// [`CommError::NoMpi`] without a library, [`CommError::Strangers`] if the library does not belong to the
    /// launcher, [`CommError::Mpi`].
    pub fn connect(launch: &Launch, deadline: Duration) -> Result<Self, CommError> {
        static CONNECTED: AtomicBool = AtomicBool::new(false);
        let api = library::api()?;
        if CONNECTED.swap(true, Ordering::Relaxed) {
            let reason = "this process has connected before".to_owned();
            return Err(CommError::Mpi { doing: "connecting", reason });
        }
        let link = Link::new(api, launch, deadline)?;
        Ok(Self { link: Arc::new(link), exchanges: AtomicU64::new(0), collectives: AtomicU64::new(0) })
    }

    /// A collective operation.
    fn operation<T>(&self, name: &'static str, count: usize) -> Operation<'_, T> {
        let number = self.collectives.fetch_add(1, Ordering::Relaxed);
        Operation::new(&self.link, Call { name, count, number })
    }
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.link.rank
    }

    fn size(&self) -> usize {
        self.link.size
    }

    fn plane(&self) -> &'static str {
        "mpi"
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let buffers = Buffers::new(partners, self.size())?;
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Messages::new(self.link.clone(), buffers, number)?))
    }

    fn sum(&self, values: &mut [i64]) -> Result<(), CommError> {
        let mut operation = self.operation("sum", values.len());
        // Unsigned numbers wrap.
        operation.reduce(values.to_vec(), UINT64, SUM)?;
        values.copy_from_slice(&operation.finish()?.concat());
        Ok(())
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        let mut operation = self.operation("maximum", values.len());
        operation.reduce(values.iter().map(|&value| order::key(value)).collect(), INT64, MAX)?;
        for (value, key) in values.iter_mut().zip(operation.finish()?.concat()) {
            *value = order::number(key);
        }
        Ok(())
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        check_rank(root, self.size())?;
        let mut lengths = self.operation("gather of lengths", root);
        if self.rank() != root {
            lengths.send(root, vec![bytes.len() as u64])?;
            lengths.finish()?;
            let mut operation = self.operation("gather", root);
            operation.send(root, bytes.to_vec())?;
            operation.finish()?;
            return Ok(None);
        }
        let others = || (0..self.size()).filter(|&rank| rank != root);
        for rank in others() {
            lengths.receive(rank, vec![0; 1])?;
        }
        let lengths = lengths.finish()?.concat();
        let mut operation = self.operation("gather", root);
        for (rank, length) in others().zip(lengths) {
            operation.receive(rank, vec![0; length as usize])?;
        }
        let mut parts = operation.finish()?;
        parts.insert(root, bytes.to_vec());
        Ok(Some(parts))
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        check_rank(root, self.size())?;
        let mut length = self.operation("broadcast of a length", root);
        length.broadcast(root, vec![bytes.len() as u64])?;
        let length = length.finish()?.concat();
        let mut operation = self.operation("broadcast", root);
        let memory = if self.rank() == root { std::mem::take(bytes) } else { vec![0; length[0] as usize] };
        operation.broadcast(root, memory)?;
        *bytes = operation.finish()?.swap_remove(0);
        Ok(())
    }

    fn barrier(&self) -> Result<(), CommError> {
        let mut operation = self.operation::<u8>("barrier", 0);
        operation.barrier()?;
        operation.finish().map(|_| ())
    }

    fn abort(&self, message: &str) {
        self.link.abort(message);
    }
}
