//! A smooth gas flow in which all variables vary: a solution if a source term is added.

use super::Solution;
use super::vortex::primitive_state;
use crate::real::Real;
use std::f64::consts::TAU;

/// Waves of all primitive unknowns, each with its own direction, phase and direction in time. With a
/// manufactured source term they are a solution of any equations of a gas:
///
/// ```text
/// ρ = ρ₀ (1 + A sin φ₀),   v_i = V_i + A √(p₀/ρ₀) sin φ_i,   p = p₀ (1 + A sin φ₄)
/// φ_k = 2π (w_k·x/ℓ − s_k f t) + δ_k
/// ```
///
/// The wave vectors `w_k` have entries ±1 and `s_k = ±1`. Periodic with `ℓ`; no gradient of velocity or
/// temperature vanishes identically, and the velocity is not free of divergence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManufacturedGas {
    /// Mean density `ρ₀`.
    pub density: f64,
    /// Mean velocity `V`.
    pub velocity: [f64; 3],
    /// Mean pressure `p₀`.
    pub pressure: f64,
    /// Relative amplitude `A`, below 1.
    pub amplitude: f64,
    /// Period `ℓ` along each direction.
    pub length: f64,
    /// Oscillations per unit time `f`; 0 for a steady solution.
    pub frequency: f64,
}

impl ManufacturedGas {
    /// Unit density, pressure and length, `V = (0.5, 0.3, 0.4)`, `A = 0.1`, `f = 1`.
    pub fn new() -> Self {
        Self {
            density: 1.0,
            velocity: [0.5, 0.3, 0.4],
            pressure: 1.0,
            amplitude: 0.1,
            length: 1.0,
            frequency: 1.0,
        }
    }
}

impl Default for ManufacturedGas {
    fn default() -> Self {
        Self::new()
    }
}

/// Wave vector, direction in time and phase of density, three velocities and pressure.
const WAVES: [([f64; 3], f64, f64); 5] = [
    ([1.0, 1.0, -1.0], 1.0, 0.3),
    ([1.0, -1.0, 1.0], -1.0, 1.1),
    ([1.0, 1.0, 1.0], 1.0, 2.0),
    ([-1.0, 1.0, 1.0], -1.0, 0.7),
    ([1.0, -1.0, -1.0], 1.0, 2.6),
];

impl<const N: usize> Solution<N> for ManufacturedGas {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        const VELOCITY: [&str; 3] = ["manufactured_u", "manufactured_v", "manufactured_w"];
        let one = R::lit(1.0);
        let number = R::param("manufactured_wave", TAU / self.length);
        // With frequency zero, nothing must depend on time, also in recordings.
        let time = if self.frequency == 0.0 {
            R::lit(0.0)
        } else {
            R::param("manufactured_frequency", TAU * self.frequency) * t
        };
        let amplitude = R::param("manufactured_amplitude", self.amplitude);
        let density = R::param("manufactured_density", self.density);
        let pressure = R::param("manufactured_pressure", self.pressure);
        let wave = |k: usize| {
            let (w, sense, phase) = WAVES[k];
            // In two dimensions nothing depends on z.
            let mut along = R::lit(w[0]) * x[0] + R::lit(w[1]) * x[1];
            if N == 5 {
                along = along + R::lit(w[2]) * x[2];
            }
            amplitude * (number * along - R::lit(sense) * time + R::lit(phase)).sin()
        };
        let sound = (pressure / density).sqrt();
        let v = std::array::from_fn(|d| R::param(VELOCITY[d], self.velocity[d]) + sound * wave(1 + d));
        primitive_state(density * (one + wave(0)), v, pressure * (one + wave(4)))
    }

    fn is_steady(&self) -> bool {
        self.frequency == 0.0
    }
}
