//! Walls without friction and planes of symmetry: the mirrored state.

use super::Boundary;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, dot};

/// The inner state with its normal momentum turned round, `ρv⁺ = ρv⁻ − 2 (ρv⁻·n) n`.
#[inline(always)]
fn mirror<R: Real, const D: usize, const N: usize>(um: &[R; N], n: &[R; D]) -> [R; N] {
    let m = Euler::momentum::<R, D, N>(um);
    let twice = R::lit(-2.0) * dot(&m, n);
    let mut up = *um;
    for d in 0..D {
        up[1 + d] = twice.mul_add(n[d], um[1 + d]);
    }
    up
}

/// Wall that gas slides along: `ρ⁺ = ρ⁻`, `ρE⁺ = ρE⁻`, normal momentum turned round. Every numerical flux of this
/// crate then passes no mass.
///
/// # Source
/// Toro 2009, §6.3.3 (reflective boundary).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlipWall;

/// Plane of symmetry; for a gas without friction the same state as [`SlipWall`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symmetry;

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for SlipWall
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "slip-wall";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
        mirror(um, n)
    }
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for Symmetry
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "symmetry";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
        mirror(um, n)
    }
}
