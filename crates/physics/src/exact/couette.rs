//! Couette flow between two plates, one of them moving, with its temperature.

use super::Solution;
use super::vortex::primitive_state;
use crate::navier_stokes::NavierStokes;
use crate::real::Real;

/// Plane Couette flow of a gas with constant viscosity, between a wall at rest at `y₀` and one at `y₀ + H`
/// that moves along x; with `η = (y − y₀)/H`,
///
/// ```text
/// u = U η,   v = w = 0,   p = p₁ = ρ₁ R T₁
/// T = T₀ + η (T₁ − T₀) + Pr U²/(2 c_p) η (1 − η),   c_p = γ R/(γ−1),   ρ = p/(R T)
/// ```
///
/// The solution does not depend on the value of the viscosity, which must be constant.
///
/// # Source
/// White, *Viscous Fluid Flow*, 3rd ed., 2006, §3-2.1. Gao et al. use it as a test; the profile in their
/// paper lacks the factor `U²`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Couette {
    /// The gas, with its Prandtl number and gas constant; its viscosity must be constant.
    pub gas: NavierStokes,
    /// Velocity `U` of the upper wall.
    pub speed: f64,
    /// Distance `H` of the walls.
    pub height: f64,
    /// Position of the lower wall, `y₀`.
    pub bottom: f64,
    /// Temperature `T₀` of the lower wall.
    pub t_bottom: f64,
    /// Temperature `T₁` of the upper wall.
    pub t_top: f64,
    /// Density `ρ₁` at the upper wall.
    pub density: f64,
}

impl<const N: usize> Solution<N> for Couette {
    fn primitive<R: Real>(&self, _t: R, x: &[R; 3]) -> [R; N] {
        let one = R::lit(1.0);
        let speed = R::param("couette_speed", self.speed);
        let (cold, warm) = (R::param("couette_t0", self.t_bottom), R::param("couette_t1", self.t_top));
        let gas_constant = R::param("gas_constant", self.gas.gas_constant);
        let (gamma, g1) = (self.gas.gas.gamma::<R>(), self.gas.gas.gamma_minus_one::<R>());
        let bottom = R::param("couette_bottom", self.bottom);

        let eta = (x[1] - bottom) / R::param("couette_height", self.height);
        let recovery =
            R::lit(0.5) * R::param("prandtl", self.gas.prandtl) * speed * speed * g1 / (gamma * gas_constant);
        let temperature = cold + eta * (warm - cold) + recovery * eta * (one - eta);
        let p = R::param("couette_density", self.density) * gas_constant * warm;
        let zero = R::lit(0.0);
        primitive_state(p / (gas_constant * temperature), [speed * eta, zero, zero], p)
    }

    fn is_steady(&self) -> bool {
        true
    }
}
