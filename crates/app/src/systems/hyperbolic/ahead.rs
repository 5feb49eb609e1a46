//! Steps that a device does by itself: put on their way, waited for, undone.

use super::{Hyperbolic, SystemError};
use crate::systems::engine::Ahead;
use dgsuite_ops::cuda::Attempt;

impl Hyperbolic {
    /// Whether steps can be put on their way without waiting for those before.
    pub(crate) fn runs_ahead(&mut self) -> bool {
        self.engine.runs_ahead()
    }

    /// Puts steps on their way; [`finish_ahead`](Self::finish_ahead) waits for them.
    pub(crate) fn run_ahead(&mut self, steps: Ahead<'_>) -> Result<(), SystemError> {
        let outcome = self.engine.run_ahead(steps);
        outcome.map_err(|e| self.located(e))
    }

    /// Waits for the oldest steps under way: the step bounds after each step (after the last, if sizes were
    /// given), or
    /// `None` where a state was bad.
    pub(crate) fn finish_ahead(&mut self) -> Result<Option<Vec<f64>>, SystemError> {
        let outcome = self.engine.finish_ahead();
        outcome.map_err(|e| self.located(e))
    }

    /// Waits for the oldest attempts under way.
    pub(crate) fn finish_attempts(&mut self) -> Result<Vec<Attempt>, SystemError> {
        let outcome = self.engine.finish_attempts();
        outcome.map_err(|e| self.located(e))
    }

    /// Goes back to the state before the steps that were finished last, and forgets all that are under way.
    pub(crate) fn undo_ahead(&mut self) -> Result<(), SystemError> {
        let outcome = self.engine.undo_ahead();
        outcome.map_err(|e| self.located(e))
    }

    /// So many steps that were put on their way are done, and end at `time`.
    pub(crate) fn accept_ahead(&mut self, n: usize, time: f64) {
        self.time = time;
        self.steps += n;
    }

    /// Puts `n` steps on their way in which every element has its own stable step times `cfl`.
    pub(crate) fn run_locally_ahead(&mut self, cfl: f64, n: usize) -> Result<(), SystemError> {
        self.run_ahead(Ahead::Local { t: self.time, cfl, n })
    }

    /// So many local steps that were put on their way are done; time stands still.
    pub(crate) fn accept_local(&mut self, n: usize) {
        self.steps += n;
    }
}
