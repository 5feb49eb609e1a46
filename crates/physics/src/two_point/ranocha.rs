//! Ranocha's entropy-conservative and kinetic-energy preserving flux.

use super::{TwoPointFlux, inverse_logarithmic_mean, logarithmic_mean};
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array, dot};

/// Ranocha's flux, with arithmetic means `{·}` and logarithmic means `{·}_log`. It conserves entropy and
/// kinetic energy, and preserves flows of constant pressure and velocity.
///
/// ```text
/// f_ρ = {ρ}_log {v}·n,   f_ρv = f_ρ {v} + {p} n
/// f_ρE = f_ρ (½ v_l·v_r + 1/((γ−1) {ρ/p}_log)) + ½ (p_l v_r + p_r v_l)·n
/// ```
///
/// # Source
/// Ranocha, *Entropy Conserving and Kinetic Energy Preserving Numerical Methods for the Euler Equations Using
/// Summation-by-Parts Operators*, ICOSAHOM 2018, Springer 2020, 525–535.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranocha;

impl<const D: usize, const N: usize> TwoPointFlux<Euler, D, N> for Ranocha
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "ranocha";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, ul: &[R; N], ur: &[R; N], n: &[R; D]) -> [R; N] {
        let half = R::lit(0.5);
        let (l, r) = (law.side(ul, n), law.side(ur, n));
        let p = half * (l.p + r.p);
        let mass = logarithmic_mean(l.rho, r.rho) * (half * (l.vn + r.vn));
        // 1/{ρ/p}_log without the quotients: the mean of both sides times p_l p_r.
        let inverse = l.p * r.p * inverse_logarithmic_mean(l.rho * r.p, r.rho * l.p);
        let thermal = inverse * law.gamma_minus_one::<R>().recip();
        let work = half * (l.p * r.vn + r.p * l.vn);
        let v = array!(D, |d| half * (l.v[d] + r.v[d]));
        let mut f = [mass; N];
        for d in 0..D {
            f[1 + d] = mass.mul_add(v[d], p * n[d]);
        }
        f[N - 1] = mass.mul_add(half.mul_add(dot(&l.v, &r.v), thermal), work);
        f
    }
}
