//! The levels of a hierarchy on a device, and the operations of a cycle on them, as launches without waiting.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{GpuError, Scalar, Vector};

use super::csr::{CudaCsr, Relaxation, THREADS, source};
use crate::amg::cycle::{ENOUGH, Levels};
use crate::amg::host::{HostLevels, Level, Way};

/// Largest number of blocks of the kernels that compute or need sums: four for each multiprocessor of a large
/// device. A fixed number, so that sums are the same on every device.
const BLOCKS: u32 = 512;
/// Warps of a block.
const WARPS: u32 = THREADS / 32;

/// The kernel text of everything except smoothing.
pub(super) fn own_source<T: Scalar>() -> Source {
    source::<T>("cycle.cu", include_str!("cycle.cu")).define("ENOUGH", ENOUGH)
}

/// The kernels of cycle.cu that a cycle consists of.
struct Kernels {
    restrict_residual: Function,
    restrict_by: Function,
    prolongate: Function,
    prolongate_by: Function,
    subtract_product: Function,
    first_sums: Function,
    first_step: Function,
    second_sums: Function,
    solve_directly: Function,
}

/// All levels, the inverse of the coarsest, and the first launch that failed.
pub(super) struct CudaLevels<T: Scalar> {
    cuda: Cuda,
    kernels: Kernels,
    levels: Vec<CudaLevel<T>>,
    inverse: Option<DeviceBuffer<f64>>,
    failure: Option<GpuError>,
}

/// A level. Every kernel that writes `b` also writes the smoother's first step from zero to `x`.
struct CudaLevel<T: Scalar> {
    n: usize,
    /// The matrix and the inverse of its diagonal; `None` where the level is solved directly.
    smoothed: Option<(CudaCsr<T>, DeviceBuffer<T>)>,
    steps: Vec<f64>,
    way: Option<CudaWay<T>>,
    b: DeviceBuffer<T>,
    x: DeviceBuffer<T>,
    y: DeviceBuffer<T>,
    c: DeviceBuffer<T>,
    v: DeviceBuffer<T>,
    /// Sums of [`BLOCKS`] blocks: three of the first direction, one of its residual, three of the second
    /// direction.
    sums: [DeviceBuffer<f64>; 3],
    /// The form in which the next finer level reads this level's solution.
    solution: Solution,
}

/// `Way` on a device.
enum CudaWay<T: Scalar> {
    Aggregates { of_row: DeviceBuffer<u32>, starts: DeviceBuffer<u32>, rows: DeviceBuffer<u32> },
    Stored { p: Box<CudaCsr<T>>, transposed: Box<CudaCsr<T>> },
}

/// The solution of a level, with the numbers of `prolongate` in cycle.cu.
#[derive(Clone, Copy, PartialEq)]
enum Solution {
    Iterate = 0,
    Sum = 1,
    Combination = 2,
}

/// The smoother's first step: `Start` of cycle.cu.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Start {
    inverse_diagonal: u64,
    x: u64,
    beta: f64,
}

impl<T: Scalar> CudaLevels<T> {
    /// Copies the levels of the host.
    pub(super) fn new(cuda: &Cuda, host: &HostLevels<T>) -> Result<Self, GpuError> {
        let module = cuda.compile(&own_source::<T>())?;
        let kernels = Kernels {
            restrict_residual: module.function("restrict_residual")?,
            restrict_by: module.function("restrict_by")?,
            prolongate: module.function("prolongate")?,
            prolongate_by: module.function("prolongate_by")?,
            subtract_product: module.function("subtract_product")?,
            first_sums: module.function("first_sums")?,
            first_step: module.function("first_step")?,
            second_sums: module.function("second_sums")?,
            solve_directly: module.function("solve_directly")?,
        };
        let inverse = match &host.direct {
            Some(direct) => Some(DeviceBuffer::from_slice(cuda, "the coarsest level", direct.entries())?),
            None => None,
        };
        let mut levels = Vec::with_capacity(host.levels.len());
        for (k, level) in host.levels.iter().enumerate() {
            let direct = inverse.is_some() && k + 1 == host.levels.len();
            levels.push(CudaLevel::new(cuda, level, direct)?);
        }
        Ok(Self { cuda: cuda.clone(), kernels, levels, inverse, failure: None })
    }

    /// Rows of the finest level.
    pub(super) fn n_rows(&self) -> usize {
        self.levels[0].n
    }

    /// Address of the right-hand side of the finest level.
    pub(super) fn right_hand_side(&self) -> u64 {
        self.levels[0].b.ptr()
    }

    /// Address of the present iterate of the finest level.
    pub(super) fn iterate(&self) -> u64 {
        self.levels[0].x.ptr()
    }

    /// The smoother's first step on level `k`.
    pub(super) fn start(&self, k: usize) -> Start {
        self.levels[k].start()
    }

    /// Bytes of each level.
    pub(super) fn bytes(&self) -> Vec<usize> {
        let inverse = self.inverse.as_ref().map_or(0, DeviceBuffer::bytes);
        let mut bytes: Vec<usize> = self.levels.iter().map(CudaLevel::bytes).collect();
        if let Some(coarsest) = bytes.last_mut() {
            *coarsest += inverse;
        }
        bytes
    }

    /// The first failure since the last call.
    pub(super) fn take_failure(&mut self) -> Result<(), GpuError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn note(&mut self, result: Result<(), GpuError>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    fn relax(&mut self, k: usize, beta: f64) {
        let CudaLevel { smoothed, b, x, y, .. } = &mut self.levels[k];
        let Some((matrix, inverse_diagonal)) = smoothed else { return };
        let done = matrix.step(beta, &Relaxation { inverse_diagonal, b, x, y });
        std::mem::swap(x, y);
        self.note(done);
    }
}

impl<T: Scalar> CudaLevel<T> {
    fn new(cuda: &Cuda, host: &Level<T>, direct: bool) -> Result<Self, GpuError> {
        let n = host.x.len();
        let zeros = |n: usize| DeviceBuffer::zeros(cuda, "a level's vectors", n);
        let smoothed = if direct {
            None
        } else {
            let inverse = DeviceBuffer::from_slice(cuda, "a smoother", &host.inverse_diagonal)?;
            Some((CudaCsr::of_level(cuda, host.matrix.to_rows().view())?, inverse))
        };
        let way = host.way.as_ref().map(|way| CudaWay::new(cuda, way)).transpose()?;
        let twice = host.c.len();
        let sums = |count: usize| {
            DeviceBuffer::zeros(cuda, "sums of a cycle", if twice > 0 { count * BLOCKS as usize } else { 0 })
        };
        Ok(Self {
            n,
            smoothed,
            steps: host.steps.clone(),
            way,
            b: zeros(n)?,
            x: zeros(n)?,
            y: zeros(if direct { 0 } else { n })?,
            c: zeros(twice)?,
            v: zeros(twice)?,
            sums: [sums(3)?, sums(1)?, sums(3)?],
            solution: Solution::Iterate,
        })
    }

    fn start(&self) -> Start {
        match (&self.smoothed, self.steps.first()) {
            (Some((_, inverse_diagonal)), Some(&beta)) => {
                Start { inverse_diagonal: inverse_diagonal.ptr(), x: self.x.ptr(), beta }
            }
            _ => Start { inverse_diagonal: 0, x: 0, beta: 0.0 },
        }
    }

    /// Number of blocks of the kernels that sum over rows, and of the kernels that loop over entries.
    fn blocks(&self) -> (u32, u32) {
        let rows = self.smoothed.as_ref().map_or(0, |(matrix, _)| matrix.per_row(self.n).grid[0]);
        (rows.min(BLOCKS), entries(self.n).grid[0])
    }

    fn bytes(&self) -> usize {
        let vectors = [&self.b, &self.x, &self.y, &self.c, &self.v];
        let matrix = self.smoothed.as_ref().map_or(0, |(matrix, inverse)| matrix.bytes() + inverse.bytes());
        let way = self.way.as_ref().map_or(0, CudaWay::bytes);
        let vectors: usize = vectors.iter().map(|vector| vector.bytes()).sum();
        let sums: usize = self.sums.iter().map(DeviceBuffer::bytes).sum();
        matrix + way + vectors + sums
    }
}

impl<T: Scalar> CudaWay<T> {
    fn new(cuda: &Cuda, host: &Way<T>) -> Result<Self, GpuError> {
        let copy = |of: &[u32]| DeviceBuffer::from_slice(cuda, "aggregates", of);
        Ok(match host {
            Way::Aggregates(host) => Self::Aggregates {
                of_row: copy(&host.of_row)?,
                starts: copy(&host.starts)?,
                rows: copy(&host.rows)?,
            },
            Way::Stored { p, transposed } => {
                let (p, transposed) = (p.to_rows(), transposed.to_rows());
                let (p, transposed) = (p.view(), transposed.view());
                Self::Stored {
                    p: Box::new(CudaCsr::of_way(cuda, p, transposed.n_rows())?),
                    transposed: Box::new(CudaCsr::of_way(cuda, transposed, p.n_rows())?),
                }
            }
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Aggregates { of_row, starts, rows } => of_row.bytes() + starts.bytes() + rows.bytes(),
            Self::Stored { p, transposed } => p.bytes() + transposed.bytes(),
        }
    }
}

/// A launch over `n` entries whose threads loop.
fn entries(n: usize) -> LaunchConfig {
    let mut config = LaunchConfig::cover(n, THREADS).early(true);
    config.grid[0] = config.grid[0].min(BLOCKS);
    config
}

impl<T: Scalar> Levels for CudaLevels<T> {
    fn count(&self) -> usize {
        self.levels.len()
    }

    fn has_direct_solve(&self) -> bool {
        self.inverse.is_some()
    }

    fn solve_directly(&mut self) {
        let (Some(inverse), Some(level)) = (&self.inverse, self.levels.last()) else { return };
        let mut args = Args::new();
        args.buffer(inverse).buffer(&level.b).buffer(&level.x).value(level.n as u32);
        let config = LaunchConfig::new((level.n as u32).div_ceil(WARPS), THREADS).early(true);
        // SAFETY: the arguments match the kernel; the inverse has the square of the level's rows.
        let done = unsafe { self.cuda.launch(&self.kernels.solve_directly, config, &args) };
        self.note(done);
    }

    fn smooth_from_zero(&mut self, k: usize) {
        // The first step was done together with `b`.
        for i in 1..self.levels[k].steps.len() {
            self.relax(k, self.levels[k].steps[i]);
        }
    }

    fn smooth(&mut self, k: usize) {
        for i in 0..self.levels[k].steps.len() {
            self.relax(k, self.levels[k].steps[i]);
        }
    }

    fn restrict_residual(&mut self, k: usize) {
        let (finer, coarser) = self.levels.split_at_mut(k + 1);
        let (level, coarse) = (&mut finer[k], &coarser[0]);
        let (Some((matrix, _)), Some(way)) = (&level.smoothed, &level.way) else { return };
        let mut args = Args::new();
        let done = match way {
            CudaWay::Aggregates { starts, rows, .. } => {
                args.value(matrix.argument()).buffer(&level.b).buffer(&level.x);
                args.buffer(starts).buffer(rows).value(coarse.n as u32);
                args.buffer(&coarse.b).value(coarse.start());
                let config = matrix.per_row(coarse.n);
                // SAFETY: the arguments match the kernel; the coarse level has a row for each aggregate, and
                // aggregates consist of rows of this level.
                unsafe { self.cuda.launch(&self.kernels.restrict_residual, config, &args) }
            }
            CudaWay::Stored { transposed, .. } => {
                // The former iterate is not read again.
                let residual = matrix.residual_of(&level.b, &level.x, &mut level.y);
                args.value(transposed.argument()).buffer(&level.y).buffer(&coarse.b).value(coarse.start());
                let config = transposed.per_row(coarse.n);
                // SAFETY: the arguments match the kernel; the restriction has a row for each row of the
                // coarse level and a column for each row of this level.
                residual.and_then(|()| unsafe { self.cuda.launch(&self.kernels.restrict_by, config, &args) })
            }
        };
        self.note(done);
    }

    fn prolongate(&mut self, k: usize) {
        let (level, coarse) = (&self.levels[k], &self.levels[k + 1]);
        let Some(way) = &level.way else { return };
        let (row_blocks, entry_blocks) = coarse.blocks();
        let mut args = Args::new();
        let (kernel, config) = match way {
            CudaWay::Aggregates { of_row, .. } => {
                args.buffer(&level.x).buffer(of_row).value(level.n as u32);
                (&self.kernels.prolongate, entries(level.n))
            }
            CudaWay::Stored { p, .. } => {
                args.value(p.argument()).buffer(&level.x);
                (&self.kernels.prolongate_by, entries(level.n << p.layout().shift()))
            }
        };
        args.buffer(&coarse.x).buffer(&coarse.c).value(coarse.solution as u32);
        args.buffer(&coarse.sums[0]).value(row_blocks);
        args.buffer(&coarse.sums[1]).value(entry_blocks);
        args.buffer(&coarse.sums[2]).value(row_blocks);
        // SAFETY: the arguments match the kernels; aggregates, and columns of a prolongation, are below the
        // coarse level's number of rows; only levels with a first direction and sums have a solution other
        // than the iterate.
        let done = unsafe { self.cuda.launch(kernel, config, &args) };
        self.levels[k + 1].solution = Solution::Iterate;
        self.note(done);
    }

    fn set_aside(&mut self, k: usize) {
        let level = &mut self.levels[k];
        std::mem::swap(&mut level.x, &mut level.c);
        let Some((matrix, _)) = &level.smoothed else { return };
        let mut args = Args::new();
        args.value(matrix.argument()).buffer(&level.c).buffer(&level.b).value(level.start());
        let config = matrix.per_row(level.n);
        // SAFETY: the arguments match the kernel; all vectors have the level's length.
        let done = unsafe { self.cuda.launch(&self.kernels.subtract_product, config, &args) };
        self.note(done);
    }

    fn add_set_aside(&mut self, k: usize) {
        self.levels[k].solution = Solution::Sum;
    }

    fn first_direction(&mut self, k: usize) -> bool {
        let level = &mut self.levels[k];
        std::mem::swap(&mut level.x, &mut level.c);
        let Some((matrix, _)) = &level.smoothed else { return false };
        let (row_blocks, _) = level.blocks();
        let mut args = Args::new();
        args.value(matrix.argument())
            .buffer(&level.c)
            .buffer(&level.b)
            .buffer(&level.v)
            .buffer(&level.sums[0]);
        let config = LaunchConfig::new(row_blocks, THREADS).early(true);
        // SAFETY: the arguments match the kernel; vectors have the level's length, and there is room for the
        // sums of all blocks.
        let summed = unsafe { self.cuda.launch(&self.kernels.first_sums, config, &args) };
        args.clear();
        args.buffer(&level.sums[0]).value(row_blocks).buffer(&level.b).buffer(&level.v).value(level.n as u32);
        args.value(level.start()).buffer(&level.sums[1]);
        // SAFETY: as above.
        let advanced = unsafe { self.cuda.launch(&self.kernels.first_step, entries(level.n), &args) };
        self.note(summed.and(advanced));
        true
    }

    fn second_direction(&mut self, k: usize) {
        let level = &mut self.levels[k];
        level.solution = Solution::Combination;
        let Some((matrix, _)) = &level.smoothed else { return };
        let (row_blocks, _) = level.blocks();
        let mut args = Args::new();
        args.value(matrix.argument())
            .buffer(&level.x)
            .buffer(&level.b)
            .buffer(&level.v)
            .buffer(&level.sums[2]);
        let config = LaunchConfig::new(row_blocks, THREADS).early(true);
        // SAFETY: the arguments match the kernel; vectors have the level's length, and there is room for the
        // sums of all blocks.
        let done = unsafe { self.cuda.launch(&self.kernels.second_sums, config, &args) };
        self.note(done);
    }
}
