//! A group of elements on a device: its compiled kernels, their arrays, and the launches.
//!
//! [`DeviceGroup`] holds what all parts of a group share: tables of neighbours, traces, sizes for step
//! bounds, published fluxes. [`DevicePart`] holds the kernels and the geometry of its affine or its curved
//! elements. Launches fill in [`Arguments`] with addresses and weights; they do not allocate, so that they
//! can be recorded in a graph.

use crate::cuda::choose::part_texts::part_texts;
use crate::cuda::choose::plan::Plan;
use crate::cuda::parts::arguments::{Arguments, OwnBoundaries};
use crate::cuda::parts::branches::{Lane, Share};
use crate::cuda::parts::faces::{FaceTables, TraceSource};
use crate::cuda::parts::trace_points::{InnerTrace, TracePoints};
use crate::cuda::text::kernel_text::{KernelText, LaunchShape, LawText, parameter_values};
use crate::cuda::text::published::{GroupPublished, Shared};
use crate::cuda::text::setting::Setting;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::connect::Neighbours;
use crate::space::group::Group;
use crate::space::scheme::{Form, MetricRule};
use crate::space::step_measure::StepMeasure;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use std::ops::Range;
use std::sync::OnceLock;

/// The code of a face whose trace lies in the exterior buffer; `EXTERIOR` in common.cuh.
const EXTERIOR: u8 = 255;

/// How often the blocks of a kernel that fills the device give way to others, while messages are on their
/// way.
const TURNS: usize = 4;

/// A compiled kernel with its launch configuration.
pub(crate) struct Kernel {
    function: Function,
    shape: LaunchShape,
    /// As [`KernelText::wide`].
    wide: bool,
    /// Number of blocks of a launch for all elements, and the largest number of a launch.
    blocks: u32,
    most: usize,
    /// Whether the kernel itself waits for earlier kernels (programmatic dependent launch).
    waits: bool,
}

impl Kernel {
    pub(crate) fn new(
        cuda: &Cuda,
        text: &KernelText,
        entry: &str,
        elements: usize,
    ) -> Result<Self, GpuError> {
        let function = cuda.compile(&text.source)?.function(entry)?;
        let shape = text.shape;
        function.set_max_dynamic_shared(shape.shared)?;
        let mut most = usize::MAX;
        if shape.persistent {
            // Enough blocks to fill the device; each processes several groups of elements in turn.
            let resident = function.blocks_per_multiprocessor(shape.threads as u32, shape.shared)?.max(1);
            most = cuda.info().n_multiprocessors as usize * resident as usize;
        }
        let blocks = elements.div_ceil(shape.elements).min(most) as u32;
        let waits = text.source.text.contains("dg_wait_for_kernels_before");
        Ok(Self { function, shape, wide: text.wide, blocks, most, waits })
    }

    /// Scalars of work space in global memory.
    pub(crate) fn work(&self) -> usize {
        self.blocks as usize * self.shape.work
    }

    fn config(&self) -> LaunchConfig {
        self.config_of(self.blocks)
    }

    fn config_of(&self, blocks: u32) -> LaunchConfig {
        LaunchConfig::new(blocks, self.shape.threads as u32).shared(self.shape.shared as u32)
    }

    /// The configuration for some of the elements.
    fn config_for(&self, elements: usize, share: Share) -> LaunchConfig {
        // Blocks that fill the device until the end would keep the messages of other ranks waiting.
        let turns = if share == Share::Inner && self.shape.work == 0 { TURNS } else { 1 };
        let most = self.most.saturating_mul(turns);
        self.config_of(elements.div_ceil(self.shape.elements).min(most) as u32)
    }

    /// Launches the kernel in the main stream.
    ///
    /// # Safety
    /// `args` are the arguments of the kernel, and its arrays are large enough.
    pub(crate) unsafe fn launch(&self, cuda: &Cuda, args: &Args) -> Result<(), GpuError> {
        // SAFETY: the caller's contract.
        unsafe { cuda.launch(&self.function, self.config(), args) }
    }

    pub(crate) fn registers(&self) -> u32 {
        self.function.registers()
    }

    pub(crate) fn local_bytes(&self) -> u32 {
        self.function.local_bytes()
    }
}

/// A kernel that is compiled when it is first needed: most runs need either residuals or stages.
pub(crate) struct Deferred {
    text: KernelText,
    elements: usize,
    kernel: OnceLock<Kernel>,
}

impl Deferred {
    /// A kernel for a number of elements. One that needs work space in global memory is compiled at once, as
    /// the space is allocated with the group.
    fn new(cuda: &Cuda, text: KernelText, elements: usize) -> Result<Self, GpuError> {
        let deferred = Self { text, elements, kernel: OnceLock::new() };
        if deferred.text.shape.work > 0 {
            deferred.get(cuda)?;
        }
        Ok(deferred)
    }

    /// The kernel, compiled if it is not there yet.
    pub(crate) fn get(&self, cuda: &Cuda) -> Result<&Kernel, GpuError> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = Kernel::new(cuda, &self.text, "residual", self.elements)?;
        Ok(self.kernel.get_or_init(|| kernel))
    }
}

/// Operators of a fast kernel.
enum FastOperators<T: PackScalar> {
    /// In the state's precision.
    Own(DeviceBuffer<T>),
    /// In double precision.
    Wide(DeviceBuffer<f64>),
}

impl<T: PackScalar> FastOperators<T> {
    fn new(cuda: &Cuda, entries: &[f64], wide: bool) -> Result<Self, GpuError> {
        let what = "operators";
        if wide {
            return Ok(Self::Wide(DeviceBuffer::from_slice(cuda, what, entries)?));
        }
        let entries: Vec<T> = entries.iter().map(|&x| T::from_f64(x)).collect();
        Ok(Self::Own(DeviceBuffer::from_slice(cuda, what, &entries)?))
    }

    fn ptr(&self) -> u64 {
        match self {
            Self::Own(entries) => entries.ptr(),
            Self::Wide(entries) => entries.ptr(),
        }
    }
}

/// A part of a group on the device.
pub(crate) struct DevicePart<T: PackScalar> {
    residual: Deferred,
    stage: Deferred,
    /// The stage that includes the boundaries' points, for small meshes.
    small: Option<Kernel>,
    traces: Option<Kernel>,
    /// Whether the kernel of the traces uses the operators of the fast kernel.
    fast_traces: bool,
    /// The first pass of diffusion, as one or two kernels.
    gradient: Vec<Kernel>,
    speed: Kernel,
    metric: DeviceBuffer<T>,
    face: DeviceBuffer<T>,
    pub(crate) inverse_jacobian: DeviceBuffer<T>,
    weighted: DeviceBuffer<T>,
    inverse: DeviceBuffer<T>,
    /// Derivatives of the maps of curved elements, if the kernel uses them.
    map: DeviceBuffer<T>,
    /// Operators of the fast kernel, if residual and stage are fast.
    fast: Option<FastOperators<T>>,
    entries: DeviceBuffer<T>,
    indices: DeviceBuffer<u32>,
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// As `n_cut` of the host's part.
    cut: usize,
    /// Slots, with those that fill up blocks.
    slots: usize,
}

impl<T: PackScalar> DevicePart<T> {
    /// The kernel of the stage or, without it, of the residual.
    pub(crate) fn kernel(&self, cuda: &Cuda, stage: bool) -> Result<&Kernel, GpuError> {
        if stage { &self.stage } else { &self.residual }.get(cuda)
    }

    /// The elements of a share.
    fn range(&self, share: Share) -> Range<usize> {
        match share {
            Share::All => 0..self.count,
            Share::Cut => 0..self.cut,
            Share::Inner => self.cut..self.count,
        }
    }
}

/// A group on the device.
pub(crate) struct DeviceGroup<T: PackScalar> {
    pub(crate) parts: Vec<DevicePart<T>>,
    across: DeviceBuffer<u32>,
    code: DeviceBuffer<u8>,
    rows: DeviceBuffer<u32>,
    own: DeviceBuffer<u32>,
    /// Rows and weights by which other kernels compute traces; see [`FaceTables::places`].
    places: DeviceBuffer<u32>,
    weights: DeviceBuffer<T>,
    /// For each slot, the step for the value 1 of the measure, times `λ + ν σ/τ`.
    unit: DeviceBuffer<f64>,
    /// `σ/τ` for each slot, if there is diffusion.
    spread: DeviceBuffer<f64>,
    pub(crate) traces: DeviceBuffer<T>,
    pub(crate) faces: FaceTables<T>,
    /// Arrays of diffusion, if there is any.
    pub(crate) published: Option<GroupPublished<T>>,
    /// Rows that the residual adds, in the layout of the state: of a source and of reactions; empty if there
    /// are neither.
    pub(crate) source: DeviceBuffer<T>,
    /// Rows of a source beside reactions, which add theirs; empty unless there are both.
    pub(crate) given: DeviceBuffer<T>,
    offset: usize,
    /// Stride between the unknowns of a row from which traces are read.
    field_stride: usize,
    parameters: Vec<T>,
    /// The parameters for kernels that compute in double precision.
    wide_parameters: Vec<f64>,
    /// Arguments of launches, kept so that a launch allocates nothing.
    args: Args,
}

/// Locations of a stage's vectors: addresses of the whole state, 0 if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageVectors {
    pub(crate) start: u64,
    pub(crate) register: u64,
    pub(crate) out: u64,
    pub(crate) local: u64,
    pub(crate) step: u64,
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
    pub(crate) keep: bool,
}

impl StageVectors {
    /// The addresses for a group whose first slot has the number `slot` among all slots.
    pub(crate) fn at_slot<T: PackScalar>(self, slot: usize) -> Self {
        let local = if self.local == 0 { 0 } else { self.local + (slot * T::BYTES) as u64 };
        Self { local, ..self }
    }
}

impl<T: PackScalar> DeviceGroup<T> {
    pub(crate) fn new(
        cuda: &Cuda,
        law: &LawText,
        group: &Group<T>,
        neighbours: &Neighbours,
        form: Form,
        order: usize,
    ) -> Result<Self, OpsError> {
        let mut across = neighbours.slot.clone();
        let mut code = neighbours.code.clone();
        let (lanes, n_faces) = (group.state.lanes, group.shape.n_faces());
        for block in 0..group.state.blocks {
            for fix in neighbours.fixes_of(block) {
                let i = (block * n_faces + fix.face as usize) * lanes + fix.lane as usize;
                across[i] = fix.exterior;
                code[i] = EXTERIOR;
            }
        }
        let plan = Plan::new(law, group, form)?;
        let faces = match plan.nodes() {
            Some((nodes, sum_order)) => FaceTables::of_nodes(group, nodes, &sum_order)?,
            None => FaceTables::of_points(group, neighbours),
        };
        let written = plan.writes_traces;
        let unit: Vec<f64> = group.bounds.iter().map(|b| b.unit(StepMeasure::default(), order)).collect();
        let spread: Vec<f64> = match law.lifts {
            Some(_) => group.bounds.iter().map(|b| b.spread).collect(),
            None if group.is_directed() => vec![0.0; group.bounds.len()],
            None => Vec::new(),
        };
        let parts = group
            .parts
            .iter()
            .zip(&plan.parts)
            .map(|(part, chosen)| {
                let (texts, packed) = part_texts(Setting { law, group, part }, form, chosen, written);
                let kernel = |text: &KernelText, entry| Kernel::new(cuda, text, entry, part.n_elements);
                let wide = texts.stage.wide;
                let residual = Deferred::new(cuda, texts.residual, part.n_elements)?;
                let stage = Deferred::new(cuda, texts.stage, part.n_elements)?;
                let speed = kernel(&texts.speed, "wave_speed")?;
                let traces = texts.traces.map(|text| kernel(&text, "traces")).transpose()?;
                let fast_traces = texts.fast_traces;
                let gradient =
                    texts.gradient.iter().map(|text| kernel(text, "gradient")).collect::<Result<_, _>>()?;
                let upload = |what, values: &[T]| DeviceBuffer::from_slice(cuda, what, values);
                let own = chosen.entries().map(|entries| FastOperators::new(cuda, entries, wide));
                let map: &[T] = if chosen.takes_map() { &part.map } else { &[] };
                let ones = match part.spec.rule {
                    MetricRule::Reference => vec![T::from_f64(1.0); part.inverse_jacobian.len()],
                    _ => Vec::new(),
                };
                let inverse_jacobian = if ones.is_empty() { &part.inverse_jacobian[..] } else { &ones };
                Ok(DevicePart {
                    fast: own.transpose()?,
                    residual,
                    stage,
                    small: None,
                    traces,
                    fast_traces,
                    gradient,
                    speed,
                    metric: upload("metric terms", &part.metric)?,
                    face: upload("normals", &part.face)?,
                    inverse_jacobian: upload("Jacobians", inverse_jacobian)?,
                    weighted: upload("mass corrections", &part.weighted)?,
                    inverse: upload("inverse mass matrices", &part.inverse)?,
                    map: upload("derivatives of maps", map)?,
                    entries: upload("operators", &packed.entries)?,
                    indices: DeviceBuffer::from_slice(cuda, "operators", &packed.indices)?,
                    first: part.first_block * lanes,
                    count: part.n_elements,
                    cut: part.n_cut,
                    slots: part.n_blocks * lanes,
                })
            })
            .collect::<Result<Vec<_>, OpsError>>()?;
        Ok(Self {
            parts,
            across: DeviceBuffer::from_slice(cuda, "neighbours", &across)?,
            code: DeviceBuffer::from_slice(cuda, "neighbours", &code)?,
            rows: DeviceBuffer::from_slice(cuda, "neighbours", &faces.rows)?,
            own: DeviceBuffer::from_slice(cuda, "face nodes", &faces.own)?,
            places: DeviceBuffer::from_slice(cuda, "face nodes", &faces.places())?,
            weights: DeviceBuffer::from_slice(cuda, "face nodes", &faces.weights)?,
            unit: DeviceBuffer::from_slice(cuda, "step bounds", &unit)?,
            spread: DeviceBuffer::from_slice(cuda, "step bounds", &spread)?,
            traces: DeviceBuffer::zeros(cuda, "traces", if written { group.trace.len() } else { 0 })?,
            faces,
            published: match law.lifts {
                Some(_) => Some(GroupPublished::new(cuda, group, neighbours, plan.splits_gradient())?),
                None => None,
            },
            source: DeviceBuffer::zeros(cuda, "the source", if law.source { group.state.len() } else { 0 })?,
            given: DeviceBuffer::zeros(cuda, "the source", 0)?,
            offset: group.offset,
            field_stride: if written { group.trace } else { group.state }.field_stride(),
            parameters: parameter_values(&law.parameters),
            wide_parameters: parameter_values(&law.parameters),
            args: Args::new(),
        })
    }

    /// Arguments for computing the traces of points; `u` is the whole state.
    pub(crate) fn inner_trace(&self, u: u64, points: &TracePoints, rows: bool) -> InnerTrace {
        let state = u + (self.offset * T::BYTES) as u64;
        InnerTrace {
            values: if self.faces.source == TraceSource::Traces { self.traces.ptr() } else { state },
            begin: points.begin.ptr(),
            list: points.list.ptr(),
            weight: points.weight.ptr(),
            places: self.places.ptr_at(if rows { self.faces.own.len() } else { 0 }),
            weights: self.weights.ptr(),
            n: self.faces.n_inner as u32,
            stride: self.field_stride as u32,
        }
    }

    /// Scalars of work space in global memory that the group's kernels need.
    pub(crate) fn work(&self) -> usize {
        let kernels = self.parts.iter().flat_map(|p| {
            let deferred = [&p.residual, &p.stage].map(|kernel| kernel.kernel.get());
            let others = deferred.into_iter().chain([Some(&p.speed), p.traces.as_ref()]);
            others.flatten().chain(&p.gradient)
        });
        kernels.map(Kernel::work).max().unwrap_or(0)
    }

    /// Compiles the kernels of stages, or of residuals.
    pub(crate) fn prepare(&self, cuda: &Cuda, stages: bool) -> Result<(), GpuError> {
        self.parts.iter().try_for_each(|part| part.kernel(cuda, stages).map(drop))
    }

    /// Compiles the stages of a small mesh, one for each part.
    pub(crate) fn gather(&mut self, cuda: &Cuda, texts: &[KernelText]) -> Result<(), GpuError> {
        for (part, text) in self.parts.iter_mut().zip(texts) {
            part.small = Some(Kernel::new(cuda, text, "residual", part.count)?);
        }
        Ok(())
    }

    /// The address of the rows of the source; 0 if there is none.
    fn source_rows(&self) -> u64 {
        if self.source.is_empty() { 0 } else { self.source.ptr() }
    }

    /// The rows that a source writes.
    pub(crate) fn given_rows(&mut self) -> &mut DeviceBuffer<T> {
        if self.given.is_empty() { &mut self.source } else { &mut self.given }
    }

    /// Launches the rows of the reactions of a part, from the state and with the work space at the addresses
    /// `at`.
    pub(crate) fn launch_reactions(
        &mut self,
        cuda: &Cuda,
        part: usize,
        kernel: &Kernel,
        at: [u64; 2],
        coefficients: &DeviceBuffer<T>,
        parameters: &[T],
    ) -> Result<(), GpuError> {
        let part = &self.parts[part];
        let arguments = self.arguments(part, &(0..part.count), at[0], 0, at[1]);
        let given = if self.given.is_empty() { 0 } else { self.given.ptr() };
        self.args.clear();
        self.args.value(arguments).slice(parameters).buffer(coefficients);
        self.args.pointer(given).buffer(&self.source);
        // SAFETY: the arguments are the kernel's; the buffers are the group's own and cover it.
        unsafe { kernel.launch(cuda, &self.args) }
    }

    /// Memory on the device in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.parts.iter().map(|p| {
            [&p.metric, &p.face, &p.inverse_jacobian, &p.weighted, &p.inverse, &p.map, &p.entries]
                .map(DeviceBuffer::bytes)
                .iter()
                .sum::<usize>()
                + p.indices.bytes()
        });
        parts.sum::<usize>()
            + self.across.bytes()
            + self.code.bytes()
            + self.rows.bytes()
            + self.own.bytes()
            + self.unit.bytes()
            + self.spread.bytes()
            + self.traces.bytes()
            + self.source.bytes()
            + self.given.bytes()
            + self.published.as_ref().map_or(0, GroupPublished::bytes)
    }

    /// The arguments for some of the elements of a part; the first one is the first of a block.
    fn arguments(
        &self,
        part: &DevicePart<T>,
        elements: &Range<usize>,
        u: u64,
        exterior: u64,
        work: u64,
    ) -> Arguments {
        let of = |buffer: &DeviceBuffer<T>| buffer.ptr_at(buffer.len() / part.slots * elements.start);
        Arguments {
            u: u + (self.offset * T::BYTES) as u64,
            traces: self.traces.ptr(),
            exterior,
            across: self.across.ptr(),
            code: self.code.ptr(),
            rows: self.rows.ptr(),
            own: self.own.ptr(),
            metric: of(&part.metric),
            face: of(&part.face),
            inverse_jacobian: of(&part.inverse_jacobian),
            weighted: of(&part.weighted),
            inverse: of(&part.inverse),
            map: of(&part.map),
            tables: part.entries.ptr(),
            indices: part.indices.ptr(),
            work,
            first: (part.first + elements.start) as u32,
            count: elements.len() as u32,
            table_len: self.faces.len as u32,
            source: self.source_rows(),
            ..Arguments::default()
        }
    }

    /// Launches the traces of a share of the group's elements, unless they are nodal values.
    pub(crate) fn launch_traces(
        &mut self,
        cuda: &Cuda,
        share: Share,
        u: u64,
        work: u64,
    ) -> Result<(), GpuError> {
        for i in 0..self.parts.len() {
            let part = &self.parts[i];
            let Some(kernel) = &part.traces else { continue };
            let elements = part.range(share);
            let arguments =
                Arguments { out: self.traces.ptr(), ..self.arguments(part, &elements, u, 0, work) };
            let fast = part.fast.as_ref().filter(|_| part.fast_traces);
            let tables = fast.map_or(arguments.tables, FastOperators::ptr);
            let arguments = Arguments { tables, ..arguments };
            self.args.clear();
            self.args.value(arguments);
            // SAFETY: `Arguments` is laid out as the kernel's; the buffers are the group's own and cover it.
            unsafe { cuda.launch(&kernel.function, kernel.config_for(elements.len(), share), &self.args)? };
        }
        Ok(())
    }

    /// Launches the first pass of diffusion of every part, in the given branches.
    pub(crate) fn launch_gradient(
        &mut self,
        cuda: &Cuda,
        lane: &Lane<'_>,
        u: u64,
        exterior: u64,
        work: u64,
        vectors: &StageVectors,
        shared: &Shared<T>,
    ) -> Result<(), GpuError> {
        let source = self.source_rows();
        for (i, part) in self.parts.iter().enumerate() {
            let Some(published) = &self.published else { continue };
            let elements = part.range(lane.share);
            if elements.is_empty() {
                continue;
            }
            let arguments = Arguments {
                register: if vectors.register == 0 {
                    0
                } else {
                    vectors.register + (self.offset * T::BYTES) as u64
                },
                local: vectors.local,
                step: vectors.step,
                a: vectors.a,
                tables: part.fast.as_ref().map_or(part.entries.ptr(), FastOperators::ptr),
                ..self.arguments(part, &elements, u, exterior, work)
            };
            let stream = lane.stream(cuda, i)?;
            for kernel in &part.gradient {
                let share = (elements.start, part.slots);
                self.args.clear();
                self.args.value(arguments);
                published.pass(&mut self.args, shared, source, i, share);
                if kernel.wide {
                    self.args.slice(&self.wide_parameters);
                } else {
                    self.args.slice(&self.parameters);
                }
                let config = kernel.config_for(elements.len(), lane.share);
                // SAFETY: as above; the main stream, in whose order memory is freed, waits for the branch.
                unsafe { cuda.launch_on(stream, &kernel.function, config, &self.args)? };
            }
        }
        Ok(())
    }

    /// Launches the residual (`vectors.step` is 0) or a stage of every part; with diffusion its second pass.
    /// With `early`, it follows directly after the boundaries' kernel, which writes only the exterior buffer
    /// and its own sums, and may start before that kernel ends.
    pub(crate) fn launch_residual(
        &mut self,
        cuda: &Cuda,
        lane: &Lane<'_>,
        u: u64,
        exterior: u64,
        work: u64,
        vectors: &StageVectors,
        shared: Option<&Shared<T>>,
        early: bool,
        own: Option<OwnBoundaries>,
    ) -> Result<(), GpuError> {
        let at = |address: u64| if address == 0 { 0 } else { address + (self.offset * T::BYTES) as u64 };
        let source = self.source_rows();
        for i in 0..self.parts.len() {
            let part = &self.parts[i];
            let elements = part.range(lane.share);
            if elements.is_empty() {
                continue;
            }
            let small = own.and_then(|own| Some((part.small.as_ref()?, own)));
            let kernel = match small {
                Some((kernel, _)) => kernel,
                None => part.kernel(cuda, vectors.step != 0)?,
            };
            let arguments = Arguments {
                start: at(vectors.start),
                register: at(vectors.register),
                out: at(vectors.out),
                local: vectors.local,
                step: vectors.step,
                a: vectors.a,
                b: vectors.b,
                c: vectors.c,
                keep: u32::from(vectors.keep),
                tables: part.fast.as_ref().map_or(part.entries.ptr(), FastOperators::ptr),
                ..self.arguments(part, &elements, u, exterior, work)
            };
            self.args.clear();
            self.args.value(arguments);
            if let (Some(published), Some(shared)) = (&self.published, shared) {
                let share = (elements.start, part.slots);
                published.pass(&mut self.args, shared, source, i, share);
            }
            if let Some((_, own)) = small {
                self.args.value(own);
            }
            if kernel.wide {
                self.args.slice(&self.wide_parameters);
            } else {
                self.args.slice(&self.parameters);
            }
            let config = kernel.config_for(elements.len(), lane.share);
            let config = config.early(small.is_some() || (early && i == 0 && kernel.waits));
            let stream = lane.stream(cuda, i)?;
            // SAFETY: as above; the vectors cover the whole state, by the callers' assertions. Before it
            // waits for the previous kernel, a kernel reads only what that kernel does not write; the kernel
            // of a small mesh reads only what no kernel writes.
            unsafe { cuda.launch_on(stream, &kernel.function, config, &self.args)? };
        }
        Ok(())
    }

    /// Number of blocks of the step bound's launches; each writes one bound.
    pub(crate) fn bounds(&self) -> usize {
        self.parts.iter().map(|p| p.speed.blocks as usize).sum()
    }

    /// Sets the measure of steps in place, so that recorded launches use it too.
    pub(crate) fn measure_steps_by(
        &mut self,
        group: &Group<T>,
        measure: StepMeasure,
        order: usize,
    ) -> Result<(), GpuError> {
        let unit: Vec<f64> = group.bounds.iter().map(|b| b.unit(measure, order)).collect();
        if group.is_directed() {
            // With 0 the speed in all directions counts.
            let along = measure == StepMeasure::Radius;
            let factors: Vec<f64> = group.bounds.iter().map(|b| if along { b.factor } else { 0.0 }).collect();
            self.spread.upload(&factors)?;
        }
        self.unit.upload(&unit)
    }

    /// Launches the step bounds of every part, into `partial`, and the steps of the slots, into `steps`
    /// unless it is 0.
    pub(crate) fn launch_speed(
        &mut self,
        cuda: &Cuda,
        u: u64,
        work: u64,
        steps: u64,
        mut partial: u64,
    ) -> Result<(), GpuError> {
        for i in 0..self.parts.len() {
            let part = &self.parts[i];
            let arguments = self.arguments(part, &(0..part.count), u, 0, work);
            self.args.clear();
            self.args.value(arguments).slice(&self.parameters);
            self.args.buffer(&self.unit).buffer(&self.spread).pointer(steps).pointer(partial);
            if let Some(coefficients) = self.published.as_ref().and_then(GroupPublished::coefficients) {
                self.args.pointer(coefficients);
            }
            // SAFETY: as above; `partial` has room for the blocks of all parts.
            unsafe { cuda.launch(&part.speed.function, part.speed.config(), &self.args)? };
            partial += u64::from(part.speed.blocks) * 16;
        }
        Ok(())
    }
}
