//! Steady flows: behind a grid, and between two plates.

use super::{nu, state};
use crate::exact::Solution;
use crate::real::Real;
use std::f64::consts::TAU;

/// Kovasznay's flow behind a grid, steady; with `Re = U ℓ/ν` and coordinates in units of `ℓ`,
///
/// ```text
/// u = U (1 − e^{λx} cos 2πy),   v = U λ/(2π) e^{λx} sin 2πy,   p = ½ U² (1 − e^{2λx})
/// λ = Re/2 − (Re²/4 + 4π²)^½
/// ```
///
/// In three dimensions it is extruded along z.
///
/// # Source
/// Kovasznay, Proc. Camb. Phil. Soc. 44 (1948) 58–62.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kovasznay {
    /// Kinematic viscosity `ν`, above 0.
    pub viscosity: f64,
    /// Mean velocity `U`.
    pub speed: f64,
    /// Period `ℓ` along y.
    pub length: f64,
}

impl<const N: usize> Solution<N> for Kovasznay {
    fn primitive<R: Real>(&self, _t: R, x: &[R; 3]) -> [R; N] {
        let (one, half, tau) = (R::lit(1.0), R::lit(0.5), R::lit(TAU));
        let speed = R::param("grid_speed", self.speed);
        let length = R::param("grid_length", self.length);
        let half_reynolds = half * speed * length / nu(self.viscosity);
        // The difference of two large numbers, without cancellation.
        let root = half_reynolds.mul_add(half_reynolds, tau * tau).sqrt();
        let lambda = -(tau * tau / (half_reynolds + root));
        let growth = (lambda * x[0] / length).exp();
        let angle = tau * x[1] / length;
        let u = speed * (one - growth * angle.cos());
        let v = speed * (lambda / tau) * growth * angle.sin();
        let p = half * speed * speed * (one - growth * growth);
        state([u, v, R::lit(0.0)], p)
    }

    fn is_steady(&self) -> bool {
        true
    }
}

/// Poiseuille flow between two plates at `y₀` and `y₀ + H`; with `η = (y − y₀)/H`,
///
/// ```text
/// u = 4 U η (1 − η),   v = w = 0,   p = −8 ν U/H² (x − x₀)
/// ```
///
/// # Source
/// White, *Viscous Fluid Flow*, 3rd ed., 2006, §3-2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poiseuille {
    /// Kinematic viscosity `ν`.
    pub viscosity: f64,
    /// Largest velocity `U`.
    pub speed: f64,
    /// Distance `H` of the plates.
    pub height: f64,
    /// Position of the lower plate, `y₀`.
    pub bottom: f64,
    /// Position `x₀` where the pressure is zero.
    pub start: f64,
}

impl<const N: usize> Solution<N> for Poiseuille {
    fn primitive<R: Real>(&self, _t: R, x: &[R; 3]) -> [R; N] {
        let (zero, one) = (R::lit(0.0), R::lit(1.0));
        let speed = R::param("channel_speed", self.speed);
        let height = R::param("channel_height", self.height);
        let eta = (x[1] - R::param("channel_bottom", self.bottom)) / height;
        let u = R::lit(4.0) * speed * eta * (one - eta);
        let slope = R::lit(-8.0) * nu(self.viscosity) * speed / (height * height);
        state([u, zero, zero], slope * (x[0] - R::param("channel_start", self.start)))
    }

    fn is_steady(&self) -> bool {
        true
    }
}
