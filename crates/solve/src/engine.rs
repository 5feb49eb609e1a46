//! A conservation law in one precision: the discretisation, a Runge–Kutta scheme and the state.

mod ahead;
mod capabilities;
mod newton;
mod norms;
mod on_ranks;

use super::elliptic::LineDescription;
use super::error::SystemError;
use super::implicit::{HostMarch, HostParts, Implicit, NewtonStatistics, Stages};
use super::kernel_choice::KernelChoice;
use super::setup::{ImplicitSteps, Setup};
use super::solves::Histories;
pub use ahead::Ahead;
pub(crate) use capabilities::{Adaptive, Limits, OfIncompressible, OneStep, RunsAhead};
use dgsuite_basis::{Representation, Shape};
use dgsuite_gpu::{ExactSum, GpuError, Host, HostVector, Vector as _};
use dgsuite_ops::cuda::{CudaDiscretization, SamplesUnderWay};
use dgsuite_ops::{
    AtPoints, BoundarySamples, Discretization, Limited, Norms, OpsError, PackScalar, Sample, StageWeights,
    StateFloor, StepMeasure,
};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_timeint::{Rhs, Scheme, Stage, StageFailure, Stepper};
pub use newton::LargestRate;
pub(crate) use newton::{NewtonSteps, largest_of, relative_rates};
pub(crate) use norms::{norms, perturbed};
pub(crate) use on_ranks::OnRanks;
use std::sync::Arc;

/// Integrands of a place and the conserved state there.
pub(crate) type Integrand<'a> = dyn Fn([f64; 3], &[f64], &mut [f64]) + Sync + 'a;
/// Integrands, `[integrand][point]`, of the solution at the points of an element.
pub(crate) type Elementwise<'a> = dyn Fn(&AtPoints<'_>, &mut [f64]) + Sync + 'a;

/// The interface of an engine, independent of its precision.
pub(crate) trait Engine: Send {
    fn discretization(&self) -> &dyn Described;
    fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError>;
    fn stable_dt(&mut self) -> Result<f64, OpsError>;
    /// Whether the states at the points of faces are admissible; not known on devices. Collective.
    fn admissible_at_faces(&self) -> bool {
        true
    }
    fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), OpsError>;
    fn residual(&mut self, t: f64) -> Result<Vec<f64>, OpsError>;
    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms);
    fn integrate(&self, bounded: bool, n: usize, f: &Integrand<'_>) -> Vec<f64>;
    /// As [`integrate`](Self::integrate), with lifted gradients at time `t`, by a rule of degree `degree`:
    /// `f` receives the solution at the points of an element.
    fn integrate_gradients(&self, t: f64, degree: usize, n: usize, f: &Elementwise<'_>) -> Vec<f64>;
    /// Maps the conserved variables linearly, `u ← A u` at every point, with `A` in rows.
    fn map_unknowns(&mut self, a: &[f64]) -> Result<(), OpsError>;
    /// Integrals of formulas of conserved variables, primitive variables and `x y z t`, if the engine has its
    /// own kernels for them.
    fn integrate_formulas(&self, _: &[Formula], _: f64) -> Option<Vec<f64>> {
        None
    }
    /// Integrals of formulas of primitive variables, their derivatives `[axis][variable]`, and `x y z t`, if
    /// the engine has its own kernels for them.
    fn integrate_derivatives(&self, _: &[&Formula], _degree: usize, _: f64) -> Option<Vec<f64>> {
        None
    }
    fn totals(&self) -> Vec<f64>;
    fn absolute_totals(&self) -> Vec<f64>;
    /// Time integrals of the rates of the conserved variables through the boundary faces of this rank, not
    /// rounded yet.
    fn boundary_sums(&self) -> Vec<ExactSum>;
    fn set_boundary_sums(&mut self, sums: &[ExactSum]);
    fn sample(&self, order: usize) -> Vec<Sample>;
    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample>;
    /// Samples of the current state's primitive variables that arrive while the run continues, if the engine
    /// can do this.
    fn sample_later(&mut self, _order: usize) -> Option<SamplesUnderWay> {
        None
    }
    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples>;
    /// Conserved variables at points, given by element and reference coordinates.
    fn states_at(&self, places: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>>;
    fn to_canonical(&self) -> Vec<f64>;
    fn set_canonical(&mut self, values: &[f64]) -> Option<()>;
    fn set_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()>;
    fn variables(&self) -> Vec<&'static str>;
    fn primitives(&self) -> Vec<&'static str>;
    fn rhs_evaluations(&self) -> u64;
    fn state_bytes(&self) -> usize;

    /// The smallest step of the elements at a boundary if their states were the prescribed ones at time `t`.
    fn stable_dt_at(&self, _boundary: &str, _t: f64) -> f64 {
        f64::INFINITY
    }
    /// The past states of a multistep scheme; `None` if the scheme does not need any.
    fn histories(&self) -> Option<Histories> {
        None
    }
    /// Continues with past states, after [`set_canonical`](Self::set_canonical); `None` if they do not fit.
    /// Without this call the scheme starts again from the state alone.
    fn set_histories(&mut self, _: &Histories) -> Option<()> {
        None
    }

    /// Newton steps, if the set-up has them and the engine can take them.
    fn newton(&mut self) -> Option<&mut dyn NewtonSteps> {
        None
    }
    /// What they have cost.
    fn newton_statistics(&self) -> Option<NewtonStatistics> {
        None
    }

    /// Steps with an estimate of their error, which can be undone.
    fn adaptive(&mut self) -> Option<&mut dyn Adaptive> {
        None
    }
    /// What the rate `R(t, u)` gives, if steps depend on the state alone.
    fn one_step(&mut self) -> Option<&mut dyn OneStep> {
        None
    }
    /// Steps that are started without waiting for previous ones.
    fn ahead(&mut self) -> Option<&mut dyn RunsAhead> {
        None
    }
    /// What the limiter does, if the law can have one.
    fn limits(&self) -> Option<&dyn Limits> {
        None
    }
    /// What incompressible flow alone has.
    fn of_incompressible(&self) -> Option<&dyn OfIncompressible> {
        None
    }
    /// [`Self::of_incompressible`], to change the flow.
    fn of_incompressible_mut(&mut self) -> Option<&mut dyn OfIncompressible> {
        None
    }

    /// What an engine on a part of the mesh has beside one on the whole.
    fn on_ranks(&self) -> Option<&dyn OnRanks> {
        None
    }
    /// [`Self::on_ranks`], to change the state.
    fn on_ranks_mut(&mut self) -> Option<&mut dyn OnRanks> {
        None
    }
}

/// Properties of the discretisation that do not depend on its precision.
pub(crate) trait Described: Sync {
    fn dofs(&self) -> usize;
    fn bytes(&self) -> usize;
    fn summary(&self) -> Vec<dgsuite_ops::PartSummary>;
    fn kernel(&self) -> String;
    fn device_name(&self) -> String;
    fn to_primitive(&self, u: &[f64], w: &mut [f64]);
    /// Scales a state between the points of a limiter towards the mean of its element.
    fn keep_above(&self, _floor: &StateFloor, _u: &mut [f64]) {}
    /// The derivatives of the primitive variables from those of the conserved ones, `[axis][field]`.
    fn primitive_gradient(&self, u: &[f64], grad: &[f64], out: &mut [f64]);
    fn representation(&self) -> Representation;
    /// The linelets of the smoother of the pressure, if there are.
    fn lines(&self) -> Option<LineDescription> {
        None
    }
    /// The kernels that a GPU runs for each kind of elements; none on the CPU.
    fn kernels(&self) -> Vec<KernelChoice> {
        Vec::new()
    }
    /// The kernels that a GPU would run.
    fn forecast(&self) -> Vec<KernelChoice> {
        Vec::new()
    }
    /// Basis functions of a shape in the space of this kind with another basis and order.
    fn basis_size_in(&self, _basis: Representation, _order: usize, _shape: Shape) -> usize {
        0
    }
}

impl<T: PackScalar> Described for Discretization<T> {
    fn dofs(&self) -> usize {
        self.whole().map_or_else(|| self.dofs(), |whole| whole.dofs)
    }
    fn bytes(&self) -> usize {
        self.whole().map_or_else(|| self.bytes(), |whole| whole.bytes)
    }
    fn summary(&self) -> Vec<dgsuite_ops::PartSummary> {
        self.whole().map_or_else(|| self.summary(), |whole| whole.summary.clone())
    }
    fn basis_size_in(&self, basis: Representation, order: usize, shape: Shape) -> usize {
        self.basis_size_in(basis, order, shape)
    }
    fn kernel(&self) -> String {
        self.simd().to_string()
    }
    fn forecast(&self) -> Vec<KernelChoice> {
        let forecast = CudaDiscretization::forecast(self).unwrap_or_default();
        forecast.iter().map(KernelChoice::of).collect()
    }
    fn device_name(&self) -> String {
        String::new()
    }
    fn representation(&self) -> Representation {
        self.representation()
    }
    fn to_primitive(&self, u: &[f64], w: &mut [f64]) {
        self.physics().to_primitive(u, w);
    }
    fn keep_above(&self, floor: &StateFloor, u: &mut [f64]) {
        self.keep_above(floor, u);
    }
    fn primitive_gradient(&self, u: &[f64], grad: &[f64], out: &mut [f64]) {
        self.physics().primitive_gradient(u, grad, out);
    }
}

/// The discretisation as the right-hand side for a stepper.
struct Semidiscrete<T: PackScalar> {
    discretization: Discretization<T>,
    evaluations: u64,
}

impl<T: PackScalar> Rhs for Semidiscrete<T> {
    type Vector = HostVector<T>;
    type Error = OpsError;

    fn eval(&mut self, t: f64, u: &HostVector<T>, du: &mut HostVector<T>) -> Result<(), OpsError> {
        self.evaluations += 1;
        self.discretization.eval(t, u, du);
        Ok(())
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &HostVector<T>,
        u0: Option<&HostVector<T>>,
        reg: &mut HostVector<T>,
        next: &mut HostVector<T>,
    ) -> Result<(), OpsError> {
        self.evaluations += 1;
        let weights = StageWeights { a: s.a, b: s.b, c: s.c, dt: s.dt, keep: s.keep };
        self.discretization.stage(t, weights, u, u0.map(|v| v.as_slice()), reg, next);
        Ok(())
    }

    fn tally(&self) -> &[f64] {
        // Summed at the end, exactly, so that sums do not depend on the parts of a mesh.
        self.discretization.tally_of_faces()
    }
}

/// State, discretisation and stepper in precision `T`.
pub(crate) struct HostEngine<T: PackScalar> {
    rhs: Semidiscrete<T>,
    stepper: Stepper<HostVector<T>>,
    u: HostVector<T>,
    kept: Option<HostVector<T>>,
    /// The time integrals of the boundary rates, for each field; exact sums over faces and steps, which do
    /// not depend on the parts of a mesh nor on restarts.
    through: Vec<ExactSum>,
    /// The same before the last step.
    through_before: Vec<ExactSum>,
    /// Weights of errors.
    weights: Option<HostVector<T>>,
    local: Vec<f64>,
    implicit: Option<Implicit<HostParts>>,
    stages: Option<Stages<HostParts>>,
}

impl<T: PackScalar> HostEngine<T> {
    pub(crate) fn new(
        mut discretization: Discretization<T>,
        host: &Arc<Host>,
        scheme: Scheme,
        initial: &dyn Exact,
        t0: f64,
    ) -> Result<Self, GpuError> {
        let mut u = HostVector::zeros(host, discretization.len())?;
        discretization.project(initial, t0, &mut u);
        discretization.limit_initial(initial, t0, &mut u);
        let stepper = Stepper::new(scheme, &u)?;
        let through = vec![ExactSum::new(); discretization.physics().n_fields()];
        let through_before = through.clone();
        let rhs = Semidiscrete { discretization, evaluations: 0 };
        Ok(Self {
            rhs,
            stepper,
            u,
            kept: None,
            through,
            through_before,
            weights: None,
            local: Vec::new(),
            implicit: None,
            stages: None,
        })
    }
}

impl<T: PackScalar> HostEngine<T> {
    /// Prepares implicit steps in time.
    pub(crate) fn with_stages(mut self, setup: &Setup, steps: ImplicitSteps) -> Result<Self, SystemError> {
        let d = &self.rhs.discretization;
        self.stages = Some(Stages::on_host(setup, steps, d)?);
        Ok(self)
    }
}

impl<T: PackScalar> HostEngine<T> {
    /// Takes a step; the failure is that of a stage without a solution, and leaves the state.
    fn advance(&mut self, t: f64, dt: f64) -> Result<Option<StageFailure>, OpsError> {
        // The pool of threads is entered once per step, because entering it from outside may allocate memory
        // for its queue.
        let host = Arc::clone(self.rhs.discretization.host());
        if let Some(stages) = &mut self.stages {
            let (d, u) = (&mut self.rhs.discretization, &mut self.u);
            let march = HostMarch::new(d, u)?;
            let failure = host.install(|| stages.step(march, t, dt))?;
            match failure {
                None => self.add_boundary(),
                Some(_) => self.through_before.clone_from(&self.through),
            }
            return Ok(failure);
        }
        let (stepper, rhs, u) = (&mut self.stepper, &mut self.rhs, &mut self.u);
        host.install(|| stepper.step(rhs, t, dt, u))?;
        self.add_boundary();
        Ok(None)
    }

    /// Adds what has passed the boundary in the last step.
    fn add_boundary(&mut self) {
        self.through_before.clone_from(&self.through);
        // `[face][field]`
        let increments = self.stages.as_ref().map_or(self.stepper.increments(), Stages::increments);
        for face in increments.chunks_exact(self.through.len()) {
            self.through.iter_mut().zip(face).for_each(|(sum, &x)| sum.add(x));
        }
    }
}

impl<T: PackScalar> Engine for HostEngine<T> {
    fn newton(&mut self) -> Option<&mut dyn NewtonSteps> {
        self.implicit.is_some().then_some(self as &mut dyn NewtonSteps)
    }

    fn newton_statistics(&self) -> Option<NewtonStatistics> {
        let stages = self.stages.as_ref().map(Stages::statistics);
        self.implicit.as_ref().map(Implicit::statistics).or(stages)
    }

    fn discretization(&self) -> &dyn Described {
        &self.rhs.discretization
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError> {
        match self.advance(t, dt)? {
            Some(failure) => Err(SystemError::Stage { dt, failure }),
            None => Ok(()),
        }
    }

    fn stable_dt_at(&self, boundary: &str, t: f64) -> f64 {
        self.rhs.discretization.time_step_at(boundary, t)
    }

    fn stable_dt(&mut self) -> Result<f64, OpsError> {
        self.rhs.discretization.time_step(&self.u, None)
    }

    fn admissible_at_faces(&self) -> bool {
        self.rhs.discretization.admissible_at_faces(&self.u)
    }

    fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), OpsError> {
        self.rhs.discretization.measure_steps_by(measure);
        Ok(())
    }

    fn residual(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let mut du = vec![T::from_f64(0.0); self.u.len()];
        self.rhs.discretization.eval(t, &self.u, &mut du);
        Ok(norms(&self.rhs.discretization, &du))
    }

    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        self.rhs.discretization.errors(&self.u, exact, t)
    }

    fn integrate(&self, bounded: bool, n: usize, f: &Integrand<'_>) -> Vec<f64> {
        let d = &self.rhs.discretization;
        d.integrate_states(&self.u, bounded, 2 * d.order() + 2, n, f).0
    }

    fn integrate_gradients(&self, t: f64, degree: usize, n: usize, f: &Elementwise<'_>) -> Vec<f64> {
        self.rhs.discretization.integrate_gradients(&self.u, t, degree, n, f)
    }

    fn totals(&self) -> Vec<f64> {
        self.rhs.discretization.totals(&self.u)
    }

    fn absolute_totals(&self) -> Vec<f64> {
        self.rhs.discretization.absolute_totals(&self.u)
    }

    fn map_unknowns(&mut self, a: &[f64]) -> Result<(), OpsError> {
        self.rhs.discretization.map_unknowns(a, &mut self.u);
        Ok(())
    }

    fn boundary_sums(&self) -> Vec<ExactSum> {
        self.through.clone()
    }

    fn set_boundary_sums(&mut self, sums: &[ExactSum]) {
        self.through = sums.to_vec();
    }

    fn sample(&self, order: usize) -> Vec<Sample> {
        self.rhs.discretization.sample(&self.u, order)
    }

    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample> {
        self.rhs.discretization.sample_with_gradients(&self.u, t, order)
    }

    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples> {
        self.rhs.discretization.boundary_samples(&self.u, t, boundary)
    }

    fn states_at(&self, places: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>> {
        self.rhs.discretization.states_at(&self.u, places)
    }

    fn to_canonical(&self) -> Vec<f64> {
        self.rhs.discretization.to_canonical(&self.u)
    }

    fn set_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()> {
        let own = self.rhs.discretization.convert_canonical_of_order(values, from, order)?;
        self.set_canonical(&own)
    }

    fn set_canonical(&mut self, values: &[f64]) -> Option<()> {
        self.rhs.discretization.from_canonical(values, &mut self.u)
    }

    fn variables(&self) -> Vec<&'static str> {
        self.rhs.discretization.physics().variables()
    }

    fn primitives(&self) -> Vec<&'static str> {
        self.rhs.discretization.physics().primitives()
    }

    fn rhs_evaluations(&self) -> u64 {
        self.rhs.evaluations
    }

    fn state_bytes(&self) -> usize {
        // One more state is kept, to return to.
        self.u.len() * T::BYTES * (self.stepper.scheme().n_vectors() + 1)
    }

    fn histories(&self) -> Option<Histories> {
        match &self.implicit {
            Some(implicit) => implicit.histories(),
            None => self.stages.as_ref()?.histories(),
        }
    }

    fn set_histories(&mut self, histories: &Histories) -> Option<()> {
        match &mut self.implicit {
            Some(implicit) => implicit.set_histories(histories),
            None => self.stages.as_mut()?.set_histories(histories),
        }
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
}

impl<T: PackScalar> Adaptive for HostEngine<T> {
    fn weigh_errors(&mut self, weights: &[f64]) -> Result<(), OpsError> {
        if let Some(stages) = &mut self.stages {
            return stages.weigh(weights);
        }
        let mut own = self.u.zeros_like()?;
        // The lengths agree by construction.
        let _ = self.rhs.discretization.from_canonical_once(weights, &mut own);
        self.weights = Some(own);
        if self.rhs.discretization.is_limited() {
            self.stepper.estimate_from_rates()?;
        }
        Ok(())
    }

    fn lacks_weights(&self) -> bool {
        self.stages.as_ref().is_some_and(|stages| !stages.is_weighted())
    }

    fn try_step(&mut self, t: f64, dt: f64) -> Result<f64, OpsError> {
        if self.advance(t, dt)?.is_some() {
            return Ok(f64::NAN);
        }
        if let Some(stages) = &mut self.stages {
            return Ok(stages.error(dt));
        }
        let (stepper, u) = (&mut self.stepper, &self.u);
        let errors = self.weights.as_ref().and_then(|w| stepper.weigh_error(u, w));
        Ok(errors.map_or(f64::NAN, |errors| self.rhs.discretization.norm(errors)))
    }

    fn undo_step(&mut self) {
        match &mut self.stages {
            // On the CPU this cannot fail but for memory, which the next step reports.
            Some(stages) => drop(
                HostMarch::new(&mut self.rhs.discretization, &mut self.u).map(|march| stages.undo(march)),
            ),
            None => self.stepper.undo(&mut self.u),
        }
        self.through.clone_from(&self.through_before);
    }
}

impl<T: PackScalar> OneStep for HostEngine<T> {
    fn step_local(&mut self, t: f64, cfl: f64) -> Result<(), OpsError> {
        self.rhs.discretization.time_step(&self.u, Some(&mut self.local))?;
        self.rhs.discretization.set_local_steps(Some(&self.local));
        let outcome = self.stepper.step(&mut self.rhs, t, cfl, &mut self.u);
        self.rhs.discretization.set_local_steps(None);
        outcome?;
        self.add_boundary();
        Ok(())
    }

    fn own_rate(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let mut du = vec![T::ZERO; self.u.len()];
        self.rhs.discretization.eval(t, &self.u, &mut du);
        Ok(self.rhs.discretization.to_canonical(&du))
    }

    fn rounding(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let (mut du, mut moved) = (vec![T::ZERO; self.u.len()], vec![T::ZERO; self.u.len()]);
        let d = &mut self.rhs.discretization;
        let state = perturbed(d, &self.u);
        d.eval(t, &state, &mut moved);
        d.eval(t, &self.u, &mut du);
        for (rate, other) in du.iter_mut().zip(&moved) {
            *rate -= *other;
        }
        Ok(norms(d, &du))
    }

    fn keep(&mut self) -> bool {
        if self.kept.is_none() {
            self.kept = self.u.zeros_like().ok();
        }
        self.stages.iter_mut().for_each(Stages::keep);
        self.kept.as_mut().map(|kept| kept.copy_from(&self.u)).is_some()
    }

    fn go_back(&mut self) {
        if let Some(kept) = &self.kept {
            self.u.copy_from(kept);
        }
        self.stages.iter_mut().for_each(Stages::go_back);
    }
}

impl<T: PackScalar> Limits for HostEngine<T> {
    fn limited(&self) -> Option<Limited> {
        self.rhs.discretization.limited()
    }

    fn least(&self) -> Option<[f64; 2]> {
        self.rhs.discretization.least(&self.u)
    }

    fn strengths(&self) -> Option<Vec<f32>> {
        self.rhs.discretization.strengths()
    }

    fn sensors(&self) -> Option<Vec<f32>> {
        self.rhs.discretization.sensors(&self.u)
    }
}
