//! A V-cycle over given levels on a device, recorded once and replayed, inside a solve in double precision.

use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Graph};
use dgsuite_gpu::{Backend, CudaVector, GpuError, Scalar, Vector};

use super::reordered::{Factor, Gather};
use crate::{Multigrid, MultigridSummary, Preconditioner};

/// [`Multigrid`] on a device: `z = M⁻¹ r` for residuals in double precision, with levels of any precision.
///
/// The descent to the coarsest level and the ascent are recorded as one graph each. The coarse solver runs
/// between them and may be a graph of its own ([`CudaAmg`](super::CudaAmg)). Nothing waits for the host, so
/// operators, transfers and smoothers may only launch kernels when they are applied. Residuals are scaled to
/// a largest entry of 1, so that they neither overflow nor underflow in single precision.
pub struct CudaMultigrid<T: Scalar = f32> {
    cuda: Cuda,
    /// Descent and ascent, if they are recorded.
    recorded: Option<[Graph; 2]>,
    /// Owns the memory that the graphs work on.
    multigrid: Multigrid<CudaVector<T>>,
    r: CudaVector<T>,
    z: CudaVector<T>,
    /// Largest entry of the residual.
    size: DeviceBuffer<f64>,
    enter: Gather<f64, T>,
    leave: Gather<T, f64>,
}

impl<T: Scalar> CudaMultigrid<T> {
    /// Records the cycle of `multigrid`.
    ///
    /// # Errors
    /// Not enough memory, an error of the compiler or the driver, or a level that does more than launch
    /// kernels.
    pub fn new(cuda: &Cuda, multigrid: Multigrid<CudaVector<T>>) -> Result<Self, GpuError> {
        let mut cycle = Self::launched(cuda, multigrid)?;
        let Self { multigrid, r, z, .. } = &mut cycle;
        // An earlier failure does not belong to the recording.
        cuda.take_failure()?;
        let down = cuda.capture(|_| {
            multigrid.descend(r, z);
            cuda.take_failure()
        })?;
        let up = cuda.capture(|_| {
            multigrid.ascend(r, z);
            cuda.take_failure()
        })?;
        cycle.recorded = Some([down, up]);
        Ok(cycle)
    }

    /// The cycle of `multigrid` without a recording, for levels that need the host: transfers to other ranks
    /// by way of its memory.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn launched(cuda: &Cuda, multigrid: Multigrid<CudaVector<T>>) -> Result<Self, GpuError> {
        let n = multigrid.n_rows();
        let (r, z) = (cuda.zeros(n)?, cuda.zeros(n)?);
        Ok(Self {
            recorded: None,
            multigrid,
            r,
            z,
            size: DeviceBuffer::zeros(cuda, "the size of a residual", 1)?,
            enter: Gather::new(cuda, None)?,
            leave: Gather::new(cuda, None)?,
            cuda: cuda.clone(),
        })
    }

    /// The levels with their rows, bytes and operator applications per cycle.
    pub fn summary(&self) -> &MultigridSummary {
        self.multigrid.summary()
    }

    /// Number of launches in descent and ascent, without the coarse solver; 0 without a recording.
    pub fn n_launches(&self) -> usize {
        self.recorded.iter().flatten().map(Graph::n_nodes).sum()
    }

    /// Bytes of the input and output vectors.
    pub fn bytes(&self) -> usize {
        2 * self.r.buffer().bytes()
    }

    fn cycle(&mut self, r: &CudaVector<f64>, z: &mut CudaVector<f64>) -> Result<(), GpuError> {
        r.norm_max_into(&mut self.size, 0)?;
        self.enter.launch(r, Factor::InverseSize(&self.size), &mut self.r)?;
        match &self.recorded {
            Some([down, up]) => {
                down.launch()?;
                self.multigrid.solve_coarse(&self.r, &mut self.z);
                up.launch()?;
            }
            None => {
                self.multigrid.descend(&self.r, &mut self.z);
                self.multigrid.solve_coarse(&self.r, &mut self.z);
                self.multigrid.ascend(&self.r, &mut self.z);
            }
        }
        self.leave.launch(&self.z, Factor::Size(&self.size), z)
    }
}

/// The next download reports a launch that failed.
impl<T: Scalar> Preconditioner<CudaVector<f64>> for CudaMultigrid<T> {
    #[track_caller]
    fn apply(&mut self, r: &CudaVector<f64>, z: &mut CudaVector<f64>) {
        assert!(
            [r.len(), z.len()] == [self.multigrid.n_rows(); 2],
            "the residual has as many entries as the finest level has rows"
        );
        let done = self.cycle(r, z);
        self.cuda.note(done);
    }
}
