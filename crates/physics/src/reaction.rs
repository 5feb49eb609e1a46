//! Reactions, `∂u/∂t + ∇·F = S(u, c)`: source terms of the state and of coefficients of place.

mod body_force;
mod formulas;
mod sponge;

pub use body_force::BodyForce;
pub use formulas::{FormulaReaction, Position};
pub use sponge::{Sponge, SpongeCoefficients};

use crate::real::Real;

/// A source term `S(u, c)` of a law with `N` unknowns, at one point, with `C` coefficients of the place.
///
/// The coefficients are those of a [`Coefficients`](crate::Coefficients), stored once for each point.
pub trait Reaction<const N: usize, const C: usize>: Clone + Send + Sync + 'static {
    /// Returns the source term of the conserved unknowns, per volume and time.
    fn rate<R: Real>(&self, u: &[R; N], c: &[R; C]) -> [R; N];

    /// Returns a bound of the absolute eigenvalues of `∂S/∂u` for any state, per time, which limits the step.
    fn stiffness(&self, c: &[f64; C]) -> f64;

    /// Returns whether the source term is zero for every state, so that it need not be computed.
    fn is_idle(&self, c: &[f64; C]) -> bool;
}
