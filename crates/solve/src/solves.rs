//! Counts and times of the linear solvers of a run, and the past states of multistep schemes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A linear system of the steps of incompressible flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearSystem {
    /// The Poisson problem of the pressure.
    Pressure,
    /// The implicit viscous step.
    Velocity,
    /// The implicit diffusion of scalars.
    Scalars,
    /// The step with penalties on divergence and normal jumps.
    Penalties,
}

impl fmt::Display for LinearSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pressure => "the pressure",
            Self::Velocity => "the velocity",
            Self::Scalars => "the scalars",
            Self::Penalties => "the penalties on divergence and jumps",
        })
    }
}

/// Iterations of one linear solver, or sub-steps: counts of which each step adds one or more.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Iterations {
    /// Sum over all solves.
    pub total: u64,
    /// The largest number of one solve.
    pub most: u64,
}

impl Iterations {
    /// Adds the iterations of a solve.
    pub fn add(&mut self, iterations: u64) {
        self.total += iterations;
        self.most = self.most.max(iterations);
    }
}

/// Seconds of the phases of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseSeconds {
    /// Convective terms and sub-steps.
    pub advection: f64,
    /// Right-hand side and solution of the pressure's problem, and projection.
    pub pressure: f64,
    /// Right-hand side and solution of the velocity's problem.
    pub velocity: f64,
    /// All of the scalars: convection and diffusion.
    pub scalars: f64,
    /// The problem with penalties on divergence and normal jumps.
    pub penalty: f64,
    /// All else.
    pub rest: f64,
}

/// Counts and times of the steps of incompressible flow since the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolveStatistics {
    /// Number of steps.
    pub steps: u64,
    /// Explicit sub-steps of convection; zero without sub-steps.
    pub substeps: Iterations,
    /// Iterations for the pressure.
    pub pressure: Iterations,
    /// Iterations for each component of the velocity.
    pub velocity: Vec<Iterations>,
    /// Iterations for each scalar.
    pub scalars: Vec<Iterations>,
    /// Iterations for the problem with penalties.
    pub penalty: Iterations,
    /// Seconds by phase.
    pub seconds: PhaseSeconds,
}

/// A flow whose mean velocity a uniform force keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driven {
    /// The mean over the domain of the velocity along the force.
    pub mean: f64,
    /// The force per mass of the last step; at the start, that with which the first one begins.
    pub force: f64,
    /// Whether there is a last step.
    pub after_step: bool,
}

/// The past states with which a multistep scheme continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histories {
    /// Sizes of past steps, the last step first.
    pub steps: Vec<f64>,
    /// Past fields, chosen and ordered by the engine; the coefficients of each in canonical order. A field of
    /// one number is the force of [`Driven`].
    pub fields: Vec<Vec<f64>>,
}
