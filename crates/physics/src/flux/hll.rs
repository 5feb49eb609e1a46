//! The HLL flux: two waves, one state between them.

use super::NumericalFlux;
use super::roe_average::wave_bounds;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array};

/// HLL flux (Harten, Lax, van Leer) for the Euler equations with Einfeldt's wave speeds:
///
/// ```text
/// f* = (b F⁻ − a F⁺ + a b (u⁺ − u⁻)) / (b − a),   a = min(s⁻, 0),  b = max(s⁺, 0)
/// ```
///
/// # Source
/// Toro 2009, §10.3; wave speeds of Einfeldt 1988 (this pair is often called HLLE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hll;

impl<const D: usize, const N: usize> NumericalFlux<Euler, D, N> for Hll
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "hll";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let m = law.side(um, n);
        let p = law.side(up, n);
        let (slow, fast) = wave_bounds(law, &m, &p);
        let zero = R::lit(0.0);
        let a = slow.min(zero);
        let b = fast.max(zero);
        let inverse = (b - a).recip();
        let (weight_m, weight_p) = (b * inverse, -(a * inverse));
        let jump = a * weight_m;

        let fm = Euler::flux_of(um, m.vn, m.p, n);
        let fp = Euler::flux_of(up, p.vn, p.p, n);
        array!(N, |k| jump.mul_add(up[k] - um[k], weight_m.mul_add(fm[k], weight_p * fp[k])))
    }
}
