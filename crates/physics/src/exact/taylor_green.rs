//! Taylor–Green vortices: the initial state of the standard case of decaying turbulence.

use super::Solution;
use super::vortex::primitive_state;
use crate::euler::Euler;
use crate::real::Real;

/// Taylor–Green vortices in a cube of side `2πL` (three dimensions), with coordinates in units of `L`:
///
/// ```text
/// u = V sin x cos y cos z,   v = −V cos x sin y cos z,   w = 0
/// p = p₀ + ρ₀ V²/16 (cos 2x + cos 2y)(cos 2z + 2),   p₀ = ρ₀ V²/(γ M²),   T = T₀: ρ = ρ₀ p/p₀
/// ```
///
/// This is the initial state; the later flow is not known in closed form, and the formula does not depend on
/// time. In two dimensions vortices decay with the kinematic viscosity `ν`, up to terms of order `M²`:
///
/// ```text
/// u = V sin x cos y e^{−2νt/L²},   v = −V cos x sin y e^{−2νt/L²}
/// p = p₀ + ρ₀ V²/4 (cos 2x + cos 2y) e^{−4νt/L²}
/// ```
///
/// # Source
/// Taylor & Green, Proc. R. Soc. A 158 (1937) 499–521; set-up with `M = 0.1` and `Re = ρ₀VL/μ = 1600`:
/// DeBonis, AIAA 2013-0382.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaylorGreen {
    /// The gas.
    pub gas: Euler,
    /// Mach number `M` of the largest velocity, at the mean temperature.
    pub mach: f64,
    /// Mean density `ρ₀`.
    pub density: f64,
    /// Largest velocity `V`.
    pub speed: f64,
    /// Length `L`, the period over `2π`.
    pub length: f64,
    /// Kinematic viscosity `ν` of the decay in two dimensions; 0 for no decay.
    pub viscosity: f64,
}

impl TaylorGreen {
    /// `M = 0.1`, unit density, speed and length, without decay.
    pub fn new(gas: Euler) -> Self {
        Self { gas, mach: 0.1, density: 1.0, speed: 1.0, length: 1.0, viscosity: 0.0 }
    }
}

/// Velocity and pressure (less its mean) of Taylor–Green vortices at coordinates in units of `L`: `speed` is
/// `V`, `dynamic` is `ρ₀ V²`, and `decay` multiplies the velocity. They do not depend on z if `flat`.
pub(super) fn swirl<R: Real>(at: &[R; 3], speed: R, dynamic: R, decay: R, flat: bool) -> ([R; 3], R) {
    let (one, two) = (R::lit(1.0), R::lit(2.0));
    let lift = if flat { one } else { at[2].cos() };
    let stack = if flat { R::lit(4.0) } else { (two * at[2]).cos() + two };
    let swirl = speed * decay * lift;
    let u = swirl * at[0].sin() * at[1].cos();
    let v = -(swirl * at[0].cos() * at[1].sin());
    let bumps = (two * at[0]).cos() + (two * at[1]).cos();
    ([u, v, R::lit(0.0)], R::lit(0.0625) * dynamic * bumps * stack * decay * decay)
}

impl<const N: usize> Solution<N> for TaylorGreen {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let speed = R::param("vortex_speed", self.speed);
        let density = R::param("vortex_density", self.density);
        let mach = R::param("vortex_mach", self.mach);
        let length = R::param("vortex_length", self.length);
        let at = x.map(|x| x / length);
        let dynamic = density * speed * speed;
        let p0 = dynamic / (self.gas.gamma::<R>() * mach * mach);

        let flat = N == 4;
        let decay = if flat && self.viscosity != 0.0 {
            (R::lit(-2.0) * R::param("vortex_viscosity", self.viscosity) * t / (length * length)).exp()
        } else {
            R::lit(1.0)
        };
        let (v, excess) = swirl(&at, speed, dynamic, decay, flat);
        let p = p0 + excess;
        primitive_state(density * p / p0, v, p)
    }

    fn is_steady(&self) -> bool {
        self.viscosity == 0.0 || N != 4
    }
}
