//! The operators of incompressible flow on an NVIDIA device.

use super::carried::Carried;
use super::carrier::Carrier;
use super::components::Components;
use super::elliptics::{Elliptics, Whole};
use super::laws;
use super::lower_order::LowerOrder;
use super::machine::{AtNodes, Machine, Map, Pass, Screened};
use super::phases::Moment;
use super::pressure::Pressure;
use super::shared;
use crate::SystemError;
use crate::device::Device;
use crate::elliptic::LineDescription;
use crate::elliptic::SolverOptions;
use crate::elliptic::bridge::Operator;
use crate::elliptic::machine::Apply;
use crate::elliptic::on_device::bridge::{BetweenOrders, InverseMass, OnDevice};
use crate::elliptic::on_device::pieces::{Pair, WithHost};
use crate::measured;
use crate::setup::Incompressible;
use crate::setup::Setup;
use dgsuite_amg::cuda::{CudaCsr, RowLayout};
use dgsuite_amg::{Csr, LinearOperator, Solution, SolveError, Stop};
use dgsuite_gpu::cuda::{Cuda, Permutation};
use dgsuite_gpu::{Backend, CudaVector, GpuError, Host, Vector};
use dgsuite_ops::cuda::{
    CudaAtNodes, CudaDiscretization, CudaMass, CudaPTransfer, CudaPenalties, CudaSipdg, Measures,
};
use dgsuite_ops::elliptic::Triplet;
use dgsuite_ops::{Discretization, Norms, OpsError, Ranks, StepMeasure};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::StateRecording;
use dgsuite_timeint::Scheme;
use std::cell::RefCell;
use std::sync::Arc;

type V = CudaVector<f64>;

/// A first-order operator with its states.
struct FirstOrder {
    discretization: CudaDiscretization<f64>,
    places: Vec<Permutation>,
    u: V,
    du: V,
    /// Fields that are not zero in `u`.
    set: Vec<bool>,
    zero: V,
}

impl FirstOrder {
    fn scatter(&mut self, inputs: &[(usize, &V)]) {
        let mut all = Vec::with_capacity(self.places.len());
        for (k, places) in self.places.iter().enumerate() {
            match inputs.iter().find(|(of, _)| *of == k) {
                Some((_, v)) => all.push((places, [(1.0, *v)])),
                None if self.set[k] => all.push((places, [(1.0, &self.zero)])),
                None => {}
            }
            self.set[k] = inputs.iter().any(|(of, _)| *of == k);
        }
        Permutation::scatter_each(&all, self.u.buffer_mut());
    }
}

/// An operator that was set up.
fn made(of: &mut Option<FirstOrder>) -> Result<&mut FirstOrder, OpsError> {
    of.as_mut().ok_or(OpsError::NotOnDevices { what: "this operator of incompressible flow" })
}

/// A device with the operators of a flow.
pub(super) struct DeviceMachine {
    cuda: Cuda,
    ordinal: usize,
    elliptics: Elliptics,
    /// The operator at the nodes of all fields.
    operator: Arc<CudaSipdg<f64>>,
    mass: CudaMass<f64>,
    pressure: Pressure<V, OnDevice<f64>>,
    velocity: Vec<Arc<OnDevice<f64>>>,
    /// `None` where the machine has kernels of its own.
    first_order: Vec<Option<FirstOrder>>,
    penalties: Option<CudaPenalties<f64>>,
    /// What the places of operators depend on.
    listed: (usize, bool),
    measured: Measured,
    /// Made for the first sub-step.
    carried: Option<Carried>,
}

/// The state as one array, for integrals.
struct Measured {
    /// Made for the first integral.
    u: RefCell<Option<V>>,
    measures: RefCell<Measures>,
}

impl DeviceMachine {
    /// Sets up all operators on the device of this number. On several ranks for this one's part. Collective.
    pub(super) fn new(
        setup: &Setup,
        law: &Incompressible,
        host: &Arc<Host>,
        ordinal: usize,
        ranks: Option<&Arc<Ranks>>,
    ) -> Result<Self, SystemError> {
        let cuda = Cuda::new(ordinal)?;
        let shared = ranks.map(|ranks| shared::share(setup, ranks)).transpose()?;
        let elliptics = Elliptics::new(setup, law, host, shared.as_ref())?;
        let whole = elliptics.nodes.whole_mesh();
        let operator = Arc::new(CudaSipdg::<f64>::new(&cuda, &elliptics.nodes)?);
        let penalties = operator.penalties(&elliptics.nodes)?;
        let first_order = Pass::of(law)
            .into_iter()
            .map(|pass| {
                if penalties.is_some() && matches!(pass, Pass::Elementwise | Pass::Penalty) {
                    return Ok(None);
                }
                let laws::Posed { equation, boundaries } = laws::posed(pass, setup, law)?;
                let scheme = laws::scheme(pass, setup.order, whole);
                let host = Arc::clone(host);
                let d = match ranks {
                    Some(ranks) => {
                        CudaDiscretization::on_ranks(ranks, &scheme, equation, boundaries, host, &cuda)?
                    }
                    None => {
                        let mesh = Arc::clone(setup.mesh.seen());
                        CudaDiscretization::new(mesh, &scheme, equation, boundaries, host, &cuda)?
                    }
                };
                match pass {
                    Pass::Transport => d.prepare_stages()?,
                    _ => d.prepare_residuals()?,
                }
                let n = d.len();
                let places = operator.places(&elliptics.nodes, &d)?;
                let places = places
                    .iter()
                    .map(|places| Permutation::new::<f64>(&cuda, places, n))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(Some(FirstOrder {
                    set: vec![false; places.len()],
                    places,
                    u: V::zeros(&cuda, n)?,
                    du: V::zeros(&cuda, n)?,
                    zero: V::zeros(&cuda, operator.len())?,
                    discretization: d,
                }))
            })
            .collect::<Result<Vec<_>, SystemError>>()?;
        let transfer = elliptics.transfer()?;
        let of = Pair {
            on_device: match &transfer {
                None => Arc::clone(&operator),
                Some(_) => Arc::new(CudaSipdg::<f64>::new(&cuda, &elliptics.pressure)?),
            },
            on_host: Arc::clone(&elliptics.pressure),
        };
        let one = of.on_device.upload(&elliptics.pressure.constant(1.0))?;
        let lower = |transfer| -> Result<LowerOrder<V>, SystemError> {
            let transfer = CudaPTransfer::new(&cuda, &operator, &of.on_device, &transfer)?;
            let mass = InverseMass(of.on_device.mass(&elliptics.pressure)?);
            Ok(LowerOrder::new(BetweenOrders(transfer), mass, &one)?)
        };
        let lower_order = transfer.map(lower).transpose()?;
        let work = operator.zeros()?;
        let on_whole = elliptics.whole.as_ref().map(|whole| &whole.pressure);
        let machine = WithHost { cuda: &cuda, host, whole: on_whole };
        let linear = OnDevice(Arc::clone(&of.on_device));
        let pressure = Pressure::new(&machine, (&of, linear), (setup, law), &one, lower_order, work)?;
        let mut velocity: Vec<Arc<OnDevice<f64>>> = Vec::new();
        for (d, a) in elliptics.components.iter().enumerate() {
            let known = elliptics.components[..d].iter().position(|b| Arc::ptr_eq(a, b));
            let own = match known {
                Some(k) => Arc::clone(&velocity[k]),
                None => Arc::new(OnDevice(Arc::new(CudaSipdg::<f64>::new(&cuda, a)?))),
            };
            velocity.push(own);
        }
        let mass = operator.mass(&elliptics.nodes)?;
        Ok(Self {
            cuda,
            ordinal,
            elliptics,
            operator,
            mass,
            pressure,
            velocity,
            first_order,
            penalties,
            listed: (law.scalars.len(), law.subcycles.is_some()),
            measured: Measured { u: RefCell::new(None), measures: RefCell::new(Measures::default()) },
            carried: None,
        })
    }

    /// Calls `read` with the state `u v [w] p` as one array of the discretisation of all fields; `None` if
    /// there is no memory for it.
    fn with_state<R>(
        &self,
        state: &[&V],
        read: impl FnOnce(&CudaDiscretization<f64>, &V) -> Option<R>,
    ) -> Option<R> {
        let of = self.first_order[Pass::COUPLING].as_ref()?;
        // With scalars the host computes them.
        if state.len() != of.places.len() {
            return None;
        }
        let mut u = self.measured.u.borrow_mut();
        if u.is_none() {
            *u = V::zeros(&self.cuda, of.u.len()).ok();
        }
        let u = u.as_mut()?;
        of.places.iter().zip(state).for_each(|(places, field)| places.scatter(field, u.buffer_mut()));
        read(&of.discretization, u)
    }

    /// A matrix whose rows are summed alike on all ranks: with about this number of terms.
    fn matrix(
        &self,
        (rows, columns): (usize, usize),
        terms: usize,
        entries: impl Iterator<Item = Triplet>,
    ) -> Result<Box<dyn Map<V>>, SystemError> {
        let matrix = Csr::from_triplets(rows, columns, entries);
        let matrix = matrix.map_err(|error| SystemError::Elliptic(Box::new(error.into())))?;
        Ok(Box::new(CudaCsr::with_layout(&self.cuda, &matrix, RowLayout::of_rows(terms))?))
    }
}

impl Map<V> for CudaCsr<f64> {
    fn apply(&self, x: &V, y: &mut V) {
        LinearOperator::apply(self, x, y);
    }

    fn add(&self, x: &V, y: &mut V) {
        self.add_product(x, y);
    }
}

impl AtNodes<V> for CudaAtNodes {
    fn eval(&mut self, t: f64, fields: &[&V], outputs: &mut [V]) -> Result<(), GpuError> {
        CudaAtNodes::eval(self, t, fields, outputs)
    }

    fn bytes(&self) -> usize {
        CudaAtNodes::bytes(self)
    }
}

impl Machine for DeviceMachine {
    type V = V;
    type A = OnDevice<f64>;

    fn upload(&self, values: &[f64]) -> Result<V, GpuError> {
        self.operator.upload(values)
    }

    fn download(&self, vector: &V) -> Result<Vec<f64>, GpuError> {
        self.operator.download(vector)
    }

    fn numbers(&self, values: &[f64]) -> Result<V, GpuError> {
        Backend::upload(&self.cuda, values)
    }

    fn read(&self, list: &V) -> Result<Vec<f64>, GpuError> {
        self.operator.wait()?;
        let mut values = vec![0.0; list.len()];
        Backend::download(&self.cuda, list, &mut values)?;
        Ok(values)
    }

    fn evaluation(&self, n: usize, entries: &[Triplet]) -> Result<Box<dyn Map<V>>, SystemError> {
        let rows = self.operator.rows();
        let on_device = entries.iter().map(|&(i, j, v)| (i, rows[j] as usize, v));
        self.matrix((n, self.operator.len()), self.elliptics.nodes.largest_element(), on_device)
    }

    fn at_nodes(&self, formulas: StateRecording, fields: usize) -> Result<Box<dyn AtNodes<V>>, SystemError> {
        let nodes = &self.elliptics.nodes;
        let [x, y, z] = nodes.places();
        let place = [self.upload(&x)?, self.upload(&y)?, self.upload(&z)?];
        let inside = self.upload(&nodes.constant(1.0))?;
        let made = CudaAtNodes::new(&self.cuda, &formulas, fields, place.each_ref(), &inside);
        Ok(Box::new(made?))
    }

    fn load(&self, n: usize, entries: &[Triplet]) -> Result<Box<dyn Map<V>>, SystemError> {
        let rows = self.operator.rows();
        let on_device = entries.iter().map(|&(i, j, v)| (rows[i] as usize, j, v));
        self.matrix((self.operator.len(), n), 1, on_device)
    }

    fn pass(
        &mut self,
        pass: Pass,
        t: f64,
        inputs: &[(usize, &V)],
        outputs: &mut [(usize, &mut V)],
    ) -> Result<(), OpsError> {
        let of = made(&mut self.first_order[pass.place(self.listed)])?;
        of.scatter(inputs);
        of.discretization.eval(t, of.u.buffer(), of.du.buffer_mut())?;
        let mut all: Vec<_> = outputs.iter_mut().map(|(k, out)| (&of.places[*k], &mut **out)).collect();
        Permutation::gather_each(of.du.buffer(), &mut all);
        // Those of elements of other ranks.
        outputs.iter_mut().try_for_each(|(_, out)| Ok(self.operator.refresh(out)?))
    }

    fn mass(&self, u: &V, mu: &mut V) {
        self.cuda.note(self.mass.mass(u, mu));
    }

    fn add_mass(&self, c: f64, u: &Components<V>, b: f64, out: &mut Components<V>, _: &mut V) {
        self.cuda.note(self.mass.add_mass(c, &u.0, b, &mut out.0));
    }

    fn mass_of_sum(&self, u: &Components<V>, a: f64, w: &Components<V>, out: &mut Components<V>, _: &mut V) {
        self.cuda.note(self.mass.mass_of_sum(&u.0, a, &w.0, &mut out.0));
    }

    fn inverse_mass(&self, b: &V, u: &mut V) {
        self.cuda.note(self.mass.inverse_mass(b, u));
    }

    fn inverse_mass_each(&self, b: &Components<V>, u: &mut Components<V>) {
        self.cuda.note(self.mass.inverse_mass_each(&b.0, &mut u.0));
    }

    fn load_of_residual(&self, r: &V, load: &mut V) {
        self.cuda.note(self.mass.load_of_residual(r, load));
    }

    fn penalties(
        &mut self,
        of: [&V; 2],
        factor: f64,
        u: &Components<V>,
        out: &mut Components<V>,
    ) -> Result<bool, OpsError> {
        let Some(penalties) = &self.penalties else { return Ok(false) };
        penalties.apply(&self.operator, of, factor, &u.0, &mut out.0)?;
        Ok(true)
    }

    fn solve_pressure(&mut self, b: &V, x: &mut V, stop: &Stop) -> Result<Solution, SolveError> {
        let Self { cuda, mass, pressure, .. } = self;
        pressure.solve(b, x, |u, mu| cuda.note(mass.mass(u, mu)), stop)
    }

    fn apply_pressure(&self, x: &V, y: &mut V) {
        LinearOperator::apply(self.pressure.operator(), x, y);
    }

    fn pressure_of_load(&mut self, b: &V, p: &mut V) {
        let Self { cuda, mass, pressure, .. } = self;
        pressure.of_load(b, p, |b, p| cuda.note(mass.inverse_mass(b, p)));
    }

    fn stiffness(&self) -> Vec<Arc<OnDevice<f64>>> {
        self.velocity.clone()
    }

    fn screened(&self, d: usize, lambda: f64, kind: Screened) -> Result<Box<Apply<V>>, SystemError> {
        let on_host = Arc::clone(&self.elliptics.components[d]);
        let host = &Arc::clone(on_host.host());
        let of_whole = |whole: &Whole| Ok(Operator(Arc::new(whole.components[d].0.with_reaction(lambda)?)));
        let whole = self.elliptics.whole.as_ref().map(of_whole).transpose().map_err(SystemError::Ops)?;
        let machine = WithHost { cuda: &self.cuda, host, whole: whole.as_ref() };
        let options =
            SolverOptions::default().on(Device::Cuda(self.ordinal), on_host.order(), on_host.whole_mesh());
        let of = Pair { on_device: Arc::clone(&self.velocity[d].0), on_host };
        let with = || {
            let on_host = Arc::new(of.on_host.with_reaction(lambda)?);
            let on_device = Arc::new(CudaSipdg::<f64>::new(&self.cuda, &on_host)?);
            debug_assert_eq!(on_device.rows(), self.operator.rows());
            Ok(Pair { on_device, on_host })
        };
        let built = kind.build(&machine, (&of, lambda), with, &options);
        built.map_err(|error| SystemError::Elliptic(Box::new(error)))
    }

    fn elliptics(&self) -> &Elliptics {
        &self.elliptics
    }

    fn stable_step(&mut self, pass: Pass, u: &[&V], measure: StepMeasure) -> Result<f64, OpsError> {
        let of = made(&mut self.first_order[pass.place(self.listed)])?;
        let inputs: Vec<_> = u.iter().copied().enumerate().collect();
        of.scatter(&inputs);
        of.discretization.measure_steps_by(measure)?;
        of.discretization.time_step(of.u.buffer(), false)
    }

    fn carry(
        &mut self,
        scheme: Scheme,
        steps: (&[f64], f64),
        carrier: &mut Carrier<'_, V>,
        field: &mut Components<V>,
    ) -> Result<bool, OpsError> {
        let of = made(&mut self.first_order[Pass::Transport.place(self.listed)])?;
        let carried = match &mut self.carried {
            Some(carried) => carried,
            none => none.insert(Carried::new(scheme, &of.u)?),
        };
        carried.carry(&mut of.discretization, &of.places, &mut of.u, steps, carrier, field)?;
        field.0.iter_mut().try_for_each(|v| self.operator.refresh(v))?;
        // The next inputs of the pass replace all fields.
        of.set.fill(true);
        Ok(true)
    }

    fn integrate_derivatives(
        &self,
        state: &[&V],
        formulas: &[&Formula],
        degree: usize,
        t: f64,
        outside: &Discretization<f64>,
    ) -> Option<Vec<f64>> {
        let measures = &self.measured.measures;
        self.with_state(state, |on, u| {
            measured::integrals_of_derivatives(on, measures, u.buffer(), formulas, degree, t, outside)
        })
    }

    fn integrate_formulas(
        &self,
        state: &[&V],
        formulas: &[Formula],
        degree: usize,
        t: f64,
    ) -> Option<Vec<f64>> {
        let measures = &self.measured.measures;
        self.with_state(state, |on, u| measured::integrals(on, measures, u.buffer(), formulas, degree, t))
    }

    fn errors(&self, state: &[&V], exact: &dyn Exact, t: f64) -> Option<(Vec<String>, Norms)> {
        let measures = &self.measured.measures;
        self.with_state(state, |on, u| on.errors(&mut measures.borrow_mut(), u.buffer(), exact, t))
    }

    fn now(&self) -> Moment {
        Moment::on(&self.cuda).unwrap_or_else(|_| Moment::now())
    }

    fn lines(&self) -> Option<LineDescription> {
        self.pressure.lines.clone()
    }

    fn bytes(&self) -> usize {
        let first_order = |f: &FirstOrder| {
            let places: usize = f.places.iter().map(Permutation::bytes).sum();
            f.discretization.bytes() + places + 8 * (2 * f.u.len() + f.zero.len())
        };
        self.first_order.iter().flatten().map(first_order).sum::<usize>()
            + self.penalties.as_ref().map_or(0, CudaPenalties::bytes)
            + self.carried.as_ref().map_or(0, Carried::bytes)
            + self.operator.bytes()
            + self.pressure.bytes(self.pressure.operator().0.bytes())
            + self.mass.bytes()
    }

    fn kernel(&self) -> String {
        self.cuda.info().architecture()
    }

    fn device_name(&self) -> String {
        self.cuda.info().name.clone()
    }
}
