//! Boundary faces: the outer trace from the inner one, and the flux that leaves through it.
//!
//! The faces of one condition are worked on together, before the residual: the outer states go to
//! the exterior buffer, from which the residual reads them as it reads a foreign neighbour's; the
//! numerical fluxes, integrated over the boundary, are the *tally* that conservation is checked with.

use crate::diffusive_boundary::DiffusiveBoundaryKernel;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Boundary, Exact, Law, NumericalFlux, Real};
use std::sync::Arc;

/// A boundary condition of one law and numerical flux, on many points.
pub trait BoundaryKernel<T>: Send + Sync {
    /// `u⁺` (`up`) and `f*(u⁻, u⁺, n)` (`flux`) at points; all `[point][field]`, `normal`
    /// `[point][D]`, `data` the prescribed conserved states or other numbers of the condition.
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T], flux: &mut [T]);

    /// What the condition means for diffusion, if it says so.
    fn diffusive(&self) -> Option<&dyn DiffusiveBoundaryKernel<T>> {
        None
    }

    /// The condition as the CUDA function `outer(um, n, data, out)`; its parameters are added to
    /// `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`BoundaryKernel`] of law `L`, numerical flux `F` and condition `B`.
#[derive(Clone, Debug)]
pub struct BoundaryOf<L, F, B, const D: usize, const N: usize> {
    /// The conservation law.
    pub law: L,
    /// The numerical flux.
    pub flux: F,
    /// The condition.
    pub condition: B,
}

impl<T, L, F, B, const D: usize, const N: usize> BoundaryKernel<T> for BoundaryOf<L, F, B, D, N>
where
    T: Real,
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
    B: Boundary<L, D, N>,
{
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T], flux: &mut [T]) {
        let points = um.chunks_exact(N).zip(normal.chunks_exact(D)).zip(data.chunks_exact(N));
        let outputs = up.chunks_exact_mut(N).zip(flux.chunks_exact_mut(N));
        for (((um, n), data), (up, flux)) in points.zip(outputs) {
            let um: [T; N] = std::array::from_fn(|k| um[k]);
            let n: [T; D] = std::array::from_fn(|d| n[d]);
            let data: [T; N] = std::array::from_fn(|k| data[k]);
            let outer = self.condition.outer(&self.law, &um, &n, &data);
            up.copy_from_slice(&outer);
            flux.copy_from_slice(&self.flux.eval(&self.law, &um, &outer, &n));
        }
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        device_fn("outer", &[("um", N), ("n", D), ("data", N)], parameters, |a| {
            self.condition.outer(&self.law, &a.array("um"), &a.array("n"), &a.array("data"))
        })
    }
}

/// A condition bound to a boundary of the mesh.
pub struct BoundaryBinding<T> {
    /// Name of the boundary in the mesh.
    pub name: String,
    /// What it does.
    pub kernel: Box<dyn BoundaryKernel<T>>,
    /// Prescribed states, or the numbers that the condition asks for, where it has any.
    pub data: Option<Arc<dyn Exact>>,
}
