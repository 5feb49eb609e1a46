//! Why a run stopped before its end.

use dgsuite_timeint::TimeError;

use crate::systems::SystemError;
use crate::writer::WriterError;

/// Why a run stopped before its end. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The solution has become useless.
    #[error("{0}")]
    System(#[from] SystemError),
    /// A result could not be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
    /// Step control cannot go on: the stable step is not a positive number, or time does not advance.
    #[error("{0}")]
    Time(#[from] TimeError),
    /// A steady run did not reach its tolerance.
    #[error("no steady state: the residual is {ratio:.3e} of its largest value after {steps} steps, above {tolerance:e}{}", if *stagnant { " and does not fall any more" } else { "" })]
    NotSteady {
        /// Residual relative to the largest so far.
        ratio: f64,
        /// The tolerance.
        tolerance: f64,
        /// The number of steps.
        steps: u64,
        /// Whether it had stopped falling.
        stagnant: bool,
    },
}
