//! Steps by an estimate of their error: attempted, and undone if the error is too large.

use std::collections::VecDeque;
use std::time::Instant;

use dgsuite_ops::cuda::{Attempt, ControlStart};
use dgsuite_timeint::{Adaptive, Memory, TimeError};

use super::March;
use super::ahead::{BATCH, DEPTH, DISTANCE, FEWEST};
use crate::pipeline::time::AdaptiveSpec;
use crate::run::error::RunError;
use crate::run::sections;
use dgsuite_solve::Ahead;
use dgsuite_solve::flow::Taken;

/// Largest number of attempts at a step; the last one is less than a millionth of the first.
const MOST: u32 = 20;
/// Number of attempts that are rejected because of states at faces that were admissible before the step; if
/// they are still not, the reason is not the step, and numerical fluxes may bear it.
const MOST_FOR_FACES: u32 = 5;
/// Assumed growth of steps while batches are in progress, to keep away from events. If steps grow more, the
/// batch is undone.
const GROWTH: f64 = 1.3;

impl March<'_> {
    /// Starts the control of errors, if there is one, with a stable step or with the state in the checkpoint.
    pub(super) fn begin_adaptive(&mut self) -> Result<(), RunError> {
        if self.plan.time.adaptive.is_none() {
            return Ok(());
        }
        self.solver.weigh_errors()?;
        self.adaptive = match self.plan.setup.implicit {
            None => Adaptive::new(self.plan.setup.scheme, self.present_step()),
            // From an explicit step, not from the largest one that is allowed.
            Some(steps) => {
                let first = self.solver.explicit_dt()?.min(self.present_step());
                Some(Adaptive::of_order(steps.scheme.embedded_order(), first))
            }
        };
        self.faces = self.solver.admissible_at_faces();
        let saved = self.plan.restart.as_ref().and_then(|(_, saved)| sections::control(saved));
        if let (Some(adaptive), Some(memory)) = (&mut self.adaptive, saved) {
            adaptive.resume(memory);
        }
        Ok(())
    }

    /// Returns the state of the control of errors, for checkpoints.
    pub(super) fn memory(&self) -> Option<Memory> {
        self.adaptive.as_ref().map(Adaptive::memory)
    }

    /// Attempts steps until one is good; `false` if there is none left. Rejected attempts leave no trace:
    /// state, time and the time integrals of the boundaries are restored.
    pub(super) fn attempt(&mut self, spec: AdaptiveSpec) -> Result<bool, RunError> {
        let start = Instant::now();
        loop {
            let Some(wanted) = self.adaptive.as_ref().map(Adaptive::wanted) else { return Ok(false) };
            let most = self.present_step().min(self.entering_step());
            let Some(step) = self.controller.plan_size(wanted.min(most), self.limit)? else {
                return Ok(false);
            };
            let t = self.solver.time();
            self.solver.note(&mut self.trail, Taken::Step { t, dt: step.dt });
            let mut error = self.solver.try_step(step.dt)? / spec.tolerance;
            let mut limit = Ok(self.limit);
            let Some(adaptive) = &mut self.adaptive else { return Ok(false) };
            let mut faces = true;
            if error <= 1.0 {
                self.solver.keep_flow_rate(step.dt)?;
                limit = self.solver.stable_dt();
                faces = limit.is_ok() && self.solver.admissible_at_faces();
                // An invalid state is not a solution, however small its error is.
                let spoilt = self.faces && !faces && adaptive.memory().rejected < MOST_FOR_FACES;
                error = if limit.is_ok() && !spoilt { error } else { f64::INFINITY };
            }
            if adaptive.judge(step.dt, error) {
                self.faces = faces;
                self.solver.set_time(step.t_next);
                self.controller.accept(&step);
                self.limit = limit?;
                self.tally.spent += start.elapsed();
                self.count(step.dt);
                self.careful = self.careful.saturating_sub(1);
                return Ok(true);
            }
            let attempts = adaptive.memory().rejected;
            if attempts >= MOST {
                // A state from which no step is possible is kept for inspection.
                limit?;
                self.solver.stable_dt()?;
                self.solver.undo_step(t);
                if error.is_nan() {
                    // It says why there is no such step.
                    self.solver.step(step.dt)?;
                }
                let dt = step.dt;
                return Err(TimeError::Rejected { step: step.index, t, dt, error, attempts }.into());
            }
            self.solver.undo_step(t);
            self.trail.forget();
            self.tally.rejected += 1;
        }
    }

    /// Takes steps that the device accepts or rejects without the host. The control then repeats the
    /// decisions with the device's errors, and confirms them and the step sizes.
    pub(super) fn run_attempts(
        &mut self,
        spec: AdaptiveSpec,
        cfl: f64,
        most: u64,
        begin: Instant,
    ) -> Result<(), RunError> {
        let mut under_way: VecDeque<u64> = VecDeque::new();
        let mut put = 0;
        loop {
            while under_way.len() < DEPTH && put < most && self.goes_on(put, begin) {
                let Some(memory) = self.memory() else { return Ok(()) };
                let flying: u64 = under_way.iter().sum();
                let size = memory.dt.min(self.present_step()) * GROWTH;
                // Casts saturate: far from any event there is no limit.
                let near = |left: f64| (left / size).floor() as u64;
                let far = self.controller.left().map_or(u64::MAX, near).saturating_sub(flying + DISTANCE);
                let n = BATCH.min(most - put).min(far).min(self.planned_left().saturating_sub(flying));
                if n < FEWEST {
                    break;
                }
                let start = ControlStart {
                    wanted: memory.dt,
                    errors: memory.errors,
                    rejected: memory.rejected,
                    limit: self.limit,
                    tolerance: spec.tolerance,
                    cfl,
                };
                let from = (put == 0).then(|| (self.controller.now(), start));
                self.solver.run_ahead(Ahead::Attempts { n: n as usize, from })?;
                put += n;
                under_way.push_back(n);
            }
            if under_way.pop_front().is_none() {
                return Ok(());
            }
            let (start, before) = (self.controller.now(), self.adaptive.clone());
            let found = self.solver.finish_attempts()?;
            let Some(sizes) = self.confirm_attempts(&found) else {
                self.adaptive = before;
                return self.undo(start);
            };
            self.tally.rejected += (found.len() - sizes.len()) as u64;
            sizes.iter().for_each(|&dt| self.count(dt));
            self.solver.accept_ahead(sizes.len(), self.controller.now().t);
        }
    }

    /// Returns the sizes of the good steps among attempts of a device, if the control makes the same steps
    /// with these errors.
    fn confirm_attempts(&mut self, found: &[Attempt]) -> Option<Vec<f64>> {
        let mut sizes = Vec::with_capacity(found.len());
        for attempt in found {
            let most = self.present_step();
            let adaptive = self.adaptive.as_mut()?;
            let step = self.controller.plan_size(adaptive.wanted().min(most), self.limit).ok()??;
            if step.lands || step.dt.to_bits() != attempt.dt.to_bits() {
                return None;
            }
            let good = adaptive.judge(step.dt, attempt.error);
            if good != attempt.good || adaptive.memory().rejected >= MOST {
                return None;
            }
            if good {
                self.controller.accept(&step);
                self.limit = attempt.limit;
                sizes.push(step.dt);
            }
        }
        Some(sizes)
    }
}
