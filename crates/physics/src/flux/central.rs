//! The mean of the fluxes of both sides.

use super::NumericalFlux;
use crate::law::Law;
use crate::real::{Real, array};

/// Central flux of any law, without dissipation:
///
/// ```text
/// f* = ½ (F(u⁻) + F(u⁺))·n
/// ```
///
/// For linear laws such as [`Incompressible`](crate::Incompressible) the right-hand side is then the negative
/// transpose of its strong form, so that gradient and divergence are adjoint to each other.
///
/// # Source
/// Hesthaven & Warburton, *Nodal Discontinuous Galerkin Methods*, 2008, §2.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Central;

impl<L: Law<D, N>, const D: usize, const N: usize> NumericalFlux<L, D, N> for Central {
    const NAME: &'static str = "central";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let (sum, _) = law.flux_sum_and_speed(um, up, n);
        let half = R::lit(0.5);
        array!(N, |k| half * sum[k])
    }

    #[inline(always)]
    fn eval_scaled<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D], scale: R) -> [R; N] {
        let (sum, _) = law.flux_sum_and_speed(um, up, n);
        let scale = R::lit(0.5) * scale;
        array!(N, |k| scale * sum[k])
    }
}
