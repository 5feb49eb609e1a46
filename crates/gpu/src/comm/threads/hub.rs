//! The mail boxes and meeting points that threads share, behind one lock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::ThreadOptions;
use crate::Buffer;
use crate::comm::{CommError, Partner};

/// What all ranks of one set of threads share.
pub(super) struct Hub {
    size: usize,
    options: ThreadOptions,
    state: Mutex<State>,
    /// Signalled after every change of the state.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Messages by sender, receiver and exchange.
    boxes: HashMap<(usize, usize, u64), VecDeque<Message>>,
    /// Numbers of messages so far, by sender and receiver.
    sent: HashMap<(usize, usize), u64>,
    /// Memory of received messages, for the next ones.
    spare: Vec<Vec<u8>>,
    /// Collective operations that not all ranks have completed, by number.
    meetings: HashMap<u64, Meeting>,
    /// Ranks that wait.
    waiting: HashSet<usize>,
    /// Ranks that have ended.
    left: HashSet<usize>,
    /// The first error.
    aborted: Option<CommError>,
}

struct Message {
    bytes: Vec<u8>,
    ready: Instant,
}

/// A collective operation.
struct Meeting {
    /// The first rank that came, and its operation.
    first: (usize, String),
    parts: Vec<Option<Message>>,
    /// Number of ranks that have read what they need.
    done: usize,
}

/// The parts of a collective operation for which a rank waits.
#[derive(Clone, Copy)]
pub(super) enum Need {
    None,
    One(usize),
    All,
}

impl Hub {
    pub(super) fn new(size: usize, options: ThreadOptions) -> Self {
        Self { size, options, state: Mutex::default(), changed: Condvar::new() }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The state; every change of it is complete, also if a thread panicked later.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn abort(&self, rank: usize, message: &str) {
        let mut state = self.lock();
        state.aborted.get_or_insert_with(|| CommError::Aborted { rank, message: message.to_owned() });
        self.changed.notify_all();
    }

    /// The first error.
    pub(super) fn failure(&self) -> Option<CommError> {
        self.lock().aborted.clone()
    }

    /// The first error, or the end of a rank other than `rank`.
    pub(super) fn failure_beside(&self, rank: usize) -> Option<CommError> {
        let state = self.lock();
        let left = || state.left.iter().filter(|&&other| other != rank).min();
        state.aborted.clone().or_else(|| left().map(|&rank| CommError::Left { rank }))
    }

    pub(super) fn leave(&self, rank: usize) {
        self.lock().left.insert(rank);
        self.changed.notify_all();
    }

    /// The error of a rank, which ends the waits of all; an earlier error of another rank has precedence.
    fn fail(&self, state: &mut State, rank: usize, error: CommError) -> CommError {
        if let Some(earlier) = &state.aborted {
            return earlier.clone();
        }
        state.aborted = Some(CommError::Aborted { rank, message: error.to_string() });
        self.changed.notify_all();
        error
    }

    /// The error of a rank whose deadline has passed while it waited for the ranks `missing`. Those of them
    /// that wait as well are not the cause: then it is a rank that does not wait.
    fn silent(&self, state: &mut State, rank: usize, missing: &[usize]) -> CommError {
        let awake = |rank: &usize| !state.waiting.contains(rank) && !state.left.contains(rank);
        let causes = [missing.to_vec(), (0..self.size).filter(|&other| other != rank).collect()]
            .map(|ranks| ranks.into_iter().filter(awake).collect::<Vec<_>>());
        let ranks = causes.into_iter().find(|ranks| !ranks.is_empty()).unwrap_or_else(|| missing.to_vec());
        self.fail(state, rank, CommError::Silent { ranks, deadline: self.options.deadline })
    }

    /// When a message arrives that is sent now.
    fn ready(&self, from: usize, to: usize, kind: u64, number: u64) -> Instant {
        let delay = self.options.delay.map_or(Duration::ZERO, |delay| {
            let random =
                [from as u64, to as u64, kind, number].iter().fold(delay.seed, |seed, &x| mix(seed ^ x));
            delay.longest.mul_f64((random >> 11) as f64 / (1u64 << 53) as f64)
        });
        Instant::now() + delay
    }

    pub(super) fn send(&self, from: usize, to: usize, exchange: u64, bytes: &[u8]) -> Result<(), CommError> {
        let mut state = self.lock();
        if let Some(error) = &state.aborted {
            return Err(error.clone());
        }
        let count = state.sent.entry((from, to)).or_default();
        let number = *count;
        *count += 1;
        if self.options.loss.is_some_and(|loss| (loss.from, loss.to, loss.after) == (from, to, number)) {
            return Ok(());
        }
        let mut copy = state.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        let message = Message { bytes: copy, ready: self.ready(from, to, exchange, number) };
        state.boxes.entry((from, to, exchange)).or_default().push_back(message);
        self.changed.notify_all();
        Ok(())
    }

    /// Receives the messages of an exchange that are still `waiting`, within the deadline.
    pub(super) fn receive_all(
        &self,
        rank: usize,
        exchange: u64,
        partners: &[Partner],
        incoming: &mut [Buffer<u8>],
        waiting: &mut [bool],
    ) -> Result<(), CommError> {
        let until = Instant::now() + self.options.deadline;
        self.lock().waiting.insert(rank);
        let complete = self.receive(rank, exchange, partners, incoming, waiting, until);
        let state = &mut *self.lock();
        state.waiting.remove(&rank);
        if complete? {
            return Ok(());
        }
        let missing = partners.iter().zip(waiting).filter(|(_, waiting)| **waiting);
        let missing: Vec<usize> = missing.map(|(partner, _)| partner.rank).collect();
        Err(self.silent(state, rank, &missing))
    }

    /// Receives the messages of an exchange that are still `waiting`, until nothing is missing or until a
    /// time; returns whether nothing is missing.
    pub(super) fn receive(
        &self,
        rank: usize,
        exchange: u64,
        partners: &[Partner],
        incoming: &mut [Buffer<u8>],
        waiting: &mut [bool],
        until: Instant,
    ) -> Result<bool, CommError> {
        let mut state = self.lock();
        loop {
            if let Some(error) = &state.aborted {
                return Err(error.clone());
            }
            let now = Instant::now();
            let mut wake = until;
            for (i, partner) in partners.iter().enumerate() {
                if !waiting[i] {
                    continue;
                }
                let State { boxes, spare, left, .. } = &mut *state;
                let queue = boxes.entry((partner.rank, rank, exchange)).or_default();
                match queue.front() {
                    Some(message) if message.ready > now => wake = wake.min(message.ready),
                    Some(message) if message.bytes.len() != partner.receive => {
                        let found = message.bytes.len();
                        let expected = partner.receive;
                        let error = CommError::Length { from: partner.rank, to: rank, expected, found };
                        return Err(self.fail(&mut state, rank, error));
                    }
                    Some(_) => {
                        let message = queue.pop_front().map(|message| message.bytes).unwrap_or_default();
                        incoming[i].copy_from_slice(&message);
                        spare.push(message);
                        waiting[i] = false;
                    }
                    None if left.contains(&partner.rank) => {
                        return Err(self.fail(&mut state, rank, CommError::Left { rank: partner.rank }));
                    }
                    None => {}
                }
            }
            if waiting.iter().all(|waiting| !waiting) {
                return Ok(true);
            }
            if now >= until {
                return Ok(false);
            }
            state = self.wait(state, wake - now);
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, longest: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Takes part in collective operation `number`.
    pub(super) fn together<T>(
        &self,
        rank: usize,
        number: u64,
        call: String,
        deposit: Option<Vec<u8>>,
        need: Need,
        read: impl FnOnce(&[&[u8]]) -> T,
    ) -> Result<T, CommError> {
        let until = Instant::now() + self.options.deadline;
        let mut state = self.lock();
        if let Some(error) = &state.aborted {
            return Err(error.clone());
        }
        let meeting = state.meetings.entry(number).or_insert_with(|| Meeting {
            first: (rank, call.clone()),
            parts: (0..self.size).map(|_| None).collect(),
            done: 0,
        });
        if meeting.first.1 != call {
            let (first_rank, first) = meeting.first.clone();
            let error = CommError::Calls { first_rank, first, second_rank: rank, second: call };
            return Err(self.fail(&mut state, rank, error));
        }
        meeting.parts[rank] =
            deposit.map(|bytes| Message { bytes, ready: self.ready(rank, rank, !0, number) });
        self.changed.notify_all();
        let needed: Vec<usize> = match need {
            Need::None => Vec::new(),
            Need::One(one) => vec![one],
            Need::All => (0..self.size).collect(),
        };
        loop {
            if let Some(error) = &state.aborted {
                return Err(error.clone());
            }
            let now = Instant::now();
            let Some(meeting) = state.meetings.get_mut(&number) else {
                // Never so: a meeting ends with its last reader, and this rank has not read.
                return Err(CommError::Left { rank });
            };
            let missing: Vec<usize> =
                needed.iter().copied().filter(|&of| meeting.parts[of].is_none()).collect();
            let ready = needed.iter().filter_map(|&of| Some(meeting.parts[of].as_ref()?.ready)).max();
            if missing.is_empty() && ready.is_none_or(|ready| ready <= now) {
                let parts: Vec<&[u8]> =
                    needed.iter().filter_map(|&of| Some(&meeting.parts[of].as_ref()?.bytes[..])).collect();
                let result = read(&parts);
                meeting.done += 1;
                if meeting.done == self.size {
                    state.meetings.remove(&number);
                }
                return Ok(result);
            }
            if let Some(&gone) = missing.iter().find(|rank| state.left.contains(rank)) {
                return Err(self.fail(&mut state, rank, CommError::Left { rank: gone }));
            }
            if now >= until {
                return Err(self.silent(&mut state, rank, &missing));
            }
            let wake = if missing.is_empty() { ready.unwrap_or(until).min(until) } else { until };
            state.waiting.insert(rank);
            state = self.wait(state, wake.saturating_duration_since(now));
            state.waiting.remove(&rank);
        }
    }
}

/// Mixes the bits of a number (splitmix64; Steele, Lea, Flood 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
