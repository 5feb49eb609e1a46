//! Roe's average of two gas states, and the wave speeds bounded with it.

use crate::euler::{Euler, Side};
use crate::real::{Real, array, dot};

/// Roe's average in the direction of a face normal.
pub(super) struct RoeAverage<R, const D: usize> {
    /// Geometric mean of the densities, `√(ρ⁻ρ⁺)`.
    pub(super) rho: R,
    /// Averaged velocity.
    pub(super) v: [R; D],
    /// Averaged normal velocity.
    pub(super) vn: R,
    /// Square of the averaged sound speed.
    pub(super) c2: R,
    /// Averaged sound speed.
    pub(super) c: R,
}

/// Weighted averages `v̂ = ω v⁻ + (1−ω) v⁺` with `ω = √ρ⁻/(√ρ⁻ + √ρ⁺)`, and the sound speed of the averaged
/// enthalpy in the equivalent form
///
/// ```text
/// ĉ² = ω c⁻² + (1−ω) c⁺² + ½ (γ−1) ω (1−ω) |v⁺ − v⁻|²
/// ```
///
/// which is positive by construction, while `(γ−1)(Ĥ − ½|v̂|²)` loses digits at high Mach numbers.
///
/// # Source
/// Roe, J. Comput. Phys. 43 (1981) 357–372; Toro 2009, §11.2.
#[inline(always)]
pub(super) fn roe_average<R: Real, const D: usize>(
    law: &Euler,
    m: &Side<R, D>,
    p: &Side<R, D>,
) -> RoeAverage<R, D> {
    let one = R::lit(1.0);
    let root = (p.rho * m.inv_rho).sqrt();
    let weight = (root + one).recip();
    let other = one - weight;
    let dv = array!(D, |d| p.v[d] - m.v[d]);
    let shear = R::lit(0.5) * law.gamma_minus_one() * (weight * other) * dot(&dv, &dv);
    let c2 = weight.mul_add(m.c2, other * p.c2) + shear;
    RoeAverage {
        rho: m.rho * root,
        v: array!(D, |d| weight.mul_add(m.v[d], other * p.v[d])),
        vn: weight.mul_add(m.vn, other * p.vn).named("roe_vn"),
        c2,
        c: c2.sqrt().named("roe_c"),
    }
}

/// Bounds of the slowest and the fastest wave between two states:
///
/// ```text
/// s⁻ = min(v_n⁻ − c⁻, v̂_n − ĉ),   s⁺ = max(v_n⁺ + c⁺, v̂_n + ĉ)
/// ```
///
/// # Source
/// Einfeldt, SIAM J. Numer. Anal. 25 (1988) 294–318; Batten, Clarke, Lambert & Causon, SIAM J. Sci. Comput.
/// 18 (1997) 1553–1570, who show that HLLC with them keeps density and pressure positive.
#[inline(always)]
pub(super) fn wave_bounds<R: Real, const D: usize>(law: &Euler, m: &Side<R, D>, p: &Side<R, D>) -> (R, R) {
    let roe = roe_average(law, m, p);
    let slow = (m.vn - m.c2.sqrt()).min(roe.vn - roe.c).named("s_minus");
    let fast = (p.vn + p.c2.sqrt()).max(roe.vn + roe.c).named("s_plus");
    (slow, fast)
}
