//! Boundaries on a device: outer states, fluxes and their time integrals, for all conditions in one launch.
//!
//! The formulas of every condition are put into a namespace of their own, and a `switch` over the number of
//! the formula selects the function, so that one kernel (`boundary.cu`) serves all boundaries. Points are
//! ordered in runs with the same condition and group. The kernel also integrates the fluxes over time at each
//! point; when the host asks for the integrals, they are summed exactly, as norms are (`exact_sums.cu`): the
//! sums do not depend on the parts of a mesh.

use crate::cuda::parts::arguments::OwnBoundaries;
use crate::cuda::parts::device_group::DeviceGroup;
use crate::cuda::parts::faces::TraceSource;
use crate::cuda::parts::trace_points::{TraceList, TracePoints};
use crate::cuda::terms::exact_sums::TermSums;
use crate::cuda::text::kernel_text::{LawText, POINT_THREADS, REDUCE_THREADS, parameter_values, pointwise};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::boundary_set::BoundarySet;
use crate::space::connect::Connectivity;
use crate::space::group::Group;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{ExactSum, GpuError};
use std::fmt::Write;

/// The formulas of all conditions as one text, and the formulas of each boundary in it.
pub(crate) struct ConditionText {
    pub(crate) functions: String,
    sets: Vec<Condition>,
}

/// The condition of one boundary in the text.
struct Condition {
    /// Number of its formulas.
    kind: usize,
    parameters: Vec<f64>,
    /// Whether its states change with time and are evaluated by the device.
    moving: bool,
}

impl ConditionText {
    /// Writes equal formulas once. States that change with time are evaluated on the device if they can be
    /// translated, in double precision, because times and coordinates need it.
    pub(crate) fn new<T: PackScalar>(law: &LawText, sets: &[BoundarySet<T>]) -> Result<Self, OpsError> {
        let (mut texts, mut found) = (Vec::<(String, bool)>::new(), Vec::new());
        for set in sets {
            let mut parameters = law.parameters.clone();
            let mut text = set.binding.kernel.device_source(&mut parameters)?;
            let changing = set.binding.data.as_ref().filter(|data| !data.is_steady());
            let mut all = parameters.clone();
            // If a name has two values, the host evaluates the data.
            let prescribed =
                changing.and_then(|data| data.recorded()?.device_fn("prescribed", &mut all).ok());
            let moving = prescribed.is_some();
            if let Some(prescribed) = prescribed {
                text += &prescribed;
                parameters = all;
            }
            let text = format!("{}{text}", parameters.definition());
            let known = texts.iter().position(|(t, _)| *t == text);
            let kind = known.unwrap_or_else(|| {
                texts.push((text, moving));
                texts.len() - 1
            });
            found.push(Condition { kind, parameters: parameters.values(), moving });
        }
        let mut functions = String::new();
        for (kind, (text, _)) in texts.iter().enumerate() {
            let _ = writeln!(functions, "namespace condition_{kind} {{\n{text}}}");
        }
        let cases = |moving: bool, call: &str| {
            let kinds = texts.iter().enumerate().filter(|(_, (_, m))| *m || !moving);
            kinds.fold(String::new(), |mut text, (kind, _)| {
                let name = format!("condition_{kind}::");
                let _ = writeln!(
                    text,
                    "  case {kind}: {name}{}(*reinterpret_cast<const {name}Parameters*>(p), {call}); break;",
                    if moving { "prescribed" } else { "outer" },
                );
                text
            })
        };
        let head = "static __device__ __forceinline__ void";
        let _ = writeln!(
            functions,
            "{head} outer_state(unsigned kind, const real* p, const real (&um)[FIELDS], const real (&n)[DIM], \
             const real (&data)[FIELDS], real (&up)[FIELDS]) {{\n  switch (kind) {{\n{}  default: break;\n  }}\n}}",
            cases(false, "um, n, data, up")
        );
        let _ = writeln!(
            functions,
            "{head} prescribed_state(unsigned kind, const real* p, const real (&x)[3], real t, \
             real (&data)[FIELDS]) {{\n  switch (kind) {{\n{}  default: break;\n  }}\n}}",
            cases(true, "x, t, data")
        );
        Ok(Self { functions, sets: found })
    }
}

/// Builds the text of the kernel of all boundaries.
///
/// # Errors
/// If a parameter of a condition has two values.
pub(crate) fn boundary_text<T: PackScalar>(
    law: &LawText,
    sets: &[BoundarySet<T>],
    dim: usize,
    fields: usize,
) -> Result<(ConditionText, Source), OpsError> {
    let conditions = ConditionText::new(law, sets)?;
    let law = law.with_text(&conditions.functions);
    let source = pointwise::<f64>("boundary.cu", include_str!("boundary.cu"), &law, dim, fields);
    let source = if T::BYTES == 4 { source.define("DG_STORED_SINGLE", 1) } else { source };
    // Diffusion reads the data too, so the kernel stores them as the host would.
    let keep = usize::from(law.lifts.is_some());
    Ok((conditions, source.define("BLOCK", POINT_THREADS).define("KEEP_DATA", keep)))
}

/// The time of a stage, and the weight of its fluxes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageTime {
    /// A residual without a stage, at this time.
    At(f64),
    /// A stage at a given time, with the weight of its fluxes in the step.
    Stage {
        /// The time.
        time: f64,
        /// Weight of its fluxes in the integral over the step.
        share: f64,
    },
    /// A stage of the step at the device's clock.
    Clock {
        /// Position of the stage as a fraction of the step.
        part: f64,
        /// Weight of its fluxes in the integral over the step.
        share: f64,
    },
}

/// How the fluxes of a stage are accumulated in the integral over the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accrual {
    /// Address of the clock; 0 if nothing is accumulated.
    pub(crate) clock: u64,
    /// Time, if the host sets it.
    pub(crate) time: f64,
    /// Position of the stage as a fraction of the step; negative if the host sets the time.
    pub(crate) part: f64,
    /// Weight of the fluxes.
    pub(crate) share: f64,
}

impl StageTime {
    pub(crate) const fn accrual(self, clock: u64) -> Accrual {
        match self {
            Self::At(time) => Accrual { clock: 0, time, part: -1.0, share: 0.0 },
            Self::Stage { time, share } => Accrual { clock, time, part: -1.0, share },
            Self::Clock { part, share } => Accrual { clock, time: 0.0, part, share },
        }
    }
}

/// Data on the device of a run of points with one condition in one group.
pub(crate) struct Run<T: PackScalar> {
    pub(crate) points: TracePoints,
    pub(crate) normal: DeviceBuffer<T>,
    pub(crate) weight: DeviceBuffer<T>,
    _position: DeviceBuffer<f64>,
    /// Numbers of the boundary and of the group to which the elements belong.
    boundary: usize,
    pub(crate) group: usize,
    /// Offset in the boundary's data.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// Offset in the exterior buffer, and in the sums.
    pub(crate) exterior: usize,
    at: usize,
}

/// Number of words of the structure of a run.
const WORDS: usize = 18;

/// The boundaries of a mesh on the device.
pub(crate) struct DeviceBoundaries<T: PackScalar> {
    function: Function,
    take: Function,
    /// The time integrals as terms of one sum for each conserved variable.
    exact: TermSums,
    law: Vec<f64>,
    /// Prescribed states of each boundary for which the host evaluates them.
    pub(crate) data: Vec<DeviceBuffer<T>>,
    /// For each boundary, whether the device evaluates them.
    moving: Vec<bool>,
    runs: DeviceBuffer<u64>,
    n_runs: usize,
    blocks: usize,
    /// Time integrals of the fluxes at all points, `[point][field]`, then their corrections for rounding
    /// errors.
    sums: DeviceBuffer<f64>,
    points: usize,
    fields: usize,
    _parameters: DeviceBuffer<f64>,
    held: Vec<Run<T>>,
    args: Args,
}

impl<T: PackScalar> DeviceBoundaries<T> {
    pub(crate) fn new(
        cuda: &Cuda,
        law: &LawText,
        groups: &[Group<T>],
        device: &[DeviceGroup<T>],
        connectivity: &Connectivity,
        sets: &[BoundarySet<T>],
        dim: usize,
        exterior: &DeviceBuffer<T>,
    ) -> Result<Self, OpsError> {
        const WHAT: &str = "boundary faces";
        let fields = groups[0].state.fields;
        let (conditions, source) = boundary_text::<T>(law, sets, dim, fields)?;
        let function = cuda.compile(&source)?.function("boundary")?;
        let tally = pointwise::<T>("tally.cu", include_str!("tally.cu"), law, dim, fields);
        let take = cuda.compile(&tally.define("BLOCK", REDUCE_THREADS))?.function("take_sums")?;

        let mut parameters = Vec::new();
        let mut parameters_at = Vec::new();
        for condition in &conditions.sets {
            parameters_at.push(parameters.len());
            parameters.extend(&condition.parameters);
            // A structure without parameters has one field, and each begins at an even offset.
            parameters.resize((parameters.len() + 1).next_multiple_of(2), 0.0);
        }
        let parameters = DeviceBuffer::from_slice(cuda, WHAT, &parameters)?;

        let points: usize = sets.iter().map(|set| set.positions.len()).sum();
        let sums = DeviceBuffer::zeros(cuda, "boundary fluxes", 2 * points * fields)?;
        let (mut words, mut held, mut data) = (Vec::<u64>::new(), Vec::new(), Vec::new());
        let (mut blocks, mut before) = (0, 0);
        for (i, set) in sets.iter().enumerate() {
            let condition = &conditions.sets[i];
            data.push(DeviceBuffer::from_slice(cuda, "boundary data", &set.data)?);
            let faces = &connectivity.boundaries[set.boundary];
            let mut f = 0;
            while f < faces.len() {
                let group = faces[f].group;
                let more = faces[f..].iter().position(|face| face.group != group);
                let last = more.map_or(faces.len(), |n| f + n);
                let mut list = TraceList::default();
                let (g, d) = (&groups[group as usize], &device[group as usize]);
                for face in &faces[f..last] {
                    let local = face.face as usize;
                    let points = g.face_offsets[local]..g.face_offsets[local + 1];
                    let nodes = d.faces.source == TraceSource::FaceNodes;
                    let first = if nodes { local * d.faces.len } else { points.start };
                    list.push(g, &d.faces, face.slot as usize, first, points.len());
                }
                let range = set.first[f]..set.first[last];
                let weight: Vec<T> = set.weight[range.clone()].iter().map(|&w| T::from_f64(w)).collect();
                let position =
                    if condition.moving { set.positions[range.clone()].concat() } else { Vec::new() };
                let at = (before + range.start) * fields;
                let run = Run {
                    points: list.upload(cuda, WHAT)?,
                    normal: DeviceBuffer::from_slice(
                        cuda,
                        WHAT,
                        &set.normal[range.start * dim..range.end * dim],
                    )?,
                    weight: DeviceBuffer::from_slice(cuda, WHAT, &weight)?,
                    _position: DeviceBuffer::from_slice(cuda, WHAT, &position)?,
                    boundary: i,
                    group: group as usize,
                    first: range.start * fields,
                    count: range.len(),
                    exterior: connectivity.boundary_exterior[set.boundary] + range.start * fields,
                    at,
                };
                let written = d.faces.source == TraceSource::Traces;
                let inner = d.inner_trace(0, &run.points, false);
                words.extend([
                    inner.begin,
                    inner.list,
                    inner.weight,
                    inner.places,
                    inner.weights,
                    if written { inner.values } else { 0 },
                    g.offset as u64,
                    run.normal.ptr(),
                    run.weight.ptr(),
                    data[i].ptr_at(run.first),
                    run._position.ptr(),
                    parameters.ptr_at(parameters_at[i]),
                    exterior.ptr_at(run.exterior),
                    sums.ptr_at(at),
                    sums.ptr_at(points * fields + at),
                    u64::from(inner.n) | (condition.kind as u64) << 32,
                    blocks as u64 | (range.len() as u64) << 32,
                    u64::from(inner.stride),
                ]);
                blocks += range.len().div_ceil(POINT_THREADS);
                held.push(run);
                f = last;
            }
            before += set.positions.len();
        }
        Ok(Self {
            function,
            take,
            exact: TermSums::new::<T>(cuda, fields, fields, 2 * points, 0)?,
            law: parameter_values(&law.parameters),
            data,
            moving: conditions.sets.iter().map(|c| c.moving).collect(),
            n_runs: words.len() / WORDS,
            runs: DeviceBuffer::from_slice(cuda, WHAT, &words)?,
            blocks,
            sums,
            points,
            fields,
            _parameters: parameters,
            held,
            args: Args::new(),
        })
    }

    /// Whether there are boundaries.
    pub(crate) fn any(&self) -> bool {
        self.n_runs > 0
    }

    /// Whether some states change with time and are evaluated by the device.
    pub(crate) fn is_moving(&self) -> bool {
        self.moving.contains(&true)
    }

    /// Whether the host need not do anything between stages.
    pub(crate) fn is_autonomous(&self, sets: &[BoundarySet<T>]) -> bool {
        let steady = |set: &BoundarySet<T>| set.binding.data.as_ref().is_none_or(|d| d.is_steady());
        sets.iter().zip(&self.moving).all(|(set, &moving)| moving || steady(set))
    }

    /// The runs of boundary `i`, in the order of its faces.
    pub(crate) fn runs_of(&self, i: usize) -> impl Iterator<Item = &Run<T>> {
        self.held.iter().filter(move |run| run.boundary == i)
    }

    /// Addresses of a run's time integrals and of their corrections.
    pub(crate) fn sums_of(&self, run: &Run<T>) -> [u64; 2] {
        [run.at, self.points * self.fields + run.at].map(|at| self.sums.ptr_at(at))
    }

    /// Time integrals of the points, and their corrections.
    pub(crate) fn sums(&self) -> &DeviceBuffer<f64> {
        &self.sums
    }

    pub(crate) fn sums_mut(&mut self) -> &mut DeviceBuffer<f64> {
        &mut self.sums
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sums.bytes()
    }

    /// Updates the prescribed states of boundary `i`, if the host evaluates them.
    fn update(&mut self, i: usize, set: &mut BoundarySet<T>, time: f64) -> Result<(), GpuError> {
        if !self.moving[i] && set.update_data(time, self.fields) {
            self.data[i].upload(&set.data)?;
        }
        Ok(())
    }

    /// Number of runs of points.
    pub(crate) fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// The arguments for a kernel that does the work of [`launch`](Self::launch) itself.
    pub(crate) fn own(
        &mut self,
        sets: &mut [BoundarySet<T>],
        clock: u64,
        when: StageTime,
    ) -> Result<OwnBoundaries, GpuError> {
        let Accrual { clock, time, part, share } = when.accrual(clock);
        for (i, set) in sets.iter_mut().enumerate() {
            self.update(i, set, time)?;
        }
        Ok(OwnBoundaries { runs: self.runs.ptr(), clock, time, part, share })
    }

    /// Computes outer states and fluxes from the state at `u`: writes the former to the exterior buffer, and
    /// adds the latter to the time integrals.
    pub(crate) fn launch(
        &mut self,
        cuda: &Cuda,
        sets: &mut [BoundarySet<T>],
        u: u64,
        clock: u64,
        when: StageTime,
    ) -> Result<(), GpuError> {
        if self.n_runs == 0 {
            return Ok(());
        }
        let Accrual { clock, time, part, share } = when.accrual(clock);
        for (i, set) in sets.iter_mut().enumerate() {
            self.update(i, set, time)?;
        }
        self.args.clear();
        self.args.pointer(u).buffer(&self.runs).value(self.n_runs as u32).pointer(clock);
        self.args.value(time).value(part).value(share).slice(&self.law);
        let config = LaunchConfig::new(self.blocks as u32, POINT_THREADS as u32).early(true);
        // SAFETY: the arguments are the kernel's; every array of a run has room for its points.
        unsafe { cuda.launch(&self.function, config, &self.args) }
    }

    /// The time integrals at the boundary since the last call, for each conserved variable; empty without
    /// boundaries. Waits for the device.
    pub(crate) fn take(&self, cuda: &Cuda) -> Result<Vec<ExactSum>, GpuError> {
        if self.points == 0 {
            return Ok(Vec::new());
        }
        let mut args = Args::new();
        args.buffer(&self.sums).value(self.points as u64).buffer(&self.exact.terms);
        let config = LaunchConfig::cover(2 * self.points * self.fields, REDUCE_THREADS as u32);
        // SAFETY: the arguments are the kernel's, and there are as many terms as sums and corrections.
        unsafe { cuda.launch(&self.take, config, &args)? };
        self.exact.launch(cuda, 2 * self.points, &mut args)?;
        self.exact.read()
    }
}
