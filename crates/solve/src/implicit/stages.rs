//! Implicit steps in time: the stages of a discretisation, and what they keep from step to step.
//!
//! The preconditioner is that of Newton steps towards a steady state, with the same shift `1/(γ dt)` in all
//! elements. It is made at the start of a step and kept until its steps have taken as many products beyond
//! those of the first one as it took to make it. The state at which it was made is part of a checkpoint, so
//! that a run that is continued has the same preconditioner, and the same bits.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use dgsuite_amg::{Gmres, LinearOperator, Preconditioner, Reference, SolveError, Stop};
use dgsuite_gpu::Vector;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{Discretization, OpsError, PackScalar};
use dgsuite_physics::Exact;
use dgsuite_timeint::{Correction, Effort, ImplicitStepper, StageFailure, StageProblem};

use super::device::DeviceParts;
use super::host::HostParts;
use super::linear::{Inverse, Linear, Operator};
use super::parts::{Marching, Parts};
use super::{NewtonStatistics, lacks};
use crate::SystemError;
use crate::setup::{ImplicitSteps, Setup};
use crate::solves::Histories;

/// Why a set-up has no implicit steps in time, as what to use instead; `None` if it has them.
#[must_use]
pub fn lacks_in_time(setup: &Setup) -> Option<String> {
    let explicit = "an explicit `time.scheme`";
    lacks(setup)
        .map(|what| what.replace("Newton steps", "implicit steps").replace("`solver: explicit`", explicit))
}

/// The start of the step at which the preconditioner was made, and what its steps have cost.
#[derive(Clone)]
struct Basis {
    t: f64,
    /// `γ dt` of that step, which the order of elimination depends on.
    h: f64,
    u: Arc<Vec<f64>>,
    /// Products of its first step, and of all steps beyond that much.
    first: Option<u64>,
    extra: u64,
}

/// Implicit steps of one discretisation on the machine of `P`.
pub(crate) struct Stages<P: Parts> {
    stepper: ImplicitStepper<P::Vector>,
    system: System<P>,
    /// The state in canonical order.
    u: P::Vector,
    /// What is returned to if steps are repeated.
    kept: Option<Basis>,
}

/// The linear problem of the stages.
struct System<P: Parts> {
    linear: Linear<P>,
    gmres: Gmres<P::Vector>,
    /// Weights of errors, and their inverses.
    weights: Option<[P::Vector; 2]>,
    /// A weighted vector.
    weighted: RefCell<P::Vector>,
    /// A constant field of one, and its integrals.
    one: P::Vector,
    volumes: Vec<f64>,
    basis: Option<Basis>,
    /// `γ dt` of the present factors.
    h: f64,
    /// Products that it took to make the preconditioner.
    setup: u64,
    statistics: NewtonStatistics,
}

impl Stages<HostParts> {
    /// Steps for a set-up on the CPU.
    pub(crate) fn on_host<T: PackScalar>(
        setup: &Setup,
        steps: ImplicitSteps,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        Self::new(HostParts::of(setup, steps.newton, d.host(), d)?, steps, d)
    }
}

impl Stages<DeviceParts> {
    /// Steps for a set-up on a device.
    pub(crate) fn on_device<T: PackScalar>(
        setup: &Setup,
        steps: ImplicitSteps,
        d: &CudaDiscretization<T>,
    ) -> Result<Self, SystemError> {
        Self::new(DeviceParts::new(setup, steps.newton, d)?, steps, d.description())
    }
}

impl<P: Parts> Stages<P> {
    fn new<T: PackScalar>(
        parts: P,
        steps: ImplicitSteps,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        let zeros = parts.zeros()?;
        let gmres = Gmres::new(&zeros, steps.newton.restart)?;
        let mut one = vec![T::ZERO; d.len()];
        d.project(&Ones(d.physics().n_fields()), 0.0, &mut one);
        Ok(Self {
            stepper: ImplicitStepper::new(steps.scheme, steps.tolerance, &zeros)?,
            system: System {
                gmres,
                weights: None,
                weighted: RefCell::new(zeros.zeros_like()?),
                one: parts.vector(&d.to_canonical(&one))?,
                volumes: d.totals(&one),
                basis: None,
                h: 0.0,
                setup: 0,
                statistics: NewtonStatistics::default(),
                linear: Linear::new(parts, steps.newton)?,
            },
            u: zeros,
            kept: None,
        })
    }

    /// What the machine supplies.
    pub(crate) fn parts(&self) -> &P {
        &self.system.linear.parts
    }

    /// Whether the weights of errors are known.
    pub(crate) fn is_weighted(&self) -> bool {
        self.system.weights.is_some()
    }

    /// Sets the weights of errors, in canonical order.
    pub(crate) fn weigh(&mut self, weights: &[f64]) -> Result<(), OpsError> {
        let inverses: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
        let parts = &self.system.linear.parts;
        self.system.weights = Some([parts.vector(weights)?, parts.vector(&inverses)?]);
        Ok(())
    }

    /// Takes a step of an engine, if all of its stages can be solved.
    pub(crate) fn step<M: Marching<P>>(
        &mut self,
        mut engine: M,
        t: f64,
        dt: f64,
    ) -> Result<Option<StageFailure>, OpsError> {
        engine.begin(dt, &mut self.u)?;
        let mut effort = self.attempt(&mut engine, t, dt)?;
        let old = self.system.basis.as_ref().is_some_and(|basis| basis.t != t);
        if effort.failure.is_some() && old {
            // The preconditioner of an earlier step may be the reason.
            self.system.forget();
            engine.take_back()?;
            effort = self.attempt(&mut engine, t, dt)?;
        }
        if effort.failure.is_some() {
            self.system.forget();
            engine.take_back()?;
        }
        engine.set(&self.u)?;
        Ok(effort.failure)
    }

    fn attempt<M: Marching<P>>(&mut self, engine: &mut M, t: f64, dt: f64) -> Result<Effort, OpsError> {
        let system = &mut self.system;
        let h = self.stepper.scheme().gamma() * dt;
        system.prepare(t, h, &self.u)?;
        let before = system.linear.parts.products();
        let effort = self.stepper.step(&mut Problem { engine, system }, t, dt, &mut self.u)?;
        self.system.took(before, &effort);
        Ok(effort)
    }

    /// The size of the estimated error of the last step, of size `dt`.
    pub(crate) fn error(&mut self, dt: f64) -> f64 {
        let error = self.stepper.error(dt);
        self.system.size(error)
    }

    /// Undoes the last step.
    pub(crate) fn undo<M: Marching<P>>(&mut self, mut engine: M) -> Result<(), OpsError> {
        self.stepper.undo(&mut self.u);
        engine.take_back()?;
        engine.set(&self.u)
    }

    /// What has passed each boundary face in the last step, if the machine does not add it by itself.
    pub(crate) fn increments(&self) -> &[f64] {
        self.stepper.increments()
    }

    /// What the steps have cost.
    pub(crate) fn statistics(&self) -> NewtonStatistics {
        let System { linear, statistics, .. } = &self.system;
        NewtonStatistics {
            products: linear.parts.products(),
            product_s: linear.parts.seconds(),
            bytes: linear.parts.bytes(),
            ..*statistics
        }
    }

    /// Notes what to return to.
    pub(crate) fn keep(&mut self) {
        self.kept.clone_from(&self.system.basis);
    }

    /// Returns to what was noted.
    pub(crate) fn go_back(&mut self) {
        self.system.return_to(self.kept.clone());
    }

    /// The start of the step at which the preconditioner was made, for a checkpoint. Collective.
    pub(crate) fn histories(&self) -> Option<Histories> {
        let Basis { t, h, u, first, extra } = self.system.basis.as_ref()?;
        // Counts of products are exact numbers; none is −1.
        let first = first.map_or(-1.0, |first| first as f64);
        let fields = vec![self.parts().gathered(u)];
        Some(Histories { steps: vec![*t, *h, first, *extra as f64], fields })
    }

    /// Continues with that of a checkpoint; `None` if it does not fit.
    pub(crate) fn set_histories(&mut self, of: &Histories) -> Option<()> {
        let ([t, h, first, extra], [u]) = (&of.steps[..], &of.fields[..]) else { return None };
        if !t.is_finite() || !h.is_finite() {
            return None;
        }
        let u = Arc::new(self.parts().picked(u)?);
        let first = (*first >= 0.0).then_some(*first as u64);
        self.system.return_to(Some(Basis { t: *t, h: *h, u, first, extra: *extra as u64 }));
        Some(())
    }
}

impl<P: Parts> System<P> {
    fn forget(&mut self) {
        self.return_to(None);
    }

    fn return_to(&mut self, basis: Option<Basis>) {
        self.basis = basis;
        self.linear.forget();
    }

    /// The size of a change of the state, relative to that of the solution.
    fn size(&self, change: &P::Vector) -> f64 {
        let Some([weights, _]) = &self.weights else { return change.norm2() };
        let mut weighted = self.weighted.borrow_mut();
        weighted.add_product(1.0, change, weights, 0.0);
        weighted.norm2()
    }

    /// Makes the preconditioner for steps of which `h` is `γ dt`: as it was made before if it is known when,
    /// and at the start `u` of this step if it is not known, or has cost too much.
    fn prepare(&mut self, t: f64, h: f64, u: &P::Vector) -> Result<(), OpsError> {
        if self.basis.is_some() {
            self.make(h)?;
        }
        if self.basis.as_ref().is_none_or(|basis| basis.extra > self.setup) {
            self.forget();
            let u = Arc::new(self.linear.parts.values(u)?);
            self.basis = Some(Basis { t, h, u, first: None, extra: 0 });
            self.make(h)?;
        }
        Ok(())
    }

    /// Makes the preconditioner from what is known of it, or changes its shifts, if that is needed.
    fn make(&mut self, h: f64) -> Result<(), OpsError> {
        let Some(basis) = &self.basis else { return Ok(()) };
        let new = !self.linear.is_made();
        if new {
            let u = self.linear.parts.vector(&basis.u)?;
            self.linear.parts.linearise(basis.t, &u)?;
            let (before, h) = (self.linear.parts.products(), basis.h);
            self.factorise(h)?;
            self.setup = self.linear.parts.products() - before;
        }
        if self.h != h {
            self.factorise(h)?;
        }
        Ok(())
    }

    /// Factorises with the shift `1/h`; makes what is not made.
    fn factorise(&mut self, h: f64) -> Result<(), OpsError> {
        let elements = self.linear.parts.n_elements();
        self.linear.parts.set_pseudo_time(&vec![1.0 / h; elements], &vec![h; elements])?;
        self.h = h;
        Ok(self.linear.prepare(&mut self.statistics)?)
    }

    /// Notes what a step took, of which `before` products had been taken before.
    fn took(&mut self, before: u64, effort: &Effort) {
        self.statistics.steps += effort.corrections;
        self.statistics.linear_iterations += effort.iterations;
        let products = self.linear.parts.products() - before;
        if let Some(basis) = &mut self.basis {
            let first = *basis.first.get_or_insert(products);
            basis.extra += products.saturating_sub(first);
        }
    }
}

/// A step in progress.
struct Problem<'a, P: Parts, M> {
    engine: &'a mut M,
    system: &'a mut System<P>,
}

impl<P: Parts, M: Marching<P>> StageProblem for Problem<'_, P, M> {
    type Vector = P::Vector;
    type Error = OpsError;

    fn begin_stage(&mut self, weight: f64) -> Result<(), OpsError> {
        self.engine.begin_stage(weight)
    }

    fn rate(&mut self, t: f64, u: &P::Vector, du: &mut P::Vector) -> Result<bool, OpsError> {
        self.engine.rate(&self.system.linear.parts, t, u, du)
    }

    fn tally(&self) -> &[f64] {
        self.engine.tally()
    }

    fn size(&mut self, change: &P::Vector) -> f64 {
        self.system.size(change)
    }

    fn correct(
        &mut self,
        t: f64,
        _h: f64,
        u: &P::Vector,
        r: &P::Vector,
        tolerance: f64,
        delta: &mut P::Vector,
    ) -> Result<Correction, OpsError> {
        let begun = Instant::now();
        let System { linear, gmres, weights, weighted, statistics, .. } = &mut *self.system;
        linear.parts.linearise(t, u)?;
        let max_iterations = linear.newton.max_iterations;
        let reference = Reference::InitialResidual;
        let stop = Stop { relative: tolerance, reference, absolute: 0.0, max_iterations };
        delta.fill(0.0);
        // It was made at the start of the step.
        if !linear.is_made() {
            return Ok(Correction { iterations: 0, solved: false });
        }
        let solved = weighted_solve(linear, gmres, weights.as_ref(), weighted, r, delta, &stop);
        if let Some(failure) = linear.parts.failure() {
            return Err(failure.into());
        }
        statistics.solve_s += begun.elapsed().as_secs_f64();
        Ok(match solved? {
            Ok(iterations) => Correction { iterations, solved: true },
            // The last iterate is a correction as well.
            Err(SolveError::MaxIterations { iterations, .. } | SolveError::Stagnated { iterations, .. }) => {
                Correction { iterations, solved: false }
            }
            Err(_) => {
                delta.fill(0.0);
                Correction { iterations: 0, solved: false }
            }
        })
    }

    /// Adds a constant to each field.
    fn conserve(&mut self, r: &P::Vector, u: &mut P::Vector) -> Result<(), OpsError> {
        let System { linear, one, volumes, .. } = &*self.system;
        let totals = self.engine.totals(r)?;
        let shares: Vec<f64> = totals.iter().zip(volumes).map(|(r, volume)| r / volume).collect();
        Ok(linear.parts.add_fields(&shares, one, u)?)
    }
}

/// Solves `(1 − h R′) δ = r` with residuals that are measured as errors are; returns the iterations.
fn weighted_solve<P: Parts>(
    linear: &mut Linear<P>,
    gmres: &mut Gmres<P::Vector>,
    weights: Option<&[P::Vector; 2]>,
    work: &RefCell<P::Vector>,
    r: &P::Vector,
    delta: &mut P::Vector,
    stop: &Stop,
) -> Result<Result<usize, SolveError>, OpsError> {
    let (operator, inverse) = linear.problem();
    let operator = Weighted { of: operator, weights: weights.map(|[weights, _]| weights), work };
    let mut inverse =
        Unweighted { of: inverse, inverses: weights.map(|[_, inverses]| inverses), r: r.zeros_like()? };
    let mut right = r.zeros_like()?;
    match weights {
        Some([weights, _]) => right.add_product(1.0, r, weights, 0.0),
        None => right.copy_from(r),
    }
    let solved = gmres.solve(&operator, &mut inverse, &right, delta, stop);
    Ok(solved.map(|solution| solution.iterations))
}

/// An operator with rows that have the weights of errors.
struct Weighted<'a, P: Parts> {
    of: Operator<'a, P>,
    weights: Option<&'a P::Vector>,
    work: &'a RefCell<P::Vector>,
}

impl<P: Parts> LinearOperator<P::Vector> for Weighted<'_, P> {
    fn n_rows(&self) -> usize {
        self.of.n_rows()
    }

    fn apply(&self, x: &P::Vector, y: &mut P::Vector) {
        let Some(weights) = self.weights else { return self.of.apply(x, y) };
        let mut work = self.work.borrow_mut();
        self.of.apply(x, &mut work);
        y.add_product(1.0, &work, weights, 0.0);
    }
}

/// A preconditioner of such an operator.
struct Unweighted<'a, P: Parts> {
    of: Inverse<'a, P>,
    inverses: Option<&'a P::Vector>,
    r: P::Vector,
}

impl<P: Parts> Preconditioner<P::Vector> for Unweighted<'_, P> {
    fn apply(&mut self, r: &P::Vector, z: &mut P::Vector) {
        match self.inverses {
            Some(inverses) => self.r.add_product(1.0, r, inverses, 0.0),
            None => self.r.copy_from(r),
        }
        self.of.apply(&self.r, z);
    }
}

/// Fields that are one.
struct Ones(usize);

impl Exact for Ones {
    fn n_fields(&self) -> usize {
        self.0
    }

    fn eval(&self, _t: f64, points: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(|field| {
            field.clear();
            field.resize(points.len(), 1.0);
        });
    }

    fn is_steady(&self) -> bool {
        true
    }
}
