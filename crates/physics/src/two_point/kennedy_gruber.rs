//! The kinetic-energy preserving flux of Kennedy and Gruber.

use super::TwoPointFlux;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array};

/// Kennedy and Gruber's flux, with arithmetic means `{·}`; its volume terms conserve the kinetic energy:
///
/// ```text
/// f_ρ = {ρ} {v}·n,   f_ρv = f_ρ {v} + {p} n,   f_ρE = f_ρ {E} + {p} {v}·n
/// ```
///
/// `E` is the total energy per mass.
///
/// # Source
/// Kennedy & Gruber, J. Comput. Phys. 227 (2008) 1676–1700; in this form Gassner, Winters & Kopriva 2016.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KennedyGruber;

impl<const D: usize, const N: usize> TwoPointFlux<Euler, D, N> for KennedyGruber
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "kennedy-gruber";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, ul: &[R; N], ur: &[R; N], n: &[R; D]) -> [R; N] {
        let half = R::lit(0.5);
        let (l, r) = (law.side(ul, n), law.side(ur, n));
        let vn = half * (l.vn + r.vn);
        let p = half * (l.p + r.p);
        let mass = half * (l.rho + r.rho) * vn;
        let v = array!(D, |d| half * (l.v[d] + r.v[d]));
        let energy = half * (ul[N - 1] * l.inv_rho + ur[N - 1] * r.inv_rho);
        let mut f = [mass; N];
        for d in 0..D {
            f[1 + d] = mass.mul_add(v[d], p * n[d]);
        }
        f[N - 1] = mass.mul_add(energy, p * vn);
        f
    }
}
