//! Ranks as processes that one process has started on the same host.
//!
//! Each child talks to its parent through a socket. The parent acts for it among [`Threads`]: one thread for
//! each child carries out the child's operations and sends back their results. Deadlines, aborts and ranks
//! that end early are therefore those of that plane. Messages pass through the parent: this plane is for the
//! control of ranks whose large messages go from device to device.

mod wire;

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::buffers::Buffers;
use super::{CommError, Communicator, Exchange, Partner, Threads, threads};
use wire::{Answer, Request, read_answer, read_request, write_answer, write_request};

/// The environment variables by which a child finds its parent: the socket, its rank, the number of ranks.
const SOCKET: &str = "DGSUITE_PARENT";
const RANK: &str = "DGSUITE_RANK";
const RANKS: &str = "DGSUITE_RANKS";

/// Time in which children must connect after their start.
const START: Duration = Duration::from_secs(60);

/// Starts one process for each command, as ranks that work together, and waits for all of them. Returns their
/// exit codes; a process that was killed by a signal has the code 128 + signal. `signal` is asked from time
/// to time for a signal to send to all of them.
///
/// # Errors
/// Errors of the operating system; processes that do not connect within a minute are killed.
pub fn run_children(commands: Vec<Command>, signal: impl Fn() -> Option<i32>) -> io::Result<Vec<i32>> {
    let n = commands.len();
    let folder = tempfile::Builder::new().prefix("dgsuite-").tempdir()?;
    let socket = folder.path().join("parent");
    let listener = UnixListener::bind(&socket)?;
    let mut children = Children(Vec::new());
    for (rank, mut command) in commands.into_iter().enumerate() {
        command.env(SOCKET, &socket).env(RANK, rank.to_string()).env(RANKS, n.to_string());
        children.0.push(command.spawn()?);
    }
    let streams = children.accept(&listener)?;
    let codes = std::thread::scope(|scope| {
        for (rank, stream) in threads(n).into_iter().zip(streams).filter_map(|(r, s)| Some((r, s?))) {
            scope.spawn(move || serve(rank, stream));
        }
        children.wait(&signal)
    })?;
    Ok(codes)
}

/// Processes that are killed if their parent fails.
struct Children(Vec<Child>);

impl Children {
    /// The connection of each child; `None` for a child that ended before it connected.
    fn accept(&mut self, listener: &UnixListener) -> io::Result<Vec<Option<UnixStream>>> {
        listener.set_nonblocking(true)?;
        let mut streams: Vec<Option<UnixStream>> = self.0.iter().map(|_| None).collect();
        let begin = Instant::now();
        loop {
            // What a child that has ended now sent before its end can be accepted below.
            let ended: Vec<bool> = self
                .0
                .iter_mut()
                .map(|child| child.try_wait().map(|state| state.is_some()))
                .collect::<Result<_, _>>()?;
            loop {
                match listener.accept() {
                    Ok((mut stream, _)) => {
                        stream.set_nonblocking(false)?;
                        let rank = wire::read_rank(&mut stream)?;
                        if let Some(place) = streams.get_mut(rank) {
                            *place = Some(stream);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
            if streams.iter().zip(&ended).all(|(stream, ended)| stream.is_some() || *ended) {
                return Ok(streams);
            }
            if begin.elapsed() > START {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "a process did not connect to its parent",
                ));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait(&mut self, signal: &impl Fn() -> Option<i32>) -> io::Result<Vec<i32>> {
        loop {
            if let Some(signal) = signal() {
                for child in &self.0 {
                    // SAFETY: the process is a child that has not been waited for, or the call fails.
                    unsafe { libc::kill(child.id().cast_signed(), signal) };
                }
            }
            let states: Vec<_> = self.0.iter_mut().map(Child::try_wait).collect::<Result<_, _>>()?;
            if states.iter().all(Option::is_some) {
                return Ok(states.into_iter().flatten().map(code_of).collect());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Carries out the operations of a child until it ends.
#[expect(clippy::needless_pass_by_value, reason = "its end shows the other ranks that the child has ended")]
fn serve(rank: Threads, mut stream: UnixStream) {
    let mut exchanges: Vec<Box<dyn Exchange>> = Vec::new();
    while let Ok(request) = read_request(&mut stream) {
        let answer = carry_out(&rank, &mut exchanges, request);
        if let Some(answer) = answer
            && write_answer(&mut stream, &answer).is_err()
        {
            break;
        }
    }
}

fn carry_out(rank: &Threads, exchanges: &mut Vec<Box<dyn Exchange>>, request: Request) -> Option<Answer> {
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
            exchanges.push(exchange);
            Vec::new()
        })),
        Request::Start(i, messages) => answer(exchanges.get_mut(i).map_or(Ok(Vec::new()), |exchange| {
            for (k, message) in messages.iter().enumerate() {
                exchange.outgoing(k).copy_from_slice(message);
            }
            exchange.start().map(|()| Vec::new())
        })),
        Request::Poll(i) => answer(
            exchanges.get_mut(i).map_or(Ok(Vec::new()), |exchange| Ok(vec![u8::from(exchange.poll()?)])),
        ),
        Request::Finish(i, partners) => answer(exchanges.get_mut(i).map_or(Ok(Vec::new()), |exchange| {
            exchange.finish()?;
            Ok(wire::of_lists(&(0..partners).map(|k| exchange.incoming(k).to_vec()).collect::<Vec<_>>()))
        })),
    }
}

/// A rank that was started by [`run_children`].
pub struct ChildRank {
    rank: usize,
    size: usize,
    link: Arc<Mutex<UnixStream>>,
    /// Exchanges so far.
    exchanges: Mutex<usize>,
}

impl ChildRank {
    /// Connects to the parent; `None` if this process was not started by [`run_children`].
    ///
    /// # Errors
    /// [`CommError::Parent`] if the parent does not answer.
    pub fn connect() -> Result<Option<Self>, CommError> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
        let (Some(socket), Some(rank), Some(size)) =
            (std::env::var_os(SOCKET).map(PathBuf::from), number(RANK), number(RANKS))
        else {
            return Ok(None);
        };
        let stream = join(&socket, rank).map_err(|error| CommError::Parent { reason: error.to_string() })?;
        Ok(Some(Self { rank, size, link: Arc::new(Mutex::new(stream)), exchanges: Mutex::new(0) }))
    }

    fn ask(&self, request: &Request) -> Result<Vec<u8>, CommError> {
        ask(&self.link, request)
    }
}

fn join(socket: &Path, rank: usize) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)?;
    wire::write_rank(&mut stream, rank)?;
    Ok(stream)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a request and waits for its answer.
fn ask(link: &Mutex<UnixStream>, request: &Request) -> Result<Vec<u8>, CommError> {
    let mut stream = locked(link);
    let lost = |error: io::Error| CommError::Parent { reason: error.to_string() };
    write_request(&mut *stream, request).map_err(lost)?;
    read_answer(&mut *stream).map_err(lost)?
}

impl Communicator for ChildRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn plane(&self) -> &'static str {
        "children"
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let buffers = Buffers::new(partners, self.size)?;
        let mut count = locked(&self.exchanges);
        self.ask(&Request::Exchange(partners.to_vec()))?;
        let number = *count;
        *count += 1;
        Ok(Box::new(ChildExchange { link: Arc::clone(&self.link), number, buffers }))
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
        let answer = self.ask(&Request::Gather(root, bytes.to_vec()))?;
        Ok((root == self.rank).then(|| wire::lists(&answer)))
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        *bytes = self.ask(&Request::Broadcast(root, bytes.clone()))?;
        Ok(())
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.ask(&Request::Barrier).map(|_| ())
    }

    fn abort(&self, message: &str) {
        // Another thread may wait for an answer, so the socket is not locked for a request without one. The
        // parent notices the end of this process in any case.
        if let Ok(mut stream) = self.link.try_lock() {
            let _ = write_request(&mut *stream, &Request::Abort(message.to_owned()));
        }
    }
}

struct ChildExchange {
    link: Arc<Mutex<UnixStream>>,
    number: usize,
    buffers: Buffers,
}

impl Exchange for ChildExchange {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.buffers.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        self.buffers.begin()?;
        let messages = self.buffers.outgoing.iter().map(|message| message.to_vec()).collect();
        ask(&self.link, &Request::Start(self.number, messages)).map(|_| ())
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.buffers.check_begun()?;
        Ok(ask(&self.link, &Request::Poll(self.number))? == [1])
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.buffers.check_begun()?;
        let answer = ask(&self.link, &Request::Finish(self.number, self.buffers.partners.len()))?;
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
