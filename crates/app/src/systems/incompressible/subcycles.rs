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

use super::components::Components;
use super::machine::{Machine, Pass};
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::OpsError;
use dgsuite_timeint::{Multistep, Rhs, Scheme, Stepper};

/// The explicit steps of convection within each step of a flow.
pub(super) struct Subcycles<V: Vector> {
    steps: usize,
    stepper: Stepper<Components<V>>,
    carrier: Components<V>,
}

impl<V: Vector<Scalar = f64>> Subcycles<V> {
    pub(super) fn new(steps: usize, like: &Components<V>) -> Result<Self, GpuError> {
        let stepper = Stepper::new(Scheme::Lserk54, like)?;
        Ok(Self { steps: steps.max(1), stepper, carrier: like.zeros_like()? })
    }

    /// Carries `field` from `t` to `t + dt` with the velocities `past` of the times before, the latest first.
    pub(super) fn carry<M: Machine<V = V>>(
        &mut self,
        machine: &mut M,
        (t, dt): (f64, f64),
        past: &[Components<V>],
        times: &Multistep,
        field: &mut Components<V>,
    ) -> Result<(), OpsError> {
        let Self { steps, stepper, carrier } = self;
        let mut rhs = Transported { machine, start: t, past, times, carrier, at: None };
        let size = dt / *steps as f64;
        for k in 0..*steps {
            stepper.step(&mut rhs, t + k as f64 * size, size, field)?;
        }
        Ok(())
    }
}

/// `−∇·(ū ⊗ u)`.
struct Transported<'a, M: Machine> {
    machine: &'a mut M,
    start: f64,
    past: &'a [Components<M::V>],
    times: &'a Multistep,
    /// ū at the time in `at`.
    carrier: &'a mut Components<M::V>,
    at: Option<f64>,
}

impl<M: Machine> Rhs for Transported<'_, M> {
    type Vector = Components<M::V>;
    type Error = OpsError;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), OpsError> {
        if self.at != Some(t) {
            let weights = self.times.interpolation(t - self.start, self.times.available_order());
            let terms: Vec<_> =
                self.past.iter().zip(&weights).filter(|(_, w)| **w != 0.0).map(|(u, w)| (*w, u)).collect();
            self.carrier.lincomb(0.0, &terms);
            self.at = Some(t);
        }
        let inputs: Vec<_> = u.0.iter().chain(&self.carrier.0).enumerate().collect();
        let mut outputs: Vec<_> = du.0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Transport, t, &inputs, &mut outputs)
    }
}
