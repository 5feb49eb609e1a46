//! Viscous walls, adiabatic or isothermal, at rest or moving.

use super::wall::mirror;
use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// The thermal condition of a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WallHeat {
    /// No heat flux.
    Adiabatic,
    /// The wall has this temperature, `e_w = R T_w/(γ − 1)`. The gas constant is that of [`NavierStokes`],
    /// also with a constant viscosity.
    Isothermal {
        /// The temperature of the wall; if prescribed, the last entry of the data.
        temperature: Given,
    },
}

/// Wall without slip, at rest or moving along itself with velocity `v_w`.
///
/// ```text
/// u⁺ = (ρ⁻, ρv⁻ − 2 (ρv⁻·n) n, ρE⁻)                          no mass passes, any numerical flux
/// u_b = (ρ⁻, ρ⁻ v_w, ρ⁻ (e_b + ½ |v_w|²))                     e_b = e⁻ (adiabatic) or e_w (isothermal)
/// F_v·n = (0, τn, τn·v_w − q_n)                               τ, q_n from u_b and ∇u; q_n = 0 (adiabatic)
/// ```
///
/// Friction belongs to the diffusive part alone, so the convective flux is that of a
/// [`SlipWall`](super::SlipWall).
///
/// # Source
/// Hartmann & Houston, Int. J. Numer. Anal. Model. 3 (2006) 1–20, §3 (the boundary function `u_Γ` and the
/// adiabatic flux).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoSlipWall {
    /// Adiabatic or isothermal.
    pub heat: WallHeat,
    /// Velocity of a moving wall; if prescribed, component `d` is entry `1 + d` of the data. Only its
    /// tangential component counts, because the wall does not change its place. `None` means at rest.
    pub velocity: Option<[Given; 3]>,
}

impl NoSlipWall {
    /// Tangential velocity of the wall.
    #[inline(always)]
    fn velocity<R: Real, const D: usize, const N: usize>(&self, n: &[R; D], data: &[R; N]) -> [R; D] {
        const NAMES: [&str; 3] = ["wall_u", "wall_v", "wall_w"];
        let Some(velocity) = self.velocity else { return [R::lit(0.0); D] };
        let v = array!(D, |d| velocity[d].value(NAMES[d], data[1 + d]));
        let vn = dot(&v, n);
        array!(D, |d| v[d] - vn * n[d])
    }
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for NoSlipWall
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "no-slip-wall";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Euler, um: &[R; N], n: &[R; D], _data: &[R; N]) -> [R; N] {
        mirror(um, n)
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for NoSlipWall
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    #[inline(always)]
    fn face_state<R: Real>(
        &self,
        diffusion: &NavierStokes,
        um: &[R; N],
        n: &[R; D],
        data: &[R; N],
    ) -> [R; N] {
        let v = self.velocity(n, data);
        let m = Euler::momentum::<R, D, N>(um);
        let thermal = match self.heat {
            WallHeat::Adiabatic => (R::lit(-0.5) * um[0].recip()).mul_add(dot(&m, &m), um[N - 1]),
            WallHeat::Isothermal { temperature } => {
                um[0] * diffusion.internal_energy(temperature.value("wall_temperature", data[N - 1]))
            }
        };
        let mut ub = *um;
        for d in 0..D {
            ub[1 + d] = um[0] * v[d];
        }
        ub[N - 1] = (R::lit(0.5) * um[0]).mul_add(dot(&v, &v), thermal);
        ub
    }

    #[inline(always)]
    fn normal_flux<R: Real>(
        &self,
        diffusion: &NavierStokes,
        _um: &[R; N],
        ub: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        data: &[R; N],
    ) -> [R; N] {
        let mut f = diffusion.normal_diffusive_flux(ub, grad, n);
        if self.heat == WallHeat::Adiabatic {
            f[N - 1] = dot(&Euler::momentum::<R, D, N>(&f), &self.velocity(n, data));
        }
        f
    }
}
