//! The viscous stress of incompressible flow beyond that of a constant viscosity: of eddies that the mesh
//! does not resolve, and of a fluid whose viscosity and diffusivities depend on temperature, scalars and
//! shear rate.

use super::{ScalarFormulas, VelocityFirst};
use crate::closures::{Closure, EddyViscosity, in_space};
use crate::diffusion::Diffusion;
use crate::law::{Law, finite};
use crate::real::{Dual, Real, array, dot};
use crate::trace::StateRecording;
use std::sync::Arc;

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

/// A kinematic viscosity as a formula of the scalars and of the shear rate `γ̇ = √(2 S:S)` with the rate of
/// strain `S = ½ (∇u + ∇uᵀ)`: that of a generalised Newtonian fluid, or of one that warms up.
#[derive(Clone, Debug)]
pub struct ViscosityFormula {
    text: String,
    scalars: usize,
    recording: Arc<StateRecording>,
}

impl ViscosityFormula {
    /// The name of the shear rate in texts of formulas.
    pub const SHEAR: &'static str = "shear";

    /// The formula `text`, recorded as a function of this number of scalars, then the shear rate.
    #[must_use]
    pub const fn new(text: String, scalars: usize, recording: Arc<StateRecording>) -> Self {
        Self { text, scalars, recording }
    }

    /// The text of the formula.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The viscosity.
    ///
    /// # Panics
    /// If there are fewer scalars than the formula has.
    pub fn at<R: Real>(&self, scalars: &[R], shear: R) -> R {
        let w: Vec<R> = scalars[..self.scalars].iter().copied().chain([shear]).collect();
        let zero = R::lit(0.0);
        self.recording.eval(&w, &[zero; 3], zero)[0]
    }
}

/// Formulas are equal if their texts are.
impl PartialEq for ViscosityFormula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.scalars == other.scalars
    }
}

/// The diffusivity of a scalar that depends on scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDiffusivity {
    /// The constant diffusivity `α₀`, length² per time.
    pub constant: f64,
    /// The diffusivity, one formula.
    pub formula: ScalarFormulas,
}

impl VariableDiffusivity {
    /// `α − α₀` of scalar `number`; zero where the formula gives less than `α₀`.
    #[inline(always)]
    fn excess<R: Real>(&self, number: usize, scalars: &[R]) -> R {
        const NAMES: [&str; 3] =
            ["constant_diffusivity_1", "constant_diffusivity_2", "constant_diffusivity_3"];
        let zero = R::lit(0.0);
        let found = self.formula.at(scalars, &[zero; 3], zero);
        (found[0] - R::param(NAMES[number], self.constant)).max(zero)
    }
}

/// The part of the stress of incompressible flow that a constant viscosity `ν₀` leaves out, per density, and
/// the diffusive flux of scalars that constant diffusivities `α₀` leave out. The state is the velocity, then
/// scalars `T`:
///
/// ```text
/// F_v,d = ((ν − ν₀ + ν_t) (∂u/∂x_d + ∇u_d), (α − α₀ + ν_t/Pr_t) ∂T/∂x_d)
/// ```
///
/// with the viscosity `ν(T, γ̇)` and the diffusivities `α(T)` of the fluid and the eddy viscosity `ν_t` of a
/// [closure](crate::closures); without a formula `ν = ν₀` and `α = α₀`. Where a formula gives less, the
/// constant counts. Of the viscosity, It must not exceed the least of `ν` and `d(ν γ̇)/dγ̇`: the operators of
/// both parts differ, so that their sum need not dissipate otherwise. The isotropic part of the unresolved
/// stress is part of the pressure.
///
/// The solver treats `ν₀ ∇²u` implicitly and this stress explicitly. An eddy viscosity grows with the
/// gradient, so that a change of the stress is twice as large as with a constant one, and that of the fluid
/// changes by `d(ν γ̇)/dγ̇`: the diffusivity that bounds the step is the larger of `α − α₀ + ν_t/Pr_t` and
/// `2 ν_t + max(ν − ν₀, ν − ν₀ + γ̇ dν/dγ̇)`.
///
/// # Source
/// Sagaut, *Large Eddy Simulation for Incompressible Flows*, Springer 2006, §4.3; Bird, Armstrong & Hassager,
/// *Dynamics of Polymeric Liquids* 1, Wiley 1987, §4.1.
///
/// ```
/// use dgsuite_physics::closures::EddyViscosity;
/// use dgsuite_physics::incompressible::VariableViscosity;
/// use dgsuite_physics::{Closure, Diffusion};
/// let closure = EddyViscosity { mixing: 0.1, ..EddyViscosity::usual(Closure::Smagorinsky) };
/// let law = VariableViscosity { closure: Some(closure), ..VariableViscosity::of(0.01) };
/// let law = Diffusion::<2, 2>::with_coefficient(&law, 0.1);
/// // u = 3 y: ν_t = 0.1 |S| = 0.3, and the stress ν_t ∂u/∂y = 0.9.
/// let f = Diffusion::<2, 2>::diffusive_flux(&law, &[0.0; 2], &[[0.0, 0.0], [3.0, 0.0]]);
/// assert!((f[1][0] - 0.9_f64).abs() < 1e-15 && f[0][1] == f[1][0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VariableViscosity {
    /// The closure, if there is one.
    pub closure: Option<EddyViscosity>,
    /// The constant viscosity `ν₀`, length² per time.
    pub constant: f64,
    /// The viscosity of the fluid, if it is not constant.
    pub formula: Option<ViscosityFormula>,
    /// The diffusivities of scalars, by number, where they are not constant.
    pub diffusivities: [Option<VariableDiffusivity>; 3],
    /// The coefficient of the element: `C Δ²` of the closure; without a closure 1, a factor of the stress.
    pub coefficient: f64,
}

/// Viscosities at a point.
struct Viscosities<R> {
    /// `ν_t`; `None` without a closure.
    eddies: Option<R>,
    /// `ν − ν₀`; `None` without a formula.
    fluid: Option<R>,
    sum: R,
}

impl VariableViscosity {
    /// A constant viscosity, which leaves nothing out.
    #[must_use]
    pub const fn of(constant: f64) -> Self {
        Self { closure: None, constant, formula: None, diffusivities: [const { None }; 3], coefficient: 0.0 }
    }

    /// The diffusivity of scalar `number` beyond the constant one; `None` if there is nothing.
    #[inline(always)]
    fn of_scalar<R: Real>(&self, number: usize, scalars: &[R], eddies: Option<R>, c: R) -> Option<R> {
        let fluid = self.diffusivities.get(number).and_then(Option::as_ref).map(|of| {
            let excess = of.excess(number, scalars);
            // Fluxes with a coefficient have the gradient in the bound of the step.
            if self.closure.is_some() { excess } else { c * excess }
        });
        match (eddies.map(|eddies| eddies * self.of_scalars::<R>()), fluid) {
            (Some(eddies), Some(fluid)) => Some(eddies + fluid),
            (one, other) => one.or(other),
        }
    }

    /// The eddy viscosity `ν_t` for the gradient of the velocity, `g[d][i] = ∂u_i/∂x_d`, and the coefficient
    /// `C Δ²` of the element; zero without a closure.
    #[inline(always)]
    pub fn eddy_viscosity<R: Real, const D: usize>(&self, g: &[[R; D]; D], mixing: R) -> R {
        match self.closure {
            Some(of) => (mixing * of.closure.rate(&in_space(g))).named("eddy_viscosity"),
            None => R::lit(0.0),
        }
    }

    /// `ν₀`.
    #[inline(always)]
    fn constant<R: Real>(&self) -> R {
        R::param("constant_viscosity", self.constant)
    }

    #[inline(always)]
    fn viscosities<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        g: &[[R; D]; D],
        c: R,
    ) -> Viscosities<R> {
        let eddies = self.closure.map(|_| self.eddy_viscosity(g, c));
        let fluid = self.formula.as_ref().map(|formula| {
            // Below ν₀ the whole would not dissipate: both parts have different discretisations.
            let excess = (formula.at(&u[D..], shear_rate(g)) - self.constant()).max(R::lit(0.0));
            // Fluxes with a coefficient have the gradient in the bound of the step.
            if self.closure.is_some() { excess } else { c * excess }
        });
        let sum = match (eddies, fluid) {
            (Some(eddies), Some(fluid)) => eddies + fluid,
            (one, other) => one.or(other).unwrap_or(R::lit(0.0)),
        };
        Viscosities { eddies, fluid, sum }
    }

    /// `1/Pr_t`, of the fluxes of scalars.
    #[inline(always)]
    fn of_scalars<R: Real>(&self) -> R {
        R::param("inverse_turbulent_prandtl", self.closure.map_or(0.0, |closure| 1.0 / closure.prandtl))
    }

    #[inline(always)]
    fn flux<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        c: R,
    ) -> [[R; N]; D] {
        let g = velocity_gradient(grad);
        let at = self.viscosities(u, &g, c);
        let mut f = [[R::lit(0.0); N]; D];
        for d in 0..D {
            f[d][d] = at.sum * (g[d][d] + g[d][d]);
            // The stress is symmetric.
            for i in 0..d {
                f[d][i] = at.sum * (g[d][i] + g[i][d]);
                f[i][d] = f[d][i];
            }
        }
        for k in D..N {
            if let Some(alpha) = self.of_scalar(k - D, &u[D..], at.eddies, c) {
                for d in 0..D {
                    f[d][k] = alpha * grad[d][k];
                }
            }
        }
        f
    }

    #[inline(always)]
    fn normal_flux<R: Real, const D: usize, const N: usize>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        c: R,
    ) -> [R; N] {
        let g = velocity_gradient(grad);
        let at = self.viscosities(u, &g, c);
        let mut f = [R::lit(0.0); N];
        for i in 0..D {
            f[i] = at.sum * dot(&array!(D, |d| g[d][i] + g[i][d]), n);
        }
        for k in D..N {
            if let Some(alpha) = self.of_scalar(k - D, &u[D..], at.eddies, c) {
                f[k] = alpha * dot(&array!(D, |d| grad[d][k]), n);
            }
        }
        f
    }
}

/// The shear rate `γ̇ = √(2 S:S)`.
#[inline(always)]
fn shear_rate<R: Real, const D: usize>(g: &[[R; D]; D]) -> R {
    Closure::Smagorinsky.rate(&in_space(g)).named("shear_rate")
}

/// The gradient of the velocity.
#[inline(always)]
fn velocity_gradient<R: Real, const D: usize, const N: usize>(grad: &[[R; N]; D]) -> [[R; D]; D] {
    array!(D, |d| array!(D, |i| grad[d][i]))
}

impl<const D: usize, const N: usize> Diffusion<D, N> for VariableViscosity {
    #[inline(always)]
    fn diffusive_flux<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D]) -> [[R; N]; D] {
        self.flux(u, grad, Diffusion::<D, N>::own_coefficient(self))
    }

    #[inline(always)]
    fn normal_diffusive_flux<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D], n: &[R; D]) -> [R; N] {
        self.normal_flux(u, grad, n, Diffusion::<D, N>::own_coefficient(self))
    }

    /// Zero: without a gradient it is not known.
    #[inline(always)]
    fn diffusivity<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(0.0)
    }

    /// `C Δ²`; 1 without a closure.
    fn coefficient(&self, width: f64) -> Option<f64> {
        Some(self.closure.map_or(1.0, |of| of.closure.mixing(of.constant, width)))
    }

    fn with_coefficient(&self, c: f64) -> Self {
        Self { coefficient: c, ..self.clone() }
    }

    #[inline(always)]
    fn diffusive_flux_with<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D], c: R) -> [[R; N]; D] {
        self.flux(u, grad, c)
    }

    #[inline(always)]
    fn normal_diffusive_flux_with<R: Real>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        c: R,
    ) -> [R; N] {
        self.normal_flux(u, grad, n, c)
    }

    /// The larger of `α − α₀ + ν_t/Pr_t` and `2 ν_t + max(ν − ν₀, ν − ν₀ + γ̇ dν/dγ̇)`.
    #[inline(always)]
    fn diffusivity_with<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D], c: R) -> R {
        let g = velocity_gradient(grad);
        let at = self.viscosities(u, &g, c);
        let mut largest = R::lit(0.0);
        if let Some(eddies) = at.eddies {
            largest = eddies + eddies;
        }
        if let (Some(formula), Some(excess)) = (&self.formula, at.fluid) {
            let shear = shear_rate(&g);
            let scalars: Vec<Dual<R>> = u[D..].iter().map(|v| Dual::constant(*v)).collect();
            let slope = formula.at(&scalars, Dual::variable(shear)).derivative;
            largest = largest + excess.max(slope.mul_add(shear, excess));
        }
        for k in D..N {
            if let Some(alpha) = self.of_scalar(k - D, &u[D..], at.eddies, c) {
                largest = largest.max(alpha);
            }
        }
        largest
    }

    #[inline(always)]
    fn own_coefficient<R: Real>(&self) -> R {
        R::param("mixing", self.coefficient)
    }
}
