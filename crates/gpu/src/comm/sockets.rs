//! Ranks as processes of a launcher, connected by TCP without MPI.
//!
//! Rank 0 listens at a place that the launcher's variables name ([`place`]); the other ranks look for it
//! there, and both sides make sure that they belong together ([`greeting`]). Rank 0 then serves all others
//! ([`served`](super::served)): messages pass through it. This plane is for the control of ranks whose large
//! messages go from device to device, and for a few ranks on CPUs; the engine of record between machines is
//! MPI.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::Ranks;
use super::served::{Master, Served, is_late, locked, serve, tell};
use super::threads::Watch;
use super::{CommError, Communicator, Exchange, Launch, Partner, ThreadOptions, Threads, threads_with};

mod greeting;
mod place;

use greeting::{Hello, Reply};
use place::Place;

/// How long a process may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);
/// How long rank 0 waits for the others to notice a failure, and how much later than rank 0 itself they find
/// out that it does not answer.
const PARTING: Duration = Duration::from_secs(2);
/// Time between trials to reach rank 0, and between looks for those who come.
const PAUSE: Duration = Duration::from_millis(20);

/// Connects the processes of a launch.
///
/// # Errors
/// [`CommError::Meeting`] if the variables do not name a place, if no port is free, if a rank does not come
/// within the deadline, or belongs to another program.
pub(super) fn connect(launch: &Launch, deadline: Duration) -> Result<Arc<dyn Communicator>, CommError> {
    let failed = |reason: String| CommError::Meeting { launcher: launch.launcher, reason };
    let Some(size) = launch.size else {
        return Err(failed("the launcher does not tell the number of processes".to_owned()));
    };
    let place = Place::of(launch, |name| std::env::var(name).ok()).map_err(failed)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let hello = Hello { token: place.token.clone(), version, size, rank: launch.rank };
    match launch.rank {
        0 => Ok(Arc::new(Root::gather(&place, &hello, deadline).map_err(failed)?)),
        _ => Ok(Arc::new(find(&place, &hello, deadline).map_err(failed)?)),
    }
}

/// Looks for rank 0 until it is found. The error is a reason.
fn find(place: &Place, hello: &Hello, deadline: Duration) -> Result<Served, String> {
    let begin = Instant::now();
    // The answer of another run tells more than a port at which nobody or something else is.
    let (mut refused, mut last) = (None, String::new());
    while begin.elapsed() < deadline {
        for port in place.ports() {
            let Some(left) = deadline.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else {
                break;
            };
            match greet(&place.host, port, hello, left.min(GREETING)) {
                Ok((stream, Reply::Welcome(deadline))) => {
                    return enter(stream, hello, deadline).map_err(|error| error.to_string());
                }
                Ok((_, Reply::Never(reason))) => return Err(reason),
                Ok((_, Reply::Other(reason))) => refused = Some(reason),
                Err(error) if is_late(&error) => "no answer".clone_into(&mut last),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && !last.is_empty() => {}
                Err(error) => last = error.to_string(),
            }
        }
        std::thread::sleep(PAUSE);
    }
    let (seconds, reason) = (deadline.as_secs_f64(), refused.unwrap_or(last));
    Err(format!("rank 0 was not found at {} within {seconds} s ({reason})", place.text()))
}

/// The answer of who listens at a port.
fn greet(host: &str, port: u16, hello: &Hello, within: Duration) -> io::Result<(TcpStream, Reply)> {
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, within) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(within))?;
                stream.set_write_timeout(Some(within))?;
                hello.write(&mut stream)?;
                let reply = Reply::read(&mut stream)?;
                return Ok((stream, reply));
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Becomes a rank that rank 0 serves.
fn enter(stream: TcpStream, hello: &Hello, deadline: Duration) -> io::Result<Served> {
    stream.set_nodelay(true)?;
    // Rank 0 answers every operation within the deadline.
    stream.set_read_timeout(Some(deadline + PARTING))?;
    stream.set_write_timeout(Some(deadline + PARTING))?;
    Ok(Served::new(hello.rank, hello.size, Box::new(stream), Master::Root(deadline)))
}

/// Rank 0.
struct Root {
    /// Leaves the others before the doors close.
    own: Threads,
    doors: Doors,
}

/// The connections of rank 0 with the others. They close when the others have ended.
struct Doors {
    watch: Watch,
    deadline: Duration,
    answers: Vec<Arc<Mutex<TcpStream>>>,
    servants: Vec<JoinHandle<()>>,
}

impl Root {
    /// Listens until all ranks have come. The error is a reason, which those who have come get as well.
    fn gather(place: &Place, hello: &Hello, deadline: Duration) -> Result<Self, String> {
        let listener = listen(place)?;
        let options = ThreadOptions { deadline, delay: None, loss: None };
        let mut ranks = threads_with(hello.size, &options).into_iter();
        let Some(own) = ranks.next() else { return Err("there is no rank".to_owned()) };
        let doors = Doors { watch: own.watch(), deadline, answers: Vec::new(), servants: Vec::new() };
        let mut root = Self { own, doors };
        let mut absent: Vec<Option<Threads>> = ranks.map(Some).collect();
        let all = root.admit(&listener, &mut absent, hello);
        if let Err(reason) = &all {
            root.own.abort(reason);
            refuse(&listener, reason);
        }
        all.map(|()| root)
    }

    /// Lets in each rank that comes; `absent[k]` is rank k + 1.
    fn admit(
        &mut self,
        listener: &TcpListener,
        absent: &mut [Option<Threads>],
        own: &Hello,
    ) -> Result<(), String> {
        let failed = |error: io::Error| format!("rank 0 cannot listen: {error}");
        let port = listener.local_addr().map_err(failed)?.port();
        listener.set_nonblocking(true).map_err(failed)?;
        let deadline = self.doors.deadline;
        let (tell, heard): (Sender<(TcpStream, Hello)>, Receiver<_>) = mpsc::channel();
        let begin = Instant::now();
        let mut refused = String::new();
        while absent.iter().any(Option::is_some) {
            match listener.accept() {
                Ok((stream, _)) => {
                    let tell = tell.clone();
                    // One that says nothing does not keep others waiting.
                    std::thread::spawn(move || {
                        let _ = listen_to(stream).map(|hello| tell.send(hello));
                    });
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The process at the other side has ended.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(failed(error)),
            }
            while let Ok((mut stream, hello)) = heard.try_recv() {
                let place = hello.rank.checked_sub(1).and_then(|k| absent.get_mut(k));
                let came = place.as_ref().is_some_and(|place| place.is_none());
                let reply = own.judge(&hello, came, deadline);
                // If it has ended since, the others find out.
                let _ = reply.write(&mut stream);
                match reply {
                    Reply::Welcome(_) => {
                        if let Some(rank) = place.and_then(Option::take) {
                            self.doors.open(stream, rank).map_err(failed)?;
                        }
                    }
                    Reply::Other(reason) => refused = format!("; a process was refused: {reason}"),
                    Reply::Never(reason) => return Err(reason),
                }
            }
            if begin.elapsed() > deadline {
                let missing = absent.iter().zip(1..).filter(|(rank, _)| rank.is_some()).map(|(_, rank)| rank);
                let (missing, seconds) = (missing.collect::<Vec<_>>(), deadline.as_secs_f64());
                return Err(format!(
                    "{} did not come to port {port} within {seconds} s{refused}",
                    Ranks(&missing)
                ));
            }
            std::thread::sleep(PAUSE / 4);
        }
        Ok(())
    }
}

/// Listens at the first free port of a place.
fn listen(place: &Place) -> Result<TcpListener, String> {
    let mut last = None;
    for port in place.ports() {
        let addresses: Vec<SocketAddr> = match place.is_local() {
            // Nobody else can reach these.
            true => (&*place.host, port).to_socket_addrs().map(Iterator::collect).unwrap_or_default(),
            false => vec![(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()],
        };
        for address in addresses {
            match TcpListener::bind(address) {
                Ok(listener) => return Ok(listener),
                Err(error) => last = Some(error),
            }
        }
    }
    let reason = last.map_or_else(String::new, |error| format!(" ({error})"));
    Err(format!("rank 0 can listen at none of {}{reason}: let MASTER_PORT name another port", place.text()))
}

/// Tells the reason of a failure to those who come a little later.
fn refuse(listener: &TcpListener, reason: &str) {
    let begin = Instant::now();
    while begin.elapsed() < PARTING / 2 {
        match listener.accept() {
            Ok((mut stream, _)) => {
                let _ = stream.set_write_timeout(Some(PARTING));
                let _ = Reply::Never(reason.to_owned()).write(&mut stream);
            }
            Err(_) => std::thread::sleep(PAUSE / 4),
        }
    }
}

/// Reads what a process says of itself.
fn listen_to(mut stream: TcpStream) -> io::Result<(TcpStream, Hello)> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(GREETING))?;
    let hello = Hello::read(&mut stream)?;
    Ok((stream, hello))
}

impl Doors {
    /// Serves a rank from now on.
    fn open(&mut self, stream: TcpStream, rank: Threads) -> io::Result<()> {
        stream.set_nodelay(true)?;
        // Between operations a rank may work for any time.
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(Some(self.deadline))?;
        let answers = Arc::new(Mutex::new(stream.try_clone()?));
        self.answers.push(Arc::clone(&answers));
        self.servants.push(std::thread::spawn(move || serve(rank, stream, &answers)));
        Ok(())
    }
}

impl Drop for Doors {
    /// Waits until the others have ended. After a failure, tells them, and waits for a while.
    fn drop(&mut self) {
        let begin = Instant::now();
        let mut told = None;
        while !self.servants.iter().all(JoinHandle::is_finished) {
            match (told, self.watch.failure()) {
                (None, Some(error)) => {
                    for answers in &self.answers {
                        tell(answers, error.clone());
                    }
                    told = Some(Instant::now());
                }
                (Some(since), _) if since.elapsed() > PARTING => break,
                (None, None) if begin.elapsed() > self.deadline + 2 * PARTING => break,
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        for answers in &self.answers {
            let _ = locked(answers).shutdown(std::net::Shutdown::Both);
        }
    }
}

impl Communicator for Root {
    fn rank(&self) -> usize {
        self.own.rank()
    }

    fn size(&self) -> usize {
        self.own.size()
    }

    fn plane(&self) -> &'static str {
        "sockets"
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        self.own.exchange(partners)
    }

    fn sum(&self, values: &mut [i64]) -> Result<(), CommError> {
        self.own.sum(values)
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        self.own.max(values)
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        self.own.gather(root, bytes)
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        self.own.broadcast(root, bytes)
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.own.barrier()
    }

    fn failure(&self) -> Option<CommError> {
        self.own.failure()
    }

    fn abort(&self, message: &str) {
        self.own.abort(message);
    }
}
