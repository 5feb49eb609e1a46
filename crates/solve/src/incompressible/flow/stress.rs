//! The stress of a closure, and of a viscosity and diffusivities that vary, an explicit term of each step.
//!
//! With the eddy viscosity `ν_t` of a closure a step has the further terms
//!
//! ```text
//! Σ β_i ∇·(ν_t (∇u + ∇uᵀ))ⁿ⁻ⁱ,   of a scalar Σ β_i ∇·(ν_t/Pr_t ∇T)ⁿ⁻ⁱ
//! ```
//!
//! to which a fluid whose viscosity ν and diffusivities α vary adds `ν − ν₀` and `α − α₀`.
//!
//! beside convection. With sub-steps they are forces of the whole step, which are not carried along. The
//! constant viscosity and diffusivity stay implicit, and the pressure bears what the divergence of these
//! terms is, at walls too: its problem has them in û, with the prescribed velocity on the boundary.

use super::Flow;
use crate::incompressible::machine::{Machine, Pass};
use crate::incompressible::scalars::stress::Stress;
use dgsuite_ops::{OpsError, StepMeasure};

impl<M: Machine> Flow<M> {
    /// The stress of a closure.
    pub(in crate::incompressible) fn stress(&self) -> Option<&Stress<M::V>> {
        self.stress.as_ref()
    }

    /// Replaces its fields of the times before the latest.
    pub(in crate::incompressible) fn set_past_stress(&mut self, fields: Vec<M::V>) {
        if let Some(stress) = &mut self.stress {
            let own = stress.past_mut();
            own.zip(fields).for_each(|(own, field)| *own = field);
        }
    }

    /// Computes the stress of the current velocity.
    pub(super) fn find_stress(&mut self, t: f64) -> Result<(), OpsError> {
        let Some(stress) = &mut self.stress else { return Ok(()) };
        let scalars = self.scalars.iter().map(|scalar| &scalar.values[0]);
        let inputs: Vec<_> = self.u[0].0.iter().chain(scalars).enumerate().collect();
        let mut outputs: Vec<_> = stress.terms[0].0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Stress, t, &inputs, &mut outputs)
    }

    /// The step of all explicit terms of the current state for the value 1 of a measure: with `1/Δt` the sum
    /// of those of convection and stress. The value at which convection alone is stable is that at which the
    /// stress alone is.
    pub(in crate::incompressible) fn stable_dt(&mut self, measure: StepMeasure) -> Result<f64, OpsError> {
        let convection = self.convective_dt(measure)?;
        if self.stress.is_none() {
            return Ok(convection);
        }
        // Sub-steps whose number follows from a CFL number do not bound the step.
        let largest = self.law.stable_radius(self.machine.elliptics().nodes.order());
        let largest = if largest.is_finite() { largest } else { 1.0 };
        let stress = self.largest_step_of_stress(measure)? / largest;
        Ok((convection.recip() + stress.recip()).recip())
    }

    /// The largest stable step of the stress; infinite without one, or where the implicit viscosity makes all
    /// steps stable. In other measures than the spectral radius it stands for the value of that.
    pub(in crate::incompressible) fn largest_step_of_stress(
        &mut self,
        measure: StepMeasure,
    ) -> Result<f64, OpsError> {
        if self.stress.is_none() {
            return Ok(f64::INFINITY);
        }
        let scalars = self.scalars.iter().map(|scalar| &scalar.values[0]);
        let fields: Vec<_> = self.u[0].0.iter().chain(scalars).collect();
        let unit = self.machine.stable_step(Pass::Stress, &fields, measure)?;
        Ok(self.law.explicit_diffusion() * unit)
    }
}
