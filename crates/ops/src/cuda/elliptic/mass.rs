//! The mass matrix on a device: launches of `elliptic_mass.cu`, and of `elliptic_block_jacobi.cu` for curved
//! elements with a dense matrix.

use super::universal::DeviceRows;
use super::{CudaSipdg, upload, with_headers};
use crate::elliptic::Sipdg;
use crate::elliptic::device::mass::DeviceMass;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// Threads of a block.
const THREADS: u32 = 256;

/// The mass matrix of an operator and its inverse on a device, as [`Sipdg::mass`] and
/// [`Sipdg::inverse_mass`]; made by [`CudaSipdg::mass`].
///
/// On affine elements they are `J` times the reference matrix, at Gauss nodes a diagonal, and on other curved
/// elements a dense matrix for each element. The loads of residuals are those of [`Sipdg::load_of_residual`].
pub struct CudaMass<T: Scalar> {
    cuda: Cuda,
    len: usize,
    /// Number of rows of elements.
    real: usize,
    parts: Vec<Part<T>>,
}

enum Factor<T: Scalar> {
    Diagonal(DeviceBuffer<T>),
    /// The matrix and its inverse; one matrix alone for loads.
    Reference {
        matrices: Vec<DeviceRows<T>>,
        jacobian: DeviceBuffer<T>,
    },
    Dense([DeviceBuffer<T>; 2]),
}

/// Matrices of a part, with the kernel of each.
struct Matrices<T: Scalar> {
    factor: Factor<T>,
    multiply: Vec<Function>,
}

struct Part<T: Scalar> {
    /// The matrix and its inverse.
    mass: Matrices<T>,
    /// The matrix of loads, if it is another.
    load: Option<Matrices<T>>,
    first_row: usize,
    rows: usize,
}

/// Which matrix is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Mass,
    Inverse,
    Load,
}

impl<T: Scalar> Matrices<T> {
    fn new(cuda: &Cuda, np: usize, of_host: DeviceMass) -> Result<Self, OpsError> {
        let what = "a mass matrix";
        let text = |width: usize| {
            with_headers::<T>("elliptic_mass.cu", include_str!("elliptic_mass.cu"))
                .define("NP", np)
                .define("WIDTH", width)
                .define("THREADS", THREADS)
        };
        let reference = |matrices: &[Rows], jacobian: &[f64]| -> Result<Self, OpsError> {
            let matrices: Vec<DeviceRows<T>> =
                matrices.iter().map(|m| DeviceRows::new(cuda, m)).collect::<Result<_, _>>()?;
            let function = |m: &DeviceRows<T>| cuda.compile(&text(m.width()))?.function("mass_reference");
            let multiply = matrices.iter().map(function).collect::<Result<_, _>>()?;
            Ok(Self {
                factor: Factor::Reference { matrices, jacobian: upload(cuda, what, jacobian)? },
                multiply,
            })
        };
        match of_host {
            DeviceMass::Diagonal(numbers) => {
                let function = || cuda.compile(&text(1))?.function("mass_diagonal");
                let multiply = vec![function()?, function()?];
                Ok(Self { factor: Factor::Diagonal(upload(cuda, what, &numbers)?), multiply })
            }
            DeviceMass::Reference { matrices, jacobian } => reference(&matrices, &jacobian),
            DeviceMass::Load { matrix, elements } => reference(&[matrix], &vec![1.0; elements]),
            DeviceMass::Dense([mass, inverse]) => {
                let source = super::block_jacobi::text::<T>(np, THREADS);
                let function = || cuda.compile(&source)?.function("block_multiply");
                let matrices = [upload(cuda, what, &mass)?, upload(cuda, what, &inverse)?];
                Ok(Self { factor: Factor::Dense(matrices), multiply: vec![function()?, function()?] })
            }
        }
    }

    fn bytes(&self) -> usize {
        match &self.factor {
            Factor::Diagonal(numbers) => numbers.bytes(),
            Factor::Reference { matrices, jacobian } => {
                matrices.iter().map(DeviceRows::bytes).sum::<usize>() + jacobian.bytes()
            }
            Factor::Dense(matrices) => matrices.iter().map(DeviceBuffer::bytes).sum(),
        }
    }
}

impl<T: Scalar> CudaMass<T> {
    pub(super) fn new(operator: &CudaSipdg<T>, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        let cuda = &operator.cuda;
        let layout = host.device_layout()?;
        if layout.rows != operator.rows {
            let reason = "a mass matrix is not of this operator".to_owned();
            return Err(OpsError::Elliptic { reason });
        }
        let matrices = host.device_mass(&layout)?.into_iter().zip(host.device_load(&layout));
        let mut parts = Vec::new();
        for (span, (mass, load)) in operator.spans.iter().zip(matrices) {
            let on_device = |of_host| Matrices::new(cuda, span.np, of_host);
            parts.push(Part {
                mass: on_device(mass)?,
                load: load.map(on_device).transpose()?,
                first_row: span.first_row,
                rows: span.n_elements * span.np,
            });
        }
        Ok(Self { cuda: cuda.clone(), len: operator.len(), real: operator.real, parts })
    }

    /// Memory on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of_part = |part: &Part<T>| part.mass.bytes() + part.load.as_ref().map_or(0, Matrices::bytes);
        self.parts.iter().map(of_part).sum()
    }

    /// Computes `mu ← M u`; padding is copied. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches.
    pub fn mass(&self, u: &CudaVector<T>, mu: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(Which::Mass, u, mu)
    }

    /// Computes `z ← M⁻¹ r`; padding is copied. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    pub fn inverse_mass(&self, r: &CudaVector<T>, z: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(Which::Inverse, r, z)
    }

    /// Computes the load of a residual, as [`Sipdg::load_of_residual`]; padding is copied. Consists of
    /// launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    pub fn load_of_residual(&self, r: &CudaVector<T>, load: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(Which::Load, r, load)
    }

    fn multiply(&self, which: Which, u: &CudaVector<T>, out: &mut CudaVector<T>) -> Result<(), GpuError> {
        for found in [u.buffer().len(), out.buffer().len()] {
            if found != self.len {
                let doing = "applying a mass matrix";
                return Err(GpuError::Length { doing, wanted: self.len, found });
            }
        }
        for part in &self.parts {
            let last = part.first_row + part.rows == self.real;
            let copied = if last { self.len - self.real } else { 0 };
            let of = part.load.as_ref().filter(|_| which == Which::Load).unwrap_or(&part.mass);
            let number = usize::from(which == Which::Inverse);
            let mut args = Args::new();
            match &of.factor {
                Factor::Diagonal(numbers) => args.buffer(numbers),
                Factor::Reference { matrices, jacobian } => {
                    let [values, columns] = matrices[number].argument().addresses();
                    args.pointer(values).pointer(columns).buffer(jacobian)
                }
                Factor::Dense(matrices) => args.buffer(&matrices[number]),
            };
            args.buffer(u.buffer()).buffer(out.buffer());
            args.value(part.first_row as u64).value(part.rows as u64);
            args.value(self.real as u64).value(copied as u64);
            if !matches!(of.factor, Factor::Dense(_)) {
                args.value(number as u64);
            }
            let config = LaunchConfig::cover(part.rows.max(copied), THREADS).early(true);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { self.cuda.launch(&of.multiply[number], config, &args)? };
        }
        Ok(())
    }
}
