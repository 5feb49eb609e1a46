//! A stored prolongation between two levels on a device.

use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

use super::csr::CudaCsr;
use crate::{Csr, LinearOperator, Transfer};

/// [`Interpolation`](crate::Interpolation) on a device: a prolongation stored as a matrix, and its transpose.
pub struct CudaInterpolation<T: Scalar> {
    p: CudaCsr<T>,
    transposed: CudaCsr<T>,
}

impl<T: Scalar> CudaInterpolation<T> {
    /// From P, with a row for each row of the finer level and a column for each row of the coarser.
    ///
    /// # Errors
    /// Not enough memory, or an error of the compiler or the driver.
    pub fn new(cuda: &Cuda, p: &Csr<T>) -> Result<Self, GpuError> {
        Ok(Self { p: CudaCsr::new(cuda, p)?, transposed: CudaCsr::new(cuda, &p.transpose())? })
    }

    /// Bytes of both matrices.
    pub fn bytes(&self) -> usize {
        self.p.bytes() + self.transposed.bytes()
    }
}

/// Consists of launches only, which a graph can record.
impl<T: Scalar> Transfer<CudaVector<T>> for CudaInterpolation<T> {
    #[track_caller]
    fn restrict(&self, fine: &CudaVector<T>, coarse: &mut CudaVector<T>) {
        self.transposed.apply(fine, coarse);
    }

    #[track_caller]
    fn prolong_add(&self, coarse: &CudaVector<T>, fine: &mut CudaVector<T>) {
        self.p.add_product(coarse, fine);
    }
}
