//! What an engine on a device can do beside steps: attempts, batches, limiters.

use super::batch::Batches;
use super::{CudaEngine, InTime};
use crate::engine::{Adaptive, Ahead, Limits, OneStep, RunsAhead, norms, perturbed};
use dgsuite_gpu::cuda::DeviceBuffer;
use dgsuite_gpu::{CudaVector, Vector as _};
use dgsuite_ops::cuda::Attempt;
use dgsuite_ops::{Limited, OpsError, PackScalar};

impl<T: PackScalar> Adaptive for CudaEngine<T> {
    fn weigh_errors(&mut self, weights: &[f64]) -> Result<(), OpsError> {
        if let Some(own) = &mut self.stages {
            return own.stages.weigh(weights);
        }
        let cuda = self.discretization.cuda().clone();
        let mut own = vec![T::ZERO; self.u.len()];
        // The lengths agree by construction.
        let _ = self.description().from_canonical_once(weights, &mut own);
        let buffer = DeviceBuffer::from_slice(&cuda, "weights of errors", &own)?;
        let control = self.discretization.control()?;
        self.weights = Some((CudaVector::from_buffer(&cuda, buffer)?, control));
        if self.description().is_limited() {
            self.stepper.estimate_from_rates()?;
        }
        Ok(())
    }

    fn lacks_weights(&self) -> bool {
        self.stages.as_ref().is_some_and(|own| !own.stages.is_weighted())
    }

    fn try_step(&mut self, t: f64, dt: f64) -> Result<f64, OpsError> {
        if let Some(outcome) = self.implicit_step(t, dt)? {
            let error = |own: &mut InTime| if outcome.is_some() { f64::NAN } else { own.stages.error(dt) };
            return Ok(self.stages.as_mut().map_or(f64::NAN, error));
        }
        if let Some((_, control)) = &mut self.weights {
            self.discretization.keep_sums(control)?;
        }
        self.make_step(t, dt, false)?;
        let (stepper, u) = (&mut self.stepper, &self.u);
        let errors = self.weights.as_ref().and_then(|(w, _)| stepper.weigh_error(u, w));
        errors.map_or(Ok(f64::NAN), |errors| self.discretization.norm(errors.buffer()))
    }

    fn undo_step(&mut self) {
        if self.stages.is_some() {
            // A failure of the device is reported by the next step.
            return drop(self.undo_implicit_step());
        }
        self.stepper.undo(&mut self.u);
        if let Some((_, control)) = &self.weights {
            // A failure of the device is reported by the next step.
            let _ = self.discretization.put_sums_back(control);
        }
    }
}

impl<T: PackScalar> OneStep for CudaEngine<T> {
    fn step_local(&mut self, t: f64, cfl: f64) -> Result<(), OpsError> {
        self.discretization.time_step(self.u.buffer(), true)?;
        self.make_step(t, cfl, true)
    }

    fn own_rate(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let mut du = self.u.zeros_like()?;
        self.discretization.eval(t, self.u.buffer(), du.buffer_mut())?;
        Ok(self.description().to_canonical(&du.buffer().to_vec()?))
    }

    fn rounding(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let cuda = self.discretization.cuda().clone();
        let state =
            DeviceBuffer::from_slice(&cuda, "the state", &perturbed(self.description(), &self.state()))?;
        let (mut du, mut moved) = (self.u.zeros_like()?, self.u.zeros_like()?);
        self.discretization.eval(t, &state, moved.buffer_mut())?;
        self.discretization.eval(t, self.u.buffer(), du.buffer_mut())?;
        du.axpby(-1.0, &moved, 1.0);
        Ok(norms(self.description(), &du.buffer().to_vec()?))
    }

    fn keep(&mut self) -> bool {
        // Large states may not leave enough memory.
        if self.kept.is_none() && Batches::<T>::vectors(self.u.len()) > 0 {
            self.kept = self.u.zeros_like().ok();
        }
        self.stages.iter_mut().for_each(|own| own.stages.keep());
        self.kept.as_mut().map(|kept| kept.copy_from(&self.u)).is_some()
    }

    fn go_back(&mut self) {
        if let Some(kept) = &self.kept {
            self.u.copy_from(kept);
            self.dt = None;
        }
        self.stages.iter_mut().for_each(|own| own.stages.go_back());
    }
}

impl<T: PackScalar> Limits for CudaEngine<T> {
    fn limited(&self) -> Option<Limited> {
        self.discretization.limited().ok().flatten()
    }

    fn least(&self) -> Option<[f64; 2]> {
        self.description().least(&self.state())
    }

    fn strengths(&self) -> Option<Vec<f32>> {
        self.discretization.strengths().ok().flatten()
    }

    fn sensors(&self) -> Option<Vec<f32>> {
        self.description().sensors(&self.state())
    }
}

impl<T: PackScalar> RunsAhead for CudaEngine<T> {
    fn can_run(&mut self) -> bool {
        self.stages.is_none() && self.can_run_ahead()
    }

    fn run(&mut self, steps: Ahead<'_>) -> Result<(), OpsError> {
        self.put_batch(steps)
    }

    fn finish(&mut self) -> Result<Option<Vec<f64>>, OpsError> {
        self.finish_batch()
    }

    fn finish_attempts(&mut self) -> Result<Vec<Attempt>, OpsError> {
        self.finish_attempts_of_batch()
    }

    fn undo(&mut self) -> Result<(), OpsError> {
        self.undo_batches()
    }
}
