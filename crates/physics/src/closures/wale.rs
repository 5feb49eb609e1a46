//! The wall-adapting local eddy viscosity.

use super::VelocityGradient;
use crate::real::{Real, array};

/// `(Sᵈ_ij Sᵈ_ij)^{3/2}/((S_ij S_ij)^{5/2} + (Sᵈ_ij Sᵈ_ij)^{5/4})` with the traceless symmetric part `Sᵈ` of
/// the square of the gradient.
///
/// It is computed as `w⁶/(s⁵ + w⁵)` with `w = (Sᵈ:Sᵈ)^{1/4}` and `s = (S:S)^{1/2}`, both divided by the
/// larger one, so that no power is infinite in single precision.
///
/// # Source
/// Nicoud & Ducros, Flow Turbul. Combust. 62 (1999) 183–200, eqs. 10–13.
#[inline(always)]
pub(super) fn rate<R: Real>(g: &VelocityGradient<R>) -> R {
    let square = array!(3, |i| array!(3, |j| {
        g[i][2].mul_add(g[2][j], g[i][1].mul_add(g[1][j], g[i][0] * g[0][j]))
    }));
    let third = R::lit(1.0 / 3.0) * (square[0][0] + square[1][1] + square[2][2]);
    let (half, first) = (R::lit(0.5), square[0][0] - third);
    let (mut strain, mut deviation) = (g[0][0] * g[0][0], first * first);
    for i in 1..3 {
        let part = square[i][i] - third;
        strain = g[i][i].mul_add(g[i][i], strain);
        deviation = part.mul_add(part, deviation);
    }
    for i in 0..3 {
        for j in 0..i {
            // Each of these entries stands twice in its matrix.
            let (twice, both) = (g[i][j] + g[j][i], square[i][j] + square[j][i]);
            strain = (half * twice).mul_add(twice, strain);
            deviation = (half * both).mul_add(both, deviation);
        }
    }
    let s = strain.sqrt_of_squares();
    let w = deviation.sqrt_of_squares().sqrt_of_squares();
    let larger = s.max(w);
    let (moving, one) = (R::lit(0.0).lt(larger), R::lit(1.0));
    let inverse = R::select(moving, larger, one).recip();
    let x = R::select(moving, s * inverse, one);
    let y = w * inverse;
    let (x2, y2) = (x * x, y * y);
    let (x5, y5) = (x2 * x2 * x, y2 * y2 * y);
    w * y5 * (x5 + y5).recip()
}
