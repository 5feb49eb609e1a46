//! The arithmetic mean of the fluxes.

use super::TwoPointFlux;
use crate::law::Law;
use crate::real::{Real, array};

/// The mean of the two fluxes, `f# = ½ (F(u_l) + F(u_r))·n`, for any law. On affine elements its split form
/// is the strong form; for a linear law with a constant speed it conserves the energy, also on curved
/// elements.
///
/// # Source
/// Gassner, Winters & Kopriva, J. Comput. Phys. 327 (2016) 39–66, §3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Central;

impl<L: Law<D, N>, const D: usize, const N: usize> TwoPointFlux<L, D, N> for Central {
    const NAME: &'static str = "central";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &L, ul: &[R; N], ur: &[R; N], n: &[R; D]) -> [R; N] {
        let half = R::lit(0.5);
        let (l, r) = (law.normal_flux(ul, n), law.normal_flux(ur, n));
        array!(N, |k| half * (l[k] + r[k]))
    }
}
