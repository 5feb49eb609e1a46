//! Block Jacobi on a device: launches of `elliptic_block_jacobi.cu`.

use super::ranks::CudaRefresh;
use super::{CudaSipdg, with_headers};
use crate::elliptic::BlockInverse;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};
use std::sync::Arc;

/// Threads of a block.
const THREADS: u32 = 256;

/// The header of products with an element's matrix.
pub(super) const BLOCK_PRODUCT: (&str, &str) =
    ("block_product.cuh", include_str!("headers/block_product.cuh"));

/// The text of the kernel `block_multiply` for elements with `np` rows.
fn text<T: Scalar>(np: usize, threads: u32) -> Source {
    with_headers::<T>("elliptic_block_jacobi.cu", include_str!("elliptic_block_jacobi.cu"))
        .define("NP", np)
        .define("THREADS", threads)
        .header(BLOCK_PRODUCT.0, BLOCK_PRODUCT.1)
}

/// A dense matrix for each element on a device, as [`BlockInverse`]; the identity in the rows that fill up
/// the host's blocks.
pub struct CudaBlockInverse<T: Scalar> {
    cuda: Cuda,
    len: usize,
    /// Number of rows of elements.
    real: usize,
    parts: Vec<Part<T>>,
    refresh: Option<Arc<CudaRefresh>>,
}

struct Part<T: Scalar> {
    matrices: DeviceBuffer<T>,
    multiply: Function,
    first_row: usize,
    rows: usize,
}

impl<T: Scalar> CudaBlockInverse<T> {
    pub(super) fn new(operator: &CudaSipdg<T>, host: &BlockInverse<f64>) -> Result<Self, OpsError> {
        let cuda = &operator.cuda;
        let of_host = host.of_elements(&operator.rows, operator.real);
        let wanted: usize = operator.spans.iter().map(|s| s.n_elements).sum();
        let fits = |row: usize, n: usize| {
            let within = |s: &&super::Span| (s.first_row..s.first_row + s.n_elements * s.np).contains(&row);
            operator.spans.iter().find(within).is_some_and(|s| s.np == n)
        };
        if of_host.len() != wanted || !of_host.iter().all(|m| fits(m.row, m.n)) {
            let reason = "the inverses are not of this operator".to_owned();
            return Err(OpsError::Elliptic { reason });
        }
        let mut parts = Vec::new();
        for span in &operator.spans {
            let np = span.np;
            let rows = span.n_elements * np;
            let mut entries = vec![T::ZERO; rows * np];
            for m in of_host.iter().filter(|m| (span.first_row..span.first_row + rows).contains(&m.row)) {
                let block = &mut entries[(m.row - span.first_row) * np..][..np * np];
                for (k, v) in block.iter_mut().enumerate() {
                    *v = T::from_f64(m.entry(k % np, k / np));
                }
            }
            let multiply = cuda.compile(&text::<T>(np, THREADS))?.function("block_multiply")?;
            let matrices = DeviceBuffer::from_slice(cuda, "the inverses of blocks", &entries)?;
            parts.push(Part { matrices, multiply, first_row: span.first_row, rows });
        }
        let (cuda, refresh) = (cuda.clone(), operator.refresh.clone());
        Ok(Self { cuda, len: operator.len(), real: operator.real, parts, refresh })
    }

    /// Memory on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|p| p.matrices.bytes()).sum()
    }

    /// Computes `z ← B r`. Consists of launches only, which a graph can record as those of the operator.
    /// Collective on several ranks.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches and messages.
    pub fn apply(&self, r: &CudaVector<T>, z: &mut CudaVector<T>) -> Result<(), GpuError> {
        for found in [r.buffer().len(), z.buffer().len()] {
            if found != self.len {
                let doing = "applying the inverses of blocks";
                return Err(GpuError::Length { doing, wanted: self.len, found });
            }
        }
        for part in &self.parts {
            let last = part.first_row + part.rows == self.real;
            let copied = if last { self.len - self.real } else { 0 };
            let mut args = Args::new();
            args.buffer(&part.matrices).buffer(r.buffer()).buffer(z.buffer());
            args.value(part.first_row as u64).value(part.rows as u64);
            args.value(self.real as u64).value(copied as u64);
            let config = LaunchConfig::cover(part.rows.max(copied), THREADS).early(true);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { self.cuda.launch(&part.multiply, config, &args)? };
        }
        // Blocks of elements of other ranks lack the faces beyond.
        self.refresh.as_ref().map_or(Ok(()), |refresh| refresh.run(&self.cuda, z.buffer_mut()))
    }
}
