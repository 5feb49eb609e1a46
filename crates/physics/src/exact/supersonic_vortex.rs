//! Steady supersonic vortex between two circular arcs.

use super::Solution;
use super::vortex::primitive_state;
use crate::euler::Euler;
use crate::real::Real;

/// Steady isentropic flow around the origin, usually in the quarter annulus `1 ≤ r ≤ 1.384`:
///
/// ```text
/// ρ = ρ_i (1 + ½ (γ−1) M_i² (1 − (r_i/r)²))^{1/(γ−1)},   |v| = M_i c_i r_i/r,   p = p_i (ρ/ρ_i)^γ
/// ```
///
/// with `c_i = 1`, so `p_i = ρ_i/γ`. The flow rotates clockwise: it enters the quarter annulus through
/// `x = 0` and leaves through `y = 0`.
///
/// # Source
/// Aftosmis, Gaitonde & Tavares, AIAA J. 33 (1995) 2038–2049; Krivodonova & Berger, J. Comput. Phys. 211
/// (2006) 492–512.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupersonicVortex {
    /// The gas.
    pub gas: Euler,
    /// Radius of the inner wall `r_i`.
    pub inner_radius: f64,
    /// Mach number at the inner wall `M_i`.
    pub mach: f64,
    /// Density at the inner wall `ρ_i`.
    pub density: f64,
}

impl SupersonicVortex {
    /// `r_i = 1`, `M_i = 2.25`, `ρ_i = 1`.
    pub fn new(gas: Euler) -> Self {
        Self { gas, inner_radius: 1.0, mach: 2.25, density: 1.0 }
    }
}

impl Solution<4> for SupersonicVortex {
    fn primitive<R: Real>(&self, _t: R, x: &[R; 3]) -> [R; 4] {
        let (one, half) = (R::lit(1.0), R::lit(0.5));
        let inner = R::param("vortex_inner_radius", self.inner_radius);
        let mach = R::param("vortex_inner_mach", self.mach);
        let density = R::param("vortex_inner_density", self.density);
        let g1 = self.gas.gamma_minus_one::<R>();

        // The flow does not exist inside the radius at which the temperature vanishes; a lower bound keeps
        // the formula finite there.
        let r2 = x[0] * x[0] + x[1] * x[1];
        let ratio2 = inner * inner / r2.max(R::lit(1e-30));
        let heat = half * g1 * mach * mach;
        let temperature = heat.mul_add(one - ratio2, one).max(R::lit(1e-6));
        let compression = temperature.powf(g1.recip());
        // |v| (y, −x)/r = M_i r_i (y, −x)/r²
        let turn = mach * ratio2 / inner;
        let p = density / self.gas.gamma() * compression * temperature;
        primitive_state(density * compression, [turn * x[1], -(turn * x[0]), R::lit(0.0)], p)
    }

    fn is_steady(&self) -> bool {
        true
    }
}
