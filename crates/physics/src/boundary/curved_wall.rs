//! Inviscid curved walls on straight faces: the state mirrored at the curve instead of the face.

use super::Boundary;
use super::wall::mirror;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array};

/// Wall with slip along a curve of which the faces are chords (the curvature boundary condition): the state
/// of [`SlipWall`](super::SlipWall) with the unit normal `N` of the curve instead of the normal of the face,
///
/// ```text
/// ρ⁺ = ρ⁻,   ρE⁺ = ρE⁻,   ρv⁺ = ρv⁻ − 2 (ρv⁻·N) N
/// ```
///
/// Component `d` of `N` is entry `1 + d` of the data; its sign has no effect. The numerical flux is that
/// through the face. A flow along the curve (`v·N = 0`) is kept, and then crosses the face: the mass flux at
/// a point is zero only if `N` is the normal of the face. The flow that enters through one part of a chord
/// leaves through another; what remains is of the order of the discretisation.
///
/// # Source
/// Krivodonova & Berger, *High-order accurate implementation of solid wall boundary conditions in curved
/// geometries*, J. Comput. Phys. 211 (2006) 492–512.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurvedSlipWall;

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for CurvedSlipWall
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "curved-slip-wall";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], _n: &[R; D], data: &[R; N]) -> [R; N] {
        mirror(um, &array!(D, |d| data[1 + d]))
    }
}
