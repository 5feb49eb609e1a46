//! What a machine supplies to Newton steps: the linear side, and the side of the state.

use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::OpsError;

/// The scaled operator `S (1/Δτ − R′(u))` of a machine, and the parts of its preconditioner. Vectors are in
/// canonical order, `[element][field][basis function]`. The scale of an element is its explicit step, so that
/// rows of small and large elements count alike.
///
/// A machine that fails within a function without an error fills the result with NaN and tells of it in
/// [`failure`](Self::failure).
pub(crate) trait Parts {
    /// Vectors of the machine.
    type Vector: Vector;

    /// The number of unknowns.
    fn len(&self) -> usize;

    /// A vector of zeros.
    fn zeros(&self) -> Result<Self::Vector, GpuError>;

    /// Products with the Jacobian so far, their seconds, and the bytes of all parts.
    fn products(&self) -> u64;
    fn seconds(&self) -> f64;
    fn bytes(&self) -> usize;

    /// The smallest of the numbers of all ranks; NaN if one is. Collective.
    fn smallest(&self, own: f64) -> f64 {
        own
    }

    /// Sets `1/Δτ` and the scale of each element.
    fn set_pseudo_time(&mut self, shifts: &[f64], scales: &[f64]) -> Result<(), GpuError>;

    /// `y ← S (1/Δτ − R′(u)) x`.
    fn apply(&self, x: &Self::Vector, y: &mut Self::Vector);

    /// `y ← y − share S x/Δτ`.
    fn subtract_pseudo_time(&self, share: f64, x: &Self::Vector, y: &mut Self::Vector);

    /// Makes the smoother and the problem of order one from products at the present state; those of before
    /// are dropped first.
    fn make(&mut self) -> Result<(), GpuError>;

    /// Factorises what was made, with the present pseudo-time. What is singular leads to a step that is
    /// rejected, and to larger shifts.
    fn factorise(&mut self) -> Result<(), GpuError>;

    /// Whether there is a problem of order one below.
    fn has_coarse(&self) -> bool;

    /// `z ← z + P A₁⁻¹ R S⁻¹ r`.
    fn add_coarse(&self, r: &Self::Vector, z: &mut Self::Vector);

    /// `z ← A⁻¹ S⁻¹ r`, approximately: with incomplete factors of the matrix of blocks, or with the inverses
    /// of its diagonal blocks where these do not fit.
    fn smooth(&self, r: &Self::Vector, z: &mut Self::Vector);

    /// The first failure of the machine since the last call.
    fn failure(&self) -> Option<GpuError> {
        None
    }
}

/// The state of an engine in a Newton step.
pub(crate) trait Evolving<P: Parts> {
    /// Keeps the state as the start of a step, sets it in the products, and returns the explicit step of each
    /// element.
    fn begin(&mut self, parts: &mut P) -> Result<Vec<f64>, OpsError>;

    /// `right ← S R(u)` at the present state.
    fn residual(&mut self, parts: &P, right: &mut P::Vector) -> Result<(), OpsError>;

    /// Moves to `start + share δ`.
    fn set_share(&mut self, share: f64, delta: &P::Vector) -> Result<(), OpsError>;

    /// Densities and pressures at points of all elements.
    fn bounds(&mut self) -> Result<Vec<f64>, OpsError>;

    /// The mass in the whole domain. Collective.
    fn mass(&mut self) -> Result<f64, OpsError>;

    /// Multiplies all unknowns by a number, which leaves velocities and temperatures.
    fn scale(&mut self, by: f64) -> Result<(), OpsError>;

    /// Whether all states are admissible.
    fn is_admissible(&mut self) -> bool;
}
