//! The solve on an NVIDIA device: set-up on the host, all iterations on the device.

pub(in crate::systems) mod bridge;
pub(in crate::systems) mod preconditioner;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dgsuite_amg::{Pcg, Solution, SolveError, Stop};
use dgsuite_gpu::cuda::{Ahead, Cuda};
use dgsuite_gpu::{CudaVector, GpuError, Host, HostVector, Vector};
use dgsuite_ops::cuda::CudaSipdg;
use dgsuite_ops::elliptic::Sipdg;

use self::bridge::OnDevice;
use super::options::{Preconditioning, SolverOptions};
use super::watched::Watched;
use super::{EllipticError, LevelDescription};
use crate::systems::setup::Precision;
use preconditioner::Built;

/// Opens a device and compiles the common kernels in the background, as long as the returned guard lives.
pub(super) fn open(ordinal: usize, options: &SolverOptions) -> Result<(Cuda, Ahead), GpuError> {
    let cuda = Cuda::new(ordinal)?;
    let mut sources = CudaVector::<f64>::sources();
    match (options.preconditioner, options.inner_precision) {
        (Preconditioning::Amg | Preconditioning::PmgAmg, Precision::Single) => {
            sources.extend(CudaVector::<f32>::sources());
            sources.extend(dgsuite_amg::cuda::sources::<f32>());
        }
        (Preconditioning::Amg | Preconditioning::PmgAmg, Precision::Double) => {
            sources.extend(dgsuite_amg::cuda::sources::<f64>());
        }
        (Preconditioning::None | Preconditioning::Mass | Preconditioning::Jacobi, _) => {}
    }
    let ahead = cuda.compile_ahead(sources);
    Ok((cuda, ahead))
}

/// Operator, preconditioner and vectors on a device.
pub(super) struct DeviceSolver {
    cuda: Cuda,
    operator: OnDevice<f64>,
    built: Built,
    pcg: Pcg<CudaVector<f64>>,
    b: CudaVector<f64>,
    x: CudaVector<f64>,
    /// Seconds to copy the operator.
    operator_s: f64,
}

/// The parts of a solver on a device, with their sizes.
pub(super) struct DeviceParts {
    pub(super) name: String,
    pub(super) operator_bytes: usize,
    pub(super) preconditioner_bytes: usize,
    /// Vectors of conjugate gradients.
    pub(super) vector_bytes: usize,
    pub(super) levels: Vec<LevelDescription>,
    pub(super) applications: f64,
    pub(super) operator_s: f64,
}

impl DeviceSolver {
    /// Copies the operator and sets up the preconditioner.
    pub(super) fn new(
        cuda: Cuda,
        operator: &Arc<Sipdg<f64>>,
        options: &SolverOptions,
        host: &Host,
        one: &HostVector<f64>,
    ) -> Result<Self, EllipticError> {
        let start = Instant::now();
        let device = OnDevice(Arc::new(CudaSipdg::<f64>::new(&cuda, operator)?));
        let operator_s = start.elapsed().as_secs_f64();
        let built = preconditioner::build(&cuda, operator, &device, options, host)?;
        let b = device.0.upload(one)?;
        let x = b.zeros_like()?;
        let mut pcg = Pcg::new(&x)?;
        if built.flexible {
            pcg = pcg.flexible();
        }
        if operator.is_singular() {
            pcg = pcg.without(&b)?;
        }
        cuda.stream().synchronize()?;
        Ok(Self { cuda, operator: device, built, pcg, b, x, operator_s })
    }

    pub(super) fn describe(&self) -> DeviceParts {
        let vectors = 6 + usize::from(self.built.flexible);
        DeviceParts {
            name: self.cuda.info().name.clone(),
            operator_bytes: self.operator.0.bytes(),
            preconditioner_bytes: self.built.levels.iter().map(|level| level.bytes).sum::<usize>()
                + self.built.bytes,
            vector_bytes: vectors * self.b.buffer().bytes(),
            levels: self.built.levels.clone(),
            applications: self.built.applications,
            operator_s: self.operator_s,
        }
    }

    /// Copies a right-hand side from the host.
    pub(super) fn upload(&mut self, b: &[f64]) -> Result<(), GpuError> {
        self.b = self.operator.0.upload(b)?;
        Ok(())
    }

    /// Solves from `u = 0`.
    pub(super) fn solve(
        &mut self,
        limits: &Stop,
        stop: &AtomicBool,
        progress: &mut (dyn FnMut(usize, f64) + Send),
    ) -> (Result<Solution, SolveError>, bool) {
        self.x.fill(0.0);
        let mut watched = Watched::new(&mut *self.built.apply, stop, progress);
        let outcome = self.pcg.solve(&self.operator, &mut watched, &self.b, &mut self.x, limits);
        let stopped = watched.stopped && outcome.is_err();
        (outcome, stopped)
    }

    /// Returns the iterate in the order of the host.
    ///
    /// # Errors
    /// The first failure of any work in the device's stream.
    pub(super) fn download(&self) -> Result<Vec<f64>, GpuError> {
        self.operator.0.download(&self.x)
    }
}
