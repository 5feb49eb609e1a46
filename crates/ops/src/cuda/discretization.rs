//! The right-hand side on a device.

use crate::boundary::BoundaryBinding;
use crate::cuda::boundary::{DeviceBoundary, boundary_source};
use crate::cuda::faces::TraceSource;
use crate::cuda::fast::wants_nodes;
use crate::cuda::kernels::{DeviceGroup, StageVectors, TraceList, TracePoints, kernel_sources};
use crate::cuda::source::{LawText, POINT_THREADS, REDUCE_THREADS, pointwise};
use crate::discretization::Discretization;
use crate::error::OpsError;
use crate::group::Lanes;
use crate::pointwise::PointKernels;
use crate::residual::StageWeights;
use crate::scheme::Scheme;
use crate::simd::PackScalar;
use dgsuite_basis::{NodeSet, Representation};
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{GpuError, Host};
use dgsuite_mesh::Mesh;
use std::sync::Arc;

/// A step bound as kernels write it: `StepBound` in speed.cu, as two words.
const BOUND_WORDS: usize = 2;

/// No slot.
const NONE: u32 = u32::MAX;

/// Where a stage's arrays lie on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageAddresses {
    /// State that the stage starts from.
    pub u: u64,
    /// State at the beginning of the step, or 0.
    pub start: u64,
    /// Register.
    pub register: u64,
    /// State after the stage.
    pub next: u64,
}

/// Points whose traces go from one group to others' elements.
struct Exchange {
    group: usize,
    from: TracePoints,
    to: DeviceBuffer<u32>,
    count: usize,
}

/// A discontinuous Galerkin discretisation on a device: the twin of [`Discretization`].
///
/// States are arrays in the device's own layout; [`description`](Self::description) projects, integrates and samples
/// copies of them on the host, and converts to and from the canonical order. Its basis may be another than the scheme's
/// (nodal values for modes), of the same space. Calls put work into the device's
/// main stream and return; only [`time_step`](Self::time_step) and [`integrals`](Self::integrals) wait for it. In double and
/// single precision results are the same on every run; no sum depends on the order in which threads happen to run.
pub struct CudaDiscretization<T: PackScalar> {
    cuda: Cuda,
    description: Discretization<T>,
    groups: Vec<DeviceGroup<T>>,
    boundaries: Vec<DeviceBoundary<T>>,
    exchanges: Vec<Exchange>,
    exchange: Function,
    exterior: DeviceBuffer<T>,
    /// Weighted fluxes at all boundary points, `[point][field]`.
    flux: DeviceBuffer<f64>,
    boundary_points: usize,
    /// Time integrals of the boundary's rates, then their corrections.
    integrals: DeviceBuffer<f64>,
    tally: Function,
    least: Function,
    assign: Function,
    running_sum: Function,
    /// Size of the step.
    step: DeviceBuffer<f64>,
    bounds: DeviceBuffer<u64>,
    n_bounds: usize,
    /// The least bound.
    bound: DeviceBuffer<u64>,
    /// Steps by slot of all groups, one group after the other.
    local: DeviceBuffer<T>,
    use_local: bool,
    work: DeviceBuffer<T>,
    args: Args,
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Discretise `physics` on `mesh` for `cuda`; `boundaries` name the conditions of the mesh's boundaries. `host` works
    /// during set-up and for output.
    ///
    /// # Errors
    /// Those of [`Discretization::new`]; [`OpsError::Machine`] if the device has too little memory or a kernel cannot be
    /// compiled.
    pub fn new(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        physics: Box<dyn PointKernels<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        cuda: &Cuda,
    ) -> Result<Self, OpsError> {
        let scheme = &on_device(scheme, &mesh);
        let description =
            Discretization::laid_out(mesh, scheme, physics.into(), boundaries, host, Lanes::Device)?;
        let law = LawText::new(description.physics.as_ref())?;
        let connectivity = &description.connectivity;
        let (dim, fields) = (description.physics.dim(), description.physics.n_fields());
        let groups = description
            .groups
            .iter()
            .zip(&connectivity.neighbours)
            .map(|(g, n)| DeviceGroup::new(cuda, &law, g, n, scheme.form, scheme.order))
            .collect::<Result<Vec<_>, _>>()?;
        let mut boundary_points = 0;
        let mut device_boundaries = Vec::new();
        for set in &description.boundaries {
            device_boundaries.push(DeviceBoundary::new(
                cuda,
                &law,
                &description.groups,
                &groups,
                connectivity,
                set,
                dim,
                boundary_points,
            )?);
            boundary_points += set.positions.len();
        }
        let exchanges = exchanges(cuda, &description, &groups)?;
        let kernel = |name, body, entry: &str, threads| -> Result<Function, GpuError> {
            let source = pointwise::<T>(name, body, &law, dim, fields).define("BLOCK", threads);
            cuda.compile(&source)?.function(entry)
        };
        let (points, reduce) = (POINT_THREADS, REDUCE_THREADS);
        let exchange = kernel("exchange.cu", include_str!("exchange.cu"), "exchange", points)?;
        let tally = kernel("tally.cu", include_str!("tally.cu"), "tally", reduce)?;
        let least = kernel("tally.cu", include_str!("tally.cu"), "least", reduce)?;
        let assign = kernel("tally.cu", include_str!("tally.cu"), "assign", reduce)?;
        let running_sum = kernel("tally.cu", include_str!("tally.cu"), "running_sum", reduce)?;
        let n_bounds = groups.iter().map(DeviceGroup::bounds).sum();
        let work = groups.iter().map(DeviceGroup::work).max().unwrap_or(0);
        Ok(Self {
            cuda: cuda.clone(),
            groups,
            boundaries: device_boundaries,
            exchanges,
            exchange,
            exterior: DeviceBuffer::zeros(cuda, "traces from outside", connectivity.exterior_len)?,
            flux: DeviceBuffer::zeros(cuda, "boundary fluxes", boundary_points * fields)?,
            boundary_points,
            integrals: DeviceBuffer::zeros(cuda, "boundary integrals", 2 * fields)?,
            tally,
            least,
            assign,
            running_sum,
            step: DeviceBuffer::zeros(cuda, "the step", 1)?,
            bounds: DeviceBuffer::zeros(cuda, "step bounds", n_bounds * BOUND_WORDS)?,
            n_bounds,
            bound: DeviceBuffer::zeros(cuda, "step bounds", BOUND_WORDS)?,
            local: DeviceBuffer::zeros(cuda, "local steps", 0)?,
            use_local: false,
            work: DeviceBuffer::zeros(cuda, "work space", work)?,
            args: Args::new(),
            description,
        })
    }

    /// The same discretisation's facts and its fields in host memory. It cannot be evaluated.
    #[must_use]
    pub fn description(&self) -> &Discretization<T> {
        &self.description
    }

    /// The device.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Scalars of a state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.description.len()
    }

    /// True if there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held on the device besides states.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.groups.iter().map(DeviceGroup::bytes).sum::<usize>()
            + self.exterior.bytes()
            + self.flux.bytes()
            + self.work.bytes()
            + self.local.bytes()
    }

    /// Whether each group's traces are written by a kernel of their own, as they are read by the next.
    pub fn writes_traces(&self) -> impl Iterator<Item = bool> + '_ {
        self.groups.iter().map(|g| g.faces.source == TraceSource::Traces)
    }

    /// Registers and bytes of local memory of each part's fused kernel, with its shape.
    pub fn resources(&self) -> impl Iterator<Item = (dgsuite_basis::Shape, u32, u32)> + '_ {
        self.description.groups.iter().zip(&self.groups).flat_map(|(host, device)| {
            device.parts.iter().map(|p| (host.shape, p.stage.registers(), p.stage.local_bytes()))
        })
    }

    /// The residual, `du ← R(t, u)`.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If the arrays do not have the state's length.
    pub fn eval(&mut self, t: f64, u: &DeviceBuffer<T>, du: &mut DeviceBuffer<T>) -> Result<(), GpuError> {
        let n = self.len();
        assert!(u.len() == n && du.len() == n, "u and du have the state's length");
        self.run(t, u.ptr(), StageVectors { out: du.ptr(), ..StageVectors::default() })
    }

    /// A fused stage, as [`Discretization::stage`], with the step of [`set_step`](Self::set_step); `weights.dt` is not
    /// read.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If an array does not have the state's length, or `start` is wanted and missing.
    pub fn stage(
        &mut self,
        t: f64,
        weights: StageWeights,
        u: &DeviceBuffer<T>,
        start: Option<&DeviceBuffer<T>>,
        register: &mut DeviceBuffer<T>,
        next: &mut DeviceBuffer<T>,
    ) -> Result<(), GpuError> {
        let n = self.len();
        assert!(u.len() == n && register.len() == n && next.len() == n, "arrays have the state's length");
        assert!(
            weights.b == 0.0 || start.is_some_and(|s| s.len() == n),
            "a stage with b ≠ 0 needs its start"
        );
        let addresses = StageAddresses {
            u: u.ptr(),
            start: start.filter(|_| weights.b != 0.0).map_or(0, DeviceBuffer::ptr),
            register: register.ptr(),
            next: next.ptr(),
        };
        // SAFETY: the arrays have the state's length and are borrowed until the work is put into the stream, in whose
        // order their memory is freed.
        unsafe { self.stage_at(t, weights, addresses) }
    }

    /// As [`stage`](Self::stage), with arrays by address.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// The addresses are those of arrays of the state's length on this device, distinct but for `start` and `u`, and stay valid until
    /// the stream has passed the stage; `start` is one where `weights.b ≠ 0`.
    pub unsafe fn stage_at(
        &mut self,
        t: f64,
        weights: StageWeights,
        addresses: StageAddresses,
    ) -> Result<(), GpuError> {
        let vectors = StageVectors {
            start: addresses.start,
            register: addresses.register,
            out: addresses.next,
            local: if self.use_local { self.local.ptr() } else { 0 },
            step: self.step.ptr(),
            a: weights.a,
            b: weights.b,
            c: weights.c,
            keep: weights.keep,
        };
        self.run(t, addresses.u, vectors)
    }

    /// `sum ← p sum + q u + d register` by address: the running sum that some schemes carry.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// The addresses are those of distinct arrays of the state's length on this device, valid until the stream has passed.
    pub unsafe fn running_sum_at(
        &mut self,
        factors: [f64; 3],
        sum: u64,
        u: u64,
        register: u64,
    ) -> Result<(), GpuError> {
        let n = self.len();
        self.args.clear();
        self.args.pointer(sum).pointer(u).pointer(register).value(n as u64);
        self.args.value(factors[0]).value(factors[1]).value(factors[2]);
        // SAFETY: the arguments are the kernel's; the addresses are the caller's word.
        unsafe {
            self.cuda.launch(&self.running_sum, LaunchConfig::cover(n, POINT_THREADS as u32), &self.args)
        }
    }

    /// Whether evaluations at different times are the same work: no boundary data changes with time.
    #[must_use]
    pub fn is_autonomous(&self) -> bool {
        self.description.boundaries.iter().all(|set| set.binding.data.as_ref().is_none_or(|d| d.is_steady()))
    }

    /// Sets the size of the step on the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.args.clear();
        self.args.buffer(&self.step).value(dt);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&self.assign, LaunchConfig::new(1, 1), &self.args) }
    }

    /// Everything before the residual, then the residual or stage of every group.
    fn run(&mut self, t: f64, u: u64, vectors: StageVectors) -> Result<(), GpuError> {
        let (cuda, work) = (&self.cuda, self.work.ptr());
        for group in &mut self.groups {
            group.launch_traces(cuda, u, work)?;
        }
        let fields = self.description.physics.n_fields();
        for (set, boundary) in self.description.boundaries.iter_mut().zip(&mut self.boundaries) {
            if set.update_data(t, fields) {
                boundary.update(&set.data)?;
            }
            boundary.launch(cuda, fields, u, &self.groups, &self.exterior, &self.flux)?;
        }
        for exchange in &self.exchanges {
            let inner = self.groups[exchange.group].inner_trace(u, &exchange.from, true);
            self.args.clear();
            self.args.value(inner).buffer(&exchange.to).value(exchange.count as u32);
            self.args.buffer(&self.exterior);
            // SAFETY: the arguments are the kernel's; offsets lie in the group's arrays and the exterior buffer.
            unsafe {
                let config = LaunchConfig::cover(exchange.count, POINT_THREADS as u32);
                cuda.launch(&self.exchange, config, &self.args)?;
            }
        }
        let mut slots = 0;
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let local = if vectors.local == 0 { 0 } else { vectors.local + (slots * T::BYTES) as u64 };
            group.launch_residual(cuda, u, self.exterior.ptr(), work, &StageVectors { local, ..vectors })?;
            slots += host.state.blocks * host.state.lanes;
        }
        Ok(())
    }

    /// Adds `weight · dt` times the rates of the last evaluation, `−∮ f* dS`, to the boundary's time integrals.
    ///
    /// # Errors
    /// Those of the device.
    pub fn accumulate(&mut self, weight: f64) -> Result<(), GpuError> {
        if self.boundary_points == 0 {
            return Ok(());
        }
        self.args.clear();
        self.args.buffer(&self.flux).value(self.boundary_points as u64).value(weight);
        self.args.buffer(&self.step).buffer(&self.integrals);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&self.tally, LaunchConfig::new(1, REDUCE_THREADS as u32), &self.args) }
    }

    /// Time integrals of the boundary's rates by conserved variable. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn integrals(&self) -> Result<Vec<f64>, GpuError> {
        let values = self.integrals.to_vec()?;
        let n = values.len() / 2;
        Ok((0..n).map(|k| values[k] + values[n + k]).collect())
    }

    /// Sets the boundary's time integrals, as after a restart.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If there is not one value for each conserved variable.
    pub fn set_integrals(&mut self, values: &[f64]) -> Result<(), GpuError> {
        let mut all = values.to_vec();
        all.resize(2 * values.len(), 0.0);
        self.integrals.upload(&all)
    }

    /// The largest stable step for `cfl = 1`, as [`Discretization::time_step`]; with `local`, every slot's own step is
    /// kept for [`use_local_steps`](Self::use_local_steps). Waits for the device.
    ///
    /// # Errors
    /// [`OpsError::State`] at the first element whose state is not finite or not admissible; those of the device.
    pub fn time_step(&mut self, u: &DeviceBuffer<T>, local: bool) -> Result<f64, OpsError> {
        let slots: usize = self.description.groups.iter().map(|g| g.state.blocks * g.state.lanes).sum();
        if local && self.local.len() != slots {
            self.local = DeviceBuffer::zeros(&self.cuda, "local steps", slots)?;
        }
        let (mut first, mut bound) = (0, 0);
        let mut ends = Vec::with_capacity(self.groups.len());
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let steps = if local { self.local.ptr_at(first) } else { 0 };
            let partial = self.bounds.ptr_at(bound * BOUND_WORDS);
            group.launch_speed(&self.cuda, u.ptr(), self.work.ptr(), steps, partial)?;
            first += host.state.blocks * host.state.lanes;
            bound += group.bounds();
            ends.push(bound);
        }
        let found = self.least(0, self.n_bounds)?;
        if found.1 == NONE {
            return Ok(found.0);
        }
        // Slots are numbers within a group: find the first group that has a bad one.
        let mut begin = 0;
        for (g, &end) in ends.iter().enumerate() {
            let (_, slot) = self.least(begin, end)?;
            if slot != NONE {
                let state = u.to_vec()?;
                let group = &self.description.groups[g];
                let own = &state[group.offset..group.offset + group.state.len()];
                return Err(self.description.bad_state(group, own, slot as usize));
            }
            begin = end;
        }
        Ok(found.0)
    }

    /// The least of the bounds `begin..end`.
    fn least(&mut self, begin: usize, end: usize) -> Result<(f64, u32), GpuError> {
        self.args.clear();
        self.args.pointer(self.bounds.ptr_at(begin * BOUND_WORDS)).value((end - begin) as u32);
        self.args.buffer(&self.bound);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&self.least, LaunchConfig::new(1, REDUCE_THREADS as u32), &self.args)? };
        let mut words = [0; BOUND_WORDS];
        self.bound.download(&mut words)?;
        Ok((f64::from_bits(words[0]), words[1] as u32))
    }

    /// Multiply the step of every stage by the slots' own steps of the last [`time_step`](Self::time_step), or not.
    pub fn use_local_steps(&mut self, yes: bool) {
        self.use_local = yes && !self.local.is_empty();
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// The texts of all kernels that [`new`](Self::new) would compile, for compilers without a device.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for those of the device.
    pub fn sources(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        physics: Box<dyn PointKernels<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Vec<Source>, OpsError> {
        let scheme = &on_device(scheme, &mesh);
        let d = Discretization::laid_out(mesh, scheme, physics.into(), boundaries, host, Lanes::Device)?;
        let law = LawText::new(d.physics.as_ref())?;
        let (dim, fields) = (d.physics.dim(), d.physics.n_fields());
        let mut out = Vec::new();
        for group in &d.groups {
            out.extend(kernel_sources(&law, group, scheme.form)?);
        }
        for set in &d.boundaries {
            out.push(boundary_source::<T>(&law, set, dim, fields)?.1);
        }
        let reduce = REDUCE_THREADS;
        out.push(pointwise::<T>("exchange.cu", include_str!("exchange.cu"), &law, dim, fields));
        out.push(
            pointwise::<T>("tally.cu", include_str!("tally.cu"), &law, dim, fields).define("BLOCK", reduce),
        );
        Ok(out)
    }
}

/// The scheme with the basis that devices keep: nodal values in place of modes on simplices with fast kernels, where
/// a neighbour's trace then takes only the nodes on the face. The space, and so the method, is the same.
fn on_device(scheme: &Scheme, mesh: &Mesh) -> Scheme {
    let nodes = mesh.sets.iter().all(|s| wants_nodes(s.shape, scheme.order));
    if nodes && scheme.representation == Representation::Modal {
        Scheme { representation: Representation::Nodal(NodeSet::GaussLobatto), ..*scheme }
    } else {
        *scheme
    }
}

/// The faces between groups, by the group whose traces are read.
fn exchanges<T: PackScalar>(
    cuda: &Cuda,
    d: &Discretization<T>,
    device: &[DeviceGroup<T>],
) -> Result<Vec<Exchange>, GpuError> {
    let mut out = Vec::new();
    for (g, group) in d.groups.iter().enumerate() {
        let (mut from, mut to) = (TraceList::default(), Vec::new());
        let tables = &device[g].faces;
        for foreign in d.connectivity.foreign.iter().filter(|f| f.group as usize == g) {
            let points = foreign.points as usize;
            from.push(group, tables, foreign.slot as usize, foreign.code as usize * tables.len, points);
            to.extend((0..points).map(|i| foreign.exterior + (i * group.state.fields) as u32));
        }
        if from.len() > 0 {
            out.push(Exchange {
                group: g,
                count: from.len(),
                from: from.upload(cuda, "faces between shapes")?,
                to: DeviceBuffer::from_slice(cuda, "faces between shapes", &to)?,
            });
        }
    }
    Ok(out)
}
