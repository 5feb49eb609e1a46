//! Vreman's closure: an invariant of the gradient that vanishes in simple shear.

use super::{VelocityGradient, minors, square_sum};
use crate::real::Real;

/// `√(B/α_ij α_ij)` with `α_ij = ∂v_j/∂x_i`, `β_ij = α_mi α_mj` and
/// `B = β₁₁β₂₂ − β₁₂² + β₁₁β₃₃ − β₁₃² + β₂₂β₃₃ − β₂₃²`, which is the sum of the squares of the minors of α:
/// so no rounding makes it negative, and it is exactly zero in plane shear.
///
/// # Source
/// Vreman, Phys. Fluids 16 (2004) 3670–3681, eqs. 5–8, with one filter width for all directions. The constant
/// is `c ≈ 2.5 C_S²`: 0.07 for Smagorinsky's `C_S` = 0.17.
#[inline(always)]
pub(super) fn rate<R: Real>(g: &VelocityGradient<R>) -> R {
    let size = square_sum(g);
    let moving = R::lit(0.0).lt(size);
    (square_sum(&minors(g)) * R::select(moving, size, R::lit(1.0)).recip()).sqrt_of_squares()
}
