//! The Rusanov (local Lax–Friedrichs) flux.

use super::NumericalFlux;
use crate::law::Law;
use crate::real::{Real, array};

/// Rusanov or local Lax–Friedrichs flux of any law:
///
/// ```text
/// f* = ½ (F(u⁻)·n + F(u⁺)·n) − ½ λ (u⁺ − u⁻),   λ = max(λ(u⁻, n), λ(u⁺, n))
/// ```
///
/// For linear advection this is the upwind flux. For Euler it costs one reciprocal and one square root per
/// side.
///
/// # Source
/// Toro 2009, §10.5.1; Hesthaven & Warburton, *Nodal Discontinuous Galerkin Methods*, 2008, chapter 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rusanov;

impl<L: Law<D, N>, const D: usize, const N: usize> NumericalFlux<L, D, N> for Rusanov {
    const NAME: &'static str = "rusanov";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let (sum, speed) = law.flux_sum_and_speed(um, up, n);
        let speed = speed.named("speed");
        let half = R::lit(0.5);
        array!(N, |k| half * speed.mul_add(um[k] - up[k], sum[k]))
    }

    #[inline(always)]
    fn eval_scaled<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D], scale: R) -> [R; N] {
        let (sum, speed) = law.flux_sum_and_speed(um, up, n);
        let scale = R::lit(0.5) * scale;
        array!(N, |k| scale * speed.mul_add(um[k] - up[k], sum[k]))
    }
}
