//! The mass matrix on a device: launches of `elliptic_mass.cu`, and of `elliptic_block_jacobi.cu` for curved
//! elements with a dense matrix.

use super::universal::DeviceRows;
use super::{CudaSipdg, upload, with_headers};
use crate::elliptic::Sipdg;
use crate::elliptic::device::mass::DeviceMass;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// Threads of a block.
const THREADS: u32 = 256;

/// The mass matrix of an operator and its inverse on a device, as [`Sipdg::mass`] and
/// [`Sipdg::inverse_mass`]; made by [`CudaSipdg::mass`].
///
/// On affine elements they are `J` times the reference matrix, at Gauss nodes a diagonal, and on other curved
/// elements a dense matrix for each element.
pub struct CudaMass<T: Scalar> {
    cuda: Cuda,
    len: usize,
    /// Number of rows of elements.
    real: usize,
    parts: Vec<Part<T>>,
}

enum Factor<T: Scalar> {
    Diagonal(DeviceBuffer<T>),
    Reference { matrices: [DeviceRows<T>; 2], jacobian: DeviceBuffer<T> },
    Dense([DeviceBuffer<T>; 2]),
}

struct Part<T: Scalar> {
    factor: Factor<T>,
    /// For the matrix and its inverse.
    multiply: [Function; 2],
    first_row: usize,
    rows: usize,
}

impl<T: Scalar> CudaMass<T> {
    pub(super) fn new(operator: &CudaSipdg<T>, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        let cuda = &operator.cuda;
        let layout = host.device_layout()?;
        if layout.rows != operator.rows {
            let reason = "a mass matrix is not of this operator".to_owned();
            return Err(OpsError::Elliptic { reason });
        }
        let mut parts = Vec::new();
        for (span, of_host) in operator.spans.iter().zip(host.device_mass(&layout)?) {
            let what = "a mass matrix";
            let text = |width: usize| {
                with_headers::<T>("elliptic_mass.cu", include_str!("elliptic_mass.cu"))
                    .define("NP", span.np)
                    .define("WIDTH", width)
                    .define("THREADS", THREADS)
            };
            let (factor, multiply) = match of_host {
                DeviceMass::Diagonal(numbers) => {
                    let function = || cuda.compile(&text(1))?.function("mass_diagonal");
                    (Factor::Diagonal(upload(cuda, what, &numbers)?), [function()?, function()?])
                }
                DeviceMass::Reference { matrices: [mass, inverse], jacobian } => {
                    let matrices = [DeviceRows::new(cuda, &mass)?, DeviceRows::new(cuda, &inverse)?];
                    let function =
                        |m: &DeviceRows<T>| cuda.compile(&text(m.width()))?.function("mass_reference");
                    let multiply = [function(&matrices[0])?, function(&matrices[1])?];
                    (Factor::Reference { matrices, jacobian: upload(cuda, what, &jacobian)? }, multiply)
                }
                DeviceMass::Dense([mass, inverse]) => {
                    let source = super::block_jacobi::text::<T>(span.np, THREADS);
                    let function = || cuda.compile(&source)?.function("block_multiply");
                    let matrices = [upload(cuda, what, &mass)?, upload(cuda, what, &inverse)?];
                    (Factor::Dense(matrices), [function()?, function()?])
                }
            };
            parts.push(Part { factor, multiply, first_row: span.first_row, rows: span.n_elements * span.np });
        }
        Ok(Self { cuda: cuda.clone(), len: operator.len(), real: operator.real, parts })
    }

    /// Memory on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of_part = |part: &Part<T>| match &part.factor {
            Factor::Diagonal(numbers) => numbers.bytes(),
            Factor::Reference { matrices, jacobian } => {
                matrices.iter().map(DeviceRows::bytes).sum::<usize>() + jacobian.bytes()
            }
            Factor::Dense(matrices) => matrices.iter().map(DeviceBuffer::bytes).sum(),
        };
        self.parts.iter().map(of_part).sum()
    }

    /// Computes `mu ← M u`; padding is copied. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches.
    pub fn mass(&self, u: &CudaVector<T>, mu: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(0, u, mu)
    }

    /// Computes `z ← M⁻¹ r`; padding is copied. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    pub fn inverse_mass(&self, r: &CudaVector<T>, z: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(1, r, z)
    }

    fn multiply(&self, which: usize, u: &CudaVector<T>, out: &mut CudaVector<T>) -> Result<(), GpuError> {
        for found in [u.buffer().len(), out.buffer().len()] {
            if found != self.len {
                let doing = "applying a mass matrix";
                return Err(GpuError::Length { doing, wanted: self.len, found });
            }
        }
        for part in &self.parts {
            let last = part.first_row + part.rows == self.real;
            let copied = if last { self.len - self.real } else { 0 };
            let mut args = Args::new();
            match &part.factor {
                Factor::Diagonal(numbers) => args.buffer(numbers),
                Factor::Reference { matrices, jacobian } => {
                    let [values, columns] = matrices[which].argument().addresses();
                    args.pointer(values).pointer(columns).buffer(jacobian)
                }
                Factor::Dense(matrices) => args.buffer(&matrices[which]),
            };
            args.buffer(u.buffer()).buffer(out.buffer());
            args.value(part.first_row as u64).value(part.rows as u64);
            args.value(self.real as u64).value(copied as u64);
            if !matches!(part.factor, Factor::Dense(_)) {
                args.value(which as u64);
            }
            let config = LaunchConfig::cover(part.rows.max(copied), THREADS).early(true);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { self.cuda.launch(&part.multiply[which], config, &args)? };
        }
        Ok(())
    }
}
