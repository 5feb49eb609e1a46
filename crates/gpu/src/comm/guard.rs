//! Ends a process that hangs after another rank has ended.
//!
//! The waits of communicators and of links have deadlines. Those in a driver have none: for a copy behind
//! work that waits for a message, for the release of memory that such work uses, for the end of a context.
//! Nothing in the process can end them if the message does not come. A thread of its own therefore looks
//! whether the other ranks live, and ends the process if its other threads do not.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::time::{Duration, Instant};

use super::process::{has_ended, others, processes};
use super::{CommError, Communicator};

/// Time between looks.
const LOOK: Duration = Duration::from_millis(200);

/// How long a process may take to notice that a rank has ended, to tell it and to end. All ranks shall have
/// ended ten seconds after the first.
pub const GRACE: Duration = Duration::from_secs(4);

/// How long its sentence may take.
const SPEECH: Duration = Duration::from_secs(1);

/// A watch over the other ranks, by a thread.
///
/// When another rank has ended, and [`GRACE`] has passed without [`release`](Self::release) or
/// [`leave`](Self::leave), the process ends. It ends as well when it still runs for this time after `leave`,
/// or after the guard was dropped.
pub struct Guard(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// What the process does.
#[derive(Clone, Copy)]
enum State {
    Works,
    /// It ends with this exit code, since this time.
    Leaves(i32, Instant),
    Released,
}

impl Shared {
    /// The state; every change of it is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn become_unless_over(&self, next: State) {
        let mut state = self.lock();
        if matches!(*state, State::Works) {
            *state = next;
            self.changed.notify_all();
        }
    }
}

impl Guard {
    /// Begins to watch. Before it ends the process, it calls `tell` with the error, for its sentence and the
    /// exit code (1 if it takes longer than a second). Collective.
    ///
    /// # Errors
    /// Those of [`Communicator::gather`]; [`CommError::Parent`] if the system has no more threads.
    pub fn new(
        comm: &Arc<dyn Communicator>,
        tell: impl FnOnce(&CommError) -> i32 + Send + 'static,
    ) -> Result<Self, CommError> {
        let mut family = Family { others: others(comm.rank(), &processes(comm.as_ref())?), parent: None };
        // Processes of `mpiexec` belong to it; others may be started by a shell that ends.
        if comm.plane() == "mpi" {
            family.parent = parent();
        }
        let shared = Arc::new(Shared { state: Mutex::new(State::Works), changed: Condvar::new() });
        // The communicator ends with the thread that works.
        let (weak, own) = (Arc::downgrade(comm), Arc::clone(&shared));
        let watch = move || watch(&own, &weak, &family, tell);
        let started = std::thread::Builder::new().name("guard".to_owned()).spawn(watch);
        started.map_err(|error| CommError::Parent { reason: error.to_string() })?;
        Ok(Self(shared))
    }

    /// The work of all ranks is done: they may end in any order.
    pub fn release(&self) {
        self.0.become_unless_over(State::Released);
    }

    /// This process has told why it fails, and is about to end with an exit code.
    pub fn leave(&self, code: i32) {
        self.0.become_unless_over(State::Leaves(code, Instant::now()));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leave(1);
    }
}

/// The processes without which this one cannot go on.
struct Family {
    /// Those of other ranks on this host, with their numbers.
    others: Vec<(usize, i32)>,
    /// The one that has started this one, if it must live.
    parent: Option<u32>,
}

/// The process that has started this one, or that has inherited it.
#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
const fn parent() -> Option<u32> {
    None
}

fn watch(
    shared: &Shared,
    comm: &Weak<dyn Communicator>,
    family: &Family,
    tell: impl FnOnce(&CommError) -> i32 + Send + 'static,
) {
    let mut lost: Option<(CommError, Instant)> = None;
    let mut state = shared.lock();
    loop {
        match (*state, &lost) {
            (State::Released, _) => return,
            (State::Leaves(code, since), _) if since.elapsed() >= GRACE => end(code),
            (State::Works, Some((_, since))) if since.elapsed() >= GRACE => break,
            // With the lock: later, nobody but the threads that work has the communicator.
            (State::Works, None) => lost = failure(comm, family).map(|error| (error, Instant::now())),
            _ => {}
        }
        state = shared.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
    let Some((error, _)) = lost else { return };
    // Who reads what it prints may have ended, too, or may not read.
    let (sender, told) = mpsc::channel();
    let speak = move || {
        let _ = sender.send(tell(&error));
    };
    let _ = std::thread::Builder::new().spawn(speak);
    end(told.recv_timeout(SPEECH).unwrap_or(1));
}

/// Whether another rank, or the launcher, has ended.
fn failure(comm: &Weak<dyn Communicator>, family: &Family) -> Option<CommError> {
    let told = comm.upgrade().and_then(|comm| comm.failure());
    told.or_else(|| {
        let ended = family.others.iter().find(|(_, process)| has_ended(*process));
        ended.map(|&(rank, _)| CommError::Left { rank })
    })
    .or_else(|| {
        let orphan = family.parent.is_some() && family.parent != parent();
        orphan.then(|| CommError::Parent { reason: "it has ended".to_owned() })
    })
}

/// Ends the process without the exit functions of libraries, which may wait for ever.
#[cfg(unix)]
fn end(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used afterwards.
    unsafe { libc::_exit(code) }
}

#[cfg(not(unix))]
fn end(code: i32) -> ! {
    std::process::exit(code)
}
