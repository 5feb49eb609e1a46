//! The viscous stress of incompressible flow beyond that of a constant viscosity: of eddies that the mesh
//! does not resolve.

use super::VelocityFirst;
use crate::closures::{EddyViscosity, in_space};
use crate::diffusion::Diffusion;
use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// A law without fluxes, `∂u/∂t = 0`: for equations of which only the diffusive flux counts. The state begins
/// with a velocity; scalars follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoFlux;

impl<const D: usize, const N: usize> Law<D, N> for NoFlux {
    const NAME: &'static str = "no-flux";

    fn variables(&self) -> [&'static str; N] {
        const { assert!((D == 2 || D == 3) && N >= D && N <= D + 3, "a velocity and up to three scalars") };
        array!(N, |k| if k < D { ["u", "v", "w"][k] } else { ["s1", "s2", "s3"][k - D] })
    }

    fn primitives(&self) -> [&'static str; N] {
        Law::<D, N>::variables(self)
    }

    #[inline(always)]
    fn flux<R: Real>(&self, _u: &[R; N]) -> [[R; N]; D] {
        [[R::lit(0.0); N]; D]
    }

    #[inline(always)]
    fn normal_flux<R: Real>(&self, _u: &[R; N], _n: &[R; D]) -> [R; N] {
        [R::lit(0.0); N]
    }

    #[inline(always)]
    fn normal_speed<R: Real>(&self, _u: &[R; N], _n: &[R; D]) -> R {
        R::lit(0.0)
    }

    #[inline(always)]
    fn max_speed<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(0.0)
    }

    #[inline(always)]
    fn to_primitive<R: Real>(&self, u: &[R; N]) -> [R; N] {
        *u
    }

    #[inline(always)]
    fn to_conserved<R: Real>(&self, w: &[R; N]) -> [R; N] {
        *w
    }

    #[inline(always)]
    fn admissibility<R: Real>(&self, u: &[R; N]) -> R {
        finite(u)
    }
}

impl<const D: usize, const N: usize> VelocityFirst<D, N> for NoFlux {
    const VELOCITIES: usize = 1;
}

/// The part of the stress of incompressible flow that a constant viscosity `ν` leaves out, per density, and
/// the diffusive flux of scalars that belongs to it. The state is the velocity, then scalars `T`:
///
/// ```text
/// F_v,d = (ν_t (∂u/∂x_d + ∇u_d), ν_t/Pr_t ∂T/∂x_d)
/// ```
///
/// with the eddy viscosity `ν_t` of a [closure](crate::closures). The isotropic part of the unresolved stress
/// is part of the pressure.
///
/// The solver treats `ν ∇²u` implicitly and this stress explicitly. An eddy viscosity grows with the
/// gradient, so that a change of the stress is twice as large as with a constant one: the diffusivity that
/// bounds the step is `max(2 ν_t, ν_t/Pr_t)`.
///
/// # Source
/// Sagaut, *Large Eddy Simulation for Incompressible Flows*, Springer 2006, §4.3.
///
/// ```
/// use dgsuite_physics::closures::EddyViscosity;
/// use dgsuite_physics::incompressible::VariableViscosity;
/// use dgsuite_physics::{Closure, Diffusion};
/// let closure = EddyViscosity { mixing: 0.1, ..EddyViscosity::usual(Closure::Smagorinsky) };
/// let law = VariableViscosity { closure };
/// // u = 3 y: ν_t = 0.1 |S| = 0.3, and the stress ν_t ∂u/∂y = 0.9.
/// let f = Diffusion::<2, 2>::diffusive_flux(&law, &[0.0; 2], &[[0.0, 0.0], [3.0, 0.0]]);
/// assert!((f[1][0] - 0.9_f64).abs() < 1e-15 && f[0][1] == f[1][0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableViscosity {
    /// The closure.
    pub closure: EddyViscosity,
}

impl VariableViscosity {
    /// The eddy viscosity `ν_t` for the gradient of the velocity, `g[d][i] = ∂u_i/∂x_d`, and the coefficient
    /// `C Δ²` of the element.
    #[inline(always)]
    pub fn eddy_viscosity<R: Real, const D: usize>(&self, g: &[[R; D]; D], mixing: R) -> R {
        (mixing * self.closure.closure.rate(&in_space(g))).named("eddy_viscosity")
    }

    /// `1/Pr_t`.
    #[inline(always)]
    fn of_scalars<R: Real>(&self) -> R {
        R::param("inverse_turbulent_prandtl", 1.0 / self.closure.prandtl)
    }

    #[inline(always)]
    fn flux<R: Real, const D: usize, const N: usize>(&self, grad: &[[R; N]; D], mixing: R) -> [[R; N]; D] {
        let g = velocity_gradient(grad);
        let nu = self.eddy_viscosity(&g, mixing);
        let mut f = [[nu; N]; D];
        for d in 0..D {
            f[d][d] = nu * (g[d][d] + g[d][d]);
            // The stress is symmetric.
            for i in 0..d {
                f[d][i] = nu * (g[d][i] + g[i][d]);
                f[i][d] = f[d][i];
            }
        }
        if N > D {
            let of_scalars = nu * self.of_scalars::<R>();
            for d in 0..D {
                for k in D..N {
                    f[d][k] = of_scalars * grad[d][k];
                }
            }
        }
        f
    }

    #[inline(always)]
    fn normal_flux<R: Real, const D: usize, const N: usize>(
        &self,
        grad: &[[R; N]; D],
        n: &[R; D],
        mixing: R,
    ) -> [R; N] {
        let g = velocity_gradient(grad);
        let nu = self.eddy_viscosity(&g, mixing);
        let mut f = [nu; N];
        for i in 0..D {
            f[i] = nu * dot(&array!(D, |d| g[d][i] + g[i][d]), n);
        }
        if N > D {
            let of_scalars = nu * self.of_scalars::<R>();
            for k in D..N {
                f[k] = of_scalars * dot(&array!(D, |d| grad[d][k]), n);
            }
        }
        f
    }
}

/// The gradient of the velocity.
#[inline(always)]
fn velocity_gradient<R: Real, const D: usize, const N: usize>(grad: &[[R; N]; D]) -> [[R; D]; D] {
    array!(D, |d| array!(D, |i| grad[d][i]))
}

impl<const D: usize, const N: usize> Diffusion<D, N> for VariableViscosity {
    #[inline(always)]
    fn diffusive_flux<R: Real>(&self, _u: &[R; N], grad: &[[R; N]; D]) -> [[R; N]; D] {
        self.flux(grad, Diffusion::<D, N>::own_coefficient(self))
    }

    #[inline(always)]
    fn normal_diffusive_flux<R: Real>(&self, _u: &[R; N], grad: &[[R; N]; D], n: &[R; D]) -> [R; N] {
        self.normal_flux(grad, n, Diffusion::<D, N>::own_coefficient(self))
    }

    /// Zero: that of a fluid at rest.
    #[inline(always)]
    fn diffusivity<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(0.0)
    }

    /// `C Δ²`.
    fn coefficient(&self, width: f64) -> Option<f64> {
        Some(self.closure.closure.mixing(self.closure.constant, width))
    }

    fn with_coefficient(&self, c: f64) -> Self {
        Self { closure: EddyViscosity { mixing: c, ..self.closure } }
    }

    #[inline(always)]
    fn diffusive_flux_with<R: Real>(&self, _u: &[R; N], grad: &[[R; N]; D], c: R) -> [[R; N]; D] {
        self.flux(grad, c)
    }

    #[inline(always)]
    fn normal_diffusive_flux_with<R: Real>(
        &self,
        _u: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        c: R,
    ) -> [R; N] {
        self.normal_flux(grad, n, c)
    }

    /// `max(2 ν_t, ν_t/Pr_t)`.
    #[inline(always)]
    fn diffusivity_with<R: Real>(&self, _u: &[R; N], grad: &[[R; N]; D], c: R) -> R {
        let nu = self.eddy_viscosity(&velocity_gradient(grad), c);
        if N > D { nu * self.of_scalars::<R>().max(R::lit(2.0)) } else { nu + nu }
    }

    #[inline(always)]
    fn own_coefficient<R: Real>(&self) -> R {
        R::param("mixing", self.closure.mixing)
    }
}
