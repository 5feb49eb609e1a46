//! Sub-steps of convection: past velocities are carried along by the flow, explicitly, over each step.
//!
//! With `u_i(t)` the velocity of time `tⁿ⁻ⁱ` after transport to the time t,
//!
//! ```text
//! ∂u_i/∂t + ∇·(ū ⊗ u_i) = 0,   u_i(tⁿ⁻ⁱ) = uⁿ⁻ⁱ,   R = Σ α_i u_i(tⁿ⁺¹)/Δt,
//! ```
//!
//! where ū interpolates the velocities of past times, and extrapolates them beyond `tⁿ`. The carried fields
//! are kept: each step continues all of them over the new interval.
//!
//! # Source
//! Karakus, Chalmers, Świrydowicz & Warburton, J. Comput. Phys. 390 (2019) 380–404, §2.3; Maday, Patera &
//! Rønquist, J. Sci. Comput. 5 (1990) 263–292.

use super::carrier::Carrier;
use super::components::Components;
use super::machine::{Machine, Pass};
use crate::SystemError;
use crate::setup::Subcycling;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::{OpsError, StepMeasure};
use dgsuite_timeint::{Multistep, Rhs, Scheme, Stepper};

/// The largest number of sub-steps in a step.
const MOST: f64 = 1000.0;

/// The scheme of the sub-steps.
pub(super) const SCHEME: Scheme = Scheme::Lserk54;

/// Quotients that exceed a whole number by this fraction of it are rounded down.
const SLACK: f64 = 1e-12;

/// The explicit steps of convection within each step of a flow.
pub(super) struct Subcycles<V: Vector> {
    of: Subcycling,
    order: usize,
    stepper: Stepper<Components<V>>,
    carrier: Components<V>,
}

impl<V: Vector<Scalar = f64>> Subcycles<V> {
    /// Sub-steps for polynomials of degree `order`.
    pub(super) fn new(of: Subcycling, order: usize, like: &Components<V>) -> Result<Self, GpuError> {
        let stepper = Stepper::new(SCHEME, like)?;
        Ok(Self { of, order, stepper, carrier: like.zeros_like()? })
    }

    /// The number of sub-steps in a step of size `dt`, where `stable` returns the step of the current
    /// velocity for the value 1 of a measure.
    pub(super) fn number(
        &self,
        dt: f64,
        stable: impl FnOnce(StepMeasure) -> Result<f64, OpsError>,
    ) -> Result<usize, SystemError> {
        let (measure, value) = match (self.of, self.of.bound(self.order)) {
            (Subcycling::Number(n), _) => return Ok(n.max(1)),
            (_, None) => return Ok(1),
            (_, Some(bound)) => bound,
        };
        let needed = (dt / (value * stable(measure)?) * (1.0 - SLACK)).ceil().max(1.0);
        if needed > MOST {
            return Err(SystemError::SubSteps { dt, needed, most: MOST });
        }
        Ok(needed as usize)
    }

    /// Carries `field` from `t` to `t + dt` by `steps` steps with the velocities `past` of the times before,
    /// the latest first.
    pub(super) fn carry<M: Machine<V = V>>(
        &mut self,
        machine: &mut M,
        (t, dt, steps): (f64, f64, usize),
        past: &[Components<V>],
        times: &Multistep,
        field: &mut Components<V>,
    ) -> Result<(), OpsError> {
        let Self { stepper, carrier, .. } = self;
        let mut carrier = Carrier { start: t, past, times, field: carrier, at: None };
        let (begins, size) = begins((t, dt, steps));
        if machine.carry(SCHEME, (&begins, size), &mut carrier, field)? {
            return Ok(());
        }
        let mut rhs = Transported { machine, carrier };
        for begin in begins {
            stepper.step(&mut rhs, begin, size, field)?;
        }
        Ok(())
    }
}

/// The times at which `steps` steps from `t` to `t + dt` begin, and their size.
pub(super) fn begins((t, dt, steps): (f64, f64, usize)) -> (Vec<f64>, f64) {
    let size = dt / steps as f64;
    ((0..steps).map(|k| t + k as f64 * size).collect(), size)
}

/// `−∇·(ū ⊗ u)`.
struct Transported<'a, M: Machine> {
    machine: &'a mut M,
    carrier: Carrier<'a, M::V>,
}

impl<M: Machine> Rhs for Transported<'_, M> {
    type Vector = Components<M::V>;
    type Error = OpsError;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), OpsError> {
        let inputs: Vec<_> = u.0.iter().chain(self.carrier.at(t)).enumerate().collect();
        let mut outputs: Vec<_> = du.0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Transport, t, &inputs, &mut outputs)
    }
}
