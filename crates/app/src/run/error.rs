//! Why a run stopped before its end.

use std::fmt;

use dgsuite_timeint::TimeError;

use crate::code::Code;
use crate::monitors::MonitorError;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::SystemError;
use dgsuite_solve::post::homogeneous::NotInColumns;

/// Why a run stopped before its end. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The solution is no longer finite or admissible.
    #[error("{0}")]
    System(#[from] SystemError),
    /// A result could not be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
    /// A monitor has no means over the direction that it was given.
    #[error("{0}: `over` of a monitor needs those, which meshes of `mesh.extrude` and `mesh.generate` have")]
    NotInColumns(#[from] NotInColumns),
    /// Step control cannot continue: the stable step is not a positive number, or time does not advance.
    #[error("{0}")]
    Time(#[from] TimeError),
    /// The waves of a gas are so fast that no step advances time.
    #[error(
        "at time {time:.6e}, step {step}: the step has shrunk to {dt:.1e}, for which the waves are too fast in element \
         {element} near ({:.6}, {:.6}, {:.6}): {state}; the flow has the speed {:.4e}, sound {:.4e}",
        at[0], at[1], at[2], speeds[0], speeds[1]
    )]
    TooFast {
        /// Time.
        time: f64,
        /// Number of steps done.
        step: u64,
        /// The size of the step.
        dt: f64,
        /// The element's number in the mesh file.
        element: u64,
        /// A point in the element.
        at: [f64; 3],
        /// The primitive state at this point, by name.
        state: String,
        /// The speed of the flow, and the speed of sound.
        speeds: [f64; 2],
    },
    /// The states at a boundary are so fast that no step advances time.
    #[error(
        "at time {time:.6e}, step {step}: the step has shrunk to {dt:.1e}, for which the states at the boundary \
         \"{boundary}\" are too fast"
    )]
    TooFastAtBoundary {
        /// Time.
        time: f64,
        /// Number of steps done.
        step: u64,
        /// The size of the step.
        dt: f64,
        /// The name of the boundary.
        boundary: String,
    },
    /// The steps are so small that the run does not get on.
    #[error(
        "at time {time:.6e}, step {step}: the last {steps} steps advanced time by {advance:.1e}, {}{why}",
        pace(*steps, *advance, *left)
    )]
    Stalled {
        /// Time.
        time: f64,
        /// Number of steps done.
        step: u64,
        /// Number of the steps that show the pace.
        steps: u64,
        /// The time by which they advanced.
        advance: f64,
        /// The time to the end; without an end, the time since the start of the run.
        left: f64,
        /// Whether the estimate of errors asks for small steps.
        by_error: bool,
        /// The reason, in words, if it is known.
        why: String,
    },
    /// Steps fail until they are so small that they do not advance time.
    #[error("at time {time:.6e}, step {step}: the step has shrunk to {dt:.1e}: {LARGER_FAIL}")]
    StepsFail {
        /// Time.
        time: f64,
        /// Number of steps done.
        step: u64,
        /// The size of the step.
        dt: f64,
    },
    /// A steady run did not reach its tolerance.
    #[error(
        "no steady state: the residual is {ratio:.3e} of its largest value after {steps} steps, above {tolerance:e}{}",
        stagnant.as_ref().map(ToString::to_string).unwrap_or_default()
    )]
    NotSteady {
        /// Residual relative to the largest so far.
        ratio: f64,
        /// The tolerance.
        tolerance: f64,
        /// The number of steps.
        steps: u64,
        /// How long the residual has not decreased, if this ended the run.
        stagnant: Option<Stagnant>,
    },
}

/// Why steps are small, if it is not for their waves.
pub const LARGER_FAIL: &str = "larger ones end in a bad state";

/// Says how many steps a time of `left` takes if `steps` steps advance time by `advance`.
fn pace(steps: u64, advance: f64, left: f64) -> String {
    format!("at which pace a time of {left:.3e} takes {:.1e} steps", left / advance * steps as f64)
}

/// Data about a residual that no longer decreases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stagnant {
    /// Steps since it last fell by one percent.
    pub steps: u64,
    /// The time of so many steps of the current size; `None` with local steps.
    pub time: Option<f64>,
    /// The time of the slowest process, if anything moves or diffuses.
    pub slowest: Option<f64>,
}

impl fmt::Display for Stagnant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; it has not fallen by 1 % in the last {} steps", self.steps)?;
        if let Some(time) = self.time {
            write!(f, ", a time of {time:.3e}")?;
        }
        match self.slowest {
            Some(slowest) => {
                write!(f, " (flow or diffusion across the whole domain takes a time of {slowest:.3e})")
            }
            None => Ok(()),
        }
    }
}

impl From<&RunError> for Code {
    fn from(error: &RunError) -> Self {
        match error {
            RunError::System(error) => error.into(),
            RunError::Writer(error) => error.into(),
            RunError::NotInColumns(_) => Self::OutOfRange,
            RunError::Time(error) => error.into(),
            RunError::TooFast { .. }
            | RunError::TooFastAtBoundary { .. }
            | RunError::Stalled { .. }
            | RunError::StepsFail { .. } => Self::StepSize,
            RunError::NotSteady { .. } => Self::NotSteady,
        }
    }
}

impl From<MonitorError> for RunError {
    fn from(error: MonitorError) -> Self {
        match error {
            MonitorError::System(error) => Self::System(error),
            MonitorError::Writer(error) => Self::Writer(error),
            MonitorError::NotInColumns(error) => Self::NotInColumns(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stagnant_run_says_what_was_seen() {
        let seen = |time, slowest| {
            let stagnant = Some(Stagnant { steps: 6000, time, slowest });
            RunError::NotSteady { ratio: 2e-3, tolerance: 1e-8, steps: 9000, stagnant }.to_string()
        };
        let start = "no steady state: the residual is 2.000e-3 of its largest value after 9000 steps, above 1e-8; \
                     it has not fallen by 1 % in the last 6000 steps";
        assert_eq!(seen(None, None), start);
        let more = ", a time of 6.000e1 (flow or diffusion across the whole domain takes a time of 5.000e0)";
        assert_eq!(seen(Some(60.0), Some(5.0)), format!("{start}{more}"));
    }
}
