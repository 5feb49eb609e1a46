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

    /// A vector of values on the host, and back.
    fn vector(&self, values: &[f64]) -> Result<Self::Vector, GpuError>;
    fn values(&self, of: &Self::Vector) -> Result<Vec<f64>, GpuError>;

    /// The whole of a vector, of which each rank has the values of its elements; and the latter of a whole
    /// vector, if it has the length of one. Collective.
    fn gathered(&self, own: &[f64]) -> Vec<f64>;
    fn picked(&self, whole: &[f64]) -> Option<Vec<f64>>;

    /// Sets time and state at which products are taken.
    fn linearise(&mut self, t: f64, u: &Self::Vector) -> Result<(), GpuError>;

    /// The number of elements of this rank.
    fn n_elements(&self) -> usize;

    /// `y_k ← y_k + a_k x_k` for each field k.
    fn add_fields(&self, a: &[f64], x: &Self::Vector, y: &mut Self::Vector) -> Result<(), GpuError>;

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

/// The state of an engine in an implicit step in time.
pub(crate) trait Marching<P: Parts> {
    /// Begins a step of size `dt`, and returns its state in `u`.
    fn begin(&mut self, dt: f64, u: &mut P::Vector) -> Result<(), OpsError>;

    /// Takes `u` as the state of the engine.
    fn set(&mut self, u: &P::Vector) -> Result<(), OpsError>;

    /// Begins a stage, of whose rates the last one counts with this weight in what passes the boundary.
    fn begin_stage(&mut self, _weight: f64) -> Result<(), OpsError> {
        Ok(())
    }

    /// Takes back what has passed the boundary in the step begun last, if the machine adds it by itself.
    fn take_back(&mut self) -> Result<(), OpsError> {
        Ok(())
    }

    /// `du ← R(t, u)`; `false` if `u` is not admissible. Collective.
    fn rate(&mut self, parts: &P, t: f64, u: &P::Vector, du: &mut P::Vector) -> Result<bool, OpsError>;

    /// What passes each boundary face at the last rate, `[face][field]`; nothing if the machine adds it by
    /// itself.
    fn tally(&self) -> &[f64] {
        &[]
    }

    /// The integrals of all fields over the whole domain. Collective.
    fn totals(&mut self, of: &P::Vector) -> Result<Vec<f64>, OpsError>;
}
