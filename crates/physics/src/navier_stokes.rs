//! The diffusive fluxes of the compressible Navier–Stokes equations: viscous stress and heat flux.

mod viscosity;

pub use viscosity::Viscosity;

use crate::closures::{EddyViscosity, in_space};
use crate::diffusion::Diffusion;
use crate::euler::Euler;
use crate::real::{Real, array, dot};

/// Viscous stress and heat flux of a perfect gas, used together with [`Euler`], `u = (ρ, ρv, ρE)`:
///
/// ```text
/// F_v,d = (0, τ_d, τ_d·v − q_d)
/// τ = μ (∇v + ∇vᵀ − ⅔ ∇·v I),   q = −κ ∇T,   κ = μ c_p/Pr
/// ```
///
/// With the internal energy `e = c_v T` the heat flux is `q = −γ μ/Pr ∇e`, so a constant viscosity needs no
/// gas constant. The same formulas implement `Diffusion<2, 4>` and `Diffusion<3, 5>`; in two dimensions
/// derivatives along z are zero, and the factor stays ⅔.
///
/// A [closure](crate::closures) adds the eddy viscosity `μ_t = ρ ν_t` to `μ`, and `μ_t c_p/Pr_t` to `κ`. The
/// isotropic part of the unresolved stress is neglected: it is small beside the pressure.
///
/// # Source
/// Toro 2009, §1.3; Stokes' hypothesis for the second viscosity. With a closure Garnier, Adams & Sagaut,
/// *Large Eddy Simulation for Compressible Flows*, Springer 2009, §4.2.
///
/// ```
/// use dgsuite_physics::{Diffusion, Euler, NavierStokes, navier_stokes::Viscosity};
/// let viscosity = Viscosity::Constant { mu: 0.1 };
/// let gas = Euler { gamma: 1.4 };
/// let ns = NavierStokes { gas, prandtl: 0.72, viscosity, gas_constant: 1.0, closure: None };
/// // Gas of density 1 at rest, sheared: ∂(ρu)/∂y = 3.
/// let f = ns.diffusive_flux(&[1.0, 0.0, 0.0, 2.5], &[[0.0; 4], [0.0, 3.0, 0.0, 0.0]]);
/// assert!((f[1][1] - 0.3_f64).abs() < 1e-15 && (f[0][2] - 0.3).abs() < 1e-15); // τ_xy = μ ∂u/∂y
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NavierStokes {
    /// The gas.
    pub gas: Euler,
    /// Prandtl number `Pr = μ c_p/κ`, about 0.72 for air.
    pub prandtl: f64,
    /// Dynamic viscosity `μ`.
    pub viscosity: Viscosity,
    /// Specific gas constant `R` in `p = ρ R T`; not used with a constant viscosity.
    pub gas_constant: f64,
    /// The model of unresolved scales, if there is one.
    pub closure: Option<EddyViscosity>,
}

/// What a closure adds.
#[derive(Clone, Copy)]
struct Eddies<R> {
    /// `μ_t/ρ`.
    nu: R,
    /// `γ (μ/Pr + μ_t/Pr_t)/ρ`.
    conduction: R,
}

/// A state and its gradient in the variables of the fluxes.
struct Local<R, const D: usize> {
    v: [R; D],
    /// `μ/ρ`, with a closure `(μ + μ_t)/ρ`.
    nu: R,
    /// `γ/Pr`.
    heat: R,
    /// With a closure.
    eddies: Option<Eddies<R>>,
    /// `shear[d][i] = ρ ∂v_i/∂x_d`.
    shear: [[R; D]; D],
    /// `ρ ∂e/∂x_d`.
    warmth: [R; D],
    /// `−⅔ ρ ∇·v`.
    bulk: R,
}

impl NavierStokes {
    /// Temperature from the internal energy per mass, `T = (γ − 1) e/R`.
    #[inline(always)]
    pub fn temperature<R: Real>(&self, e: R) -> R {
        R::param("temperature_per_energy", (self.gas.gamma - 1.0) / self.gas_constant) * e
    }

    /// Internal energy per mass from the temperature, `e = R T/(γ − 1)`.
    #[inline(always)]
    pub fn internal_energy<R: Real>(&self, temperature: R) -> R {
        R::param("gas_constant", self.gas_constant) * temperature / self.gas.gamma_minus_one()
    }

    /// Dynamic viscosity from the internal energy per mass.
    #[inline(always)]
    pub fn viscosity_at<R: Real>(&self, e: R) -> R {
        self.viscosity.at(self.temperature(e))
    }

    /// `γ/Pr`: the heat flux is `−μ γ/Pr ∇e`.
    #[inline(always)]
    fn heat<R: Real>(&self) -> R {
        // One parameter, because a quotient of parameters would be a division at every point on a device.
        R::param("gamma_over_prandtl", self.gas.gamma / self.prandtl)
    }

    /// `γ/Pr_t`.
    #[inline(always)]
    fn eddy_heat<R: Real>(&self, closure: &EddyViscosity) -> R {
        R::param("gamma_over_turbulent_prandtl", self.gas.gamma / closure.prandtl)
    }

    /// `C Δ²` of the law itself.
    #[inline(always)]
    fn own_mixing<R: Real>(&self) -> R {
        self.closure.map_or(R::lit(0.0), |closure| R::param("mixing", closure.mixing))
    }

    /// Internal energy per mass from the total energy per mass, `e = E − ½ |v|²`.
    #[inline(always)]
    fn internal<R: Real, const D: usize>(total: R, v: &[R; D]) -> R {
        R::lit(-0.5).mul_add(dot(v, v), total)
    }

    #[inline(always)]
    fn local<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        mixing: R,
    ) -> Local<R, D> {
        let inv_rho = u[0].recip();
        let m = Euler::momentum::<R, D, N>(u);
        let v = array!(D, |d| m[d] * inv_rho);
        let total = u[N - 1] * inv_rho;
        let e = Self::internal(total, &v);
        let mut shear = [[inv_rho; D]; D];
        let mut warmth = [inv_rho; D];
        for d in 0..D {
            // ρ ∂e = ∂(ρE) − E ∂ρ − v·(ρ ∂v)
            let mut rest = total * grad[d][0];
            for i in 0..D {
                shear[d][i] = grad[d][1 + i] - v[i] * grad[d][0];
                rest = v[i].mul_add(shear[d][i], rest);
            }
            warmth[d] = grad[d][N - 1] - rest;
        }
        let mut div = shear[0][0];
        for d in 1..D {
            div = div + shear[d][d];
        }
        let (mut nu, heat): (R, R) = (self.viscosity_at(e) * inv_rho, self.heat());
        let mut eddies = None;
        if let Some(closure) = self.closure {
            // Of ρ ∇v, the rate of ∇v times ρ: μ_t/ρ = C Δ² rate(ρ ∇v)/ρ.
            let eddy = (mixing * closure.closure.rate(&in_space(&shear)) * inv_rho).named("eddy_viscosity");
            let conduction = heat.mul_add(nu, self.eddy_heat::<R>(&closure) * eddy);
            eddies = Some(Eddies { nu: eddy, conduction });
            nu = nu + eddy;
        }
        Local { v, nu, heat, eddies, shear, warmth, bulk: R::lit(-2.0 / 3.0) * div }
    }

    #[inline(always)]
    fn flux_all<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        mixing: R,
    ) -> [[R; N]; D] {
        let l = self.local(u, grad, mixing);
        let mut f = [[R::lit(0.0); N]; D];
        for d in 0..D {
            f[d][1 + d] = l.nu * (l.shear[d][d] + l.shear[d][d] + l.bulk);
            // The stress is symmetric.
            for i in 0..d {
                f[d][1 + i] = l.nu * (l.shear[d][i] + l.shear[i][d]);
                f[i][1 + d] = f[d][1 + i];
            }
        }
        let conduction = match l.eddies {
            Some(eddies) => eddies.conduction,
            None => l.heat * l.nu,
        };
        for d in 0..D {
            let mut energy = conduction * l.warmth[d];
            for i in 0..D {
                energy = f[d][1 + i].mul_add(l.v[i], energy);
            }
            f[d][N - 1] = energy;
        }
        f
    }

    #[inline(always)]
    fn normal_flux_any<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        mixing: R,
    ) -> [R; N] {
        let l = self.local(u, grad, mixing);
        let mut f = [R::lit(0.0); N];
        let warmth = dot(&l.warmth, n);
        let mut energy = if l.eddies.is_some() { R::lit(0.0) } else { l.heat * warmth };
        for i in 0..D {
            let mut stress = l.bulk * n[i];
            for d in 0..D {
                stress = (l.shear[d][i] + l.shear[i][d]).mul_add(n[d], stress);
            }
            energy = stress.mul_add(l.v[i], energy);
            f[1 + i] = l.nu * stress;
        }
        f[N - 1] = match l.eddies {
            Some(eddies) => eddies.conduction.mul_add(warmth, l.nu * energy),
            None => l.nu * energy,
        };
        f
    }

    #[inline(always)]
    fn diffusivity_any<R: Real, const D: usize, const N: usize>(&self, u: &[R; N]) -> R {
        let inv_rho = u[0].recip();
        let m = Euler::momentum::<R, D, N>(u);
        let e = Self::internal(u[N - 1] * inv_rho, &array!(D, |d| m[d] * inv_rho));
        self.viscosity_at(e) * inv_rho * self.heat::<R>().max(R::lit(4.0 / 3.0))
    }

    /// The largest of `4/3 (μ + 2 μ_t)/ρ` and `γ (μ/Pr + μ_t/Pr_t)/ρ`. The eddy viscosity grows with the
    /// gradient, so that a change of the stress is twice as large as with a constant one.
    #[inline(always)]
    fn diffusivity_of_gradient<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        mixing: R,
    ) -> R {
        let l = self.local(u, grad, mixing);
        let Some(Eddies { nu, conduction }) = l.eddies else { return self.diffusivity_any::<R, D, N>(u) };
        (R::lit(4.0 / 3.0) * (l.nu + nu)).max(conduction)
    }

    /// The eddy viscosity `ν_t`, zero without a closure.
    #[inline(always)]
    pub fn eddy_viscosity<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        mixing: R,
    ) -> R {
        self.local(u, grad, mixing).eddies.map_or(R::lit(0.0), |eddies| eddies.nu)
    }
}

macro_rules! navier_stokes {
    ($d:literal, $n:literal) => {
        impl Diffusion<$d, $n> for NavierStokes {
            #[inline(always)]
            fn diffusive_flux<R: Real>(&self, u: &[R; $n], grad: &[[R; $n]; $d]) -> [[R; $n]; $d] {
                self.flux_all(u, grad, self.own_mixing())
            }

            #[inline(always)]
            fn normal_diffusive_flux<R: Real>(
                &self,
                u: &[R; $n],
                grad: &[[R; $n]; $d],
                n: &[R; $d],
            ) -> [R; $n] {
                self.normal_flux_any(u, grad, n, self.own_mixing())
            }

            /// `μ/ρ max(4/3, γ/Pr)`.
            #[inline(always)]
            fn diffusivity<R: Real>(&self, u: &[R; $n]) -> R {
                self.diffusivity_any::<R, $d, $n>(u)
            }

            /// `C Δ²` of a closure.
            fn coefficient(&self, width: f64) -> Option<f64> {
                self.closure.map(|c| c.closure.mixing(c.constant, width))
            }

            fn with_coefficient(&self, c: f64) -> Self {
                let closure = self.closure.map(|closure| EddyViscosity { mixing: c, ..closure });
                Self { closure, ..*self }
            }

            #[inline(always)]
            fn diffusive_flux_with<R: Real>(&self, u: &[R; $n], grad: &[[R; $n]; $d], c: R) -> [[R; $n]; $d] {
                self.flux_all(u, grad, c)
            }

            #[inline(always)]
            fn normal_diffusive_flux_with<R: Real>(
                &self,
                u: &[R; $n],
                grad: &[[R; $n]; $d],
                n: &[R; $d],
                c: R,
            ) -> [R; $n] {
                self.normal_flux_any(u, grad, n, c)
            }

            /// `max(4/3 (ν + 2 ν_t), γ (ν/Pr + ν_t/Pr_t))`.
            #[inline(always)]
            fn diffusivity_with<R: Real>(&self, u: &[R; $n], grad: &[[R; $n]; $d], c: R) -> R {
                self.diffusivity_of_gradient(u, grad, c)
            }

            #[inline(always)]
            fn own_coefficient<R: Real>(&self) -> R {
                self.own_mixing()
            }
        }
    };
}

navier_stokes!(2, 4);
navier_stokes!(3, 5);
