//! Algebraic multigrid on a device: the hierarchy of the host, with its cycle recorded once and replayed.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, Graph, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Host, Scalar, Vector};

use super::csr::THREADS;
use super::levels::{self, CudaLevels, Start};
use crate::amg::cycle::{self, Levels};
use crate::{Amg, AmgError, AmgOptions, Csr, HierarchySummary, NullSpace, Preconditioner};

/// Largest number of visits of one level in a cycle; W- and K-cycles double the visits with each level.
const MOST_VISITS: usize = 1 << 12;

/// A multigrid hierarchy on a device, and its cycle: `z = M⁻¹ r`, equal to [`Amg`] on the host up to
/// rounding.
///
/// The hierarchy is set up on the host and copied. A cycle is recorded as a graph of launches; nothing in it
/// waits for the host, not even the inner products of K-cycles. So a K-cycle always computes its second
/// iteration and discards the result where the host would not have started it.
///
/// Vectors may have either precision, independently of the levels.
pub struct CudaAmg<T: Scalar = f32> {
    cuda: Cuda,
    /// Owns the memory that the graph works on.
    levels: CudaLevels<T>,
    graph: Graph,
    /// The graph's input and the address of its result.
    start: Start,
    result: u64,
    /// Largest entry of the residual, and sum of the result.
    scalars: DeviceBuffer<f64>,
    /// For vectors in single and double precision.
    enter: [Function; 2],
    leave: [Function; 2],
    center: [Function; 2],
    scale: f64,
    /// Whether the mean of the result is removed.
    centered: bool,
    summary: HierarchySummary,
}

impl CudaAmg<f32> {
    /// Levels in single precision: the choice for solves in double precision. Set up on `host`.
    ///
    /// # Errors
    /// [`AmgError`]: the errors of [`Amg::new`], a cycle with too many visits, or an error of the device.
    pub fn new(host: &Host, cuda: &Cuda, a: &Csr<f64>, options: &AmgOptions) -> Result<Self, AmgError> {
        Self::upload(cuda, &Amg::new(host, a, options)?)
    }
}

impl CudaAmg<f64> {
    /// Levels in double precision. Set up on `host`.
    ///
    /// # Errors
    /// As for [`CudaAmg::new`].
    pub fn in_double(host: &Host, cuda: &Cuda, a: &Csr<f64>, options: &AmgOptions) -> Result<Self, AmgError> {
        Self::upload(cuda, &Amg::in_double(host, a, options)?)
    }
}

impl<T: Scalar> CudaAmg<T> {
    /// Copies a hierarchy to a device.
    ///
    /// # Errors
    /// [`AmgError::TooManyVisits`], or [`AmgError::Machine`]: memory, the compiler or the driver.
    pub fn upload(cuda: &Cuda, amg: &Amg<T>) -> Result<Self, AmgError> {
        let (count, direct) = (amg.levels.count(), amg.levels.has_direct_solve());
        let doublings = (0..count).filter(|&k| cycle::visits_twice(amg.cycle, k, count, direct)).count();
        if doublings > MOST_VISITS.ilog2() as usize {
            return Err(AmgError::TooManyVisits { doublings, most: MOST_VISITS });
        }
        let mut levels = CudaLevels::new(cuda, &amg.levels)?;
        let module = cuda.compile(&levels::own_source::<T>())?;
        let pair = |name: &str| {
            let [single, double] = ["single", "double"].map(|of| module.function(&format!("{name}_{of}")));
            Ok::<_, GpuError>([single?, double?])
        };
        let start = levels.start(0);
        let graph = cuda.capture(|_| {
            cycle::run(&mut levels, amg.cycle);
            levels.take_failure()
        })?;
        let mut summary = amg.summary().clone();
        for (level, bytes) in summary.levels.iter_mut().zip(levels.bytes()) {
            level.bytes = bytes;
        }
        Ok(Self {
            result: levels.iterate(),
            levels,
            graph,
            start,
            scalars: DeviceBuffer::zeros(cuda, "a cycle's scalars", 2)?,
            enter: pair("enter")?,
            leave: pair("leave")?,
            center: pair("center")?,
            scale: amg.scale,
            centered: amg.null_space == NullSpace::Constant && summary.floating,
            summary,
            cuda: cuda.clone(),
        })
    }

    /// The levels: rows, entries, bytes on the device.
    pub fn summary(&self) -> &HierarchySummary {
        &self.summary
    }

    /// Number of launches in one cycle.
    pub fn n_launches(&self) -> usize {
        self.graph.n_nodes()
    }

    fn cycle<S: Scalar>(&mut self, r: &CudaVector<S>, z: &mut CudaVector<S>) -> Result<(), GpuError> {
        let n = r.len();
        let (which, config) = (usize::from(S::BYTES == 8), LaunchConfig::cover(n, THREADS).early(true));
        r.norm_max_into(&mut self.scalars, 0)?;
        let mut args = Args::new();
        args.buffer(r.buffer()).buffer(&self.scalars).pointer(self.levels.right_hand_side());
        args.value(n as u32).value(self.start);
        // SAFETY: the arguments match the kernel for numbers of this size; the lengths are those of the
        // finest level.
        unsafe { self.cuda.launch(&self.enter[which], config, &args)? };
        self.graph.launch()?;
        args.clear();
        args.pointer(self.result).buffer(&self.scalars).value(self.scale).buffer(z.buffer()).value(n as u32);
        // SAFETY: as above.
        unsafe { self.cuda.launch(&self.leave[which], config, &args)? };
        if self.centered {
            z.sum_into(&mut self.scalars, 1)?;
            args.clear();
            args.buffer(z.buffer()).pointer(self.scalars.ptr_at(1)).value(n as u32);
            // SAFETY: as above.
            unsafe { self.cuda.launch(&self.center[which], config, &args)? };
        }
        Ok(())
    }
}

/// Applies the cycle to `r`, which may be in either precision. The call returns before the device has
/// finished; the next download reports a launch that failed.
impl<T: Scalar, S: Scalar> Preconditioner<CudaVector<S>> for CudaAmg<T> {
    #[track_caller]
    fn apply(&mut self, r: &CudaVector<S>, z: &mut CudaVector<S>) {
        assert!(
            [r.len(), z.len()] == [self.levels.n_rows(); 2],
            "the residual has as many entries as the matrix has rows"
        );
        let done = self.cycle(r, z);
        self.cuda.note(done);
    }
}
