//! States on a device in implicit steps in time.

use std::sync::Arc;

use dgsuite_gpu::cuda::DeviceBuffer;
use dgsuite_gpu::{CudaVector, GpuError, Vector as _};
use dgsuite_ops::cuda::{CudaDiscretization, Measures};
use dgsuite_ops::{OpsError, PackScalar};

use super::{DeviceParts, Moves};
use crate::implicit::parts::Marching;

/// What had passed the boundary at the start of a step, and of a stage.
pub(crate) struct SumsBefore {
    step: DeviceBuffer<f64>,
    stage: DeviceBuffer<f64>,
}

impl SumsBefore {
    pub(crate) fn new<T: PackScalar>(d: &CudaDiscretization<T>) -> Result<Self, GpuError> {
        let zeros = || DeviceBuffer::zeros(d.cuda(), "boundary fluxes", d.sums().len());
        Ok(Self { step: zeros()?, stage: zeros()? })
    }
}

/// A state on a device in implicit steps in time. The device adds up what passes the boundary: with the last
/// rate of each stage, as those before are taken back.
pub(crate) struct DeviceMarch<'a, T: PackScalar> {
    d: &'a mut CudaDiscretization<T>,
    u: &'a mut CudaVector<T>,
    before: &'a mut SumsBefore,
    measures: &'a mut Measures,
    /// A state and its rate in the order of the device.
    state: CudaVector<T>,
    rate: CudaVector<T>,
    moves: Arc<Moves>,
    /// The weight of the fluxes of the present stage.
    weight: f64,
}

impl DeviceParts {
    /// A state in implicit steps in time.
    pub(crate) fn march<'a, T: PackScalar>(
        &self,
        d: &'a mut CudaDiscretization<T>,
        u: &'a mut CudaVector<T>,
        before: &'a mut SumsBefore,
        measures: &'a mut Measures,
    ) -> Result<DeviceMarch<'a, T>, GpuError> {
        let (state, rate) = (u.zeros_like()?, u.zeros_like()?);
        let moves = Arc::clone(&self.moves);
        Ok(DeviceMarch { d, u, before, measures, state, rate, moves, weight: 0.0 })
    }
}

impl<T: PackScalar> Marching<DeviceParts> for DeviceMarch<'_, T> {
    fn begin(&mut self, dt: f64, u: &mut CudaVector<f64>) -> Result<(), OpsError> {
        self.d.set_step(dt)?;
        self.before.step.copy_from(self.d.sums(), self.d.cuda().stream())?;
        Ok(self.moves.collect(self.u, 0, u)?)
    }

    fn set(&mut self, u: &CudaVector<f64>) -> Result<(), OpsError> {
        Ok(self.moves.move_state(u, 0.0, u, self.u)?)
    }

    fn begin_stage(&mut self, weight: f64) -> Result<(), OpsError> {
        self.weight = weight;
        Ok(self.before.stage.copy_from(self.d.sums(), self.d.cuda().stream())?)
    }

    fn take_back(&mut self) -> Result<(), OpsError> {
        Ok(self.d.restore_sums(&self.before.step)?)
    }

    fn rate(
        &mut self,
        _parts: &DeviceParts,
        t: f64,
        u: &CudaVector<f64>,
        du: &mut CudaVector<f64>,
    ) -> Result<bool, OpsError> {
        self.moves.move_state(u, 0.0, u, &mut self.state)?;
        match self.d.time_step(self.state.buffer(), false) {
            Ok(_) => {}
            Err(OpsError::State { .. }) => return Ok(false),
            Err(other) => return Err(other),
        }
        self.d.restore_sums(&self.before.stage)?;
        self.d.eval_with_integrals(t, self.weight, self.state.buffer(), self.rate.buffer_mut())?;
        self.moves.collect(&self.rate, 0, du)?;
        // Bad values between the points that bound the step show here.
        Ok(du.norm2().is_finite())
    }

    fn totals(&mut self, of: &CudaVector<f64>) -> Result<Vec<f64>, OpsError> {
        self.moves.move_state(of, 0.0, of, &mut self.state)?;
        if let Some(totals) = self.d.totals(self.measures, self.state.buffer(), false) {
            return Ok(totals);
        }
        Ok(self.d.description().totals(&self.state.buffer().to_vec()?))
    }
}
