//! The scalars of conjugate gradients in device memory: launches of `pcg.cu`.

use std::sync::Arc;

use dgsuite_gpu::cuda::{
    Args, Cuda, CudaSummation, DeviceBuffer, EXACT_HEADER, Function, Graph, LaunchConfig, PinnedBuffer,
    REDUCE_HEADER, Source,
};
use dgsuite_gpu::{CudaVector, ExactSum, GpuError, Vector};

use crate::pcg::scalars::{
    CURVATURE, CgScalars, KrylovPart, KrylovVector, PRODUCT, Progress, RESIDUAL, Status,
};
use crate::pcg::{DIVERGENCE, Reference, SMALLEST, Stop};

type V = CudaVector<f64>;

/// Threads of a block, entries of a leaf, entries of a block of updates, and threads that join leaves
/// (`THREADS`, `LEAF`, `THREADS * UNROLL`, `JOINED` of pcg.cu and reduce.cuh).
const THREADS: u32 = 256;
const LEAF: usize = 4096;
const UPDATE: usize = 1024;
const JOINED: u32 = 1024;

/// Largest number of parts of a vector, and of sums at a time.
const PARTS: usize = 4;
const PAIRS: usize = 12;

/// Places of numbers in the slots, as in pcg.cu.
mod slot {
    pub(super) const TARGET: usize = 0;
    pub(super) const FIRST: usize = 1;
    pub(super) const STATUS: usize = 6;
    pub(super) const VALUE: usize = 7;
    pub(super) const COUNT: usize = 8;
    pub(super) const TRUE_RESIDUAL: usize = 9;
    pub(super) const HISTORY: usize = 24;
    pub(super) const ALL: usize = HISTORY + 256;
}

/// What follows a sum, as in pcg.cu.
#[derive(Clone, Copy)]
#[repr(u32)]
enum After {
    Begin,
    Start,
    Step,
    Turn,
    Confirm,
    Remove,
}

/// Numbers for what follows: `relative`, `absolute`, `limit` and a flag.
#[derive(Clone, Copy, Default)]
struct Numbers {
    relative: f64,
    absolute: f64,
    limit: f64,
    flag: bool,
}

/// Addresses of pairs of vectors, with the layout of pcg.cu.
#[derive(Clone, Copy)]
#[repr(C)]
struct Pairs {
    x: [u64; PAIRS],
    y: [u64; PAIRS],
}

/// Addresses of vectors that a kernel changes.
#[derive(Clone, Copy)]
#[repr(C)]
struct Vectors([u64; PARTS]);

pub(super) fn own_source() -> Source {
    // As on the host, a product is rounded before it is added.
    let source = Source::new("pcg.cu", include_str!("pcg.cu")).exact();
    source.header(REDUCE_HEADER.0, REDUCE_HEADER.1).header(EXACT_HEADER.0, EXACT_HEADER.1)
}

impl KrylovVector for V {
    type Part = Self;

    fn parts(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn parts_mut(&mut self) -> &mut [Self] {
        std::slice::from_mut(self)
    }
}

impl KrylovPart for V {
    type Scalars = CudaScalars;
    type Recording = Graph;

    fn record(&self, work: &mut dyn FnMut()) -> Option<Graph> {
        let cuda = self.cuda();
        if self.summation().is_some_and(|summation| !summation.is_recordable()) {
            return None;
        }
        // An earlier failure does not belong to the recording.
        let earlier = cuda.take_failure();
        let recorded = cuda.capture(|_| {
            work();
            cuda.take_failure()
        });
        cuda.note(earlier);
        recorded.ok()
    }

    fn replay(&self, recording: &Graph) {
        self.cuda().note(recording.launch());
    }
}

/// The scalars of a solve on a device. Nothing waits but [`read`](CgScalars::read).
pub struct CudaScalars {
    cuda: Cuda,
    dots: Function,
    add_and_square: Function,
    remove: Function,
    step_and_turn: Function,
    join: Function,
    rewind: Function,
    /// How vectors are summed by items, if they are.
    by_items: Option<ByItems>,
    slots: DeviceBuffer<f64>,
    shown: PinnedBuffer<f64>,
    partial: DeviceBuffer<f64>,
    args: Args,
    len: usize,
    parts: usize,
    /// Whether the squares of the last residual are the first partial sums.
    squared: bool,
}

/// Sums by items, with the accumulators of each pair.
struct ByItems {
    summation: Arc<CudaSummation>,
    dots: Function,
    add_and_square: Function,
    join: Function,
    words: DeviceBuffer<i64>,
}

impl CudaScalars {
    fn blocks(&self) -> u32 {
        // An empty vector has one empty block.
        self.len.div_ceil(LEAF).max(1) as u32
    }

    fn config(&self, blocks: u32, rows: usize) -> LaunchConfig {
        let mut config = LaunchConfig::new(blocks, THREADS);
        config.grid[1] = rows as u32;
        config
    }

    fn pairs(lists: &[(&[V], &[V])]) -> (Pairs, usize) {
        let mut pairs = Pairs { x: [0; PAIRS], y: [0; PAIRS] };
        let all = lists.iter().flat_map(|(x, y)| x.iter().zip(*y));
        let mut n = 0;
        for (place, (x, y)) in all.enumerate() {
            (pairs.x[place], pairs.y[place]) = (x.buffer().ptr(), y.buffer().ptr());
            n = place + 1;
        }
        (pairs, n)
    }

    fn vectors(of: &[V]) -> Vectors {
        let mut addresses = [0; PARTS];
        for (place, v) in of.iter().enumerate() {
            addresses[place] = v.buffer().ptr();
        }
        Vectors(addresses)
    }

    /// Sums the products of pairs of lists, behind `before` rows of partial sums that are there, and
    /// continues with the sums.
    fn sums(
        &mut self,
        before: usize,
        lists: &[(&[V], &[V])],
        after: After,
        numbers: Numbers,
    ) -> Result<(), GpuError> {
        let (pairs, n) = Self::pairs(lists);
        if self.by_items.is_some() {
            return self.exact_sums(before, (pairs, n), after, numbers);
        }
        let blocks = self.blocks();
        self.args.clear();
        self.args.value(pairs).pointer(self.partial.ptr_at(before * blocks as usize)).value(self.len as u64);
        // SAFETY: the arguments are those of the kernel; all vectors have the length of the prototype, and
        // there is room for the partial sums of so many pairs.
        unsafe { self.cuda.launch(&self.dots, self.config(blocks, n), &self.args)? };
        self.args.clear();
        self.args.buffer(&self.partial).value(blocks).value((before + n) as u32);
        Self::go_on(&mut self.args, &self.slots, after, self.parts, numbers);
        // SAFETY: as above; the slots have room for the sums.
        unsafe { self.cuda.launch(&self.join, LaunchConfig::new(1, JOINED), &self.args) }
    }

    /// As [`sums`](Self::sums), by items.
    fn exact_sums(
        &mut self,
        before: usize,
        (pairs, n): (Pairs, usize),
        after: After,
        numbers: Numbers,
    ) -> Result<(), GpuError> {
        let Self { cuda, by_items, args, slots, parts, .. } = self;
        let Some(ByItems { summation, dots, join, words, .. }) = by_items else { return Ok(()) };
        let (lists, config) = summation.launch(false, n);
        args.clear();
        args.value(pairs).value(lists).pointer(words.ptr_at(before * ExactSum::WORDS));
        // SAFETY: the arguments are those of the kernel; all vectors have the length of the prototype, and
        // there are accumulators for so many pairs.
        unsafe { cuda.launch(dots, config, args)? };
        summation.over_ranks(words, before + n)?;
        args.clear();
        args.buffer(words).value((before + n) as u32);
        Self::go_on(args, slots, after, *parts, numbers);
        // SAFETY: as above; the slots have room for the sums.
        unsafe { cuda.launch(join, LaunchConfig::new(1, THREADS), args) }
    }

    /// The arguments of what follows the sums.
    fn go_on(args: &mut Args, slots: &DeviceBuffer<f64>, after: After, parts: usize, numbers: Numbers) {
        args.buffer(slots).value(after as u32).value(parts as u32);
        args.value(numbers.relative).value(numbers.absolute).value(numbers.limit);
        args.value(u32::from(numbers.flag));
    }

    /// Waits for the device, with several ranks until the communicator's deadline.
    fn wait(&self) -> Result<(), GpuError> {
        match &self.by_items {
            Some(by) => by.summation.wait(),
            None => self.cuda.stream().synchronize(),
        }
    }

    fn note(&self, done: Result<(), GpuError>) {
        self.cuda.note(done);
    }
}

impl CgScalars<V> for CudaScalars {
    /// # Panics
    /// If there are no parts, or more than four.
    fn new(prototype: &[V]) -> Result<Self, GpuError> {
        assert!((1..=PARTS).contains(&prototype.len()), "vectors of one to {PARTS} parts");
        let (cuda, len, parts) = (prototype[0].cuda().clone(), prototype[0].len(), prototype.len());
        let module = cuda.compile(&own_source())?;
        let leaves = len.div_ceil(LEAF).max(1);
        let by_items = |summation: &Arc<CudaSummation>| -> Result<ByItems, GpuError> {
            Ok(ByItems {
                summation: Arc::clone(summation),
                dots: module.function("pcg_exact_dots")?,
                add_and_square: module.function("pcg_exact_add_and_square")?,
                join: module.function("pcg_exact_join")?,
                words: DeviceBuffer::zeros(&cuda, "exact sums", ExactSum::WORDS * 3 * parts)?,
            })
        };
        Ok(Self {
            by_items: prototype[0].summation().map(by_items).transpose()?,
            dots: module.function("pcg_dots")?,
            add_and_square: module.function("pcg_add_and_square")?,
            remove: module.function("pcg_remove")?,
            step_and_turn: module.function("pcg_step_and_turn")?,
            join: module.function("pcg_join")?,
            rewind: module.function("pcg_rewind")?,
            slots: DeviceBuffer::zeros(&cuda, "scalars", slot::ALL)?,
            shown: PinnedBuffer::zeros(&cuda, slot::ALL)?,
            partial: DeviceBuffer::zeros(&cuda, "partial sums", leaves * 3 * parts)?,
            args: Args::new(),
            cuda,
            len,
            parts,
            squared: false,
        })
    }

    fn begin(&mut self, r: &[V], b: Option<&[V]>, stop: &Stop) {
        let b = b.filter(|_| stop.reference == Reference::RightHandSide);
        let numbers =
            Numbers { relative: stop.relative, absolute: stop.absolute, limit: SMALLEST, flag: b.is_some() };
        let mut lists = vec![(r, r)];
        lists.extend(b.map(|b| (b, b)));
        let done = self.sums(0, &lists, After::Begin, numbers);
        self.note(done);
    }

    fn rewind(&mut self, revive: bool) {
        self.args.clear();
        self.args.buffer(&self.slots).value(u32::from(revive));
        // SAFETY: the arguments are those of the kernel.
        let done = unsafe { self.cuda.launch(&self.rewind, LaunchConfig::new(1, 1), &self.args) };
        self.note(done);
    }

    fn start(&mut self, r: &[V], z: &[V]) {
        let done = self.sums(0, &[(r, z)], After::Start, Numbers::default());
        self.note(done);
    }

    fn step(&mut self, p: &[V], q: &[V]) {
        let done = self.sums(0, &[(p, q)], After::Step, Numbers::default());
        self.note(done);
    }

    fn step_residual(&mut self, r: &mut [V], q: &[V], null: Option<&[V]>) {
        let (from, _) = Self::pairs(&[(q, q)]);
        let (blocks, rows) = (self.blocks(), self.parts);
        self.args.clear();
        self.args.value(Self::vectors(r)).value(from).buffer(&self.slots);
        let (kernel, config) = match &self.by_items {
            Some(by) => {
                // Without the null space's part the squares are of no use.
                let (lists, config) = by.summation.launch(true, rows);
                let lists = if null.is_some() { lists.uncounted() } else { lists };
                self.args.value(lists).buffer(&by.words);
                (&by.add_and_square, config)
            }
            None => {
                self.args.buffer(&self.partial).value(self.len as u64);
                (&self.add_and_square, self.config(blocks, rows))
            }
        };
        // SAFETY: the arguments are those of the kernel, and all vectors have the length of the prototype.
        let done = unsafe { self.cuda.launch(kernel, config, &self.args) };
        self.note(done);
        // Partial sums are joined with those of `turn`.
        self.squared = null.is_none();
        if let Some(n) = null {
            self.remove(n, r);
        }
    }

    fn turn(&mut self, x: &mut [V], p: &mut [V], z: &[V], r: &[V], q: &[V], flexible: bool) {
        let numbers = Numbers { limit: DIVERGENCE, flag: flexible, ..Numbers::default() };
        let mut lists: Vec<(&[V], &[V])> = Vec::with_capacity(3);
        let before = if self.squared { self.parts } else { 0 };
        lists.extend((!self.squared).then_some((r, r)));
        lists.push((r, z));
        lists.extend(flexible.then_some((z, q)));
        let done = self.sums(before, &lists, After::Turn, numbers);
        self.note(done);
        let (from, _) = Self::pairs(&[(z, z)]);
        self.args.clear();
        self.args.value(Self::vectors(p)).value(Self::vectors(x)).value(from).buffer(&self.slots);
        self.args.value(self.len as u64);
        let config = self.config(self.len.div_ceil(UPDATE) as u32, self.parts);
        // SAFETY: as above.
        let done = unsafe { self.cuda.launch(&self.step_and_turn, config, &self.args) };
        self.note(done);
    }

    /// The last step is a part of [`turn`](Self::turn).
    fn finish(&mut self, _: &mut [V], _: &[V]) {}

    fn remove(&mut self, n: &[V], v: &mut [V]) {
        let done = self.sums(0, &[(v, n)], After::Remove, Numbers::default());
        self.note(done);
        let (from, _) = Self::pairs(&[(n, n)]);
        self.args.clear();
        self.args.value(Self::vectors(v)).value(from).buffer(&self.slots).value(self.len as u64);
        let config = self.config(self.len.div_ceil(UPDATE) as u32, self.parts);
        // SAFETY: as above.
        let done = unsafe { self.cuda.launch(&self.remove, config, &self.args) };
        self.note(done);
    }

    fn confirm(&mut self, r: &[V]) {
        let done = self.sums(0, &[(r, r)], After::Confirm, Numbers::default());
        self.note(done);
    }

    fn over(&self) -> Option<bool> {
        None
    }

    fn looks_ahead(&self, most: usize) -> bool {
        let longest = self.by_items.as_ref().map_or(self.len, |by| by.summation.longest());
        self.parts * longest <= most
    }

    fn read(&mut self) -> Progress {
        let mut read = || {
            // SAFETY: the next line waits for the copy.
            unsafe { self.slots.download_async(0, &mut self.shown, self.cuda.stream())? };
            self.wait()
        };
        let done = read();
        // Numbers are those of a solve that failed, if they are not known.
        if done.is_err() {
            self.shown.fill(f64::NAN);
        }
        self.note(done);
        let shown = &self.shown;
        let count = shown[slot::COUNT] as usize;
        Progress {
            status: status(shown[slot::STATUS]),
            value: shown[slot::VALUE],
            target: shown[slot::TARGET],
            first: shown[slot::FIRST],
            residuals: shown[slot::HISTORY..].iter().copied().take(count).collect(),
            true_residual: shown[slot::TRUE_RESIDUAL],
        }
    }
}

/// The state of this number, as in pcg.cu. A number that could not be read is a first residual to be refused.
fn status(number: f64) -> Status {
    const ALL: [Status; 9] = [
        Status::Alive,
        Status::Converged,
        Status::NotPositive,
        Status::NotFinite(CURVATURE),
        Status::NotFinite(RESIDUAL),
        Status::Diverged,
        Status::NotFinite(PRODUCT),
        Status::ProductNotPositive,
        Status::FirstRefused,
    ];
    let known = (number >= 0.0).then(|| ALL.get(number as usize)).flatten();
    known.copied().unwrap_or(Status::NotFinite(RESIDUAL))
}
