//! Smagorinsky's closure: the rate of strain.

use super::VelocityGradient;
use crate::real::Real;

/// `|S| = √(2 S_ij S_ij)` with `S_ij = ½ (∂v_i/∂x_j + ∂v_j/∂x_i)`.
///
/// # Source
/// Smagorinsky, Mon. Weather Rev. 91 (1963) 99–164, eq. 4.19; the constant 0.17 is that of Lilly, Proc. IBM
/// Sci. Comput. Symp. Environ. Sci. (1967) 195–210.
#[inline(always)]
pub(super) fn rate<R: Real>(g: &VelocityGradient<R>) -> R {
    let two = R::lit(2.0);
    let mut sum = two * g[0][0] * g[0][0];
    for i in 1..3 {
        sum = (two * g[i][i]).mul_add(g[i][i], sum);
    }
    for i in 0..3 {
        for j in 0..i {
            let twice = g[i][j] + g[j][i];
            sum = twice.mul_add(twice, sum);
        }
    }
    sum.sqrt_of_squares()
}
