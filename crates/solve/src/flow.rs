//! Conservation laws: set-up, time stepping, norms, integrals, sampling, saved states.
//!
//! ```
//! use dgsuite_solve::flow::*;
//! use dgsuite_mesh::{Shape, generate::Box as Square};
//! use dgsuite_physics::exact;
//! use std::sync::Arc;
//!
//! let mut mesh = Square::unit(Shape::Triangle, 8).build()?;
//! mesh.make_periodic("xmin", "xmax")?;
//! mesh.make_periodic("ymin", "ymax")?;
//! let setup = Setup::new(Arc::new(mesh), Law::Advection { velocity: vec![1.0, 0.5] }, 3);
//! let model = exact::Model::Advection { velocity: [1.0, 0.5, 0.0] };
//! let context = exact::Context { dim: 2, model, period: [1.0, 1.0, 0.0] };
//! let wave = exact::by_name("sine-wave", &Default::default(), &context)?;
//! let mut solver = Flow::new(setup, wave.as_ref(), 0.0)?;
//! let dt = 0.5 * solver.stable_dt()?;
//! solver.step(dt)?;
//! assert!(solver.conservation()[0].1 < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ahead;
mod attempt;
mod boundary_points;
mod closed;
mod continuation;
mod damping;
mod drive;
mod failure;
mod integrals;
mod limited;
mod of_incompressible;
mod saved;
mod sensitivity;
mod slowest;
mod step_limits;

use std::fmt;
use std::sync::Arc;

use self::boundary_points::surface;
use self::drive::Driving;
pub use super::device::{Device, DeviceError};
use super::dispatch;
use super::elliptic::LineDescription;
use super::engine::Engine;
pub use super::engine::LargestRate;
pub use super::error::SystemError;
pub use super::kernel_choice::KernelChoice;
use super::rank_mesh::{Place, RankMesh};
use super::ranked::Ranked;
pub use super::sampled::SampledSet;
pub use super::setup::{BoundaryKind, Drive, Law, Precision, ReactionTerm, Riemann, Setup, SourceTerm};
pub use super::solves::{Histories, SolveStatistics};
pub use super::state::State;
pub use super::two_point::SplitFlux;
use super::words::gathered::in_order;
use crate::implicit::NewtonStatistics;
use crate::post::Surface;
pub use dgsuite_basis::correction::Parameter;
pub use dgsuite_basis::{Correction, Cubature, NodeSet, Polynomials, Representation};
use dgsuite_gpu::{ExactSum, GpuError, Host};
use dgsuite_ops::cuda::SamplesUnderWay;
use dgsuite_ops::filter_widths;
pub use dgsuite_ops::{Form, MetricRule, OpsError, StepMeasure};
use dgsuite_ops::{PartSummary, Sample};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_timeint::NewtonStep;
pub use failure::{Coldest, Fastest, Origin, Taken, Trail};
pub use step_limits::FASTER;

/// Norms of an error by variable: conserved variables, then the primitive variables that are not conserved.
#[derive(Clone, Debug, PartialEq)]
pub struct Norms {
    /// Names of the variables.
    pub names: Vec<String>,
    /// `∫ |e|`.
    pub l1: Vec<f64>,
    /// `(∫ e²)^½`.
    pub l2: Vec<f64>,
    /// Largest `|e|` over the cubature's points.
    pub linf: Vec<f64>,
}

/// The elements of one shape and geometry kind.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDescription {
    /// Sizes and schemes of the part.
    pub part: PartSummary,
    /// Largest geometry order of the shape.
    pub geometry_order: usize,
}

impl fmt::Display for GroupDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.part;
        let rule = |c: Cubature| match c {
            Cubature::Collocated => "collocated".to_owned(),
            Cubature::Nodes(set) => format!("at {set} nodes"),
            Cubature::Degree(d) => format!("degree {d}"),
        };
        write!(
            f,
            "{} {} elements, {} basis functions, volume {} points ({}), faces {} points ({}), {} metric",
            p.elements,
            p.shape,
            p.n_basis,
            p.volume_points,
            rule(p.volume),
            p.face_points,
            rule(p.face),
            p.rule.name()
        )
    }
}

/// Sizes, memory and device of a solver, for plans and summaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Element groups.
    pub groups: Vec<GroupDescription>,
    /// Degrees of freedom: elements × basis functions × fields.
    pub dofs: usize,
    /// Bytes of states, geometry and tables.
    pub bytes: usize,
    /// Faces of the mesh.
    pub faces: usize,
    /// CPU threads.
    pub threads: usize,
    /// The instruction level in use, or the device's architecture.
    pub kernel: String,
    /// The device in the pipeline file's form: `cpu`, `cuda:0`.
    pub device: String,
    /// The name of a GPU; empty for the CPU.
    pub device_name: String,
    /// The kernels of a GPU.
    pub kernels: Vec<KernelChoice>,
    /// The linelets of the smoother of the pressure, if it has them.
    pub lines: Option<LineDescription>,
}

/// Values on lattices that are being copied from a device.
pub struct LaterSets {
    samples: SamplesUnderWay,
    mesh: RankMesh,
}

impl LaterSets {
    /// Waits until they have arrived.
    ///
    /// # Errors
    /// A failure of the device.
    pub fn wait(self) -> Result<Vec<SampledSet>, GpuError> {
        let set = |s: Sample| SampledSet {
            shape: s.shape,
            points: s.points,
            values: s.values,
            gradients: Vec::new(),
            elements: s.elements.iter().map(|&e| self.mesh.tag(e)).collect(),
            widths: Vec::new(),
        };
        Ok(self.samples.wait()?.into_iter().map(set).collect())
    }
}

/// The name of the filter width of a closure in formulas of derivatives.
pub const FILTER_WIDTH: &str = "filter_width";

/// A solver for a conservation law.
pub struct Flow {
    setup: Setup,
    host: Arc<Host>,
    engine: Box<dyn Engine>,
    variables: Vec<&'static str>,
    primitives: Vec<&'static str>,
    time: f64,
    steps: usize,
    start: Vec<f64>,
    start_size: Vec<f64>,
    driving: Option<Driving>,
    /// The filter widths of a closure by the positions of the elements in the mesh that this rank holds;
    /// empty without one.
    widths: Vec<f64>,
}

impl Flow {
    /// Sets up a solver with the state `initial` at time `t0`.
    ///
    /// With several ranks in `setup.comm`, each rank works on its part of the mesh, and all of them call the
    /// functions of their solvers in the same order. Norms, integrals and step sizes are the same on all
    /// ranks. States, samples and values at points are complete on rank 0 and empty on the others.
    ///
    /// # Errors
    /// [`SystemError`] if the scheme does not exist on the mesh, a boundary has no condition, or memory or
    /// device do not suffice.
    pub fn new(setup: Setup, initial: &dyn Exact, t0: f64) -> Result<Self, SystemError> {
        let host = Arc::new(Host::new(setup.threads)?);
        let ranks = setup.share()?;
        let mut engine = dispatch::engine(&setup, ranks.as_ref(), &host, &setup.space(), initial, t0)?;
        if let Some(ranks) = ranks {
            engine = Box::new(Ranked::new(engine, ranks, setup.mesh.clone()));
        }
        let (variables, primitives) = (engine.variables(), engine.primitives());
        let (start, start_size) = (engine.totals(), engine.absolute_totals());
        let driving = setup.drive.map(|drive| Driving::new(drive, variables.len()));
        let widths = match setup.law.closure() {
            Some(_) => filter_widths(setup.mesh.seen(), setup.order, setup.filter_width.as_ref())?,
            None => Vec::new(),
        };
        Ok(Self {
            setup,
            host,
            engine,
            widths,
            variables,
            primitives,
            time: t0,
            steps: 0,
            start,
            start_size,
            driving,
        })
    }

    /// Returns sizes, memory and device of the solver.
    #[must_use]
    pub fn describe(&self) -> Description {
        let (mesh, sets) = (&self.setup.mesh, self.setup.mesh.set_sizes());
        let d = self.engine.discretization();
        let order = |shape| sets.iter().filter(|s| s.shape == shape).map(|s| s.order).max().unwrap_or(1);
        let groups = d
            .summary()
            .into_iter()
            .map(|part| GroupDescription { geometry_order: order(part.shape), part })
            .collect();
        Description {
            groups,
            dofs: d.dofs(),
            bytes: d.bytes() + self.engine.state_bytes(),
            faces: mesh.n_faces(),
            threads: self.host.n_threads(),
            kernel: d.kernel(),
            device: self.setup.device.to_string(),
            device_name: d.device_name(),
            kernels: d.kernels(),
            lines: d.lines(),
        }
    }

    /// The kernels that a GPU would run; empty for incompressible flow.
    #[must_use]
    pub fn forecast(&self) -> Vec<KernelChoice> {
        self.engine.discretization().forecast()
    }

    /// Returns the parameters.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Time of the state.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Sets the time, as when a step lands exactly on an output time.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// Sets the number of steps done, as when a state is taken from another run.
    pub fn set_steps(&mut self, steps: usize) {
        self.steps = steps;
    }

    /// Returns whether a condition holds on any rank; all ranks call this together.
    ///
    /// # Errors
    /// If a rank is lost.
    pub fn any(&self, here: bool) -> Result<bool, SystemError> {
        let any = self.engine.any(here);
        self.engine.connected()?;
        Ok(any)
    }

    /// Number of steps done.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Number of evaluations of the right-hand side.
    #[must_use]
    pub fn rhs_evaluations(&self) -> u64 {
        self.engine.rhs_evaluations()
    }

    /// Names of the conserved variables.
    #[must_use]
    pub fn variables(&self) -> Vec<&'static str> {
        self.variables.clone()
    }

    /// Names of the primitive variables.
    #[must_use]
    pub fn primitives(&self) -> Vec<&'static str> {
        self.primitives.clone()
    }

    /// Number of unknowns.
    #[must_use]
    pub fn n_fields(&self) -> usize {
        self.variables.len()
    }

    /// Dimension of the mesh.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.setup.mesh.dim()
    }

    /// Returns the smallest step over all elements that counts as one in [the set-up's
    /// measure](Setup::step_measure): for `cfl = 1`, the smallest `h / ((2p + 1)(λ + ν σ/τ))`.
    ///
    /// # Errors
    /// [`SystemError::NotFinite`] if the state is not finite or not admissible for a gas.
    pub fn stable_dt(&mut self) -> Result<f64, SystemError> {
        let outcome = self.engine.stable_dt();
        outcome.map_err(|e| self.located(e))
    }

    /// Returns the CFL number of the default steps in the current state: the largest stable step of the time
    /// scheme, from the spectrum of each element, relative to the step for `cfl = 1`.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn stable_cfl(&mut self) -> Result<f64, SystemError> {
        let (radius, cfl) = (self.measured(StepMeasure::Radius)?, self.measured(StepMeasure::Cfl)?);
        Ok(self.setup.stable_radius() * radius / cfl)
    }

    /// Takes one step of size `dt`.
    ///
    /// This function does not check the new state: [`stable_dt`](Self::stable_dt), called before the next
    /// step, finds values that are not finite or not admissible.
    ///
    /// # Errors
    /// [`SystemError`] of the operators.
    pub fn step(&mut self, dt: f64) -> Result<(), SystemError> {
        self.weigh_errors_first()?;
        self.engine.step(self.time, dt).map_err(|e| self.with_place(e))?;
        self.keep_flow_rate(dt)?;
        self.time += dt;
        self.steps += 1;
        Ok(())
    }

    /// Adds the place to an error of the operators.
    fn with_place(&self, error: SystemError) -> SystemError {
        match error {
            SystemError::Ops(error) => self.located(error),
            other => other,
        }
    }

    /// Takes one step in which each element takes its own stable step times `cfl`; the time does not change.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_local(&mut self, cfl: f64) -> Result<(), SystemError> {
        let (time, law) = (self.time, self.setup.law.name());
        let Some(engine) = self.engine.one_step() else {
            return Err(SystemError::Unavailable { law, what: "with steps of each element".to_owned() });
        };
        let outcome = engine.step_local(time, cfl).and_then(|()| self.engine.connected());
        outcome.map_err(|e| self.located(e))?;
        self.steps += 1;
        Ok(())
    }

    /// Takes a Newton step towards a steady state; the time does not change.
    ///
    /// # Errors
    /// As [`step`](Self::step); [`SystemError::Unavailable`] if the set-up has no Newton steps.
    pub fn newton_step(&mut self) -> Result<NewtonStep, SystemError> {
        let (t, law) = (self.time, self.setup.law.name());
        let Some(newton) = self.engine.newton() else {
            return Err(SystemError::Unavailable { law, what: "by Newton steps".to_owned() });
        };
        let taken = newton.newton_step(t);
        let step = taken.map_err(|e| self.located(e))?;
        self.steps += 1;
        Ok(step)
    }

    /// Where the flow is farthest from steady; `None` without Newton steps, and where nothing changes.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn largest_rate(&mut self) -> Result<Option<LargestRate>, SystemError> {
        let t = self.time;
        let Some(newton) = self.engine.newton() else { return Ok(None) };
        let largest = newton.largest_rate(t);
        largest.map_err(|e| self.located(e))
    }

    /// How much an explicit step of its element would change each conserved variable, relative to its largest
    /// size in the domain, on the lattice of order `order`: where a flow is not steady yet. `None` without
    /// Newton steps; nothing on ranks other than the first. Collective.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn relative_rates(&mut self, order: usize) -> Result<Option<Vec<SampledSet>>, SystemError> {
        let t = self.time;
        let Some(newton) = self.engine.newton() else { return Ok(None) };
        let rates = newton.relative_rates(t, order).map_err(|e| self.located(e))?;
        let set = |sample: Sample| {
            let elements = sample.elements.iter().map(|&e| self.setup.mesh.tag(e)).collect();
            let Sample { shape, points, values, .. } = sample;
            SampledSet { shape, points, values, gradients: Vec::new(), elements, widths: Vec::new() }
        };
        Ok(Some(rates.into_iter().map(in_order).map(set).collect()))
    }

    /// What the Newton steps have cost so far.
    #[must_use]
    pub fn newton_statistics(&self) -> Option<NewtonStatistics> {
        self.engine.newton_statistics()
    }

    /// Returns the L² norm of `∂u/∂t`, per conserved variable.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn residual(&mut self) -> Result<Vec<f64>, SystemError> {
        let outcome = self.engine.residual(self.time);
        outcome.map_err(|e| self.located(e))
    }

    /// Returns the effect of rounding on the residual: the L² norm of `R(u (1 ± ε)) − R(u)` per conserved
    /// variable, with a sign for each coefficient. A residual of this size has no meaning any more. `None` if
    /// steps depend on more than the state.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn rounding(&mut self) -> Result<Option<Vec<f64>>, SystemError> {
        let time = self.time;
        let Some(engine) = self.engine.one_step() else { return Ok(None) };
        let outcome = engine.rounding(time).and_then(|norms| self.engine.connected().map(|()| norms));
        outcome.map(Some).map_err(|e| self.located(e))
    }

    /// Returns the norms of the difference to `exact` at time `t`; NaN for a variable that has no value at
    /// some point, such as the velocity where the density is 0.
    #[must_use]
    pub fn errors(&self, exact: &dyn Exact, t: f64) -> Norms {
        let (names, mut n) = self.engine.errors(exact, t);
        // A maximum passes over points without a value, a sum does not.
        n.linf.iter_mut().zip(&n.l1).filter(|(_, l1)| l1.is_nan()).for_each(|(linf, _)| *linf = f64::NAN);
        Norms { names, l1: n.l1, l2: n.l2, linf: n.linf }
    }

    /// Returns the integrals of the conserved variables, as the scheme conserves them.
    #[must_use]
    pub fn conserved_totals(&self) -> Vec<f64> {
        self.engine.totals()
    }

    /// Returns the integrals of the absolute values of the conserved variables.
    pub fn absolute_totals(&self) -> Vec<f64> {
        self.engine.absolute_totals()
    }

    /// Returns `|∫u(t) − ∫u(0) − ∫∫ boundary rates| / ∫|u(0)|` per variable; the numerator if that is 0. The
    /// rates include those of the force of a prescribed flow rate. Collective.
    #[must_use]
    pub fn conservation(&self) -> Vec<(String, f64)> {
        let now = self.engine.totals();
        let through = self.with_given(self.engine.whole_boundary_sums());
        let through: Vec<f64> = through.iter().map(ExactSum::value).collect();
        (0..now.len())
            .map(|k| {
                let defect = (now[k] - self.start[k] - through[k]).abs();
                let size = self.start_size[k];
                (self.variables[k].to_owned(), if size > 0.0 { defect / size } else { defect })
            })
            .collect()
    }

    /// Returns the flow at the points of a boundary, with the viscous stress.
    ///
    /// # Errors
    /// [`SystemError::NoBoundary`] if the mesh has no such boundary.
    pub fn surface(&self, boundary: &str) -> Result<Surface, SystemError> {
        let missing = || SystemError::NoBoundary { name: boundary.to_owned() };
        let samples = self.engine.boundary_samples(self.time, boundary).ok_or_else(missing)?;
        let (d, kind) = (self.engine.discretization(), self.setup.boundaries.get(boundary));
        Ok(surface(samples, &self.setup.law, kind, self.dim(), |u, w| d.to_primitive(u, w)))
    }

    /// Returns primitive variables on the lattice of order `order`, for writers.
    #[must_use]
    pub fn sample(&self, order: usize) -> Vec<SampledSet> {
        self.sampled(order, false)
    }

    /// As [`Self::sample`] for the current state, but the samples arrive while the run continues; `None` if
    /// this has no advantage.
    pub fn sample_later(&mut self, order: usize) -> Option<LaterSets> {
        let samples = self.engine.sample_later(order)?;
        Some(LaterSets { samples, mesh: self.setup.mesh.clone() })
    }

    /// [`Self::sample`] with the gradients of the primitive variables.
    #[must_use]
    pub fn sample_with_gradients(&self, order: usize) -> Vec<SampledSet> {
        self.sampled(order, true)
    }

    fn sampled(&self, order: usize, gradients: bool) -> Vec<SampledSet> {
        self.primitive(self.conserved(order, gradients))
    }

    /// As [`Self::sample`], or with gradients as [`Self::sample_with_gradients`], for the elements of this
    /// rank only. Collective: all ranks call it.
    #[must_use]
    pub fn sample_own(&self, order: usize, gradients: bool) -> Vec<SampledSet> {
        let samples = self.engine.own_samples(gradients.then_some(self.time), order);
        self.primitive(samples.into_iter().filter(|s| !s.elements.is_empty()).collect())
    }

    /// Returns conserved variables on the lattice of order `order`, in the order of the elements of each
    /// shape: polynomials of the space are determined by their values there, if the order is not below that
    /// of the space.
    pub fn conserved(&self, order: usize, gradients: bool) -> Vec<Sample> {
        let samples = match gradients {
            true => self.engine.sample_with_gradients(self.time, order),
            false => self.engine.sample(order),
        };
        samples.into_iter().map(in_order).collect()
    }

    /// Converts samples of conserved variables, and of their gradients if they have them. States between the
    /// points of a limiter are kept above their floor.
    pub fn primitive(&self, samples: Vec<Sample>) -> Vec<SampledSet> {
        let (n, dim) = (self.n_fields(), self.dim());
        let d = self.engine.discretization();
        samples
            .into_iter()
            .map(|mut s| {
                let (mut u, mut w) = (vec![0.0; n], vec![0.0; n]);
                let (mut g, mut h) = (vec![0.0; n * dim], vec![0.0; n * dim]);
                let of_element = s.points.len() / s.elements.len().max(1);
                for i in 0..s.points.len() {
                    for k in 0..n {
                        u[k] = s.values[k][i];
                    }
                    if let Some(floor) = s.floors.get(i / of_element) {
                        d.keep_above(floor, &mut u);
                    }
                    d.to_primitive(&u, &mut w);
                    for k in 0..n {
                        s.values[k][i] = w[k];
                    }
                    if !s.gradients.is_empty() {
                        for (g, column) in g.iter_mut().zip(s.gradients.iter().flatten()) {
                            *g = column[i];
                        }
                        d.primitive_gradient(&u, &g, &mut h);
                        for (h, column) in h.iter().zip(s.gradients.iter_mut().flatten()) {
                            column[i] = *h;
                        }
                    }
                }
                let elements = s.elements.iter().map(|&e| self.setup.mesh.tag(e)).collect();
                let widths = match &self.widths[..] {
                    [] => Vec::new(),
                    all => s.elements.iter().map(|&e| all[self.setup.mesh.position(e)]).collect(),
                };
                SampledSet {
                    shape: s.shape,
                    points: s.points,
                    values: s.values,
                    gradients: s.gradients.into_iter().flatten().collect(),
                    elements,
                    widths,
                }
            })
            .collect()
    }

    /// Returns primitive variables at points; `None` outside of the domain. Collective.
    #[must_use]
    pub fn evaluate_at(&self, points: &[[f64; 3]]) -> Vec<Option<Vec<f64>>> {
        // A failure of the communication ends the run at the next step.
        let places = self.setup.mesh.find(points).unwrap_or_else(|_| vec![None; points.len()]);
        self.evaluate_in(&places)
    }

    /// Returns primitive variables at points found by [`Mesh::find_point`](dgsuite_mesh::Mesh::find_point),
    /// with their elements; `None` for points that are not in the mesh.
    #[must_use]
    pub fn evaluate_in(&self, places: &[Option<Place>]) -> Vec<Option<Vec<f64>>> {
        let d = self.engine.discretization();
        let primitive = |u: Vec<f64>| {
            let mut w = vec![0.0; u.len()];
            d.to_primitive(&u, &mut w);
            w
        };
        self.engine.states_at(places).into_iter().map(|u| u.map(primitive)).collect()
    }

    /// Adds the time and step of this run to an error of the operators.
    fn located(&self, error: OpsError) -> SystemError {
        match error {
            OpsError::State { what, element, at, state } => {
                let mut named: Vec<(String, f64)> =
                    self.variables.iter().map(ToString::to_string).zip(state.iter().copied()).collect();
                if self.setup.law.gas().is_some() {
                    // Pressure and temperature show the user which of them is negative.
                    let mut w = vec![0.0; state.len()];
                    self.engine.discretization().to_primitive(&state, &mut w);
                    let (rho, p) = (w[0], w[w.len() - 1]);
                    named.push(("p".to_owned(), p));
                    named.push(("T".to_owned(), p / (rho * self.setup.law.gas_constant())));
                }
                SystemError::NotFinite {
                    time: self.time,
                    step: self.steps,
                    element,
                    coordinates: at,
                    what,
                    state: named,
                }
            }
            other => SystemError::Ops(other),
        }
    }
}
