//! The solve on an NVIDIA device: set-up on the host, all iterations on the device.

pub(crate) mod bridge;
pub(crate) mod pieces;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dgsuite_amg::{Solution, SolveError, Stop};
use dgsuite_gpu::cuda::{Ahead, Cuda};
use dgsuite_gpu::{CudaVector, GpuError, Host, HostVector, Vector};
use dgsuite_ops::cuda::CudaSipdg;
use dgsuite_ops::elliptic::Sipdg;

use self::bridge::OnDevice;
use self::pieces::{Pair, WithHost};
use super::bridge::Operator;
use super::krylov::{Krylov, Solver};
use super::options::{Preconditioning, SolverOptions};
use super::preconditioner;
use super::{EllipticDescription, EllipticError};
use crate::precision::Precision;

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
    krylov: Krylov<CudaVector<f64>, OnDevice<f64>>,
    b: CudaVector<f64>,
    x: CudaVector<f64>,
    /// Seconds to copy the operator.
    operator_s: f64,
}

impl DeviceSolver {
    /// Copies the operator and sets up the preconditioner; `one` is the function 1. On several ranks, `whole`
    /// is the operator of order 1 on the whole mesh. Collective.
    pub(super) fn new(
        cuda: Cuda,
        operator: &Arc<Sipdg<f64>>,
        options: &SolverOptions,
        host: &Host,
        one: &HostVector<f64>,
        whole: Option<&Operator<f64>>,
    ) -> Result<Self, EllipticError> {
        let start = Instant::now();
        let on_device = Arc::new(CudaSipdg::<f64>::new(&cuda, operator)?);
        let operator_s = start.elapsed().as_secs_f64();
        let of = Pair { on_device: Arc::clone(&on_device), on_host: Arc::clone(operator) };
        let built = preconditioner::build(&WithHost { cuda: &cuda, host, whole }, &of, options)?;
        let b = on_device.upload(one)?;
        let x = b.zeros_like()?;
        let mut krylov = Krylov::new(OnDevice(on_device), built, &b, operator.is_singular())?;
        krylov.ranks = operator.ranks().map(|ranks| Arc::clone(ranks.joint()));
        krylov.operator.0.wait()?;
        Ok(Self { cuda, krylov, b, x, operator_s })
    }
}

impl Solver for DeviceSolver {
    fn describe(&self, description: &mut EllipticDescription) {
        self.krylov.describe(description);
        description.device_name = Some(self.cuda.info().name.clone());
        description.operator_bytes = self.krylov.operator.0.bytes();
        // Right-hand side and iterate, too.
        let vectors = (2 + self.krylov.vectors()) * self.b.buffer().bytes();
        description.device_bytes = description.operator_bytes + description.preconditioner_bytes + vectors;
        description.device_s = self.operator_s;
    }

    fn take(&mut self, b: &HostVector<f64>) -> Result<(), GpuError> {
        self.b = self.krylov.operator.0.upload(b)?;
        Ok(())
    }

    fn solve(
        &mut self,
        _: &HostVector<f64>,
        _: &mut HostVector<f64>,
        limits: &Stop,
        stop: &AtomicBool,
        progress: &mut (dyn FnMut(usize, f64) + Send),
    ) -> (Result<Solution, SolveError>, bool) {
        self.x.fill(0.0);
        self.krylov.solve_watched(&self.b, &mut self.x, limits, stop, progress)
    }

    fn fetch(&self, x: &mut HostVector<f64>) -> Result<(), GpuError> {
        x.copy_from_slice(&self.krylov.operator.0.download(&self.x)?);
        Ok(())
    }
}
