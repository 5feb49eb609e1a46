//! Repetitions of steps that end in a bad state, with at least half the size.

use dgsuite_timeint::TimePoint;

use super::March;
use crate::plan::Plan;
use crate::run::error::RunError;
use crate::run::sections;
use dgsuite_solve::SystemError;

/// Growth of the step after a step that did not fail.
const GROWTH: f64 = 1.2;

/// Size of a repeated step, relative to the one that failed.
const SMALLER: f64 = 0.5;

/// Largest number of messages about retries of a run.
const MESSAGES: u64 = 5;

/// The share of the step size at the start of a run.
pub(super) fn shrink(plan: &Plan) -> f64 {
    plan.restart.as_ref().and_then(|(_, saved)| sections::share(saved)).unwrap_or(1.0)
}

impl March<'_> {
    /// Returns to the state before a step that ended with `error`, whose size was the share `landing` of the
    /// wanted one, and makes the next step smaller: half as large, or as large as the theory of positive
    /// means allows if that is more.
    ///
    /// # Errors
    /// `error`, if the step has been repeated often enough, or cannot be repeated.
    pub(super) fn retry(
        &mut self,
        error: SystemError,
        before: TimePoint,
        landing: f64,
        retries: &mut u64,
    ) -> Result<(), RunError> {
        self.take_back(error, retries)?;
        self.controller.resume(before);
        let tried = self.shrink * landing;
        self.shrink = SMALLER * tried;
        if self.plan.setup.limiting.is_some() {
            let safe = self.solver.positive_dt()? / self.solver.next_size(self.present_step());
            if safe < tried {
                self.shrink = self.shrink.max(safe);
            }
        }
        self.announce(&format!("step {} from t = {:.6e}", before.step, before.t));
        Ok(())
    }

    /// As [`retry`](Self::retry), for an implicit step that has no solution: the state is that of its start.
    pub(super) fn retry_unsolved(
        &mut self,
        error: SystemError,
        landing: f64,
        retries: &mut u64,
    ) -> Result<(), RunError> {
        if !matches!(error, SystemError::Stage { .. }) || *retries >= self.plan.time.retries {
            return Err(error.into());
        }
        self.trail.forget();
        *retries += 1;
        self.tally.retries += 1;
        self.shrink *= SMALLER * landing;
        let now = self.controller.now();
        self.announce(&format!("step {} from t = {:.6e}", now.step, now.t));
        Ok(())
    }

    /// As [`retry`](Self::retry), for local steps: all of them are half as large.
    pub(super) fn retry_locally(&mut self, error: SystemError, retries: &mut u64) -> Result<(), RunError> {
        self.take_back(error, retries)?;
        self.shrink *= SMALLER;
        self.announce(&format!("step {}", self.now().step));
        Ok(())
    }

    /// Returns to the state before a step that ended with `error`, if it may be repeated.
    fn take_back(&mut self, error: SystemError, retries: &mut u64) -> Result<(), RunError> {
        let bad_state = matches!(error, SystemError::NotFinite { .. });
        if !bad_state || *retries >= self.plan.time.retries || !self.solver.go_back(&mut self.trail)? {
            return Err(error.into());
        }
        *retries += 1;
        self.tally.retries += 1;
        Ok(())
    }

    /// Notes that a step is repeated.
    fn announce(&mut self, step: &str) {
        if self.tally.retries <= MESSAGES {
            let last = if self.tally.retries == MESSAGES { "; later retries are only counted" } else { "" };
            self.log.note(&format!(
                "{step} ended in a bad state: repeated with {:.3} of its default size{last}",
                self.shrink
            ));
        }
    }

    /// Lets the steps grow after a step that did not fail.
    pub(super) fn recover(&mut self) {
        self.shrink = (GROWTH * self.shrink).min(1.0);
    }
}
