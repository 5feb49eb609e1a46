//! Explicit Runge–Kutta schemes in low-storage form with step control, for any right-hand side, implicit
//! ones, and weights of multistep formulas.
//!
//! A problem implements `du/dt = R(t, u)` as an [`Rhs`]; a [`Stepper`] advances it without allocating, and a
//! [`Controller`] computes the size of each step so that output times are reached to the last bit. The crate
//! is independent of space: states are [`Vector`]s on some machine. Scalar rates (for example boundary
//! fluxes) are integrated together with the state, with the same weights, so that a conservation budget
//! closes up to rounding.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | problem | [`Rhs`], [`from_fn`] | `R(t, u)`, optionally fused with the stage |
//! | stage | [`Stage`], [`RunningSum`] | `reg ← a reg + dt R(u)`, `next ← b u₀ + (1−b) u + c reg` |
//! | scheme | [`Scheme`] | coefficients, order, stability limits, default CFL number |
//! | step | [`Stepper`] | the vectors of a scheme, side integrals |
//! | step size | [`Controller`], [`Schedule`], [`StepSize`] | CFL or fixed, exact landing |
//! | error control | [`Adaptive`] | step sizes from an embedded solution |
//! | implicit step | [`Esdirk`], [`ImplicitStepper`], [`StageProblem`] | stages that Newton's method solves |
//! | implicit formula | [`weights()`], [`Multistep`] | backward differences and extrapolation, unequal steps |
//! | Newton steps | [`PseudoTime`], [`SteadyProblem`] | implicit steps towards a steady state, of growing size |
//! | steady state | [`Steady`] | converged, at the level of rounding, stagnated or diverged |
//!
//! ```
//! use dgsuite_timeint::*;
//! let mut u = HostVector::from_slice(&Host::new(1)?, &[1.0, 0.0])?;
//! let mut circle = from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| {
//!     (du[0], du[1]) = (-u[1], u[0]);
//! });
//! let mut stepper = Stepper::new(Scheme::Lserk54, &u)?;
//! let schedule = Schedule { end: Some(std::f64::consts::PI), ..Schedule::default() };
//! let mut run = Controller::new(&schedule, StepSize::Fixed(0.01))?;
//! while let Some(step) = run.plan(f64::INFINITY)? {
//!     let Ok(()) = stepper.step(&mut circle, step.t, step.dt, &mut u);
//!     run.accept(&step);
//! }
//! assert!((u[0] + 1.0).abs() < 1e-9 && u[1].abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * The [`Tableau`] of a scheme is derived from its stages, so that the two agree.
//! * An explicit step does not allocate. The weights of means add to exactly one, so that constants stay
//!   constant.
//! * A step that lands ends at the same bits as its event. Unless events lie closer together, no step is
//!   shorter than half of the wanted one; if they do, no [smooth](Controller::smooth) step is shorter than
//!   half of its neighbours.
#![forbid(unsafe_code)]

mod controller;
mod error;
mod esdirk;
mod integrals;
mod multistep;
mod newton;
mod rhs;
mod scheme;
mod steady;
mod stepper;

pub use controller::{
    Adaptive, Controller, Finish, MAX_TIMES, Memory, STRETCH, Schedule, Step, StepSize, TimePoint,
    check_multiples, multiples, next_multiple, same_time,
};
pub use error::TimeError;
pub use esdirk::{Correction, Effort, Esdirk, ImplicitStepper, StageFailure, StageProblem, Unsolved};
pub use multistep::{Multistep, Weights, weights};
pub use newton::{Direction, NewtonStep, PseudoTime, SteadyProblem};
pub use rhs::{FnRhs, Rhs, RunningSum, Stage, from_fn};
pub use scheme::{Base, Mean, Row, Scheme, Tableau};
pub use steady::{Patience, Progress, Steady, Tolerance, Verdict};
pub use stepper::Stepper;

// Re-exports of the types in the public interface, so that a program needs no other dependency.
pub use dgsuite_gpu as gpu;
pub use dgsuite_gpu::{Backend, GpuError, Host, HostVector, Vector};

/// The examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
