//! Batches of steps in the device's stream, each with a copy of the state before it.

use super::{CudaEngine, EndOfStep};
use crate::engine::Ahead;
use dgsuite_gpu::cuda::{DeviceBuffer, Event};
use dgsuite_gpu::{GpuError, Vector as _};
use dgsuite_ops::cuda::{Attempt, AttemptsCopy, BoundsCopy, ControlStart, StepChoice};
use dgsuite_ops::{OpsError, PackScalar};
use dgsuite_timeint::TimePoint;
use std::collections::VecDeque;

/// Largest number of batches in progress.
const DEPTH: usize = 2;
/// Larger states, in bytes, are advanced step by step: waiting for the host costs little beside such a step,
/// and memory may be short.
const LARGEST: usize = 256 << 20;
/// Number of steps of one graph: a multiple of the periods with which arrays change places, so that one graph
/// suffices.
const STEPS: usize = 12;

/// The data of a batch.
struct Batch<T: PackScalar> {
    /// The state before the batch, and the time integrals of the boundaries.
    state: DeviceBuffer<T>,
    sums: DeviceBuffer<f64>,
    /// The device's checks of the states, valid after the event `done`.
    bounds: BoundsCopy,
    attempts: AttemptsCopy,
    done: Event,
    /// The number of its first step among the steps that the device has ended, if each state is checked.
    first: Option<u64>,
    n: usize,
    /// The counters before it.
    steps: u64,
    evaluations: u64,
}

/// The batches in progress.
pub(super) struct Batches<T: PackScalar> {
    room: Vec<Batch<T>>,
    under_way: VecDeque<usize>,
    /// The batch finished last, if its storage has not been reused.
    finished: Option<usize>,
    /// Number of steps whose end the device has counted.
    pub(super) ended: u64,
    /// Whether there was not enough memory.
    refused: bool,
}

impl<T: PackScalar> Batches<T> {
    pub(super) fn new() -> Self {
        Self { room: Vec::new(), under_way: VecDeque::new(), finished: None, ended: 0, refused: false }
    }

    /// Number of copies of the state that batches need for states of this length.
    pub(super) fn vectors(len: usize) -> usize {
        if len * T::BYTES <= LARGEST { DEPTH } else { 0 }
    }
}

impl<T: PackScalar> CudaEngine<T> {
    /// Returns whether batches are possible, and allocates memory for them.
    pub(super) fn can_run_ahead(&mut self) -> bool {
        // Where the link needs the host, so does the smallest step bound of all ranks.
        let possible = self.discretization.is_recordable()
            && Batches::<T>::vectors(self.u.len()) > 0
            && self.discretization.is_autonomous()
            && (self.weights.is_none() || self.discretization.judges_alone());
        if !possible || self.batches.refused {
            return false;
        }
        while self.batches.room.len() < DEPTH {
            match self.make_room() {
                Ok(batch) => self.batches.room.push(batch),
                Err(_) => {
                    self.batches.refused = true;
                    self.batches.room.clear();
                    return false;
                }
            }
        }
        true
    }

    fn make_room(&self) -> Result<Batch<T>, GpuError> {
        let cuda = self.discretization.cuda();
        Ok(Batch {
            state: DeviceBuffer::zeros(cuda, "a copy of the state", self.u.len())?,
            sums: DeviceBuffer::zeros(cuda, "boundary fluxes", self.discretization.sums().len())?,
            bounds: BoundsCopy::new(cuda)?,
            attempts: AttemptsCopy::new(cuda)?,
            done: Event::new(cuda)?,
            first: None,
            n: 0,
            steps: 0,
            evaluations: 0,
        })
    }

    /// Puts a batch into the device's stream.
    pub(super) fn put_batch(&mut self, steps: Ahead<'_>) -> Result<(), OpsError> {
        let free = (0..self.batches.room.len()).find(|i| !self.batches.under_way.contains(i));
        // The caller has called `can_run_ahead` and has finished batches in progress.
        let Some(free) = free else { return Ok(()) };
        self.batches.finished = None;
        let cuda = self.discretization.cuda().clone();
        let first = self.batches.ended;
        let (counted, evaluated) = (self.steps, self.evaluations);
        let batch = &mut self.batches.room[free];
        batch.state.copy_from(self.u.buffer(), cuda.stream())?;
        batch.sums.copy_from(self.discretization.sums(), cuda.stream())?;
        (batch.steps, batch.evaluations) = (counted, evaluated);
        match steps {
            Ahead::Sizes(sizes) => {
                self.put_sizes(sizes)?;
                // SAFETY: the state lives as long as the engine.
                unsafe { self.discretization.look(self.u.buffer().ptr())? };
                let batch = &mut self.batches.room[free];
                (batch.first, batch.n) = (None, sizes.len());
            }
            Ahead::Cfl { cfl, n, from } => {
                if let Some(from) = from {
                    self.discretization.set_clock(from.t, from.low, StepChoice::Cfl(cfl))?;
                }
                self.dt = None;
                let mut left = n;
                while left > 0 {
                    let some = if left >= STEPS { STEPS } else { 1 };
                    self.put_steps(some, EndOfStep::Cfl(cfl), 0.0, 0.0)?;
                    left -= some;
                }
                self.batches.ended += n as u64;
                let batch = &mut self.batches.room[free];
                (batch.first, batch.n) = (Some(first), n);
            }
            Ahead::Local { t, cfl, n } => {
                self.dt = None;
                self.discretization.find_local_steps(self.u.buffer())?;
                for i in 0..n {
                    // The time does not change; the clock is set if anything depends on it.
                    if i == 0 || self.discretization.is_moving() {
                        self.discretization.set_clock(t, 0.0, StepChoice::Fixed(cfl))?;
                    }
                    self.put_steps(1, EndOfStep::Local, t, cfl)?;
                }
                self.batches.ended += n as u64;
                let batch = &mut self.batches.room[free];
                (batch.first, batch.n) = (Some(first), n);
            }
            Ahead::Attempts { n, from } => {
                let first = self.put_attempts(n, from)?;
                let batch = &mut self.batches.room[free];
                (batch.first, batch.n) = (Some(first), n);
            }
        }
        let batch = &mut self.batches.room[free];
        // SAFETY: the copies live as long as the engine, which waits for `done` before it reads them, and for
        // the device when it is dropped.
        unsafe {
            match (steps, &self.weights) {
                (Ahead::Attempts { .. }, Some((_, control))) => {
                    self.discretization.copy_attempts(control, &mut batch.attempts)?;
                }
                _ => self.discretization.copy_bounds(&mut batch.bounds)?,
            }
        }
        cuda.stream().record(&batch.done)?;
        self.batches.under_way.push_back(free);
        Ok(())
    }

    fn put_sizes(&mut self, sizes: &[(TimePoint, f64)]) -> Result<(), OpsError> {
        let moving = self.discretization.is_moving();
        let mut left = sizes;
        while let Some(&(at, dt)) = left.first() {
            if self.dt != Some(dt) || moving {
                self.discretization.set_clock(at.t, at.low, StepChoice::Fixed(dt))?;
                self.dt = Some(dt);
            }
            let equal = left.iter().take(STEPS).all(|(_, other)| other.to_bits() == dt.to_bits());
            let some = if equal && left.len() >= STEPS { STEPS } else { 1 };
            let end = if moving { EndOfStep::Tick } else { EndOfStep::Nothing };
            self.put_steps(some, end, at.t, dt)?;
            self.batches.ended += if moving { some as u64 } else { 0 };
            left = &left[some..];
        }
        Ok(())
    }

    /// Puts attempts at steps into the device's stream; returns the number of the first one among all.
    fn put_attempts(&mut self, n: usize, from: Option<(TimePoint, ControlStart)>) -> Result<u64, OpsError> {
        let Some((_, control)) = &mut self.weights else { return Ok(0) };
        let first = control.attempts();
        if let Some((at, start)) = from {
            self.discretization.set_clock(at.t, at.low, StepChoice::Fixed(start.wanted))?;
            self.discretization.begin_attempts(control, &start)?;
        }
        control.count(n);
        self.dt = None;
        (0..n).try_for_each(|_| self.put_steps(1, EndOfStep::Judge, 0.0, 0.0))?;
        Ok(first)
    }

    /// Waits for the oldest batch of attempts in progress.
    pub(super) fn finish_attempts_of_batch(&mut self) -> Result<Vec<Attempt>, OpsError> {
        let Some(i) = self.batches.under_way.pop_front() else { return Ok(Vec::new()) };
        self.batches.finished = Some(i);
        let batch = &self.batches.room[i];
        self.discretization.wait_for(&batch.done)?;
        let first = batch.first.unwrap_or(0);
        Ok((0..batch.n as u64).map(|k| batch.attempts.at(first + k)).collect())
    }

    /// Waits for the oldest batch in progress; see [`finish_ahead`](super::Engine::finish_ahead).
    pub(super) fn finish_batch(&mut self) -> Result<Option<Vec<f64>>, OpsError> {
        let Some(i) = self.batches.under_way.pop_front() else { return Ok(None) };
        self.batches.finished = Some(i);
        let batch = &self.batches.room[i];
        self.discretization.wait_for(&batch.done)?;
        let bounds = match batch.first {
            Some(first) => (0..batch.n as u64).map(|k| batch.bounds.at(first + k)).collect(),
            None => vec![batch.bounds.last()],
        };
        let good = bounds.iter().all(|bound| bound.good);
        Ok(good.then(|| bounds.iter().map(|bound| bound.limit).collect()))
    }

    /// Returns to the state before the batch that was finished last, or before the oldest one in progress.
    pub(super) fn undo_batches(&mut self) -> Result<(), OpsError> {
        let cuda = self.discretization.cuda().clone();
        let oldest = self.batches.finished.take().or(self.batches.under_way.front().copied());
        self.batches.under_way.clear();
        let Some(oldest) = oldest else { return Ok(()) };
        let batch = &self.batches.room[oldest];
        self.u.buffer_mut().copy_from(&batch.state, cuda.stream())?;
        self.discretization.restore_sums(&batch.sums)?;
        (self.steps, self.evaluations) = (batch.steps, batch.evaluations);
        self.dt = None;
        cuda.stream().synchronize()?;
        Ok(())
    }
}
