//! The connection of one process with the others: waits with a deadline, notices of errors and of ends.
//!
//! Ranks send each other small messages on a communicator of their own, which every wait looks for:
//!
//! | tag | content | meaning |
//! |---|---|---|
//! | `ABORT` | a sentence | the sender has failed: all waits end with it |
//! | `FAREWELL` | – | the sender has ended, and sends nothing any more |
//! | `CALL` | – | the sender's deadline has passed: which operation is the receiver waiting in? |
//! | `HERE` | the operation | the answer: a rank that does not give it is silent |

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::library::{
    ANY_SOURCE, ANY_TAG, Api, BYTE, COMM_NULL, COMM_WORLD, Comm, ERRORS_RETURN, IN_STATUS, PENDING,
    REQUEST_NULL, Request, SUCCESS, Status, THREAD_SERIALIZED,
};
use crate::comm::{CommError, Launch};

const ABORT: c_int = 1;
const FAREWELL: c_int = 2;
const CALL: c_int = 3;
const HERE: c_int = 4;

/// The longest sentence of a notice, in bytes: libraries send such messages without waiting for the receiver.
const LONGEST: usize = 2000;
/// How long a rank that has failed waits for the others to notice, and how long it waits for answers.
const PARTING: Duration = Duration::from_secs(2);
/// How long the messages of a rank that has ended may take to arrive.
const LATE: Duration = Duration::from_secs(2);
/// Tests of requests for each look for notices.
const LISTEN: u32 = 8;
/// Tags of messages: the standard guarantees 0 to 32767.
const TAGS: u64 = 32_768;

/// The operation in which a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: &'static str,
    /// Number of values, or the root.
    pub(super) count: usize,
    pub(super) number: u64,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "exchange" => write!(f, "exchange {}", self.number),
            "barrier" => write!(f, "a barrier (call {})", self.number),
            "sum" | "maximum" => write!(f, "a {} of {} values (call {})", self.name, self.count, self.number),
            _ => write!(f, "a {} with root {} (call {})", self.name, self.count, self.number),
        }
    }
}

pub(super) struct Link {
    pub(super) api: &'static Api,
    pub(super) rank: usize,
    pub(super) size: usize,
    deadline: Duration,
    /// For exchanges, for collective operations and for notices.
    pub(super) data: Comm,
    pub(super) collective: Comm,
    control: Comm,
    /// Held during every call of the library, which need not be safe for several threads.
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The first error.
    aborted: Option<CommError>,
    /// The ranks that have ended, and when this was noticed.
    left: BTreeMap<usize, Instant>,
    /// Tests so far.
    turn: u32,
    /// Where this rank waits.
    current: Option<Call>,
    /// Answers to the last roll call.
    answers: BTreeMap<usize, String>,
    /// Notices that may not have been sent yet.
    outbox: Vec<(Request, Vec<u8>)>,
}

/// The right to call the library.
pub(super) struct Locked<'a>(pub(super) &'static Api, MutexGuard<'a, State>);

impl Link {
    /// Starts MPI.
    pub(super) fn new(api: &'static Api, launch: &Launch, deadline: Duration) -> Result<Self, CommError> {
        let mut running = 0;
        // SAFETY: allowed before initialisation.
        api.check("starting", unsafe { (api.initialized)(&mut running) })?;
        if running != 0 {
            let reason = "another part of this program has started MPI".to_owned();
            return Err(CommError::Mpi { doing: "starting", reason });
        }
        let mut level = 0;
        // SAFETY: null pointers stand for the arguments of the program; MPI is not initialised.
        api.check("starting", unsafe {
            (api.init_thread)(null_mut(), null_mut(), THREAD_SERIALIZED, &mut level)
        })?;
        if level < THREAD_SERIALIZED {
            let reason = format!("{} does not allow calls from several threads", api.version);
            return Err(CommError::Mpi { doing: "starting", reason });
        }
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI is initialised; the arguments are valid for writes.
        unsafe {
            api.check("starting", (api.comm_set_errhandler)(COMM_WORLD, ERRORS_RETURN))?;
            api.check("starting", (api.comm_rank)(COMM_WORLD, &mut rank))?;
            api.check("starting", (api.comm_size)(COMM_WORLD, &mut size))?;
        }
        if let Some(started) = launch.size
            && started != size as usize
        {
            // SAFETY: nothing is under way. A library that works alone does not wait for others here.
            unsafe { (api.finalize)() };
            let library = format!("{} ({})", api.version, api.path.display());
            let launcher = launch.launcher;
            return Err(CommError::Strangers { launcher, started, library, found: size as usize });
        }
        let mut comms = [COMM_NULL; 3];
        for comm in &mut comms {
            // SAFETY: all ranks make these calls, in the same order.
            unsafe {
                api.check("connecting", (api.comm_dup)(COMM_WORLD, comm))?;
                api.check("connecting", (api.comm_set_errhandler)(*comm, ERRORS_RETURN))?;
            }
        }
        let [data, collective, control] = comms;
        let (rank, size) = (rank as usize, size as usize);
        Ok(Self { api, rank, size, deadline, data, collective, control, state: Mutex::default() })
    }

    /// The tag of the messages of an exchange or operation.
    pub(super) fn tag(number: u64) -> c_int {
        (number % TAGS) as c_int
    }

    pub(super) fn lock(&self) -> Locked<'_> {
        Locked(self.api, self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls the library, unless a rank has failed.
    pub(super) fn locked<T>(
        &self,
        work: impl FnOnce(&'static Api) -> Result<T, CommError>,
    ) -> Result<T, CommError> {
        let locked = self.lock();
        locked.1.aborted.as_ref().map_or(Ok(()), |error| Err(error.clone()))?;
        work(locked.0)
    }

    pub(super) fn abort(&self, message: &str) {
        self.note(&mut self.lock().1, message);
    }

    /// Stores an error as the first one, and sends it to all ranks, unless there was one before.
    fn note(&self, state: &mut State, message: &str) {
        if state.aborted.is_none() {
            state.aborted = Some(CommError::Aborted { rank: self.rank, message: message.to_owned() });
            let end = (0..=message.len().min(LONGEST)).rfind(|&end| message.is_char_boundary(end));
            self.notify_all(state, ABORT, &message.as_bytes()[..end.unwrap_or(0)]);
        }
    }

    /// The error of this rank, which ends the waits of all; an earlier error of another rank has precedence.
    pub(super) fn fail(&self, error: CommError) -> CommError {
        let state = &mut *self.lock().1;
        if let Some(earlier) = &state.aborted {
            return earlier.clone();
        }
        self.note(state, &error.to_string());
        error
    }

    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.size).filter(|&rank| rank != self.rank)
    }

    fn notify_all(&self, state: &mut State, tag: c_int, text: &[u8]) {
        for rank in self.others() {
            self.notify(state, rank, tag, text);
        }
    }

    /// Sends a notice. A failure is not an error: deadlines hold without notices.
    fn notify(&self, state: &mut State, rank: usize, tag: c_int, text: &[u8]) {
        let text = text.to_vec();
        let mut request = REQUEST_NULL;
        let (place, bytes) = (text.as_ptr().cast(), text.len() as i64);
        // SAFETY: the text is stored until the request is complete.
        unsafe { (self.api.isend)(place, bytes, BYTE, rank as c_int, tag, self.control, &mut request) };
        state.outbox.push((request, text));
    }

    /// Reads the notices that have arrived.
    fn listen(&self, state: &mut State) -> Result<(), CommError> {
        let api = self.api;
        state.outbox.retain_mut(|(request, _)| {
            let mut sent = 1;
            // SAFETY: a valid request; its text is stored beside it.
            unsafe { (api.testall)(1, request, &mut sent, &mut Status::default()) };
            sent == 0
        });
        loop {
            let (mut found, mut status, mut bytes) = (0, Status::default(), 0);
            // SAFETY: the arguments are valid for writes, and the status is that of a message.
            unsafe {
                let code = (api.iprobe)(ANY_SOURCE, ANY_TAG, self.control, &mut found, &mut status);
                api.check("looking for notices", code)?;
                if found == 0 {
                    break;
                }
                api.check("looking for notices", (api.get_count)(&status, BYTE, &mut bytes))?;
            }
            let mut text = vec![0; bytes as usize];
            let (place, from, tag) = (text.as_mut_ptr().cast(), status.source, status.tag);
            // SAFETY: the text has the length of this message, which has arrived.
            let code = unsafe { (api.recv)(place, bytes, BYTE, from, tag, self.control, &mut status) };
            api.check("reading a notice", code)?;
            self.hear(state, from as usize, tag, &String::from_utf8_lossy(&text));
        }
        state.aborted.as_ref().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn hear(&self, state: &mut State, from: usize, tag: c_int, text: &str) {
        match tag {
            ABORT => {
                let error = CommError::Aborted { rank: from, message: text.to_owned() };
                state.aborted.get_or_insert(error);
            }
            FAREWELL => {
                state.left.insert(from, Instant::now());
            }
            CALL => {
                if let Some(call) = state.current {
                    self.notify(state, from, HERE, call.to_string().as_bytes());
                }
            }
            _ => {
                state.answers.insert(from, text.to_owned());
            }
        }
    }

    /// Whether all requests are complete.
    pub(super) fn test(&self, requests: &mut [Request], statuses: &mut [Status]) -> Result<bool, CommError> {
        let done = self.look(&mut self.lock().1, requests, statuses);
        done.map_err(|error| self.fail(error))
    }

    /// Tests the requests, and reads the notices if they are not complete.
    fn look(
        &self,
        state: &mut State,
        requests: &mut [Request],
        statuses: &mut [Status],
    ) -> Result<bool, CommError> {
        state.aborted.as_ref().map_or(Ok(()), |error| Err(error.clone()))?;
        let mut done = 0;
        let count = requests.len() as c_int;
        // SAFETY: valid requests, as many statuses.
        let code =
            unsafe { (self.api.testall)(count, requests.as_mut_ptr(), &mut done, statuses.as_mut_ptr()) };
        // The reason is in the status of the message that failed.
        let code = match code {
            IN_STATUS => statuses.iter().map(|status| status.error).find(|&e| e != 0 && e != PENDING),
            _ => None,
        }
        .unwrap_or(code);
        self.api.check("transferring messages", code)?;
        // Each look into the network costs time: not every test needs two.
        state.turn = state.turn.wrapping_add(1);
        if done == 0 && state.turn.is_multiple_of(LISTEN) {
            self.listen(state)?;
        }
        Ok(done != 0)
    }

    /// Waits until all requests are complete. `ranks` are the other sides of the requests, or empty.
    pub(super) fn wait(
        &self,
        call: &Call,
        requests: &mut [Request],
        statuses: &mut [Status],
        ranks: &[usize],
    ) -> Result<(), CommError> {
        self.lock().1.current = Some(*call);
        let result = self.wait_to_deadline(call, requests, statuses, ranks);
        self.lock().1.current = None;
        result.map_err(|error| self.fail(error))
    }

    fn wait_to_deadline(
        &self,
        call: &Call,
        requests: &mut [Request],
        statuses: &mut [Status],
        ranks: &[usize],
    ) -> Result<(), CommError> {
        let mut pause = Pause::new();
        loop {
            {
                let state = &mut *self.lock().1;
                if self.look(state, requests, statuses)? {
                    return Ok(());
                }
                if let Some(rank) = self.departed(state, call, requests, ranks) {
                    return Err(CommError::Left { rank });
                }
            }
            if pause.begun.elapsed() >= self.deadline {
                return self.call_the_roll(call, requests, statuses, ranks);
            }
            pause.next();
        }
    }

    /// A rank that has ended, though this operation needs it.
    fn departed(&self, state: &State, call: &Call, requests: &[Request], ranks: &[usize]) -> Option<usize> {
        let mut gone = state.left.iter().filter(|(_, since)| since.elapsed() > LATE).map(|(&rank, _)| rank);
        if !ranks.is_empty() {
            let pending = if state.left.is_empty() { Vec::new() } else { self.pending(requests, ranks) };
            return gone.find(|rank| pending.contains(rank));
        }
        // A root may end before all others have its message; other operations end when all ranks have come.
        if call.name.starts_with("broadcast") { None } else { gone.next() }
    }

    /// The other sides of the requests that are not complete.
    fn pending(&self, requests: &[Request], ranks: &[usize]) -> Vec<usize> {
        let pending = requests.iter().zip(ranks).filter(|(request, _)| {
            let mut done = 0;
            // SAFETY: a valid request, which this query leaves as it is.
            let code = unsafe { (self.api.request_get_status)(**request, &mut done, &mut Status::default()) };
            code == SUCCESS && done == 0
        });
        pending.map(|(_, &rank)| rank).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// After the deadline: asks all ranks where they wait, and finds out who does not answer.
    fn call_the_roll(
        &self,
        call: &Call,
        requests: &mut [Request],
        statuses: &mut [Status],
        ranks: &[usize],
    ) -> Result<(), CommError> {
        {
            let state = &mut *self.lock().1;
            state.answers.clear();
            self.notify_all(state, CALL, &[]);
        }
        let patience = PARTING.min(self.deadline.max(PARTING / 10));
        let mut pause = Pause::new();
        loop {
            {
                let state = &mut *self.lock().1;
                if self.look(state, requests, statuses)? {
                    return Ok(());
                }
                if state.answers.len() + 1 == self.size || pause.begun.elapsed() > patience {
                    break;
                }
            }
            pause.next();
        }
        let state = &*self.lock().1;
        let answered = |rank: &usize| state.answers.contains_key(rank);
        let silent: Vec<usize> =
            self.others().filter(|rank| !answered(rank) && !state.left.contains_key(rank)).collect();
        if silent.is_empty()
            && let Some((&second_rank, second)) =
                state.answers.iter().find(|(_, at)| **at != call.to_string())
        {
            let second = second.clone();
            return Err(CommError::Calls {
                first_rank: self.rank,
                first: call.to_string(),
                second_rank,
                second,
            });
        }
        let ranks = if silent.is_empty() { self.pending(requests, ranks) } else { silent };
        Err(CommError::Silent { ranks, deadline: self.deadline })
    }
}

impl Drop for Link {
    /// Ends MPI together with all others. After an error MPI is not ended, which needs all ranks: this rank
    /// waits for a while until the others have noticed. Launchers then end what is left.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.abort("it panicked");
        }
        self.notify_all(&mut self.lock().1, FAREWELL, &[]);
        // A rank without an error of its own ends after those with one, whose exit codes then count.
        let patient = self.lock().1.aborted.is_none();
        let mut pause = Pause::new();
        let mut failed_at = None;
        loop {
            let (failed, all_left) = {
                let state = &mut *self.lock().1;
                let failed = self.listen(state).is_err();
                (failed, state.left.len() + 1 == self.size && state.outbox.is_empty())
            };
            if all_left && !failed {
                break;
            }
            if failed {
                let since = failed_at.get_or_insert_with(Instant::now).elapsed();
                if (all_left && !patient) || since > PARTING {
                    return;
                }
            } else if pause.begun.elapsed() > self.deadline + 2 * LATE {
                return;
            }
            pause.next();
        }
        for mut comm in [self.data, self.collective, self.control] {
            // SAFETY: all ranks make these calls in the same order, and no message is under way.
            unsafe { (self.api.comm_free)(&mut comm) };
        }
        // SAFETY: the last call of the library.
        unsafe { (self.api.finalize)() };
    }
}

/// Pauses between tests of a wait: none at first, then longer ones, so that waiting ranks leave their core to
/// others.
struct Pause {
    begun: Instant,
    turn: u32,
}

impl Pause {
    fn new() -> Self {
        Self { begun: Instant::now(), turn: 0 }
    }

    fn next(&mut self) {
        self.turn += 1;
        if self.turn < 100 {
            return std::hint::spin_loop();
        }
        match self.begun.elapsed().as_micros() {
            0..2_000 => std::thread::yield_now(),
            2_000..1_000_000 => std::thread::sleep(Duration::from_micros(50)),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
