//! Exact solutions: initial states, boundary data and reference solutions of error norms.
//!
//! A solution is written once over [`Real`] as a [`Solution`] of primitive unknowns. [`ClosedForm`] combines
//! it with a law to an [`Exact`], which evaluates batches of points behind a pointer. [`by_name`] makes one
//! from a name and parameters, as in a pipeline file; [`catalogue()`] lists the names.

mod catalogue;
mod closed_form;
mod couette;
mod entries;
mod first_fields;
pub mod incompressible;
mod manufactured;
mod one_field;
mod random_waves;
mod reader;
mod riemann_problem;
mod supersonic_vortex;
mod synthetic_eddies;
mod taylor_green;
mod vortex;
mod waves;

pub use catalogue::{Context, Model, by_name, catalogue};
pub use closed_form::ClosedForm;
pub use couette::Couette;
pub use entries::{Entry, Parameter};
pub use first_fields::FirstFields;
pub use manufactured::ManufacturedGas;
pub use one_field::OneField;
pub use random_waves::{RandomWaves, WithWaves};
pub use riemann_problem::{GasState, RiemannProblem, StarRegion};
pub use supersonic_vortex::SupersonicVortex;
pub use synthetic_eddies::{SyntheticEddies, WithEddies, are_stresses};
pub use taylor_green::TaylorGreen;
pub use vortex::{BetaVortex, IsentropicVortex, VortexTube};
pub use waves::{EntropyWave, GaussianPulse, SineWave, Uniform};

use crate::real::Real;
use crate::trace::Recording;

/// A solution known in closed form, evaluated at batches of points.
///
/// The data of boundary conditions has this form too; statements about states then apply to the numbers that
/// the condition uses.
pub trait Exact: Send + Sync {
    /// Number of fields, the `N` of the law.
    fn n_fields(&self) -> usize;

    /// Conserved states at points `(x, y, z)` and time `t`: `out[k][i]` is field `k` at point `i`. Each
    /// vector of `out` is set to the number of points.
    ///
    /// # Panics
    /// If `out` does not have one vector per field.
    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]);

    /// Whether the solution is known not to depend on time.
    fn is_steady(&self) -> bool {
        false
    }

    /// The conserved state as a recorded function of place and time, to be differentiated or printed for a
    /// device; `None` if the solution cannot be recorded.
    fn recorded(&self) -> Option<Recording> {
        None
    }
}

/// A formula for the primitive unknowns of a law with `N` of them.
pub trait Solution<const N: usize>: Clone + Send + Sync + 'static {
    /// Returns the primitive unknowns at time `t` and point `(x, y, z)`; two-dimensional solutions ignore
    /// `z`.
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N];

    /// Whether the solution does not depend on time.
    fn is_steady(&self) -> bool {
        false
    }
}

/// Why there is no exact solution for a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExactError {
    /// There is no solution of this name.
    #[error("there is no exact solution `{name}`{}; known: {}", did_you_mean(hint), known.join(", "))]
    UnknownName {
        /// The requested name.
        name: String,
        /// The nearest known name, if there is one.
        hint: Option<String>,
        /// All names for this model.
        known: Vec<String>,
    },
    /// The solution belongs to another model or dimension.
    #[error("exact solution `{name}` is for {expected}, not for {found}")]
    Mismatch {
        /// The requested name.
        name: String,
        /// The model or dimension of the solution.
        expected: String,
        /// The requested model or dimension.
        found: String,
    },
    /// The solution has no such parameter.
    #[error(
        "exact solution `{solution}` has no parameter `{name}`{}; known: {}",
        did_you_mean(hint),
        known.join(", ")
    )]
    UnknownParameter {
        /// The solution.
        solution: String,
        /// The parameter given.
        name: String,
        /// The nearest known parameter, if there is one.
        hint: Option<String>,
        /// All parameters of the solution.
        known: Vec<String>,
    },
    /// A parameter has an impossible value.
    #[error("exact solution `{solution}`: `{name}` is {value}, expected {expected}")]
    BadParameter {
        /// The solution.
        solution: String,
        /// The parameter.
        name: String,
        /// Its value.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
    /// The two states separate so fast that a vacuum forms, which the exact solver does not support.
    #[error("the states of the Riemann problem move apart at {speed}, above {limit}: a vacuum forms")]
    Vacuum {
        /// Speed at which the states separate.
        speed: f64,
        /// Largest speed without vacuum, `2 (c_l + c_r)/(γ − 1)`.
        limit: f64,
    },
}

fn did_you_mean(hint: &Option<String>) -> String {
    hint.as_ref().map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default()
}
