//! The text and launch of `simplex.cu`: affine simplices, nodal, in double precision.

use crate::connect::ORIENTATIONS;
use crate::cuda::fragments::SimplexTables;
use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, reference_normals, source};
use crate::group::{Group, Part};
use crate::simd::PackScalar;
use dgsuite_basis::Shape;

/// Elements of a warp.
const GROUP: usize = 8;

/// How the kernel is built; see the head of simplex.cu.
#[derive(Clone, Copy)]
struct Build {
    warps: usize,
    blocks: usize,
    keep: bool,
    buffers: usize,
    ahead: bool,
    normals: bool,
    tables_out: bool,
    /// Whether the arithmetic of the faces is interleaved.
    unroll: bool,
}

/// States stay in registers.
const fn resident(warps: usize, blocks: usize) -> Build {
    let (keep, buffers, ahead) = (true, 1, true);
    Build { warps, blocks, keep, buffers, ahead, normals: false, tables_out: false, unroll: true }
}

/// States are read from shared memory again; one block fills a multiprocessor.
const fn streaming(warps: usize, buffers: usize, ahead: bool) -> Build {
    let (blocks, keep) = (1, false);
    Build { warps, blocks, keep, buffers, ahead, normals: false, tables_out: false, unroll: false }
}

/// Normals are computed from the metric.
const fn with_normals(build: Build) -> Build {
    Build { normals: true, ..build }
}

/// The build that was fastest on an H200 of those tried for the shape and order.
const fn build(shape: Shape, order: usize, collocated: bool) -> Build {
    match (shape, order, collocated) {
        (Shape::Triangle, 0..=2, false) => resident(4, 4),
        (Shape::Triangle, 0..=3, _) | (Shape::Triangle, 4, true) => with_normals(resident(4, 4)),
        (Shape::Triangle, 4 | 5, _) => with_normals(resident(4, 3)),
        (Shape::Triangle, 6, false) => resident(4, 2),
        (Shape::Triangle, 6, true) => with_normals(resident(4, 2)),
        (Shape::Triangle, 7, _) => with_normals(resident(8, 1)),
        (Shape::Triangle, _, _) => Build { unroll: true, tables_out: true, ..streaming(8, 1, true) },
        (_, 0 | 1, _) => resident(4, 4),
        (_, 2, false) => with_normals(Build { unroll: true, ..streaming(12, 2, true) }),
        (_, 2, true) => streaming(12, 2, true),
        (_, 3, _) => streaming(8, 2, true),
        (_, 4, _) => Build { tables_out: true, ..streaming(8, 1, true) },
        (_, _, true) => Build { tables_out: true, ..streaming(8, 1, false) },
        _ => Build { tables_out: true, ..streaming(7, 1, false) },
    }
}

/// The kernel of an affine part whose operators are `tables`, and the number of entries of a face; `None` if it does
/// not fit the device.
pub(super) fn text<T: PackScalar>(
    law: &LawText,
    group: &Group<T>,
    part: &Part<T>,
    tables: &SimplexTables,
    stage: bool,
) -> Option<KernelText> {
    let sizes = Sizes { direct: true, ..Sizes::new(group, part) };
    let b = build(group.shape, part.spec.element.order, sizes.collocated);
    let nodes = tables.face_nodes[0].len();
    let points = group.face_offsets[1];
    let in_shared = if b.tables_out { tables.project_at } else { tables.entries.len() };
    // As WARP_SPACE of simplex.cu.
    let staged = !sizes.fields.is_multiple_of(2);
    let beyond = usize::from(b.ahead || (staged && b.keep));
    let space = (b.buffers + beyond) * GROUP * sizes.np * sizes.fields;
    let rows = (sizes.faces * ORIENTATIONS + sizes.faces) * nodes;
    let shared = 8 * (in_shared + b.warps * space) + 4 * rows;
    if shared > 227 * 1024 {
        return None;
    }
    let body = format!(
        "{}#include \"rows.cuh\"\n#include \"normals.cuh\"\n#include \"fragments.cuh\"\n#line 1 \"simplex.cu\"\n{}",
        law.preamble(),
        include_str!("simplex.cu")
    );
    let source = sizes
        .define(source::<T>("simplex.cu", body), &group.face_offsets)
        .define("STAGE", u8::from(stage))
        .define("FACE_NODES", nodes)
        .define("FACE_POINTS", points)
        .define("FACE_INTERP", u8::from(tables.face_interp))
        .define("CODES", sizes.faces * ORIENTATIONS)
        .define("WARPS", b.warps)
        .define("BLOCKS", b.blocks)
        .define("KEEP", u8::from(b.keep))
        .define("BUFFERS", b.buffers)
        .define("AHEAD", u8::from(b.ahead))
        .define("NORMALS", u8::from(b.normals))
        .define("FACE_UNROLL", if b.unroll { sizes.faces } else { 1 })
        .define("REFERENCE_NORMALS", reference_normals(group.shape))
        .define("SHARED_TABLES", in_shared);
    let shape =
        LaunchShape { threads: 32 * b.warps, elements: GROUP * b.warps, shared, work: 0, persistent: true };
    Some(KernelText { source, shape })
}
