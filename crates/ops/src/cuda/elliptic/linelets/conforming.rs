//! The diagonal of the continuous functions on a device: launches of `elliptic_conforming.cu`.

use crate::cuda::elliptic::ranks::{DeviceRanks, NodeMessages};
use crate::cuda::elliptic::{CudaSipdg, upload, with_headers};
use crate::elliptic::Conforming;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// Threads of a block.
const THREADS: u32 = 128;

/// `Q diag(QᵀAQ)⁻¹ Qᵀ`, see [`Conforming`].
pub(super) struct CudaConforming<T: Scalar> {
    sum: Function,
    add: Function,
    difference: Function,
    starts: DeviceBuffer<u32>,
    entries: DeviceBuffer<u32>,
    inverse: DeviceBuffer<T>,
    /// The function of each entry.
    function: DeviceBuffer<u32>,
    sums: DeviceBuffer<T>,
    received: DeviceBuffer<T>,
    messages: Option<NodeMessages>,
    n: usize,
    len: usize,
}

impl<T: Scalar> CudaConforming<T> {
    pub(super) fn new(operator: &CudaSipdg<T>, host: &Conforming<f64>) -> Result<Self, OpsError> {
        const WHAT: &str = "the continuous functions";
        let cuda = &operator.cuda;
        let (rows, len, host_len) = (operator.rows(), operator.len(), host.function.len());
        let place = |&entry: &u32| match rows.get(entry as usize) {
            Some(row) => *row,
            None => entry - host_len as u32 + len as u32,
        };
        let mut function = vec![u32::MAX; len];
        for (of, row) in host.function.iter().zip(rows) {
            function[*row as usize] = *of;
        }
        let messages = match host.halo() {
            None => None,
            Some((ranks, messages)) => {
                let mut first = 0;
                let list = messages.iter().map(|(rank, sends, n)| {
                    let receives = (first..first + *n as u32).collect();
                    first += *n as u32;
                    (*rank, sends.iter().map(place).collect(), receives)
                });
                Some(NodeMessages::new::<T>(cuda, DeviceRanks::of(ranks, cuda)?.link(), list.collect())?)
            }
        };
        let n_received = host.n_received().max(1);
        let text = with_headers::<T>("elliptic_conforming.cu", include_str!("elliptic_conforming.cu"))
            .define("THREADS", THREADS);
        let module = cuda.compile(&text)?;
        let list = |numbers: &[u32]| DeviceBuffer::from_slice(cuda, WHAT, numbers);
        let n = host.inverse.len();
        Ok(Self {
            sum: module.function("conforming_sum")?,
            add: module.function("conforming_add")?,
            difference: module.function("conforming_difference")?,
            starts: list(&host.starts)?,
            entries: list(&host.entries.iter().map(place).collect::<Vec<_>>())?,
            inverse: upload(cuda, WHAT, &host.inverse)?,
            function: list(&function)?,
            sums: DeviceBuffer::zeros(cuda, WHAT, n.max(1))?,
            received: DeviceBuffer::zeros(cuda, WHAT, n_received)?,
            messages,
            n,
            len,
        })
    }

    /// The function of each entry, and the numbers of all.
    pub(super) fn addresses(&self) -> [u64; 2] {
        [self.function.ptr(), self.sums.ptr()]
    }

    /// `diag(QᵀAQ)⁻¹ Qᵀ (b − ax)`, where `ax` may be 0; on several ranks it has to be. Collective.
    pub(super) fn sum(&self, cuda: &Cuda, [b, ax]: [u64; 2]) -> Result<(), GpuError> {
        if let Some(messages) = &self.messages {
            messages.run(cuda, b, self.received.ptr())?;
        }
        if self.n == 0 {
            return Ok(());
        }
        let mut args = Args::new();
        args.buffer(&self.starts).buffer(&self.entries).buffer(&self.inverse).value(b).value(ax);
        args.buffer(&self.received)
            .buffer(&self.sums)
            .value(self.n as u64)
            .value(self.len as u32)
            .value(0_u32);
        // SAFETY: the arguments are those of the kernel, with a thread for each function; entries are those
        // of the operator's vectors and of what is received.
        unsafe { cuda.launch(&self.sum, LaunchConfig::cover(self.n, THREADS).early(true), &args) }
    }

    /// A whole step `y ← x + β (D⁻¹ + Q diag(QᵀAQ)⁻¹ Qᵀ) (b − A x)` with `ax` = A x, or without both
    /// `y ← β (D⁻¹ + …) b`. `work` is a vector that is overwritten. Collective.
    pub(super) fn step(
        &self,
        cuda: &Cuda,
        beta: f64,
        diagonal: &CudaVector<T>,
        [b, ax, x, y, work]: [u64; 5],
        real: usize,
    ) -> Result<(), GpuError> {
        let mut from = [b, ax];
        let config = LaunchConfig::cover(self.len, THREADS).early(true);
        if self.messages.is_some() && ax != 0 {
            let mut args = Args::new();
            args.value(b).value(ax).value(work).value(self.len as u64);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { cuda.launch(&self.difference, config, &args)? };
            from = [work, 0];
        }
        self.sum(cuda, from)?;
        let mut args = Args::new();
        args.buffer(&self.function).buffer(&self.sums).buffer(diagonal.buffer());
        args.value(from[0]).value(from[1]).value(x).value(y);
        args.value(self.len as u64).value(real as u64).value(beta);
        // SAFETY: as above.
        unsafe { cuda.launch(&self.add, config, &args) }
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.starts.bytes() + self.entries.bytes() + self.function.bytes();
        lists + self.inverse.bytes() + self.sums.bytes() + self.received.bytes()
    }
}
