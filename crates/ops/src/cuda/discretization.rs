//! The right-hand side on a device.

use crate::boundary::BoundaryBinding;
use crate::cuda::boundary::{DeviceBoundaries, StageTime, boundary_text};
use crate::cuda::branches::Branches;
use crate::cuda::clock::{DeviceClock, clock_text};
use crate::cuda::device_group::{DeviceGroup, StageVectors};
use crate::cuda::diffusive_boundary::{DiffusiveBoundary, diffusive_text};
use crate::cuda::faces::TraceSource;
use crate::cuda::fast::wants_nodes;
use crate::cuda::kernel_text::{LawText, POINT_THREADS, REDUCE_THREADS, pointwise};
use crate::cuda::measure::sample_text;
use crate::cuda::part_texts::kernel_texts;
use crate::cuda::published::Shared;
use crate::cuda::small::gathered;
use crate::cuda::source_term::{DeviceSource, source_term_texts};
use crate::cuda::trace_points::{TraceList, TracePoints};
use crate::discretization::Discretization;
use crate::equation::Equation;
use crate::error::OpsError;
use crate::group::Lanes;
use crate::residual::StageWeights;
use crate::scheme::Scheme;
use crate::simd::PackScalar;
use dgsuite_basis::{NodeSet, Representation};
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{GpuError, Host};
use dgsuite_mesh::Mesh;
use std::sync::Arc;

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
pub(super) struct Exchange {
    group: usize,
    from: TracePoints,
    /// The same in the published fluxes of diffusion; empty where there is none.
    fluxes: DeviceBuffer<u64>,
    to: DeviceBuffer<u32>,
    count: usize,
}

/// A discontinuous Galerkin discretisation on a device: the twin of [`Discretization`].
///
/// States are arrays in the device's own layout; [`description`](Self::description) projects, integrates and
/// samples copies of them on the host, and converts to and from the canonical order. Its basis may be another
/// than the scheme's (nodal values for modes), of the same space. Calls put work into the device's main
/// stream and return; only [`time_step`](Self::time_step) and [`integrals`](Self::integrals) wait for it. In
/// double and single precision results are the same on every run; no sum depends on the order in which
/// threads happen to run.
pub struct CudaDiscretization<T: PackScalar> {
    pub(super) cuda: Cuda,
    pub(super) description: Discretization<T>,
    pub(super) groups: Vec<DeviceGroup<T>>,
    pub(super) boundaries: DeviceBoundaries<T>,
    pub(super) exchanges: Vec<Exchange>,
    /// One for each part of each group.
    branches: Branches,
    /// Stages are one kernel each, boundaries included.
    pub(super) gathered: bool,
    exchange: Function,
    exchange_fluxes: Function,
    /// Where there is diffusion: what its passes share, and what boundaries do to it.
    diffusion: Option<Shared<T>>,
    diffusive: Vec<Option<DiffusiveBoundary<T>>>,
    source: Option<DeviceSource>,
    exterior: DeviceBuffer<T>,
    /// Time integrals of the boundary's rates, then their corrections; those since the last look are with
    /// the boundaries.
    integrals: DeviceBuffer<f64>,
    running_sum: Function,
    pub(super) clock: DeviceClock,
    /// Steps by slot of all groups, one group after the other.
    pub(super) local: DeviceBuffer<T>,
    pub(super) use_local: bool,
    pub(super) work: DeviceBuffer<T>,
    args: Args,
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Discretise `equation` on `mesh` for `cuda`; `boundaries` name the conditions of the mesh's boundaries.
    /// `host` works during set-up and for output, and evaluates a source that changes with time and cannot be
    /// traced.
    ///
    /// # Errors
    /// Those of [`Discretization::new`]; [`OpsError::Machine`] if the device has too little memory or a
    /// kernel cannot be compiled.
    pub fn new(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        cuda: &Cuda,
    ) -> Result<Self, OpsError> {
        let scheme = &on_device(scheme, &mesh);
        let description =
            Discretization::laid_out(mesh, scheme, equation.into(), boundaries, host, Lanes::Device)?;
        let law = law_text(&description)?;
        if law.source && law.lifts.is_none() && law.two_point {
            return Err(OpsError::NotOnDevices { what: "sources of split forms without diffusion" });
        }
        let connectivity = &description.connectivity;
        let (dim, fields) = (description.physics.dim(), description.physics.n_fields());
        let groups = description
            .groups
            .iter()
            .zip(&connectivity.neighbours)
            .map(|(g, n)| DeviceGroup::new(cuda, &law, g, n, scheme.form, scheme.order))
            .collect::<Result<Vec<_>, _>>()?;
        let exterior = DeviceBuffer::zeros(cuda, "traces from outside", connectivity.exterior_len)?;
        let boundaries = DeviceBoundaries::new(
            cuda,
            &law,
            &description.groups,
            &groups,
            connectivity,
            &description.boundaries,
            dim,
            &exterior,
        )?;
        let diffusive = description
            .boundaries
            .iter()
            .map(|set| DiffusiveBoundary::new(cuda, &law, set, dim, fields))
            .collect::<Result<_, _>>()?;
        let diffusion = match law.lifts {
            Some(_) => Some(Shared::new(cuda, connectivity, dim)?),
            None => None,
        };
        let source = description.source.as_ref();
        let source = source.map(|s| DeviceSource::new(cuda, &law, s, &description.groups)).transpose()?;
        let exchanges = exchanges(cuda, &description, &groups)?;
        let kernel = |name, body, entry: &str, threads| -> Result<Function, GpuError> {
            let source = pointwise::<T>(name, body, &law, dim, fields).define("BLOCK", threads);
            cuda.compile(&source)?.function(entry)
        };
        let (points, reduce) = (POINT_THREADS, REDUCE_THREADS);
        let exchange = kernel("exchange.cu", include_str!("exchange.cu"), "exchange", points)?;
        let exchange_fluxes = kernel("exchange.cu", include_str!("exchange.cu"), "exchange_fluxes", points)?;
        let running_sum = kernel("tally.cu", include_str!("tally.cu"), "running_sum", reduce)?;
        let n_bounds: usize = groups.iter().map(DeviceGroup::bounds).sum();
        let work = groups.iter().map(DeviceGroup::work).max().unwrap_or(0);
        // Kernels that share work space follow one another.
        let parts: usize = groups.iter().map(|g| g.parts.len()).sum();
        let branches = Branches::new(cuda, if work == 0 { parts } else { 1 })?;
        let mut found = Self {
            cuda: cuda.clone(),
            groups,
            boundaries,
            exchanges,
            branches,
            gathered: false,
            exchange,
            exchange_fluxes,
            diffusion,
            diffusive,
            source,
            exterior,
            integrals: DeviceBuffer::zeros(cuda, "boundary integrals", 2 * fields)?,
            running_sum,
            clock: DeviceClock::new(cuda, &clock_text::<T>(&law, dim, fields), n_bounds)?,
            local: DeviceBuffer::zeros(cuda, "local steps", 0)?,
            use_local: false,
            work: DeviceBuffer::zeros(cuda, "work space", work)?,
            args: Args::new(),
            description,
        };
        // Here already, as a graph of launches can't be captured around an upload.
        if found.description.source.as_ref().is_some_and(|source| source.is_steady()) {
            found.update_source(StageTime::At(0.0))?;
        }
        Ok(found)
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
            + self.boundaries.bytes()
            + self.work.bytes()
            + self.local.bytes()
            + self.diffusion.as_ref().map_or(0, Shared::bytes)
            + self.source.as_ref().map_or(0, DeviceSource::bytes)
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
        self.run(StageTime::At(t), u.ptr(), StageVectors { out: du.ptr(), ..StageVectors::default() })
    }

    /// A fused stage, as [`Discretization::stage`], with the step of [`set_step`](Self::set_step);
    /// `weights.dt` is not read. `share` is the weight of its boundary fluxes in
    /// [`integrals`](Self::integrals) over the step.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If an array does not have the state's length, or `start` is wanted and missing.
    pub fn stage(
        &mut self,
        t: f64,
        share: f64,
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
        // SAFETY: the arrays have the state's length and are borrowed until the work is put into the stream,
        // in whose order their memory is freed.
        unsafe { self.stage_at(StageTime::Stage { time: t, share }, weights, addresses) }
    }

    /// As [`stage`](Self::stage), with arrays by address and its time as the host or the device knows it.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// The addresses are those of arrays of the state's length on this device, distinct but for `start` and
    /// `u`, and stay valid until the stream has passed the stage; `start` is one where `weights.b ≠ 0`.
    pub unsafe fn stage_at(
        &mut self,
        when: StageTime,
        weights: StageWeights,
        addresses: StageAddresses,
    ) -> Result<(), GpuError> {
        let vectors = StageVectors {
            start: addresses.start,
            register: addresses.register,
            out: addresses.next,
            local: if self.use_local { self.local.ptr() } else { 0 },
            step: self.clock.ptr(),
            a: weights.a,
            b: weights.b,
            c: weights.c,
            keep: weights.keep,
        };
        self.run(when, addresses.u, vectors)
    }

    /// `sum ← p sum + q u + d register` by address: the running sum that some schemes carry.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// The addresses are those of distinct arrays of the state's length on this device, valid until the
    /// stream has passed.
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

    /// Whether steps are the same work for the host at all times: no source and no boundary data changes with
    /// time but what the device evaluates.
    #[must_use]
    pub fn is_autonomous(&self) -> bool {
        let moving = self.source.as_ref().is_some_and(DeviceSource::is_moving);
        let source = moving || self.description.source.as_ref().is_none_or(|s| s.is_steady());
        source && self.boundaries.is_autonomous(&self.description.boundaries)
    }

    /// Whether the device evaluates a source or boundary data that changes with time.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.boundaries.is_moving() || self.source.as_ref().is_some_and(DeviceSource::is_moving)
    }

    /// Everything before the residual, then the residual or stage of every group.
    fn run(&mut self, when: StageTime, u: u64, vectors: StageVectors) -> Result<(), GpuError> {
        self.update_source(when)?;
        let (cuda, work) = (&self.cuda, self.work.ptr());
        for group in &mut self.groups {
            group.launch_traces(cuda, u, work)?;
        }
        let clock = self.clock.ptr();
        let sets = &mut self.description.boundaries;
        let own = if self.gathered && vectors.step != 0 {
            Some(self.boundaries.own(sets, clock, when)?)
        } else {
            self.boundaries.launch(cuda, sets, u, clock, when)?;
            None
        };
        for exchange in &self.exchanges {
            let inner = self.groups[exchange.group].inner_trace(u, &exchange.from, true);
            self.args.clear();
            self.args.value(inner).buffer(&exchange.to).value(exchange.count as u32);
            self.args.buffer(&self.exterior);
            // SAFETY: the arguments are the kernel's; offsets lie in the group's arrays and the exterior
            // buffer.
            unsafe {
                let config = LaunchConfig::cover(exchange.count, POINT_THREADS as u32);
                cuda.launch(&self.exchange, config, &self.args)?;
            }
        }
        self.publish(when, u, &vectors)?;
        let (cuda, work) = (&self.cuda, self.work.ptr());
        // The passes of diffusion have kernels between the boundaries' and the residual.
        let mut early = self.boundaries.any() && self.exchanges.is_empty() && self.diffusion.is_none();
        let (mut slots, mut branch) = (0, 0);
        self.branches.fork(cuda)?;
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let vectors = vectors.at_slot::<T>(slots);
            let shared = self.diffusion.as_ref();
            let branches = (&self.branches, branch);
            group.launch_residual(
                cuda,
                branches,
                u,
                self.exterior.ptr(),
                work,
                &vectors,
                shared,
                early,
                own,
            )?;
            early = false;
            slots += host.state.blocks * host.state.lanes;
            branch += group.parts.len();
        }
        self.branches.join(cuda)
    }

    /// New rows of the source, if it changes with time.
    fn update_source(&mut self, when: StageTime) -> Result<(), GpuError> {
        let d = &mut self.description;
        let (Some(term), Some(source)) = (&mut d.source, &mut self.source) else { return Ok(()) };
        let clock = self.clock.ptr();
        source.update(&self.cuda, when.accrual(clock), term, &d.host, &d.groups, &mut self.groups)
    }

    /// The first pass of diffusion, and what the second reads of boundaries and other groups.
    fn publish(&mut self, when: StageTime, u: u64, vectors: &StageVectors) -> Result<(), GpuError> {
        let accrual = when.accrual(self.clock.ptr());
        let Some(shared) = &self.diffusion else { return Ok(()) };
        let (cuda, work, boundaries) = (&self.cuda, self.work.ptr(), &self.boundaries);
        for (i, diffusive) in self.diffusive.iter_mut().enumerate() {
            if let Some(diffusive) = diffusive {
                diffusive.launch_jumps(cuda, u, &self.groups, boundaries, i, shared)?;
            }
        }
        let (mut slots, mut branch) = (0, 0);
        self.branches.fork(cuda)?;
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let vectors = vectors.at_slot::<T>(slots);
            let branches = (&self.branches, branch);
            group.launch_gradient(cuda, branches, u, self.exterior.ptr(), work, &vectors, shared)?;
            slots += host.state.blocks * host.state.lanes;
            branch += group.parts.len();
        }
        self.branches.join(cuda)?;
        let dim = self.description.physics.dim();
        for (i, diffusive) in self.diffusive.iter_mut().enumerate() {
            if let Some(diffusive) = diffusive {
                diffusive.launch_fluxes(cuda, dim, u, &self.groups, boundaries, i, shared, accrual)?;
            }
        }
        for exchange in &self.exchanges {
            let Some(published) = &self.groups[exchange.group].published else { continue };
            self.args.clear();
            self.args.buffer(&published.fluxes).buffer(&exchange.fluxes).buffer(&exchange.to);
            self.args.value(published.field_stride as u32);
            self.args.value(exchange.count as u32).buffer(&shared.exterior);
            // SAFETY: the arguments are the kernel's; offsets lie in the group's fluxes and the exterior
            // buffer.
            unsafe {
                let config = LaunchConfig::cover(exchange.count, POINT_THREADS as u32);
                cuda.launch(&self.exchange_fluxes, config, &self.args)?;
            }
        }
        Ok(())
    }

    /// Time integrals of the boundary's rates by conserved variable. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn integrals(&self) -> Result<Vec<f64>, GpuError> {
        self.boundaries.collect(&self.cuda, &self.integrals)?;
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
        self.boundaries.sums_mut().clear(self.cuda.stream())?;
        self.integrals.upload(&all)
    }

    /// Time integrals at the boundary's points since they were last asked for: what a step changes beside
    /// the state.
    #[must_use]
    pub fn sums(&self) -> &DeviceBuffer<f64> {
        self.boundaries.sums()
    }

    /// Puts back what [`sums`](Self::sums) was.
    ///
    /// # Errors
    /// Those of the device.
    pub fn restore_sums(&mut self, from: &DeviceBuffer<f64>) -> Result<(), GpuError> {
        self.boundaries.sums_mut().copy_from(from, self.cuda.stream())
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// The texts of all kernels that [`new`](Self::new) would compile, for compilers without a device.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for those of the device.
    pub fn texts(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Vec<Source>, OpsError> {
        let scheme = &on_device(scheme, &mesh);
        let d = Discretization::laid_out(mesh, scheme, equation.into(), boundaries, host, Lanes::Device)?;
        let law = law_text(&d)?;
        let (dim, fields) = (d.physics.dim(), d.physics.n_fields());
        let mut out = Vec::new();
        for group in &d.groups {
            out.extend(kernel_texts(&law, group, scheme.form)?);
        }
        out.extend(gathered(&d, &law, d.boundaries.len(), 1)?.into_iter().flatten().map(|text| text.source));
        if let Some((_, texts)) =
            d.source.as_ref().and_then(|source| source_term_texts(&law, source, &d.groups))
        {
            out.extend(texts.into_iter().map(|(_, _, text)| text.source));
        }
        if !d.boundaries.is_empty() {
            out.push(boundary_text::<T>(&law, &d.boundaries, dim, fields)?.1);
        }
        for set in &d.boundaries {
            out.extend(diffusive_text::<T>(&law, set, dim, fields)?.map(|(_, source)| source));
        }
        out.push(pointwise::<T>("exchange.cu", include_str!("exchange.cu"), &law, dim, fields));
        let tally = pointwise::<T>("tally.cu", include_str!("tally.cu"), &law, dim, fields);
        out.push(tally.define("BLOCK", REDUCE_THREADS));
        out.push(clock_text::<T>(&law, dim, fields));
        out.push(sample_text::<T>(dim, fields));
        Ok(out)
    }
}

/// The formulas of the law, with those of its diffusion.
pub(super) fn law_text<T: PackScalar>(d: &Discretization<T>) -> Result<LawText, OpsError> {
    let law = LawText::new(d.physics.as_ref())?.with_two_point(d.two_point.as_deref())?;
    let mut law = law.with_diffusion(d.diffusion(), d.eta)?.with_source(d.source.is_some());
    law.boundaries = !d.boundaries.is_empty();
    Ok(law)
}

/// The scheme with the basis that devices keep: nodal values in place of modes where there are simplices with
/// fast kernels, which then take only the nodes on a face for a neighbour's trace. The space, and so the
/// method, is the same on every shape; pyramids keep their modes.
fn on_device(scheme: &Scheme, mesh: &Mesh) -> Scheme {
    let wants = |shape| wants_nodes(shape, scheme.order);
    let some = mesh.sets.iter().any(|s| wants(s.shape));
    // Spaces of total degree have no nodes on shapes that are products.
    let nodes = some && (scheme.polynomials.is_none() || mesh.sets.iter().all(|s| wants(s.shape)));
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
        let (mut from, mut to, mut fluxes) = (TraceList::default(), Vec::new(), Vec::new());
        let neighbours = &d.connectivity.neighbours[g];
        let tables = &device[g].faces;
        for foreign in d.connectivity.foreign.iter().filter(|f| f.group as usize == g) {
            let points = foreign.points as usize;
            from.push(group, tables, foreign.slot as usize, foreign.code as usize * tables.len, points);
            if let Some(published) = &device[g].published {
                let begin = group.trace.index(foreign.slot as usize, 0, 0) as u64;
                let rows = neighbours.point_table(foreign.code, points);
                fluxes.extend(rows.iter().map(|&row| begin + u64::from(published.place(row))));
            }
            to.extend((0..points).map(|i| foreign.exterior + (i * group.state.fields) as u32));
        }
        if from.len() > 0 {
            out.push(Exchange {
                group: g,
                count: from.len(),
                fluxes: DeviceBuffer::from_slice(cuda, "faces between shapes", &fluxes)?,
                from: from.upload(cuda, "faces between shapes")?,
                to: DeviceBuffer::from_slice(cuda, "faces between shapes", &to)?,
            });
        }
    }
    Ok(out)
}
