//! Solutions that move without changing: density waves in a gas, waves and pulses of a scalar, rest.

use super::Solution;
use super::vortex::{primitive_state, relative};
use crate::real::{Real, dot};
use std::f64::consts::TAU;

/// A plane sine wave's phase, `2π k·(x − V t)/ℓ`; `k` counts waves per length `ℓ`.
#[inline(always)]
fn phase<R: Real>(t: R, x: &[R; 3], waves: [f64; 3], velocity: [R; 3], length: f64) -> R {
    const NAMES: [&str; 3] = ["wave_x", "wave_y", "wave_z"];
    let k: [R; 3] = std::array::from_fn(|d| R::param(NAMES[d], waves[d] * TAU / length));
    let xi = relative(x, t, [R::lit(0.0); 3], velocity, [0.0; 3]);
    dot(&k, &xi)
}

/// Entropy wave of the Euler equations: `ρ = ρ₀ (1 + A sin(2π k·(x − V t)/ℓ))` with constant velocity and
/// pressure.
///
/// In two dimensions the third components of `V` and `k` are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyWave {
    /// Mean density `ρ₀`.
    pub density: f64,
    /// Relative amplitude `A`, below 1.
    pub amplitude: f64,
    /// Velocity `V`.
    pub velocity: [f64; 3],
    /// Pressure.
    pub pressure: f64,
    /// Waves per length in each direction, `k`.
    pub waves: [f64; 3],
    /// The length `ℓ`.
    pub length: f64,
}

impl EntropyWave {
    /// One wave per unit length in each of `dim` directions, unit velocities and pressure, amplitude 0.2.
    pub fn new(dim: usize) -> Self {
        let unit = std::array::from_fn(|d| if d < dim { 1.0 } else { 0.0 });
        Self { density: 1.0, amplitude: 0.2, velocity: unit, pressure: 1.0, waves: unit, length: 1.0 }
    }
}

impl<const N: usize> Solution<N> for EntropyWave {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        const NAMES: [&str; 3] = ["wave_u", "wave_v", "wave_w"];
        let velocity = std::array::from_fn(|d| R::param(NAMES[d], self.velocity[d]));
        let density = R::param("wave_density", self.density);
        let amplitude = R::param("wave_amplitude", self.amplitude);
        // In two dimensions nothing depends on z.
        let waves = std::array::from_fn(|d| if d < N - 2 { self.waves[d] } else { 0.0 });
        let s = phase(t, x, waves, velocity, self.length).sin();
        primitive_state(
            density * amplitude.mul_add(s, R::lit(1.0)),
            velocity,
            R::param("wave_pressure", self.pressure),
        )
    }
}

/// Sine wave of linear advection: `u = u₀ + A sin(2π k·(x − a t)/ℓ)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SineWave {
    /// Mean value `u₀`.
    pub mean: f64,
    /// Amplitude `A`.
    pub amplitude: f64,
    /// Velocity of the law, `a`.
    pub velocity: [f64; 3],
    /// Waves per length in each direction, `k`.
    pub waves: [f64; 3],
    /// The length `ℓ`.
    pub length: f64,
}

impl Solution<1> for SineWave {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; 1] {
        let s = phase(t, x, self.waves, self.velocity.map(R::lit), self.length).sin();
        let amplitude = R::param("wave_amplitude", self.amplitude);
        [amplitude.mul_add(s, R::param("wave_mean", self.mean))]
    }
}

/// Gaussian pulse of linear advection: `u = u₀ + A exp(−|x − x₀ − a t|²/(2σ²))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianPulse {
    /// Value far away, `u₀`.
    pub mean: f64,
    /// Height `A`.
    pub amplitude: f64,
    /// Width `σ`.
    pub width: f64,
    /// Velocity of the law, `a`.
    pub velocity: [f64; 3],
    /// Centre at `t = 0`.
    pub centre: [f64; 3],
    /// Periods of the domain; 0 if it is not periodic.
    pub period: [f64; 3],
    /// Number of space dimensions in which the distance is measured.
    pub dim: usize,
}

impl Solution<1> for GaussianPulse {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; 1] {
        let xi = relative(x, t, self.centre.map(R::lit), self.velocity.map(R::lit), self.period);
        let mut r2 = xi[0] * xi[0];
        for d in 1..self.dim {
            r2 = xi[d].mul_add(xi[d], r2);
        }
        let width = R::param("pulse_width", self.width);
        let shape = (R::lit(-0.5) * r2 / (width * width)).exp();
        [R::param("pulse_amplitude", self.amplitude).mul_add(shape, R::param("pulse_mean", self.mean))]
    }
}

/// A uniform, steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform<const N: usize> {
    /// Primitive unknowns.
    pub primitive: [f64; N],
}

impl<const N: usize> Solution<N> for Uniform<N> {
    fn primitive<R: Real>(&self, _t: R, _x: &[R; 3]) -> [R; N] {
        self.primitive.map(R::lit)
    }

    fn is_steady(&self) -> bool {
        true
    }
}
