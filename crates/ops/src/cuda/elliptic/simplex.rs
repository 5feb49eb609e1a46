//! Affine simplices: one kernel, with the FP64 tensor cores (`elliptic_simplex.cu`), or at low orders a thread for each
//! element (`elliptic_element.cu`).

use crate::cuda::elliptic::rounding::{Products, rounded, rounded_without_sum};
use crate::cuda::elliptic::{list, source, upload};
use crate::cuda::fragments::{Padding, fragment, pairs, row, steps, tiles};
use crate::elliptic::device::DeviceLayout;
use crate::elliptic::device::simplices::{CODE_BITS, Simplices};
use crate::error::OpsError;
use dgsuite_basis::Matrix;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{Element, GpuError, Scalar};

/// Elements of a row of a warp's.
const GROUP: usize = 8;
/// Threads of a block, where one works on an element.
const THREADS: u32 = 128;
/// Rows that a byte can number.
const MOST_ROWS: usize = 256;
/// Bytes of shared memory that a block may have.
const SHARED: usize = 227 * 1024;

/// The header of both kernels.
const STEP: (&str, &str) = ("elliptic_step.cuh", include_str!("../elliptic_step.cuh"));

/// What becomes of `A u`; as `Step` of the kernels, and its vectors.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a, T: Scalar> {
    /// Factors of `u`, of what the result replaces, and of the preconditioned residual.
    pub(super) factors: [f64; 3],
    /// Without it the result is the residual.
    pub(super) inverse_diagonal: Option<&'a DeviceBuffer<T>>,
    pub(super) b: &'a DeviceBuffer<T>,
}

/// As `Arguments` of both kernels; the first only has matrices.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arguments {
    rows: u64,
    edges: u64,
    weights: u64,
    penalty: u64,
    ratio: u64,
    reaction: u64,
    sides: u64,
    n_elements: u32,
    padding: u32,
    copied: u64,
    n_copied: u64,
}

/// With the address of the matrices before the others.
#[repr(C)]
#[derive(Clone, Copy)]
struct WithMatrices {
    matrices: u64,
    others: Arguments,
}

/// The kernel of a mesh of affine simplices.
pub(super) struct Simplex<T: Scalar> {
    numbers: Vec<DeviceBuffer<T>>,
    tables: Vec<DeviceBuffer<u32>>,
    rows: DeviceBuffer<u64>,
    matrices: DeviceBuffer<f64>,
    /// Instead of these where products are of rounded numbers.
    rounded: DeviceBuffer<f32>,
    arguments: Arguments,
    function: Function,
    config: LaunchConfig,
}

/// Whether a thread works on an element.
fn by_element(t: &Simplices) -> bool {
    t.np <= if t.dim == 2 { 6 } else { 4 }
}

/// How the tensor cores are given their work.
#[derive(Clone, Copy)]
struct Build {
    warps: usize,
    /// Of a multiprocessor.
    blocks: usize,
    /// Times eight elements that a warp works on: with two of them devices of compute capability 9 multiply at twice the rate.
    rows: usize,
}

/// The fastest on an H200 of those tried.
const fn build(dim: usize, np: usize, products: Products) -> Build {
    let (rows, warps, blocks) = match (products, dim, np) {
        (Products::Rounded, 2, 0..=10) => (4, 4, 3),
        (Products::Rounded, 2, 11..=15) => (2, 8, 2),
        (Products::Rounded, 2, 22..=28) => (2, 4, 4),
        (Products::Rounded, 2, _) => (2, 4, 3),
        (Products::Rounded, 3, 0..=10) => (2, 4, 3),
        (Products::Rounded, 3, 11..=20) => (2, 4, 2),
        (Products::Rounded, ..) => (2, 4, 1),
        (Products::Double, 2, 0..=10) => (2, 4, 3),
        (Products::Double, 2, 11..=15) => (2, 8, 1),
        (Products::Double, 2, 16..=28) => (2, 4, 2),
        (Products::Double, 2, 29..=36) => (2, 8, 1),
        (Products::Double, 3, 0..=20) => (1, 12, 1),
        (Products::Double, ..) => (1, 8, 1),
    };
    Build { warps, blocks, rows }
}

/// A matrix in the language of the kernels.
fn rows_of(m: &Matrix) -> String {
    list((0..m.rows()).map(|i| list(m.row(i).iter().map(|v| format!("real({v:e})")))))
}

fn numbers_of(rows: &[Vec<usize>]) -> String {
    list(rows.iter().map(|r| list(r.iter().map(ToString::to_string))))
}

/// The nodes as the matrices of the tensor cores number them: vertices, then those of one side after the other, so that a side's
/// stand in few tiles.
fn numbering(t: &Simplices) -> Vec<usize> {
    let own = t.nodes.len() - t.dim - 1;
    let sides = || t.nodes[own..].iter().map(|o| &o[..t.n_face]);
    let count = |n: usize| sides().filter(|s| s.contains(&n)).count();
    let mut out: Vec<usize> = (0..t.np).filter(|&n| count(n) == t.dim).collect();
    for n in sides().flatten().copied().chain(0..t.np) {
        if !out.contains(&n) {
            out.push(n);
        }
    }
    out
}

/// The mass matrices of the sides with the rows so numbered, and of each a bit for the tiles with entries.
fn numbered_mass(t: &Simplices) -> (Vec<Matrix>, Vec<u32>) {
    let order = numbering(t);
    let of_side = |m: &Matrix| Matrix::from_fn(m.rows(), m.cols(), |i, j| m[(order[i], j)]);
    let mass: Vec<Matrix> = t.mass.iter().map(of_side).collect();
    let filled = |m: &Matrix, tile: usize| {
        (2 * tile..2 * tile + 2)
            .flat_map(|step| (0..4).filter_map(move |j| row(t.np, step, j)))
            .any(|i| m.row(i).iter().any(|v| *v != 0.0))
    };
    let bits = |m: &Matrix| (0..tiles(t.np)).fold(0, |b, tile| b | u32::from(filled(m, tile)) << tile);
    let tiles = mass.iter().map(bits).collect();
    (mass, tiles)
}

/// The matrices as the tensor cores take them, in the order of `elliptic_simplex.cu`.
fn fragments(t: &Simplices, products: Products) -> Vec<f64> {
    let (np, modes, face) = (t.np, t.gradient[0].rows(), t.n_face);
    let mut out = Vec::new();
    let mut put = |m: &Matrix, step: usize, tile: usize| fragment(m, step, tile, Padding::Zero, &mut out);
    let order = numbering(t);
    let gradient: Vec<Matrix> =
        (t.gradient.iter()).map(|g| Matrix::from_fn(modes, np, |k, i| g[(k, order[i])])).collect();
    let gradient = match products {
        Products::Double => gradient,
        Products::Rounded => gradient.iter().map(rounded_without_sum).collect(),
    };
    for g in &gradient {
        pairs(tiles(modes), steps(np)).for_each(|(tile, step)| put(g, step, tile));
    }
    let columns = |first: usize, n: usize| Matrix::from_fn(face, n, |i, j| t.across[(i, first + j)]);
    for part in [columns(0, face), columns(face, np - face)] {
        if part.cols() > 0 {
            pairs(steps(part.cols()), tiles(face)).for_each(|(step, tile)| put(&part, step, tile));
        }
    }
    for m in &t.tangent {
        pairs(steps(face), tiles(face)).for_each(|(step, tile)| put(m, step, tile));
    }
    for m in &numbered_mass(t).0 {
        pairs(steps(face), tiles(np)).for_each(|(step, tile)| put(m, step, tile));
    }
    for m in &t.lift {
        pairs(steps(face), tiles(modes)).for_each(|(step, tile)| put(m, step, tile));
    }
    for g in &gradient {
        let m = g.transpose();
        pairs(steps(modes), tiles(np)).for_each(|(step, tile)| put(&m, step, tile));
    }
    if t.reaction.is_some() {
        let m = Matrix::from_fn(np, np, |i, j| t.volume_mass[(order[i], order[j])]);
        pairs(steps(np), tiles(np)).for_each(|(step, tile)| put(&m, step, tile));
    }
    out
}

/// The rows of a side's own order for the lanes of four, four steps to a word: `[code][lane][word]`, and behind them the nodes
/// as they are numbered.
fn words(t: &Simplices) -> Vec<u32> {
    let (face, inner) = (t.n_face, t.np - t.n_face);
    let all = steps(face) + if inner > 0 { steps(inner) } else { 0 };
    let mut out = Vec::new();
    for (order, j) in t.nodes.iter().flat_map(|o| (0..4).map(move |j| (o, j))) {
        let node = |s: usize| {
            let k = if s < steps(face) {
                row(face, s, j).unwrap_or(0)
            } else {
                face + row(inner, s - steps(face), j).unwrap_or(0)
            };
            order[k] as u32
        };
        for first in (0..all).step_by(4) {
            out.push((first..all.min(first + 4)).fold(0, |w, s| w | node(s) << (8 * (s - first))));
        }
    }
    let order = numbering(t);
    for j in 0..4 {
        for first in (0..steps(t.np)).step_by(4) {
            let node = |s: usize| order[row(t.np, s, j).unwrap_or(0)] as u32;
            out.push((first..steps(t.np).min(first + 4)).fold(0, |w, s| w | node(s) << (8 * (s - first))));
        }
    }
    out
}

/// What both texts have.
fn common(source: Source, t: &Simplices) -> Source {
    let own = t.edges.len() - t.dim - 1;
    source
        .define("DIM", t.dim)
        .define("NP", t.np)
        .define("FACE_NODES", t.n_face)
        .define("MODES", t.gradient[0].rows())
        .define("RATIO", u8::from(t.ratio.is_some()))
        .define("REACTION", u8::from(t.reaction.is_some()))
        .define("CODES", t.nodes.len())
        .define("CODE_BITS", CODE_BITS)
        .define("OWN_EDGES", numbers_of(&t.edges[own..]))
}

/// A text, and the threads, elements and shared memory of a block.
struct Text {
    source: Source,
    threads: u32,
    elements: usize,
    shared: usize,
}

/// The text for simplices of an order; `None` if it is too high.
fn text<T: Scalar>(t: &Simplices, products: Products, entries: usize, n_words: usize) -> Option<Text> {
    if by_element(t) {
        let (source, threads, elements) = (element_text::<T>(t), THREADS, THREADS as usize);
        return Some(Text { source, threads, elements, shared: 0 });
    }
    let Build { warps, blocks, rows } = build(t.dim, t.np, products);
    let bytes = if products == Products::Rounded { 4 } else { 8 };
    let shared = bytes * entries + 4 * (n_words + t.nodes.len());
    if t.np > MOST_ROWS || shared > SHARED {
        return None;
    }
    let text = include_str!("../elliptic_simplex.cu");
    let source = Source::new("elliptic_simplex.cu", text)
        .header("fragments.cuh", include_str!("../fragments.cuh"))
        .header(STEP.0, STEP.1)
        .define("MASS_TILES", list(numbered_mass(t).1.iter().map(ToString::to_string)))
        .define("WARPS", warps)
        .define("BLOCKS", blocks)
        .define("ROWS", rows)
        .define("ENTRIES", entries);
    let source = match products {
        Products::Rounded => source.define("DG_SINGLE", 1),
        Products::Double if T::BYTES == 4 => source.define("DG_STORED_SINGLE", 1),
        Products::Double => source,
    };
    Some(Text {
        source: common(source, t),
        threads: 32 * warps as u32,
        elements: GROUP * rows * warps,
        shared,
    })
}

/// The text of a thread for each element.
fn element_text<T: Scalar>(t: &Simplices) -> Source {
    let own = t.nodes.len() - t.dim - 1;
    let face_mass = Matrix::from_fn(t.n_face, t.n_face, |i, j| t.mass[0][(t.nodes[own][i], j)]);
    let matrices = |m: &[Matrix]| list(m.iter().map(rows_of));
    let text = include_str!("../elliptic_element.cu");
    common(source::<T>("elliptic_element.cu", text), t)
        .header(STEP.0, STEP.1)
        .define("THREADS", THREADS)
        .define("BLOCKS", 4)
        .define("GRADIENT", matrices(&t.gradient))
        .define("ACROSS", rows_of(&t.across))
        .define("TANGENT", matrices(&t.tangent))
        .define("FACE_MASS", rows_of(&face_mass))
        .define("LIFT", matrices(&t.lift))
        .define("VOLUME_MASS", rows_of(&t.volume_mass))
        .define("OWN_ROWS", numbers_of(&t.nodes[own..]))
}

impl<T: Scalar> Simplex<T> {
    /// The kernel; `None` if the order is too high for it.
    pub(super) fn new(
        cuda: &Cuda,
        layout: &DeviceLayout,
        t: &Simplices,
        products: Products,
    ) -> Result<Option<Self>, OpsError> {
        let (by_element, products) = (by_element(t), products.on(t));
        let (entries, words) = (if by_element { Vec::new() } else { fragments(t, products) }, words(t));
        let Some(Text { source, threads, elements, shared }) =
            text::<T>(t, products, entries.len(), words.len())
        else {
            return Ok(None);
        };
        let n = t.n_elements;
        let name = if by_element { "elliptic_element" } else { "elliptic_simplex" };
        let function = cuda.compile(&source)?.function(name)?;
        let mut grid = n.div_ceil(elements) as u32;
        if !by_element {
            function.set_max_dynamic_shared(shared)?;
            let resident = function.blocks_per_multiprocessor(threads, shared)?.max(1);
            grid = grid.min(resident * cuda.info().n_multiprocessors);
        }
        let config = LaunchConfig::new(grid, threads).shared(shared as u32);
        let what = "the geometry of an operator";
        let none = Vec::new();
        let mut numbers = Vec::new();
        for list in
            [&t.weights, &t.penalty, t.ratio.as_ref().unwrap_or(&none), t.reaction.as_ref().unwrap_or(&none)]
        {
            numbers.push(upload::<T>(cuda, what, list)?);
        }
        let bits = |items: &[usize], width: usize| {
            items.iter().enumerate().fold(0_u64, |w, (i, v)| w | (*v as u64) << (width * i))
        };
        let rows: Vec<u64> =
            if by_element { t.nodes.iter().map(|o| bits(o, 4)).collect() } else { Vec::new() };
        let edges: Vec<u32> =
            t.edges.iter().zip(&t.side_of_code).map(|(e, c)| bits(e, 8) as u32 | (*c as u32) << 24).collect();
        let table = |values: &[u32]| DeviceBuffer::from_slice(cuda, what, values);
        let tables = vec![table(&t.sides)?, table(&edges)?, table(&words)?];
        let rows = DeviceBuffer::from_slice(cuda, what, &rows)?;
        let arguments = Arguments {
            rows: if by_element { rows.ptr() } else { tables[2].ptr() },
            edges: tables[1].ptr(),
            weights: numbers[0].ptr(),
            penalty: numbers[1].ptr(),
            ratio: numbers[2].ptr(),
            reaction: numbers[3].ptr(),
            sides: tables[0].ptr(),
            n_elements: n as u32,
            padding: 0,
            copied: layout.real as u64,
            n_copied: (layout.rows.len() - layout.real) as u64,
        };
        let (entries, few) = match products {
            Products::Double => (entries, Vec::new()),
            Products::Rounded => (Vec::new(), entries.iter().map(|v| rounded(*v)).collect()),
        };
        let matrices = DeviceBuffer::from_slice(cuda, "an operator's matrices", &entries)?;
        let rounded = DeviceBuffer::from_slice(cuda, "an operator's matrices", &few)?;
        let config = config.early(true);
        Ok(Some(Self { numbers, tables, rows, matrices, rounded, arguments, function, config }))
    }

    /// The text of its kernel; `None` if the order is too high for it.
    pub(super) fn source(t: &Simplices, products: Products) -> Option<Source> {
        let products = products.on(t);
        let entries = if by_element(t) { 0 } else { fragments(t, products).len() };
        text::<T>(t, products, entries, words(t).len()).map(|text| text.source)
    }

    /// Whether a thread works on an element.
    pub(super) fn is_by_element(&self) -> bool {
        self.matrices.is_empty() && self.rounded.is_empty()
    }

    pub(super) fn apply(
        &self,
        cuda: &Cuda,
        u: &DeviceBuffer<T>,
        au: &mut DeviceBuffer<T>,
        finish: Option<Finish<'_, T>>,
    ) -> Result<(), GpuError> {
        let mut args = Args::new();
        if self.is_by_element() {
            args.value(self.arguments);
        } else {
            let matrices = if self.rounded.is_empty() { self.matrices.ptr() } else { self.rounded.ptr() };
            args.value(WithMatrices { matrices, others: self.arguments });
        }
        args.buffer(u).buffer(au).value(finish.map_or([0.0; 3], |f| f.factors));
        args.pointer(finish.and_then(|f| f.inverse_diagonal).map_or(0, DeviceBuffer::ptr));
        args.pointer(finish.map_or(0, |f| f.b.ptr()));
        // SAFETY: the arguments are those of the kernel, whose tables lead to rows of vectors of the operator's length, which
        // was checked.
        unsafe { cuda.launch(&self.function, self.config, &args) }
    }

    pub(super) fn bytes(&self) -> usize {
        fn sum<E: Element>(buffers: &[DeviceBuffer<E>]) -> usize {
            buffers.iter().map(DeviceBuffer::bytes).sum()
        }
        sum(&self.numbers)
            + sum(&self.tables)
            + self.rows.bytes()
            + self.matrices.bytes()
            + self.rounded.bytes()
    }
}
