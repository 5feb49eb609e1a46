//! Decaying eddies: the flow is an eigenfunction of the Laplace operator, so that friction only scales it.

use super::{nu, state};
use crate::exact::Solution;
use crate::exact::taylor_green::swirl;
use crate::exact::vortex::relative;
use crate::real::Real;
use std::f64::consts::TAU;

/// The mean velocity, as numbers of the formula's type.
fn mean<R: Real>(velocity: [f64; 3]) -> [R; 3] {
    const NAMES: [&str; 3] = ["mean_u", "mean_v", "mean_w"];
    std::array::from_fn(|d| R::param(NAMES[d], velocity[d]))
}

/// The Taylor vortex, carried along by a mean velocity `U`; with `ξ = x − U t` and `k = 2π/ℓ`,
/// `E = e^{−k²νt}`,
///
/// ```text
/// u = U_x − V sin(k ξ_y) E,   v = U_y + V sin(k ξ_x) E,   p = −V² cos(k ξ_x) cos(k ξ_y) E²
/// ```
///
/// In three dimensions it is extruded along z. Without a mean velocity the convective term is a gradient.
///
/// # Source
/// Taylor, Phil. Mag. 46 (1923) 671–674; as a test: Hesthaven & Warburton, *Nodal Discontinuous Galerkin
/// Methods*, 2008, §6.5 (`ν = 0.01`, `ℓ = V = 1`, `U = 0`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaylorVortex {
    /// Kinematic viscosity `ν`.
    pub viscosity: f64,
    /// Largest velocity `V` at `t = 0`.
    pub speed: f64,
    /// Period `ℓ` along x and y.
    pub length: f64,
    /// Mean velocity `U`.
    pub velocity: [f64; 3],
}

impl<const N: usize> Solution<N> for TaylorVortex {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let mean = mean::<R>(self.velocity);
        let k = R::param("vortex_wave", TAU / self.length);
        let xi = relative(x, t, [R::lit(0.0); 3], mean, [0.0; 3]).map(|x| k * x);
        let speed = R::param("vortex_speed", self.speed) * (-(k * k * nu(self.viscosity) * t)).exp();
        let v = [mean[0] - speed * xi[1].sin(), mean[1] + speed * xi[0].sin(), mean[2]];
        state(v, -(speed * speed * xi[0].cos() * xi[1].cos()))
    }

    fn is_steady(&self) -> bool {
        self.speed == 0.0 || (self.viscosity == 0.0 && self.velocity[..2] == [0.0; 2])
    }
}

/// Eddies of Walsh, carried along by a mean velocity `U`; with `ξ = x − U t`, `E = e^{−25νt}` and the stream
/// function
///
/// ```text
/// ψ = A (¼ cos 3ξ_x sin 4ξ_y − ⅕ cos 5ξ_y − ⅕ sin 5ξ_x),   −Δψ = 25 ψ
/// (u, v) = U + (∂ψ/∂ξ_y, −∂ψ/∂ξ_x) E,   p = −½ (|∇ψ|² + 25 ψ²) E²
/// ```
///
/// The period is `2π` along x and y; in three dimensions the flow is extruded along z.
///
/// # Source
/// Walsh, *Eddy solutions of the Navier–Stokes equations*, in: The Navier–Stokes Equations II, Lecture Notes
/// in Mathematics 1530, 1992, 306–309.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalshEddies {
    /// Kinematic viscosity `ν`.
    pub viscosity: f64,
    /// Strength `A`.
    pub strength: f64,
    /// Mean velocity `U`.
    pub velocity: [f64; 3],
}

impl<const N: usize> Solution<N> for WalshEddies {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let mean = mean::<R>(self.velocity);
        let xi = relative(x, t, [R::lit(0.0); 3], mean, [0.0; 3]);
        let eigenvalue = R::lit(25.0);
        let strength =
            R::param("eddy_strength", self.strength) * (-(eigenvalue * nu(self.viscosity) * t)).exp();
        let of = |factor: f64, x: R| {
            let angle = R::lit(factor) * x;
            (angle.sin(), angle.cos())
        };
        let ((s3, c3), (s4, c4)) = (of(3.0, xi[0]), of(4.0, xi[1]));
        let ((sx, cx), (sy, cy)) = (of(5.0, xi[0]), of(5.0, xi[1]));
        let psi = strength * (R::lit(0.25) * c3 * s4 - R::lit(0.2) * (cy + sx));
        let along_y = strength * c3.mul_add(c4, sy);
        let along_x = -(strength * (R::lit(0.75) * s3).mul_add(s4, cx));
        let energy = along_x.mul_add(along_x, along_y * along_y);
        let p = R::lit(-0.5) * (eigenvalue * psi).mul_add(psi, energy);
        state([mean[0] + along_y, mean[1] - along_x, mean[2]], p)
    }

    fn is_steady(&self) -> bool {
        self.strength == 0.0 || (self.viscosity == 0.0 && self.velocity[..2] == [0.0; 2])
    }
}

/// Taylor–Green vortices of constant density, with coordinates in units of `L`. In three dimensions
///
/// ```text
/// u = V sin x cos y cos z,   v = −V cos x sin y cos z,   w = 0,   p = V²/16 (cos 2x + cos 2y)(cos 2z + 2)
/// ```
///
/// is an initial state; the later flow is not known in closed form, and the formula does not depend on time.
/// In two dimensions the vortices are an exact solution:
///
/// ```text
/// u = V sin x cos y e^{−2νt/L²},   v = −V cos x sin y e^{−2νt/L²},   p = V²/4 (cos 2x + cos 2y) e^{−4νt/L²}
/// ```
///
/// # Source
/// Taylor & Green, Proc. R. Soc. A 158 (1937) 499–521.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaylorGreenEddies {
    /// Kinematic viscosity `ν` of the decay in two dimensions.
    pub viscosity: f64,
    /// Largest velocity `V`.
    pub speed: f64,
    /// Length `L`, the period over `2π`.
    pub length: f64,
}

impl<const N: usize> Solution<N> for TaylorGreenEddies {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let speed = R::param("vortex_speed", self.speed);
        let length = R::param("vortex_length", self.length);
        let flat = N == 3;
        let decay = if flat && self.viscosity != 0.0 {
            (R::lit(-2.0) * nu(self.viscosity) * t / (length * length)).exp()
        } else {
            R::lit(1.0)
        };
        let (v, p) = swirl(&x.map(|x| x / length), speed, speed * speed, decay, flat);
        state(v, p)
    }

    fn is_steady(&self) -> bool {
        self.viscosity == 0.0 || N != 3
    }
}
