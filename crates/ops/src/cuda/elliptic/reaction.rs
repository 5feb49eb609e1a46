//! The factor of λ of an operator on a device: launches of `elliptic_reaction.cu`.

use super::universal::Universal;
use super::{CudaSipdg, Kernels, with_headers};
use crate::elliptic::check_factor;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use dgsuite_gpu::{GpuError, Scalar};

/// Threads of a block.
const THREADS: u32 = 256;

/// A table on a device whose rows end with a number `w J λ`.
#[derive(Clone, Copy)]
pub(super) struct ReactionTable {
    address: u64,
    rows: usize,
    width: usize,
}

impl ReactionTable {
    /// The table in a buffer with rows of `width` numbers.
    pub(super) fn new<T: Scalar>(buffer: &DeviceBuffer<T>, width: usize) -> Self {
        Self { address: buffer.ptr(), rows: buffer.len() / width, width }
    }
}

/// The numbers of the set-up, for each table, and the kernel that multiplies them.
pub(super) struct Reaction<T: Scalar> {
    tables: Vec<(ReactionTable, DeviceBuffer<T>)>,
    set: Function,
}

impl<T: Scalar> Reaction<T> {
    fn new(cuda: &Cuda, tables: Vec<ReactionTable>) -> Result<Self, GpuError> {
        let text = include_str!("elliptic_reaction.cu");
        let source = with_headers::<T>("elliptic_reaction.cu", text).define("THREADS", THREADS);
        let module = cuda.compile(&source)?;
        let keep = module.function("keep_reaction")?;
        let kept = |table: ReactionTable| {
            let kept = DeviceBuffer::zeros(cuda, "the reaction of an operator", table.rows)?;
            let mut args = Args::new();
            args.pointer(table.address).buffer(&kept).value(table.rows as u64).value(table.width as u64);
            // SAFETY: the arguments are those of the kernel, and the table has these rows.
            unsafe { cuda.launch(&keep, LaunchConfig::cover(table.rows, THREADS), &args)? };
            Ok((table, kept))
        };
        let tables = tables.into_iter().map(kept).collect::<Result<_, GpuError>>()?;
        Ok(Self { tables, set: module.function("set_reaction")? })
    }

    fn set(&self, cuda: &Cuda, factor: f64) -> Result<(), GpuError> {
        for (table, kept) in &self.tables {
            let mut args = Args::new();
            args.buffer(kept).pointer(table.address).value(table.rows as u64).value(table.width as u64);
            args.value(factor);
            // SAFETY: as above.
            unsafe { cuda.launch(&self.set, LaunchConfig::cover(table.rows, THREADS), &args)? };
        }
        // Kernels of the operator load their tables before they wait for earlier kernels.
        cuda.synchronize()
    }
}

impl<T: Scalar> CudaSipdg<T> {
    /// Changes λ to `factor` times the λ of the set-up of the host's operator, as
    /// [`Sipdg::set_lambda`](crate::Sipdg::set_lambda) does, whatever factor was set before.
    ///
    /// The tables are rewritten in place: recorded graphs remain valid and use the new λ. The function waits
    /// for the device, so that it cannot be recorded itself.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if λ is zero, or the factor is not finite and positive; errors of the device or
    /// its compiler.
    pub fn set_lambda(&mut self, factor: f64) -> Result<(), OpsError> {
        let tables = match &self.kernels {
            Kernels::Universal(k) => k.reaction_tables(),
            Kernels::Simplex(k, rest) => {
                let rest = rest.iter().flat_map(Universal::reaction_tables);
                k.reaction_tables().into_iter().chain(rest).collect()
            }
            Kernels::Lines(k) => k.reaction_tables(),
        };
        check_factor(factor, tables.is_empty())?;
        if self.reaction.is_none() {
            self.reaction = Some(Reaction::new(&self.cuda, tables)?);
        }
        if let Some(reaction) = &self.reaction {
            reaction.set(&self.cuda, factor / self.lambda_factor)?;
        }
        Ok(())
    }
}
