//! What can go wrong in step control and in the choice of a scheme.

/// Failure of step control.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// A word that names no scheme.
    #[error(
        "unknown time scheme '{word}': expected one of rk2, heun, rk4, ssprk22, ssprk33, ssprk54, lserk54, \
         rdpk35"
    )]
    UnknownScheme {
        /// The word as it was written.
        word: String,
    },
    /// A CFL number or a step size that is not positive and finite.
    #[error("{what} must be positive and finite, not {value}")]
    NotPositive {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A time that is not finite, or an end before the start.
    #[error("{what} is {value}, which is no time at or after the start {start}")]
    BadTime {
        /// What the time is.
        what: &'static str,
        /// The time.
        value: f64,
        /// The start of the run.
        start: f64,
    },
    /// Neither an end nor a number of steps.
    #[error("a run needs an end time or a number of steps")]
    Endless,
    /// More output times than memory should be spent on.
    #[error("every {period:?} is {count:.3e} times up to {end:?}, of which at most {most} are possible")]
    TooManyTimes {
        /// Distance of the times.
        period: f64,
        /// Their number.
        count: f64,
        /// The last time wanted.
        end: f64,
        /// Most times that are made.
        most: usize,
    },
    /// The stable step is zero, negative or not a number: the state has gone bad.
    #[error("step {step} at time {t}: the stable step is {limit}")]
    StepLimit {
        /// Steps done so far.
        step: u64,
        /// Time reached.
        t: f64,
        /// The value given as the stable step.
        limit: f64,
    },
    /// The step is so small that time stands still.
    #[error("step {step} at time {t}: a step of {dt} does not advance time")]
    StepTooSmall {
        /// Steps done so far.
        step: u64,
        /// Time reached.
        t: f64,
        /// The step size.
        dt: f64,
    },
    /// The tolerance is not reached however small the step.
    #[error(
        "step {step} at time {t}: after {attempts} attempts a step of {dt} still has {error:.2e} times the error that \
         time.adaptive.tolerance allows"
    )]
    Rejected {
        /// Steps done so far.
        step: u64,
        /// Time reached.
        t: f64,
        /// The size of the last attempt.
        dt: f64,
        /// Its error relative to the tolerance.
        error: f64,
        /// Attempts that were made.
        attempts: u32,
    },
}
