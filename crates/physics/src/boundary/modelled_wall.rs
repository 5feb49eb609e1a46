//! Viscous walls whose friction and heat flux a wall model gives.

use super::wall::{mirror, slide, without_shear};
use super::{AboveWall, Boundary};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};
use crate::wall_models::{self, WallModel};

/// Wall under a turbulent boundary layer that the mesh does not resolve: the gas slips along it, and the
/// [`WallModel`] gives the stress from the state at a height h above each point.
///
/// ```text
/// u⁺ = (ρ⁻, ρv⁻ − 2 (ρv⁻·n) n, ρE⁻)               no mass passes, any numerical flux
/// u_b = u⁻ without normal momentum                  as at a slip wall: the shear is not lifted
/// F_v·n = (0, (n·τn) n + t, t·v_w − q)              t = −(μ_w/h)(y⁺/u⁺) v_h
/// v_h: the velocity at h along the wall, less that of the wall, v_w
/// q = ρ_w c_p u_τ (T_h − T_w)/T⁺(y⁺), or 0          with a temperature T_w, or adiabatic
/// ```
///
/// Density and viscosity of the model are those of the wall: at the pressure of the height h, and at T_w, or
/// at an adiabatic wall at the temperature of the height h. The model holds for gases whose temperature
/// changes little across the layer, and where the layer between wall and height is in equilibrium.
///
/// The data of this condition are the numbers of [`AboveWall`]: `u_τ`, the stress, and the energy flux.
///
/// # Source
/// Larsson, Kawai, Bodart & Bermejo-Moreno, Mech. Eng. Rev. 3 (2016) 15-00418, §2 (equilibrium models and
/// the height); Lodato, Castonguay & Jameson, Flow Turbul. Combust. 92 (2014) 579–606 (the height in elements
/// of high order).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelledWall {
    /// The profile.
    pub model: WallModel,
    /// The temperature of the wall; `None` if it is adiabatic.
    pub temperature: Option<f64>,
    /// The velocity of the wall, of which the part along it counts; `None` at rest.
    pub velocity: Option<[f64; 3]>,
}

const VELOCITY: [&str; 3] = ["wall_velocity_x", "wall_velocity_y", "wall_velocity_z"];

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for ModelledWall
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

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for ModelledWall
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
        data: &[R; N],
    ) -> [R; N] {
        let mut f = without_shear(diffusion, ub, grad, n);
        for d in 0..D {
            f[1 + d] = f[1 + d] + data[1 + d];
        }
        f[N - 1] = data[N - 1];
        f
    }
}

impl<const D: usize, const N: usize> AboveWall<NavierStokes, D, N> for ModelledWall
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    #[inline(always)]
    fn wall_data<R: Real>(&self, diffusion: &NavierStokes, above: &[R; N], n: &[R; D], height: R) -> [R; N] {
        let inverse = above[0].recip();
        let m = Euler::momentum::<R, D, N>(above);
        let v = array!(D, |d| m[d] * inverse);
        let wall = self.velocity.map(|w| array!(D, |d| R::param(VELOCITY[d], w[d])));
        let relative = wall.map_or(v, |wall| array!(D, |d| v[d] - wall[d]));
        let normal = dot(&relative, n);
        let along = array!(D, |d| relative[d] - normal * n[d]);
        let speed = dot(&along, &along).sqrt_of_squares();
        let warm = R::lit(-0.5).mul_add(dot(&v, &v), above[N - 1] * inverse);
        let cold = self.temperature.map(|t| diffusion.internal_energy(R::param("wall_temperature", t)));
        let (energy, density) = match cold {
            Some(cold) => (cold, above[0] * warm / cold),
            None => (warm, above[0]),
        };
        let mu = diffusion.viscosity_at(energy);
        let nu = mu / density;
        let (y, u) = self.model.at(speed * height / nu);
        let friction = mu / height * y / u;
        let u_tau = y * nu / height;
        let mut data = [R::lit(0.0); N];
        data[0] = u_tau;
        for d in 0..D {
            data[1 + d] = -(friction * along[d]);
        }
        if let Some(cold) = cold {
            // c_p (T_h − T_w) = γ (e_h − e_w).
            let difference = R::param("gamma", diffusion.gas.gamma) * (warm - cold);
            let plus = wall_models::temperature(y, diffusion.prandtl);
            data[N - 1] = -(density * u_tau * difference / plus);
        }
        if let Some(wall) = wall {
            // The work of the stress.
            for d in 0..D {
                data[N - 1] = data[1 + d].mul_add(wall[d], data[N - 1]);
            }
        }
        data
    }
}
