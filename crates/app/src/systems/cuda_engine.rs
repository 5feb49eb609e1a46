//! A conservation law on an NVIDIA device: the state, the stages and the step bound stay there.

use super::engine::{Described, Engine, norms, perturbed};
use dgsuite_basis::Representation;
use dgsuite_gpu::cuda::{DeviceBuffer, Graph};
use dgsuite_gpu::{CudaVector, GpuError, Vector as _};
use dgsuite_ops::cuda::{CudaDiscretization, StageAddresses};
use dgsuite_ops::{BoundarySamples, Discretization, Norms, OpsError, PackScalar, Sample, StageWeights};
use dgsuite_physics::Exact;
use dgsuite_timeint::{Rhs, RunningSum, Scheme, Stage, Stepper};
use std::convert::Infallible;

impl<T: PackScalar> Described for CudaDiscretization<T> {
    fn dofs(&self) -> usize {
        self.description().dofs()
    }
    fn bytes(&self) -> usize {
        self.bytes()
    }
    fn summary(&self) -> Vec<dgsuite_ops::PartSummary> {
        self.description().summary()
    }
    fn kernel(&self) -> String {
        self.cuda().info().architecture()
    }
    fn device_name(&self) -> String {
        self.cuda().info().name.clone()
    }
    fn representation(&self) -> Representation {
        self.description().representation()
    }
    fn to_primitive(&self, u: &[f64], w: &mut [f64]) {
        self.description().physics().to_primitive(u, w);
    }
}

/// One stage as work for the device: what to do with which arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StageCall {
    /// Shares of the stage's time in the step, and of its boundary fluxes in the step's.
    time: f64,
    share: f64,
    /// The step in these weights is 0: the device knows its size.
    weights: StageWeights,
    at: StageAddresses,
    /// Factors and address of the running sum.
    sum: Option<([f64; 3], u64)>,
}

/// A right-hand side that does nothing but write down what a stepper asks of it.
struct Recorder<T: PackScalar> {
    calls: Vec<StageCall>,
    t: f64,
    dt: f64,
    shares: Vec<f64>,
    scalar: std::marker::PhantomData<fn(T)>,
}

impl<T: PackScalar> Recorder<T> {
    fn record(
        &mut self,
        t: f64,
        s: &Stage,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &CudaVector<T>,
        next: &CudaVector<T>,
        sum: Option<([f64; 3], u64)>,
    ) {
        let at = StageAddresses {
            u: u.buffer().ptr(),
            start: u0.filter(|_| s.b != 0.0).map_or(0, |v| v.buffer().ptr()),
            register: reg.buffer().ptr(),
            next: next.buffer().ptr(),
        };
        let time = if self.dt == 0.0 { 0.0 } else { (t - self.t) / self.dt };
        let share = self.shares[self.calls.len()];
        let weights = StageWeights { a: s.a, b: s.b, c: s.c, dt: 0.0, keep: s.keep };
        self.calls.push(StageCall { time, share, weights, at, sum });
    }
}

impl<T: PackScalar> Rhs for Recorder<T> {
    type Vector = CudaVector<T>;
    type Error = Infallible;

    /// No scheme asks for a residual alone.
    fn eval(&mut self, _: f64, _: &CudaVector<T>, _: &mut CudaVector<T>) -> Result<(), Infallible> {
        Ok(())
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &mut CudaVector<T>,
        next: &mut CudaVector<T>,
    ) -> Result<(), Infallible> {
        self.record(t, s, u, u0, reg, next, None);
        Ok(())
    }

    fn stage_with_sum(
        &mut self,
        t: f64,
        s: &Stage,
        r: &RunningSum,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &mut CudaVector<T>,
        next: &mut CudaVector<T>,
        sum: &mut CudaVector<T>,
    ) -> Result<(), Infallible> {
        self.record(t, s, u, u0, reg, next, Some(([r.p, r.q, r.d], sum.buffer().ptr())));
        Ok(())
    }
}

/// State, discretisation and stepper in precision `T`.
///
/// The stepper writes down the stages of a step; the step is then put into the device's stream, as a graph where the same
/// stages were made before, so that small meshes do not wait for launches.
pub(crate) struct CudaEngine<T: PackScalar> {
    discretization: CudaDiscretization<T>,
    stepper: Stepper<CudaVector<T>>,
    recorder: Recorder<T>,
    u: CudaVector<T>,
    /// Size of the step that the device knows.
    dt: Option<f64>,
    /// Steps as graphs, by their stages: arrays change places from step to step, with a short period.
    graphs: Vec<(Vec<StageCall>, Graph)>,
    steps: u64,
    evaluations: u64,
}

/// Steps before the first graph is recorded: by then all that is made once has been made.
const WARM_UP: u64 = 2;
/// Most graphs; arrays of all schemes change places with a period below this.
const MOST_GRAPHS: usize = 12;

impl<T: PackScalar> CudaEngine<T> {
    pub(crate) fn new(
        discretization: CudaDiscretization<T>,
        scheme: Scheme,
        initial: &dyn Exact,
        t0: f64,
    ) -> Result<Self, GpuError> {
        let mut values = vec![T::from_f64(0.0); discretization.len()];
        discretization.description().project(initial, t0, &mut values);
        let buffer = DeviceBuffer::from_slice(discretization.cuda(), "the state", &values)?;
        let u = CudaVector::from_buffer(discretization.cuda(), buffer)?;
        let stepper = Stepper::new(scheme, &u)?;
        let shares = scheme.tableau().b;
        let recorder =
            Recorder { calls: Vec::new(), t: 0.0, dt: 0.0, shares, scalar: std::marker::PhantomData };
        let graphs = Vec::new();
        Ok(Self { discretization, stepper, recorder, u, dt: None, graphs, steps: 0, evaluations: 0 })
    }

    fn make_step(&mut self, t: f64, dt: f64, local: bool) -> Result<(), OpsError> {
        if self.dt != Some(dt) {
            self.discretization.set_step(dt)?;
            self.dt = Some(dt);
        }
        self.recorder.calls.clear();
        (self.recorder.t, self.recorder.dt) = (t, dt);
        let Ok(()) = self.stepper.step(&mut self.recorder, t, dt, &mut self.u);
        let calls = &self.recorder.calls;
        self.evaluations += calls.len() as u64;
        self.steps += 1;
        if let Some((_, graph)) = self.graphs.iter().find(|(c, _)| !local && c == calls) {
            return Ok(graph.launch()?);
        }
        let graphable = !local && self.steps > WARM_UP && self.discretization.is_autonomous();
        if graphable && self.graphs.len() < MOST_GRAPHS {
            let cuda = self.discretization.cuda().clone();
            let graph = cuda.capture(|_| launch(&mut self.discretization, calls, t, dt))?;
            graph.launch()?;
            self.graphs.push((calls.clone(), graph));
            return Ok(());
        }
        Ok(launch(&mut self.discretization, calls, t, dt)?)
    }

    /// A copy of the state in host memory. After a failure of the device, which the next step reports, it holds no numbers.
    fn state(&self) -> Vec<T> {
        self.u.buffer().to_vec().unwrap_or_else(|_| vec![T::from_f64(f64::NAN); self.u.len()])
    }

    fn description(&self) -> &Discretization<T> {
        self.discretization.description()
    }
}

/// Puts the stages of a step into the device's stream.
fn launch<T: PackScalar>(
    discretization: &mut CudaDiscretization<T>,
    calls: &[StageCall],
    t: f64,
    dt: f64,
) -> Result<(), GpuError> {
    for call in calls {
        // SAFETY: the addresses were taken from the stepper's vectors and the state, which live as long as the engine.
        unsafe {
            discretization.stage_at(t + call.time * dt, call.weights, call.at)?;
            if let Some((factors, sum)) = call.sum {
                discretization.running_sum_at(factors, sum, call.at.u, call.at.register)?;
            }
        }
        discretization.accumulate(call.share)?;
    }
    Ok(())
}

impl<T: PackScalar> Engine for CudaEngine<T> {
    fn discretization(&self) -> &dyn Described {
        &self.discretization
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<(), OpsError> {
        self.make_step(t, dt, false)
    }

    fn step_local(&mut self, t: f64, cfl: f64) -> Result<(), OpsError> {
        self.discretization.time_step(self.u.buffer(), true)?;
        self.discretization.use_local_steps(true);
        let outcome = self.make_step(t, cfl, true);
        self.discretization.use_local_steps(false);
        outcome
    }

    fn stable_dt(&mut self) -> Result<f64, OpsError> {
        self.discretization.time_step(self.u.buffer(), false)
    }

    fn residual(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let mut du = self.u.zeros_like()?;
        self.discretization.eval(t, self.u.buffer(), du.buffer_mut())?;
        Ok(norms(self.description(), &du.buffer().to_vec()?))
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

    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        self.description().errors(&self.state(), exact, t)
    }

    fn integrate(&self, n: usize, f: &(dyn Fn([f64; 3], &[f64], &mut [f64]) + Sync)) -> Vec<f64> {
        let d = self.description();
        d.integrate(&self.state(), 2 * d.order() + 2, n, f).0
    }

    fn totals(&self) -> Vec<f64> {
        self.description().totals(&self.state())
    }

    fn absolute_totals(&self) -> Vec<f64> {
        self.description().absolute_totals(&self.state())
    }

    fn boundary_integrals(&self) -> Vec<f64> {
        self.discretization.integrals().unwrap_or_default()
    }

    fn set_boundary_integrals(&mut self, values: &[f64]) {
        // A failure of the device is reported by the next step.
        let _ = self.discretization.set_integrals(values);
    }

    fn sample(&self, order: usize) -> Vec<Sample> {
        self.description().sample(&self.state(), order)
    }

    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample> {
        self.description().sample_with_gradients(&self.state(), t, order)
    }

    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples> {
        self.description().boundary_samples(&self.state(), t, boundary)
    }

    fn state_at(&self, element: usize, r: [f64; 3]) -> Option<Vec<f64>> {
        self.description().state_at(&self.state(), element, r)
    }

    fn to_canonical(&self) -> Vec<f64> {
        self.description().to_canonical(&self.state())
    }

    fn set_canonical_of(&mut self, from: Representation, values: &[f64]) -> Option<()> {
        let own = self.description().convert_canonical(values, from)?;
        self.set_canonical(&own)
    }

    fn set_canonical(&mut self, values: &[f64]) -> Option<()> {
        let mut state = self.state();
        self.description().from_canonical(values, &mut state)?;
        self.u.buffer_mut().upload(&state).ok()
    }

    fn variables(&self) -> Vec<&'static str> {
        self.description().physics().variables()
    }

    fn primitives(&self) -> Vec<&'static str> {
        self.description().physics().primitives()
    }

    fn rhs_evaluations(&self) -> u64 {
        self.evaluations
    }

    fn state_bytes(&self) -> usize {
        self.u.len() * T::BYTES * self.stepper.scheme().n_vectors()
    }
}
