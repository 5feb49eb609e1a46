//! The HLLC flux: three waves, exact for contacts and shear layers.

use super::NumericalFlux;
use super::roe_average::wave_bounds;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array};

/// HLLC flux for the Euler equations.
///
/// With `s⁻, s⁺` the bounding wave speeds, `μ = ρ (s − v_n)` on each side, the contact moves at
///
/// ```text
/// s* = (p⁺ − p⁻ + μ⁻ v_n⁻ − μ⁺ v_n⁺) / (μ⁻ − μ⁺)
/// ```
///
/// and with `K` the side of the contact in which the face lies,
///
/// ```text
/// f* = F_K + ŝ_K (u*_K − u_K),   ŝ⁻ = min(s⁻, 0),  ŝ⁺ = max(s⁺, 0)
/// u*_K = ((s_K − v_n) u_K + (p* − p)(0, n, 0) + (0, 0, p* s* − p v_n)) / (s_K − s*),   p* = p + μ (s* − v_n)
/// ```
///
/// The side is chosen first and one flux is computed, which needs fewer registers than a choice between
/// fluxes.
///
/// # Source
/// Toro 2009, §10.4–10.6; wave speeds of Batten, Clarke, Lambert & Causon 1997.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hllc;

impl<const D: usize, const N: usize> NumericalFlux<Euler, D, N> for Hllc
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "hllc";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let m = law.side(um, n);
        let p = law.side(up, n);
        let (slow, fast) = wave_bounds(law, &m, &p);
        let mass_m = m.rho * (slow - m.vn);
        let mass_p = p.rho * (fast - p.vn);
        let contact = ((p.p - m.p + mass_m * m.vn - mass_p * p.vn) / (mass_m - mass_p)).named("s_contact");

        let zero = R::lit(0.0);
        let minus = zero.le(contact);
        let u = array!(N, |k| R::select(minus, um[k], up[k]));
        let (vn, pressure) = (R::select(minus, m.vn, p.vn), R::select(minus, m.p, p.p));
        let (s, mass) = (R::select(minus, slow, fast), R::select(minus, mass_m, mass_p));
        let s_clipped = R::select(minus, slow.min(zero), fast.max(zero));

        // u* − u, with the common factor 1/(s − s*): (s − v_n) − (s − s*) = s* − v_n multiplies u.
        let scale = s_clipped / (s - contact);
        let dv = contact - vn;
        let dp = mass * dv; // p* − p
        let mut f = Euler::flux_of(&u, vn, pressure, n);
        f[0] = scale.mul_add(dv * u[0], f[0]);
        for d in 0..D {
            f[1 + d] = scale.mul_add(dv.mul_add(u[1 + d], dp * n[d]), f[1 + d]);
        }
        f[N - 1] = scale.mul_add(dv.mul_add(u[N - 1] + pressure, dp * contact), f[N - 1]);
        f
    }
}
