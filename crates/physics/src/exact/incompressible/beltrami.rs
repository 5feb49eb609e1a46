//! A decaying Beltrami flow in three dimensions.

use super::{nu, state};
use crate::exact::Solution;
use crate::real::Real;

/// Ethier and Steinman's flow: vorticity and velocity are parallel, and friction only scales both; with
/// `E = e^{−d²νt}`,
///
/// ```text
/// u = −a (e^{ax} sin(ay + dz) + e^{az} cos(ax + dy)) E,   v, w: x → y → z → x
/// p = −½ a² (e^{2ax} + e^{2ay} + e^{2az} + 2 sin(ax + dy) cos(az + dx) e^{a(y+z)}
///            + 2 sin(ay + dz) cos(ax + dy) e^{a(z+x)} + 2 sin(az + dx) cos(ay + dz) e^{a(x+y)}) E²
/// ```
///
/// # Source
/// Ethier & Steinman, Int. J. Numer. Methods Fluids 19 (1994) 369–375 (`a = π/4`, `d = π/2`, on
/// `[−1, 1]³`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beltrami {
    /// Kinematic viscosity `ν`.
    pub viscosity: f64,
    /// The number `a`, one over a length.
    pub a: f64,
    /// The number `d`, one over a length.
    pub d: f64,
}

impl Solution<4> for Beltrami {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; 4] {
        let (a, d) = (R::param("beltrami_a", self.a), R::param("beltrami_d", self.d));
        let decay = (-(d * d * nu(self.viscosity) * t)).exp();
        let growth = x.map(|x| (a * x).exp());
        let next = |i: usize| (i + 1) % 3;
        // The angle a x_i + d x_{i+1}.
        let angles: [R; 3] = std::array::from_fn(|i| a.mul_add(x[i], d * x[next(i)]));
        let (sin, cos) = (angles.map(R::sin), angles.map(R::cos));

        let scale = -(a * decay);
        let v = std::array::from_fn(|i| {
            let (j, k) = (next(i), next(next(i)));
            scale * growth[i].mul_add(sin[j], growth[k] * cos[i])
        });
        let mut sum = R::lit(0.0);
        for i in 0..3 {
            let (j, k) = (next(i), next(next(i)));
            let pair = growth[j] * growth[k] * sin[i] * cos[k];
            sum = sum + growth[i].mul_add(growth[i], pair + pair);
        }
        state(v, R::lit(-0.5) * scale * scale * sum)
    }

    fn is_steady(&self) -> bool {
        self.viscosity == 0.0 || self.d == 0.0
    }
}
