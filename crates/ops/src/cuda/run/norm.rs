//! Sums of squares of arrays like the state, which do not depend on the number of ranks.

use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::terms::exact_sums::{BLOCK, TermSums, exact_sums_text};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Link};
use dgsuite_gpu::{ExactSum, GpuError};

/// The elements of a part.
struct Part {
    /// Offset in the state, in bytes.
    begin: u64,
    count: usize,
    rows: usize,
    lanes: usize,
    planar: bool,
    /// The first of its terms.
    term: usize,
}

/// The kernels and the memory of sums of squares.
pub(crate) struct SquareSum {
    squares: Function,
    round: Function,
    parts: Vec<Part>,
    /// One term for each element.
    sum: TermSums,
    args: Args,
}

impl SquareSum {
    pub(crate) fn new<T: PackScalar>(cuda: &Cuda, d: &Discretization<T>) -> Result<Self, GpuError> {
        let module = cuda.compile(&exact_sums_text::<T>(d.physics.n_fields()))?;
        let (mut parts, mut term) = (Vec::new(), 0);
        for group in &d.groups {
            for part in &group.parts {
                let begin = group.offset + part.first_block * group.state.block_len();
                parts.push(Part {
                    begin: (begin * T::BYTES) as u64,
                    count: part.n_elements,
                    rows: group.state.rows,
                    lanes: group.state.lanes,
                    planar: group.state.planar,
                    term,
                });
                term += part.n_elements;
            }
        }
        Ok(Self {
            squares: module.function("squares")?,
            round: module.function("round_sum")?,
            parts,
            sum: TermSums::new::<T>(cuda, d.physics.n_fields(), 1, term, 0)?,
            args: Args::new(),
        })
    }

    /// Puts the sum of the array at address `x` into the device's stream; `result` is its value. With a link
    /// it is the sum over all ranks if the link can form it without the host; otherwise returns `false`, and
    /// the words of this rank's sum are valid.
    ///
    /// # Safety
    /// `x` is the address of an array like the state on this device, valid until the stream has processed the
    /// call.
    pub(crate) unsafe fn launch(
        &mut self,
        cuda: &Cuda,
        link: Option<&Link>,
        x: u64,
        result: &DeviceBuffer<f64>,
    ) -> Result<bool, GpuError> {
        let args = &mut self.args;
        for part in &self.parts {
            let threads = if part.lanes == 1 { 32 * part.count } else { part.count };
            args.clear();
            args.pointer(x + part.begin).value(part.count as u32).value(part.rows as u32);
            args.value(part.lanes as u32)
                .value(u32::from(part.planar))
                .pointer(self.sum.terms.ptr_at(part.term));
            // SAFETY: the arguments are the kernel's; `x` is the caller's contract, and each element has a
            // term.
            unsafe { cuda.launch(&self.squares, LaunchConfig::cover(threads, BLOCK as u32), args)? };
        }
        self.sum.launch(cuda, self.sum.terms.len(), args)?;
        if let Some(link) = link
            && !link.sum(&mut self.sum.words, ExactSum::WORDS)?
        {
            return Ok(false);
        }
        args.clear();
        args.buffer(&self.sum.words).buffer(result);
        // SAFETY: the arguments are the kernel's.
        unsafe { cuda.launch(&self.round, LaunchConfig::new(1, 32), args)? };
        Ok(true)
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// The norm `(Σ_i x_i²)^½` of an array like the state, as [`Discretization::norm`]: the same bits for any
    /// number of ranks. Waits for the device.
    ///
    /// # Errors
    /// Errors of the device, [`OpsError::Ranks`].
    ///
    /// # Panics
    /// If the array does not have the length of the state.
    pub fn norm(&mut self, x: &DeviceBuffer<T>) -> Result<f64, OpsError> {
        assert_eq!(x.len(), self.len(), "the array has the state's length");
        let mut sum = match self.square_sum.take() {
            Some(sum) => sum,
            None => SquareSum::new(&self.cuda, &self.description)?,
        };
        let result = DeviceBuffer::zeros(&self.cuda, "a norm", 1)?;
        let link = self.halo.as_ref().map(|halo| &halo.messages.link);
        // SAFETY: the array is borrowed, and the copies below wait for the stream.
        let agreed = unsafe { sum.launch(&self.cuda, link, x.ptr(), &result) };
        let agreed = agreed.map_err(OpsError::from)?;
        if self.halo.is_some() {
            self.wait()?;
        }
        let value = match self.description.ranks() {
            Some(ranks) if !agreed => ranks.sum(&mut sum.sum.read()?)[0],
            _ => result.to_vec()?[0],
        };
        self.square_sum = Some(sum);
        Ok(value.sqrt())
    }
}
