//! Runs whose steps have become so small that they do not get on.
//!
//! Each step still advances time, so that nothing else would end such a run: at near vacuum a flux that does
//! not keep the pressure positive makes steps fail until they are next to nothing.

use dgsuite_timeint::StepSize;

use super::March;
use crate::run::error::RunError;

/// Number of steps that show the pace of a run.
const STEPS: u64 = 500;

/// A run that needs more steps than this at its pace does not get on.
const MOST: f64 = 1e9;

/// If steps have shrunk to less than this share because they fail, and this share of a whole step advances
/// time, the waves are not the reason.
const FAILING: f64 = 1e-3;

impl March<'_> {
    /// Checks the pace of the run, once in a number of steps.
    ///
    /// # Errors
    /// [`RunError::Stalled`], if the time that is left (without an end, the time since the start of the run)
    /// takes more than [`MOST`] steps like the last [`STEPS`]. A given step is the user's choice, as long as
    /// it does not fail.
    pub(super) fn gets_on(&mut self) -> Result<(), RunError> {
        let (now, from) = (self.controller.now(), self.paced);
        let steps = now.step - from.step;
        if steps < STEPS {
            return Ok(());
        }
        self.paced = now;
        let advance = (now.t - from.t) + (now.low - from.low);
        let start = self.plan.restart.as_ref().map_or(0.0, |(_, saved)| saved.now.t);
        let left = self.plan.time.end.map_or(now.t - start, |end| end - now.t);
        let pace = advance / steps as f64;
        let chosen = matches!(self.plan.time.step, StepSize::Fixed(_)) && self.shrink >= 1.0;
        if chosen || left <= MOST * pace {
            return Ok(());
        }
        // The estimate of errors asks for smaller steps than the waves.
        let by_error = self.adaptive.is_some() && pace < 0.1 * self.present_step();
        let (time, step, why) = (now.t, now.step, String::new());
        Err(RunError::Stalled { time, step, steps, advance, left, by_error, why })
    }

    /// Whether steps are small because larger ones fail: by the waves alone they would advance time.
    pub(super) fn is_failing(&self) -> bool {
        let t = self.controller.now().t;
        self.shrink < FAILING && t + FAILING * self.present_step() > t
    }
}
