//! Jacobi's preconditioner on a device, with each smoothing step in one kernel.

use dgsuite_gpu::cuda::{Args, Cuda, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar, Vector};

use super::csr::{THREADS, source};
use crate::Preconditioner;

/// Entries per thread of the first kernel (`UNROLL` of jacobi.cu).
const UNROLL: usize = 4;

pub(super) fn own_source<T: Scalar>() -> Source {
    source::<T>("jacobi.cu", include_str!("jacobi.cu"))
}

/// `z_i = r_i / a_ii` on a device.
///
/// As the smoother of a matrix-free operator, a step reads four vectors and the old iterate and writes one:
/// 24 bytes an entry in single precision, where the vector operations of [`Jacobi`](crate::Jacobi) move 40.
pub struct CudaJacobi<T: Scalar> {
    cuda: Cuda,
    inverse_diagonal: CudaVector<T>,
    from_zero: Function,
    relax: Function,
}

impl<T: Scalar> CudaJacobi<T> {
    /// From `1 / a_ii`.
    ///
    /// # Errors
    /// The errors of [`Cuda::compile`].
    pub fn from_inverse_diagonal(inverse_diagonal: CudaVector<T>) -> Result<Self, GpuError> {
        let cuda = inverse_diagonal.cuda().clone();
        let module = cuda.compile(&own_source::<T>())?;
        let (from_zero, relax) = (module.function("relax_from_zero")?, module.function("relax")?);
        Ok(Self { cuda, inverse_diagonal, from_zero, relax })
    }

    /// Bytes of the diagonal.
    pub fn bytes(&self) -> usize {
        self.inverse_diagonal.buffer().bytes()
    }

    #[track_caller]
    fn check(&self, vectors: &[&CudaVector<T>]) {
        let n = self.inverse_diagonal.len();
        assert!(vectors.iter().all(|v| v.len() == n), "vectors of the diagonal's {n} entries");
    }

    fn launch(&self, kernel: &Function, args: &Args, entries: usize) {
        let threads = self.inverse_diagonal.len().div_ceil(entries);
        let config = LaunchConfig::cover(threads, THREADS).early(true);
        // SAFETY: the callers pass the arguments of their kernel and have checked the lengths.
        let launched = unsafe { self.cuda.launch(kernel, config, args) };
        self.cuda.note(launched);
    }
}

impl<T: Scalar> Preconditioner<CudaVector<T>> for CudaJacobi<T> {
    #[track_caller]
    fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) {
        z.add_product(1.0, &self.inverse_diagonal, r, 0.0);
    }

    #[track_caller]
    fn relax_from_zero(
        &mut self,
        beta: f64,
        b: &CudaVector<T>,
        x: &mut CudaVector<T>,
        _: &mut CudaVector<T>,
    ) {
        self.check(&[b, x]);
        let mut args = Args::new();
        args.buffer(self.inverse_diagonal.buffer()).buffer(b.buffer()).buffer(x.buffer());
        args.value(beta).value(b.len() as u64);
        self.launch(&self.from_zero, &args, UNROLL);
    }

    #[track_caller]
    fn relax(
        &mut self,
        beta: f64,
        b: &CudaVector<T>,
        r: &mut CudaVector<T>,
        _: &mut CudaVector<T>,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) {
        self.check(&[b, r, x, y]);
        let mut args = Args::new();
        args.buffer(self.inverse_diagonal.buffer()).buffer(b.buffer()).buffer(r.buffer());
        args.buffer(x.buffer()).buffer(y.buffer());
        args.value(beta).value(b.len() as u64);
        self.launch(&self.relax, &args, 1);
    }

    fn inverse_diagonal(&self) -> Option<&CudaVector<T>> {
        Some(&self.inverse_diagonal)
    }
}
