//! Steps that are limited by faster states at boundaries, and steps that have shrunk to nothing.
//!
//! The step follows from the speeds in the elements. A flow that enters at many times these speeds, such as a
//! jet into gas at rest, shows in them only after the first steps.

use dgsuite_timeint::{StepSize, TimeError};

use super::March;
use crate::run::error::{LARGER_FAIL, RunError};
use dgsuite_solve::flow::{FASTER, Fastest};

impl March<'_> {
    /// Returns the largest step that the prescribed states at boundaries allow; infinite if they are not much
    /// faster than the elements, and for steps of a given size.
    pub(super) fn entering_step(&mut self) -> f64 {
        let StepSize::Cfl(cfl) = self.plan.time.step else { return f64::INFINITY };
        let limit = match self.entering {
            Some(limit) => limit,
            None => {
                let fastest = self.solver.fastest_boundary(self.controller.now().t);
                let limit = fastest.map_or(f64::INFINITY, |(_, limit)| limit);
                self.entering = self.solver.has_steady_boundaries().then_some(limit);
                limit
            }
        };
        if FASTER * limit < self.limit { cfl * limit } else { f64::INFINITY }
    }

    /// Adds the state with the fastest waves to the error of steps that do not advance time.
    pub(super) fn with_fastest(&self, error: RunError) -> RunError {
        if let RunError::Stalled { time, step, steps, advance, left, by_error: false, .. } = error {
            let why = match self.solver.fastest() {
                _ if self.is_failing() => format!("; {LARGER_FAIL}"),
                Some(Fastest { element, at: [x, y, z], speeds: [flow, sound], state }) => format!(
                    "; the waves are fastest in element {element} near ({x:.6}, {y:.6}, {z:.6}): {}; the flow has the \
                     speed {flow:.4e}, sound {sound:.4e}",
                    in_words(&state)
                ),
                None => String::new(),
            };
            return RunError::Stalled { time, step, steps, advance, left, by_error: false, why };
        }
        if let StepSize::Fixed(_) = self.plan.time.step {
            return error;
        }
        let (step, time, dt) = match error {
            RunError::Time(TimeError::StepTooSmall { step, t, dt }) => (step, t, dt),
            RunError::Time(TimeError::StepLimit { step, t, limit }) => (step, t, limit),
            other => return other,
        };
        if let Some((boundary, limit)) = self.solver.fastest_boundary(time)
            && FASTER * limit < self.limit
        {
            return RunError::TooFastAtBoundary { time, step, dt, boundary };
        }
        if self.is_failing() {
            return RunError::StepsFail { time, step, dt };
        }
        let Some(Fastest { element, at, speeds, state }) = self.solver.fastest() else { return error };
        RunError::TooFast { time, step, dt, element, at, state: in_words(&state), speeds }
    }
}

/// A state as a list of names and values.
fn in_words(state: &[(&'static str, f64)]) -> String {
    let words: Vec<String> = state.iter().map(|(name, value)| format!("{name} = {value:.4e}")).collect();
    words.join(", ")
}
