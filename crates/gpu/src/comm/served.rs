//! Ranks whose operations another process carries out.
//!
//! One process, the *master*, has all ranks as [`Threads`]. A rank in another process sends it each operation
//! through a connection ([`wire`]) and waits for the answer; in the master, a thread for each connection
//! takes the place of the rank ([`serve`]). Deadlines, aborts and ranks that end early are therefore those of
//! that plane. All messages pass through the master.

mod wire;

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::buffers::{Buffers, check_rank};
use super::{CommError, Communicator, Exchange, Partner, Threads};
use wire::{Answer, Request, read_answer, read_request, write_answer, write_request};

/// A connection with the master.
pub(super) trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// The process that carries out operations.
#[derive(Clone, Copy, Debug)]
pub(super) enum Master {
    /// The process that started this one.
    #[cfg_attr(not(unix), expect(dead_code, reason = "no process starts others"))]
    Parent,
    /// Rank 0, which ends every wait after this time.
    Root(Duration),
}

impl Master {
    const fn plane(self) -> &'static str {
        match self {
            Self::Parent => "children",
            Self::Root(_) => "sockets",
        }
    }

    /// The error of a connection.
    fn lost(self, error: &io::Error) -> CommError {
        match self {
            Self::Parent => CommError::Parent { reason: error.to_string() },
            Self::Root(deadline) if is_late(error) => CommError::Silent { ranks: vec![0], deadline },
            Self::Root(_) => CommError::Left { rank: 0 },
        }
    }
}

/// Whether the time limit of a socket has passed.
pub(super) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// Carries out the operations of a rank until its process ends. Answers have a lock, so that others can send
/// one as well.
#[expect(clippy::needless_pass_by_value, reason = "its end shows the other ranks that the process has ended")]
pub(super) fn serve(rank: Threads, mut requests: impl Read, answers: &Mutex<impl Write>) {
    let mut exchanges = Vec::new();
    while let Ok(request) = read_request(&mut requests) {
        if let Some(answer) = carry_out(&rank, &mut exchanges, request)
            && write_answer(&mut *locked(answers), &answer).is_err()
        {
            break;
        }
    }
}

/// Sends an error to a rank that may not wait for an answer: its next operation ends with it.
pub(super) fn tell(answers: &Mutex<impl Write>, error: CommError) {
    // If its process has ended, nobody needs to know.
    let _ = write_answer(&mut *locked(answers), &Err(error));
}

/// The exchanges of a rank by number; `None` for those that it does not use any more.
type Exchanges = Vec<Option<Box<dyn Exchange>>>;

fn numbered(exchanges: &mut Exchanges, i: usize) -> Option<&mut Box<dyn Exchange>> {
    exchanges.get_mut(i).and_then(Option::as_mut)
}

fn carry_out(rank: &Threads, exchanges: &mut Exchanges, request: Request) -> Option<Answer> {
    let answer = |result: Result<Vec<u8>, CommError>| Some(result);
    match request {
        Request::Sum(mut values) => answer(rank.sum(&mut values).map(|()| wire::of_integers(&values))),
        Request::Max(mut values) => answer(rank.max(&mut values).map(|()| wire::of_reals(&values))),
        Request::Gather(root, bytes) => {
            answer(rank.gather(root, &bytes).map(|all| all.map_or_else(Vec::new, |all| wire::of_lists(&all))))
        }
        Request::Broadcast(root, mut bytes) => answer(rank.broadcast(root, &mut bytes).map(|()| bytes)),
        Request::Barrier => answer(rank.barrier().map(|()| Vec::new())),
        Request::Abort(message) => {
            rank.abort(&message);
            None
        }
        Request::Exchange(partners) => answer(rank.exchange(&partners).map(|exchange| {
            exchanges.push(Some(exchange));
            Vec::new()
        })),
        Request::End(i) => {
            exchanges.get_mut(i).map(Option::take);
            None
        }
        Request::Start(i, messages) => answer(numbered(exchanges, i).map_or(Ok(Vec::new()), |exchange| {
            for (k, message) in messages.iter().enumerate() {
                exchange.outgoing(k).copy_from_slice(message);
            }
            exchange.start().map(|()| Vec::new())
        })),
        Request::Poll(i) => answer(
            numbered(exchanges, i).map_or(Ok(Vec::new()), |exchange| Ok(vec![u8::from(exchange.poll()?)])),
        ),
        Request::Finish(i, partners) => answer(numbered(exchanges, i).map_or(Ok(Vec::new()), |exchange| {
            exchange.finish()?;
            Ok(wire::of_lists(&(0..partners).map(|k| exchange.incoming(k).to_vec()).collect::<Vec<_>>()))
        })),
    }
}

/// A rank whose operations the master carries out.
pub(super) struct Served {
    rank: usize,
    size: usize,
    master: Master,
    line: Arc<Mutex<Line>>,
    /// Exchanges so far.
    exchanges: Mutex<usize>,
}

/// The connection with the master.
struct Line {
    stream: Box<dyn Stream>,
    master: Master,
    /// The first error: after it, no operation succeeds.
    error: Option<CommError>,
}

impl Line {
    /// Sends a request and waits for its answer.
    fn ask(&mut self, request: &Request) -> Result<Vec<u8>, CommError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let sent = write_request(&mut self.stream, request);
        // Before its end, the master says why: this is to be read even if nothing can be sent.
        let answer = match sent {
            Err(error) if is_late(&error) => Err(error),
            sent => read_answer(&mut self.stream).map_err(|error| sent.err().unwrap_or(error)),
        };
        let result = answer.unwrap_or_else(|error| Err(self.master.lost(&error)));
        self.error = result.as_ref().err().cloned();
        result
    }
}

impl Served {
    pub(super) fn new(rank: usize, size: usize, stream: Box<dyn Stream>, master: Master) -> Self {
        let line = Arc::new(Mutex::new(Line { stream, master, error: None }));
        Self { rank, size, master, line, exchanges: Mutex::default() }
    }

    fn ask(&self, request: &Request) -> Result<Vec<u8>, CommError> {
        locked(&self.line).ask(request)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.abort("it panicked");
        }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Communicator for Served {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn plane(&self) -> &'static str {
        self.master.plane()
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let buffers = Buffers::new(partners, self.size)?;
        let mut count = locked(&self.exchanges);
        self.ask(&Request::Exchange(partners.to_vec()))?;
        let number = *count;
        *count += 1;
        Ok(Box::new(ServedExchange { line: Arc::clone(&self.line), number, buffers }))
    }

    fn sum(&self, values: &mut [i64]) -> Result<(), CommError> {
        let answer = self.ask(&Request::Sum(values.to_vec()))?;
        values.iter_mut().zip(wire::integers(&answer)).for_each(|(value, sum)| *value = sum);
        Ok(())
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        let answer = self.ask(&Request::Max(values.to_vec()))?;
        values.iter_mut().zip(wire::reals(&answer)).for_each(|(value, most)| *value = most);
        Ok(())
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        check_rank(root, self.size)?;
        let answer = self.ask(&Request::Gather(root, bytes.to_vec()))?;
        Ok((root == self.rank).then(|| wire::lists(&answer)))
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        check_rank(root, self.size)?;
        let sent = if root == self.rank { bytes.clone() } else { Vec::new() };
        *bytes = self.ask(&Request::Broadcast(root, sent))?;
        Ok(())
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.ask(&Request::Barrier).map(|_| ())
    }

    fn abort(&self, message: &str) {
        // Another thread may wait for an answer, so the connection is not waited for. The master notices the
        // end of this process in any case.
        if let Ok(mut line) = self.line.try_lock() {
            let _ = write_request(&mut line.stream, &Request::Abort(message.to_owned()));
        }
    }
}

struct ServedExchange {
    line: Arc<Mutex<Line>>,
    number: usize,
    buffers: Buffers,
}

impl Drop for ServedExchange {
    fn drop(&mut self) {
        let mut line = locked(&self.line);
        if line.error.is_none() {
            // The memory of its messages is free then. A lost connection shows in the next operation.
            let _ = write_request(&mut line.stream, &Request::End(self.number));
        }
    }
}

impl Exchange for ServedExchange {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.buffers.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        self.buffers.begin()?;
        let messages = self.buffers.outgoing.iter().map(|message| message.to_vec()).collect();
        locked(&self.line).ask(&Request::Start(self.number, messages)).map(|_| ())
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.buffers.check_begun()?;
        Ok(locked(&self.line).ask(&Request::Poll(self.number))? == [1])
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.buffers.check_begun()?;
        let answer = locked(&self.line).ask(&Request::Finish(self.number, self.buffers.partners.len()))?;
        for (to, from) in self.buffers.incoming.iter_mut().zip(wire::lists(&answer)) {
            to.copy_from_slice(&from);
        }
        self.buffers.end();
        Ok(())
    }

    fn incoming(&self, i: usize) -> &[u8] {
        self.buffers.incoming(i)
    }
}
