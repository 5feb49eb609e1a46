//! Newton steps on a device.

use dgsuite_gpu::Vector as _;
use dgsuite_ops::{OpsError, PackScalar, Sample};
use dgsuite_timeint::NewtonStep;

use super::CudaEngine;
use crate::SystemError;
use crate::engine::{LargestRate, NewtonSteps, largest_of, relative_rates};
use crate::implicit::{Implicit, Response};
use crate::setup::{Newton, Setup};

impl<T: PackScalar> CudaEngine<T> {
    /// Prepares Newton steps.
    pub(crate) fn with_newton(mut self, setup: &Setup, newton: Newton) -> Result<Self, SystemError> {
        self.implicit = Some(Implicit::on_device(setup, newton, &self.discretization)?);
        Ok(self)
    }
}

impl<T: PackScalar> NewtonSteps for CudaEngine<T> {
    fn newton_step(&mut self, t: f64) -> Result<NewtonStep, OpsError> {
        let Some(implicit) = &mut self.implicit else { return Ok(NewtonStep::none()) };
        let state = implicit.parts().state(&mut self.discretization, t, &mut self.u)?;
        implicit.step(state)
    }

    fn response(&mut self, t: f64, rate: &[f64]) -> Result<Option<Response>, OpsError> {
        let Some(implicit) = &mut self.implicit else { return Ok(None) };
        let state = implicit.parts().state(&mut self.discretization, t, &mut self.u)?;
        implicit.response(state, rate).map(Some)
    }

    fn relative_rates(&mut self, t: f64, order: usize) -> Result<Vec<Sample>, OpsError> {
        let mut du = self.u.zeros_like()?;
        self.discretization.eval(t, self.u.buffer(), du.buffer_mut())?;
        self.discretization.time_step(self.u.buffer(), true)?;
        let (steps, du) = (self.discretization.local_steps()?, du.buffer().to_vec()?);
        Ok(relative_rates(self.description(), (&self.state(), &du), &steps, order))
    }

    fn largest_rate(&mut self, t: f64) -> Result<Option<LargestRate>, OpsError> {
        let order = self.description().order() + 1;
        let rates = self.relative_rates(t, order)?;
        Ok(largest_of(self.description(), &rates))
    }
}
