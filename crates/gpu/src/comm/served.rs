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
pub(super) trait Stream: Read + Write + Send {
    /// Whether there is something to read, or the other side has closed the connection.
    fn has_news(&self) -> bool;
}

#[cfg(unix)]
impl<S: Read + Write + Send + std::os::fd::AsRawFd> Stream for S {
    fn has_news(&self) -> bool {
        let mut socket = libc::pollfd { fd: self.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which is valid for a write; the call does not wait.
        unsafe { libc::poll(&raw mut socket, 1, 0) == 1 }
    }
}

#[cfg(not(unix))]
impl<S: Read + Write + Send> Stream for S {
    fn has_news(&self) -> bool {
        false
    }
}

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
            Self::Parent if error.kind() == io::ErrorKind::UnexpectedEof => {
                CommError::Parent { reason: "it has ended".to_owned() }
            }
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
    let mut exchanges = Exchanges::default();
    while let Ok(request) = read_request(&mut requests) {
        let Some(answer) = carry_out(&rank, &mut exchanges, request) else { continue };
        if let Err(error @ CommError::Protocol { .. }) = &answer {
            rank.abort(&error.to_string());
        }
        if write_answer(&mut *locked(answers), &answer).is_err() {
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
#[derive(Default)]
struct Exchanges(Vec<Option<Open>>);

/// An exchange, with what a rank of this program knows of it: another program may not.
struct Open {
    exchange: Box<dyn Exchange>,
    /// Lengths of the messages to the partners.
    lengths: Vec<usize>,
    under_way: bool,
}

impl Exchanges {
    fn of(&mut self, i: usize) -> Result<&mut Open, CommError> {
        let open = self.0.get_mut(i).and_then(Option::as_mut);
        open.ok_or(CommError::Protocol { found: "an exchange that does not exist" })
    }
}

impl Open {
    fn start(&mut self, messages: &[Vec<u8>]) -> Result<Vec<u8>, CommError> {
        if self.under_way {
            return Err(CommError::Protocol { found: "an exchange that is started twice" });
        }
        if !messages.iter().map(Vec::len).eq(self.lengths.iter().copied()) {
            return Err(CommError::Protocol {
                found: "messages of other lengths than those of their exchange",
            });
        }
        for (k, message) in messages.iter().enumerate() {
            self.exchange.outgoing(k).copy_from_slice(message);
        }
        self.under_way = true;
        self.exchange.start().map(|()| Vec::new())
    }

    fn finish(&mut self, partners: usize) -> Result<Vec<u8>, CommError> {
        if partners != self.lengths.len() {
            return Err(CommError::Protocol { found: "an exchange with another number of partners" });
        }
        self.exchange.finish()?;
        self.under_way = false;
        let all: Vec<_> = (0..partners).map(|k| self.exchange.incoming(k).to_vec()).collect();
        Ok(wire::of_lists(&all))
    }
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
            let lengths = partners.iter().map(|partner| partner.send).collect();
            exchanges.0.push(Some(Open { exchange, lengths, under_way: false }));
            Vec::new()
        })),
        Request::End(i) => {
            exchanges.0.get_mut(i).map(Option::take);
            None
        }
        Request::Start(i, messages) => answer(exchanges.of(i).and_then(|open| open.start(&messages))),
        Request::Poll(i) => {
            answer(exchanges.of(i).and_then(|open| Ok(vec![u8::from(open.exchange.poll()?)])))
        }
        Request::Finish(i, partners) => answer(exchanges.of(i).and_then(|open| open.finish(partners))),
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

    /// The first error, also one that the master has told without a question, or its end.
    fn look(&mut self) -> Option<CommError> {
        if self.error.is_none() && self.stream.has_news() {
            let told = read_answer(&mut self.stream).unwrap_or_else(|error| Err(self.master.lost(&error)));
            self.error = told.err();
        }
        self.error.clone()
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

    fn failure(&self) -> Option<CommError> {
        // An operation that waits finds out itself.
        self.line.try_lock().ok()?.look()
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

#[cfg(test)]
mod tests {
    use super::super::{ThreadOptions, threads_with};
    use super::*;

    /// What rank 0 finds when rank 1 has sent these requests and ended.
    fn after(requests: &[Request]) -> (CommError, Vec<u8>) {
        let options = ThreadOptions { deadline: Duration::from_secs(20), delay: None, loss: None };
        let mut ranks = threads_with(2, &options);
        let (other, own) = (ranks.pop().expect("two ranks"), ranks.remove(0));
        let mut bytes = Vec::new();
        requests.iter().for_each(|request| write_request(&mut bytes, request).expect("memory"));
        let answers = Mutex::new(Vec::new());
        serve(other, &bytes[..], &answers);
        (own.barrier().expect_err("rank 1 has ended"), answers.into_inner().expect("no panic"))
    }

    /// No request of a process that does not know the protocol, or means harm, makes the thread of rank 0
    /// panic.
    #[test]
    fn what_another_program_asks_for_ends_the_run() {
        let exchange = || Request::Exchange(vec![Partner { rank: 0, send: 8, receive: 8 }]);
        let start = |i, lengths: &[usize]| Request::Start(i, lengths.iter().map(|&n| vec![7; n]).collect());
        for requests in [
            &[start(0, &[8])][..],
            &[Request::Poll(0)],
            &[Request::Finish(usize::MAX, 1)],
            &[exchange(), start(1, &[8])],
            &[exchange(), start(0, &[])],
            &[exchange(), start(0, &[7])],
            &[exchange(), start(0, &[8, 8])],
            &[exchange(), start(0, &[8]), start(0, &[8])],
            &[exchange(), start(0, &[8]), Request::Finish(0, 2)],
            &[exchange(), start(0, &[8]), Request::Finish(0, usize::MAX)],
            &[exchange(), Request::End(0), start(0, &[8])],
        ] {
            let (error, _) = after(requests);
            let text = error.to_string();
            let as_expected =
                matches!(error, CommError::Aborted { rank: 1, .. }) && text.contains("another program");
            assert!(as_expected, "{requests:?}: {text}");
        }
        for requests in [
            &[exchange(), Request::Finish(0, 1)][..],
            &[exchange(), Request::Poll(0)],
            &[Request::End(usize::MAX)],
            &[Request::Exchange(vec![Partner { rank: 0, send: usize::MAX, receive: 1 << 62 }])],
            &[Request::Exchange(vec![Partner { rank: usize::MAX, send: 8, receive: 8 }])],
            &[Request::Gather(usize::MAX, Vec::new()), Request::Broadcast(2, Vec::new())],
        ] {
            let (error, answers) = after(requests);
            assert_eq!(error, CommError::Left { rank: 1 }, "{requests:?}");
            let refused = requests.iter().all(|request| matches!(request, Request::End(_)))
                || !matches!(last(&answers), Some(Ok(_)));
            assert!(refused, "{requests:?}");
        }
    }

    fn last(mut answers: &[u8]) -> Option<Answer> {
        std::iter::from_fn(|| read_answer(&mut answers).ok()).last()
    }
}
