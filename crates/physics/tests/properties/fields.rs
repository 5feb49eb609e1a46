//! Random gas states with their gradients, and gases with viscosity.

use crate::states::*;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::{Diffusion, Dual, Euler, Law, NavierStokes};
use proptest::prelude::*;

pub(crate) const MU: f64 = 0.3;
pub(crate) const CONSTANT: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Constant { mu: MU },
    gas_constant: f64::NAN,
    closure: None,
};
/// A gas with constant viscosity and a gas constant: that of Gao et al.'s Couette flow, Mach 0.1 at a wall of
/// T = 0.85.
pub(crate) const VISCOUS: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Constant { mu: 0.02 },
    gas_constant: 100.0 / (1.4 * 0.85),
    closure: None,
};
pub(crate) const SUTHERLAND: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Sutherland { mu_ref: 0.2, t_ref: 1.5, s: 0.6 },
    gas_constant: 0.8,
    closure: None,
};
pub(crate) const POWER: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.9,
    viscosity: Viscosity::PowerLaw { mu_ref: 0.2, t_ref: 1.5, exponent: 0.7 },
    gas_constant: 0.8,
    closure: None,
};

/// A state with the gradients of its density, velocities and pressure: `w[d] = (∂ρ, ∂v₀, ∂v₁, ∂v₂, ∂p)/∂x_d`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) gas: Gas,
    pub(crate) slopes: [[f64; 5]; 3],
}

pub(crate) fn field() -> impl Strategy<Value = Field> {
    let slopes = prop::array::uniform3(prop::array::uniform5(-1.0..1.0f64));
    (gas(), slopes).prop_map(|(gas, slopes)| Field { gas, slopes })
}

impl Field {
    /// Conserved state and its gradient, differentiated by dual numbers.
    pub(crate) fn conserved<const D: usize, const N: usize>(&self) -> ([f64; N], [[f64; N]; D])
    where
        Euler: Law<D, N>,
    {
        let grad = std::array::from_fn(|d| {
            let s = &self.slopes[d];
            let w: [Dual<f64>; N] = std::array::from_fn(|k| match k {
                0 => Dual::new(self.gas.rho, s[0] * self.gas.rho),
                k if k == N - 1 => Dual::new(self.gas.p, s[4] * self.gas.p),
                k => Dual::new(self.gas.v[k - 1], s[k]),
            });
            GAS.to_conserved(&w).map(|x| x.derivative)
        });
        (self.gas.state::<D, N>(), grad)
    }

    /// Adds a constant velocity.
    pub(crate) fn boosted(mut self, w: [f64; 3]) -> Self {
        self.gas.v = std::array::from_fn(|d| self.gas.v[d] + w[d]);
        self
    }

    /// The scale of rounding errors of the diffusive flux.
    pub(crate) fn scale<const D: usize, const N: usize>(&self, ns: &NavierStokes) -> [f64; N]
    where
        NavierStokes: Diffusion<D, N>,
        Euler: Law<D, N>,
    {
        let (u, _) = self.conserved::<D, N>();
        let mu = u[0] * ns.diffusivity(&u);
        let speed = 1.0 + self.gas.v.iter().map(|v| v.abs()).sum::<f64>() + self.gas.c();
        std::array::from_fn(|k| mu * if k == N - 1 { 16.0 * speed * speed } else { 16.0 * speed })
    }
}
