//! The right-hand side as a sequence of stages: traces, boundaries, foreign faces, residual.
//!
//! [`Discretization`] holds the groups of elements, their connectivity and the boundary conditions. One
//! evaluation (1) interpolates traces where they are not nodal values, (2) evaluates the boundary conditions,
//! (3) copies the traces of elements of other groups into the exterior buffer, and (4) runs the fused
//! residual over the blocks of each group. On several ranks the traces of cut faces are sent between (1) and
//! (2), states above boundaries before (1); the blocks that read the traces run last.

mod face_states;
mod time_step;

use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::formulas::diffusion::DiffusionKernels;
use crate::formulas::equation::Equation;
use crate::formulas::pointwise::PointKernels;
use crate::formulas::two_point::TwoPointKernels;
use crate::lanes::simd::{PackScalar, checked};
use crate::lock::lock;
use crate::rhs::above_halo::AboveHalo;
use crate::rhs::boundary_set::{BoundarySet, boundary_sets, split};
use crate::rhs::halo::Halo;
use crate::rhs::limiter::Limiter;
use crate::rhs::published::Published;
use crate::rhs::ranks::{Ranks, Whole, agree};
use crate::rhs::reaction::Reactions;
use crate::rhs::residual::{Output, Scratch, StageWeights, run_blocks, trace_blocks};
use crate::rhs::source::SourceTerm;
use crate::rhs::step_bound::add_bounds;
use crate::rhs::tally::Tally;
use crate::space::connect::{Connectivity, Foreign, Neighbours, connect};
use crate::space::group::{Group, build};
use crate::space::layout::{Lanes, Layout, Terms};
use crate::space::lifting::{Lifting, add_lifting, penalty};
use crate::space::scheme::{Form, MetricRule, Scheme};
use crate::space::step_measure::StepMeasure;
use crate::space::widths::add_coefficients;
use dgsuite_basis::{Cubature, Shape};
use dgsuite_gpu::{Buffer, Element, Host, SimdLevel};
use dgsuite_mesh::Mesh;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock};

/// Number of blocks in one task of a parallel loop.
pub(crate) const CHUNK: usize = 16;

/// A discontinuous Galerkin discretisation of one equation on one mesh.
///
/// The state is one array: the groups follow one another, each in its own [`Layout`]. [`eval`](Self::eval)
/// and [`stage`](Self::stage) do not allocate, except for boundary data and sources that depend on time.
pub struct Discretization<T: Element> {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) host: Arc<Host>,
    pub(crate) level: SimdLevel,
    pub(crate) scheme: Scheme,
    pub(crate) physics: Box<dyn PointKernels<T>>,
    pub(crate) groups: Vec<Group<T>>,
    pub(crate) connectivity: Connectivity,
    pub(crate) boundaries: Vec<BoundarySet<T>>,
    /// Traces per group; empty where they are nodal values and are read from the state.
    pub(crate) traces: Vec<Buffer<T>>,
    pub(crate) exterior: Vec<T>,
    pub(crate) scratch: Vec<Mutex<Scratch<T>>>,
    pub(crate) tally: Tally,
    pub(crate) two_point: Option<Box<dyn TwoPointKernels<T>>>,
    pub(crate) diffusion: Option<Box<dyn DiffusionKernels<T>>>,
    pub(crate) published: Option<Published<T>>,
    pub(crate) source: Option<SourceTerm<T>>,
    pub(crate) reactions: Option<Reactions<T>>,
    pub(crate) limiter: Option<Limiter<T>>,
    /// Weight of the liftings on their own faces; `None` for the number of faces.
    pub(crate) eta: Option<f64>,
    /// The measure in which steps are given.
    pub(crate) measure: StepMeasure,
    /// Factors of the step, per group and slot; empty vectors if all elements use the same step.
    local: Vec<Vec<T>>,
    pub(crate) ranks: Option<Arc<Ranks>>,
    /// Group and slot of each element, for reading points; made when it is first used.
    pub(crate) slots: OnceLock<Vec<(u32, u32)>>,
    whole: Option<Whole>,
    pub(crate) halo: Option<Halo>,
    /// On several ranks, the exchange of states above boundaries.
    pub(crate) above: Option<Mutex<AboveHalo<T>>>,
    /// Per group, the blocks that do not read cut faces, then those that do; empty on one rank.
    pub(crate) order: Vec<[Vec<u32>; 2]>,
}

/// Summary of one part of the discretisation.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSummary {
    /// Shape of the elements.
    pub shape: Shape,
    /// Number of elements.
    pub elements: usize,
    /// Basis functions of an element.
    pub n_basis: usize,
    /// Number of volume points of an element.
    pub volume_points: usize,
    /// Volume cubature.
    pub volume: Cubature,
    /// Face points of an element.
    pub face_points: usize,
    /// Face cubature.
    pub face: Cubature,
    /// Metric rule.
    pub rule: MetricRule,
    /// Whether traces of neighbours are read from the state.
    pub direct_traces: bool,
    /// Numbers per element from which a device computes metric terms and normals, for curved simplices of
    /// geometry order 2; 0 otherwise.
    pub map_numbers: usize,
    /// Bytes of the operators that all elements share.
    pub operator_bytes: usize,
    /// Multiply–adds of the residual's products, per element and field.
    pub multiply_adds: usize,
}

/// Outputs of the groups. There are at most as many groups as shapes.
pub(crate) type Outputs<T> = [Option<Output<T>>; Shape::ALL.len()];

impl<T: PackScalar> Discretization<T> {
    /// Discretises `equation` on `mesh`. `boundaries` binds the conditions to the boundaries of the mesh by
    /// name. [`PointKernels`] convert to an [`Equation`] without diffusion and source.
    ///
    /// # Errors
    /// [`OpsError`] if the scheme does not exist on a shape of the mesh, if an element is inverted at a point
    /// that the scheme uses, if a boundary with faces has no condition, or one without a diffusive part
    /// although the equation has diffusion, or if the parts of the equation differ in dimension or number of
    /// unknowns.
    pub fn new(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Self, OpsError> {
        let lanes = Lanes::Simd(checked(host.simd()));
        Self::laid_out(mesh, scheme, equation.into(), boundaries, host, lanes, None)
    }

    /// As [`new`](Self::new), on this rank's part of a mesh. Collective, as are all functions of the result
    /// that take a state: all ranks call them in the same order.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`OpsError::Ranks`] if other ranks cannot be reached.
    pub fn on_ranks(
        ranks: &Arc<Ranks>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Self, OpsError> {
        let lanes = Lanes::Simd(checked(host.simd()));
        let mesh = Arc::clone(ranks.mesh());
        Self::laid_out(mesh, scheme, equation.into(), boundaries, host, lanes, Some(Arc::clone(ranks)))
    }

    /// As [`new`](Self::new), with a given layout. With the layout of a device the result is a description
    /// only: fields can be projected, integrated and sampled, but nothing can be evaluated.
    pub(crate) fn laid_out(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: Equation<T>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        lanes: Lanes,
        ranks: Option<Arc<Ranks>>,
    ) -> Result<Self, OpsError> {
        equation.check()?;
        let Equation { kernels: physics, two_point, diffusion, eta, length, source, reactions } = equation;
        if physics.dim() != mesh.dim {
            return Err(OpsError::Dimension { law: physics.dim(), mesh: mesh.dim });
        }
        if mesh.n_elements() == 0 {
            return Err(OpsError::Empty);
        }
        let fields = physics.n_fields();
        // A scalar does not depend on the rotation of periodic boundaries; a vector would have to be rotated.
        if let Some(link) = mesh.links.iter().find(|link| fields > 1 && !link.is_translation()) {
            let name =
                |b: u32| mesh.boundaries.get(b as usize).map_or_else(String::new, |tag| tag.name.clone());
            return Err(OpsError::TurnedPeriodicity { first: name(link.first), second: name(link.second) });
        }
        let level = checked(host.simd());
        let evaluates = matches!(lanes, Lanes::Simd(_));
        let rows = source.is_some() || !reactions.is_empty();
        let terms = Terms { diffusion: diffusion.is_some(), rows };
        let lanes = match lanes {
            Lanes::Device(choose, _) => Lanes::Device(choose, terms),
            Lanes::Simd(_) => lanes,
        };
        let mut groups = {
            let whole = ranks.as_ref().map(|ranks| &ranks.needs[..]);
            let front = ranks.as_ref().filter(|_| !evaluates).map_or_else(Vec::new, |ranks| ranks.front());
            let built = host.install(|| build::<T>(&mesh, scheme, fields, lanes, whole, &front));
            match &ranks {
                Some(ranks) => agree(ranks.comm().as_ref(), built)?,
                None => built?,
            }
        };
        let reference = |g: &&Group<T>| g.parts.iter().any(|p| p.spec.rule == MetricRule::Reference);
        let more = diffusion.is_some() || rows;
        if let Some(group) = groups.iter().find(|g| more && reference(g)) {
            let reason = "the reference metric rule has no diffusion, source or reactions";
            return Err(OpsError::Scheme { shape: group.shape, reason });
        }
        if two_point.is_some() != (scheme.form == Form::Split) {
            return Err(OpsError::TwoPointFlux);
        }
        for group in &mut groups {
            if let Some(diffusion) = &diffusion {
                host.install(|| add_lifting(group, &mesh, eta, lanes))?;
                add_coefficients(group, &mesh, scheme.order, &|w| diffusion.coefficient(w), length.as_ref())?;
            }
            let eta = diffusion.is_some().then(|| penalty(group.shape, eta));
            let directed = physics.is_directed() && diffusion.is_none();
            host.install(|| add_bounds(group, eta, directed));
        }
        let cuts = ranks.as_ref().map_or(&[][..], |ranks| &ranks.cuts);
        let connectivity = connect(&mesh, &groups, cuts)?;
        let halo = ranks.as_ref().map(|ranks| Halo::new::<T>(ranks, &connectivity.borders)).transpose()?;
        let order = match &ranks {
            Some(_) => (groups.iter().enumerate())
                .map(|(g, group)| {
                    let blocks = 0..group.state.blocks as u32;
                    let (late, early) = blocks.partition(|&b| connectivity.reads_cuts(g, b as usize));
                    [early, late]
                })
                .collect(),
            None => Vec::new(),
        };
        let zero = T::from_f64(0.0);
        let mesh_groups = groups.len();
        let traces = groups
            .iter()
            .map(|g| {
                let written = evaluates && g.face_nodes.is_none();
                Buffer::zeros_on(&host, if written { g.trace.len() } else { 0 })
            })
            .collect::<Result<_, _>>()?;
        let scratch = (0..if evaluates { host.n_threads() } else { 0 })
            .map(|_| Scratch::new(&groups).map(Mutex::new))
            .collect::<Result<_, _>>()?;
        let lifts = diffusion.is_some();
        let (sets, above) = boundary_sets(&mesh, &groups, &connectivity, boundaries, lifts, ranks.as_ref())?;
        let published = match &diffusion {
            Some(_) if evaluates => Some(Published::new(&groups, &connectivity, mesh.dim, &host)?),
            _ => None,
        };
        let source = source.map(|s| SourceTerm::new(&mesh, &groups, &host, s)).transpose()?;
        let reactions = Reactions::new(&mesh, &groups, &host, reactions, evaluates, ranks.as_deref())?;
        let mut new = Self {
            two_point,
            diffusion,
            published,
            source,
            reactions,
            limiter: None,
            eta,
            exterior: vec![zero; if evaluates { connectivity.exterior_len } else { 0 }],
            mesh,
            host,
            level,
            scheme: *scheme,
            physics,
            groups,
            connectivity,
            tally: Tally::new(sets.iter().map(|set| set.first.len() - 1).sum(), fields),
            boundaries: sets,
            traces,
            scratch,
            measure: StepMeasure::default(),
            local: vec![Vec::new(); mesh_groups],
            ranks,
            slots: OnceLock::new(),
            whole: None,
            halo,
            above,
            order,
        };
        new.whole = match &new.ranks {
            Some(ranks) => Some(ranks.whole(&new.summary(), new.dofs(), new.bytes())?),
            None => None,
        };
        Ok(new)
    }

    /// Number of scalars of a state, filler lanes included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(|g| g.state.len()).sum()
    }

    /// True if the state is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Degrees of freedom: elements × basis functions × fields.
    #[must_use]
    pub fn dofs(&self) -> usize {
        self.groups.iter().map(|g| g.real_slots().count() * g.state.rows * g.state.fields).sum()
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// This rank's part of the mesh and the other ranks; `None` if the mesh is a whole one.
    #[must_use]
    pub fn ranks(&self) -> Option<&Arc<Ranks>> {
        self.ranks.as_ref()
    }

    /// The machine.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// The equation's point formulas.
    #[must_use]
    pub fn physics(&self) -> &dyn PointKernels<T> {
        self.physics.as_ref()
    }

    /// The equation's diffusion, if it has any.
    #[must_use]
    pub fn diffusion(&self) -> Option<&dyn DiffusionKernels<T>> {
        self.diffusion.as_deref()
    }

    /// Polynomial degree.
    #[must_use]
    pub fn order(&self) -> usize {
        self.scheme.order
    }

    /// SIMD level in use.
    #[must_use]
    pub fn simd(&self) -> SimdLevel {
        self.level
    }

    /// Shape, layout and offset of each group's state.
    pub fn layouts(&self) -> impl Iterator<Item = (Shape, Layout, usize)> + '_ {
        self.groups.iter().map(|g| (g.shape, g.state, g.offset))
    }

    /// Summary of each part.
    #[must_use]
    pub fn summary(&self) -> Vec<PartSummary> {
        let mut out = Vec::new();
        for g in &self.groups {
            for p in &g.parts {
                out.push(PartSummary {
                    shape: g.shape,
                    elements: p.n_elements,
                    n_basis: g.state.rows,
                    volume_points: p.n_points,
                    volume: p.spec.element.volume,
                    face_points: g.trace.rows,
                    face: p.spec.element.face,
                    rule: p.spec.rule,
                    direct_traces: g.face_nodes.is_some(),
                    map_numbers: p.map.len() / p.n_elements.max(1),
                    operator_bytes: p.operators.bytes(),
                    multiply_adds: p.lifting.as_ref().map_or(0, Lifting::multiply_adds)
                        + p.operators
                            .multiply_adds(p.collocated || p.lifting.is_some(), g.face_nodes.is_some()),
                });
            }
        }
        out
    }

    /// Sizes of the discretisation on all ranks together; `None` if the mesh is a whole one.
    #[must_use]
    pub fn whole(&self) -> Option<&Whole> {
        self.whole.as_ref()
    }

    /// Memory in bytes, without states: geometry, connectivity, traces, coefficients.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let geometry: usize = self.groups.iter().map(Group::geometry_bytes).sum();
        let connectivity: usize = self.connectivity.neighbours.iter().map(Neighbours::bytes).sum();
        let traces: usize = self.traces.iter().map(|t| t.len()).sum::<usize>()
            + self.exterior.len()
            + self.published.as_ref().map_or(0, Published::len)
            + self.boundaries.iter().map(BoundarySet::len_above).sum::<usize>()
            + self.len_above();
        let coefficients = self.reactions.as_ref().map_or(0, Reactions::len);
        geometry + connectivity + (traces + coefficients) * T::BYTES
    }

    /// Evaluates the residual, `du ← R(t, u)`.
    ///
    /// # Panics
    /// If the arrays do not have the state's length.
    pub fn eval(&mut self, t: f64, u: &[T], du: &mut [T]) {
        assert!(du.len() == self.len(), "du has {} scalars, the state {}", du.len(), self.len());
        self.prepare(t, u);
        let du = du.as_mut_ptr();
        // SAFETY: `du` covers the state; each group's part begins at its offset.
        let outputs = self.outputs(|g| Output::Residual { du: unsafe { du.add(g.offset) } });
        self.residual(u, &outputs);
    }

    /// Evaluates a fused stage: `register ← a register + dt R(t, u)`,
    /// `next ← b start + (1 − b) u + c register`, then limits `next` if there is a limiter.
    ///
    /// `start` may be `None` if `b = 0`. A register of weight 0 is not read.
    ///
    /// # Panics
    /// If an array does not have the length of the state, or if `start` is needed and missing.
    pub fn stage(
        &mut self,
        t: f64,
        weights: StageWeights,
        u: &[T],
        start: Option<&[T]>,
        register: &mut [T],
        next: &mut [T],
    ) {
        let n = self.len();
        assert!(register.len() == n && next.len() == n, "register and next have the state's length");
        assert!(
            weights.b == 0.0 || start.is_some_and(|s| s.len() == n),
            "a stage with b ≠ 0 needs its start"
        );
        self.prepare(t, u);
        self.send_bounds(u);
        let (register, after) = (register.as_mut_ptr(), next.as_mut_ptr());
        let start = start.filter(|_| weights.b != 0.0).map_or(std::ptr::null(), <[T]>::as_ptr);
        let local = |g: &Group<T>| {
            let i = self.groups.iter().position(|x| x.shape == g.shape).unwrap_or(0);
            if self.local[i].is_empty() { std::ptr::null() } else { self.local[i].as_ptr() }
        };
        // SAFETY: all arrays cover the state; each group's part begins at its offset.
        let outputs = self.outputs(|g| unsafe {
            Output::Stage {
                weights,
                local: local(g),
                start: if start.is_null() { start } else { start.add(g.offset) },
                register: register.add(g.offset),
                next: after.add(g.offset),
            }
        });
        self.residual(u, &outputs);
        self.limit_stage(u, next);
    }

    /// Multiplies the step of every stage by a factor for each slot, as computed by
    /// [`time_step`](Self::time_step); `None` restores one step for all elements.
    pub fn set_local_steps(&mut self, factors: Option<&[f64]>) {
        let mut first = 0;
        for (group, local) in self.groups.iter().zip(&mut self.local) {
            let n = group.state.blocks * group.state.lanes;
            local.clear();
            if let Some(factors) = factors {
                local.extend(factors[first..first + n].iter().map(|&x| T::from_f64(x)));
            }
            first += n;
        }
    }

    /// Rate of change of the integrals of the conserved variables due to the fluxes through the boundary, in
    /// the last evaluation: `−∮ f* dS`.
    #[must_use]
    pub fn tally(&self) -> &[f64] {
        self.tally.total()
    }

    /// [`tally`](Self::tally) for each face of the boundary, `[face][field]`. The numbers of a face do not
    /// depend on the parts of a mesh.
    #[must_use]
    pub fn tally_of_faces(&self) -> &[f64] {
        self.tally.faces()
    }

    /// Runs the stages before the residual: traces, boundaries, foreign faces.
    fn prepare(&mut self, t: f64, u: &[T]) {
        assert!(u.len() == self.len(), "u has {} scalars, the state {}", u.len(), self.len());
        self.update_source(t);
        self.update_reactions(u);
        self.send_above(u);
        self.trace(u);
        self.send_traces(u);
        self.boundary(t, u);
        self.exchange(u);
        // Both passes of diffusion read the states across faces.
        if self.published.is_some() {
            self.receive();
        }
    }

    /// Sends the traces at cut faces to the other ranks.
    fn send_traces(&mut self, u: &[T]) {
        let Some(mut halo) = self.halo.take() else { return };
        halo.start(|foreign, out| self.copy_trace(foreign, u, out));
        self.halo = Some(halo);
    }

    /// Whether stages wait for messages as soon as they have sent them.
    pub(crate) fn waits(&self) -> bool {
        self.ranks.as_ref().is_some_and(|ranks| ranks.waits())
    }

    /// Waits for the values at cut faces.
    fn receive(&mut self) {
        if let Some(halo) = &mut self.halo {
            halo.finish(&mut self.exterior);
        }
    }

    /// Computes `I_f u` of the groups whose traces are not nodal values.
    fn trace(&mut self, u: &[T]) {
        let (level, scratch) = (self.level, &self.scratch);
        for (group, traces) in self.groups.iter().zip(&mut self.traces) {
            if group.face_nodes.is_some() {
                continue;
            }
            let state = &u[group.offset..group.offset + group.state.len()];
            let block = group.trace.block_len();
            self.host.install(|| {
                traces.par_chunks_mut(CHUNK * block).enumerate().for_each(|(i, out)| {
                    let first = i * CHUNK;
                    let thread = rayon::current_thread_index().unwrap_or(0) % scratch.len();
                    let mut scratch = lock(&scratch[thread]);
                    trace_blocks(group, level, state, &mut scratch, first..first + out.len() / block, out);
                });
            });
        }
    }

    /// Computes outer states and fluxes on the boundary.
    fn boundary(&mut self, t: f64, u: &[T]) {
        self.tally.clear();
        let mut faces_before = 0;
        let fields = self.physics.n_fields();
        let dim = self.physics.dim();
        let arrived = AboveHalo::received(&mut self.above);
        for set in &mut self.boundaries {
            set.update_data(t, fields);
            set.update_from_above(u, arrived, &self.host);
            let faces = &self.connectivity.boundaries[set.boundary];
            let (groups, traces, physics) = (&self.groups, &self.traces, &self.physics);
            let first = &set.first;
            let n = set.positions.len();
            let exterior_first = self.connectivity.boundary_exterior[set.boundary];
            let plus = &mut self.exterior[exterior_first..exterior_first + n * fields];
            // Gathers inner traces, then evaluates the condition, on runs of points.
            let gather = |f: usize, minus: &mut [T]| {
                let face = faces[f];
                let group = &groups[face.group as usize];
                read_trace(
                    group,
                    u,
                    &traces[face.group as usize],
                    face.slot as usize,
                    face.face as usize,
                    minus,
                );
            };
            let (kernel, normal, data) = (&set.binding.kernel, &set.normal, &set.data);
            let run = |f0: usize, f1: usize, minus: &mut [T], plus: &mut [T], flux: &mut [T]| {
                let p0 = first[f0];
                for f in f0..f1 {
                    let (a, b) = ((first[f] - p0) * fields, (first[f + 1] - p0) * fields);
                    gather(f, &mut minus[a..b]);
                }
                let p1 = first[f1];
                let normal = &normal[p0 * dim..p1 * dim];
                kernel.outer(minus, normal, &data[p0 * fields..p1 * fields], plus);
                physics.numerical_flux(minus, plus, normal, flux);
            };
            // Runs are split at faces, with equal numbers of points where possible. They are independent of
            // each other, so the result does not depend on the distribution over threads.
            self.host
                .install(|| split(faces.len(), first, fields, &mut set.minus, plus, &mut set.flux, &run));
            let outward = set.weight.iter().map(|w| -w);
            self.tally.add(faces_before, first, outward, set.flux.iter().map(|f| f.to_f64()));
            faces_before += faces.len();
            if let Some(published) = &mut self.published {
                set.face_states(&mut published.jumps[exterior_first..exterior_first + n * fields]);
            }
        }
        self.tally.sum();
    }

    /// Copies traces of other groups' elements into the exterior buffer.
    fn exchange(&mut self, u: &[T]) {
        let mut exterior = std::mem::take(&mut self.exterior);
        for foreign in &self.connectivity.foreign {
            self.copy_trace(foreign, u, &mut exterior[foreign.exterior as usize..]);
        }
        self.exterior = exterior;
    }

    /// Copies the trace of an element's face, `[point][field]`, in the frame of the face that meets it.
    fn copy_trace(&self, foreign: &Foreign, u: &[T], out: &mut [T]) {
        let group = &self.groups[foreign.group as usize];
        let neighbours = &self.connectivity.neighbours[foreign.group as usize];
        let table = neighbours.table(foreign.code, foreign.points as usize);
        let (source, layout) = match group.face_nodes {
            Some(_) => (&u[group.offset..], group.state),
            None => (&self.traces[foreign.group as usize][..], group.trace),
        };
        let base = layout.index(foreign.slot as usize, 0, 0);
        for (point, &row) in out.chunks_exact_mut(layout.fields).zip(table) {
            for (k, value) in point.iter_mut().enumerate() {
                *value = source[base + row as usize + k * layout.lanes];
            }
        }
    }

    /// The outputs of all groups.
    fn outputs(&self, of: impl Fn(&Group<T>) -> Output<T>) -> Outputs<T> {
        let mut outputs = [None; Shape::ALL.len()];
        for (output, group) in outputs.iter_mut().zip(&self.groups) {
            *output = Some(of(group));
        }
        outputs
    }

    /// Runs the fused residual of every group; with diffusion, both passes.
    fn residual(&mut self, u: &[T], outputs: &Outputs<T>) {
        if self.published.is_some() {
            self.diffuse(u, outputs);
            return;
        }
        if self.waits() {
            self.receive();
        } else if self.halo.is_some() {
            self.residual_of(0, u, outputs);
            self.receive();
            self.residual_of(1, u, outputs);
            return;
        }
        for (g, output) in outputs.iter().enumerate().filter_map(|(g, o)| Some((g, o.as_ref()?))) {
            let inputs = self.inputs(g, u, self.added_rows(g));
            let blocks = inputs.group.state.blocks;
            let work = |i: usize| {
                let thread = rayon::current_thread_index().unwrap_or(0) % self.scratch.len();
                let mut scratch = lock(&self.scratch[thread]);
                let chunk = i * CHUNK..((i + 1) * CHUNK).min(blocks);
                // SAFETY: the pointers cover the group's state (see the callers); each block is in
                // exactly one chunk.
                unsafe { run_blocks(&inputs, &mut scratch, chunk, output) };
            };
            self.host.install(|| (0..blocks.div_ceil(CHUNK)).into_par_iter().for_each(work));
        }
    }

    /// Runs the fused residual of the blocks that do not read cut faces (`turn` 0), or of those that do (1).
    fn residual_of(&self, turn: usize, u: &[T], outputs: &Outputs<T>) {
        for (g, output) in outputs.iter().enumerate().filter_map(|(g, o)| Some((g, o.as_ref()?))) {
            let inputs = self.inputs(g, u, self.added_rows(g));
            let work = |blocks: &[u32]| {
                let mut scratch = lock(self.scratch_of_thread());
                for &block in blocks {
                    let block = block as usize;
                    // SAFETY: the pointers cover the group's state (see the callers); each block is in
                    // exactly one chunk of one turn.
                    unsafe { run_blocks(&inputs, &mut scratch, block..block + 1, output) };
                }
            };
            self.host.install(|| self.order[g][turn].par_chunks(CHUNK).for_each(work));
        }
    }
}

/// Reads the trace of one face, `[point][field]`, in the face's own frame.
fn read_trace<T: PackScalar>(
    group: &Group<T>,
    u: &[T],
    traces: &[T],
    slot: usize,
    face: usize,
    out: &mut [T],
) {
    let range = group.face_offsets[face]..group.face_offsets[face + 1];
    let fields = group.state.fields;
    for (i, q) in range.enumerate() {
        for k in 0..fields {
            out[i * fields + k] = match &group.face_nodes {
                Some(nodes) => u[group.offset + group.state.index(slot, nodes[q] as usize, k)],
                None => traces[group.trace.index(slot, q, k)],
            };
        }
    }
}
