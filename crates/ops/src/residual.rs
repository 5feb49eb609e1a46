//! The fused residual and Runge–Kutta stage of one group, block by block.
//!
//! For each block of elements: interpolate to volume points (`I`), form contravariant fluxes,
//! gather the neighbours' traces, form numerical fluxes, and then one product
//! `R = [P_0 | … | −L] (F̂_0, …, f̂*)ᵀ` whose finished rows are scaled by the metric rule and go
//! straight into the stage update. Nothing but the state, the register and the geometry touches
//! memory.

use crate::chain::Chain;
use crate::connect::Neighbours;
use crate::error::OpsError;
use crate::group::{Group, Part};
use crate::kernels::{
    AddConstant, Finish, Gain, Gather, MultiplyFinish, MultiplyStore, Scale, StoredInverse,
};
use crate::pointwise::{Across, NeighbourStates, PointKernels};
use crate::scheme::MetricRule;
use crate::simd::PackScalar;
use dgsuite_gpu::{Buffer, Element, SimdLevel};

/// Coefficients of a stage: `reg ← a reg + dt R(u)`, `next ← b u₀ + (1 − b) u + c reg`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageWeights {
    /// Weight of the former register.
    pub a: f64,
    /// Weight of the state at the beginning of the step.
    pub b: f64,
    /// Weight of the register.
    pub c: f64,
    /// Step size.
    pub dt: f64,
    /// Whether the register is read later; if not, it need not be written.
    pub keep: bool,
}

/// Where finished rows go. The pointers cover a group's whole state.
#[derive(Clone, Copy)]
pub(crate) enum Output<T> {
    /// `du ← R`.
    Residual { du: *mut T },
    /// A stage; `start` is `u₀` and is read only where `b ≠ 0`; `local` are factors of the step by
    /// slot, or null.
    Stage { weights: StageWeights, local: *const T, start: *const T, register: *mut T, next: *mut T },
}

// SAFETY: the pointers are used for disjoint blocks by different threads, see `run_blocks`.
unsafe impl<T: Send> Send for Output<T> {}
// SAFETY: likewise.
unsafe impl<T: Send> Sync for Output<T> {}

/// Work space of one thread, reused from block to block.
pub(crate) struct Scratch<T: Element> {
    /// States at volume points.
    points: Buffer<T>,
    /// `F̂_0, …, f̂*`.
    fluxes: Buffer<T>,
    /// Neighbours' traces.
    plus: Buffer<T>,
    /// Weight-adjusted and stored rules: coefficients, twice.
    first: Buffer<T>,
    second: Buffer<T>,
    /// Between the factors of a chain.
    between: [Buffer<T>; 2],
    /// One row: the integral that an element gains.
    gain: Buffer<T>,
    /// Row numbers `0, 1, …` for traces read from the trace buffer.
    identity: Vec<u32>,
}

impl<T: PackScalar> Scratch<T> {
    /// Room for any block of `groups`.
    ///
    /// # Errors
    /// [`OpsError::Machine`] if it cannot be had.
    pub(crate) fn new(groups: &[Group<T>]) -> Result<Self, OpsError> {
        let (mut points, mut fluxes, mut plus, mut rows, mut traces, mut between) = (0, 0, 0, 0, 0, 0);
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
            }
            plus = plus.max(group.trace.rows * width);
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
            identity: (0..traces as u32).collect(),
        })
    }
}

/// What the residual of one group reads.
pub(crate) struct Inputs<'a, T: Element> {
    pub(crate) group: &'a Group<T>,
    pub(crate) neighbours: &'a Neighbours,
    pub(crate) physics: &'a dyn PointKernels<T>,
    pub(crate) level: SimdLevel,
    /// The group's state.
    pub(crate) u: &'a [T],
    /// The group's traces; unused where they are read directly.
    pub(crate) traces: &'a [T],
    /// Traces of boundaries and other groups.
    pub(crate) exterior: &'a [T],
}

impl<T: PackScalar> Scratch<T> {
    /// States at the volume points of one block.
    pub(crate) fn at_points(&mut self, part: &Part<T>, level: SimdLevel, fields: usize, u: &[T]) -> &[T] {
        multiply(level, fields, &part.operators.interp, u, &mut self.between, &mut self.points);
        &self.points
    }
}

/// Blocks ahead of the one at work whose neighbours' states are fetched into the cache: neighbours
/// lie in no order that the hardware would foresee.
const AHEAD: usize = 3;

/// Bytes of state that the cache still holds: a share of what processors have for one core.
const RECENT: usize = 1 << 17;

impl<T: PackScalar> Inputs<'_, T> {
    /// Where the states across the faces of a block lie.
    fn across(&self, block: usize) -> NeighbourStates<'_, T> {
        let group = self.group;
        let (source, block_len) = match group.face_nodes {
            Some(_) => (self.u, group.state.block_len()),
            None => (self.traces, group.trace.block_len()),
        };
        let (n, n_faces) = (self.neighbours, group.face_offsets.len() - 1);
        NeighbourStates {
            source,
            block_len,
            sources: &n.sources,
            first: &n.first_source[block * n_faces..=(block + 1) * n_faces],
            tables: &n.tables,
        }
    }

    /// Fetch the states across the faces of a block into the cache.
    fn prefetch(&self, block: usize) {
        let group = self.group;
        if block >= group.state.blocks {
            return;
        }
        let across = self.across(block);
        let line = 64 / T::BYTES;
        let recent = block.saturating_sub(RECENT / (group.state.block_len() * T::BYTES));
        let width = group.state.fields * group.state.lanes;
        for (f, w) in across.first.windows(2).enumerate() {
            let count = group.face_offsets[f + 1] - group.face_offsets[f];
            for s in &across.sources[w[0] as usize..w[1] as usize] {
                // Blocks worked on lately are in the cache, those that follow are on their way already.
                if (recent..=block + AHEAD).contains(&(s.block as usize)) {
                    continue;
                }
                let base = across.source.as_ptr().wrapping_add(s.block as usize * across.block_len);
                for &row in &across.tables[s.table as usize..s.table as usize + count] {
                    for k in (0..width).step_by(line) {
                        prefetch(base.wrapping_add(row as usize + k));
                    }
                }
            }
        }
    }
}

/// Ask for the cache line of `p`; any address will do.
#[inline(always)]
fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect but on the cache, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Traces of the blocks `blocks`: `I_f u`, written to `out` (those blocks' part of the buffer).
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

/// `out ← A b` through the factors of a chain.
fn multiply<T: PackScalar>(
    level: SimdLevel,
    fields: usize,
    a: &Chain<T>,
    b: &[T],
    between: &mut [Buffer<T>; 2],
    out: &mut [T],
) {
    let Some((last, before)) = a.stages.split_last() else { return };
    let from = before_last(level, fields, before, b, between);
    T::multiply_store(level, MultiplyStore { fields, a: last, b: from.unwrap_or(b), out });
}

/// All factors but the last; the result lies in one half of the scratch, or is `b` itself.
fn before_last<'a, T: PackScalar>(
    level: SimdLevel,
    fields: usize,
    factors: &[crate::panel::Panels<T>],
    b: &[T],
    between: &'a mut [Buffer<T>; 2],
) -> Option<&'a [T]> {
    let [even, odd] = between;
    let (mut from, mut to) = (odd, even);
    for (i, factor) in factors.iter().enumerate() {
        let input: &[T] = if i == 0 { b } else { from };
        T::multiply_store(level, MultiplyStore { fields, a: factor, b: input, out: to });
        std::mem::swap(&mut from, &mut to);
    }
    (!factors.is_empty()).then_some(&from[..])
}

/// Residual or stage of the blocks `blocks` of a group.
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
    let (state, trace) = (group.state, group.trace);
    let (fields, lanes) = (state.fields, state.lanes);
    let width = fields * lanes;
    let begin = block * state.block_len();
    let u = &inputs.u[begin..begin + state.block_len()];
    let b = block - part.first_block;
    let dim = physics.dim();
    let o = &part.operators;

    // 1. Volume: states at points, contravariant fluxes.
    let metric_len = part.metric.len() / part.n_blocks;
    let metric = &part.metric[b * metric_len..(b + 1) * metric_len];
    let (volume, surface) = scratch.fluxes.split_at_mut(dim * part.n_points * width);
    if part.collocated {
        physics.volume(level, part.n_points, u, metric, part.kind, volume);
    } else {
        multiply(level, fields, &o.interp, u, &mut scratch.between, &mut scratch.points);
        physics.volume(level, part.n_points, &scratch.points, metric, part.kind, volume);
    }

    // 2. Faces: neighbours' traces, numerical fluxes.
    let across = inputs.across(block);
    inputs.prefetch(block + AHEAD);
    let fixes = inputs.neighbours.fixes_of(block);
    let up = if fixes.is_empty() {
        Across::Neighbours(across)
    } else {
        let out = &mut scratch.plus;
        T::gather(level, Gather { fields, offsets: &group.face_offsets, across, out });
        for fix in fixes {
            // A lane whose neighbour is elsewhere: its states lie in the exterior buffer.
            let points = group.face_offsets[fix.face as usize]..group.face_offsets[fix.face as usize + 1];
            let from = &inputs.exterior[fix.exterior as usize..][..points.len() * fields];
            for (i, v) in from.iter().enumerate() {
                scratch.plus[(points.start * fields + i) * lanes + fix.lane as usize] = *v;
            }
        }
        Across::Rows(&scratch.plus)
    };
    let (minus, rows) = match &group.face_nodes {
        Some(nodes) => (u, nodes.as_slice()),
        None => (
            &inputs.traces[block * trace.block_len()..(block + 1) * trace.block_len()],
            &scratch.identity[..],
        ),
    };
    let face_len = part.face.len() / part.n_blocks;
    let geometry = &part.face[b * face_len..(b + 1) * face_len];
    physics.faces(level, &group.face_offsets, minus, rows, up, geometry, part.kind, surface);

    // 3. One product, the metric rule, the stage.
    let jacobian_len = part.n_points * lanes;
    let inverse_jacobian = if part.spec.rule == MetricRule::Affine {
        &[][..]
    } else {
        &part.inverse_jacobian[b * jacobian_len..(b + 1) * jacobian_len]
    };
    let finish = |scale| Finish { u, scale, block, begin, output: *output };
    let fluxes = &scratch.fluxes;
    let Some((last, before)) = o.residual.stages.split_last() else { return };
    match part.spec.rule {
        MetricRule::Affine | MetricRule::Collocated => {
            let from = before_last(level, fields, before, fluxes, &mut scratch.between).unwrap_or(fluxes);
            // SAFETY: `output` covers the block, by the caller's contract.
            unsafe {
                T::multiply_finish(
                    level,
                    MultiplyFinish { fields, a: last, b: from, finish: finish(inverse_jacobian) },
                );
            }
        }
        MetricRule::WeightAdjusted => {
            let (first, second, between) = (&mut scratch.first, &mut scratch.second, &mut scratch.between);
            multiply(level, fields, &o.residual, fluxes, between, first);
            let rows = state.rows;
            let weighted = &part.weighted[b * (rows + 1) * lanes..(b + 1) * (rows + 1) * lanes];
            // ∫ r, the integral that the element must gain; then Π (1/J) I r, and the constant that
            // restores the integral, (∫ r − ∫ J v) / ∫ J.
            T::gain(level, Gain { fields, integral: &part.integral, r: first, out: &mut scratch.gain });
            multiply(level, fields, &o.interp, first, between, second);
            T::scale(level, Scale { fields, by: inverse_jacobian, values: second });
            multiply(level, fields, &o.project, second, between, first);
            let kernel = AddConstant {
                fields,
                one: &part.one,
                weighted,
                gain: &scratch.gain,
                v: first,
                finish: finish(&[]),
            };
            // SAFETY: as above.
            unsafe { T::add_constant(level, kernel) };
        }
        MetricRule::Stored => {
            let n = state.rows * state.rows * lanes;
            multiply(level, fields, &o.residual, fluxes, &mut scratch.between, &mut scratch.first);
            let inverse = &part.inverse[b * n..(b + 1) * n];
            // SAFETY: as above.
            unsafe {
                T::stored_inverse(
                    level,
                    StoredInverse { fields, inverse, r: &scratch.first, finish: finish(&[]) },
                );
            }
        }
    }
}
