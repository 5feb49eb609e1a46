//! Boundary data of a step: prescribed velocities, `n·∇×∇×u` on walls, and the pressure of open boundaries.
//!
//! The operators have homogeneous boundary values. The data enters as loads, `⟨g, φ⟩` or in the Dirichlet
//! form of the interior penalty method, by sparse matrices at the points of the boundaries.

mod point_order;

use self::point_order::PointOrder;
use super::components::Components;
use super::machine::{Machine, Map};
use super::modelled::Modelled;
use super::role::{Role, named};
use super::shared::bounded;
use crate::SystemError;
use crate::setup::{Backflow, BoundaryKind};
use dgsuite_gpu::comm::Joint;
use dgsuite_gpu::{ExactSum, GpuError, Vector};
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::{BoundaryPoints, FluxPoints, Sipdg, Triplet};
use dgsuite_physics::incompressible::OpenPressure;
use dgsuite_physics::trace::Recording;
use dgsuite_physics::{Dual, Exact, Given};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Half the interval of the difference quotient of wall velocities, at the start of a run.
const RATE: f64 = 1e-5;

/// The points of boundaries of one role, in one list: those of the elliptic operators, then those by which
/// first-order operators integrate their fluxes, which are the same on most elements.
struct On {
    elliptic: BoundaryPoints,
    flux: FluxPoints,
    /// The number of the first point of `flux` in the list.
    first: usize,
}

impl On {
    fn new(sipdg: &Sipdg<f64>, names: &[&str]) -> Result<Self, OpsError> {
        let (elliptic, flux) = (sipdg.boundary_points(names), sipdg.flux_points(names)?);
        let same = elliptic.points == flux.points;
        // Ranks have one kind of list.
        let mut differ = [f64::from(u8::from(!same))];
        if let Some(ranks) = sipdg.ranks() {
            ranks.joint().max(&mut differ);
        }
        let same = differ == [0.0];
        Ok(Self { first: if same { 0 } else { elliptic.len() }, elliptic, flux })
    }

    fn len(&self) -> usize {
        self.first + self.flux.len()
    }

    /// The points of `elliptic`, then those of `flux` that are not among them.
    fn list<T: Clone>(&self, elliptic: &[T], flux: &[T]) -> Vec<T> {
        let further = if self.first == 0 { &[][..] } else { flux };
        [elliptic, further].concat()
    }

    /// The load `⟨g, φ⟩` of a flux g, times a factor of each point.
    fn flux_load(&self, factor: impl Fn(usize) -> f64) -> Vec<Triplet> {
        let load = self.flux.load().into_iter();
        load.map(|(i, q, v)| (i, self.first + q, v * factor(q))).filter(|(.., v)| *v != 0.0).collect()
    }

    /// The evaluation of a field at all points.
    fn value(&self) -> Vec<Triplet> {
        let further = self.flux.value().into_iter().filter(|_| self.first > 0);
        let further = further.map(|(q, i, v)| (self.first + q, i, v));
        self.elliptic.value().into_iter().chain(further).collect()
    }
}

/// Points of one role with the sources of their data.
struct Places {
    points: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    /// For each boundary, its condition and the numbers of its points.
    kinds: Vec<(BoundaryKind, Vec<usize>)>,
}

impl Places {
    fn new(on: &On, names: &[&str], kinds: &BTreeMap<String, BoundaryKind>) -> Self {
        let boundary = on.list(&on.elliptic.boundary, &on.flux.boundary);
        let of = |b: usize| (0..on.len()).filter(|&q| boundary[q] as usize == b).collect();
        Self {
            points: on.list(&on.elliptic.points, &on.flux.points),
            normals: on.list(&on.elliptic.normals, &on.flux.normals),
            kinds: names.iter().enumerate().map(|(b, name)| (kinds[*name].clone(), of(b))).collect(),
        }
    }

    /// Evaluates a solution at the points of one boundary, `[field][point]`.
    fn values(&self, exact: &dyn Exact, t: f64, of: &[usize]) -> Vec<Vec<f64>> {
        let x: Vec<[f64; 3]> = of.iter().map(|&q| self.points[q]).collect();
        let mut out = vec![Vec::new(); exact.n_fields()];
        exact.eval(t, &x, &mut out);
        out
    }
}

/// The walls of a flow: boundaries with a prescribed velocity.
struct Walls<V> {
    places: Places,
    load: Box<dyn Map<V>>,
    dirichlet_load: Box<dyn Map<V>>,
    double_curl: DoubleCurl<V>,
    /// Velocities and normal velocities, at the time in `at`; kept if they do not change.
    velocity: Components<V>,
    normal: V,
    work: V,
    at: Option<f64>,
    steady: bool,
    /// Where the walls must let out what they let in.
    balance: Option<Balance>,
}

/// The largest net flux through walls, relative to the largest flux in and out, that is accepted. The solver
/// distributes what is left, which may come from the quadrature.
const UNBALANCED: f64 = 5e-3;

/// Net fluxes below this fraction of the velocities' size are rounding, as those of a lid that moves along
/// itself.
const ROUNDING: f64 = 1e-12;

/// The balance of the fluxes through walls.
struct Balance {
    /// The weights of the points; 0 where fluxes are not integrated.
    weights: Vec<f64>,
    /// The largest flux in and out so far.
    largest: f64,
    /// The ranks that integrate together, if there are several.
    joint: Option<Arc<Joint>>,
}

impl Balance {
    /// Checks the velocities `g`, `[component][point]`, with their normal components.
    fn check(&mut self, (g, normal): (&[Vec<f64>], &[f64]), time: f64) -> Result<(), SystemError> {
        let terms = |u: &[f64]| u.iter().zip(&self.weights).map(|(u, w)| w * u).collect::<Vec<_>>();
        let size = |u: &[f64]| terms(u).into_iter().map(f64::abs).collect::<ExactSum>();
        let mut sizes = size(normal);
        let mut all = ExactSum::new();
        g.iter().for_each(|g| all.merge(&size(g)));
        let mut sums = [terms(normal).into_iter().collect(), std::mem::take(&mut sizes), all];
        let [net, through, all] = match &self.joint {
            None => sums.map(|sum| sum.value()),
            Some(ranks) => {
                let values = ranks.sum(&mut sums);
                [values[0], values[1], values[2]]
            }
        };
        let rounding = ROUNDING * all;
        self.largest = through.max(self.largest);
        match net.abs() > UNBALANCED * self.largest + rounding {
            true => Err(SystemError::NetInflow { inflow: -net, size: self.largest, time }),
            false => Ok(()),
        }
    }
}

/// `n·∇×∇×u` at the points of some boundaries.
struct DoubleCurl<V> {
    /// The shares of the components.
    of: Vec<Box<dyn Map<V>>>,
    load: Box<dyn Map<V>>,
    value: V,
    part: V,
}

impl<V: Vector<Scalar = f64>> DoubleCurl<V> {
    fn new<M: Machine<V = V>>(machine: &M, on: &BoundaryPoints, dim: usize) -> Result<Self, SystemError> {
        let of =
            (0..dim).map(|c| machine.evaluation(on.len(), &on.double_curl(c))).collect::<Result<_, _>>()?;
        let zeros = || machine.numbers(&vec![0.0; on.len()]);
        Ok(Self { of, load: machine.load(on.len(), &on.load())?, value: zeros()?, part: zeros()? })
    }

    /// `b ← b − ν ⟨q, n·∇×∇×u⟩`.
    fn add(&mut self, viscosity: f64, u: &Components<V>, b: &mut V) {
        self.value.fill(0.0);
        for (map, u) in self.of.iter().zip(&u.0) {
            map.apply(u, &mut self.part);
            self.value.axpby(-viscosity, &self.part, 1.0);
        }
        self.load.add(&self.value, b);
    }
}

/// The open boundaries of a flow.
struct Open<V> {
    places: Places,
    load: Box<dyn Map<V>>,
    dirichlet_load: Box<dyn Map<V>>,
    /// `⟨−p n_d, φ⟩` of a pressure p, for each direction d.
    push: Vec<Box<dyn Map<V>>>,
    trace: Box<dyn Map<V>>,
    /// The prescribed pressure, that of the update before, and the difference.
    pressure: V,
    before: V,
    change: V,
    last: Option<Vec<f64>>,
    /// The order of the points of all ranks, if there are several.
    order: Option<PointOrder>,
    /// `ν ∂u/∂n` of prescribed solutions, if there are any.
    traction: Option<Components<V>>,
    work: V,
}

/// The boundaries of a flow with the data of a time.
pub(super) struct Boundaries<V> {
    dim: usize,
    viscosity: f64,
    walls: Option<Walls<V>>,
    /// Of the boundaries of symmetry that are oblique or curved. It vanishes on planes.
    symmetry: Option<DoubleCurl<V>>,
    open: Option<Open<V>>,
    modelled: Option<Modelled<V>>,
    /// Where an open boundary has no velocity of its own.
    speed: Option<Speed<V>>,
}

/// The root mean square of a velocity over the domain, a velocity scale in the units of the flow. It depends
/// on the present velocity alone.
struct Speed<V> {
    volume: f64,
    work: V,
}

impl<V: Vector<Scalar = f64>> Speed<V> {
    fn new<M: Machine<V = V>>(machine: &M, sipdg: &Sipdg<f64>) -> Result<Self, GpuError> {
        let one = machine.upload(&sipdg.constant(1.0))?;
        let mut work = one.zeros_like()?;
        machine.mass(&one, &mut work);
        Ok(Self { volume: one.dot(&work), work })
    }

    fn of<M: Machine<V = V>>(&mut self, machine: &M, u: &Components<V>) -> f64 {
        let mut square = 0.0;
        for u in &u.0 {
            machine.mass(u, &mut self.work);
            square += u.dot(&self.work);
        }
        (square / self.volume).max(0.0).sqrt()
    }
}

/// The step between inflow and outflow of a condition that has one.
fn backflow(kind: &BoundaryKind) -> Option<Backflow> {
    match kind {
        BoundaryKind::Open { backflow, data: None } => *backflow,
        BoundaryKind::Outflow => Some(Backflow::default()),
        _ => None,
    }
}

impl<V: Vector<Scalar = f64>> Boundaries<V> {
    /// Sets up the matrices at the boundaries, for vectors of a machine in the order of `sipdg`.
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        sipdg: &Sipdg<f64>,
        kinds: &BTreeMap<String, BoundaryKind>,
        viscosity: f64,
    ) -> Result<Self, SystemError> {
        let dim = sipdg.mesh().dim;
        let zeros = |n: usize| machine.numbers(&vec![0.0; n]);
        let field = |n: usize| (0..dim).map(|_| zeros(n)).collect::<Result<_, _>>().map(Components);
        let names = named(kinds, Role::Wall);
        let on = On::new(sipdg, &names)?;
        let closed = named(kinds, Role::Open).is_empty();
        // Points of elements of other ranks are theirs to integrate.
        let ranks = sipdg.ranks();
        let counts = |element: &u32| ranks.is_none_or(|ranks| ranks.owns(*element as usize));
        let of_flux = on.flux.elements.iter().zip(&on.flux.weights);
        let of_flux = of_flux.map(|(element, w)| if counts(element) { *w } else { 0.0 });
        let weights = vec![0.0; on.first].into_iter().chain(of_flux).collect();
        let joint = ranks.map(|ranks| Arc::clone(ranks.joint()));
        // All ranks have the boundaries of the whole mesh, some of them without points.
        let walls = match on.len() {
            _ if !bounded(sipdg, &names) => None,
            n => Some(Walls {
                places: Places::new(&on, &names, kinds),
                load: machine.load(n, &on.flux_load(|_| 1.0))?,
                dirichlet_load: machine.load(n, &on.elliptic.dirichlet_load())?,
                double_curl: DoubleCurl::new(machine, &on.elliptic, dim)?,
                velocity: field(n)?,
                normal: zeros(n)?,
                work: zeros(n)?,
                at: None,
                steady: names.iter().all(|name| kinds[*name].data().is_none_or(|data| data.is_steady())),
                balance: closed.then_some(Balance { weights, largest: 0.0, joint }),
            }),
        };
        let oblique: Vec<&str> = machine.elliptics().oblique.iter().map(String::as_str).collect();
        let on = sipdg.boundary_points(&oblique);
        let has_oblique = bounded(sipdg, &oblique);
        let symmetry = has_oblique.then(|| DoubleCurl::new(machine, &on, dim)).transpose()?;
        let names = named(kinds, Role::Open);
        let scaled = names.iter().filter_map(|name| backflow(&kinds[*name]));
        let scaled = scaled.filter(|backflow| backflow.velocity.is_none()).count() > 0;
        let speed = scaled.then(|| Speed::new(machine, sipdg)).transpose()?;
        let on = On::new(sipdg, &names)?;
        let push = |d: usize| machine.load(on.len(), &on.flux_load(|q| -on.flux.normals[q][d]));
        let open = match on.len() {
            _ if !bounded(sipdg, &names) => None,
            n => Some(Open {
                places: Places::new(&on, &names, kinds),
                load: machine.load(n, &on.elliptic.load())?,
                dirichlet_load: machine.load(n, &on.elliptic.dirichlet_load())?,
                push: (0..dim).map(push).collect::<Result<_, _>>()?,
                trace: machine.evaluation(n, &on.value())?,
                pressure: zeros(n)?,
                before: zeros(n)?,
                change: zeros(n)?,
                last: None,
                order: ranks.map(|ranks| PointOrder::new(ranks, &on)).transpose()?,
                traction: None,
                work: zeros(n)?,
            }),
        };
        let modelled = Modelled::new(machine, sipdg, kinds, viscosity)?;
        Ok(Self { dim, viscosity, walls, symmetry, open, modelled, speed })
    }

    /// Returns whether a velocity is prescribed anywhere.
    pub(super) fn have_walls(&self) -> bool {
        self.walls.is_some()
    }

    /// Evaluates the data at time `t`. Open boundaries that react to the flow use the velocity `star`, the
    /// extrapolation to that time.
    pub(super) fn update<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        t: f64,
        star: &Components<V>,
    ) -> Result<(), SystemError> {
        if let Some(walls) = &mut self.walls {
            walls.update(machine, t)?;
        }
        let (dim, viscosity) = (self.dim, self.viscosity);
        let speed = self.speed.as_mut().map_or(0.0, |speed| speed.of(machine, star));
        if let Some(open) = &mut self.open {
            open.update(machine, (t, star), (dim, viscosity, speed))?;
        }
        if let Some(modelled) = &mut self.modelled {
            modelled.update(machine, star)?;
        }
        Ok(())
    }

    /// Adds the boundary terms of the pressure's problem of dual splitting, `−s ⟨q, n·g⟩ − ν ⟨q, n·∇×∇×u⟩` on
    /// walls and the prescribed pressure on open boundaries.
    pub(super) fn add_to_pressure(&mut self, b: &mut V, s: f64, u: &Components<V>) {
        self.add_wall_flux(b, s);
        let walls = self.walls.as_mut().map(|walls| &mut walls.double_curl);
        walls.into_iter().chain(&mut self.symmetry).for_each(|of| of.add(self.viscosity, u, b));
        if let Some(open) = &self.open {
            open.dirichlet_load.add(&open.pressure, b);
        }
    }

    /// Adds the viscous boundary terms of the velocity's problem: `ν` times the load of prescribed
    /// velocities, and the prescribed stress on open boundaries.
    pub(super) fn add_to_velocity(&mut self, b: &mut Components<V>) {
        if let Some(walls) = &mut self.walls {
            walls.add_to_velocity(self.viscosity, b);
        }
        if let Some(Open { traction: Some(traction), load, .. }) = &self.open {
            traction.0.iter().zip(&mut b.0).for_each(|(traction, b)| load.add(traction, b));
        }
        if let Some(modelled) = &self.modelled {
            modelled.add_to_velocity(b);
        }
    }

    /// As [`add_to_velocity`](Self::add_to_velocity), with the data of the time `t` and the velocity `u` at
    /// that time, which replace those of walls.
    pub(super) fn add_to_velocity_at<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        (t, u): (f64, &Components<V>),
        b: &mut Components<V>,
    ) -> Result<(), SystemError> {
        if let Some(walls) = &mut self.walls {
            walls.update(machine, t)?;
            walls.add_to_velocity(self.viscosity, b);
        }
        if let Some(open) = &self.open {
            for (traction, b) in open.tractions(t, (self.dim, self.viscosity)).iter().flatten().zip(&mut b.0)
            {
                open.load.add(&machine.numbers(traction)?, b);
            }
        }
        if let Some(modelled) = &mut self.modelled {
            modelled.update(machine, u)?;
            modelled.add_to_velocity(b);
        }
        Ok(())
    }

    /// As [`add_to_velocity`](Self::add_to_velocity), with the pressure of the last update but one on open
    /// boundaries.
    pub(super) fn add_to_velocity_with_old_pressure(&mut self, b: &mut Components<V>) {
        self.add_to_velocity(b);
        if let Some(open) = &self.open {
            open.add_push(&open.before, b);
        }
    }

    /// Adds `−s ⟨q, n·g⟩` on walls.
    pub(super) fn add_wall_flux(&mut self, b: &mut V, s: f64) {
        if let Some(walls) = &mut self.walls {
            walls.work.axpby(-s, &walls.normal, 0.0);
            walls.load.add(&walls.work, b);
        }
    }

    /// The pressures at the points of open boundaries in the last update, if there are any; on several ranks
    /// those of all points on rank 0, and none on others. Collective.
    pub(super) fn open_pressures(&self) -> Option<Vec<f64>> {
        let Open { last, order, .. } = self.open.as_ref()?;
        let last = last.as_ref()?;
        Some(order.as_ref().map_or_else(|| last.clone(), |order| order.gather(last)))
    }

    /// The number of these points on all ranks.
    pub(super) fn n_open_pressures(&self) -> Option<usize> {
        let Open { last, order, .. } = self.open.as_ref()?;
        Some(order.as_ref().map_or(last.as_ref()?.len(), |order| order.len))
    }

    /// Replaces the pressures, given at the points of all ranks.
    pub(super) fn set_open_pressures(&mut self, pressures: &[f64]) {
        if let Some(open) = &mut self.open {
            let own = |order: &PointOrder| order.places.iter().map(|&place| pressures[place]).collect();
            open.last = Some(open.order.as_ref().map_or_else(|| pressures.to_vec(), own));
        }
    }

    /// Adds the change of the pressure on open boundaries to the problem of its increment.
    pub(super) fn add_change_to_pressure(&self, b: &mut V) {
        if let Some(open) = &self.open {
            open.dirichlet_load.add(&open.change, b);
        }
    }

    /// Adds `−⟨v, p n⟩` with the pressure on open boundaries. Returns whether there are any.
    pub(super) fn add_pressure(&self, b: &mut Components<V>) -> bool {
        self.open.as_ref().is_some_and(|open| open.add_push(&open.pressure, b))
    }

    /// Adds `−⟨v, δ n⟩` with the change δ of the pressure on open boundaries. Returns whether there are any.
    pub(super) fn add_change(&self, b: &mut Components<V>) -> bool {
        self.open.as_ref().is_some_and(|open| open.add_push(&open.change, b))
    }

    /// As [`update`](Self::update), but the velocities of walls are replaced by their rates of change. The
    /// next update computes them again.
    pub(super) fn update_rates<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        t: f64,
        star: &Components<V>,
    ) -> Result<(), SystemError> {
        self.update(machine, t, star)?;
        if let Some(walls) = &mut self.walls {
            let mut before = walls.normal.zeros_like()?;
            walls.force(machine, t - RATE)?;
            before.copy_from(&walls.normal);
            walls.force(machine, t + RATE)?;
            walls.normal.axpby(-0.5 / RATE, &before, 0.5 / RATE);
            walls.at = None;
        }
        Ok(())
    }
}

impl<V: Vector<Scalar = f64>> Walls<V> {
    fn add_to_velocity(&mut self, viscosity: f64, b: &mut Components<V>) {
        for (g, b) in self.velocity.0.iter().zip(&mut b.0) {
            self.work.axpby(viscosity, g, 0.0);
            self.dirichlet_load.add(&self.work, b);
        }
    }

    fn force<M: Machine<V = V>>(&mut self, machine: &M, t: f64) -> Result<(), SystemError> {
        self.at = None;
        self.update(machine, t)
    }

    fn update<M: Machine<V = V>>(&mut self, machine: &M, t: f64) -> Result<(), SystemError> {
        if self.at.is_some_and(|at| self.steady || at == t) {
            return Ok(());
        }
        let (n, dim) = (self.places.points.len(), self.velocity.0.len());
        let mut g = vec![vec![0.0; n]; dim];
        for (kind, of) in &self.places.kinds {
            match kind {
                BoundaryKind::Prescribed(exact) => {
                    let values = self.places.values(exact.as_ref(), t, of);
                    for d in 0..dim {
                        of.iter().zip(&values[d]).for_each(|(&q, v)| g[d][q] = *v);
                    }
                }
                BoundaryKind::NoSlipWall { velocity: Some(velocity), data, .. } => {
                    let values = data.as_ref().map(|data| self.places.values(data.as_ref(), t, of));
                    for d in 0..dim {
                        for (i, &q) in of.iter().enumerate() {
                            g[d][q] = match (velocity[d], &values) {
                                (Given::Constant(v), _) => v,
                                (Given::Prescribed, Some(values)) => values[d][i],
                                (Given::Prescribed, None) => 0.0,
                            };
                        }
                    }
                }
                _ => {}
            }
        }
        let normal: Vec<f64> =
            (0..n).map(|q| (0..dim).map(|d| g[d][q] * self.places.normals[q][d]).sum()).collect();
        if let Some(balance) = &mut self.balance {
            balance.check((&g, &normal), t)?;
        }
        self.velocity = Components(g.iter().map(|g| machine.numbers(g)).collect::<Result<_, GpuError>>()?);
        self.normal = machine.numbers(&normal)?;
        self.at = Some(t);
        Ok(())
    }
}

impl<V: Vector<Scalar = f64>> Open<V> {
    /// Adds `−⟨v, p n⟩`. Returns true.
    fn add_push(&self, p: &V, b: &mut Components<V>) -> bool {
        self.push.iter().zip(&mut b.0).for_each(|(push, b)| push.add(p, b));
        true
    }

    fn update<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        (t, star): (f64, &Components<V>),
        (dim, viscosity, speed): (usize, f64, f64),
    ) -> Result<(), GpuError> {
        let n = self.places.points.len();
        let mut pressure = vec![0.0; n];
        let traction = self.tractions(t, (dim, viscosity));
        let mut velocity = None;
        for (kind, of) in &self.places.kinds {
            match kind {
                BoundaryKind::Open { data: Some(exact), .. } => {
                    let values = self.places.values(exact.as_ref(), t, of);
                    of.iter().zip(&values[dim]).for_each(|(&q, p)| pressure[q] = *p);
                }
                BoundaryKind::PressureOutlet { p, data, .. } => {
                    let values = data.as_ref().map(|data| self.places.values(data.as_ref(), t, of));
                    for (i, &q) in of.iter().enumerate() {
                        pressure[q] = match (p, &values) {
                            (Given::Constant(p), _) => *p,
                            (Given::Prescribed, Some(values)) => values[values.len() - 1][i],
                            (Given::Prescribed, None) => 0.0,
                        };
                    }
                }
                kind => {
                    let Some(Backflow { velocity: own, delta }) = backflow(kind) else { continue };
                    if velocity.is_none() {
                        let mut traces = Vec::new();
                        for u in &star.0 {
                            self.trace.apply(u, &mut self.work);
                            traces.push(machine.read(&self.work)?);
                        }
                        velocity = Some(traces);
                    }
                    let Some(velocity) = &velocity else { continue };
                    // A fluid at rest has no scale, and needs none.
                    let width = (delta * own.unwrap_or(speed)).max(f64::MIN_POSITIVE);
                    let open = OpenPressure { viscosity, width };
                    for &q in of {
                        let u: [f64; 3] = std::array::from_fn(|d| velocity.get(d).map_or(0.0, |u| u[q]));
                        // The stress is that of the velocity's problem, in which ∂u/∂n = 0.
                        pressure[q] = open.pressure(&u, &[0.0; 3], &self.places.normals[q]);
                    }
                }
            }
        }
        let before = self.last.get_or_insert_with(|| pressure.clone());
        let change: Vec<f64> = pressure.iter().zip(&*before).map(|(new, old)| new - old).collect();
        self.before = machine.numbers(before)?;
        self.change = machine.numbers(&change)?;
        self.pressure = machine.numbers(&pressure)?;
        self.last = Some(pressure);
        let field = |of: Vec<Vec<f64>>| of.iter().map(|of| machine.numbers(of)).collect::<Result<_, _>>();
        self.traction = traction.map(field).transpose()?.map(Components);
        Ok(())
    }

    /// `ν ∂u/∂n` of prescribed solutions at time `t`, `[component][point]`, if there are any. A solution that
    /// is not a formula has no derivative here: the stress is zero.
    fn tractions(&self, t: f64, (dim, viscosity): (usize, f64)) -> Option<Vec<Vec<f64>>> {
        let mut traction = None;
        for (kind, of) in &self.places.kinds {
            let BoundaryKind::Open { data: Some(exact), .. } = kind else { continue };
            let Some(recording) = exact.recorded() else { continue };
            let traction = traction.get_or_insert_with(|| vec![vec![0.0; self.places.points.len()]; dim]);
            for &q in of {
                let slopes = slopes(&recording, t, self.places.points[q], self.places.normals[q]);
                (0..dim).for_each(|d| traction[d][q] = viscosity * slopes[d]);
            }
        }
        traction
    }
}

/// `∂u/∂n` of a recorded solution, by dual numbers.
fn slopes(solution: &Recording, t: f64, x: [f64; 3], n: [f64; 3]) -> Vec<f64> {
    let seeded: [Dual<f64>; 3] = std::array::from_fn(|d| Dual::new(x[d], n[d]));
    solution.eval(Dual::constant(t), &seeded).iter().map(|v| v.derivative).collect()
}
