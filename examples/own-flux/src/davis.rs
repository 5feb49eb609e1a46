//! The HLL flux with the wave speeds of the two states alone.

use dgsuite_physics::{Euler, Law, NumericalFlux, Real};

/// The flux of Harten, Lax and van Leer with the wave speeds of Davis:
///
/// ```text
/// f* = (b F⁻ − a F⁺ + a b (u⁺ − u⁻)) / (b − a)
/// a = min(v_n⁻ − c⁻, v_n⁺ − c⁺, 0),   b = max(v_n⁻ + c⁻, v_n⁺ + c⁺, 0)
/// ```
///
/// # Source
/// Davis, SIAM J. Sci. Stat. Comput. 9 (1988) 445–473.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Davis;

impl<const D: usize, const N: usize> NumericalFlux<Euler, D, N> for Davis
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "davis";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let zero = R::lit(0.0);
        // Normal speed and |v·n| + c.
        let speeds = |u: &[R; N]| {
            let momentum = (0..D).fold(zero, |sum, d| u[1 + d].mul_add(n[d], sum));
            let v = momentum * u[0].recip();
            let sound = law.normal_speed(u, n) - v.abs();
            (v - sound, v + sound)
        };
        let ((slow_m, fast_m), (slow_p, fast_p)) = (speeds(um), speeds(up));
        let (a, b) = (slow_m.min(slow_p).min(zero), fast_m.max(fast_p).max(zero));
        let (fm, fp) = (law.normal_flux(um, n), law.normal_flux(up, n));
        let inverse = (b - a).recip();
        std::array::from_fn(|k| (b * fm[k] - a * fp[k] + a * b * (up[k] - um[k])) * inverse)
    }
}
