//! Sums of many terms on a device, added exactly, so that they do not depend on the number of ranks.

use crate::lanes::simd::PackScalar;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, EXACT_HEADER, Function, LaunchConfig, Source};
use dgsuite_gpu::{ExactSum, GpuError};

/// Threads of a block, and those that add to accumulators of their own (`ADDERS` of exact_sums.cu).
pub(crate) const BLOCK: usize = 128;
const ADDERS: usize = 64;
const WORDS: usize = ExactSum::WORDS;
/// Bytes of shared memory of a block that adds terms.
const SHARED: usize = WORDS * ADDERS * size_of::<i64>();

/// Sums of terms of all elements, added exactly.
pub(crate) struct TermSums {
    add: Function,
    join: Function,
    /// `[sum][term]`.
    pub(crate) terms: DeviceBuffer<f64>,
    partial: DeviceBuffer<i64>,
    /// `[sum][word]`.
    pub(crate) words: DeviceBuffer<i64>,
    blocks: usize,
    sums: usize,
}

/// Builds the text of the kernels. As on the host, a product is rounded before it is added.
pub(crate) fn exact_sums_text<T: PackScalar>(fields: usize) -> Source {
    Source::new("exact_sums.cu", include_str!("exact_sums.cu"))
        .exact()
        .header(EXACT_HEADER.0, EXACT_HEADER.1)
        .define("STATE_REAL", if T::BYTES == 4 { "float" } else { "double" })
        .define("FIELDS", fields)
        .define("BLOCK", BLOCK)
        .define("SHARED_BYTES", SHARED)
}

impl TermSums {
    /// Memory for `sums` sums of `n` terms; `more` numbers follow the terms.
    pub(crate) fn new<T: PackScalar>(
        cuda: &Cuda,
        fields: usize,
        sums: usize,
        n: usize,
        more: usize,
    ) -> Result<Self, GpuError> {
        const WHAT: &str = "sums over elements";
        let module = cuda.compile(&exact_sums_text::<T>(fields))?;
        let add = module.function("add_terms")?;
        add.set_max_dynamic_shared(SHARED)?;
        let blocks = n.div_ceil(ADDERS).clamp(1, cuda.info().n_multiprocessors as usize);
        Ok(Self {
            add,
            join: module.function("join_terms")?,
            terms: DeviceBuffer::zeros(cuda, WHAT, sums * n + more)?,
            partial: DeviceBuffer::zeros(cuda, WHAT, sums * blocks * WORDS)?,
            words: DeviceBuffer::zeros(cuda, WHAT, sums * WORDS)?,
            blocks,
            sums,
        })
    }

    /// Adds the first `n` terms of each sum.
    pub(crate) fn launch(&self, cuda: &Cuda, n: usize, args: &mut Args) -> Result<(), GpuError> {
        assert!(self.sums * n <= self.terms.len(), "terms of all sums");
        let mut config = LaunchConfig::new(self.blocks as u32, BLOCK as u32).shared(SHARED as u32);
        config.grid[1] = self.sums as u32;
        args.clear();
        args.buffer(&self.terms).value(n as u32).buffer(&self.partial);
        // SAFETY: the arguments are the kernel's, which writes one accumulator for each block of each sum.
        unsafe { cuda.launch(&self.add, config, args)? };
        args.clear();
        args.buffer(&self.partial).value(self.blocks as u32).buffer(&self.words);
        // SAFETY: as above.
        unsafe { cuda.launch(&self.join, LaunchConfig::new(self.sums as u32, BLOCK as u32), args) }
    }

    /// The sums on this rank. Waits for the device.
    pub(crate) fn read(&self) -> Result<Vec<ExactSum>, GpuError> {
        let words = self.words.to_vec()?;
        let sum = |words: &[i64]| words.try_into().map_or_else(|_| ExactSum::new(), ExactSum::from_limbs);
        Ok(words.chunks_exact(WORDS).map(sum).collect())
    }
}
