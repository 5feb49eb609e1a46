//! The setting of a part's kernels (law, group, part), and the choice of blocks that fit the device.
//!
//! [`Block`] and [`Room`] describe the threads, registers and shared memory of a block of elements. From
//! these the number of blocks per multiprocessor follows, for devices of compute capability 9.

use crate::cuda::text::kernel_text::{
    KernelText, LaunchShape, LawText, Sizes, wide_with_headers, with_headers,
};
use crate::lanes::simd::PackScalar;
use crate::space::group::{Group, Part};
use crate::space::lifting::penalty;
use dgsuite_gpu::cuda::Source;

/// Bytes of shared memory that one block may use, and the bytes that each block reserves beside them. A
/// multiprocessor has the sum of both.
pub(crate) const SHARED: usize = 227 * 1024;
pub(crate) const OF_A_BLOCK: usize = 1024;
/// Registers of a multiprocessor, largest number of threads of a block, largest number of blocks.
const REGISTERS: usize = 65_536;
const MOST_THREADS: usize = 1024;
const MOST_BLOCKS: usize = 32;
/// Largest number of blocks to which registers are limited in kernels of points.
const MOST_BLOCKS_OF_POINTS: usize = 16;

/// Threads of a multiprocessor that hide latencies, the exponent with which the speed grows with their number
/// below that, and the threads of a block that cost all of the speed, as they wait for each other. They
/// reproduce the order of eight blocks, of orders 2 to 7, as measured on an H100 with viscous flow.
const ENOUGH_THREADS: f64 = 512.0;
const WORTH_OF_THREADS: f64 = 0.4;
const TOO_MANY_THREADS: f64 = 700.0;

/// Number of blocks with `threads` threads that fit on a multiprocessor with `registers` per thread.
pub(crate) const fn blocks_of(threads: usize, registers: usize) -> usize {
    REGISTERS / (registers * threads.next_multiple_of(32))
}

/// Registers per thread, a multiple of 8, with which this many blocks fit on a multiprocessor.
pub(crate) const fn registers_of(blocks: usize, threads: usize) -> usize {
    REGISTERS / (blocks * threads.next_multiple_of(32)) / 8 * 8
}

/// A `.cu` file, and the headers that it needs besides those of all kernels.
#[derive(Clone, Copy)]
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) headers: &'static [&'static str],
}

/// What the threads of a block do between two barriers: they are distributed over the `items` of its
/// elements.
#[derive(Clone, Copy)]
pub(crate) struct Phase {
    /// Items of an element.
    pub(crate) items: usize,
    /// Time for one of them, in any unit.
    pub(crate) cost: usize,
}

/// A block of a kernel with one thread for each node or point of a few elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) elements: usize,
    pub(crate) threads: usize,
    /// Bytes of shared memory.
    shared: usize,
}

impl Block {
    /// A block without shared memory.
    pub(crate) const fn new(elements: usize, threads: usize) -> Self {
        Self { elements, threads, shared: 0 }
    }

    /// One thread for each of the `rows` of an element, about `threads` in total, with few idle lanes.
    pub(crate) fn near(rows: usize, threads: usize) -> Self {
        let warps = |e: usize| (e * rows).next_multiple_of(32);
        let quality =
            |e: usize| (e * rows) as f64 / warps(e) as f64 + 0.02 * (e * rows) as f64 / threads as f64;
        let most = (threads / rows).max(1);
        let elements = (1..=most).max_by(|&a, &b| quality(a).total_cmp(&quality(b))).unwrap_or(1);
        Self::new(elements, elements * rows)
    }

    /// The block whose threads, with `registers` each, are idle least in all phases, and of which many
    /// threads fit on a multiprocessor; `scalars` of shared memory per block, and `element` for each element.
    pub(crate) fn of_phases<T: PackScalar>(
        phases: &[Phase],
        registers: usize,
        scalars: usize,
        element: usize,
    ) -> Self {
        let time = |elements: usize, threads: usize| -> usize {
            phases.iter().map(|p| (p.items * elements).div_ceil(threads) * threads * p.cost).sum()
        };
        let quality = |b: &Self| {
            let used = (b.elements * time(1, 1)) as f64 / time(b.elements, b.threads) as f64;
            let at_once = b.threads * b.by_registers(registers).min(b.by_room());
            let waiting = 1.0 - b.threads as f64 / TOO_MANY_THREADS;
            used * waiting * (at_once as f64 / ENOUGH_THREADS).min(1.0).powf(WORTH_OF_THREADS)
        };
        let blocks = (2..=12).flat_map(|warps| (1..=32).map(move |elements| Self::new(elements, 32 * warps)));
        blocks
            .map(|block| block.room::<T>(scalars, element))
            .filter(Self::fits)
            .rev()
            .max_by(|a, b| quality(a).total_cmp(&quality(b)))
            .unwrap_or(Self::new(1, 64).room::<T>(scalars, element))
    }

    /// Pads the threads to whole warps.
    pub(crate) const fn whole_warps(self) -> Self {
        Self { threads: self.threads.next_multiple_of(32), ..self }
    }

    /// Sets the shared memory: `scalars` per block, and `element` for each element.
    pub(crate) const fn room<T: PackScalar>(self, scalars: usize, element: usize) -> Self {
        Self { shared: T::BYTES * (scalars + self.elements * element), ..self }
    }

    /// Blocks per multiprocessor with `registers` per thread.
    pub(crate) fn by_registers(&self, registers: usize) -> usize {
        blocks_of(self.threads, registers).clamp(1, MOST_BLOCKS)
    }

    /// Blocks per multiprocessor by shared memory.
    pub(crate) const fn by_room(&self) -> usize {
        (SHARED + OF_A_BLOCK) / (self.shared + OF_A_BLOCK)
    }

    /// Whether a multiprocessor can run the block.
    const fn fits(&self) -> bool {
        self.threads <= MOST_THREADS && self.shared <= SHARED
    }
}

/// Resources of a kernel of points: limit of registers, scalars of shared memory per block and per element.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) registers: usize,
    pub(crate) block: usize,
    pub(crate) element: usize,
}

/// The law, group and part for which kernels are built.
pub(crate) struct Setting<'a, T: PackScalar> {
    pub(crate) law: &'a LawText,
    pub(crate) group: &'a Group<T>,
    pub(crate) part: &'a Part<T>,
}

impl<T: PackScalar> Clone for Setting<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: PackScalar> Copy for Setting<'_, T> {}

impl<T: PackScalar> Setting<'_, T> {
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::new(self.group, self.part)
    }

    /// Weight of the liftings on their own faces, as the macro `ETA`.
    pub(crate) fn eta(&self) -> String {
        format!("{:?}", penalty(self.group.shape, self.law.lifts.and_then(|lifts| lifts.eta)))
    }

    fn text(&self, file: File) -> String {
        let headers: String = file.headers.iter().map(|header| format!("#include \"{header}\"\n")).collect();
        format!("{}{headers}#line 1 \"{}\"\n{}", self.law.preamble(), file.name, file.text)
    }

    /// A text with the macros of `sizes`.
    pub(crate) fn with_sizes(&self, file: File, sizes: &Sizes) -> Source {
        let source = sizes.define(with_headers::<T>(file.name, &self.text(file)), &self.group.face_offsets);
        self.with_source(source)
    }

    /// As [`with_sizes`](Self::with_sizes), with arithmetic in double precision for any stored precision.
    pub(crate) fn wide_with_sizes(&self, file: File, sizes: &Sizes) -> Source {
        let source =
            sizes.define(wide_with_headers::<T>(file.name, &self.text(file)), &self.group.face_offsets);
        self.with_source(source)
    }

    /// With the macro SOURCE where the residual's kernel adds rows of a source; with diffusion the first pass
    /// adds them where there are any.
    fn with_source(&self, source: Source) -> Source {
        let adds = self.law.source && self.law.lifts.is_none();
        if adds { source.define("SOURCE", 1) } else { source }
    }

    /// Builds the kernel with `blocks` per multiprocessor; `None` if it does not fit the device.
    pub(crate) fn kernel(&self, file: File, block: Block, blocks: usize) -> Option<KernelText> {
        let Block { elements, threads, shared } = block;
        let source =
            self.with_sizes(file, &self.sizes()).define("ELEMENTS", elements).define("BLOCKS", blocks);
        let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
        block.fits().then(|| KernelText::new(source, shape, false))
    }

    /// Builds a kernel with one thread for each volume point, about `threads` per block; `None` if it does
    /// not fit the device.
    pub(crate) fn kernel_of_points(&self, file: File, threads: usize, room: Room) -> Option<KernelText> {
        let block = Block::near(self.part.n_points, threads).room::<T>(room.block, room.element);
        let blocks = block.by_registers(room.registers).min(block.by_room());
        self.kernel(file, block, blocks.clamp(1, MOST_BLOCKS_OF_POINTS))
    }
}

/// A list as the initialiser of an array.
pub(crate) fn list(entries: impl IntoIterator<Item = impl ToString>) -> String {
    let entries: Vec<String> = entries.into_iter().map(|x| x.to_string()).collect();
    format!("{{{}}}", entries.join(","))
}
