//! Vectors on a device: the same operations in the same order as on the host, so that the bits agree.

mod summation;

pub(crate) use summation::exact_source;
pub use summation::{CudaItems, CudaSummation, EXACT_HEADER, ItemLists};

use std::slice::{from_mut, from_ref};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Vector;
use crate::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, PinnedBuffer, Source};
use crate::{Backend, GpuError, Scalar};

/// Threads per block, and entries that a block updates (`THREADS`, `THREADS * UNROLL` of update.cu).
const UPDATE: (u32, usize) = (256, 1024);
/// Threads per block, and entries that a block reduces (`THREADS`, `LEAF` of reduce.cu).
const REDUCE: (u32, usize) = (256, super::reduce::LEAF);
/// Threads that combine the results of blocks, at most the square of this number of results (`JOINED` of
/// reduce.cu).
const JOINED: u32 = 1024;
/// Largest number of reductions with a common wait, and of those of one launch.
const TOGETHER: usize = 16;
/// Largest number of terms of one launch of `lincomb`.
const TERMS: usize = 8;
/// Largest number of vectors that one launch changes (`PARTS` of update.cu).
const PARTS: usize = 4;

/// The header `reduce.cuh`: reductions over the tree of all reductions, for kernels of other crates. With it
/// a text defines `real`, and blocks have 256 threads for leaves of 4096 entries, or 1024 to join them.
pub const REDUCE_HEADER: (&str, &str) = ("reduce.cuh", include_str!("reduce.cuh"));

/// The kernels of one number type.
fn sources<T: Scalar>() -> [Source; 3] {
    // As on the host, a product is rounded before it is added.
    let [update, reduce] =
        [("update.cu", include_str!("update.cu")), ("reduce.cu", include_str!("reduce.cu"))].map(
            |(name, text)| {
                let source = Source::new(name, text).exact().header(REDUCE_HEADER.0, REDUCE_HEADER.1);
                if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
            },
        );
    [update, reduce, exact_source::<T>()]
}

/// The vectors of one launch, with the layout of update.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct Vectors([u64; PARTS]);

impl Vectors {
    fn of<T: Scalar>(some: &[CudaVector<T>]) -> Self {
        let mut vectors = Self([0; PARTS]);
        vectors.0.iter_mut().zip(some).for_each(|(at, x)| *at = x.data.ptr());
        vectors
    }
}

/// The terms of one launch, with the layout of update.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct Terms {
    x: [[u64; PARTS]; TERMS],
    c: [f64; TERMS],
    n: u32,
}

/// The pairs of one launch, with the layout of reduce.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct Pairs {
    x: [u64; TOGETHER],
    y: [u64; TOGETHER],
}

impl Pairs {
    fn of<T: Scalar>(some: &[(&CudaVector<T>, &CudaVector<T>)]) -> Self {
        let mut pairs = Self { x: [0; TOGETHER], y: [0; TOGETHER] };
        for (k, (x, y)) in some.iter().enumerate() {
            (pairs.x[k], pairs.y[k]) = (x.data.ptr(), y.data.ptr());
        }
        pairs
    }
}

/// Compiled kernels of one number type and the memory of reductions.
pub(crate) struct Kernels {
    fill: Function,
    axpby: Function,
    add_product: Function,
    lincomb: Function,
    step_and_turn: Function,
    dot: [Function; 2],
    dots: [Function; 2],
    dot_two: [Function; 2],
    add_and_square: [Function; 2],
    sum: [Function; 2],
    max: [Function; 2],
    exact: Exact,
    /// Locked from the first to the last launch of an operation, so that the operations of two threads do not
    /// mix.
    work: Mutex<Work>,
}

/// The kernels of sums over items.
struct Exact {
    dots: Function,
    sums: Function,
    add_and_square: Function,
    round: Function,
}

/// The work space of an operation.
struct Work {
    args: Args,
    /// One result for each block; a compensated sum has two numbers.
    partial: DeviceBuffer<[f64; 2]>,
    /// Those of several sums at a time, which are never recorded.
    of_pairs: DeviceBuffer<f64>,
    result: DeviceBuffer<f64>,
    shown: PinnedBuffer<f64>,
}

impl Kernels {
    pub(crate) fn new<T: Scalar>(cuda: &Cuda) -> Result<Self, GpuError> {
        let [update, reduce, exact] = sources::<T>();
        let (update, reduce, exact) = (cuda.compile(&update)?, cuda.compile(&reduce)?, cuda.compile(&exact)?);
        let pair = |a, b| Ok::<_, GpuError>([reduce.function(a)?, reduce.function(b)?]);
        Ok(Self {
            fill: update.function("fill")?,
            axpby: update.function("axpby")?,
            add_product: update.function("add_product")?,
            lincomb: update.function("lincomb")?,
            step_and_turn: update.function("step_and_turn")?,
            dot: pair("dot_blocks", "dot_join")?,
            dots: pair("dots_blocks", "dot_join")?,
            dot_two: pair("dot_two_blocks", "dot_join")?,
            add_and_square: pair("add_and_square_blocks", "dot_join")?,
            sum: pair("sum_blocks", "sum_join")?,
            max: pair("max_blocks", "max_join")?,
            exact: Exact {
                dots: exact.function("exact_dots")?,
                sums: exact.function("exact_sums")?,
                add_and_square: exact.function("exact_add_and_square")?,
                round: exact.function("exact_round")?,
            },
            work: Mutex::new(Work {
                args: Args::new(),
                partial: DeviceBuffer::zeros(cuda, "partial sums", 64)?,
                of_pairs: DeviceBuffer::zeros(cuda, "partial sums", 0)?,
                result: DeviceBuffer::zeros(cuda, "sums", TOGETHER)?,
                shown: PinnedBuffer::zeros(cuda, TOGETHER)?,
            }),
        })
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates the partial results for vectors of `len` entries, so that no reduction has to.
    fn reserve(&self, cuda: &Cuda, len: usize) -> Result<(), GpuError> {
        let blocks = len.div_ceil(REDUCE.1);
        let mut work = self.work();
        if blocks > work.partial.len() {
            // Current work may still use the old ones; they are freed when it has ended.
            work.partial = DeviceBuffer::zeros(cuda, "partial sums", blocks.next_power_of_two())?;
        }
        Ok(())
    }
}

/// A vector in the memory of a device.
///
/// Updates return at once and run in the order of the device's main stream. A failure is stored and returned
/// by the next [`Backend::download`]; until then reductions give NaN. Updates (but not reductions that return
/// a number) can be recorded in a graph.
pub struct CudaVector<T: Scalar> {
    data: DeviceBuffer<T>,
    cuda: Cuda,
    kernels: Arc<Kernels>,
    /// How the vector is summed, if not over the tree.
    summation: Option<Arc<CudaSummation>>,
}

impl<T: Scalar> CudaVector<T> {
    /// The kernel texts of all operations, for [`Cuda::compile_ahead`].
    pub fn sources() -> Vec<Source> {
        sources::<T>().into()
    }

    /// `len` zeros.
    ///
    /// # Errors
    /// [`GpuError::OutOfDeviceMemory`], at the first call the errors of [`Cuda::compile`], or a failure of
    /// the driver.
    pub fn zeros(cuda: &Cuda, len: usize) -> Result<Self, GpuError> {
        Self::from_buffer(cuda, DeviceBuffer::zeros(cuda, "a vector", len)?)
    }

    /// A vector that takes ownership of a buffer.
    ///
    /// # Errors
    /// As for [`zeros`](Self::zeros).
    pub fn from_buffer(cuda: &Cuda, data: DeviceBuffer<T>) -> Result<Self, GpuError> {
        let kernels = cuda.vector_kernels::<T>()?;
        kernels.reserve(cuda, data.len())?;
        Ok(Self { data, cuda: cuda.clone(), kernels, summation: None })
    }

    /// The vector with sums by the items of its entries, over all ranks. Vectors that are made like it have
    /// the same. All vectors of an operation must be summed alike.
    ///
    /// # Panics
    /// If the summation is for vectors of another length.
    #[must_use]
    #[track_caller]
    pub fn summed_by(mut self, summation: Arc<CudaSummation>) -> Self {
        assert_eq!(self.data.len(), summation.len(), "a summation for vectors of this length");
        self.summation = Some(summation);
        self
    }

    /// How the vector is summed by items, if it is.
    pub fn summation(&self) -> Option<&Arc<CudaSummation>> {
        self.summation.as_ref()
    }

    /// The entries.
    pub fn buffer(&self) -> &DeviceBuffer<T> {
        &self.data
    }

    /// The entries, mutable.
    pub fn buffer_mut(&mut self) -> &mut DeviceBuffer<T> {
        &mut self.data
    }

    /// The device that works on this vector.
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Writes `Σ_i self_i x_i` to entry `at` of `result`, without waiting. Over the tree and this
    /// vector's entries, also if other sums go by items and over ranks.
    ///
    /// # Errors
    /// The errors of a launch.
    ///
    /// # Panics
    /// If the lengths differ, or `result` has no entry `at`.
    #[track_caller]
    pub fn dot_into(&self, x: &Self, result: &mut DeviceBuffer<f64>, at: usize) -> Result<(), GpuError> {
        self.same_length(x);
        assert!(at < result.len(), "the result needs an entry");
        self.reduce(&mut self.kernels.work(), &self.kernels.dot, &[&self.data, &x.data], result.ptr_at(at))
    }

    /// Writes `Σ_i self_i` to entry `at` of `result`, without waiting. Over the tree and this
    /// vector's entries, also if other sums go by items and over ranks.
    ///
    /// # Errors
    /// The errors of a launch.
    ///
    /// # Panics
    /// If `result` has no entry `at`.
    #[track_caller]
    pub fn sum_into(&self, result: &mut DeviceBuffer<f64>, at: usize) -> Result<(), GpuError> {
        assert!(at < result.len(), "the result needs an entry");
        self.reduce(&mut self.kernels.work(), &self.kernels.sum, &[&self.data], result.ptr_at(at))
    }

    /// Writes `max_i |self_i|` to entry `at` of `result`, without waiting; NaN if any entry is NaN. Over all
    /// ranks, if the vector is summed over them.
    ///
    /// # Errors
    /// The errors of a launch.
    ///
    /// # Panics
    /// If `result` has no entry `at`.
    #[track_caller]
    pub fn norm_max_into(&self, result: &mut DeviceBuffer<f64>, at: usize) -> Result<(), GpuError> {
        assert!(at < result.len(), "the result needs an entry");
        self.reduce(&mut self.kernels.work(), &self.kernels.max, &[&self.data], result.ptr_at(at))?;
        match self.summation.as_ref().and_then(|summation| summation.ranks()) {
            Some(ranks) => ranks.largest(result, at),
            None => Ok(()),
        }
    }

    /// The sums of pairs, by items.
    fn exact_dots<const N: usize>(&self, by: &CudaSummation, some: &[(&Self, &Self)]) -> [f64; N] {
        let pairs = Pairs::of(some);
        let (lists, config) = by.launch(false, some.len());
        by.sums(&self.kernels.exact.round, some.len(), |work| {
            work.args.clear();
            work.args.value(pairs).value(lists).buffer(&work.words);
            // SAFETY: the arguments match the kernel; all vectors have the length of the summation, which has
            // an accumulator for each pair.
            unsafe { self.cuda.launch(&self.kernels.exact.dots, config, &work.args) }
        })
    }

    /// The two launches of a reduction: blocks, then their results.
    fn reduce(
        &self,
        work: &mut Work,
        kernels: &[Function; 2],
        vectors: &[&DeviceBuffer<T>],
        result: u64,
    ) -> Result<(), GpuError> {
        self.reduce_with(work, kernels, 1, result, |args| {
            for vector in vectors {
                args.buffer(vector);
            }
        })
    }

    /// As [`reduce`](Self::reduce) for `sums` sums, which are written one after the other; `arguments`
    /// precede the others.
    fn reduce_with(
        &self,
        work: &mut Work,
        kernels: &[Function; 2],
        sums: u32,
        result: u64,
        arguments: impl FnOnce(&mut Args),
    ) -> Result<(), GpuError> {
        // An empty vector has one empty block.
        let blocks = self.data.len().div_ceil(REDUCE.1).max(1) as u32;
        let Work { args, partial, .. } = work;
        args.clear();
        arguments(args);
        args.buffer(partial).value(self.data.len() as u64);
        // SAFETY: the arguments match the kernel; `reserve` allocated two numbers for each block of this
        // length.
        unsafe { self.cuda.launch(&kernels[0], LaunchConfig::new(blocks, REDUCE.0), args)? };
        args.clear();
        args.buffer(partial).value(blocks).pointer(result);
        // SAFETY: as above; the caller provides memory for the results.
        unsafe { self.cuda.launch(&kernels[1], LaunchConfig::new(sums, JOINED), args) }
    }

    /// A reduction that waits for its result.
    fn reduced(&self, kernels: &[Function; 2], vectors: &[&DeviceBuffer<T>]) -> f64 {
        let [value] = self.all_reduced(kernels, |args| {
            for vector in vectors {
                args.buffer(vector);
            }
        });
        value
    }

    /// A reduction to `N` sums, at most [`TOGETHER`], that waits for them.
    fn all_reduced<const N: usize>(
        &self,
        kernels: &[Function; 2],
        arguments: impl FnOnce(&mut Args),
    ) -> [f64; N] {
        const { assert!(N <= TOGETHER, "there is room for so many results") };
        let mut work = self.kernels.work();
        let place = work.result.ptr_at(0);
        let reduced = self.reduce_with(&mut work, kernels, N as u32, place, arguments);
        self.shown(&mut work, reduced)
    }

    /// The first `N` results, after a wait; NaN if the work failed.
    fn shown<const N: usize>(&self, work: &mut Work, reduced: Result<(), GpuError>) -> [f64; N] {
        let Work { result, shown, .. } = work;
        let wait = || {
            reduced?;
            // SAFETY: the next line waits for the copy.
            unsafe { result.download_async(0, shown, self.cuda.stream())? };
            self.cuda.stream().synchronize()
        };
        let waited = wait();
        let failed = waited.is_err();
        self.cuda.note(waited);
        if failed { [f64::NAN; N] } else { std::array::from_fn(|k| shown[k]) }
    }

    /// The sums of up to [`TOGETHER`] pairs.
    fn some_dots(&self, some: &[(&Self, &Self)]) -> [f64; TOGETHER] {
        if let Some(by) = &self.summation {
            return self.exact_dots(by, some);
        }
        let pairs = Pairs::of(some);
        let mut work = self.kernels.work();
        let blocks = self.data.len().div_ceil(REDUCE.1).max(1);
        let reduced = self.launch_dots(&mut work, pairs, blocks, some.len());
        self.shown(&mut work, reduced)
    }

    /// The launches of the sums of `n` pairs, whose results follow each other.
    fn launch_dots(&self, work: &mut Work, pairs: Pairs, blocks: usize, n: usize) -> Result<(), GpuError> {
        if blocks * n > work.of_pairs.len() {
            work.of_pairs =
                DeviceBuffer::zeros(&self.cuda, "partial sums", (blocks * n).next_power_of_two())?;
        }
        let place = work.result.ptr_at(0);
        let Work { args, of_pairs, .. } = work;
        args.clear();
        args.value(pairs).buffer(of_pairs).value(self.data.len() as u64);
        let mut config = LaunchConfig::new(blocks as u32, REDUCE.0);
        config.grid[1] = n as u32;
        // SAFETY: the arguments match the kernel; all vectors have this length, and there is room for a
        // number of each block and pair.
        unsafe { self.cuda.launch(&self.kernels.dots[0], config, args)? };
        args.clear();
        args.buffer(of_pairs).value(blocks as u32).pointer(place);
        // SAFETY: as above; there is room for the results.
        unsafe { self.cuda.launch(&self.kernels.dots[1], LaunchConfig::new(n as u32, JOINED), args) }
    }

    /// One launch over all entries; `arguments` precede the number of entries.
    fn update(&self, kernel: &Function, arguments: impl FnOnce(&mut Args)) {
        self.update_rows(kernel, 1, arguments);
    }

    /// One launch over all entries of this number of vectors of equal length.
    fn update_rows(&self, kernel: &Function, rows: usize, arguments: impl FnOnce(&mut Args)) {
        let mut work = self.kernels.work();
        work.args.clear();
        arguments(&mut work.args);
        work.args.value(self.data.len() as u64);
        let mut config = LaunchConfig::new(self.data.len().div_ceil(UPDATE.1) as u32, UPDATE.0);
        config.grid[1] = rows as u32;
        // SAFETY: the arguments match the kernels of update.cu, all vectors have this length, and the driver
        // frees none of them before the launch has ended.
        self.cuda.note(unsafe { self.cuda.launch(kernel, config, &work.args) });
    }

    #[track_caller]
    fn same_length(&self, x: &Self) {
        assert_eq!(self.data.len(), x.data.len(), "vectors of one operation must have one length");
    }
}

impl<T: Scalar> Vector for CudaVector<T> {
    type Scalar = T;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn zeros_like(&self) -> Result<Self, GpuError> {
        let zeros = Self::zeros(&self.cuda, self.data.len())?;
        Ok(Self { summation: self.summation.clone(), ..zeros })
    }

    #[track_caller]
    fn copy_from(&mut self, x: &Self) {
        self.same_length(x);
        let copied = self.data.copy_from(&x.data, self.cuda.stream());
        self.cuda.note(copied);
    }

    fn fill(&mut self, value: f64) {
        self.update(&self.kernels.fill, |args| {
            args.buffer(&self.data).value(value);
        });
    }

    #[track_caller]
    fn axpby(&mut self, a: f64, x: &Self, b: f64) {
        Self::axpby_each(from_mut(self), a, from_ref(x), b);
    }

    #[track_caller]
    fn axpby_each(ys: &mut [Self], a: f64, xs: &[Self], b: f64) {
        assert_eq!(ys.len(), xs.len(), "as many vectors on both sides");
        for (ys, xs) in ys.chunks(PARTS).zip(xs.chunks(PARTS)) {
            ys.iter().chain(xs).for_each(|x| ys[0].same_length(x));
            ys[0].update_rows(&ys[0].kernels.axpby, ys.len(), |args| {
                args.value(Vectors::of(ys)).value(a).value(Vectors::of(xs)).value(b);
            });
        }
    }

    #[track_caller]
    fn lincomb(&mut self, b: f64, terms: &[(f64, &Self)]) {
        let terms: Vec<(f64, &[Self])> = terms.iter().map(|(c, x)| (*c, from_ref(*x))).collect();
        Self::lincomb_each(from_mut(self), b, &terms);
    }

    #[track_caller]
    fn lincomb_each(ys: &mut [Self], b: f64, terms: &[(f64, &[Self])]) {
        terms.iter().for_each(|(_, xs)| assert_eq!(ys.len(), xs.len(), "as many vectors in each term"));
        for (number, ys) in ys.chunks(PARTS).enumerate() {
            let of = |xs: &'_ [Self]| -> Vectors {
                let xs = &xs[number * PARTS..][..ys.len()];
                ys.iter().chain(xs).for_each(|x| ys[0].same_length(x));
                Vectors::of(xs)
            };
            // At least one launch, so that the old value is multiplied even without terms.
            let mut b = b;
            for first in (0..terms.len().max(1)).step_by(TERMS) {
                let some = &terms[first..terms.len().min(first + TERMS)];
                let mut list = Terms { x: [[0; PARTS]; TERMS], c: [0.0; TERMS], n: some.len() as u32 };
                for (k, (c, xs)) in some.iter().enumerate() {
                    (list.x[k], list.c[k]) = (of(xs).0, *c);
                }
                ys[0].update_rows(&ys[0].kernels.lincomb, ys.len(), |args| {
                    args.value(Vectors::of(ys)).value(b).value(list);
                });
                // The vectors now contain the sum so far.
                b = 1.0;
            }
        }
    }

    #[track_caller]
    fn add_product(&mut self, a: f64, x: &Self, y: &Self, b: f64) {
        self.same_length(x);
        self.same_length(y);
        self.update(&self.kernels.add_product, |args| {
            args.buffer(&self.data).value(a).buffer(&x.data).buffer(&y.data).value(b);
        });
    }

    #[track_caller]
    fn dot(&self, x: &Self) -> f64 {
        self.same_length(x);
        match &self.summation {
            Some(by) => self.exact_dots::<1>(by, &[(self, x)])[0],
            None => self.reduced(&self.kernels.dot, &[&self.data, &x.data]),
        }
    }

    #[track_caller]
    fn dot_two(&self, x: &Self, y: &Self) -> [f64; 2] {
        self.same_length(x);
        self.same_length(y);
        if let Some(by) = &self.summation {
            return self.exact_dots(by, &[(self, x), (self, y)]);
        }
        self.all_reduced(&self.kernels.dot_two, |args| {
            args.buffer(&self.data).buffer(&x.data).buffer(&y.data);
        })
    }

    #[track_caller]
    fn dots(pairs: &[(&Self, &Self)]) -> Vec<f64> {
        let mut sums = Vec::with_capacity(pairs.len());
        for some in pairs.chunks(TOGETHER) {
            let (first, _) = some[0];
            some.iter().flat_map(|(x, y)| [x, y]).for_each(|x| first.same_length(x));
            sums.extend_from_slice(&first.some_dots(some)[..some.len()]);
        }
        sums
    }

    #[track_caller]
    fn add_and_square(&mut self, a: f64, x: &Self) -> f64 {
        self.same_length(x);
        if let Some(by) = &self.summation {
            let (lists, config) = by.launch(true, 1);
            let [square] = by.sums(&self.kernels.exact.round, 1, |work| {
                work.args.clear();
                work.args.buffer(&self.data).value(a).buffer(&x.data).value(lists).buffer(&work.words);
                // SAFETY: the arguments match the kernel; both vectors have the length of the summation.
                unsafe { self.cuda.launch(&self.kernels.exact.add_and_square, config, &work.args) }
            });
            return square;
        }
        let [square] = self.all_reduced(&self.kernels.add_and_square, |args| {
            args.buffer(&self.data).value(a).buffer(&x.data);
        });
        square
    }

    #[track_caller]
    fn step_and_turn(&mut self, a: f64, x: &mut Self, b: f64, y: &Self) {
        self.same_length(x);
        self.same_length(y);
        self.update(&self.kernels.step_and_turn, |args| {
            args.buffer(&self.data).value(a).buffer(&x.data).value(b).buffer(&y.data);
        });
    }

    fn norm_max(&self) -> f64 {
        let ranks = self.summation.as_ref().and_then(|summation| summation.ranks());
        let Some(ranks) = ranks else { return self.reduced(&self.kernels.max, &[&self.data]) };
        let waited = ranks.wait();
        let failed = waited.is_err();
        self.cuda.note(waited);
        let mut largest = [if failed { f64::NAN } else { self.reduced(&self.kernels.max, &[&self.data]) }];
        ranks.joint().max(&mut largest);
        largest[0]
    }

    fn sum(&self) -> f64 {
        let Some(by) = &self.summation else { return self.reduced(&self.kernels.sum, &[&self.data]) };
        let (lists, config) = by.launch(false, 1);
        let [sum] = by.sums(&self.kernels.exact.round, 1, |work| {
            work.args.clear();
            work.args.buffer(&self.data).value(lists).buffer(&work.words);
            // SAFETY: the arguments match the kernel; the vector has the length of the summation.
            unsafe { self.cuda.launch(&self.kernels.exact.sums, config, &work.args) }
        });
        sum
    }
}

impl Backend for Cuda {
    type Vector<T: Scalar> = CudaVector<T>;

    fn describe(&self) -> String {
        self.info().to_string()
    }

    fn zeros<T: Scalar>(&self, len: usize) -> Result<CudaVector<T>, GpuError> {
        CudaVector::zeros(self, len)
    }

    fn upload<T: Scalar>(&self, values: &[T]) -> Result<CudaVector<T>, GpuError> {
        CudaVector::from_buffer(self, DeviceBuffer::from_slice(self, "a vector", values)?)
    }

    fn download<T: Scalar>(&self, vector: &CudaVector<T>, values: &mut [T]) -> Result<(), GpuError> {
        assert_eq!(vector.len(), values.len(), "a vector is copied to a slice of the same length");
        self.take_failure()?;
        vector.data.download(values)
    }
}

#[cfg(test)]
mod tests;
