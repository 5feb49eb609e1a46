//! A conservation law on an NVIDIA device: the state, the stages and the step bound stay there.

mod batch;
mod capabilities;
mod newton;
mod partial;
mod recorder;
mod stages;

use super::engine::{
    Adaptive, Described, Elementwise, Engine, Integrand, Limits, NewtonSteps, OneStep, RunsAhead, norms,
};
use super::error::SystemError;
use super::implicit::{DeviceParts, Implicit, NewtonStatistics, Stages};
use super::kernel_choice::KernelChoice;
use super::measured;
use crate::solves::Histories;
use batch::Batches;
use dgsuite_basis::{Representation, Shape};
use dgsuite_gpu::cuda::{DeviceBuffer, Graph};
use dgsuite_gpu::{CudaVector, ExactSum, GpuError, Vector as _};
use dgsuite_ops::cuda::{
    CudaDiscretization, DeviceControl, Measures, Sampler, SamplesUnderWay, StageTime, StepChoice, UnknownMap,
};
use dgsuite_ops::{
    BoundarySamples, Discretization, Norms, OpsError, PackScalar, Sample, StateFloor, StepMeasure,
};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_timeint::{Scheme, Stepper};
use partial::Partial;
use recorder::{MeanCall, Recorder, StageCall};
use stages::InTime;
use std::cell::RefCell;

impl<T: PackScalar> Described for CudaDiscretization<T> {
    fn dofs(&self) -> usize {
        Described::dofs(self.description())
    }
    fn bytes(&self) -> usize {
        self.bytes()
    }
    fn summary(&self) -> Vec<dgsuite_ops::PartSummary> {
        Described::summary(self.description())
    }
    fn basis_size_in(&self, basis: Representation, order: usize, shape: Shape) -> usize {
        self.description().basis_size_in(basis, order, shape)
    }
    fn kernel(&self) -> String {
        self.cuda().info().architecture()
    }
    fn device_name(&self) -> String {
        self.cuda().info().name.clone()
    }
    fn kernels(&self) -> Vec<KernelChoice> {
        let kinds = self.kernels().unwrap_or_default();
        let mut kernels: Vec<KernelChoice> =
            kinds.into_iter().map(|k| KernelChoice::new(k.shape, k.curved, k.fast, &k.name)).collect();
        if kernels.iter().any(|kernel| !kernel.fast) {
            let forecast = self.forecast();
            for kernel in &mut kernels {
                let same = |f: &&KernelChoice| (f.shape, f.curved) == (kernel.shape, kernel.curved);
                kernel.faster = forecast.iter().find(same).map_or_else(Vec::new, |f| f.faster.clone());
            }
        }
        kernels
    }
    fn forecast(&self) -> Vec<KernelChoice> {
        let forecast = Self::forecast(self.description()).unwrap_or_default();
        forecast.iter().map(KernelChoice::of).collect()
    }
    fn representation(&self) -> Representation {
        self.description().representation()
    }
    fn to_primitive(&self, u: &[f64], w: &mut [f64]) {
        self.description().physics().to_primitive(u, w);
    }
    fn keep_above(&self, floor: &StateFloor, u: &mut [f64]) {
        self.description().keep_above(floor, u);
    }
    fn primitive_gradient(&self, u: &[f64], grad: &[f64], out: &mut [f64]) {
        self.description().physics().primitive_gradient(u, grad, out);
    }
}

/// State, discretisation and stepper in precision `T`.
///
/// The stepper records the stages of a step. The engine then puts the step into the device's stream, as a
/// graph if the same stages have been recorded before, so that small meshes do not wait for launches.
pub(crate) struct CudaEngine<T: PackScalar> {
    discretization: CudaDiscretization<T>,
    stepper: Stepper<CudaVector<T>>,
    recorder: Recorder<T>,
    u: CudaVector<T>,
    kept: Option<CudaVector<T>>,
    /// Weights of errors, and the error control on the device.
    weights: Option<(CudaVector<T>, DeviceControl)>,
    /// The step size stored on the device.
    dt: Option<f64>,
    /// Recorded steps, found by their stages: arrays change places from step to step, with a short period.
    graphs: Vec<(Vec<StageCall>, EndOfStep, Graph)>,
    batches: Batches<T>,
    measures: RefCell<Measures>,
    partial: RefCell<Partial<T>>,
    /// The residual of monitors.
    rate: Option<CudaVector<T>>,
    sampler: Option<Sampler>,
    map: Option<UnknownMap>,
    implicit: Option<Implicit<DeviceParts>>,
    stages: Option<InTime>,
    steps: u64,
    /// Number of times that steps were launched one by one.
    launched: u64,
    evaluations: u64,
}

/// Work of the device at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EndOfStep {
    /// None: the host does everything.
    Nothing,
    /// Advances the time, if anything depends on it.
    Tick,
    /// Checks the state; the next step is this multiple of its bound.
    Cfl(f64),
    /// Checks the state; each element has its own step.
    Local,
    /// The step was an attempt: the device keeps it if its error is small, and undoes it otherwise.
    Judge,
}

/// Number of launches before the first graph is recorded: by then everything that is set up once has been set
/// up, such as boundary data, whose copies wait for the device.
const WARM_UP: u64 = 2;
/// Largest number of graphs. The arrays of any scheme change places with a period of at most 3 steps, and
/// there are graphs of single steps and of batches.
const MOST_GRAPHS: usize = 24;

impl<T: PackScalar> CudaEngine<T> {
    pub(crate) fn new(
        mut discretization: CudaDiscretization<T>,
        scheme: Scheme,
        initial: &dyn Exact,
        t0: f64,
    ) -> Result<Self, GpuError> {
        let mut values = vec![T::from_f64(0.0); discretization.len()];
        discretization.description().project(initial, t0, &mut values);
        discretization.limit_initial(initial, t0, &mut values)?;
        let buffer = DeviceBuffer::from_slice(discretization.cuda(), "the state", &values)?;
        let u = CudaVector::from_buffer(discretization.cuda(), buffer)?;
        let stepper = Stepper::new(scheme, &u)?;
        let recorder = Recorder::new(scheme);
        let (graphs, batches) = (Vec::new(), Batches::new());
        Ok(Self {
            discretization,
            stepper,
            recorder,
            u,
            kept: None,
            weights: None,
            dt: None,
            graphs,
            batches,
            measures: RefCell::default(),
            partial: RefCell::default(),
            rate: None,
            sampler: None,
            map: None,
            implicit: None,
            stages: None,
            steps: 0,
            launched: 0,
            evaluations: 0,
        })
    }

    /// Takes one step of a size known to the host.
    fn make_step(&mut self, t: f64, dt: f64, local: bool) -> Result<(), OpsError> {
        if self.dt != Some(dt) || self.discretization.is_moving() {
            self.discretization.set_clock(t, 0.0, StepChoice::Fixed(dt))?;
            self.dt = Some(dt);
        }
        let end = if local { EndOfStep::Local } else { EndOfStep::Nothing };
        self.batches.ended += u64::from(local);
        self.put_steps(1, end, t, dt)
    }

    /// Puts steps of the size stored on the device into its stream. `t` and `dt` are time and size of the
    /// step; they matter if boundary data changes with time on the host.
    fn put_steps(&mut self, n: usize, end: EndOfStep, t: f64, dt: f64) -> Result<(), OpsError> {
        self.recorder.calls.clear();
        for _ in 0..n {
            self.recorder.stage = 0;
            let Ok(()) = self.stepper.step(&mut self.recorder, t, dt, &mut self.u);
            if let Some(last) = self.recorder.calls.last_mut() {
                last.end = Some(self.u.buffer().ptr());
            }
        }
        self.discretization.use_local_steps(end == EndOfStep::Local);
        let calls = &self.recorder.calls;
        self.evaluations += calls.len() as u64;
        self.steps += n as u64;
        let graph = self.graphs.iter().find(|(c, e, _)| *e == end && c == calls);
        if let Some((.., graph)) = graph {
            return Ok(graph.launch()?);
        }
        self.launched += 1;
        let recordable = self.discretization.is_autonomous() && self.discretization.is_recordable();
        let graphable = self.launched > WARM_UP && recordable;
        let (discretization, stepper, u) = (&mut self.discretization, &mut self.stepper, &self.u);
        let mut attempt = self.weights.as_mut().filter(|_| end == EndOfStep::Judge);
        let mut work = || {
            if let Some((_, control)) = &mut attempt {
                discretization.keep_sums(control)?;
            }
            launch(discretization, calls, end, t, dt)?;
            match &mut attempt {
                Some((weights, control)) => judge(discretization, stepper, u, weights, control),
                None => Ok(()),
            }
        };
        if graphable && self.graphs.len() < MOST_GRAPHS {
            let cuda = u.cuda().clone();
            let graph = cuda.capture(|_| work())?;
            graph.launch()?;
            self.graphs.push((calls.clone(), end, graph));
            return Ok(());
        }
        Ok(work()?)
    }

    /// Returns a copy of the state in host memory. After a failure of the device, which the next step
    /// reports, it is filled with NaN.
    fn state(&self) -> Vec<T> {
        self.u.buffer().to_vec().unwrap_or_else(|_| vec![T::from_f64(f64::NAN); self.u.len()])
    }

    fn description(&self) -> &Discretization<T> {
        self.discretization.description()
    }

    /// Calls `read` with an array like the state in which at least the coefficients of `elements` are
    /// current.
    fn with_elements<R>(&self, elements: &[usize], read: impl Fn(&Discretization<T>, &[T]) -> R) -> R {
        let (mut partial, u) = (self.partial.borrow_mut(), self.u.buffer());
        let found = partial.read(&self.discretization, u, elements, &read);
        found.unwrap_or_else(|| read(self.description(), &self.state()))
    }
}

impl<T: PackScalar> Drop for CudaEngine<T> {
    /// Waits for the device, which may still be copying to our memory. A failure can no longer be reported.
    fn drop(&mut self) {
        let _ = self.discretization.cuda().synchronize();
        // NCCL waits, when its communicator is destroyed, for the end of all graphs that contain its work.
        self.graphs.clear();
    }
}

/// Puts the judgement of the last step, which resulted in `u`, into the device's stream.
fn judge<T: PackScalar>(
    discretization: &mut CudaDiscretization<T>,
    stepper: &mut Stepper<CudaVector<T>>,
    u: &CudaVector<T>,
    weights: &CudaVector<T>,
    control: &mut DeviceControl,
) -> Result<(), GpuError> {
    let Some(errors) = stepper.weigh_error(u, weights).map(|errors| errors.buffer().ptr()) else {
        return Ok(());
    };
    let Some(start) = stepper.start() else { return Ok(()) };
    // SAFETY: the vectors live as long as the engine, which waits for the device when it is dropped.
    unsafe { discretization.judge(control, errors, u.buffer().ptr(), start.buffer().ptr()) }
}

/// Puts the stages of steps into the device's stream.
fn launch<T: PackScalar>(
    discretization: &mut CudaDiscretization<T>,
    calls: &[StageCall],
    end: EndOfStep,
    t: f64,
    dt: f64,
) -> Result<(), GpuError> {
    let autonomous = discretization.is_autonomous();
    for &StageCall { part, share, weights, at, sum, mean, end: last } in calls {
        let when = if autonomous {
            StageTime::Clock { part, share }
        } else {
            StageTime::Stage { time: t + part * dt, share }
        };
        // SAFETY: the addresses belong to the stepper's vectors and the state, which live as long as the
        // engine.
        unsafe {
            discretization.stage_at(when, weights, at)?;
            if let Some((factors, sum)) = sum {
                discretization.running_sum_at(factors, sum, at.u, at.register)?;
            }
            if let Some(MeanCall { mean, two: [(a, x), (b, y)], more }) = mean {
                discretization.running_sum_at([0.0, a, b], mean, x, y)?;
                if let Some((c, z)) = more {
                    discretization.running_sum_at([1.0, c, 0.0], mean, z, y)?;
                }
            }
            match (last, end) {
                (Some(u), EndOfStep::Tick) => discretization.end_step(u, None)?,
                (Some(u), EndOfStep::Cfl(cfl)) => discretization.end_step(u, Some(cfl))?,
                (Some(u), EndOfStep::Local) => discretization.end_local_step(u)?,
                _ => {}
            }
        }
    }
    Ok(())
}

impl<T: PackScalar> Engine for CudaEngine<T> {
    fn histories(&self) -> Option<Histories> {
        match &self.implicit {
            Some(implicit) => implicit.histories(),
            None => self.stages.as_ref()?.stages.histories(),
        }
    }

    fn set_histories(&mut self, histories: &Histories) -> Option<()> {
        match &mut self.implicit {
            Some(implicit) => implicit.set_histories(histories),
            None => self.stages.as_mut()?.stages.set_histories(histories),
        }
    }

    fn newton(&mut self) -> Option<&mut dyn NewtonSteps> {
        self.implicit.is_some().then_some(self as &mut dyn NewtonSteps)
    }

    fn newton_statistics(&self) -> Option<NewtonStatistics> {
        let stages = self.stages.as_ref().map(|own| own.stages.statistics());
        self.implicit.as_ref().map(Implicit::statistics).or(stages)
    }

    fn discretization(&self) -> &dyn Described {
        &self.discretization
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError> {
        match self.implicit_step(t, dt)? {
            None => Ok(self.make_step(t, dt, false)?),
            Some(None) => Ok(()),
            Some(Some(failure)) => Err(SystemError::Stage { dt, failure }),
        }
    }

    fn stable_dt_at(&self, boundary: &str, t: f64) -> f64 {
        self.description().time_step_at(boundary, t)
    }

    fn stable_dt(&mut self) -> Result<f64, OpsError> {
        self.discretization.time_step(self.u.buffer(), false)
    }

    fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), OpsError> {
        Ok(self.discretization.measure_steps_by(measure)?)
    }

    fn residual(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let mut du = match self.rate.take() {
            Some(du) => du,
            None => self.u.zeros_like()?,
        };
        self.discretization.eval(t, self.u.buffer(), du.buffer_mut())?;
        let found = self.discretization.norms(&mut self.measures.borrow_mut(), du.buffer());
        let found = match found {
            Some(norms) => norms,
            None => norms(self.description(), &du.buffer().to_vec()?),
        };
        self.rate = Some(du);
        Ok(found)
    }

    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        let found = self.discretization.errors(&mut self.measures.borrow_mut(), self.u.buffer(), exact, t);
        found.unwrap_or_else(|| self.description().errors(&self.state(), exact, t))
    }

    fn integrate(&self, bounded: bool, n: usize, f: &Integrand<'_>) -> Vec<f64> {
        let d = self.description();
        d.integrate_states(&self.state(), bounded, 2 * d.order() + 2, n, f).0
    }

    fn integrate_gradients(&self, t: f64, degree: usize, n: usize, f: &Elementwise<'_>) -> Vec<f64> {
        self.description().integrate_gradients(&self.state(), t, degree, n, f)
    }

    fn integrate_formulas(&self, formulas: &[Formula], t: f64) -> Option<Vec<f64>> {
        let rule = 2 * self.description().order() + 2;
        measured::integrals(&self.discretization, &self.measures, self.u.buffer(), formulas, rule, t)
    }

    fn integrate_derivatives(&self, formulas: &[&Formula], degree: usize, t: f64) -> Option<Vec<f64>> {
        let (on, u) = (&self.discretization, self.u.buffer());
        measured::integrals_of_derivatives(on, &self.measures, u, formulas, degree, t, on.description())
    }

    fn totals(&self) -> Vec<f64> {
        let found = self.discretization.totals(&mut self.measures.borrow_mut(), self.u.buffer(), false);
        found.unwrap_or_else(|| self.description().totals(&self.state()))
    }

    fn absolute_totals(&self) -> Vec<f64> {
        let found = self.discretization.totals(&mut self.measures.borrow_mut(), self.u.buffer(), true);
        found.unwrap_or_else(|| self.description().absolute_totals(&self.state()))
    }

    fn map_unknowns(&mut self, a: &[f64]) -> Result<(), OpsError> {
        let mut map = match self.map.take() {
            Some(map) => map,
            None => UnknownMap::new(&self.discretization)?,
        };
        map.apply(&self.discretization, a, &mut self.u)?;
        self.map = Some(map);
        Ok(())
    }

    fn boundary_sums(&self) -> Vec<ExactSum> {
        self.discretization.integrals().unwrap_or_default()
    }

    fn set_boundary_sums(&mut self, sums: &[ExactSum]) {
        // A failure of the device is reported by the next step.
        let _ = self.discretization.set_integrals(sums);
    }

    fn sample(&self, order: usize) -> Vec<Sample> {
        self.description().sample(&self.state(), order)
    }

    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample> {
        self.description().sample_with_gradients(&self.state(), t, order)
    }

    fn sample_later(&mut self, order: usize) -> Option<SamplesUnderWay> {
        // A failure of the device is reported by the next step.
        self.discretization.sample_later(&mut self.sampler, self.u.buffer(), order).ok().flatten()
    }

    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples> {
        let elements = self.description().boundary_elements(boundary);
        if elements.is_empty() {
            // There are no faces, but other ranks may expect an answer.
            return self.description().boundary_samples(&[], t, boundary);
        }
        self.with_elements(&elements, |d, u| d.boundary_samples(u, t, boundary))
    }

    fn states_at(&self, places: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>> {
        let mut elements: Vec<usize> = places.iter().flatten().map(|(element, _)| *element).collect();
        elements.sort_unstable();
        elements.dedup();
        self.with_elements(&elements, |d, u| d.states_at(u, places))
    }

    fn to_canonical(&self) -> Vec<f64> {
        self.description().to_canonical(&self.state())
    }

    fn set_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()> {
        let own = self.description().convert_canonical_of_order(values, from, order)?;
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
        let kept = Batches::<T>::vectors(self.u.len());
        self.u.len() * T::BYTES * (self.stepper.scheme().n_vectors() + kept + kept.min(1))
    }

    fn adaptive(&mut self) -> Option<&mut dyn Adaptive> {
        Some(self)
    }

    fn one_step(&mut self) -> Option<&mut dyn OneStep> {
        Some(self)
    }

    fn limits(&self) -> Option<&dyn Limits> {
        Some(self)
    }

    fn ahead(&mut self) -> Option<&mut dyn RunsAhead> {
        Some(self)
    }
}
