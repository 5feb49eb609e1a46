//! The fused residual and Runge–Kutta stage of one group of elements, block by block.
//!
//! For each block of elements: (1) interpolate the state to the volume points (`I`) and compute contravariant
//! fluxes; (2) gather the neighbours' traces and compute numerical fluxes; (3) compute the product
//! `R = [P_0 | … | −L] (F̂_0, …, f̂*)ᵀ`. Each finished row of the product is scaled by the metric rule and
//! used in the update of the stage at once. Only the state, the register and the geometry are read from or
//! written to memory; all other arrays stay in the cache.

use crate::error::OpsError;
use crate::formulas::pointwise::{Across, NeighbourStates, PointKernels};
use crate::formulas::two_point::{NodeLines, TwoPointKernels};
use crate::lanes::simd::PackScalar;
use crate::rhs::finish::Finish;
use crate::rhs::matrix_kernels;
use crate::rhs::matrix_kernels::{
    AddConstant, Gain, Gather, MultiplyFinish, MultiplyStore, Scale, StoredInverse,
};
use crate::rhs::one_sided::published_len;
use crate::space::chain::Chain;
use crate::space::connect::Neighbours;
use crate::space::group::{Group, Part};
use crate::space::lines::Lines;
use crate::space::scheme::MetricRule;
use dgsuite_gpu::{Buffer, Element, SimdLevel};

/// Coefficients of a stage: `reg ← a reg + dt R(u)`, `next ← b u₀ + (1 − b) u + c reg`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageWeights {
    /// Weight of the previous value of the register.
    pub a: f64,
    /// Weight of the state at the beginning of the step.
    pub b: f64,
    /// Weight of the register.
    pub c: f64,
    /// Step size.
    pub dt: f64,
    /// Whether the register is read later; if not, it is not written.
    pub keep: bool,
}

/// Destination of finished rows. The pointers cover a group's whole state.
#[derive(Clone, Copy)]
pub(crate) enum Output<T> {
    /// `du ← R`.
    Residual { du: *mut T },
    /// A stage. `start` is `u₀` and is read only if `b ≠ 0`. `local` points to factors of the step by slot,
    /// or is null.
    Stage { weights: StageWeights, local: *const T, start: *const T, register: *mut T, next: *mut T },
}

impl<T> Output<T> {
    /// The state that is written last; until then its memory may be used for other rows.
    pub(crate) fn rows(&self) -> *mut T {
        match *self {
            Self::Residual { du } => du,
            Self::Stage { next, .. } => next,
        }
    }
}

// SAFETY: the pointers are used for disjoint blocks by different threads, see `run_blocks`.
unsafe impl<T: Send> Send for Output<T> {}
// SAFETY: likewise.
unsafe impl<T: Send> Sync for Output<T> {}

/// Work space of one thread, reused from block to block.
pub(crate) struct Scratch<T: Element> {
    /// States at volume points; in split form the rows of the volume term.
    pub(crate) points: Buffer<T>,
    /// `F̂_0, …, f̂*`.
    pub(crate) fluxes: Buffer<T>,
    /// Neighbours' traces.
    pub(crate) plus: Buffer<T>,
    /// Weight-adjusted and stored rules: two buffers of coefficients.
    pub(crate) first: Buffer<T>,
    pub(crate) second: Buffer<T>,
    /// Intermediate results between the factors of a chain.
    pub(crate) between: [Buffer<T>; 2],
    /// One row: the integral of the residual over an element.
    pub(crate) gain: Buffer<T>,
    /// Diffusion: coefficients and half jumps.
    pub(crate) joined: Buffer<T>,
    /// Diffusion: states and gradients at volume points, gradients at face points.
    pub(crate) gradients: Buffer<T>,
    pub(crate) face_gradients: Buffer<T>,
    /// Row numbers `0, 1, …` for traces read from the trace buffer.
    pub(crate) identity: Vec<u32>,
}

impl<T: PackScalar> Scratch<T> {
    /// Allocates work space for any block of `groups`.
    ///
    /// # Errors
    /// [`OpsError::Machine`] if memory cannot be allocated.
    pub(crate) fn new(groups: &[Group<T>]) -> Result<Self, OpsError> {
        let (mut points, mut fluxes, mut plus, mut rows, mut traces, mut between) = (0, 0, 0, 0, 0, 0);
        let (mut joined, mut gradients, mut face_gradients) = (0, 0, 0);
        let width = groups.iter().map(|g| g.state.fields * g.state.lanes).max().unwrap_or(0);
        for group in groups {
            let width = group.state.fields * group.state.lanes;
            for part in &group.parts {
                points = points.max(part.n_points * width);
                let o = &part.operators;
                fluxes = fluxes.max(o.residual.cols() * width);
                let widest = [&o.interp, &o.residual, &o.project, &o.interp_face].map(Chain::widest);
                between = between.max(widest.into_iter().max().unwrap_or(0) * width);
                rows = rows.max(group.state.rows * width);
                if let Some(l) = &part.lifting {
                    let [j, g, f, w] = l.gradients.rows(group.trace.rows);
                    joined = joined.max(j * width);
                    gradients = gradients.max(g * width);
                    face_gradients = face_gradients.max(f * width);
                    between = between.max(w.max(l.lift.widest()) * width);
                }
            }
            plus = plus.max(published_len(group) * group.state.lanes);
            traces = traces.max(group.trace.rows);
        }
        let zeros = Buffer::<T>::zeros;
        Ok(Self {
            points: zeros(points)?,
            fluxes: zeros(fluxes)?,
            plus: zeros(plus)?,
            first: zeros(rows.max(points))?,
            second: zeros(rows.max(points))?,
            between: [zeros(between)?, zeros(between)?],
            gain: zeros(width)?,
            joined: zeros(joined)?,
            gradients: zeros(gradients)?,
            face_gradients: zeros(face_gradients)?,
            identity: (0..traces as u32).collect(),
        })
    }
}

/// Inputs of the residual of one group.
pub(crate) struct Inputs<'a, T: Element> {
    pub(crate) group: &'a Group<T>,
    pub(crate) neighbours: &'a Neighbours,
    pub(crate) physics: &'a dyn PointKernels<T>,
    /// The two-point flux, for split forms only.
    pub(crate) two_point: Option<&'a dyn TwoPointKernels<T>>,
    pub(crate) level: SimdLevel,
    /// The group's state.
    pub(crate) u: &'a [T],
    /// The group's traces; unused if they are read from the state.
    pub(crate) traces: &'a [T],
    /// Traces of boundaries and other groups.
    pub(crate) exterior: &'a [T],
    /// Rows that are added before the metric rule, in the layout of a state (projected sources), or empty.
    pub(crate) add: &'a [T],
}

impl<T: PackScalar> Scratch<T> {
    /// Computes the states at the volume points of one block.
    pub(crate) fn at_points(&mut self, part: &Part<T>, level: SimdLevel, fields: usize, u: &[T]) -> &[T] {
        multiply(level, fields, &part.operators.interp, u, &mut self.between, &mut self.points);
        &self.points
    }
}

/// The states of the neighbours of the block this many blocks ahead are prefetched: the hardware cannot
/// predict their addresses.
pub(crate) const AHEAD: usize = 3;

/// Bytes of recently used state that are assumed to be in the cache: a fraction of the cache per core.
const RECENT: usize = 1 << 17;

impl<'a, T: PackScalar> Inputs<'a, T> {
    /// Location of the states across the faces of a block.
    pub(crate) fn across(&self, block: usize) -> NeighbourStates<'a, T> {
        let group = self.group;
        let (values, block_len) = match group.face_nodes {
            Some(_) => (self.u, group.state.block_len()),
            None => (self.traces, group.trace.block_len()),
        };
        let (n, n_faces) = (self.neighbours, group.face_offsets.len() - 1);
        NeighbourStates {
            values,
            block_len,
            donors: &n.donors,
            first: &n.first_donor[block * n_faces..=(block + 1) * n_faces],
            tables: &n.tables,
        }
    }

    /// The state of one block.
    pub(crate) fn block_state(&self, block: usize) -> &'a [T] {
        let len = self.group.state.block_len();
        &self.u[block * len..(block + 1) * len]
    }

    /// The rows that are added to a block before the metric rule, or an empty slice.
    pub(crate) fn added(&self, block: usize) -> &'a [T] {
        let len = self.group.state.block_len();
        if self.add.is_empty() { &[] } else { &self.add[block * len..(block + 1) * len] }
    }

    /// The two-point flux and the lines of a part in split form; `None` in other forms.
    pub(crate) fn split<'p>(&self, part: &'p Part<T>) -> Option<(&'a dyn TwoPointKernels<T>, &'p Lines<T>)> {
        self.two_point.zip(part.lines.as_ref())
    }

    /// Split form: computes the rows that are added to a block, including the volume term.
    pub(crate) fn split_rows(
        &self,
        part: &Part<T>,
        block: usize,
        (flux, lines): (&dyn TwoPointKernels<T>, &Lines<T>),
        rows: &mut [T],
    ) {
        match self.added(block) {
            [] => rows.fill(T::ZERO),
            add => rows.copy_from_slice(add),
        }
        let (metric, kind) = (part.metric_of(block - part.first_block), part.kind);
        let lines = NodeLines { n: lines.n, derivative: &lines.derivative, metric, kind };
        flux.volume(self.level, lines, self.block_state(block), rows);
    }

    /// The block's own trace: an array, and the row of each face point.
    pub(crate) fn own_trace<'b>(
        &'b self,
        block: usize,
        u: &'b [T],
        identity: &'b [u32],
    ) -> (&'b [T], &'b [u32]) {
        let len = self.group.trace.block_len();
        match &self.group.face_nodes {
            Some(nodes) => (u, nodes.as_slice()),
            None => (&self.traces[block * len..(block + 1) * len], &identity[..self.group.trace.rows]),
        }
    }

    /// Replaces the values of foreign lanes at the face points by values of an exterior buffer.
    pub(crate) fn fix(&self, block: usize, exterior: &[T], plus: &mut [T]) {
        let (fields, lanes) = (self.group.state.fields, self.group.state.lanes);
        for fix in self.neighbours.fixes_of(block) {
            let face = fix.face as usize;
            let points = self.group.face_offsets[face]..self.group.face_offsets[face + 1];
            let from = &exterior[fix.exterior as usize..][..points.len() * fields];
            for (i, v) in from.iter().enumerate() {
                plus[(points.start * fields + i) * lanes + fix.lane as usize] = *v;
            }
        }
    }
}

/// Prefetches the states across the faces of a block.
pub(crate) fn prefetch_across<'a, T: PackScalar>(
    inputs: &Inputs<'a, T>,
    block: usize,
    across: impl Fn(usize) -> NeighbourStates<'a, T>,
) {
    let group = inputs.group;
    if block >= group.state.blocks {
        return;
    }
    let across = across(block);
    let line = 64 / T::BYTES;
    let recent = block.saturating_sub(RECENT / (group.state.block_len() * T::BYTES));
    let width = group.state.fields * group.state.lanes;
    for (f, w) in across.first.windows(2).enumerate() {
        let count = group.face_offsets[f + 1] - group.face_offsets[f];
        for s in &across.donors[w[0] as usize..w[1] as usize] {
            // Recently used blocks are in the cache, and following ones have been prefetched already.
            if (recent..=block + AHEAD).contains(&(s.block as usize)) {
                continue;
            }
            let base = across.values.as_ptr().wrapping_add(s.block as usize * across.block_len);
            for &row in &across.tables[s.table as usize..s.table as usize + count] {
                for k in (0..width).step_by(line) {
                    prefetch(base.wrapping_add(row as usize + k));
                }
            }
        }
    }
}

/// Prefetches the cache line of `p`; any address is allowed.
#[inline(always)]
pub(crate) fn prefetch<T>(p: *const T) {
    prefetch_into::<T, true>(p);
}

/// As [`prefetch`], into the second-level cache, for data that is not used at once.
#[inline(always)]
pub(crate) fn prefetch_second<T>(p: *const T) {
    prefetch_into::<T, false>(p);
}

#[inline(always)]
fn prefetch_into<T, const FIRST: bool>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch affects only the cache, and never faults.
        unsafe {
            if FIRST {
                _mm_prefetch::<_MM_HINT_T0>(p.cast());
            } else {
                _mm_prefetch::<_MM_HINT_T1>(p.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Computes the traces `I_f u` of the blocks `blocks` and writes them to `out` (the part of the buffer for
/// these blocks).
pub(crate) fn trace_blocks<T: PackScalar>(
    group: &Group<T>,
    level: SimdLevel,
    u: &[T],
    scratch: &mut Scratch<T>,
    blocks: std::ops::Range<usize>,
    out: &mut [T],
) {
    let (state, trace) = (group.state.block_len(), group.trace.block_len());
    let a = &group.parts[0].operators.interp_face;
    for (i, b) in blocks.enumerate() {
        let u = &u[b * state..(b + 1) * state];
        let out = &mut out[i * trace..(i + 1) * trace];
        multiply(level, group.state.fields, a, u, &mut scratch.between, out);
    }
}

/// `out ← A b`, with `A` applied as a chain of factors.
pub(crate) fn multiply<T: PackScalar>(
    level: SimdLevel,
    fields: usize,
    a: &Chain<T>,
    b: &[T],
    between: &mut [Buffer<T>; 2],
    out: &mut [T],
) {
    let Some((last, before)) = a.stages.split_last() else { return };
    let from = before_last(level, fields, before, b, between);
    matrix_kernels::multiply_store(level, MultiplyStore { fields, a: last, b: from.unwrap_or(b), out });
}

/// Applies all factors but the last; the result lies in one half of the work space, or is `b` itself.
pub(crate) fn before_last<'a, T: PackScalar>(
    level: SimdLevel,
    fields: usize,
    factors: &[crate::lanes::panel::Panels<T>],
    b: &[T],
    between: &'a mut [Buffer<T>; 2],
) -> Option<&'a [T]> {
    let [even, odd] = between;
    let (mut from, mut to) = (odd, even);
    for (i, factor) in factors.iter().enumerate() {
        let input: &[T] = if i == 0 { b } else { from };
        matrix_kernels::multiply_store(level, MultiplyStore { fields, a: factor, b: input, out: to });
        std::mem::swap(&mut from, &mut to);
    }
    (!factors.is_empty()).then_some(&from[..])
}

/// Computes the residual or stage of the blocks `blocks` of a group.
///
/// # Safety
/// `output`'s pointers cover the group's state and no other thread works on these blocks.
pub(crate) unsafe fn run_blocks<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    scratch: &mut Scratch<T>,
    blocks: std::ops::Range<usize>,
    output: &Output<T>,
) {
    let group = inputs.group;
    assert!(blocks.end <= group.state.blocks && inputs.u.len() >= group.state.len());
    for block in blocks {
        let part = group.part_of(block);
        // SAFETY: `block` lies in the group; the rest is the caller's contract.
        unsafe { run_block(inputs, part, scratch, block, output) };
    }
}

/// # Safety
/// As [`run_blocks`].
unsafe fn run_block<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    part: &Part<T>,
    scratch: &mut Scratch<T>,
    block: usize,
    output: &Output<T>,
) {
    let (group, level, physics) = (inputs.group, inputs.level, inputs.physics);
    let fields = group.state.fields;
    let width = fields * group.state.lanes;
    let u = inputs.block_state(block);
    let b = block - part.first_block;

    // 1. Volume: states at points, contravariant fluxes.
    let metric = part.metric_of(b);
    let (volume, surface) = scratch.fluxes.split_at_mut(physics.dim() * part.n_points * width);
    let split = inputs.split(part);
    if let Some(split) = split {
        inputs.split_rows(part, block, split, &mut scratch.points[..u.len()]);
    } else if part.collocated {
        physics.volume(level, part.n_points, u, metric, part.kind, volume);
    } else {
        multiply(level, fields, &part.operators.interp, u, &mut scratch.between, &mut scratch.points);
        physics.volume(level, part.n_points, &scratch.points, metric, part.kind, volume);
    }

    // 2. Faces: traces of the neighbours, numerical fluxes.
    let across = inputs.across(block);
    prefetch_across(inputs, block + AHEAD, |b| inputs.across(b));
    let up = if inputs.neighbours.fixes_of(block).is_empty() {
        Across::Neighbours(across)
    } else {
        matrix_kernels::gather(
            level,
            Gather { fields, offsets: &group.face_offsets, across, out: &mut scratch.plus },
        );
        inputs.fix(block, inputs.exterior, &mut scratch.plus);
        Across::Rows(&scratch.plus)
    };
    let (minus, rows) = inputs.own_trace(block, u, &scratch.identity);
    physics.faces(level, &group.face_offsets, minus, rows, up, part.face_of(b), part.kind, surface);

    // 3. One product, then the metric rule and the stage.
    let work = Work {
        first: &mut scratch.first,
        second: &mut scratch.second,
        between: &mut scratch.between,
        gain: &mut scratch.gain,
    };
    let (chain, fluxes, add) = match split {
        Some((_, lines)) => (&lines.lift, &*surface, &scratch.points[..u.len()]),
        None => (&part.operators.residual, &scratch.fluxes[..], inputs.added(block)),
    };
    // SAFETY: `output` covers the block, by the caller's contract.
    unsafe { finish_block(inputs, part, block, chain, fluxes, add, work, output) };
}

/// Work space of the metric rule.
pub(crate) struct Work<'a, T: Element> {
    pub(crate) first: &'a mut Buffer<T>,
    pub(crate) second: &'a mut Buffer<T>,
    pub(crate) between: &'a mut [Buffer<T>; 2],
    pub(crate) gain: &'a mut Buffer<T>,
}

/// Computes `A b + add` (`add` may be empty), applies the metric rule, and writes the residual or stage.
///
/// # Safety
/// As [`run_blocks`], and `add` is readable; it may be the block's part of the output.
pub(crate) unsafe fn finish_block<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    part: &Part<T>,
    block: usize,
    a: &Chain<T>,
    b: &[T],
    add: *const [T],
    work: Work<'_, T>,
    output: &Output<T>,
) {
    let (level, state) = (inputs.level, inputs.group.state);
    let (fields, lanes) = (state.fields, state.lanes);
    let (own, o) = (block - part.first_block, &part.operators);
    let begin = block * state.block_len();
    let u = inputs.block_state(block);
    let jacobian_len = part.n_points * lanes;
    let inverse_jacobian = if matches!(part.spec.rule, MetricRule::Affine | MetricRule::Reference) {
        &[][..]
    } else {
        &part.inverse_jacobian[own * jacobian_len..(own + 1) * jacobian_len]
    };
    let Work { first, second, between, gain } = work;
    let Some((last, before)) = a.stages.split_last() else { return };
    let from = before_last(level, fields, before, b, between).unwrap_or(b);
    if matches!(part.spec.rule, MetricRule::Affine | MetricRule::Collocated | MetricRule::Reference) {
        let finish = Finish { u, add, scale: inverse_jacobian, block, begin, output: *output };
        // SAFETY: `output` covers the block and `add` is readable, by the caller's contract.
        unsafe {
            matrix_kernels::multiply_finish(level, MultiplyFinish { fields, a: last, b: from, finish });
        }
        return;
    }
    let raw = Output::Residual { du: first.as_mut_ptr() };
    let finish = Finish { u, add, scale: &[], block: 0, begin: 0, output: raw };
    // SAFETY: `first` has the rows of a block.
    unsafe { matrix_kernels::multiply_finish(level, MultiplyFinish { fields, a: last, b: from, finish }) };
    let finish = Finish { u, add: &[][..], scale: &[], block, begin, output: *output };
    if part.spec.rule == MetricRule::Stored {
        let n = state.rows * state.rows * lanes;
        let inverse = &part.inverse[own * n..(own + 1) * n];
        // SAFETY: as above.
        unsafe { matrix_kernels::stored_inverse(level, StoredInverse { fields, inverse, r: first, finish }) };
        return;
    }
    let rows = state.rows;
    let weighted = &part.weighted[own * (rows + 1) * lanes..(own + 1) * (rows + 1) * lanes];
    // First ∫ r, the integral that the element must gain; then v = Π (1/J) I r and the constant that restores
    // the integral, (∫ r − ∫ J v) / ∫ J.
    matrix_kernels::gain(level, Gain { fields, integral: &part.integral, r: first, out: gain });
    multiply(level, fields, &o.interp, first, between, second);
    matrix_kernels::scale(level, Scale { fields, by: inverse_jacobian, values: second });
    multiply(level, fields, &o.project, second, between, first);
    // SAFETY: as above.
    unsafe {
        matrix_kernels::add_constant(
            level,
            AddConstant { fields, one: &part.one, weighted, gain, v: first, finish },
        );
    }
}
