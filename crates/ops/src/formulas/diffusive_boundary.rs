//! Boundary conditions for diffusion: the state to which the gradient is lifted, and the diffusive flux.

use crate::formulas::boundary::BoundaryKernel;
use dgsuite_physics::trace::{Parameters, Sym, TraceError, device_fn};
use dgsuite_physics::{Diffusion, DiffusiveBoundary, Real};

/// The diffusive part of a boundary condition, evaluated at many points.
pub trait DiffusiveBoundaryKernel<T>: Send + Sync {
    /// Computes `u_b` (`ub`) at points. All arrays are `[point][field]`, `normal` is `[point][D]`.
    fn face_state(&self, um: &[T], normal: &[T], data: &[T], ub: &mut [T]);

    /// Computes the diffusive flux out of the domain; `gradient` is physical, `[point][x][field]`.
    /// `coefficients` are those of the points' elements, `[point]`; empty if the flux has none.
    fn normal_flux(
        &self,
        um: &[T],
        ub: &[T],
        gradient: &[T],
        normal: &[T],
        data: &[T],
        coefficients: &[f64],
        flux: &mut [T],
    );

    /// Returns the condition as text of the CUDA functions `face_state(um, n, data, out)` and
    /// `boundary_flux(um, ub, grad, n, data, out)`, with `grad` as `[x][field]`, and adds their parameters to
    /// `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`DiffusiveBoundaryKernel`] of diffusive flux `V` and condition `B`.
#[derive(Clone, Debug)]
pub struct DiffusiveBoundaryOf<V, B, const D: usize, const N: usize> {
    /// The diffusive flux.
    pub diffusion: V,
    /// The condition.
    pub condition: B,
}

impl<T, V, B, const D: usize, const N: usize> DiffusiveBoundaryKernel<T> for DiffusiveBoundaryOf<V, B, D, N>
where
    T: Real,
    V: Diffusion<D, N>,
    B: DiffusiveBoundary<V, D, N>,
{
    fn face_state(&self, um: &[T], normal: &[T], data: &[T], ub: &mut [T]) {
        let points = um.chunks_exact(N).zip(normal.chunks_exact(D)).zip(data.chunks_exact(N));
        for (((um, n), data), ub) in points.zip(ub.chunks_exact_mut(N)) {
            ub.copy_from_slice(&self.condition.face_state(
                &self.diffusion,
                &array(um),
                &array(n),
                &array(data),
            ));
        }
    }

    fn normal_flux(
        &self,
        um: &[T],
        ub: &[T],
        gradient: &[T],
        normal: &[T],
        data: &[T],
        coefficients: &[f64],
        flux: &mut [T],
    ) {
        let states = um.chunks_exact(N).zip(ub.chunks_exact(N)).zip(data.chunks_exact(N));
        let frames = gradient.chunks_exact(D * N).zip(normal.chunks_exact(D));
        let points = states.zip(frames).zip(flux.chunks_exact_mut(N)).enumerate();
        for (i, ((((um, ub), data), (g, n)), flux)) in points {
            let grad: [[T; N]; D] = std::array::from_fn(|x| array(&g[x * N..]));
            let of_element = coefficients.get(i).map(|&c| self.diffusion.with_coefficient(c));
            flux.copy_from_slice(&self.condition.normal_flux(
                of_element.as_ref().unwrap_or(&self.diffusion),
                &array(um),
                &array(ub),
                &grad,
                &array(n),
                &array(data),
            ));
        }
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        let state = device_fn("face_state", &[("um", N), ("n", D), ("data", N)], parameters, |a| {
            self.condition.face_state(&self.diffusion, &a.array("um"), &a.array("n"), &a.array("data"))
        })?;
        let arguments = [("um", N), ("ub", N), ("grad", D * N), ("n", D), ("data", N)];
        let flux = device_fn("boundary_flux", &arguments, parameters, |a| {
            let g = a.list("grad");
            let grad: [[Sym; N]; D] = std::array::from_fn(|x| std::array::from_fn(|k| g[x * N + k]));
            let (um, ub) = (a.array("um"), a.array("ub"));
            self.condition.normal_flux(&self.diffusion, &um, &ub, &grad, &a.array("n"), &a.array("data"))
        })?;
        Ok(state + &flux)
    }
}

fn array<T: Copy, const N: usize>(from: &[T]) -> [T; N] {
    std::array::from_fn(|i| from[i])
}

/// A boundary condition with its diffusive part.
pub struct WithDiffusion<T> {
    /// The condition of the numerical flux.
    pub inviscid: Box<dyn BoundaryKernel<T>>,
    /// The condition of the gradient and of the diffusive flux.
    pub diffusive: Box<dyn DiffusiveBoundaryKernel<T>>,
}

impl<T: Send + Sync> BoundaryKernel<T> for WithDiffusion<T> {
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T]) {
        self.inviscid.outer(um, normal, data, up);
    }

    fn diffusive(&self) -> Option<&dyn DiffusiveBoundaryKernel<T>> {
        Some(self.diffusive.as_ref())
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        self.inviscid.device_source(parameters)
    }
}
