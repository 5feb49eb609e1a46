//! From `u(t)` to `u(t + Δt)`: explicit Runge–Kutta schemes in low-storage form, over any right-hand side.
//!
//! A problem states `du/dt = R(t, u)` as an [`Rhs`]; a [`Stepper`] advances it without allocating, and a
//! [`Controller`] says how large each step is so that output times are hit to the last bit. It knows nothing
//! of space: states are [`Vector`](dgsuite_gpu::Vector)s on some machine. Scalar rates (boundary fluxes, say)
//! are integrated beside the state with the same weights, so that a conservation budget closes to rounding.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | problem | [`Rhs`], [`from_fn`] | `R(t, u)`, optionally fused with the stage |
//! | stage | [`Stage`], [`RunningSum`] | `reg ← a reg + dt R(u)`, `next ← b u₀ + (1−b) u + c reg` |
//! | scheme | [`Scheme`] | coefficients, order, stability limits, default CFL number |
//! | step | [`Stepper`] | the vectors of a scheme, side integrals |
//! | step size | [`Controller`], [`Schedule`], [`StepSize`] | CFL or fixed, exact landing |
//! | error control | [`Adaptive`] | step sizes by an embedded solution |
//! | steady state | [`Steady`] | converged, down to rounding, stagnated or diverged |
//!
//! ```
//! use dgsuite_gpu::{Host, HostVector};
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
//! * What a scheme does is what its [`Tableau`] says: the tableau is derived from the stages.
//! * A step does not allocate. Shares of means add to exactly one, so constants stay constant.
//! * A step that lands ends at the event's very bits; unless events lie closer together, no step is shorter
//!   than half of the wanted one.
#![forbid(unsafe_code)]

mod controller;
mod error;
mod integrals;
mod rhs;
mod scheme;
mod steady;
mod stepper;

pub use controller::{
    Adaptive, Controller, Finish, MAX_TIMES, Memory, STRETCH, Schedule, Step, StepSize, TimePoint,
    check_multiples, multiples, next_multiple, same_time,
};
pub use error::TimeError;
pub use rhs::{FnRhs, Rhs, RunningSum, Stage, from_fn};
pub use scheme::{Base, Mean, Row, Scheme, Tableau};
pub use steady::{Patience, Steady, Tolerance, Verdict};
pub use stepper::Stepper;
