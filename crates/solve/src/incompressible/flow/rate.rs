//! A prescribed flow rate: a uniform force that keeps the mean velocity along a direction.
//!
//! A step is affine in a uniform force `f e` per mass with the unit vector e. Let `u₀`, `p₀` be the result of
//! the step with the force `f₀` of the step before, and `w`, `π` its response: the step with the force e,
//! without past and with homogeneous boundary data. Then
//!
//! ```text
//! f = f₀ + (U − ⟨u₀·e⟩)/⟨w·e⟩,   u = u₀ + (f − f₀) w,   p = p₀ + (f − f₀) π
//! ```
//!
//! has the mean velocity U. The response depends on the leading coefficient `s = γ/Δt` alone; the penalties
//! act on `u₀` alone.

use super::{Flow, PROJECTIONS};
use crate::SystemError;
use crate::incompressible::components::Components;
use crate::incompressible::machine::Machine;
use crate::incompressible::mean::Mean;
use crate::setup::{FlowRate, Splitting};
use crate::solves::Driven;
use dgsuite_gpu::Vector;

/// The mean of the potential flow in the direction of the force, relative to the uniform flow, below which
/// the domain is closed in this direction.
const CLOSED: f64 = 1e-3;

/// The force with the response to it.
pub(super) struct Rate<V> {
    of: FlowRate,
    mean: Mean<V>,
    force: f64,
    response: Option<Response<V>>,
}

struct Response<V> {
    s: f64,
    velocity: Components<V>,
    pressure: V,
    /// `⟨w·e⟩`.
    mean: f64,
}

impl<V: Vector<Scalar = f64>> Rate<V> {
    /// A force of zero.
    pub(super) fn new(of: FlowRate, mean: Mean<V>) -> Self {
        Self { of, mean, force: 0.0, response: None }
    }

    /// `u ← u + a e`.
    fn add(&self, a: f64, u: &mut Components<V>) {
        for (u, e) in u.0.iter_mut().zip(self.of.direction) {
            u.axpby(a * e, &self.mean.one, 1.0);
        }
    }

    /// `⟨u·e⟩`.
    fn mean(&self, u: &Components<V>) -> f64 {
        u.0.iter().zip(self.of.direction).map(|(u, e)| e * self.mean.of(u)).sum()
    }
}

impl<M: Machine> Flow<M> {
    /// The mean velocity and the force of the last step, if the flow rate is prescribed.
    pub(in crate::incompressible) fn driven(&self) -> Option<Driven> {
        let after_step = !self.steps.sizes().is_empty();
        let u = self.before.as_ref().map_or(&self.u[0], |before| &before.u);
        self.rate.as_ref().map(|rate| Driven { mean: rate.mean(u), force: rate.force, after_step })
    }

    /// Sets the force with which the next step begins.
    pub(in crate::incompressible) fn set_force(&mut self, force: f64) {
        self.rate.iter_mut().for_each(|rate| rate.force = force);
    }

    /// `û ← û + f e/s`.
    pub(super) fn add_force(&mut self, s: f64) {
        if let Some(rate) = &self.rate {
            rate.add(rate.force / s, &mut self.work.hat);
        }
    }

    /// Adds a potential flow to the velocity of the start, so that it has the prescribed mean.
    pub(super) fn start_rate(&mut self, t: f64) -> Result<(), SystemError> {
        let Some(rate) = self.rate.take() else { return Ok(()) };
        self.work.hat.fill(0.0);
        rate.add(1.0, &mut self.work.hat);
        for _ in 0..PROJECTIONS {
            self.load_of_divergence(t, 1.0)?;
            self.work.phi.fill(0.0);
            self.solve_pressure(1.0)?;
            self.gradient(t)?;
            self.work.hat.axpby(1.0, &self.work.gradient, 1.0);
        }
        let mean = rate.mean(&self.work.hat);
        if mean < CLOSED || mean.is_nan() {
            return Err(SystemError::Closed { direction: rate.of.direction, mean });
        }
        let lacking = rate.of.mean - rate.mean(&self.u[0]);
        self.u[0].axpby(lacking / mean, &self.work.hat, 1.0);
        self.rate = Some(rate);
        Ok(())
    }

    /// Computes the response to the force for the leading coefficient `s`, if it is not known.
    pub(super) fn respond(&mut self, t: f64, s: f64) -> Result<(), SystemError> {
        let Some(mut rate) = self.rate.take() else { return Ok(()) };
        // Steps whose sizes differ by rounding have the same response, also after a restart.
        let s = f64::from(s as f32);
        if rate.response.as_ref().is_none_or(|known| known.s != s) {
            let counted = self.statistics.clone();
            self.step_by_force(&rate, t, s)?;
            // The counts are those of the steps.
            self.statistics = counted;
            let response = match rate.response.take() {
                Some(response) => response,
                None => Response {
                    s,
                    velocity: self.work.star.zeros_like()?,
                    pressure: self.work.phi.zeros_like()?,
                    mean: 0.0,
                },
            };
            let mean = rate.mean(&self.work.star);
            let mut response = Response { s, mean, ..response };
            response.velocity.copy_from(&self.work.star);
            response.pressure.copy_from(&self.work.phi);
            rate.response = Some(response);
        }
        self.rate = Some(rate);
        Ok(())
    }

    /// A step with the force e, without past and with homogeneous boundary data.
    fn step_by_force(&mut self, rate: &Rate<M::V>, t: f64, s: f64) -> Result<(), SystemError> {
        self.work.hat.fill(0.0);
        rate.add(1.0 / s, &mut self.work.hat);
        match self.law.splitting {
            Splitting::Dual => {
                self.load_of_divergence(t, s)?;
                self.work.phi.fill(0.0);
                self.solve_pressure(s)?;
                self.gradient(t)?;
                self.work.hat.axpby(1.0 / s, &self.work.gradient, 1.0);
                self.load_of_velocity(s);
                self.work.star.copy_from(&self.work.hat);
                self.solve_velocity(s)
            }
            Splitting::PressureCorrection { rotational } => {
                self.load_of_velocity(s);
                self.work.star.copy_from(&self.work.hat);
                self.solve_velocity(s)?;
                self.work.hat.copy_from(&self.work.star);
                self.load_of_divergence(t, s)?;
                if rotational {
                    self.machine.pressure_of_load(&self.work.load, &mut self.work.kept);
                }
                self.work.phi.fill(0.0);
                self.solve_pressure(s)?;
                self.gradient(t)?;
                self.work.star.axpby(1.0 / s, &self.work.gradient, 1.0);
                if rotational {
                    self.work.phi.axpby(self.law.viscosity / s, &self.work.kept, 1.0);
                }
                Ok(())
            }
        }
    }

    /// Changes the force of the step, so that the new velocity has the prescribed mean. Velocity and pressure
    /// are in `work.star` and `work.phi`.
    pub(super) fn hold_rate(&mut self) {
        let Some(rate) = &mut self.rate else { return };
        let lacking = rate.of.mean - rate.mean(&self.work.star);
        if let Some(response) = &rate.response {
            let change = lacking / response.mean;
            self.work.star.axpby(change, &response.velocity, 1.0);
            self.work.phi.axpby(change, &response.pressure, 1.0);
            rate.force += change;
        }
    }
}
