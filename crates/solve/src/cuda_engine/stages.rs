//! Implicit steps in time on a device.

use dgsuite_ops::{OpsError, PackScalar};
use dgsuite_timeint::StageFailure;

use super::{CudaEngine, DeviceParts, Stages};
use crate::SystemError;
use crate::implicit::SumsBefore;
use crate::setup::{ImplicitSteps, Setup};

/// Implicit steps, with what had passed the boundary before.
pub(super) struct InTime {
    pub(super) stages: Stages<DeviceParts>,
    before: SumsBefore,
}

impl<T: PackScalar> CudaEngine<T> {
    /// Prepares implicit steps in time.
    pub(crate) fn with_stages(mut self, setup: &Setup, steps: ImplicitSteps) -> Result<Self, SystemError> {
        let before = SumsBefore::new(&self.discretization)?;
        self.stages = Some(InTime { stages: Stages::on_device(setup, steps, &self.discretization)?, before });
        Ok(self)
    }

    /// Takes an implicit step, if there are such steps; the failure is that of a stage without a solution,
    /// and leaves the state.
    pub(super) fn implicit_step(
        &mut self,
        t: f64,
        dt: f64,
    ) -> Result<Option<Option<StageFailure>>, OpsError> {
        let Some(InTime { stages, before }) = &mut self.stages else { return Ok(None) };
        let (d, measures) = (&mut self.discretization, self.measures.get_mut());
        let march = stages.parts().march(d, &mut self.u, before, measures)?;
        stages.step(march, t, dt).map(Some)
    }

    /// Undoes the last implicit step.
    pub(super) fn undo_implicit_step(&mut self) -> Result<(), OpsError> {
        let Some(InTime { stages, before }) = &mut self.stages else { return Ok(()) };
        let (d, measures) = (&mut self.discretization, self.measures.get_mut());
        let march = stages.parts().march(d, &mut self.u, before, measures)?;
        stages.undo(march)
    }
}
