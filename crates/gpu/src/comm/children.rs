//! Ranks as processes that one process has started on the same host.
//!
//! Each child talks to its parent through a socket, and the parent serves it ([`served`](super::served)).
//! Messages pass through the parent: this plane is for the control of ranks whose large messages go from
//! device to device.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::served::{Master, Served, serve};
use super::{CommError, Communicator, threads};

/// The environment variables by which a child finds its parent: the socket, its rank, the number of ranks.
const SOCKET: &str = "DGSUITE_PARENT";
const RANK: &str = "DGSUITE_RANK";
const RANKS: &str = "DGSUITE_RANKS";

/// Time in which children must connect after their start.
const START: Duration = Duration::from_secs(60);

/// How long the other processes may run after one has failed: they end by themselves, at the latest by their
/// [`Guard`](super::Guard), unless they are stopped.
const PATIENCE: Duration = Duration::from_secs(7);

/// Time in which the system ends a process that was killed; it may wait for a device.
const BURIAL: Duration = Duration::from_secs(2);

/// How the processes of [`run_children`] ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// The exit code of each; 128 + signal if a signal ended it.
    pub codes: Vec<i32>,
    /// The first that a signal ended, with this signal, unless another one had failed before.
    pub killed: Option<(usize, i32)>,
    /// Those that did not end after another one had failed, and were killed.
    pub hung: Vec<usize>,
}

/// Starts one process for each command, as ranks that work together, and waits for all of them. `signal` is
/// asked from time to time for a signal to send to all of them.
///
/// After one has failed, the others have seven seconds to end. They do not outlive this process if each has
/// a [`Guard`](super::Guard).
///
/// # Errors
/// Errors of the operating system; processes that do not connect within a minute are killed.
pub fn run_children(commands: Vec<Command>, signal: impl Fn() -> Option<i32>) -> io::Result<Endings> {
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
    std::thread::scope(|scope| {
        let mut doors = Doors(Vec::new());
        for (rank, stream) in threads(n).into_iter().zip(streams).filter_map(|(r, s)| Some((r, s?))) {
            let answers = Mutex::new(stream.try_clone()?);
            doors.0.push(stream.try_clone()?);
            scope.spawn(move || serve(rank, stream, &answers));
        }
        children.wait(&signal)
    })
}

/// Connections that close when nobody waits for the processes any more: their threads then end as well.
struct Doors(Vec<UnixStream>);

impl Drop for Doors {
    fn drop(&mut self) {
        for stream in &self.0 {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
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
                        let mut rank = [0; 8];
                        stream.read_exact(&mut rank)?;
                        if let Some(place) = streams.get_mut(u64::from_le_bytes(rank) as usize) {
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

    /// Waits until all have ended.
    fn wait(&mut self, signal: &impl Fn() -> Option<i32>) -> io::Result<Endings> {
        let mut endings = Endings::default();
        let mut failed: Option<Instant> = None;
        loop {
            if let Some(signal) = signal() {
                for child in &self.0 {
                    // SAFETY: the process is a child that has not been waited for, or the call fails.
                    unsafe { libc::kill(child.id().cast_signed(), signal) };
                }
            }
            let states: Vec<_> = self.0.iter_mut().map(Child::try_wait).collect::<Result<_, _>>()?;
            if failed.is_none()
                && let Some(first) =
                    states.iter().position(|state| state.is_some_and(|state| !state.success()))
            {
                failed = Some(Instant::now());
                endings.killed = states[first].and_then(signal_of).map(|signal| (first, signal));
            }
            let since = failed.map_or(Duration::ZERO, |failed| failed.elapsed());
            let left = states.iter().enumerate().filter(|(_, state)| state.is_none()).map(|(rank, _)| rank);
            let left: Vec<usize> = left.collect();
            if left.is_empty() || since > PATIENCE + BURIAL {
                let killed = 128 + libc::SIGKILL;
                endings.codes = states.into_iter().map(|state| state.map_or(killed, code_of)).collect();
                return Ok(endings);
            }
            if since > PATIENCE && endings.hung.is_empty() {
                left.iter().try_for_each(|&rank| self.0[rank].kill())?;
                endings.hung = left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
        }
        // A process that a device keeps is left to the system.
        let begun = Instant::now();
        while self.0.iter_mut().any(|child| matches!(child.try_wait(), Ok(None))) && begun.elapsed() < BURIAL
        {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| signal_of(status).map(|signal| 128 + signal)).unwrap_or(1)
}

/// The communicator of a rank that was started by [`run_children`]; `None` in other processes.
///
/// # Errors
/// [`CommError::Parent`] if the parent does not answer.
pub fn child_rank() -> Result<Option<Arc<dyn Communicator>>, CommError> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    let (Some(socket), Some(rank), Some(size)) =
        (std::env::var_os(SOCKET).map(PathBuf::from), number(RANK), number(RANKS))
    else {
        return Ok(None);
    };
    let stream = join(&socket, rank).map_err(|error| CommError::Parent { reason: error.to_string() })?;
    Ok(Some(Arc::new(Served::new(rank, size, Box::new(stream), Master::Parent))))
}

fn join(socket: &Path, rank: usize) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&(rank as u64).to_le_bytes())?;
    Ok(stream)
}
