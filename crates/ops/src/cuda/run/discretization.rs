//! The right-hand side on a device: set-up, launches of residuals and stages, boundary integrals.
//!
//! [`CudaDiscretization`] owns the groups, boundaries and clock of a mesh on a device. One residual or stage
//! launches, in this order: the rows of a source that changes with time, and of reactions; the traces of
//! groups for which a separate kernel writes them; the boundary conditions; the copy of traces between
//! groups. With diffusion follow the jumps on boundaries, the first pass of every part, the diffusive fluxes
//! on boundaries and the copy of published fluxes between groups. The last launches are the fused residual,
//! or the second pass, of every part, in concurrent branches. On several ranks traces and published fluxes
//! are sent in a stream of their own as soon as they exist; see `halo.rs`.

use crate::cuda::choose::layout::layout;
use crate::cuda::choose::scheme::on_device;
use crate::cuda::parts::branches::{Branches, Share};
use crate::cuda::parts::device_group::{DeviceGroup, DevicePart, StageVectors};
use crate::cuda::parts::faces::TraceSource;
use crate::cuda::run::clock::{DeviceClock, clock_text};
use crate::cuda::run::exchange::{Copies, Exchange, exchanges};
use crate::cuda::run::halo::{DeviceHalo, FLUXES, TRACES, launch_parts};
use crate::cuda::run::limiter::DeviceLimiter;
use crate::cuda::run::norm::SquareSum;
use crate::cuda::terms::boundary::{DeviceBoundaries, StageTime};
use crate::cuda::terms::diffusive_boundary::DiffusiveBoundary;
use crate::cuda::terms::reaction::DeviceReactions;
use crate::cuda::terms::source_term::DeviceSource;
use crate::cuda::text::kernel_text::{LawText, POINT_THREADS, REDUCE_THREADS, pointwise};
use crate::cuda::text::published::Shared;
use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::formulas::equation::Equation;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::discretization::Discretization;
use crate::rhs::ranks::Ranks;
use crate::rhs::residual::StageWeights;
use crate::space::layout::Lanes;
use crate::space::layout::Terms;
use crate::space::scheme::Scheme;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Event, Function, LaunchConfig};
use dgsuite_gpu::{ExactSum, GpuError, Host};
use dgsuite_mesh::Mesh;
use std::sync::{Arc, Mutex};

/// Addresses of a stage's arrays on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageAddresses {
    /// State at the beginning of the stage.
    pub u: u64,
    /// State at the beginning of the step, or 0.
    pub start: u64,
    /// Register.
    pub register: u64,
    /// State after the stage.
    pub next: u64,
}

/// A discontinuous Galerkin discretisation on a device, the counterpart of [`Discretization`] on the host.
///
/// States are arrays in the device's own layout. [`description`](Self::description) projects, integrates and
/// samples copies of them on the host, and converts them to and from the canonical order. The basis may
/// differ from the scheme's (nodal values instead of modes), for the same space. Calls put work into the
/// device's main stream and return; only [`time_step`](Self::time_step) and [`integrals`](Self::integrals)
/// wait for it. In double and single precision results are the same in every run: no sum depends on the order
/// in which threads run.
pub struct CudaDiscretization<T: PackScalar> {
    pub(crate) cuda: Cuda,
    pub(crate) description: Discretization<T>,
    pub(crate) groups: Vec<DeviceGroup<T>>,
    pub(crate) boundaries: DeviceBoundaries<T>,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) halo: Option<DeviceHalo<T>>,
    /// One branch for each part of each group.
    branches: Branches,
    /// Whether stages are one kernel each, boundaries included.
    pub(crate) gathered: bool,
    copies: Copies,
    /// The arrays shared by the passes of diffusion, and its boundary kernels, if there is diffusion.
    diffusion: Option<Shared<T>>,
    diffusive: Vec<Option<DiffusiveBoundary<T>>>,
    source: Option<DeviceSource>,
    pub(crate) reactions: Option<DeviceReactions<T>>,
    exterior: DeviceBuffer<T>,
    /// Time integrals of the boundary's rates up to the last call of `integrals`; later contributions are
    /// stored with the boundaries.
    integrals: Mutex<Vec<ExactSum>>,
    running_sum: Function,
    pub(crate) clock: DeviceClock,
    /// Steps of the slots of all groups, one group after the other.
    pub(crate) local: DeviceBuffer<T>,
    pub(crate) use_local: bool,
    pub(crate) limiter: Option<DeviceLimiter>,
    /// Created for the first norm.
    pub(crate) square_sum: Option<SquareSum>,
    pub(crate) work: DeviceBuffer<T>,
    args: Args,
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Discretises `equation` on `mesh` for the device `cuda`. `boundaries` binds the conditions to the
    /// boundaries of the mesh by name. `host` is used during set-up and for output; it also evaluates a
    /// source that changes with time and cannot be translated.
    ///
    /// # Errors
    /// Errors of [`Discretization::new`]; [`OpsError::Machine`] if the device has too little memory or if a
    /// kernel cannot be compiled.
    pub fn new(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        cuda: &Cuda,
    ) -> Result<Self, OpsError> {
        Self::described(mesh, scheme, equation.into(), boundaries, host, cuda, None)
    }

    /// As [`new`](Self::new), on this rank's part of a mesh. Collective, as are all functions of the result
    /// that take a state.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`OpsError::Ranks`] if other ranks cannot be reached.
    pub fn on_ranks(
        ranks: &Arc<Ranks>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        cuda: &Cuda,
    ) -> Result<Self, OpsError> {
        let mesh = Arc::clone(ranks.mesh());
        Self::described(mesh, scheme, equation.into(), boundaries, host, cuda, Some(Arc::clone(ranks)))
    }

    fn described(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: Equation<T>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        cuda: &Cuda,
        ranks: Option<Arc<Ranks>>,
    ) -> Result<Self, OpsError> {
        let scheme = &on_device(scheme, &mesh, ranks.as_ref().map(|ranks| ranks.needs.as_slice()));
        let description = Discretization::laid_out(
            mesh,
            scheme,
            equation,
            boundaries,
            host,
            Lanes::Device(layout::<T>, Terms::default()),
            ranks,
        )?;
        let law = law_text(&description)?;
        let connectivity = &description.connectivity;
        let (dim, fields) = (description.physics.dim(), description.physics.n_fields());
        let mut groups = description
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
        let reactions = description.reactions.as_ref();
        let reactions = reactions
            .map(|r| DeviceReactions::new(cuda, &law, r, &description.groups, scheme.form))
            .transpose()?;
        if reactions.is_some() && source.is_some() {
            for group in &mut groups {
                group.given = DeviceBuffer::zeros(cuda, "the source", group.source.len())?;
            }
        }
        let exchanges = exchanges(cuda, &description, &groups)?;
        let beside: Vec<&DeviceBuffer<T>> =
            std::iter::once(&exterior).chain(diffusion.as_ref().map(|shared| &shared.exterior)).collect();
        let halo = DeviceHalo::new(cuda, &description, &groups, &beside)?;
        let kernel = |name, body, entry: &str, threads| -> Result<Function, GpuError> {
            let source = pointwise::<T>(name, body, &law, dim, fields).define("BLOCK", threads);
            cuda.compile(&source)?.function(entry)
        };
        let (points, reduce) = (POINT_THREADS, REDUCE_THREADS);
        let copies = Copies {
            traces: kernel("exchange.cu", include_str!("exchange.cu"), "exchange", points)?,
            fluxes: kernel("exchange.cu", include_str!("exchange.cu"), "exchange_fluxes", points)?,
            args: Args::new(),
        };
        let running_sum = kernel("tally.cu", include_str!("../terms/tally.cu"), "running_sum", reduce)?;
        let n_bounds: usize = groups.iter().map(DeviceGroup::bounds).sum();
        let work = groups.iter().map(DeviceGroup::work).max().unwrap_or(0);
        let work = work.max(reactions.as_ref().map_or(0, DeviceReactions::work));
        // Kernels that share work space must not run concurrently.
        let parts: usize = groups.iter().map(|g| g.parts.len()).sum();
        let shares = 1 + usize::from(halo.as_ref().is_some_and(DeviceHalo::overlaps));
        let branches = Branches::new(cuda, if work == 0 { shares * parts } else { 1 })?;
        let mut found = Self {
            cuda: cuda.clone(),
            groups,
            boundaries,
            exchanges,
            halo,
            branches,
            gathered: false,
            copies,
            diffusion,
            diffusive,
            source,
            reactions,
            exterior,
            integrals: Mutex::new(vec![ExactSum::new(); fields]),
            running_sum,
            clock: DeviceClock::new(cuda, &clock_text::<T>(&law, dim, fields), n_bounds)?,
            local: DeviceBuffer::zeros(cuda, "local steps", 0)?,
            use_local: false,
            limiter: None,
            square_sum: None,
            work: DeviceBuffer::zeros(cuda, "work space", work)?,
            args: Args::new(),
            description,
        };
        // Uploaded here, as a graph of launches cannot be captured around an upload.
        if found.description.source.as_ref().is_some_and(|source| source.is_steady()) {
            found.update_source(StageTime::At(0.0))?;
        }
        Ok(found)
    }

    /// The same discretisation as a description, with fields in host memory. It cannot be evaluated.
    #[must_use]
    pub fn description(&self) -> &Discretization<T> {
        &self.description
    }

    /// The device.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Number of scalars of a state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.description.len()
    }

    /// True if the state is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory on the device in bytes, without states.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.groups.iter().map(DeviceGroup::bytes).sum::<usize>()
            + self.exterior.bytes()
            + self.halo.as_ref().map_or(0, DeviceHalo::bytes)
            + self.boundaries.bytes()
            + self.work.bytes()
            + self.local.bytes()
            + self.diffusion.as_ref().map_or(0, Shared::bytes)
            + self.source.as_ref().map_or(0, DeviceSource::bytes)
            + self.reactions.as_ref().map_or(0, DeviceReactions::bytes)
            + self.limiter.as_ref().map_or(0, DeviceLimiter::bytes)
    }

    /// For each group, whether a separate kernel writes its traces for the next kernel.
    pub fn writes_traces(&self) -> impl Iterator<Item = bool> + '_ {
        self.groups.iter().map(|g| g.faces.source == TraceSource::Traces)
    }

    /// Shape, registers and bytes of local memory of each part's fused kernel.
    ///
    /// # Errors
    /// Errors of compilation.
    pub fn resources(&self) -> Result<Vec<(dgsuite_basis::Shape, u32, u32)>, GpuError> {
        let shapes = self.description.groups.iter().map(|group| group.shape);
        let parts = shapes.zip(&self.groups).flat_map(|(shape, g)| g.parts.iter().map(move |p| (shape, p)));
        let of = |(shape, part): (_, &DevicePart<T>)| {
            let kernel = part.kernel(&self.cuda, true)?;
            Ok((shape, kernel.registers(), kernel.local_bytes()))
        };
        parts.map(of).collect()
    }

    /// Compiles the kernels of stages; otherwise the first stage does, which then cannot be recorded as a
    /// graph.
    ///
    /// # Errors
    /// Errors of compilation.
    pub fn prepare_stages(&self) -> Result<(), GpuError> {
        if self.gathered { Ok(()) } else { self.compile(true) }
    }

    /// As [`prepare_stages`](Self::prepare_stages), for [`eval`](Self::eval).
    ///
    /// # Errors
    /// Errors of compilation.
    pub fn prepare_residuals(&self) -> Result<(), GpuError> {
        self.compile(false)
    }

    fn compile(&self, stages: bool) -> Result<(), GpuError> {
        self.groups.iter().try_for_each(|group| group.prepare(&self.cuda, stages))
    }

    /// Evaluates the residual, `du ← R(t, u)`.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If the arrays do not have the length of the state.
    pub fn eval(&mut self, t: f64, u: &DeviceBuffer<T>, du: &mut DeviceBuffer<T>) -> Result<(), GpuError> {
        let n = self.len();
        assert!(u.len() == n && du.len() == n, "u and du have the state's length");
        self.run(StageTime::At(t), u.ptr(), StageVectors { out: du.ptr(), ..StageVectors::default() })
    }

    /// As [`eval`](Self::eval), and adds the boundary fluxes to the [`integrals`](Self::integrals) over the
    /// step, whose size is that of [`set_step`](Self::set_step), with the weight `share`.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If the arrays do not have the length of the state.
    pub fn eval_with_integrals(
        &mut self,
        t: f64,
        share: f64,
        u: &DeviceBuffer<T>,
        du: &mut DeviceBuffer<T>,
    ) -> Result<(), GpuError> {
        let n = self.len();
        assert!(u.len() == n && du.len() == n, "u and du have the state's length");
        let vectors = StageVectors { out: du.ptr(), ..StageVectors::default() };
        self.run(StageTime::Stage { time: t, share }, u.ptr(), vectors)
    }

    /// Evaluates a fused stage, as [`Discretization::stage`], limiter included, with the step of
    /// [`set_step`](Self::set_step); `weights.dt` is not used. `share` is the weight of its boundary fluxes
    /// in the [`integrals`](Self::integrals) over the step.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If an array does not have the length of the state, or if `start` is needed and missing.
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

    /// As [`stage`](Self::stage), with addresses of arrays, and the time given by the host or by the device's
    /// clock.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// The addresses are those of arrays with the length of the state on this device, distinct except for
    /// `start` and `u`. They stay valid until the stream has processed the stage; `start` is such an address
    /// if `weights.b ≠ 0`.
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
        self.run(when, addresses.u, vectors)?;
        let Some(limiter) = &mut self.limiter else { return Ok(()) };
        let messages = self.halo.as_mut().map(|halo| &mut halo.messages);
        // SAFETY: the addresses are the caller's contract.
        unsafe { limiter.launch(&self.cuda, messages, addresses.u, addresses.next, self.exterior.ptr()) }
    }

    /// Computes `sum ← p sum + q u + d register`, given addresses: a running sum that some schemes need.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// The addresses are those of distinct arrays with the length of the state on this device, valid until
    /// the stream has processed the call.
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
        // SAFETY: the arguments are the kernel's; the addresses are the caller's contract.
        unsafe {
            self.cuda.launch(&self.running_sum, LaunchConfig::cover(n, POINT_THREADS as u32), &self.args)
        }
    }

    /// Whether all steps are the same work for the host: the device evaluates all sources and boundary data
    /// that change with time.
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

    /// Launches all stages before the residual, then the residual or stage of every group.
    fn run(&mut self, when: StageTime, u: u64, vectors: StageVectors) -> Result<(), GpuError> {
        self.update_source(when)?;
        if let Some(reactions) = &self.reactions {
            reactions.launch(&self.cuda, &mut self.groups, u, self.work.ptr())?;
        }
        let (cuda, work) = (&self.cuda, self.work.ptr());
        let overlaps = self.halo.as_ref().is_some_and(DeviceHalo::overlaps);
        // Messages leave as early as possible.
        if let Some(halo) = &mut self.halo {
            halo.begin_above(cuda, &mut self.copies, u)?;
        }
        let [first, others] = if overlaps { [Share::Cut, Share::Inner] } else { [Share::All; 2] };
        self.groups.iter_mut().try_for_each(|group| group.launch_traces(cuda, first, u, work))?;
        if let Some(halo) = &mut self.halo {
            let (groups, copies) = (&self.groups, &mut self.copies);
            halo.begin(cuda, TRACES, |stream, of, to| copies.traces(cuda, stream, groups, u, of, to))?;
            if let Some(limiter) = self.limiter.as_mut().filter(|_| vectors.step != 0) {
                // SAFETY: the input of a stage stays as it is until the stage is limited.
                unsafe { limiter.begin(cuda, &mut halo.messages, u)? };
            }
        }
        if others != first {
            self.groups.iter_mut().try_for_each(|group| group.launch_traces(cuda, others, u, work))?;
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
            self.copies.traces(cuda, cuda.stream(), &self.groups, u, exchange, self.exterior.ptr())?;
        }
        self.publish(when, u, &vectors)?;
        let (cuda, work) = (&self.cuda, self.work.ptr());
        // With diffusion, the first pass runs between the boundaries' kernel and the residual.
        let alone = self.exchanges.is_empty() && self.halo.is_none();
        let mut early = self.boundaries.any() && alone && self.diffusion.is_none();
        let (exterior, shared) = (self.exterior.ptr(), self.diffusion.as_ref());
        let (groups, hosts) = (&mut self.groups[..], &self.description.groups[..]);
        launch_parts(
            cuda,
            &self.branches,
            groups,
            hosts,
            self.halo.as_mut(),
            &vectors,
            |group, lane, vectors| {
                group.launch_residual(cuda, lane, u, exterior, work, vectors, shared, early, own)?;
                early = false;
                Ok(())
            },
        )
    }

    /// Updates the rows of the source, if it changes with time.
    fn update_source(&mut self, when: StageTime) -> Result<(), GpuError> {
        let d = &mut self.description;
        let (Some(term), Some(source)) = (&mut d.source, &mut self.source) else { return Ok(()) };
        let clock = self.clock.ptr();
        source.update(&self.cuda, when.accrual(clock), term, &d.host, &d.groups, &mut self.groups)
    }

    /// Launches the first pass of diffusion, and the fluxes of boundaries and other groups for the second.
    fn publish(&mut self, when: StageTime, u: u64, vectors: &StageVectors) -> Result<(), GpuError> {
        let accrual = when.accrual(self.clock.ptr());
        let Some(shared) = &self.diffusion else { return Ok(()) };
        let (cuda, work, boundaries) = (&self.cuda, self.work.ptr(), &self.boundaries);
        let arrived = self.halo.as_mut().map_or(Ok(0), |halo| halo.finish_above(cuda))?;
        for (i, diffusive) in self.diffusive.iter_mut().enumerate() {
            if let Some(diffusive) = diffusive {
                diffusive.launch_jumps(cuda, u, arrived, &self.groups, boundaries, i, shared)?;
            }
        }
        let exterior = self.exterior.ptr();
        let (groups, hosts) = (&mut self.groups[..], &self.description.groups[..]);
        launch_parts(
            cuda,
            &self.branches,
            groups,
            hosts,
            self.halo.as_mut(),
            vectors,
            |group, lane, vectors| group.launch_gradient(cuda, lane, u, exterior, work, vectors, shared),
        )?;
        let (groups, copies) = (&self.groups, &mut self.copies);
        if let Some(halo) = &mut self.halo {
            halo.begin(cuda, FLUXES, |stream, of, to| copies.fluxes(cuda, stream, groups, of, to))?;
        }
        let dim = self.description.physics.dim();
        for (i, diffusive) in self.diffusive.iter_mut().enumerate() {
            if let Some(diffusive) = diffusive {
                diffusive.launch_fluxes(cuda, dim, u, &self.groups, boundaries, i, shared, accrual)?;
            }
        }
        for exchange in &self.exchanges {
            copies.fluxes(cuda, cuda.stream(), groups, exchange, shared.exterior.ptr())?;
        }
        Ok(())
    }

    /// Whether a stage can be recorded in a graph: transfers to other ranks may need the host.
    #[must_use]
    pub fn is_recordable(&self) -> bool {
        self.halo.as_ref().is_none_or(|halo| halo.messages.link.is_recordable())
    }

    /// Whether the device can judge steps by their error without the host: with several ranks it needs a sum
    /// over all of them.
    #[must_use]
    pub fn judges_alone(&self) -> bool {
        self.halo.as_ref().is_none_or(|halo| halo.messages.link.sums())
    }

    /// The name of the link to other ranks' devices; `None` on one rank.
    #[must_use]
    pub fn link(&self) -> Option<&'static str> {
        self.halo.as_ref().map(|halo| halo.messages.link.plane())
    }

    /// Waits for the device. On several ranks the wait ends with an error after the communicator's deadline,
    /// because another rank may have ended.
    ///
    /// # Errors
    /// Errors of the device, [`GpuError::Ranks`].
    pub fn wait(&self) -> Result<(), GpuError> {
        match &self.halo {
            Some(halo) => halo.messages.link.wait(),
            None => self.cuda.synchronize(),
        }
    }

    /// Waits for an event, as [`wait`](Self::wait).
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    pub fn wait_for(&self, event: &Event) -> Result<(), GpuError> {
        match &self.halo {
            Some(halo) => halo.messages.link.wait_for(event),
            None => event.synchronize(),
        }
    }

    /// Time integrals of the boundary's rates for each conserved variable; exact sums over the points of the
    /// boundary, which do not depend on the parts of a mesh. Waits for the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn integrals(&self) -> Result<Vec<ExactSum>, GpuError> {
        let more = self.boundaries.take(&self.cuda)?;
        let mut sums = lock(&self.integrals);
        sums.iter_mut().zip(&more).for_each(|(sum, more)| sum.merge(more));
        Ok(sums.clone())
    }

    /// Sets the time integrals of the boundary's rates, for a restart.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If the number of values is not that of the conserved variables.
    pub fn set_integrals(&mut self, values: &[ExactSum]) -> Result<(), GpuError> {
        self.boundaries.sums_mut().clear(self.cuda.stream())?;
        let mut sums = lock(&self.integrals);
        assert_eq!(sums.len(), values.len(), "one sum for each conserved variable");
        sums.clone_from_slice(values);
        Ok(())
    }

    /// Time integrals at the boundary's points since the last call of [`integrals`](Self::integrals): data
    /// that a step changes besides the state.
    #[must_use]
    pub fn sums(&self) -> &DeviceBuffer<f64> {
        self.boundaries.sums()
    }

    /// Restores the value of [`sums`](Self::sums).
    ///
    /// # Errors
    /// Errors of the device.
    pub fn restore_sums(&mut self, from: &DeviceBuffer<f64>) -> Result<(), GpuError> {
        self.boundaries.sums_mut().copy_from(from, self.cuda.stream())
    }
}

/// The formulas of the law, including those of its diffusion.
pub(crate) fn law_text<T: PackScalar>(d: &Discretization<T>) -> Result<LawText, OpsError> {
    let law = LawText::new(d.physics.as_ref())?.with_two_point(d.two_point.as_deref())?;
    let mut law = law.with_diffusion(d.diffusion(), d.eta)?;
    law = law.with_source(d.source.is_some() || d.reactions.is_some());
    law.boundaries = !d.boundaries.is_empty();
    law.given = d.scheme.given;
    for group in &d.groups {
        law = law.with_rates(d.physics.as_ref(), group)?;
    }
    Ok(law)
}
