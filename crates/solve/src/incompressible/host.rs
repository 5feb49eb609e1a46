//! The operators of incompressible flow on the CPU.

use super::elliptics::{Elliptics, Whole};
use super::laws;
use super::lower_order::LowerOrder;
use super::machine::{AtNodes, Machine, Map, Pass, Screened};
use super::pressure::Pressure;
use super::shared;
use crate::SystemError;
use crate::device::Device;
use crate::elliptic::LineDescription;
use crate::elliptic::SolverOptions;
use crate::elliptic::bridge::{BetweenOrders, InverseMass, Operator};
use crate::elliptic::machine::Apply;
use crate::elliptic::on_host::OnHost;
use crate::setup::Incompressible;
use crate::setup::Setup;
use dgsuite_amg::{LinearOperator, Solution, SolveError, Stop};
use dgsuite_gpu::{GpuError, Host, HostVector, Summation, Vector};
use dgsuite_ops::elliptic::{Sipdg, Triplet};
use dgsuite_ops::{Discretization, OpsError, Ranks, StepMeasure, elliptic_places};
use dgsuite_physics::trace::StateRecording;
use rayon::prelude::*;
use std::sync::Arc;

type V = HostVector<f64>;

/// Entries of one piece of a copy.
const PIECE: usize = 16 * 1024;

/// A first-order operator with its states.
struct FirstOrder {
    discretization: Discretization<f64>,
    /// For each scalar of the state, field and entry of the vector it comes from.
    from: Vec<(u8, u32)>,
    /// For each field, the scalar of the state for each entry of a vector.
    places: Vec<Vec<u32>>,
    u: Vec<f64>,
    du: Vec<f64>,
}

/// A scalar of a state, or an entry of a vector, that has no counterpart.
const NOWHERE: u32 = u32::MAX;

impl FirstOrder {
    fn new(discretization: Discretization<f64>, sipdg: &Sipdg<f64>) -> Result<Self, OpsError> {
        let places = elliptic_places(&discretization, sipdg)?;
        let n = discretization.len();
        let mut from = vec![(0, NOWHERE); n];
        for (k, places) in places.iter().enumerate() {
            for (i, &at) in places.iter().enumerate().filter(|(_, at)| **at != NOWHERE) {
                from[at as usize] = (k as u8, i as u32);
            }
        }
        if discretization.diffusion().is_some() {
            // The copies of elements that fill up blocks need their states too: the gradient of a copy at a
            // boundary is stored in the place of that of the element.
            let own: Vec<f64> = (0..n).map(|at| at as f64).collect();
            let mut of = own.clone();
            let _ = discretization.from_canonical(&discretization.to_canonical(&own), &mut of);
            from = of.iter().map(|&at| from[at as usize]).collect();
        }
        Ok(Self { discretization, from, places, u: vec![0.0; n], du: vec![0.0; n] })
    }

    fn gather(&mut self, inputs: &[(usize, &V)]) {
        let mut of: Vec<Option<&[f64]>> = vec![None; self.places.len()];
        inputs.iter().for_each(|(k, v)| of[*k] = Some(v.as_slice()));
        let pieces = self.u.par_chunks_mut(PIECE).zip(self.from.par_chunks(PIECE));
        pieces.for_each(|(u, from)| {
            for (u, &(k, i)) in u.iter_mut().zip(from) {
                *u = match of[k as usize] {
                    Some(v) if i != NOWHERE => v[i as usize],
                    _ => 0.0,
                };
            }
        });
    }

    fn scatter(&self, outputs: &mut [(usize, &mut V)]) {
        for (k, out) in outputs {
            let pieces = out.par_chunks_mut(PIECE).zip(self.places[*k].par_chunks(PIECE));
            pieces.for_each(|(out, places)| {
                for (out, &at) in out.iter_mut().zip(places) {
                    *out = if at == NOWHERE { 0.0 } else { self.du[at as usize] };
                }
            });
        }
    }
}

/// The CPU with the operators of a flow.
pub(super) struct HostMachine {
    host: Arc<Host>,
    elliptics: Elliptics,
    /// How vectors of nodes are summed.
    summation: Arc<Summation>,
    velocity: Vec<Arc<Operator<f64>>>,
    pressure: Pressure<V, Operator<f64>>,
    first_order: Vec<FirstOrder>,
    /// What the places of operators depend on.
    listed: (usize, bool),
}

impl HostMachine {
    /// Sets up all operators.
    /// On several ranks for this one's part. Collective.
    pub(super) fn new(
        setup: &Setup,
        law: &Incompressible,
        host: &Arc<Host>,
        ranks: Option<&Arc<Ranks>>,
    ) -> Result<Self, SystemError> {
        let shared = ranks.map(|ranks| shared::share(setup, ranks)).transpose()?;
        let elliptics = Elliptics::new(setup, law, host, shared.as_ref())?;
        let whole = elliptics.nodes.whole_mesh();
        let first_order = Pass::of(law)
            .into_iter()
            .map(|pass| {
                let laws::Posed { equation, boundaries } = laws::posed(pass, setup, law)?;
                let scheme = laws::scheme(pass, setup.order, whole);
                let d =
                    laws::discretization(setup, ranks, &scheme, laws::Posed { equation, boundaries }, host)?;
                Ok(FirstOrder::new(d, &elliptics.nodes)?)
            })
            .collect::<Result<Vec<_>, SystemError>>()?;
        let of = Operator(Arc::clone(&elliptics.pressure));
        let summation = elliptics.nodes.summation();
        let one = HostVector::from_slice(host, &elliptics.pressure.constant(1.0))?;
        let one = one.summed_by(elliptics.pressure.summation());
        let lower = |transfer| {
            let mass = InverseMass(Arc::clone(&elliptics.pressure));
            LowerOrder::new(BetweenOrders(transfer), mass, &one)
        };
        let lower_order = elliptics.transfer()?.map(lower).transpose()?;
        let work = HostVector::from_slice(host, &vec![0.0; elliptics.nodes.len()])?;
        let work = work.summed_by(Arc::clone(&summation));
        let operator = (&of, of.clone());
        let on_host = OnHost::new(host, elliptics.whole.as_ref().map(|whole| &whole.pressure));
        let pressure = Pressure::new(&on_host, operator, (setup, law), &one, lower_order, work)?;
        let velocity = elliptics.components.iter().map(|a| Arc::new(Operator(Arc::clone(a)))).collect();
        let host = Arc::clone(host);
        let listed = (law.scalars.len(), law.subcycles.is_some());
        Ok(Self { host, elliptics, summation, velocity, pressure, first_order, listed })
    }
}

/// A sparse matrix that stores its nonempty rows only.
struct Rows {
    rows: Vec<u32>,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(entries: &[Triplet]) -> Self {
        let by_place = |&(i, j, _): &Triplet| (i, j);
        let mut sorted = std::borrow::Cow::Borrowed(entries);
        if !entries.is_sorted_by_key(by_place) {
            sorted.to_mut().par_sort_by_key(by_place);
        }
        let (columns, values) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        let mut out = Self { rows: Vec::new(), starts: vec![0], columns, values };
        for &(i, j, v) in &*sorted {
            if out.rows.last() != Some(&(i as u32)) {
                out.rows.push(i as u32);
                out.starts.push(out.columns.len());
            }
            out.columns.push(j as u32);
            out.values.push(v);
            if let Some(end) = out.starts.last_mut() {
                *end = out.columns.len();
            }
        }
        out
    }

    fn for_each(&self, x: &V, y: &mut V, put: impl Fn(&mut f64, f64)) {
        for (k, &i) in self.rows.iter().enumerate() {
            let row = self.starts[k]..self.starts[k + 1];
            let terms = self.columns[row.clone()].iter().zip(&self.values[row]);
            put(&mut y[i as usize], terms.map(|(&j, v)| v * x[j as usize]).sum());
        }
    }
}

impl Map<V> for Rows {
    fn apply(&self, x: &V, y: &mut V) {
        y.fill(0.0);
        self.for_each(x, y, |y, sum| *y = sum);
    }

    fn add(&self, x: &V, y: &mut V) {
        self.for_each(x, y, |y, sum| *y += sum);
    }
}

/// Formulas at the nodes of vectors on the CPU.
struct Formulas {
    host: Arc<Host>,
    formulas: StateRecording,
    place: [Vec<f64>; 3],
    /// Zero at entries that are not nodes.
    inside: Vec<f64>,
    /// The outputs of each piece, one after the other.
    values: Vec<f64>,
}

impl AtNodes<V> for Formulas {
    fn eval(&mut self, t: f64, fields: &[&V], outputs: &mut [V]) -> Result<(), GpuError> {
        let (formulas, place, inside, count) = (&self.formulas, &self.place, &self.inside, outputs.len());
        let piece = |(i, out): (usize, &mut [f64])| {
            let n = out.len() / count;
            let range = i * PIECE..i * PIECE + n;
            let time = vec![t; n];
            let mut columns: Vec<&[f64]> = fields.iter().map(|v| &v.as_slice()[range.clone()]).collect();
            columns.extend(place.iter().map(|x| &x[range.clone()]));
            columns.push(&time);
            formulas.eval_batch(n, &columns, |k, first, values| {
                out[k * n + first..][..values.len()].copy_from_slice(values);
            });
            for out in out.chunks_exact_mut(n) {
                let outside =
                    out.iter_mut().zip(&inside[range.clone()]).filter(|(_, inside)| **inside == 0.0);
                outside.for_each(|(out, _)| *out = 0.0);
            }
        };
        let values = &mut self.values;
        self.host.install(|| {
            values.par_chunks_mut(count * PIECE).enumerate().for_each(piece);
            for (k, out) in outputs.iter_mut().enumerate() {
                for (out, values) in out.chunks_mut(PIECE).zip(values.chunks(count * PIECE)) {
                    let n = out.len();
                    out.copy_from_slice(&values[k * n..(k + 1) * n]);
                }
            }
        });
        Ok(())
    }

    fn bytes(&self) -> usize {
        8 * (4 * self.inside.len() + self.values.len())
    }
}

impl Machine for HostMachine {
    type V = V;
    type A = Operator<f64>;

    fn upload(&self, values: &[f64]) -> Result<V, GpuError> {
        Ok(HostVector::from_slice(&self.host, values)?.summed_by(Arc::clone(&self.summation)))
    }

    fn download(&self, vector: &V) -> Result<Vec<f64>, GpuError> {
        Ok(vector.to_vec())
    }

    fn numbers(&self, values: &[f64]) -> Result<V, GpuError> {
        HostVector::from_slice(&self.host, values)
    }

    fn read(&self, list: &V) -> Result<Vec<f64>, GpuError> {
        Ok(list.to_vec())
    }

    fn evaluation(&self, _: usize, entries: &[Triplet]) -> Result<Box<dyn Map<V>>, SystemError> {
        Ok(Box::new(Rows::new(entries)))
    }

    fn at_nodes(&self, formulas: StateRecording, _: usize) -> Result<Box<dyn AtNodes<V>>, SystemError> {
        let nodes = &self.elliptics.nodes;
        let (place, inside) = (nodes.places(), nodes.constant(1.0));
        let values = vec![0.0; formulas.n_outputs() * inside.len()];
        Ok(Box::new(Formulas { host: Arc::clone(&self.host), formulas, place, inside, values }))
    }

    fn load(&self, _: usize, entries: &[Triplet]) -> Result<Box<dyn Map<V>>, SystemError> {
        Ok(Box::new(Rows::new(entries)))
    }

    fn pass(
        &mut self,
        pass: Pass,
        t: f64,
        inputs: &[(usize, &V)],
        outputs: &mut [(usize, &mut V)],
    ) -> Result<(), OpsError> {
        let of = &mut self.first_order[pass.place(self.listed)];
        self.host.install(|| {
            of.gather(inputs);
            of.discretization.eval(t, &of.u, &mut of.du);
            of.scatter(outputs);
            // Those of elements of other ranks.
            outputs.iter_mut().for_each(|(_, out)| self.elliptics.nodes.refresh(out));
        });
        Ok(())
    }

    fn mass(&self, u: &V, mu: &mut V) {
        self.elliptics.nodes.mass(u, mu);
    }

    fn inverse_mass(&self, b: &V, u: &mut V) {
        self.elliptics.nodes.inverse_mass(b, u);
    }

    fn load_of_residual(&self, r: &V, load: &mut V) {
        self.elliptics.nodes.load_of_residual(r, load);
    }

    fn solve_pressure(&mut self, b: &V, x: &mut V, stop: &Stop) -> Result<Solution, SolveError> {
        let Self { host, elliptics, pressure, .. } = self;
        host.install(|| pressure.solve(b, x, |u, mu| elliptics.nodes.mass(u, mu), stop))
    }

    fn apply_pressure(&self, x: &V, y: &mut V) {
        LinearOperator::apply(self.pressure.operator(), x, y);
    }

    fn pressure_of_load(&mut self, b: &V, p: &mut V) {
        let nodes = &self.elliptics.nodes;
        self.pressure.of_load(b, p, |b, p| nodes.inverse_mass(b, p));
    }

    fn stiffness(&self) -> Vec<Arc<Operator<f64>>> {
        self.velocity.clone()
    }

    fn screened(&self, d: usize, lambda: f64, kind: Screened) -> Result<Box<Apply<V>>, SystemError> {
        let of = Operator(Arc::clone(&self.elliptics.components[d]));
        let of_whole = |whole: &Whole| Ok(Operator(Arc::new(whole.components[d].0.with_reaction(lambda)?)));
        let whole = self.elliptics.whole.as_ref().map(of_whole).transpose().map_err(SystemError::Ops)?;
        let with = || Ok(Operator(Arc::new(of.0.with_reaction(lambda)?)));
        let options = SolverOptions::default().on(Device::Cpu, of.0.order(), of.0.whole_mesh());
        let built = kind.build(&OnHost::new(&self.host, whole.as_ref()), (&of, lambda), with, &options);
        built.map_err(|error| SystemError::Elliptic(Box::new(error)))
    }

    fn elliptics(&self) -> &Elliptics {
        &self.elliptics
    }

    fn stable_step(&mut self, pass: Pass, u: &[&V], measure: StepMeasure) -> Result<f64, OpsError> {
        let of = &mut self.first_order[pass.place(self.listed)];
        let inputs: Vec<_> = u.iter().copied().enumerate().collect();
        self.host.install(|| of.gather(&inputs));
        of.discretization.measure_steps_by(measure);
        of.discretization.time_step(&of.u, None)
    }

    fn lines(&self) -> Option<LineDescription> {
        self.pressure.lines.clone()
    }

    fn bytes(&self) -> usize {
        let first_order = |f: &FirstOrder| f.discretization.bytes() + 16 * f.u.len() + 8 * f.from.len();
        self.first_order.iter().map(first_order).sum::<usize>()
            + self.elliptics.nodes.bytes()
            + self.pressure.bytes(self.elliptics.pressure.bytes())
    }

    fn kernel(&self) -> String {
        self.first_order[0].discretization.simd().to_string()
    }

    fn device_name(&self) -> String {
        String::new()
    }
}
