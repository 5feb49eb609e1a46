//! Errors of step control and of the choice of a scheme.

/// Failure of step control.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// A word that is not a scheme.
    #[error(
        "unknown time scheme '{word}': expected one of rk2, heun, rk4, ssprk22, ssprk33, ssprk43, ssprk54, \
         ssprk104, lserk54, rdpk35"
    )]
    UnknownScheme {
        /// The word.
        word: String,
    },
    /// A CFL number or a step size that is not positive and finite.
    #[error("{what} must be positive and finite, not {value}")]
    NotPositive {
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A time that is not finite, or an end before the start.
    #[error("{what} is {value}, but must be a finite time at or after the start {start}")]
    BadTime {
        /// Name of the time.
        what: &'static str,
        /// The time.
        value: f64,
        /// The start of the run.
        start: f64,
    },
    /// Neither an end nor a number of steps.
    #[error("a run needs an end time or a number of steps")]
    Endless,
    /// Too many output times.
    #[error(
        "an output every {period:?} up to {end:?} makes {count:.3e} times, but at most {most} are possible"
    )]
    TooManyTimes {
        /// Interval of the times.
        period: f64,
        /// Their number.
        count: f64,
        /// The last requested time.
        end: f64,
        /// Largest possible number of times.
        most: usize,
    },
    /// The stable step is zero, negative or not a number: the state is no longer valid.
    #[error("step {step} at time {t}: the stable step is {limit}")]
    StepLimit {
        /// Steps done so far.
        step: u64,
        /// Time reached.
        t: f64,
        /// The value of the stable step.
        limit: f64,
    },
    /// The step is so small that the time does not change.
    #[error("step {step} at time {t}: a step of {dt:.4e} does not advance time")]
    StepTooSmall {
        /// Steps done so far.
        step: u64,
        /// Time reached.
        t: f64,
        /// The step size.
        dt: f64,
    },
    /// The error exceeds the tolerance for any size of the step.
    #[error(
        "step {step} at time {t}: after {attempts} attempts a step of {dt:.4e} still has {error:.2e} times the error that \
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
        /// Number of attempts.
        attempts: u32,
    },
}
