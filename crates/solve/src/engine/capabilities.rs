//! What some engines can do beside steps, each behind a method of [`Engine`](super::Engine).
//!
//! On several ranks these are the engine of the part: whoever calls them asks
//! [`connected`](super::Engine::connected) afterwards whether all ranks still answer.

use super::Ahead;
use crate::error::SystemError;
use crate::solves::{Driven, SolveStatistics};
use dgsuite_ops::cuda::Attempt;
use dgsuite_ops::{Limited, OpsError};

/// Steps with an estimate of their error, which can be undone.
pub(crate) trait Adaptive {
    /// Sets the weights of the coefficients of this rank's elements, in canonical order, in the norm of a
    /// step's error.
    fn weigh_errors(&mut self, weights: &[f64]) -> Result<(), OpsError>;
    /// Whether a step needs the weights of errors first.
    fn lacks_weights(&self) -> bool;
    /// Takes a step and returns the norm of its weighted error, from the scheme's embedded solution.
    fn try_step(&mut self, t: f64, dt: f64) -> Result<f64, OpsError>;
    /// Undoes the last attempted step.
    fn undo_step(&mut self);
}

/// What the rate `R(t, u)` gives, where steps depend on the state alone.
pub(crate) trait OneStep {
    /// Takes a step in which each element takes its own stable step times `cfl`.
    fn step_local(&mut self, t: f64, cfl: f64) -> Result<(), OpsError>;
    /// `R(t, u)` of this rank's elements in canonical order.
    fn own_rate(&mut self, t: f64) -> Result<Vec<f64>, OpsError>;
    /// The norms of `R(u (1 ± ε)) − R(u)`, the effect of rounding on the residual.
    fn rounding(&mut self, t: f64) -> Result<Vec<f64>, OpsError>;

    /// Keeps a copy of the state; `false` if there is not enough memory.
    fn keep(&mut self) -> bool;
    /// Returns to the state that was kept last.
    fn go_back(&mut self);
}

/// Steps that are started without waiting for previous ones.
pub(crate) trait RunsAhead {
    /// Whether this is possible now.
    fn can_run(&mut self) -> bool;
    /// Starts steps.
    fn run(&mut self, steps: Ahead<'_>) -> Result<(), OpsError>;
    /// Waits for the oldest steps in progress. Returns the step bounds after each step (after the last one,
    /// if sizes were given), or `None` if a state was bad.
    fn finish(&mut self) -> Result<Option<Vec<f64>>, OpsError>;
    /// Waits for the oldest attempts in progress.
    fn finish_attempts(&mut self) -> Result<Vec<Attempt>, OpsError>;
    /// Returns to the state before the steps that were finished last, and discards all that are in progress.
    fn undo(&mut self) -> Result<(), OpsError>;
}

/// What a limiter does; each method returns `None` without one.
pub(crate) trait Limits {
    /// What it did in the last stage.
    fn limited(&self) -> Option<Limited>;
    /// The smallest density and pressure at its points.
    fn least(&self) -> Option<[f64; 2]>;
    /// Its factor of each element of this rank in the last stage.
    fn strengths(&self) -> Option<Vec<f32>>;
    /// The sensor of each element of this rank.
    fn sensors(&self) -> Option<Vec<f32>>;
}

/// What incompressible flow alone has: a multistep scheme, linear solvers, a velocity without divergence.
pub(crate) trait OfIncompressible {
    /// The size of the next step of a scheme that limits the growth of its steps, where a step of the size
    /// `wanted` would be stable.
    fn next_size(&self, wanted: f64) -> f64;
    /// The number of explicit sub-steps of convection in a step of size `dt` from the current state; 0 for
    /// none.
    fn substeps(&mut self, dt: f64) -> Result<usize, SystemError>;
    /// Lets the flow be read so long before the end of the last step, within it, until the next call; `None`
    /// reads its end again.
    fn look_back(&mut self, ago: Option<f64>) -> Result<(), SystemError>;
    /// The norm of the jumps of the normal velocity across inner faces.
    fn normal_jumps(&mut self) -> Result<f64, OpsError>;
    /// The largest stable step of the explicit stress of a closure beside an implicit viscosity; infinite
    /// without one.
    fn largest_step_of_stress(&mut self) -> Result<f64, OpsError>;
    /// The flow that a uniform force drives, if its flow rate is prescribed.
    fn driven(&self) -> Option<Driven>;
    /// Counts and times of the linear solvers.
    fn solves(&self) -> SolveStatistics;
}
