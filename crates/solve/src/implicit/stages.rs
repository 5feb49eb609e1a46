//! Implicit steps in time: the stages of a discretisation, and what they keep from step to step.
//!
//! The preconditioner is that of Newton steps towards a steady state, with the same shift `1/(γ dt)` in all
//! elements. It is made at the start of a step and kept until its steps have taken as many products beyond
//! those of the first one as it took to make it. The state at which it was made is part of a checkpoint, so
//! that a run that is continued has the same preconditioner, and the same bits.

use std::sync::Arc;
use std::time::Instant;

use dgsuite_amg::{Gmres, LinearOperator, Preconditioner, Reference, SolveError, Stop};
use dgsuite_gpu::{Host, HostVector, Vector};
use dgsuite_ops::{Discretization, OpsError, PackScalar};
use dgsuite_physics::Exact;
use dgsuite_timeint::{Correction, Effort, ImplicitStepper, StageFailure, StageProblem};

use super::host::HostParts;
use super::linear::{Inverse, Linear, Operator};
use super::parts::Parts;
use super::{NewtonStatistics, lacks};
use crate::SystemError;
use crate::device::Device;
use crate::setup::{ImplicitSteps, Setup};
use crate::solves::Histories;

/// Why a set-up has no implicit steps in time, as what to use instead; `None` if it has them.
#[must_use]
pub fn lacks_in_time(setup: &Setup) -> Option<String> {
    if setup.device != Device::Cpu {
        return Some("implicit steps run on the CPU: `device: cpu`, or an explicit `time.scheme`".to_owned());
    }
    if setup.comm.size() > 1 {
        return Some("implicit steps run on one rank, or take an explicit `time.scheme`".to_owned());
    }
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

/// Implicit steps of one discretisation.
pub(crate) struct Stages {
    stepper: ImplicitStepper<HostVector<f64>>,
    system: System,
    /// The state in canonical order.
    u: HostVector<f64>,
    /// What is returned to if steps are repeated.
    kept: Option<Basis>,
}

/// The linear problem of the stages.
struct System {
    linear: Linear<HostParts>,
    gmres: Gmres<HostVector<f64>>,
    /// Weights of errors, and their inverses.
    weights: Option<[HostVector<f64>; 2]>,
    /// A constant field of one.
    one: Vec<f64>,
    basis: Option<Basis>,
    /// `γ dt` of the present factors.
    h: f64,
    /// Products that it took to make the preconditioner.
    setup: u64,
    statistics: NewtonStatistics,
}

impl Stages {
    /// Steps for a set-up.
    pub(crate) fn new<T: PackScalar>(
        setup: &Setup,
        steps: ImplicitSteps,
        host: &Arc<Host>,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        let fields = d.physics().n_fields();
        let parts = HostParts::of(setup, steps.newton, host, d)?;
        let zeros = parts.zeros()?;
        let gmres = Gmres::new(&zeros, steps.newton.restart)?;
        let linear = Linear::new(parts, steps.newton)?;
        let mut one = HostVector::zeros(host, d.len())?;
        d.project(&Ones(fields), 0.0, &mut one);
        Ok(Self {
            stepper: ImplicitStepper::new(steps.scheme, steps.tolerance, &zeros)?,
            system: System {
                linear,
                gmres,
                weights: None,
                one: d.to_canonical(&one),
                basis: None,
                h: 0.0,
                setup: 0,
                statistics: NewtonStatistics::default(),
            },
            u: zeros,
            kept: None,
        })
    }

    /// Whether the weights of errors are known.
    pub(crate) fn is_weighted(&self) -> bool {
        self.system.weights.is_some()
    }

    /// Sets the weights of errors, in canonical order.
    pub(crate) fn weigh(&mut self, weights: &[f64]) -> Result<(), OpsError> {
        let inverses: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
        let host = &self.system.linear.parts.host;
        let vector = |values: &[f64]| HostVector::from_slice(host, values);
        self.system.weights = Some([vector(weights)?, vector(&inverses)?]);
        Ok(())
    }

    /// Takes a step from the state `u`, if all of its stages can be solved.
    pub(crate) fn step<T: PackScalar>(
        &mut self,
        d: &mut Discretization<T>,
        t: f64,
        dt: f64,
        u: &mut HostVector<T>,
    ) -> Result<Option<StageFailure>, OpsError> {
        self.u.copy_from_slice(&d.to_canonical(u));
        let mut effort = self.attempt(d, t, dt, u)?;
        let old = self.system.basis.as_ref().is_some_and(|basis| basis.t != t);
        if effort.failure.is_some() && old {
            // The preconditioner of an earlier step may be the reason.
            self.system.forget();
            effort = self.attempt(d, t, dt, u)?;
        }
        if effort.failure.is_some() {
            self.system.forget();
        }
        // The lengths agree by construction.
        let _ = d.from_canonical(&self.u, u);
        Ok(effort.failure)
    }

    fn attempt<T: PackScalar>(
        &mut self,
        d: &mut Discretization<T>,
        t: f64,
        dt: f64,
        u: &HostVector<T>,
    ) -> Result<Effort, OpsError> {
        let system = &mut self.system;
        let h = self.stepper.scheme().gamma() * dt;
        system.prepare(t, h, &self.u)?;
        let before = system.linear.parts.products();
        let (state, rate) = (u.zeros_like()?, u.zeros_like()?);
        let mut problem = Problem { d, state, rate, system };
        let effort = self.stepper.step(&mut problem, t, dt, &mut self.u)?;
        self.system.took(before, &effort);
        Ok(effort)
    }

    /// The size of the estimated error of the last step, of size `dt`.
    pub(crate) fn error(&mut self, dt: f64) -> f64 {
        let error = self.stepper.error(dt);
        self.system.size(error)
    }

    /// Undoes the last step.
    pub(crate) fn undo<T: PackScalar>(&mut self, d: &Discretization<T>, u: &mut HostVector<T>) {
        self.stepper.undo(&mut self.u);
        // The lengths agree by construction.
        let _ = d.from_canonical(&self.u, u);
    }

    /// What has passed each boundary face in the last step.
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

    /// The start of the step at which the preconditioner was made, for a checkpoint.
    pub(crate) fn histories(&self) -> Option<Histories> {
        let Basis { t, h, u, first, extra } = self.system.basis.as_ref()?;
        // Counts of products are exact numbers; none is −1.
        let first = first.map_or(-1.0, |first| first as f64);
        Some(Histories { steps: vec![*t, *h, first, *extra as f64], fields: vec![u.to_vec()] })
    }

    /// Continues with that of a checkpoint; `None` if it does not fit.
    pub(crate) fn set_histories(&mut self, of: &Histories) -> Option<()> {
        let ([t, h, first, extra], [u]) = (&of.steps[..], &of.fields[..]) else { return None };
        if u.len() != self.u.len() || !t.is_finite() || !h.is_finite() {
            return None;
        }
        let first = (*first >= 0.0).then_some(*first as u64);
        let basis = Basis { t: *t, h: *h, u: Arc::new(u.clone()), first, extra: *extra as u64 };
        self.system.return_to(Some(basis));
        Some(())
    }
}

impl System {
    fn forget(&mut self) {
        self.return_to(None);
    }

    fn return_to(&mut self, basis: Option<Basis>) {
        self.basis = basis;
        self.linear.forget();
    }

    /// The size of a change of the state, relative to that of the solution.
    fn size(&self, change: &HostVector<f64>) -> f64 {
        let Some([weights, _]) = &self.weights else { return change.norm2() };
        let mut weighted = change.clone();
        weighted.add_product(1.0, change, weights, 0.0);
        weighted.norm2()
    }

    /// Makes the preconditioner for steps of which `h` is `γ dt`: as it was made before if it is known when,
    /// and at the start `u` of this step if it is not known, or has cost too much.
    fn prepare(&mut self, t: f64, h: f64, u: &[f64]) -> Result<(), OpsError> {
        if self.basis.is_some() {
            self.make(h)?;
        }
        if self.basis.as_ref().is_none_or(|basis| basis.extra > self.setup) {
            self.forget();
            self.basis = Some(Basis { t, h, u: Arc::new(u.to_vec()), first: None, extra: 0 });
            self.make(h)?;
        }
        Ok(())
    }

    /// Makes the preconditioner from what is known of it, or changes its shifts, if that is needed.
    fn make(&mut self, h: f64) -> Result<(), OpsError> {
        let Some(basis) = &self.basis else { return Ok(()) };
        let new = !self.linear.is_made();
        if new {
            self.linear.parts.jacobian.linearise(basis.t, &basis.u);
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
        let elements = self.linear.parts.jacobian.offsets.len() - 1;
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
struct Problem<'a, T: PackScalar> {
    d: &'a mut Discretization<T>,
    /// The state and its rate in the order of the discretisation.
    state: HostVector<T>,
    rate: HostVector<T>,
    system: &'a mut System,
}

impl<T: PackScalar> StageProblem for Problem<'_, T> {
    type Vector = HostVector<f64>;
    type Error = OpsError;

    fn rate(&mut self, t: f64, u: &HostVector<f64>, du: &mut HostVector<f64>) -> Result<bool, OpsError> {
        // The lengths agree by construction.
        let _ = self.d.from_canonical(u, &mut self.state);
        match self.d.time_step(&self.state, None) {
            Ok(_) => {}
            Err(OpsError::State { .. }) => return Ok(false),
            Err(other) => return Err(other),
        }
        self.d.eval(t, &self.state, &mut self.rate);
        du.copy_from_slice(&self.d.to_canonical(&self.rate));
        // Bad values between the points that bound the step show here.
        Ok(du.iter().all(|rate| rate.is_finite()))
    }

    fn tally(&self) -> &[f64] {
        self.d.tally_of_faces()
    }

    fn size(&mut self, change: &HostVector<f64>) -> f64 {
        self.system.size(change)
    }

    fn correct(
        &mut self,
        t: f64,
        _h: f64,
        u: &HostVector<f64>,
        r: &HostVector<f64>,
        tolerance: f64,
        delta: &mut HostVector<f64>,
    ) -> Result<Correction, OpsError> {
        let begun = Instant::now();
        let System { linear, gmres, weights, statistics, .. } = &mut *self.system;
        linear.parts.jacobian.linearise(t, u);
        let max_iterations = linear.newton.max_iterations;
        let reference = Reference::InitialResidual;
        let stop = Stop { relative: tolerance, reference, absolute: 0.0, max_iterations };
        delta.fill(0.0);
        // It was made at the start of the step.
        if !linear.is_made() {
            return Ok(Correction { iterations: 0, solved: false });
        }
        let solved = weighted_solve(linear, gmres, weights.as_ref(), r, delta, &stop);
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
    fn conserve(&mut self, r: &HostVector<f64>, u: &mut HostVector<f64>) {
        let mut totals = |values: &[f64]| {
            // The lengths agree by construction.
            let _ = self.d.from_canonical(values, &mut self.state);
            self.d.totals(&self.state)
        };
        let one = &self.system.one;
        let shares: Vec<f64> = totals(r).iter().zip(totals(one)).map(|(r, volume)| r / volume).collect();
        let jacobian = &self.system.linear.parts.jacobian;
        for range in jacobian.offsets.windows(2) {
            let n = (range[1] - range[0]) / jacobian.fields();
            for (i, place) in (range[0]..range[1]).enumerate() {
                u[place] += shares[i / n] * one[place];
            }
        }
    }
}

/// Solves `(1 − h R′) δ = r` with residuals that are measured as errors are; returns the iterations.
fn weighted_solve(
    linear: &mut Linear<HostParts>,
    gmres: &mut Gmres<HostVector<f64>>,
    weights: Option<&[HostVector<f64>; 2]>,
    r: &HostVector<f64>,
    delta: &mut HostVector<f64>,
    stop: &Stop,
) -> Result<Result<usize, SolveError>, OpsError> {
    let (operator, inverse) = linear.problem();
    let operator = Weighted { of: operator, weights: weights.map(|[weights, _]| weights) };
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
struct Weighted<'a> {
    of: Operator<'a, HostParts>,
    weights: Option<&'a HostVector<f64>>,
}

impl LinearOperator<HostVector<f64>> for Weighted<'_> {
    fn n_rows(&self) -> usize {
        self.of.n_rows()
    }

    fn apply(&self, x: &HostVector<f64>, y: &mut HostVector<f64>) {
        self.of.apply(x, y);
        if let Some(weights) = self.weights {
            y.iter_mut().zip(weights.iter()).for_each(|(y, w)| *y *= w);
        }
    }
}

/// A preconditioner of such an operator.
struct Unweighted<'a> {
    of: Inverse<'a, HostParts>,
    inverses: Option<&'a HostVector<f64>>,
    r: HostVector<f64>,
}

impl Preconditioner<HostVector<f64>> for Unweighted<'_> {
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
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
