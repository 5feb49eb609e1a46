//! Transfers between two orders on a device: launches of `elliptic_transfer.cu`.

use super::universal::{Blocks, DeviceRows, MATRIX, MatrixArgument};
use super::{CudaSipdg, with_headers};
use crate::cuda::text::setting::list;
use crate::elliptic::PTransfer;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_gpu::cuda::{Args, Cuda, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// Largest number of factors of a chain: one for each direction.
const MOST: usize = 3;

/// Elements that need less shared memory than this, in bytes, are small.
const SMALL: usize = 512;

/// Interpolation from a coarse order to a fine one, and its transpose, on a device, as [`PTransfer`]. Rows
/// that fill up the host's blocks are not changed.
pub struct CudaPTransfer<T: Scalar> {
    cuda: Cuda,
    /// Lengths of the vectors, fine and coarse.
    lengths: [usize; 2],
    prolong: Vec<Step<T>>,
    restrict: Vec<Step<T>>,
}

/// One launch.
pub(super) struct Step<T: Scalar> {
    function: Function,
    config: LaunchConfig,
    factors: Vec<DeviceRows<T>>,
    first: [usize; 2],
    n_elements: usize,
}

/// The text of a kernel with `chain.cuh`, and the elements, threads and shared memory of a block.
pub(super) struct ChainText {
    pub(super) source: Source,
    pub(super) elements: usize,
    pub(super) threads: usize,
    pub(super) shared: usize,
}

impl ChainText {
    /// From a text and its name.
    pub(super) fn new<T: Scalar>(name: &str, text: &str, factors: &[Rows]) -> Result<Self, OpsError> {
        let refuse = || OpsError::Elliptic { reason: "the orders of a transfer are too high".to_owned() };
        let cols = factors.first().map_or(0, |m| m.cols);
        let rows = factors.last().map_or(0, |m| m.rows.len());
        let widest = factors.iter().map(|m| m.rows.len()).fold(cols, usize::max);
        let per_element = 2 * widest * T::BYTES;
        // Small elements: as many as keep the threads of a block busy at the factor with the fewest rows.
        let busy = if per_element <= SMALL { cols.min(rows).max(1) } else { widest };
        let blocks = Blocks::new(busy, per_element).ok_or_else(refuse)?;
        let stride = blocks.elements | 1;
        let shared = 2 * widest * stride * T::BYTES;
        let source = with_headers::<T>(name, text)
            .header(MATRIX.0, MATRIX.1)
            .header("chain.cuh", include_str!("headers/chain.cuh"))
            .define("STAGES", factors.len())
            .define("ROWS", list(factors.iter().map(|m| m.rows.len())))
            .define("WIDTHS", list(factors.iter().map(|m| m.rows.iter().map(Vec::len).max().unwrap_or(0))))
            .define("WIDEST", widest)
            .define("ROWS_IN", cols)
            .define("ROWS_OUT", rows)
            .define("ELEMENTS", blocks.elements)
            .define("CHUNK", blocks.chunk)
            .define("STRIDE", stride)
            .define("THREADS", blocks.threads)
            .define("SHARED_BYTES", shared);
        Ok(Self { source, elements: blocks.elements, threads: blocks.threads, shared })
    }

    /// A launch with all elements.
    pub(super) fn config(&self, n_elements: usize) -> LaunchConfig {
        let grid = n_elements.div_ceil(self.elements) as u32;
        LaunchConfig::new(grid, self.threads as u32).shared(self.shared as u32).early(true)
    }
}

/// The factors of a chain on a device, as an argument of a kernel.
pub(super) fn argument<T: Scalar>(args: &mut Args, factors: &[DeviceRows<T>]) {
    let matrices: Vec<MatrixArgument> = factors.iter().map(DeviceRows::argument).collect();
    match matrices[..] {
        [a] => args.value([a]),
        [a, b] => args.value([a, b]),
        [a, b, c] => args.value([a, b, c]),
        _ => args,
    };
}

impl<T: Scalar> Step<T> {
    pub(super) fn new(
        cuda: &Cuda,
        factors: &[Rows],
        first: [usize; 2],
        n_elements: usize,
        add: bool,
    ) -> Result<Self, OpsError> {
        let text =
            ChainText::new::<T>("elliptic_transfer.cu", include_str!("elliptic_transfer.cu"), factors)?;
        let function =
            cuda.compile(&text.source.clone().define("ADD", u8::from(add)))?.function("transfer")?;
        function.set_max_dynamic_shared(text.shared)?;
        let config = text.config(n_elements);
        let factors = factors.iter().map(|m| DeviceRows::new(cuda, m)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { function, config, factors, first, n_elements })
    }

    pub(super) fn launch(
        &self,
        cuda: &Cuda,
        from: &CudaVector<T>,
        to: &mut CudaVector<T>,
    ) -> Result<(), GpuError> {
        let mut args = Args::new();
        argument(&mut args, &self.factors);
        args.buffer(from.buffer()).buffer(to.buffer());
        args.value(self.first[0] as u64).value(self.first[1] as u64);
        args.value(self.n_elements as u32).value(0_u32);
        // SAFETY: the arguments are those of the kernel; the vectors have their operators' lengths.
        unsafe { cuda.launch(&self.function, self.config, &args) }
    }
}

impl<T: Scalar> CudaPTransfer<T> {
    /// Sets up `host`, the transfer between the operators of which `fine` and `coarse` are the device
    /// versions.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if they do not belong together, and errors of the device.
    pub fn new(
        cuda: &Cuda,
        fine: &CudaSipdg<T>,
        coarse: &CudaSipdg<T>,
        host: &PTransfer<f64>,
    ) -> Result<Self, OpsError> {
        let (mut prolong, mut restrict) = (Vec::new(), Vec::new());
        let refuse = || OpsError::Elliptic { reason: "the transfer is not of these operators".to_owned() };
        if fine.spans.len() != coarse.spans.len() {
            return Err(refuse());
        }
        for (f, c) in fine.spans.iter().zip(&coarse.spans) {
            let [up, down] = host.factors_of(f.shape).ok_or_else(refuse)?;
            let fits = up.first().is_some_and(|m| m.cols == c.np)
                && up.last().is_some_and(|m| m.rows.len() == f.np)
                && (up.len().max(down.len()) <= MOST && f.n_elements == c.n_elements);
            if !fits {
                return Err(refuse());
            }
            let n = f.n_elements;
            prolong.push(Step::new(cuda, up, [c.first_row, f.first_row], n, true)?);
            restrict.push(Step::new(cuda, down, [f.first_row, c.first_row], n, false)?);
        }
        Ok(Self { cuda: cuda.clone(), lengths: [fine.len(), coarse.len()], prolong, restrict })
    }

    /// Computes `fine ← fine + P coarse`. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// [`GpuError::Length`] if lengths are not the operators', and errors of launches.
    pub fn prolong_add(&self, coarse: &CudaVector<T>, fine: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check([fine.buffer().len(), coarse.buffer().len()])?;
        self.prolong.iter().try_for_each(|step| step.launch(&self.cuda, coarse, fine))
    }

    /// Computes `coarse ← Pᵀ fine`. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// [`GpuError::Length`] if lengths are not the operators', and errors of launches.
    pub fn restrict(&self, fine: &CudaVector<T>, coarse: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check([fine.buffer().len(), coarse.buffer().len()])?;
        self.restrict.iter().try_for_each(|step| step.launch(&self.cuda, fine, coarse))
    }

    fn check(&self, found: [usize; 2]) -> Result<(), GpuError> {
        for (&wanted, found) in self.lengths.iter().zip(found) {
            if wanted != found {
                return Err(GpuError::Length { doing: "a transfer between orders", wanted, found });
            }
        }
        Ok(())
    }
}
