//! The two passes over blocks that evaluate diffusion (BR2 with published fluxes).
//!
//! The first pass computes the lifted gradient in each element, the volume terms and the inviscid face terms,
//! and *publishes* the one-sided normal flux `F_v(u⁻, ∇u⁻)·n⁻` at the element's own face points. The
//! numerical flux is the mean `½ (F_v(u⁻, ∇u⁻) + F_v(u⁺, ∇u⁺))·n⁻`. The first pass lifts the element's own
//! half of it together with the inviscid flux. The second pass lifts the neighbours' half and adds the rows
//! that the first pass has stored in its output. Thus the gradient is computed once, only face fluxes are
//! exchanged, and the flux that leaves one element enters its neighbour.

use crate::formulas::diffusion::{DiffusionKernels, FaceMetric, VolumeMetric};
use crate::formulas::pointwise::Across;
use crate::lanes::simd::PackScalar;
use crate::rhs::finish::Finish;
use crate::rhs::matrix_kernels;
use crate::rhs::matrix_kernels::{FaceSlopes, Gather, HalfJump, MultiplyAdd, MultiplyFinish};
use crate::rhs::one_sided;
use crate::rhs::one_sided::{FaceScales, MeanFlux, OneSided, Publish, published_len};
use crate::rhs::residual::{AHEAD, Inputs, Output, Scratch, Work, finish_block, multiply, prefetch_across};
use crate::space::connect::Fix;
use crate::space::group::{Group, Part};
use crate::space::layout::PerPoint;
use crate::space::lifting::{Gradients, Lifting};
use crate::space::scheme::MetricRule;
use dgsuite_gpu::{Buffer, Element, SimdLevel};

/// Inputs of diffusion besides the inputs of the residual.
pub(crate) struct Diffusing<'a, T: Element> {
    pub(crate) diffusion: &'a dyn DiffusionKernels<T>,
    /// `u_b − u⁻` at the points of all boundaries, in the positions that the outer states have in the
    /// exterior buffer.
    pub(crate) jumps: &'a [T],
}

/// Outputs of the first pass. The pointers cover a group's state, its places in the schedule, and all
/// boundary points.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a, T> {
    /// Volume terms and face terms except the neighbours' diffusive fluxes, before the metric rule is
    /// applied.
    pub(crate) rows: *mut T,
    /// One-sided normal fluxes.
    pub(crate) published: OneSided<'a, T>,
    /// Physical gradients at boundary faces, `[boundary point][x][field]`.
    pub(crate) gradients: *mut T,
}

// SAFETY: blocks write disjoint parts, as boundary faces belong to one element each.
unsafe impl<T: Send> Send for Kept<'_, T> {}
// SAFETY: likewise.
unsafe impl<T: Send> Sync for Kept<'_, T> {}

/// Runs the first pass over `blocks`.
///
/// # Safety
/// `kept` covers the group and the boundaries, and no other thread works on these blocks.
pub(crate) unsafe fn gradient_blocks<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    diffusing: &Diffusing<'_, T>,
    scratch: &mut Scratch<T>,
    blocks: std::ops::Range<usize>,
    kept: &Kept<'_, T>,
) {
    assert!(blocks.end <= inputs.group.state.blocks && inputs.u.len() >= inputs.group.state.len());
    for block in blocks {
        let part = inputs.group.part_of(block);
        let Some(lifting) = &part.lifting else { continue };
        // SAFETY: `block` lies in the group; the rest is the caller's contract.
        unsafe { gradient_block(inputs, diffusing, part, lifting, scratch, block, kept) };
    }
}

/// # Safety
/// As [`gradient_blocks`].
unsafe fn gradient_block<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    diffusing: &Diffusing<'_, T>,
    part: &Part<T>,
    lifting: &Lifting<T>,
    scratch: &mut Scratch<T>,
    block: usize,
    kept: &Kept<'_, T>,
) {
    let (group, level, physics) = (inputs.group, inputs.level, inputs.physics);
    let (fields, lanes) = (group.state.fields, group.state.lanes);
    let (width, dim, n) = (fields * lanes, physics.dim(), part.n_points);
    let u = inputs.block_state(block);
    let b = block - part.first_block;
    let (minus, rows) = inputs.own_trace(block, u, &scratch.identity);

    // 1. States across the faces; copies of the coefficients beside the half jumps.
    let across = inputs.across(block);
    prefetch_across(inputs, block + AHEAD, |b| inputs.across(b));
    matrix_kernels::gather(
        level,
        Gather { fields, offsets: &group.face_offsets, across, out: &mut scratch.plus },
    );
    inputs.fix(block, inputs.exterior, &mut scratch.plus);
    let (own, jumps) = scratch.joined.split_at_mut(u.len());
    if matches!(lifting.gradients, Gradients::Joined { .. }) {
        own.copy_from_slice(u);
    }
    matrix_kernels::half_jump(level, HalfJump { fields, minus, rows, plus: &scratch.plus, out: jumps });
    let on_boundary = |fix: &&Fix| (fix.exterior as usize) < diffusing.jumps.len();
    for fix in inputs.neighbours.fixes_of(block).iter().filter(on_boundary) {
        let face = fix.face as usize;
        let points = group.face_offsets[face]..group.face_offsets[face + 1];
        let from = &diffusing.jumps[fix.exterior as usize..][..points.len() * fields];
        for (i, v) in from.iter().enumerate() {
            jumps[(points.start * fields + i) * lanes + fix.lane as usize] = *v;
        }
    }

    // 2. Lifted gradients; fluxes in the volume and at the faces.
    let nf = group.trace.rows;
    form_gradients(
        level,
        group,
        &lifting.gradients,
        u,
        &scratch.joined,
        &mut scratch.between,
        &mut scratch.gradients,
        &mut scratch.face_gradients,
    );
    let (states, gradient) =
        if part.collocated { (u, &scratch.gradients[..]) } else { scratch.gradients.split_at(n * width) };
    let (metric, geometry) = (part.metric_of(b), part.face_of(b));
    let coefficients = group.coefficients_of(block);
    let (volume, surface) = scratch.fluxes.split_at_mut(dim * n * width);
    let split = inputs.split(part);
    match split {
        Some(split) => {
            inputs.split_rows(part, block, split, &mut scratch.points[..u.len()]);
            volume.fill(T::ZERO);
        }
        None => physics.volume(level, n, states, metric, part.kind, volume),
    }
    let per_point = part.kind == PerPoint::Yes;
    diffusing.diffusion.volume(level, n, states, gradient, volume_metric(part, b, coefficients), volume);
    let up = Across::Rows(&scratch.plus);
    physics.faces(level, &group.face_offsets, minus, rows, up, geometry, part.kind, surface);

    // 3. One-sided fluxes at the faces.
    let len = nf * dim * dim * lanes;
    let metric = if per_point { &lifting.face_metric[b * len..(b + 1) * len] } else { metric };
    let face_metric = FaceMetric { normal: geometry, metric, kind: part.kind, coefficients };
    let gradient = &scratch.face_gradients;
    // The states across the faces are not needed any more.
    let own = &mut scratch.plus;
    diffusing.diffusion.faces(level, &group.face_offsets, minus, rows, gradient, face_metric, own);
    let stride = published_len(group);
    let first = kept.published.first_of(block, lanes);
    assert!(kept.published.stride == stride && kept.published.fluxes.len() >= first + lanes * stride);
    let fluxes = kept.published.fluxes.cast::<T>();
    // SAFETY: the place of the block, as just asserted; no other thread touches it, and no block reads it any
    // more.
    let out = unsafe { std::slice::from_raw_parts_mut(fluxes.add(first), lanes * stride) };
    let scales = FaceScales { dim, offsets: &group.face_offsets, geometry, per_point };
    one_sided::publish(level, Publish { fields, scales, own, surface, stride, out });
    for fix in inputs.neighbours.fixes_of(block).iter().filter(on_boundary) {
        let (face, lane) = (fix.face as usize, fix.lane as usize);
        let points = group.face_offsets[face]..group.face_offsets[face + 1];
        for (i, q) in points.enumerate() {
            let row = if per_point { q * dim * dim } else { 0 };
            for x in 0..dim {
                for k in 0..fields {
                    let term = |d: usize| {
                        metric[(row + d * dim + x) * lanes + lane]
                            * gradient[((d * nf + q) * fields + k) * lanes + lane]
                    };
                    let sum = (1..dim).fold(term(0), |sum, d| sum + term(d));
                    let at = (fix.exterior as usize + i * fields) * dim + x * fields + k;
                    // SAFETY: a point of a boundary face of this element, which no other thread writes.
                    unsafe { *kept.gradients.add(at) = sum };
                }
            }
        }
    }

    // 4. One product, stored for the second pass.
    let begin = block * group.state.block_len();
    let add = if split.is_some() { &scratch.points[..u.len()] } else { inputs.added(block) };
    let Some((last, before)) = part.operators.residual.stages.split_last() else { return };
    let from =
        crate::rhs::residual::before_last(level, fields, before, &scratch.fluxes, &mut scratch.between)
            .unwrap_or(&scratch.fluxes);
    let output = Output::Residual { du: kept.rows };
    let finish = Finish { u, add, scale: &[], block, begin, output };
    // SAFETY: the block's part of the rows, which no other thread touches.
    unsafe { matrix_kernels::multiply_finish(level, MultiplyFinish { fields, a: last, b: from, finish }) };
}

/// The geometry at the volume points of block `b` of a part, with the coefficients of its elements.
fn volume_metric<'a, T: PackScalar>(
    part: &'a Part<T>,
    b: usize,
    coefficients: &'a [T],
) -> VolumeMetric<'a, T> {
    let len = part.inverse_jacobian.len() / part.n_blocks;
    let inverse_jacobian = match part.kind {
        PerPoint::Yes => &part.inverse_jacobian[b * len..(b + 1) * len],
        PerPoint::No => &[],
    };
    VolumeMetric { metric: part.metric_of(b), inverse_jacobian, kind: part.kind, coefficients }
}

/// Computes the largest diffusivity of each element of a block, from its state and its own gradient without
/// the jumps at its faces. For fluxes with a coefficient.
pub(crate) fn diffusivity_of_block<T: PackScalar>(
    diffusion: &dyn DiffusionKernels<T>,
    level: SimdLevel,
    group: &Group<T>,
    u: &[T],
    block: usize,
    scratch: &mut Scratch<T>,
    out: &mut [T],
) {
    let part = group.part_of(block);
    let Some(lifting) = &part.lifting else { return };
    let (fields, lanes, n) = (group.state.fields, group.state.lanes, part.n_points);
    let volume = &mut scratch.gradients;
    match &lifting.gradients {
        Gradients::Joined { gradient, .. } => {
            let (own, jumps) = scratch.joined.split_at_mut(u.len());
            own.copy_from_slice(u);
            jumps.fill(T::ZERO);
            multiply(level, fields, gradient, &scratch.joined, &mut scratch.between, volume);
        }
        Gradients::Nodal { slopes, .. } => {
            let rows = slopes.rows() * fields * lanes;
            multiply(level, fields, slopes, u, &mut scratch.between, &mut volume[..rows]);
        }
    }
    let (states, gradient) =
        if part.collocated { (u, &volume[..]) } else { volume.split_at(n * fields * lanes) };
    let geometry = volume_metric(part, block - part.first_block, group.coefficients_of(block));
    diffusion.diffusivity_with(level, n, states, gradient, geometry, out);
}

/// Computes gradients in the volume and at the faces from coefficients and half jumps, which are stored one
/// after the other in `joined`.
fn form_gradients<T: PackScalar>(
    level: SimdLevel,
    group: &Group<T>,
    gradients: &Gradients<T>,
    u: &[T],
    joined: &[T],
    between: &mut [Buffer<T>; 2],
    volume: &mut [T],
    face_gradients: &mut [T],
) {
    let (fields, width) = (group.state.fields, group.state.fields * group.state.lanes);
    match (gradients, &group.face_nodes) {
        (Gradients::Joined { gradient, face_gradient }, _) => {
            multiply(level, fields, gradient, joined, between, volume);
            multiply(level, fields, face_gradient, joined, between, face_gradients);
        }
        (Gradients::Nodal { slopes, jumps, own, normals }, Some(nodes)) => {
            let half_jumps = &joined[slopes.cols() * width..];
            let volume = &mut volume[..slopes.rows() * width];
            multiply(level, fields, slopes, u, between, volume);
            let dim = slopes.rows() / slopes.cols();
            let (out, on_faces) = face_gradients.split_at_mut(dim * nodes.len() * width);
            multiply(level, fields, own, half_jumps, between, on_faces);
            let (offsets, own) = (&group.face_offsets, &on_faces[..]);
            matrix_kernels::face_slopes(
                level,
                FaceSlopes { fields, offsets, nodes, normals, slopes: volume, own, out },
            );
            matrix_kernels::multiply_add(level, MultiplyAdd { fields, a: jumps, b: half_jumps, out: volume });
        }
        (Gradients::Nodal { .. }, None) => unreachable!("nodal gradients are made for faces with nodes"),
    }
}

/// Runs the second pass over `blocks`. On entry, `output` holds the rows that the first pass has stored.
///
/// # Safety
/// `output`'s pointers cover the group's state and `published` its places, no other thread works on these
/// blocks, and the first pass has been over them and their neighbours.
pub(crate) unsafe fn mean_flux_blocks<T: PackScalar>(
    inputs: &Inputs<'_, T>,
    published: OneSided<'_, T>,
    exterior: &[T],
    scratch: &mut Scratch<T>,
    blocks: &[u32],
    output: &Output<T>,
) {
    let (group, level) = (inputs.group, inputs.level);
    let (fields, lanes, len) = (group.state.fields, group.state.lanes, group.state.block_len());
    let dim = inputs.physics.dim();
    for &block in blocks {
        let block = block as usize;
        assert!(block < group.state.blocks && inputs.u.len() >= group.state.len());
        let part = group.part_of(block);
        let Some(lifting) = &part.lifting else { continue };
        let geometry = part.face_of(block - part.first_block);
        let per_point = part.spec.rule != MetricRule::Affine;
        let scales = FaceScales { dim, offsets: &group.face_offsets, geometry, per_point };
        one_sided::mean_flux(
            level,
            MeanFlux { fields, scales, from: published, block, out: &mut scratch.plus },
        );
        for fix in inputs.neighbours.fixes_of(block) {
            let (face, lane) = (fix.face as usize, fix.lane as usize);
            for (i, q) in (group.face_offsets[face]..group.face_offsets[face + 1]).enumerate() {
                let row = if per_point { q } else { face };
                let scale = T::from_f64(-0.5) * geometry[(row * (dim + 1) + dim) * lanes + lane];
                for k in 0..fields {
                    let at = (q * fields + k) * lanes + lane;
                    scratch.plus[at] = scale * exterior[fix.exterior as usize + i * fields + k];
                }
            }
        }
        let work = Work {
            first: &mut scratch.first,
            second: &mut scratch.second,
            between: &mut scratch.between,
            gain: &mut scratch.gain,
        };
        // SAFETY: the block's part of the output, by the caller's contract; rows are read before they are
        // written.
        unsafe {
            let kept = std::ptr::slice_from_raw_parts(output.rows().add(block * len).cast_const(), len);
            finish_block(inputs, part, block, &lifting.lift, &scratch.plus, kept, work, output);
        }
    }
}
