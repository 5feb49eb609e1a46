//! Launches of `elliptic_simplex.cu` and `elliptic_element.cu`: affine simplices in one kernel.
//!
//! The former uses the tensor cores, one warp for 8 or more elements; the latter, for low orders, one thread
//! per element.

use crate::cuda::elliptic::halves::Halves;
use crate::cuda::elliptic::reaction::ReactionTable;
use crate::cuda::elliptic::rounding::{Products, rounded};
use crate::cuda::elliptic::{upload, with_headers};
use crate::cuda::text::setting::{SHARED, list};
use crate::elliptic::device::DeviceLayout;
use crate::elliptic::device::simplices::{CODE_BITS, Simplices};
use crate::error::OpsError;
use dgsuite_basis::Matrix;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{Element, GpuError, Scalar};

/// Number of elements of a row of tiles.
const GROUP: usize = 8;
/// Threads of a block of the kernel with one thread per element.
const THREADS: u32 = 128;
/// The largest number of rows that a byte can number.
const MOST_ROWS: usize = 256;
/// Dimension and number of nodes for which the kernel with numbers of 11 bits has enough warps to hide the
/// loads of a smoother's step.
const HIDDEN: (usize, usize) = (2, 28);

/// The header of the kernels that finish a step.
pub(super) const STEP: (&str, &str) = ("elliptic_step.cuh", include_str!("elliptic_step.cuh"));

/// The operation on `A u`, as `Step` of the kernels, and its vectors.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a, T: Scalar> {
    /// Factors of `u`, of what the result replaces, and of the preconditioned residual.
    pub(super) beta: f64,
    /// If `None`, the result is the residual.
    pub(super) inverse_diagonal: Option<&'a DeviceBuffer<T>>,
    pub(super) b: &'a DeviceBuffer<T>,
}

/// The structure `Arguments` of both kernels; only the first has matrices.
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

/// The arguments with the address of the matrices in front.
#[repr(C)]
#[derive(Clone, Copy)]
struct WithMatrices {
    matrices: u64,
    others: Arguments,
}

/// The kernel of the affine simplices of a mesh.
pub(super) struct Simplex<T: Scalar> {
    numbers: Vec<DeviceBuffer<T>>,
    tables: Vec<DeviceBuffer<u32>>,
    rows: DeviceBuffer<u64>,
    matrices: DeviceBuffer<f64>,
    /// The matrices rounded to 11 bits, used instead of the others if products are rounded.
    rounded: DeviceBuffer<f32>,
    arguments: Arguments,
    function: Function,
    config: LaunchConfig,
    /// The first row of the elements in vectors.
    first_row: usize,
    /// Whether computing a residual or a smoother's step in the same pass saves time.
    one_pass: bool,
}

/// Whether one thread processes an element.
fn by_element(t: &Simplices) -> bool {
    t.np <= if t.dim == 2 { 6 } else { 4 }
}

/// Distribution of the work on the tensor cores.
#[derive(Clone, Copy)]
struct Build {
    warps: usize,
    /// Blocks per multiprocessor.
    blocks: usize,
    /// A warp processes this many times eight elements: with two, devices of compute capability 9 multiply at
    /// twice the rate.
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
        (Products::Double, 3, 0..=10) => (2, 4, 1),
        (Products::Double, 3, 11..=20) => (1, 12, 1),
        (Products::Double, ..) => (1, 8, 1),
    };
    Build { warps, blocks, rows }
}

/// A matrix as a list in CUDA.
fn rows_of(m: &Matrix) -> String {
    list((0..m.rows()).map(|i| list(m.row(i).iter().map(|v| format!("real({v:e})")))))
}

fn numbers_of(rows: &[Vec<usize>]) -> String {
    list(rows.iter().map(list))
}

/// Macros of both texts.
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

/// A kernel text, its tables, and the threads, elements and shared memory of a block.
struct Text {
    source: Source,
    /// The matrices in the layout of the tensor cores; `words` are the rows of nodes.
    entries: Vec<f64>,
    words: Vec<u32>,
    threads: u32,
    elements: usize,
    shared: usize,
}

/// The text for simplices of an order; `None` if the order is too high.
fn text<T: Scalar>(t: &Simplices, products: Products) -> Option<Text> {
    if by_element(t) {
        let (source, threads, elements) = (element_text::<T>(t), THREADS, THREADS as usize);
        return Some(Text { source, entries: Vec::new(), words: Vec::new(), threads, elements, shared: 0 });
    }
    // The products limit the speed only in double precision on triangles: on an H200, halves took 1.02 to
    // 1.16 times as long with numbers of 11 bits, and 1.1 to 1.3 times on tetrahedra, where most of the
    // matrices belong to faces.
    let halves = match products {
        Products::Double if t.dim == 2 => Halves::new(t).unwrap_or_else(|| Halves::whole(t)),
        _ => Halves::whole(t),
    };
    let (entries, words) = (halves.fragments(products), halves.words());
    let Build { warps, blocks, rows } = build(t.dim, t.np, products);
    let bytes = if products == Products::Rounded { 4 } else { 8 };
    let shared = bytes * entries.len() + 4 * (words.len() + t.nodes.len());
    if t.np > MOST_ROWS || shared > SHARED {
        return None;
    }
    let text = include_str!("elliptic_simplex.cu");
    let source = Source::new("elliptic_simplex.cu", text)
        .header("fragments.cuh", include_str!("../simplices/fragments.cuh"))
        .header(STEP.0, STEP.1)
        .define("WARPS", warps)
        .define("BLOCKS", blocks)
        .define("ROWS", rows)
        .define("ENTRIES", entries.len())
        .define("SHARED_BYTES", shared);
    let source = halves.define(source);
    let source = match products {
        Products::Rounded => source.define("DG_SINGLE", 1),
        Products::Double if T::BYTES == 4 => source.define("DG_STORED_SINGLE", 1),
        Products::Double => source,
    };
    Some(Text {
        source: common(source, t),
        entries,
        words,
        threads: 32 * warps as u32,
        elements: GROUP * rows * warps,
        shared,
    })
}

/// The text of the kernel with one thread per element.
fn element_text<T: Scalar>(t: &Simplices) -> Source {
    let own = t.nodes.len() - t.dim - 1;
    let face_mass = Matrix::from_fn(t.n_face, t.n_face, |i, j| t.mass[0][(t.nodes[own][i], j)]);
    let matrices = |m: &[Matrix]| list(m.iter().map(rows_of));
    let text = include_str!("elliptic_element.cu");
    common(with_headers::<T>("elliptic_element.cu", text), t)
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
        let Some(Text { source, entries, words, threads, elements, shared }) = text::<T>(t, products) else {
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
            copied: (layout.real - t.first_row) as u64,
            n_copied: (layout.rows.len() - layout.real) as u64,
        };
        let (entries, few) = match products {
            Products::Double => (entries, Vec::new()),
            Products::Rounded => (Vec::new(), entries.iter().map(|v| rounded(*v)).collect()),
        };
        let matrices = DeviceBuffer::from_slice(cuda, "an operator's matrices", &entries)?;
        let rounded = DeviceBuffer::from_slice(cuda, "an operator's matrices", &few)?;
        let config = config.early(true);
        let one_pass = by_element || products == Products::Rounded && (t.dim, t.np) == HIDDEN;
        Ok(Some(Self {
            numbers,
            tables,
            rows,
            matrices,
            rounded,
            arguments,
            function,
            config,
            first_row: t.first_row,
            one_pass,
        }))
    }

    /// The text of the kernel; `None` if the order is too high for it.
    pub(super) fn text(t: &Simplices, products: Products) -> Option<Source> {
        text::<T>(t, products.on(t)).map(|text| text.source)
    }

    /// Whether computing a residual or a smoother's step in the same pass saves time.
    pub(super) fn is_faster_in_one_pass(&self) -> bool {
        self.one_pass
    }

    /// Whether one thread processes an element.
    fn is_by_element(&self) -> bool {
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
        let own = |vector: &DeviceBuffer<T>| vector.ptr_at(self.first_row);
        args.pointer(own(u)).pointer(own(au)).value(finish.map_or(0.0, |f| f.beta));
        args.pointer(finish.and_then(|f| f.inverse_diagonal).map_or(0, own));
        args.pointer(finish.map_or(0, |f| own(f.b)));
        // SAFETY: the arguments are those of the kernel, whose tables lead to rows of vectors of the
        // operator's length, which was checked.
        unsafe { cuda.launch(&self.function, self.config, &args) }
    }

    /// The tables that contain the reaction.
    pub(super) fn reaction_tables(&self) -> Vec<ReactionTable> {
        let reaction = &self.numbers[3];
        (!reaction.is_empty()).then(|| ReactionTable::new(reaction, 1)).into_iter().collect()
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
