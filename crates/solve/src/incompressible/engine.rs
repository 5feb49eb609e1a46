//! Incompressible flow as the engine of a run: steps, norms, samples and saved states.

use super::boundary::Boundaries;
use super::components::Components;
use super::device::DeviceMachine;
use super::flow::{Flow, Parts};
use super::forcing::Forces;
use super::helmholtz::stop;
use super::host::HostMachine;
use super::laws;
use super::machine::Machine;
use super::modelled::{Above, stress};
use super::penalty::PenaltyStep;
use super::role::{WithModel, model};
use super::scalars::{CarriedScalar, closed::closed};
use crate::SystemError;
use crate::device::Device;
use crate::elliptic::LineDescription;
use crate::elliptic::ranks::coefficients;
use crate::engine::{Described, Elementwise, Engine, Integrand, OfIncompressible};
use crate::setup::{Incompressible, Penalties, PressureOrder};
use crate::setup::{Law, Precision, Setup, SourceTerm};
use crate::solves::{Driven, Histories, PhaseSeconds, SolveStatistics};
use dgsuite_basis::lattice::lattice_len;
use dgsuite_basis::{Representation, Shape};
use dgsuite_gpu::{ExactSum, GpuError, Host};
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_ops::{
    BoundarySamples, Discretization, Norms, OpsError, PartSummary, Ranks, Sample, Scheme, StepMeasure,
    elliptic_places, filter_widths,
};
use dgsuite_physics::formula::Formula;
use dgsuite_physics::incompressible::VariableViscosity;
use dgsuite_physics::{Diffusion, Exact};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Builds the engine of incompressible flow with the velocity of `initial` at time `t0`.
pub(crate) fn engine(
    setup: &Setup,
    ranks: Option<&Arc<Ranks>>,
    host: &Arc<Host>,
    initial: &dyn Exact,
    t0: f64,
) -> Result<Box<dyn Engine>, SystemError> {
    let Law::Incompressible(law) = &setup.law else {
        return Err(SystemError::Unavailable {
            law: setup.law.name(),
            what: "as incompressible flow".to_owned(),
        });
    };
    let unavailable =
        |what: &str| Err(SystemError::Unavailable { law: "incompressible", what: what.to_owned() });
    if setup.precision == Precision::Single {
        return unavailable("in single precision");
    }
    if law.pressure_order == PressureOrder::Lower {
        if setup.order < 2 {
            return unavailable("with a pressure of order 0");
        }
        if law.penalties.divergence == 0.0 {
            return unavailable("with a pressure of lower order and no penalty on the divergence");
        }
    }
    match setup.device {
        Device::Cpu => {
            let machine = HostMachine::new(setup, law, host, ranks)?;
            build(machine, (setup, law), ranks, host, initial, t0)
        }
        Device::Cuda(ordinal) => {
            let machine = DeviceMachine::new(setup, law, host, ordinal, ranks)?;
            build(machine, (setup, law), ranks, host, initial, t0)
        }
    }
}

fn build<M: Machine + 'static>(
    machine: M,
    (setup, law): (&Setup, &Incompressible),
    ranks: Option<&Arc<Ranks>>,
    host: &Arc<Host>,
    initial: &dyn Exact,
    t0: f64,
) -> Result<Box<dyn Engine>, SystemError> {
    let dim = setup.mesh.dim();
    let sipdg = &Arc::clone(&machine.elliptics().nodes);
    let scheme = Scheme::on_elliptic_nodes(setup.order);
    let fields = Arc::new(laws::discretization(setup, ranks, &scheme, laws::state(setup, law)?, host)?);
    let places = elliptic_places(&fields, sipdg)?;
    // All but the pressure.
    let carried = dim + law.scalars.len();
    let at = |_: usize, x: &[[f64; 3]]| {
        let mut out = vec![Vec::new(); initial.n_fields()];
        initial.eval(t0, x, &mut out);
        out.remove(dim);
        out
    };
    let projected = sipdg.project_fields(carried, &at);
    let mut projected = projected.iter().map(|values| machine.upload(values));
    let velocity = Components(projected.by_ref().take(dim).collect::<Result<Vec<_>, _>>()?);
    let one = machine.upload(&sipdg.constant(1.0))?;
    let closed = closed(&setup.boundaries, sipdg, t0);
    let derived = match &setup.source {
        Some(SourceTerm::Manufactured(exact)) if !law.scalars.is_empty() => {
            law.manufactured(dim, exact.as_ref())?.1
        }
        _ => Vec::new(),
    };
    let mut derived = derived.into_iter();
    let mut scalars = Vec::new();
    for number in 0..law.scalars.len() {
        let mut data = setup.scalars.get(number).cloned().unwrap_or_default();
        if let Some(source) = derived.next() {
            data.source = Some(Arc::new(source));
        }
        let Some(initial) = projected.next().transpose()? else { break };
        scalars.push(CarriedScalar::new(
            &machine,
            sipdg,
            (law, number, &data),
            (&one, &velocity, closed),
            initial,
        )?);
    }
    let of_scalars = law.force_of_scalars(dim).map(|formulas| (formulas, law.scalars.len()));
    let forces = Forces::new(&machine, (sipdg, &velocity), setup.given_source()?, of_scalars)?;
    let stop = stop(law.velocity.tolerance, law.velocity.max_iterations, 0.0);
    let penalty = match law.penalties {
        Penalties::NONE => None,
        penalties => Some(PenaltyStep::new(&machine, sipdg, (penalties, stop), &velocity)?),
    };
    let boundaries = Boundaries::new(&machine, sipdg, &setup.boundaries, law.viscosity)?;
    let mut flow = Flow::new(Parts {
        machine,
        law: law.clone(),
        boundaries,
        forces,
        penalty,
        one,
        singular: sipdg.is_singular(),
        initial: velocity,
        scalars,
    })?;
    if !setup.only_described {
        flow.start(t0)?;
    }
    let stress = match law.variable_viscosity() {
        None => None,
        Some(stress) => {
            let widths = filter_widths(fields.mesh(), setup.order, setup.filter_width.as_ref())?;
            let of = |width: &f64| Diffusion::<3, 6>::coefficient(&stress, *width).unwrap_or_default();
            let coefficients = widths.iter().map(of).collect();
            Some((stress, coefficients))
        }
    };
    let facts = Facts {
        dofs: fields.whole().map_or_else(|| fields.dofs(), |whole| whole.dofs),
        bytes: flow.machine.bytes() + fields.bytes(),
        parts: fields.whole().map_or_else(|| fields.summary(), |whole| whole.summary.clone()),
        kernel: flow.machine.kernel(),
        device_name: flow.machine.device_name(),
        lines: flow.machine.lines(),
        fields: Arc::clone(&fields),
    };
    Ok(Box::new(FlowEngine {
        flow,
        fields,
        places,
        dim,
        unknowns: sipdg.unknowns(),
        numbers: canonical_numbers(sipdg),
        len: sipdg.len(),
        state: RefCell::new(None),
        viscosity: law.viscosity,
        stress,
        modelled: setup
            .boundaries
            .iter()
            .filter_map(|(name, kind)| Some((name.clone(), model(kind)?)))
            .collect(),
        above: RefCell::default(),
        facts,
        measure: StepMeasure::default(),
    }))
}

/// The numbers of an operator's unknowns in the canonical order of the whole mesh.
fn canonical_numbers(sipdg: &Sipdg<f64>) -> Vec<usize> {
    let blocks = sipdg.blocks_of_unknowns();
    let Some(ranks) = sipdg.ranks() else { return (0..blocks.iter().map(Vec::len).sum()).collect() };
    let whole = sipdg.whole_mesh();
    let mut first = Vec::with_capacity(whole.n_elements() + 1);
    first.push(0);
    for element in 0..whole.n_elements() {
        first.push(first[element] + lattice_len(whole.shape(element), sipdg.order()));
    }
    let of = |(&element, block): (&u32, Vec<u32>)| (0..block.len()).map(move |i| (element, i));
    let all = ranks.elements().iter().zip(blocks).flat_map(of);
    all.map(|(element, i)| first[element as usize] + i).collect()
}

/// A solution whose pressure is raised by a constant, which is free where no boundary has a pressure.
struct Raised<'a> {
    of: &'a dyn Exact,
    /// The number of the pressure.
    field: usize,
    by: f64,
}

impl Exact for Raised<'_> {
    fn n_fields(&self) -> usize {
        self.of.n_fields()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        self.of.eval(t, x, out);
        if let Some(pressure) = out.get_mut(self.field) {
            pressure.iter_mut().for_each(|p| *p += self.by);
        }
    }

    fn is_steady(&self) -> bool {
        self.of.is_steady()
    }
}

/// The mean over the domain of the pressure of the state `u`, its field of this number, minus that of a
/// solution.
fn level((fields, field): (&Discretization<f64>, usize), u: &[f64], exact: &dyn Exact, t: f64) -> f64 {
    let difference = |x: [f64; 3], state: &[f64], out: &mut [f64]| {
        let mut values = vec![Vec::new(); exact.n_fields()];
        exact.eval(t, &[x], &mut values);
        let of = |values: &Vec<f64>| values.first().copied().unwrap_or_default();
        out[0] = state.get(field).copied().unwrap_or_default() - values.get(field).map_or(0.0, of);
        out[1] = 1.0;
    };
    let integrals = fields.integrate(u, 2 * fields.order() + 2, 2, difference).0;
    integrals[0] / integrals[1]
}

/// Puts the stress of a closure or of a viscosity that varies, and its fluxes of scalars, at a boundary into
/// the diffusive fluxes of samples of the state `(u, p, T, …)`; `coefficients` are those of the elements.
fn stress_on_boundary(stress: &VariableViscosity, coefficients: &[f64], samples: &mut BoundarySamples) {
    let at = samples.first.windows(2).zip(&samples.elements);
    let elements = at.flat_map(|(points, &element)| std::iter::repeat_n(element, points[1] - points[0]));
    let points = samples.gradients.iter().zip(&samples.normals).zip(&samples.states);
    for ((element, ((gradient, n), state)), flux) in elements.zip(points).zip(&mut samples.diffusive) {
        let dim = gradient.len();
        // The plane, in space, with three scalars.
        let field = |of: &[f64], k: usize| match k {
            0..3 if k < dim => of[k],
            0..3 => 0.0,
            _ => of.get(dim + k - 2).copied().unwrap_or(0.0),
        };
        let u: [f64; 6] = std::array::from_fn(|k| field(state, k));
        let slope = |d: usize, k: usize| if d < dim { field(&gradient[d], k) } else { 0.0 };
        let grad: [[f64; 6]; 3] = std::array::from_fn(|d| std::array::from_fn(|k| slope(d, k)));
        let own: [f64; 6] = stress.normal_diffusive_flux_with(&u, &grad, n, coefficients[element]);
        flux[..dim].copy_from_slice(&own[..dim]);
        flux[dim + 1..].iter_mut().zip(&own[3..]).for_each(|(flux, own)| *flux = *own);
    }
}

/// What a run prints of a solver.
struct Facts {
    dofs: usize,
    bytes: usize,
    parts: Vec<PartSummary>,
    kernel: String,
    device_name: String,
    lines: Option<LineDescription>,
    fields: Arc<Discretization<f64>>,
}

impl Described for Facts {
    fn dofs(&self) -> usize {
        self.dofs
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
    fn summary(&self) -> Vec<PartSummary> {
        self.parts.clone()
    }
    fn kernel(&self) -> String {
        self.kernel.clone()
    }
    fn device_name(&self) -> String {
        self.device_name.clone()
    }
    fn lines(&self) -> Option<LineDescription> {
        self.lines.clone()
    }
    fn representation(&self) -> Representation {
        self.fields.representation()
    }
    fn basis_size_in(&self, basis: Representation, order: usize, shape: Shape) -> usize {
        self.fields.basis_size_in(basis, order, shape)
    }
    fn to_primitive(&self, u: &[f64], w: &mut [f64]) {
        w.copy_from_slice(u);
    }
    fn primitive_gradient(&self, _: &[f64], grad: &[f64], out: &mut [f64]) {
        out.copy_from_slice(grad);
    }
}

/// A flow with the discretisation by which its state is read.
struct FlowEngine<M: Machine> {
    flow: Flow<M>,
    fields: Arc<Discretization<f64>>,
    /// For each field, the scalar of `fields` for each entry of a vector of the host.
    places: Vec<Vec<u32>>,
    dim: usize,
    /// The entries of the unknowns in vectors of the host, by element and node, and the length of a vector.
    unknowns: Vec<u32>,
    /// Their numbers in the canonical order of the whole mesh.
    numbers: Vec<usize>,
    len: usize,
    /// The state in the order of `fields`, if it was read since the last step.
    state: RefCell<Option<Vec<f64>>>,
    viscosity: f64,
    /// The stress of a closure or of a viscosity that varies, with the coefficient of each element.
    stress: Option<(VariableViscosity, Vec<f64>)>,
    /// The walls with a model, and the places above their points, found at the first sample.
    modelled: BTreeMap<String, WithModel>,
    above: RefCell<BTreeMap<String, Above>>,
    facts: Facts,
    measure: StepMeasure,
}

impl<M: Machine> FlowEngine<M> {
    /// Calls `read` with the state in the order of `fields`; with NaN everywhere if a device fails, which the
    /// next step reports.
    fn read<R>(&self, read: impl FnOnce(&Discretization<f64>, &[f64]) -> R) -> R {
        let mut state = self.state.borrow_mut();
        let state =
            state.get_or_insert_with(|| self.copy().unwrap_or_else(|_| vec![f64::NAN; self.fields.len()]));
        read(&self.fields, state)
    }

    fn copy(&self) -> Result<Vec<f64>, GpuError> {
        let mut state = vec![0.0; self.fields.len()];
        for (field, places) in self.flow.fields().into_iter().zip(&self.places) {
            let values = self.flow.machine.download(field)?;
            for (&at, v) in places.iter().zip(&values).filter(|(at, _)| **at != u32::MAX) {
                state[at as usize] = *v;
            }
        }
        // The copies of elements that fill up blocks follow from the canonical order.
        let canonical = self.fields.to_canonical(&state);
        let _ = self.fields.from_canonical(&canonical, &mut state);
        Ok(state)
    }

    /// The unknowns of one field of the whole mesh.
    fn n_unknowns(&self) -> usize {
        self.flow.machine.elliptics().nodes.dofs()
    }

    /// Values in canonical order from those of a vector of the host, and back; on several ranks those of the
    /// whole mesh, which rank 0 alone gets from all.
    fn canonical(&self, values: &[f64]) -> Vec<f64> {
        let nodes = &self.flow.machine.elliptics().nodes;
        if let Some(ranks) = nodes.ranks() {
            return coefficients(ranks, nodes, values);
        }
        self.unknowns.iter().map(|&i| values[i as usize]).collect()
    }

    fn vector(&self, canonical: &[f64]) -> Option<Vec<f64>> {
        if canonical.len() != self.n_unknowns() {
            return None;
        }
        let mut values = vec![0.0; self.len];
        let places = self.unknowns.iter().zip(&self.numbers);
        places.for_each(|(&i, &number)| values[i as usize] = canonical[number]);
        Some(values)
    }
}

impl<M: Machine> FlowEngine<M> {
    /// The stresses of past times in one field, and the number 1 behind them, so that its length shows what
    /// it is; `None` if a device fails.
    fn past_stress(&self) -> Option<Option<Vec<f64>>> {
        let Some(stress) = self.flow.stress() else { return Some(None) };
        let mut all = Vec::new();
        for field in stress.past() {
            all.extend(self.canonical(&self.flow.machine.download(field).ok()?));
        }
        // On several ranks the first one has the fields of all.
        if !all.is_empty() {
            all.push(1.0);
        }
        Some(Some(all))
    }

    /// Takes the stresses of past times from the last of the fields, if it has them; `None` if the flow needs
    /// them and they are not there.
    fn take_stress<'a>(&mut self, fields: &'a [Vec<f64>]) -> Option<&'a [Vec<f64>]> {
        let n = self.n_unknowns();
        let found = fields.split_last().filter(|(last, _)| last.len() > n && last.len() % n == 1);
        let Some(stress) = self.flow.stress() else { return Some(found.map_or(fields, |(_, rest)| rest)) };
        let (all, rest) = found.filter(|(all, _)| all.len() == stress.past().count() * n + 1)?;
        let upload = |field: &[f64]| self.flow.machine.upload(&self.vector(field)?).ok();
        let past = all[..all.len() - 1].chunks(n).map(upload).collect::<Option<Vec<_>>>()?;
        self.flow.set_past_stress(past);
        Some(rest)
    }
}

impl<M: Machine> Engine for FlowEngine<M> {
    fn discretization(&self) -> &dyn Described {
        &self.facts
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError> {
        *self.state.get_mut() = None;
        let start = Instant::now();
        self.flow.step(t, dt)?;
        self.flow.statistics.seconds.rest += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn stable_dt(&mut self) -> Result<f64, OpsError> {
        self.flow.stable_dt(self.measure)
    }

    fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), OpsError> {
        self.measure = measure;
        Ok(())
    }

    fn residual(&mut self, _: f64) -> Result<Vec<f64>, OpsError> {
        Ok(self.flow.rates()?)
    }

    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        if self.flow.machine.elliptics().nodes.is_singular() {
            return self.read(|fields, u| {
                let by = level((fields, self.dim), u, exact, t);
                fields.errors(u, &Raised { of: exact, field: self.dim, by }, t)
            });
        }
        let found = self.flow.machine.errors(&self.flow.fields(), exact, t);
        found.unwrap_or_else(|| self.read(|fields, u| fields.errors(u, exact, t)))
    }

    fn integrate(&self, _: bool, n: usize, f: &Integrand<'_>) -> Vec<f64> {
        self.read(|fields, u| fields.integrate(u, 2 * fields.order() + 2, n, f).0)
    }

    fn integrate_gradients(&self, t: f64, degree: usize, n: usize, f: &Elementwise<'_>) -> Vec<f64> {
        self.read(|fields, u| fields.integrate_gradients(u, t, degree, n, f))
    }

    fn integrate_formulas(&self, formulas: &[Formula], t: f64) -> Option<Vec<f64>> {
        let degree = 2 * self.fields.order() + 2;
        self.flow.machine.integrate_formulas(&self.flow.fields(), formulas, degree, t)
    }

    fn integrate_derivatives(&self, formulas: &[&Formula], degree: usize, t: f64) -> Option<Vec<f64>> {
        let state = self.flow.fields();
        self.flow.machine.integrate_derivatives(&state, formulas, degree, t, &self.fields)
    }

    fn totals(&self) -> Vec<f64> {
        self.read(Discretization::totals)
    }

    fn absolute_totals(&self) -> Vec<f64> {
        self.read(Discretization::absolute_totals)
    }

    /// Incompressible flow has its own force.
    fn map_unknowns(&mut self, _: &[f64]) -> Result<(), OpsError> {
        Ok(())
    }

    fn boundary_sums(&self) -> Vec<ExactSum> {
        vec![ExactSum::new(); self.places.len()]
    }

    fn set_boundary_sums(&mut self, _: &[ExactSum]) {}

    fn sample(&self, order: usize) -> Vec<Sample> {
        self.read(|fields, u| fields.sample(u, order))
    }

    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample> {
        self.read(|fields, u| fields.sample_with_gradients(u, t, order))
    }

    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples> {
        let mut found = self.read(|fields, u| fields.boundary_samples(u, t, boundary));
        if let Some(wall) = self.modelled.get(boundary) {
            let mut known = self.above.borrow_mut();
            let above = known.entry(boundary.to_owned()).or_insert_with(|| {
                Above::new(&self.fields, boundary, wall.height, found.as_ref()).unwrap_or_default()
            });
            let velocities = above.velocities(self.dim, |places| self.states_at(places));
            let samples = found.as_mut()?;
            for (q, (u, h)) in velocities.into_iter().zip(&above.heights).enumerate() {
                let t = stress(wall, self.viscosity, u, samples.normals[q], *h);
                samples.diffusive[q][..self.dim].copy_from_slice(&t[..self.dim]);
            }
            samples.distances.clone_from(&above.heights);
            return found;
        }
        let mut samples = found?;
        if let Some((stress, coefficients)) = &self.stress {
            stress_on_boundary(stress, coefficients, &mut samples);
        }
        Some(samples)
    }

    fn states_at(&self, places: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>> {
        self.read(|fields, u| fields.states_at(u, places))
    }

    fn to_canonical(&self) -> Vec<f64> {
        self.read(Discretization::to_canonical)
    }

    fn set_canonical(&mut self, values: &[f64]) -> Option<()> {
        let mut state = vec![0.0; self.fields.len()];
        self.fields.from_canonical(values, &mut state)?;
        let of = |places: &Vec<u32>| {
            let value = |&at: &u32| if at == u32::MAX { 0.0 } else { state[at as usize] };
            let mut values: Vec<f64> = places.iter().map(value).collect();
            self.flow.machine.elliptics().nodes.refresh(&mut values);
            self.flow.machine.upload(&values).ok()
        };
        let mut fields = self.places.iter().map(of).collect::<Option<Vec<_>>>()?;
        if fields.len() <= self.dim {
            return None;
        }
        let scalars = fields.split_off(self.dim + 1);
        let p = fields.pop()?;
        self.flow.set_state(Components(fields), p, scalars);
        *self.state.get_mut() = None;
        Some(())
    }

    fn set_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()> {
        let own = self.fields.convert_canonical_of_order(values, from, order)?;
        self.set_canonical(&own)
    }

    fn variables(&self) -> Vec<&'static str> {
        self.fields.physics().variables()
    }

    fn primitives(&self) -> Vec<&'static str> {
        self.fields.physics().primitives()
    }

    fn rhs_evaluations(&self) -> u64 {
        self.flow.statistics.steps
    }

    fn state_bytes(&self) -> usize {
        self.flow.vector_bytes()
    }

    fn histories(&self) -> Option<Histories> {
        let mut histories = self.flow.histories().ok()?;
        histories.fields.iter_mut().for_each(|field| *field = self.canonical(field));
        // All components in one field, whose length shows what it is.
        let change = self.flow.penalty_change().ok()?;
        let change = change.map(|parts| parts.iter().flat_map(|part| self.canonical(part)).collect());
        histories.fields.extend(change);
        histories.fields.extend(self.past_stress()?);
        histories.fields.extend(self.flow.open_pressures());
        histories.fields.extend(self.flow.driven().map(|driven| vec![driven.force]));
        Some(histories)
    }

    fn set_histories(&mut self, histories: &Histories) -> Option<()> {
        let fields = match histories.fields.split_last() {
            Some((last, fields)) if last.len() == 1 => {
                self.flow.set_force(last[0]);
                fields
            }
            _ => &histories.fields[..],
        };
        let fields = match self.flow.n_open_pressures() {
            None => fields,
            Some(n) => {
                let (last, fields) = fields.split_last().filter(|(last, _)| last.len() == n)?;
                self.flow.set_open_pressures(last);
                fields
            }
        };
        let n = self.n_unknowns();
        let fields = self.take_stress(fields)?;
        let (change, fields) = match fields.split_last() {
            Some((last, fields)) if last.len() > n => {
                (last.chunks(n).map(|f| self.vector(f)).collect::<Option<Vec<_>>>(), fields)
            }
            _ => (None, fields),
        };
        let fields = fields.iter().map(|f| self.vector(f)).collect::<Option<Vec<_>>>()?;
        let set = self.flow.set_histories(&Histories { steps: histories.steps.clone(), fields }).ok()?;
        self.flow.set_penalty_change(change.as_deref()).ok()?;
        set
    }

    fn of_incompressible(&self) -> Option<&dyn OfIncompressible> {
        Some(self)
    }

    fn of_incompressible_mut(&mut self) -> Option<&mut dyn OfIncompressible> {
        Some(self)
    }
}

impl<M: Machine> OfIncompressible for FlowEngine<M> {
    fn substeps(&mut self, dt: f64) -> Result<usize, SystemError> {
        self.flow.substeps(dt)
    }

    fn look_back(&mut self, ago: Option<f64>) -> Result<(), SystemError> {
        *self.state.get_mut() = None;
        Ok(self.flow.look_back(ago)?)
    }

    fn next_size(&self, wanted: f64) -> f64 {
        self.flow.steps.next_size(wanted)
    }

    fn normal_jumps(&mut self) -> Result<f64, OpsError> {
        self.flow.normal_jumps()
    }

    fn largest_step_of_stress(&mut self) -> Result<f64, OpsError> {
        self.flow.largest_step_of_stress(StepMeasure::Radius)
    }

    fn driven(&self) -> Option<Driven> {
        self.flow.driven()
    }

    fn solves(&self) -> SolveStatistics {
        let mut found = self.flow.statistics.clone();
        let PhaseSeconds { advection, pressure, velocity, scalars, penalty, .. } = self.flow.phases.seconds();
        // Phases of a device overlap with the work of the host.
        let rest = (found.seconds.rest - advection - pressure - velocity - scalars - penalty).max(0.0);
        found.seconds = PhaseSeconds { advection, pressure, velocity, scalars, penalty, rest };
        found
    }
}
