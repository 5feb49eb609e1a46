//! Launches of `elliptic_lines.cu`: quadrilaterals and hexahedra at Gauss nodes, one thread per line.

use super::reaction::ReactionTable;
use super::{upload, with_headers};
use crate::cuda::text::setting::{SHARED, list};
use crate::elliptic::device::DeviceLayout;
use crate::elliptic::device::grids::Grids;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{GpuError, Scalar};

/// Approximate number of threads of a block.
const THREADS: usize = 128;

/// The structure `Arguments` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arguments {
    metric: u64,
    faces: u64,
    sides: u64,
    walks: u64,
    n_elements: u32,
    padding: u32,
    copied: u64,
    n_copied: u64,
}

/// The kernel of a mesh of quadrilaterals or hexahedra.
pub(super) struct Lines<T: Scalar> {
    numbers: [DeviceBuffer<T>; 2],
    /// Numbers of a row of the metric that ends with the reaction, if there is one.
    with_reaction: Option<usize>,
    sides: DeviceBuffer<u32>,
    walks: DeviceBuffer<i32>,
    arguments: Arguments,
    function: Function,
    config: LaunchConfig,
}

/// A kernel text, and the elements, threads and shared memory of a block.
struct Text {
    source: Source,
    elements: usize,
    threads: u32,
    shared: usize,
}

fn numbers_of(values: &[f64]) -> String {
    list(values.iter().map(|v| format!("real({v:e})")))
}

/// The text for a number of nodes per line; `None` if an element does not fit into a block.
fn text<T: Scalar>(t: &Grids) -> Option<Text> {
    let (n, dim) = (t.n, t.dim);
    let lines = n.pow(dim as u32 - 1);
    let elements = (THREADS / lines).max(1);
    let threads = (elements * lines).next_multiple_of(32);
    let of_side = if t.per_point { dim + 1 } else { 2 * (dim - 1) };
    let of_faces = if t.skew { 2 * dim * of_side * lines } else { 0 };
    let shared = elements * (dim * (n | 1) * lines + of_faces) * T::BYTES;
    if shared > SHARED {
        return None;
    }
    let source = with_headers::<T>("elliptic_lines.cu", include_str!("elliptic_lines.cu"))
        .define("DIM", dim)
        .define("LINE_NODES", n)
        .define("PER_POINT", u8::from(t.per_point))
        .define("SKEW", u8::from(t.skew))
        .define("REACTION", u8::from(t.reaction))
        .define("ELEMENTS", elements)
        .define("THREADS", threads)
        .define("SHARED_BYTES", shared)
        .define("DERIVATIVE", list(t.derivative.iter().map(|r| numbers_of(r))))
        .define("END_VALUE", numbers_of(&t.end[0]))
        .define("END_SLOPE", numbers_of(&t.end[1]))
        .define("WEIGHTS", numbers_of(&t.weights));
    Some(Text { source, elements, threads: threads as u32, shared })
}

impl<T: Scalar> Lines<T> {
    /// The kernel; `None` if the order is too high for it.
    pub(super) fn new(cuda: &Cuda, layout: &DeviceLayout, t: &Grids) -> Result<Option<Self>, OpsError> {
        let Some(Text { source, elements, threads, shared }) = text::<T>(t) else { return Ok(None) };
        let function = cuda.compile(&source)?.function("elliptic_lines")?;
        function.set_max_dynamic_shared(shared)?;
        let grid = t.n_elements.div_ceil(elements) as u32;
        let config = LaunchConfig::new(grid, threads).shared(shared as u32).early(true);
        let what = "the geometry of an operator";
        let numbers = [upload::<T>(cuda, what, &t.metric)?, upload::<T>(cuda, what, &t.faces)?];
        let sides = DeviceBuffer::from_slice(cuda, what, t.sides.as_flattened())?;
        let walks = DeviceBuffer::from_slice(cuda, what, t.walks.as_flattened())?;
        let arguments = Arguments {
            metric: numbers[0].ptr(),
            faces: numbers[1].ptr(),
            sides: sides.ptr(),
            walks: walks.ptr(),
            n_elements: t.n_elements as u32,
            padding: 0,
            copied: layout.real as u64,
            n_copied: (layout.rows.len() - layout.real) as u64,
        };
        let with_reaction = t.reaction.then_some(t.dim * (t.dim + 1) / 2 + 1);
        Ok(Some(Self { numbers, with_reaction, sides, walks, arguments, function, config }))
    }

    /// The text of the kernel; `None` if the order is too high for it.
    pub(super) fn text(t: &Grids) -> Option<Source> {
        text::<T>(t).map(|text| text.source)
    }

    pub(super) fn apply(
        &self,
        cuda: &Cuda,
        u: &DeviceBuffer<T>,
        au: &mut DeviceBuffer<T>,
    ) -> Result<(), GpuError> {
        let mut args = Args::new();
        args.value(self.arguments).buffer(u).buffer(au);
        // SAFETY: the arguments are those of the kernel, whose tables lead to rows of vectors of the
        // operator's length, which was checked.
        unsafe { cuda.launch(&self.function, self.config, &args) }
    }

    /// The tables that contain the reaction.
    pub(super) fn reaction_tables(&self) -> Vec<ReactionTable> {
        self.with_reaction.map(|width| ReactionTable::new(&self.numbers[0], width)).into_iter().collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let [metric, faces] = &self.numbers;
        metric.bytes() + faces.bytes() + self.sides.bytes() + self.walks.bytes()
    }
}
