//! Inviscid walls and planes of symmetry: the mirrored state, without shear.

use super::Boundary;
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, dot};

/// The inner state with reversed normal momentum, `ρv⁺ = ρv⁻ − 2 (ρv⁻·n) n`.
#[inline(always)]
pub(super) fn mirror<R: Real, const D: usize, const N: usize>(um: &[R; N], n: &[R; D]) -> [R; N] {
    let m = Euler::momentum::<R, D, N>(um);
    let twice = R::lit(-2.0) * dot(&m, n);
    let mut up = *um;
    for d in 0..D {
        up[1 + d] = twice.mul_add(n[d], um[1 + d]);
    }
    up
}

/// The inner state without its normal momentum; density and internal energy do not change.
#[inline(always)]
pub(super) fn slide<R: Real, const D: usize, const N: usize>(um: &[R; N], n: &[R; D]) -> [R; N] {
    let m = Euler::momentum::<R, D, N>(um);
    let mn = dot(&m, n);
    let mut ub = *um;
    for d in 0..D {
        ub[1 + d] = um[1 + d] - mn * n[d];
    }
    ub[N - 1] = (R::lit(-0.5) * mn).mul_add(mn / um[0], um[N - 1]);
    ub
}

/// The diffusive flux through a face without friction and heat conduction: the normal stress `(n·τ n) n`
/// alone, which does no work because the normal velocity is zero.
#[inline(always)]
pub(super) fn without_shear<R: Real, const D: usize, const N: usize>(
    diffusion: &NavierStokes,
    ub: &[R; N],
    grad: &[[R; N]; D],
    n: &[R; D],
) -> [R; N]
where
    NavierStokes: Diffusion<D, N>,
{
    let f = diffusion.normal_diffusive_flux(ub, grad, n);
    let stress = dot(&Euler::momentum::<R, D, N>(&f), n);
    let mut out = [R::lit(0.0); N];
    for d in 0..D {
        out[1 + d] = stress * n[d];
    }
    out
}

/// Wall with slip: `ρ⁺ = ρ⁻`, `ρE⁺ = ρE⁻`, normal momentum reversed. The mass flux of every numerical flux of
/// this crate is then zero. With viscosity, the wall has neither friction nor heat flux: the gradient is
/// lifted towards the state without normal momentum, and only the normal stress of the diffusive flux
/// remains.
///
/// # Source
/// Toro 2009, §6.3.3 (reflective boundary).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlipWall;

/// Plane of symmetry: the states and fluxes of [`SlipWall`], which are those of a mirrored flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symmetry;

/// The two names of one condition.
macro_rules! slides {
    ($wall:ident, $name:literal) => {
        impl<const D: usize, const N: usize> Boundary<Euler, D, N> for $wall
        where
            Euler: Law<D, N>,
        {
            const NAME: &'static str = $name;
            const USES_DATA: bool = false;

            #[inline(always)]
            fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
                mirror(um, n)
            }
        }

        impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for $wall
        where
            Euler: Law<D, N>,
            NavierStokes: Diffusion<D, N>,
        {
            #[inline(always)]
            fn face_state<R: Real>(
                &self,
                _diffusion: &NavierStokes,
                um: &[R; N],
                n: &[R; D],
                _data: &[R; N],
            ) -> [R; N] {
                slide(um, n)
            }

            #[inline(always)]
            fn normal_flux<R: Real>(
                &self,
                diffusion: &NavierStokes,
                _um: &[R; N],
                ub: &[R; N],
                grad: &[[R; N]; D],
                n: &[R; D],
                _data: &[R; N],
            ) -> [R; N] {
                without_shear(diffusion, ub, grad, n)
            }
        }
    };
}

slides!(SlipWall, "slip-wall");
slides!(Symmetry, "symmetry");
