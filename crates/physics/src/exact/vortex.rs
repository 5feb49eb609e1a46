//! Isentropic vortices: smooth exact solutions of the Euler equations, carried by the flow.

use super::Solution;
use crate::euler::Euler;
use crate::real::{Real, dot};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Distance from a centre that started at `origin` and moves with `velocity`: `x − x₀ − V t`, in each
/// direction with a period (above zero) wrapped to the nearest image, `[−P/2, P/2)`.
#[inline(always)]
pub(super) fn relative<R: Real>(
    x: &[R; 3],
    t: R,
    origin: [R; 3],
    velocity: [R; 3],
    period: [f64; 3],
) -> [R; 3] {
    std::array::from_fn(|d| {
        let xi = x[d] - origin[d] - velocity[d] * t;
        if period[d] > 0.0 {
            let turns = (xi * R::lit(1.0 / period[d]) + R::lit(0.5)).floor();
            xi - R::lit(period[d]) * turns
        } else {
            xi
        }
    })
}

/// Primitive state in two or three dimensions; without the third velocity if `N = 4`.
#[inline(always)]
pub(super) fn primitive_state<R: Real, const N: usize>(rho: R, v: [R; 3], p: R) -> [R; N] {
    const { assert!(N == 4 || N == 5, "an Euler state in 2D or 3D") };
    std::array::from_fn(|k| {
        if k == 0 {
            rho
        } else if k == N - 1 {
            p
        } else {
            v[k - 1]
        }
    })
}

/// Isentropic vortex with a Gaussian of half the usual exponent in the swirl velocity:
///
/// ```text
/// ξ = x − x₀ − V∞ t,  r = |ξ|/r_c,  f₀ = 1 − r²
/// T/T∞ = 1 − ε² (γ−1) M∞² e^{f₀} / (8π²),   swirl s = ε |V∞| e^{f₀/2} / (2π r_c)
/// ρ = ρ∞ (T/T∞)^{1/(γ−1)},  u = U∞ − s ξ_y,  v = V∞ + s ξ_x,  p = p∞ (T/T∞)^{γ/(γ−1)}
/// p∞ = ρ∞ |V∞|² / (γ M∞²)
/// ```
///
/// In three dimensions it is extruded along z.
///
/// # Source
/// A member of the family surveyed by Spiegel, Huynh & DeBonis in AIAA 2015-2444.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsentropicVortex {
    /// The gas.
    pub gas: Euler,
    /// Mach number of the free stream `M∞`.
    pub mach: f64,
    /// Strength `ε`.
    pub epsilon: f64,
    /// Core radius `r_c`.
    pub radius: f64,
    /// Density of the free stream.
    pub density: f64,
    /// Velocity of the free stream, not zero; its third component moves the vortex along its own axis.
    pub velocity: [f64; 3],
    /// Centre at `t = 0`.
    pub centre: [f64; 3],
    /// Periods of the domain; 0 if it is not periodic.
    pub period: [f64; 3],
}

impl IsentropicVortex {
    /// `M∞ = ½`, `ε = 0.3`, unit radius, density and speed, moving along the diagonal from the origin.
    pub fn new(gas: Euler) -> Self {
        Self {
            gas,
            mach: 0.5,
            epsilon: 0.3,
            radius: 1.0,
            density: 1.0,
            velocity: [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0],
            centre: [0.0; 3],
            period: [0.0; 3],
        }
    }
}

impl<const N: usize> Solution<N> for IsentropicVortex {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        const VELOCITY: [&str; 3] = ["vortex_u", "vortex_v", "vortex_w"];
        const CENTRE: [&str; 3] = ["vortex_x", "vortex_y", "vortex_z"];
        let (one, half) = (R::lit(1.0), R::lit(0.5));
        let velocity: [R; 3] = std::array::from_fn(|d| R::param(VELOCITY[d], self.velocity[d]));
        let centre = std::array::from_fn(|d| R::param(CENTRE[d], self.centre[d]));
        let mach = R::param("vortex_mach", self.mach);
        let epsilon = R::param("vortex_epsilon", self.epsilon);
        let radius = R::param("vortex_radius", self.radius);
        let density = R::param("vortex_density", self.density);
        let g1 = self.gas.gamma_minus_one::<R>();

        let xi = relative(x, t, centre, velocity, self.period);
        let r2 = (xi[0] * xi[0] + xi[1] * xi[1]) / (radius * radius);
        let f0 = one - r2;
        let q2 = velocity[0] * velocity[0] + velocity[1] * velocity[1];
        let em = epsilon * mach;
        let temperature = one - em * em * g1 * R::lit(1.0 / (8.0 * PI * PI)) * f0.exp();
        let swirl = epsilon * q2.sqrt() * R::lit(0.5 / PI) / radius * (half * f0).exp();
        let p_inf = density * q2 / (self.gas.gamma::<R>() * mach * mach);
        // p/p∞ = (ρ/ρ∞) (T/T∞): one power instead of two.
        let compression = temperature.powf(g1.recip());
        let v = [velocity[0] - swirl * xi[1], velocity[1] + swirl * xi[0], velocity[2]];
        primitive_state(density * compression, v, p_inf * compression * temperature)
    }
}

/// Isentropic vortex in the form common in discontinuous Galerkin papers, `p = ρ^γ`:
///
/// ```text
/// ξ = x − x₀ − V t,  r² = ξ_x² + ξ_y²,  f = β e^{1−r²} / (2π)
/// T = 1 − (γ−1) f² / (4γ),  ρ = T^{1/(γ−1)},  u = U − f ξ_y,  v = V + f ξ_x,  p = ρ^γ
/// ```
///
/// In three dimensions it is extruded along z.
///
/// # Source
/// Hesthaven & Warburton, *Nodal Discontinuous Galerkin Methods*, 2008, §6.6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaVortex {
    /// The gas.
    pub gas: Euler,
    /// Strength `β`.
    pub beta: f64,
    /// Velocity of the free stream.
    pub velocity: [f64; 3],
    /// Centre at `t = 0`.
    pub centre: [f64; 3],
    /// Periods of the domain; 0 if it is not periodic.
    pub period: [f64; 3],
}

impl BetaVortex {
    /// `β = 5`, moving with unit speed along x from `(5, 0)`.
    pub fn new(gas: Euler) -> Self {
        Self { gas, beta: 5.0, velocity: [1.0, 0.0, 0.0], centre: [5.0, 0.0, 0.0], period: [0.0; 3] }
    }
}

impl<const N: usize> Solution<N> for BetaVortex {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let tube = VortexTube {
            gas: self.gas,
            beta: self.beta,
            jet: 0.0,
            velocity: self.velocity,
            centre: self.centre,
            axis: [0.0, 0.0, 1.0],
            period: self.period,
        };
        tube.primitive(t, x)
    }
}

/// Smooth solution in three dimensions: the vortex of [`BetaVortex`] about any axis `a`, with a jet along it:
///
/// ```text
/// ξ = x − x₀ − V t,  r² = |ξ|² − (a·ξ)²,  f = β e^{1−r²} / (2π)
/// T = 1 − (γ−1) f² / (4γ),  ρ = T^{1/(γ−1)},  v = V + f a × ξ + j e^{(1−r²)/2} a,  p = ρ^γ
/// ```
///
/// The jet depends only on the distance from the axis, which the swirl does not change, so it is carried
/// without changing: the solution is exact for every `β`, `j`, `a` and `V`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VortexTube {
    /// The gas.
    pub gas: Euler,
    /// Strength `β` of the swirl.
    pub beta: f64,
    /// Strength `j` of the jet.
    pub jet: f64,
    /// Velocity of the free stream.
    pub velocity: [f64; 3],
    /// A point of the axis at `t = 0`.
    pub centre: [f64; 3],
    /// Direction of the axis, of unit length.
    pub axis: [f64; 3],
    /// Periods of the domain; 0 if it is not periodic. A tube can be periodic only along x, y or z.
    pub period: [f64; 3],
}

impl VortexTube {
    /// `β = 1`, `j = ½`, axis along the space diagonal through the origin, moving with `(1, ½, ¼)`.
    pub fn new(gas: Euler) -> Self {
        Self {
            gas,
            beta: 1.0,
            jet: 0.5,
            velocity: [1.0, 0.5, 0.25],
            centre: [0.0; 3],
            axis: [1.0 / 3f64.sqrt(); 3],
            period: [0.0; 3],
        }
    }
}

impl<const N: usize> Solution<N> for VortexTube {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        const VELOCITY: [&str; 3] = ["vortex_u", "vortex_v", "vortex_w"];
        const CENTRE: [&str; 3] = ["vortex_x", "vortex_y", "vortex_z"];
        let one = R::lit(1.0);
        let velocity: [R; 3] = std::array::from_fn(|d| R::param(VELOCITY[d], self.velocity[d]));
        let centre = std::array::from_fn(|d| R::param(CENTRE[d], self.centre[d]));
        let axis: [R; 3] = self.axis.map(R::lit);
        let g1 = self.gas.gamma_minus_one::<R>();
        let gamma = self.gas.gamma::<R>();

        let xi = relative(x, t, centre, velocity, self.period);
        // a × ξ is as long as the distance from the axis; for a literal axis its zeros are simplified in
        // recordings.
        let turn = [
            axis[1] * xi[2] - axis[2] * xi[1],
            axis[2] * xi[0] - axis[0] * xi[2],
            axis[0] * xi[1] - axis[1] * xi[0],
        ];
        let f0 = one - dot(&turn, &turn);
        let f = R::param("vortex_beta", self.beta) * R::lit(0.5 / PI) * f0.exp();
        let temperature = one - g1 * R::lit(0.25) / gamma * f * f;
        let rho = temperature.powf(g1.recip());
        let mut v: [R; 3] = std::array::from_fn(|d| f.mul_add(turn[d], velocity[d]));
        if self.jet != 0.0 {
            let jet = R::param("vortex_jet", self.jet) * (R::lit(0.5) * f0).exp();
            v = std::array::from_fn(|d| jet.mul_add(axis[d], v[d]));
        }
        primitive_state(rho, v, rho * temperature)
    }
}
