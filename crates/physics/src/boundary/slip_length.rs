//! Viscous walls along which the gas slips.

use super::Boundary;
use super::wall::{mirror, slide, without_shear};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, dot};

/// Adiabatic wall at rest with a slip length `l`: the gas moves along it as over a layer of this thickness
/// that sticks to the wall, `v = -l ∂v/∂n` with the outward normal.
///
/// ```text
/// u⁺ = (ρ⁻, ρv⁻ − 2 (ρv⁻·n) n, ρE⁻)           no mass passes, any numerical flux
/// u_b = u⁻ without normal momentum              as at a slip wall: the shear is not lifted
/// F_v·n = (0, (n·τn) n − (μ/l) v_b, 0)          no energy passes: friction heats the gas
/// ```
///
/// The friction takes `(μ/l) |v_b|²` of kinetic energy, so that no disturbance grows. With a length of 0 this
/// is a no-slip wall, with a large one a slip wall. Lengths much shorter than an element of order p divided
/// by (p + 1)² make explicit steps stiff.
///
/// # Source
/// Navier, *Mémoire sur les lois du mouvement des fluides*, Mém. Acad. R. Sci. Inst. France 6 (1823)
/// 389–440; Lauga, Brenner & Stone, *Microfluidics: the no-slip boundary condition*, Springer Handbook of
/// Experimental Fluid Mechanics (2007), eq. 19.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipLengthWall {
    /// The slip length.
    pub length: f64,
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for SlipLengthWall
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "slip-length-wall";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
        mirror(um, n)
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for SlipLengthWall
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
        let m = Euler::momentum::<R, D, N>(ub);
        let inverse = ub[0].recip();
        let internal = (R::lit(-0.5) * inverse).mul_add(dot(&m, &m), ub[N - 1]) * inverse;
        let friction = diffusion.viscosity_at(internal) * inverse / R::param("slip_length", self.length);
        let mut f = without_shear(diffusion, ub, grad, n);
        for d in 0..D {
            f[1 + d] = f[1 + d] - friction * m[d];
        }
        f
    }
}
