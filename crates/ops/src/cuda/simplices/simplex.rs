//! Text and launch of `simplex.cu`: nodal simplices on tensor cores.
//!
//! In single precision, states are stored in single precision; the arithmetic is in double precision, which
//! the tensor cores support.

use crate::cuda::simplices::fragments::{LANES, SimplexTables, steps};
use crate::cuda::text::kernel_text::{KernelText, LaunchShape, Sizes, reference_normals};
use crate::cuda::text::setting::{File, OF_A_BLOCK, SHARED, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::connect::ORIENTATIONS;
use crate::space::quadratic::record_len;
use crate::space::scheme::MetricRule;
use dgsuite_basis::Shape;

/// Number of elements of a warp.
const GROUP: usize = 8;

/// Variants of the kernel; see the head of simplex.cu.
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
    /// Whether data that are not copied ahead are prefetched into the second-level cache.
    prefetch: bool,
}

/// States stay in registers.
const fn resident(warps: usize, blocks: usize) -> Build {
    let (keep, buffers, ahead) = (true, 1, true);
    Build {
        warps,
        blocks,
        keep,
        buffers,
        ahead,
        normals: false,
        tables_out: false,
        unroll: true,
        prefetch: false,
    }
}

/// States are read again from shared memory; one block fills a multiprocessor.
const fn streaming(warps: usize, buffers: usize, ahead: bool) -> Build {
    let (blocks, keep) = (1, false);
    Build {
        warps,
        blocks,
        keep,
        buffers,
        ahead,
        normals: false,
        tables_out: false,
        unroll: false,
        prefetch: false,
    }
}

/// Normals are computed from the metric.
const fn with_normals(build: Build) -> Build {
    Build { normals: true, ..build }
}

/// The variant that was the fastest on an H200 of those tried, for each shape and order.
const fn build(shape: Shape, order: usize, collocated: bool) -> Build {
    match (shape, order, collocated) {
        (Shape::Triangle, 0..=2, false) => resident(4, 4),
        (Shape::Triangle, 0..=2, true) | (Shape::Triangle, 3, false) => with_normals(resident(4, 4)),
        (Shape::Triangle, 4, true) => with_normals(resident(4, 2)),
        (Shape::Triangle, 3..=5, _) => with_normals(resident(4, 3)),
        (Shape::Triangle, 6, false) => resident(4, 2),
        (Shape::Triangle, 6, true) => with_normals(resident(4, 2)),
        (Shape::Triangle, 7, _) => with_normals(resident(8, 1)),
        (Shape::Triangle, _, _) => Build { unroll: true, tables_out: true, ..streaming(8, 1, true) },
        (_, 0 | 1, false) => resident(4, 3),
        (_, 0 | 1, true) => resident(4, 4),
        (_, 2, false) => with_normals(Build { unroll: true, ..streaming(12, 2, true) }),
        (_, 2, true) => streaming(12, 2, true),
        (_, 3, _) => streaming(8, 2, true),
        (_, 4, _) => Build { tables_out: true, ..streaming(8, 1, true) },
        (_, _, true) => Build { tables_out: true, ..streaming(8, 1, false) },
        _ => Build { tables_out: true, ..streaming(7, 1, false) },
    }
}

/// The variants for curved elements, which need registers for metric terms at a point.
const fn build_curved(shape: Shape, order: usize) -> Build {
    match (shape, order) {
        (Shape::Triangle, 0 | 1) => resident(4, 4),
        (Shape::Triangle, 2 | 3) => resident(4, 3),
        (Shape::Triangle, 4 | 5) => resident(4, 2),
        (Shape::Triangle, 6) => Build { tables_out: true, prefetch: true, ..streaming(12, 1, false) },
        (Shape::Triangle, 7) => resident(8, 1),
        (Shape::Triangle, _) => Build { tables_out: true, prefetch: true, ..streaming(8, 1, false) },
        (_, 0 | 1) => resident(4, 3),
        (_, 2) => streaming(12, 2, true),
        (_, 3) => Build { prefetch: true, ..streaming(8, 1, true) },
        _ => Build { tables_out: true, ..streaming(8, 1, false) },
    }
}

/// Smallest number of warps per multiprocessor for which the kernel is efficient.
const FEWEST_WARPS: usize = 4;

/// Builds the kernel of a part with the operators `tables`; `None` if it does not fit the device.
pub(crate) fn text<T: PackScalar>(
    of: &Setting<'_, T>,
    tables: &SimplexTables,
    stage: bool,
) -> Option<KernelText> {
    let b = build_of(of);
    built(of, tables, stage, b, None)
}

/// Warps of a block on a small mesh: the smallest number that works. With one warp, an H200 was slower on
/// 2,880 triangles and no faster on 180.
const SMALL_WARPS: [usize; 2] = [2, 4];
/// Bytes of shared memory of a multiprocessor.
const MULTIPROCESSOR: usize = 228 * 1024;
/// Number of warps for which a multiprocessor has registers, with the largest number per thread.
const RESIDENT_WARPS: usize = 8;

/// Builds the kernel of a stage on a small mesh, for a number of runs of boundary points, whose conditions
/// are among the functions of `law`; `None` if `multiprocessors` cannot process all elements at once.
pub(crate) fn small<T: PackScalar>(
    of: &Setting<'_, T>,
    tables: &SimplexTables,
    runs: usize,
    multiprocessors: usize,
) -> Option<KernelText> {
    let b = build_of(of);
    SMALL_WARPS.into_iter().find_map(|warps| {
        let text = built(of, tables, true, Build { warps, blocks: 1, ..b }, Some(runs))?;
        let resident = (MULTIPROCESSOR / (text.shape.shared + OF_A_BLOCK)).min(RESIDENT_WARPS / warps);
        let fits = of.part.n_elements.div_ceil(text.shape.elements) <= multiprocessors * resident;
        fits.then_some(text)
    })
}

fn build_of<T: PackScalar>(of: &Setting<'_, T>) -> Build {
    let (sizes, shape, order) = (of.sizes(), of.group.shape, of.part.spec.element.order);
    if sizes.curved { build_curved(shape, order) } else { build(shape, order, sizes.collocated) }
}

fn built<T: PackScalar>(
    of: &Setting<'_, T>,
    tables: &SimplexTables,
    stage: bool,
    mut b: Build,
    small: Option<usize>,
) -> Option<KernelText> {
    let Setting { group, part, .. } = *of;
    let sizes = Sizes { direct: true, ..of.sizes() };
    let nodes = tables.face_nodes[0].len();
    let points = group.face_offsets[1];
    let in_shared = if b.tables_out { tables.project_at } else { tables.entries.len() };
    // As WARP_SPACE of simplex.cu.
    let staged = !sizes.fields.is_multiple_of(2);
    let beyond = usize::from(b.ahead || (staged && b.keep));
    let quadratic = sizes.rule == MetricRule::WeightAdjusted && !part.map.is_empty();
    let of_maps = if quadratic {
        let records = if b.keep || b.buffers > 1 { 2 } else { 1 };
        records * GROUP * record_len(sizes.dim, sizes.np + 1) + LANES * steps(sizes.nq)
    } else {
        0
    };
    let space = (b.buffers + beyond) * GROUP * sizes.np * sizes.fields + of_maps;
    let rows = (sizes.faces * ORIENTATIONS + sizes.faces) * nodes;
    let shared = |warps: usize| 8 * in_shared + T::BYTES * warps * space + 4 * rows;
    // The variants of affine elements were tried with at most five unknowns; more need more memory.
    if (sizes.curved || sizes.fields > 5) && small.is_none() {
        b.warps = (FEWEST_WARPS..=b.warps).rev().find(|&warps| shared(warps) <= SHARED)?;
    }
    let shared = shared(b.warps);
    if shared > SHARED {
        return None;
    }
    let headers: &[_] = &["boundary_point.cuh", "rows.cuh", "normals.cuh", "fragments.cuh", "quadratic.cuh"];
    let headers = &headers[usize::from(small.is_none())..];
    let source = of
        .wide_with_sizes(File { name: "simplex.cu", text: include_str!("simplex.cu"), headers }, &sizes)
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
        .define("PREFETCH", u8::from(b.prefetch))
        .define("NORMALS", u8::from(b.normals || quadratic))
        .define("QUADRATIC", u8::from(quadratic))
        .define("FACE_UNROLL", if b.unroll { sizes.faces } else { 1 })
        .define("REFERENCE_NORMALS", reference_normals(group.shape))
        .define("SMALL", u8::from(small.is_some()))
        .define("RUNS", small.unwrap_or(0))
        .define("SHARED_TABLES", in_shared);
    let (threads, elements, persistent) = (32 * b.warps, GROUP * b.warps, small.is_none());
    let shape = LaunchShape { threads, elements, shared, work: 0, persistent };
    Some(KernelText::new(source, shape, true))
}
