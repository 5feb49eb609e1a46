//! The mass matrix on a device: launches of `elliptic_mass.cu`.

use super::block_jacobi::BLOCK_PRODUCT;
use super::universal::DeviceRows;
use super::{CudaSipdg, upload, with_headers};
use crate::elliptic::Sipdg;
use crate::elliptic::device::mass::DeviceMass;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};
use std::slice::{from_mut, from_ref};

/// Threads of a block.
const THREADS: u32 = 256;
/// Largest number of vectors of a launch (`PARTS` of elliptic_mass.cu).
const PARTS: usize = 4;

/// The vectors and factors of a launch, and its rows, with the layout of elliptic_mass.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct Vectors {
    u: [u64; PARTS],
    w: [u64; PARTS],
    out: [u64; PARTS],
    factors: [f64; 3],
    rows: [u64; 4],
}

/// `out ← b out + c M (u + a w)`.
struct Combination<'a, T: Scalar> {
    u: &'a [CudaVector<T>],
    w: (f64, &'a [CudaVector<T>]),
    b: f64,
    c: f64,
}

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
                .header(BLOCK_PRODUCT.0, BLOCK_PRODUCT.1)
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
                let function = || cuda.compile(&text(1))?.function("mass_dense");
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
        self.multiply(Which::Mass, &Combination::of(from_ref(u)), from_mut(mu))
    }

    /// Computes `out ← b out + c M u` for several vectors, in one launch for each part; padding as if M were
    /// the identity. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    ///
    /// # Panics
    /// If the lists differ in length.
    #[track_caller]
    pub fn add_mass(
        &self,
        c: f64,
        u: &[CudaVector<T>],
        b: f64,
        out: &mut [CudaVector<T>],
    ) -> Result<(), GpuError> {
        self.multiply(Which::Mass, &Combination { b, c, ..Combination::of(u) }, out)
    }

    /// As [`add_mass`](Self::add_mass): `out ← M (u + a w)`.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    ///
    /// # Panics
    /// If the lists differ in length.
    #[track_caller]
    pub fn mass_of_sum(
        &self,
        u: &[CudaVector<T>],
        a: f64,
        w: &[CudaVector<T>],
        out: &mut [CudaVector<T>],
    ) -> Result<(), GpuError> {
        self.multiply(Which::Mass, &Combination { w: (a, w), ..Combination::of(u) }, out)
    }

    /// Computes `z ← M⁻¹ r`; padding is copied. Consists of launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    pub fn inverse_mass(&self, r: &CudaVector<T>, z: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.inverse_mass_each(from_ref(r), from_mut(z))
    }

    /// [`inverse_mass`](Self::inverse_mass) for several vectors, in one launch for each part.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    ///
    /// # Panics
    /// If the lists differ in length.
    #[track_caller]
    pub fn inverse_mass_each(&self, r: &[CudaVector<T>], z: &mut [CudaVector<T>]) -> Result<(), GpuError> {
        self.multiply(Which::Inverse, &Combination::of(r), z)
    }

    /// Computes the load of a residual, as [`Sipdg::load_of_residual`]; padding is copied. Consists of
    /// launches only, which a graph can record.
    ///
    /// # Errors
    /// As for [`mass`](Self::mass).
    pub fn load_of_residual(&self, r: &CudaVector<T>, load: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.multiply(Which::Load, &Combination::of(from_ref(r)), from_mut(load))
    }

    #[track_caller]
    fn multiply(
        &self,
        which: Which,
        of: &Combination<'_, T>,
        out: &mut [CudaVector<T>],
    ) -> Result<(), GpuError> {
        let (a, w) = of.w;
        assert!(of.u.len() == out.len() && (a == 0.0 || w.len() == out.len()), "as many vectors");
        for vector in of.u.iter().chain(w).chain(&*out) {
            let (wanted, found) = (self.len, vector.buffer().len());
            if found != wanted {
                return Err(GpuError::Length { doing: "applying a mass matrix", wanted, found });
            }
        }
        let addresses = |vectors: &[CudaVector<T>], first: usize| -> [u64; PARTS] {
            let mut all = [0; PARTS];
            let some = vectors.iter().skip(first);
            all.iter_mut().zip(some).for_each(|(at, x)| *at = x.buffer().ptr());
            all
        };
        for first in (0..out.len()).step_by(PARTS) {
            for part in &self.parts {
                let last = part.first_row + part.rows == self.real;
                let copied = if last { self.len - self.real } else { 0 };
                let by = part.load.as_ref().filter(|_| which == Which::Load).unwrap_or(&part.mass);
                let number = usize::from(which == Which::Inverse);
                let mut args = Args::new();
                match &by.factor {
                    Factor::Diagonal(numbers) => args.buffer(numbers),
                    Factor::Reference { matrices, jacobian } => {
                        let [values, columns] = matrices[number].argument().addresses();
                        args.pointer(values).pointer(columns).buffer(jacobian)
                    }
                    Factor::Dense(matrices) => args.buffer(&matrices[number]),
                };
                args.value(Vectors {
                    u: addresses(of.u, first),
                    w: addresses(w, first),
                    out: addresses(out, first),
                    factors: [a, of.b, of.c],
                    rows: [part.first_row, part.rows, self.real, copied].map(|n| n as u64),
                });
                args.value(number as u64);
                let mut config = LaunchConfig::cover(part.rows.max(copied), THREADS).early(true);
                config.grid[1] = (out.len() - first).min(PARTS) as u32;
                // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
                unsafe { self.cuda.launch(&by.multiply[number], config, &args)? };
            }
        }
        Ok(())
    }
}

impl<'a, T: Scalar> Combination<'a, T> {
    /// The product alone.
    const fn of(u: &'a [CudaVector<T>]) -> Self {
        Self { u, w: (0.0, &[]), b: 0.0, c: 1.0 }
    }
}
