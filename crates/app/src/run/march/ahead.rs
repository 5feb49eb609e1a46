//! Batches of steps that a device computes without waiting for the host.
//!
//! The run reads the device's checks of the states after a batch has ended and the next one has begun.
//!
//! The controller still plans every step from the same step bounds, so the steps are the same as in a run
//! that checks each of them. A batch with a bad state, or one in which a step should have landed on a time,
//! is undone, and its steps are taken one by one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use dgsuite_timeint::{StepSize, TimePoint};

use super::March;
use crate::run::error::RunError;
use dgsuite_solve::Ahead;

/// Largest number of steps in a batch.
pub(super) const BATCH: u64 = 24;
/// Smallest number of steps for which a batch is faster than single steps.
pub(super) const FEWEST: u64 = 4;
/// Number of batches in progress.
pub(super) const DEPTH: usize = 2;
/// Time after which the run returns to progress reports and signals.
const SLICE: Duration = Duration::from_millis(100);
/// Number of steps after which a run on several ranks returns to progress reports and signals.
const SHARED_SLICE: u64 = 8 * BATCH;
/// Assumed growth of steps while batches are in progress, and number of steps to keep away from an event.
const GROWTH: f64 = 1.05;
pub(super) const DISTANCE: u64 = 3;

/// A batch in progress.
struct Batch {
    /// Its start, and its end if known in advance.
    start: TimePoint,
    end: TimePoint,
    /// Sizes of its steps if known in advance.
    sizes: Vec<(TimePoint, f64)>,
    n: u64,
}

impl March<'_> {
    /// Takes at most `most` steps in batches; `false` if it took none.
    pub(super) fn run_ahead(&mut self, most: u64) -> Result<bool, RunError> {
        if self.careful > 0 || self.shrink < 1.0 || most < FEWEST || !self.solver.runs_ahead() {
            return Ok(false);
        }
        if self.entering_step().is_finite() {
            return Ok(false);
        }
        self.trail.lose();
        let (begin, before) = (Instant::now(), self.tally.steps);
        let outcome = match (self.plan.time.adaptive, self.plan.time.step) {
            (Some(spec), StepSize::Cfl(cfl)) => self.run_attempts(spec, cfl, most, begin),
            (None, StepSize::Cfl(cfl)) => self.run_cfl(cfl, most, begin),
            (_, StepSize::Fixed(_)) => self.run_sizes(most, begin),
        };
        self.tally.spent += begin.elapsed();
        outcome?;
        Ok(self.tally.steps > before)
    }

    /// Steps of known sizes: the controller plans in advance.
    fn run_sizes(&mut self, most: u64, begin: Instant) -> Result<(), RunError> {
        let mut under_way = VecDeque::new();
        let (mut put, mut open) = (0, true);
        loop {
            while open && under_way.len() < DEPTH && put < most && self.goes_on(put, begin) {
                let start = self.controller.now();
                let mut sizes = Vec::new();
                while open && (sizes.len() as u64) < BATCH.min(most - put) {
                    let at = self.controller.now();
                    // An error of the plan is reported when the step is tried again alone.
                    let Ok(Some(step)) = self.controller.plan(self.limit) else {
                        open = false;
                        break;
                    };
                    self.controller.accept(&step);
                    sizes.push((at, step.dt));
                    open = !step.lands;
                }
                if sizes.is_empty() {
                    break;
                }
                self.solver.run_ahead(Ahead::Sizes(&sizes))?;
                let n = sizes.len() as u64;
                put += n;
                under_way.push_back(Batch { start, end: self.controller.now(), sizes, n });
            }
            let Some(batch) = under_way.pop_front() else { return Ok(()) };
            let Some(bounds) = self.solver.finish_ahead()? else { return self.undo(batch.start) };
            self.limit = bounds.last().copied().unwrap_or(self.limit);
            batch.sizes.iter().for_each(|&(_, dt)| self.count(dt));
            self.solver.accept_ahead(batch.sizes.len(), batch.end.t);
        }
    }

    /// Steps whose sizes the device computes: the controller follows and confirms them.
    fn run_cfl(&mut self, cfl: f64, most: u64, begin: Instant) -> Result<(), RunError> {
        let mut under_way: VecDeque<Batch> = VecDeque::new();
        let mut put = 0;
        loop {
            while under_way.len() < DEPTH && put < most && self.goes_on(put, begin) {
                let flying: u64 = under_way.iter().map(|batch| batch.n).sum();
                // Casts saturate: far from any event there is no limit.
                let near = |left: f64| (left / (cfl * self.limit * GROWTH)).floor() as u64;
                let far = self.controller.left().map_or(u64::MAX, near).saturating_sub(flying + DISTANCE);
                let n = BATCH.min(most - put).min(far).min(self.planned_left().saturating_sub(flying));
                if n < FEWEST {
                    break;
                }
                let start = self.controller.now();
                let from = (put == 0).then_some(start);
                self.solver.run_ahead(Ahead::Cfl { cfl, n: n as usize, from })?;
                put += n;
                under_way.push_back(Batch { start, end: start, sizes: Vec::new(), n });
            }
            let Some(mut batch) = under_way.pop_front() else { return Ok(()) };
            batch.start = self.controller.now();
            let found = self.solver.finish_ahead()?;
            let Some(sizes) = found.and_then(|bounds| self.confirm(cfl, &bounds)) else {
                return self.undo(batch.start);
            };
            sizes.iter().for_each(|&dt| self.count(dt));
            self.solver.accept_ahead(sizes.len(), self.controller.now().t);
        }
    }

    /// Returns whether the run may start more batches before it returns to progress reports and signals.
    pub(super) fn goes_on(&self, put: u64, begin: Instant) -> bool {
        match self.plan.setup.comm.size() {
            1 => begin.elapsed() < SLICE,
            // Clocks of ranks differ, but all of them must start the same batches.
            _ => put < SHARED_SLICE,
        }
    }

    /// Returns the number of steps left in the plan.
    pub(super) fn planned_left(&self) -> u64 {
        self.plan.time.steps.map_or(u64::MAX, |n| (n as u64).saturating_sub(self.controller.now().step))
    }

    /// Takes at most `most` local steps in batches; `false` if it took none.
    pub(super) fn run_locally_ahead(&mut self, most: u64) -> Result<bool, RunError> {
        let n = most.min(BATCH);
        if self.careful > 0 || self.shrink < 1.0 || n < FEWEST || !self.solver.runs_ahead() {
            return Ok(false);
        }
        self.trail.lose();
        let begin = Instant::now();
        self.solver.run_locally_ahead(self.local_cfl(), n as usize)?;
        let found = self.solver.finish_ahead()?;
        self.tally.spent += begin.elapsed();
        let Some(bounds) = found else {
            self.solver.undo_ahead()?;
            self.careful = n;
            return Ok(false);
        };
        self.limit = bounds.last().copied().unwrap_or(self.limit);
        self.local += n;
        self.tally.steps += n;
        self.solver.accept_local(n as usize);
        Ok(true)
    }

    /// Returns the sizes of the steps that a device has taken, if the controller plans the same sizes with
    /// these bounds.
    fn confirm(&mut self, cfl: f64, bounds: &[f64]) -> Option<Vec<f64>> {
        let mut sizes = Vec::with_capacity(bounds.len());
        for &bound in bounds {
            let step = self.controller.plan(self.limit).ok()??;
            if step.lands || step.dt.to_bits() != (cfl * self.limit).to_bits() {
                return None;
            }
            self.controller.accept(&step);
            self.limit = bound;
            sizes.push(step.dt);
        }
        Some(sizes)
    }

    /// Returns to the start of a batch; its steps and later ones are then taken one by one.
    pub(super) fn undo(&mut self, start: TimePoint) -> Result<(), RunError> {
        self.solver.undo_ahead()?;
        self.controller.resume(start);
        self.limit = self.solver.stable_dt()?;
        self.careful = BATCH * DEPTH as u64;
        Ok(())
    }
}
