//! Boundary conditions on faces: outer states for the numerical flux.
//!
//! All faces of one boundary are processed together, before the residual. The outer states are written to the
//! exterior buffer, from which the residual reads them in the same way as the traces of elements of another
//! group. The numerical fluxes ([`PointKernels::numerical_flux`]), integrated over the boundary, are
//! the *tally*, with which conservation is checked. Conditions and numerical fluxes are compiled apart: any
//! condition of a law meets any flux of it.
//!
//! [`PointKernels::numerical_flux`]: crate::PointKernels::numerical_flux

mod of_state;

pub use of_state::{OfState, place_and_time};

use crate::formulas::above_wall::AboveWallKernel;
use crate::formulas::diffusive_boundary::DiffusiveBoundaryKernel;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Boundary, Exact, Law, Real};
use std::sync::Arc;

/// A boundary condition for one law, evaluated at many points.
pub trait BoundaryKernel<T>: Send + Sync {
    /// Computes `u⁺` (`up`) at points. All arrays are `[point][field]`, `normal` is `[point][D]`; `data`
    /// holds the prescribed conserved states or other numbers that the condition uses.
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T]);

    /// The treatment of diffusive fluxes on this boundary, if the condition defines one.
    fn diffusive(&self) -> Option<&dyn DiffusiveBoundaryKernel<T>> {
        None
    }

    /// The computation of the data from the state at a height above the boundary, if the condition has one.
    fn above(&self) -> Option<&dyn AboveWallKernel<T>> {
        None
    }

    /// Returns the condition as the text of a CUDA function `outer(um, n, data, out)` and adds the parameters
    /// that it uses to `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`BoundaryKernel`] of law `L` and condition `B`.
#[derive(Clone, Debug)]
pub struct BoundaryOf<L, B, const D: usize, const N: usize> {
    /// The conservation law.
    pub law: L,
    /// The condition.
    pub condition: B,
}

impl<T, L, B, const D: usize, const N: usize> BoundaryKernel<T> for BoundaryOf<L, B, D, N>
where
    T: Real,
    L: Law<D, N>,
    B: Boundary<L, D, N>,
{
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T]) {
        let points = um.chunks_exact(N).zip(normal.chunks_exact(D)).zip(data.chunks_exact(N));
        for (((um, n), data), up) in points.zip(up.chunks_exact_mut(N)) {
            let um: [T; N] = std::array::from_fn(|k| um[k]);
            let n: [T; D] = std::array::from_fn(|d| n[d]);
            let data: [T; N] = std::array::from_fn(|k| data[k]);
            up.copy_from_slice(&self.condition.outer(&self.law, &um, &n, &data));
        }
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        device_fn("outer", &[("um", N), ("n", D), ("data", N)], parameters, |a| {
            self.condition.outer(&self.law, &a.array("um"), &a.array("n"), &a.array("data"))
        })
    }
}

/// A boundary condition and the boundary of the mesh to which it applies.
pub struct BoundaryBinding<T> {
    /// Name of the boundary in the mesh.
    pub name: String,
    /// The condition.
    pub kernel: Box<dyn BoundaryKernel<T>>,
    /// Prescribed states, or other data of the condition, if it has any.
    pub data: Option<Arc<dyn Exact>>,
}
