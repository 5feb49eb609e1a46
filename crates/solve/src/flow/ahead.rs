//! Batches of steps on a device: starts them, waits for them, undoes them.

use super::{Flow, SystemError};
use crate::engine::Ahead;
use dgsuite_ops::cuda::Attempt;

impl Flow {
    /// Returns whether steps can be started without waiting for previous ones.
    pub fn runs_ahead(&mut self) -> bool {
        // The force of a prescribed flow rate is computed by the host, after each step.
        if self.driving.is_some() {
            return false;
        }
        // All ranks must run ahead, or none.
        let hindered = !self.engine.ahead().is_some_and(|engine| engine.can_run());
        !self.engine.any(hindered)
    }

    /// Starts steps; [`finish_ahead`](Self::finish_ahead) waits for them.
    pub fn run_ahead(&mut self, steps: Ahead<'_>) -> Result<(), SystemError> {
        let outcome = self.engine.ahead().map_or(Ok(()), |engine| engine.run(steps));
        outcome.map_err(|e| self.located(e))
    }

    /// Waits for the oldest steps in progress. Returns the step bounds after each step (after the last one,
    /// if sizes were given), or `None` if a state was bad.
    pub fn finish_ahead(&mut self) -> Result<Option<Vec<f64>>, SystemError> {
        let outcome = self.engine.ahead().map_or(Ok(None), |engine| engine.finish());
        outcome.map_err(|e| self.located(e))
    }

    /// Waits for the oldest attempts in progress.
    pub fn finish_attempts(&mut self) -> Result<Vec<Attempt>, SystemError> {
        let outcome = self.engine.ahead().map_or(Ok(Vec::new()), |engine| engine.finish_attempts());
        outcome.map_err(|e| self.located(e))
    }

    /// Returns to the state before the steps that were finished last, and discards all that are in progress.
    pub fn undo_ahead(&mut self) -> Result<(), SystemError> {
        let outcome = self.engine.ahead().map_or(Ok(()), |engine| engine.undo());
        outcome.map_err(|e| self.located(e))
    }

    /// Accepts `n` finished steps, which end at `time`.
    pub fn accept_ahead(&mut self, n: usize, time: f64) {
        self.time = time;
        self.steps += n;
    }

    /// Starts `n` steps in which each element takes its own stable step times `cfl`.
    pub fn run_locally_ahead(&mut self, cfl: f64, n: usize) -> Result<(), SystemError> {
        self.run_ahead(Ahead::Local { t: self.time, cfl, n })
    }

    /// Accepts `n` finished local steps; the time does not change.
    pub fn accept_local(&mut self, n: usize) {
        self.steps += n;
    }
}
