//! A flow without divergence that needs a body force.

use super::state;
use crate::exact::Solution;
use crate::real::Real;

/// Guermond and Shen's flow, which changes at walls: with `φ = y + ω t`,
///
/// ```text
/// u = sin x sin φ,   v = cos x cos φ,   p = cos x sin φ
/// ```
///
/// The velocity has no divergence; the momentum equation holds with the body force of
/// [`Manufactured`](crate::source::Manufactured). On the unit square with prescribed velocities this is the
/// test of the order of the pressure at walls. In three dimensions it is extruded along z.
///
/// # Source
/// Guermond & Shen, Math. Comp. 73 (2004) 1719–1737 (`ω = 1`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuermondShen {
    /// Angular frequency `ω`.
    pub frequency: f64,
}

impl<const N: usize> Solution<N> for GuermondShen {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let phase = R::param("flow_frequency", self.frequency).mul_add(t, x[1]);
        let (s, c) = (phase.sin(), phase.cos());
        let (sx, cx) = (x[0].sin(), x[0].cos());
        state([sx * s, cx * c, R::lit(0.0)], cx * s)
    }

    fn is_steady(&self) -> bool {
        self.frequency == 0.0
    }
}
