//! The pressure at an open boundary through which fluid may come back.

use crate::real::{Real, dot};

/// The pressure at an open boundary that stays stable where fluid enters through it:
///
/// ```text
/// p = ν n·∂u/∂n − ½ |u|² Θ,   Θ = ½ (1 − tanh(n·u/(U₀ δ)))
/// ```
///
/// with the unit normal `n` out of the domain. `Θ` is a smooth step: 1 where fluid enters (`n·u < 0`), 0
/// where it leaves, and ½ at `n·u = 0`.
///
/// # Signs
/// The first term makes the normal stress zero where fluid leaves: the boundary exerts on the fluid the force
/// `−p n + ν ∂u/∂n` per area, and `p = ν n·∂u/∂n` removes its normal part. The second term makes the pressure
/// lower where fluid enters. Through the boundary, the kinetic energy of the fluid changes at the rate
///
/// ```text
/// n·u (−½ |u|² − p) + ν u·∂u/∂n   per area
/// ```
///
/// of which convection, `−½ |u|² n·u`, is a gain where fluid enters. There `p = −½ |u|²` cancels it, so that
/// eddies that cross the boundary gain no energy there: without viscosity the rate is
/// `−½ |u|² n·u (1 − Θ) ≤ 0.07 U₀ δ |u|²`, and the bound vanishes with `δ`.
///
/// # Source
/// Dong, Karniadakis & Chryssostomidis, *A robust and accurate outflow boundary condition for incompressible
/// flow simulations on severely-truncated unbounded domains*, J. Comput. Phys. 261 (2014) 83–105.
///
/// ```
/// use dgsuite_physics::incompressible::OpenPressure;
/// let open = OpenPressure { viscosity: 0.1, width: 0.05 };
/// // Fluid that leaves with ∂u/∂n = 3, and fluid that enters.
/// assert_eq!(open.pressure(&[2.0, 1.0], &[3.0, 0.0], &[1.0, 0.0]), 0.1 * 3.0);
/// assert_eq!(open.pressure(&[-2.0, 1.0], &[0.0, 0.0], &[1.0, 0.0]), -2.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenPressure {
    /// Kinematic viscosity `ν`.
    pub viscosity: f64,
    /// Width of the smooth step, the velocity `U₀ δ`: a characteristic velocity of the flow times a small
    /// number. The paper uses δ between 0.01 and 0.1.
    pub width: f64,
}

impl OpenPressure {
    /// Returns the pressure for the velocity `u`, its derivative along the normal `slope = ∂u/∂n`, and the
    /// unit normal `n` out of the domain.
    #[inline(always)]
    pub fn pressure<R: Real, const D: usize>(&self, u: &[R; D], slope: &[R; D], n: &[R; D]) -> R {
        let viscosity = R::param("viscosity", self.viscosity);
        let energy = R::lit(0.5) * dot(u, u);
        viscosity.mul_add(dot(n, slope), -(energy * self.entering(dot(n, u))))
    }

    /// Returns `Θ` for the normal velocity `n·u`.
    #[inline(always)]
    fn entering<R: Real>(&self, un: R) -> R {
        R::lit(0.5) * (R::lit(1.0) - (un / R::param("outflow_width", self.width)).tanh())
    }
}
