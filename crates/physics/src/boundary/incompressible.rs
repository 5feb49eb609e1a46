//! Conditions of incompressible flow: homogeneous ones for the central flux, and protected outflow.

use super::Boundary;
use crate::incompressible::{Incompressible, VelocityFirst};
use crate::law::Law;
use crate::real::{Real, array, dot};

/// Velocity zero, `u⁺ = −u⁻`; all other entries of the state are those of the inside.
///
/// With [`Central`](crate::Central) and [`Incompressible`] the values of the flux are `u* = 0` and `p* = p⁻`:
/// a wall at rest, or the homogeneous part of a prescribed velocity. With
/// [`PenaltyFlux`](crate::PenaltyFlux) the jump is `2 u⁻` and the flux `2 c⁻ (u⁻·n) n`; where no penalty is
/// wanted, [`Outflow`](super::Outflow) has no jump. For [`Convection`](crate::Convection) and
/// [`Transport`](crate::Transport) prefer [`Prescribed`](super::Prescribed), `u⁺ = g`, which allows larger
/// steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroVelocity;

/// The mean of both sides has the prescribed velocity, `u⁺ = 2g − u⁻`; all other entries of the state are
/// those of the inside. The state on the boundary, the mean, is then `(g, p⁻)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenVelocity;

/// Pressure zero, `u⁺ = u⁻` and `p⁺ = −p⁻`: with [`Central`](crate::Central) the values of the flux are
/// `u* = u⁻` and `p* = 0`. This is an open boundary, or the homogeneous part of a prescribed pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroPressure;

/// Normal velocity zero, `u⁺ = u⁻ − 2 (u⁻·n) n`; all other entries of the state are those of the inside. This
/// is a plane of symmetry, or a wall without friction.
///
/// With [`Central`](crate::Central) and [`Incompressible`] the values of the flux are `u*·n = 0` and
/// `p* = p⁻`. With [`Convection`](crate::Convection) and [`Rusanov`](crate::Rusanov) the flux is
/// `(u_n² + λ u_n) n` with `u_n = u⁻·n`, so that no tangential momentum passes. For
/// [`Transport`](crate::Transport) both velocities are reflected. With [`PenaltyFlux`](crate::PenaltyFlux)
/// the flux is that of [`ZeroVelocity`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroNormalVelocity;

/// Open boundary for convection: the prescribed velocity where the fluid enters, the inner one where it
/// leaves,
///
/// ```text
/// u⁺ = g   where n·u⁻ < 0,   u⁺ = u⁻   elsewhere
/// ```
///
/// For [`Transport`](crate::Transport) the given velocity decides, `n·ū⁻ < 0`, and the data has both
/// velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InflowProtected;

impl<L: VelocityFirst<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for ZeroVelocity {
    const NAME: &'static str = "zero-velocity";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, um: &[R; N], _n: &[R; D], _data: &[R; N]) -> [R; N] {
        let mut up = *um;
        for k in 0..D * L::VELOCITIES {
            up[k] = -um[k];
        }
        up
    }
}

impl<L: VelocityFirst<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for GivenVelocity {
    const NAME: &'static str = "given-velocity";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, um: &[R; N], _n: &[R; D], data: &[R; N]) -> [R; N] {
        let mut up = *um;
        for k in 0..D * L::VELOCITIES {
            up[k] = R::lit(2.0).mul_add(data[k], -um[k]);
        }
        up
    }
}

impl<const D: usize, const N: usize> Boundary<Incompressible, D, N> for ZeroPressure
where
    Incompressible: Law<D, N>,
{
    const NAME: &'static str = "zero-pressure";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Incompressible, um: &[R; N], _n: &[R; D], _data: &[R; N]) -> [R; N] {
        let mut up = *um;
        up[D] = -um[D];
        up
    }
}

impl<L: VelocityFirst<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for ZeroNormalVelocity {
    const NAME: &'static str = "zero-normal-velocity";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
        let mut up = *um;
        for vector in 0..L::VELOCITIES {
            let twice = R::lit(-2.0) * dot(&L::velocity(um, vector), n);
            for d in 0..D {
                up[D * vector + d] = twice.mul_add(n[d], um[D * vector + d]);
            }
        }
        up
    }
}

impl<L: VelocityFirst<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for InflowProtected {
    const NAME: &'static str = "inflow-protected";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        // The last velocity of the state carries it.
        let enters = dot(&L::velocity(um, L::VELOCITIES - 1), n).lt(R::lit(0.0));
        array!(N, |k| R::select(enters, data[k], um[k]))
    }
}
