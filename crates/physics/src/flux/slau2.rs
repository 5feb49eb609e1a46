//! The SLAU2 flux: a flux of mass and a pressure, whose dissipation scales with the speed of the flow.

use super::NumericalFlux;
use crate::euler::{Euler, Side};
use crate::law::Law;
use crate::real::{Real, array, dot};

/// SLAU2 (simple low-dissipation AUSM) flux for the Euler equations, without parameters, from low to high
/// Mach numbers. With means `ρ̄, c̄` of both sides, `M = v_n/c̄`, `q = √(½ (|v⁻|² + |v⁺|²))` and
/// `χ = (1 − min(1, q/c̄))²`:
///
/// ```text
/// f* = ½ (ṁ + |ṁ|) (1, v⁻, H⁻) + ½ (ṁ − |ṁ|) (1, v⁺, H⁺) + p̃ (0, n, 0)
/// ṁ  = ½ (ρ⁻ (v_n⁻ + w⁻) + ρ⁺ (v_n⁺ − w⁺) − χ/c̄ (p⁺ − p⁻))
/// w± = (1 − g) (ρ⁻ |v_n⁻| + ρ⁺ |v_n⁺|)/(ρ⁻ + ρ⁺) + g |v_n±|,   g = −max(min(M⁻, 0), −1) min(max(M⁺, 0), 1)
/// p̃  = ½ (p⁻ + p⁺) + ½ (β⁻ − β⁺) (p⁻ − p⁺) + q (β⁻ + β⁺ − 1) ρ̄ c̄
/// β∓ = ¼ (M ± 1)² (2 ∓ M), or 0 or 1 in supersonic flow, with M of the side
/// ```
///
/// Exact for contacts, not for shocks. At a [`PressureOutlet`](crate::PressureOutlet) that gas passes at more
/// than about 0.9 of the speed of sound it lets disturbances gain energy, which no other flux here does.
///
/// # Source
/// Kitamura & Shima, J. Comput. Phys. 245 (2013) 62–83; SLAU: Shima & Kitamura, AIAA J. 49 (2011) 1693–1709.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slau2;

/// `β`: the share of a side's pressure, for `M` towards the other side.
#[inline(always)]
fn share<R: Real>(mach: R) -> R {
    // 0 for M ≤ −1 and 1 for M ≥ 1, where the polynomial has these values and no slope.
    let m = mach.max(R::lit(-1.0)).min(R::lit(1.0));
    let one = m + R::lit(1.0);
    R::lit(0.25) * one * one * (R::lit(2.0) - m)
}

/// Enthalpy `H = (E + p)/ρ`.
#[inline(always)]
fn enthalpy<R: Real, const D: usize, const N: usize>(u: &[R; N], side: &Side<R, D>) -> R {
    (u[N - 1] + side.p) * side.inv_rho
}

impl<const D: usize, const N: usize> NumericalFlux<Euler, D, N> for Slau2
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "slau2";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let m = law.side(um, n);
        let p = law.side(up, n);
        let (zero, half, one) = (R::lit(0.0), R::lit(0.5), R::lit(1.0));
        let c = (half * (m.c2.sqrt() + p.c2.sqrt())).named("c_mean");
        let inverse = c.recip();
        let (mach_m, mach_p) = (m.vn * inverse, p.vn * inverse);
        let square = half * (dot(&m.v, &m.v) + dot(&p.v, &p.v));
        let speed = square.sqrt_of_squares().named("flow_speed");

        let (slow_m, slow_p) = (m.vn.abs(), p.vn.abs());
        let towards = -(mach_m.min(zero).max(-one));
        let g = towards * mach_p.max(zero).min(one);
        let mean = (m.rho * slow_m + p.rho * slow_p) / (m.rho + p.rho);
        let w_m = g.mul_add(slow_m - mean, mean);
        let w_p = g.mul_add(slow_p - mean, mean);
        let fast = one - (speed * inverse).min(one);
        let jump = fast * fast * inverse * (p.p - m.p);
        let mass = (half * (m.rho * (m.vn + w_m) + p.rho * (p.vn - w_p) - jump)).named("mass_flux");

        let (beta_m, beta_p) = (share(mach_m), share(-mach_p));
        let stiff = speed * (beta_m + beta_p - one) * (half * (m.rho + p.rho)) * c;
        let pressure = half * (m.p + p.p) + half * (beta_m - beta_p) * (m.p - p.p) + stiff;

        let (out, back) = (half * (mass + mass.abs()), half * (mass - mass.abs()));
        array!(N, |k| if k == 0 {
            mass
        } else if k == N - 1 {
            out.mul_add(enthalpy(um, &m), back * enthalpy(up, &p))
        } else {
            pressure.mul_add(n[k - 1], out.mul_add(m.v[k - 1], back * p.v[k - 1]))
        })
    }
}
