//! The interior penalty operator on NVIDIA devices: the twins of [`Sipdg`], [`BlockInverse`] and
//! [`PTransfer`](crate::elliptic::PTransfer).
//!
//! A vector of a device is `[element][node]`, part after part, with no padding between elements; the rows
//! that fill up the host's blocks stand at its end, so that both have one length. [`CudaSipdg::rows`] is the
//! permutation.

mod block_jacobi;
mod halves;
mod lines;
mod rounding;
mod simplex;
mod transfer;
mod universal;

pub use block_jacobi::CudaBlockInverse;
pub use transfer::CudaPTransfer;

use crate::elliptic::device::DeviceSpan;
use crate::elliptic::{BlockInverse, Sipdg};
use crate::error::OpsError;
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};
use lines::Lines;
use rounding::Products;
use simplex::{Finish, Simplex};
use universal::Universal;

/// A text of this folder in one precision.
fn with_headers<T: Scalar>(name: &str, text: &str) -> Source {
    let source = Source::new(name, text);
    if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
}

/// Numbers in another precision on a device.
fn upload<T: Scalar>(cuda: &Cuda, what: &str, numbers: &[f64]) -> Result<DeviceBuffer<T>, GpuError> {
    let numbers: Vec<T> = numbers.iter().map(|v| T::from_f64(*v)).collect();
    DeviceBuffer::from_slice(cuda, what, &numbers)
}

/// Where the elements of one shape stand in a device's vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    shape: Shape,
    first_row: usize,
    n_elements: usize,
    np: usize,
}

/// How the operator is applied.
enum Kernels<T: Scalar> {
    /// Two kernels for each part, from the host's tables.
    Universal(Universal<T>),
    /// One kernel for affine simplices.
    Simplex(Simplex<T>),
    /// One kernel for quadrilaterals or hexahedra.
    Lines(Lines<T>),
}

impl<T: Scalar> Kernels<T> {
    fn bytes(&self) -> usize {
        match self {
            Self::Universal(k) => k.bytes(),
            Self::Simplex(k) => k.bytes(),
            Self::Lines(k) => k.bytes(),
        }
    }

    /// What an application moves beside its vectors.
    fn bytes_moved(&self) -> usize {
        match self {
            Self::Universal(k) => k.bytes_moved(),
            Self::Simplex(k) => k.bytes(),
            Self::Lines(k) => k.bytes(),
        }
    }
}

/// The operator of a screened Poisson problem on a device: `A u` as by [`Sipdg::apply`], to rounding.
///
/// Kernels are compiled for the device found, each specialised to shape, order, geometry and precision. The
/// numbers of single precision are rounded from the host's in double precision.
pub struct CudaSipdg<T: Scalar> {
    cuda: Cuda,
    order: usize,
    rows: Vec<u32>,
    /// Rows of elements; the others fill up the host's blocks.
    real: usize,
    spans: Vec<Span>,
    kernels: Kernels<T>,
}

impl<T: Scalar> CudaSipdg<T> {
    /// The twin of `host` on a device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for operators of more than 2³⁰ entries, [`OpsError::Machine`] for what the
    /// device or its compiler refuses.
    pub fn new(cuda: &Cuda, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        Self::with(cuda, host, Products::Double)
    }

    /// Nearly the twin of `host`, for preconditioners: in single precision, kernels that use tensor cores for
    /// affine simplices multiply differences that are rounded to 11 bits (TF32) and sum in single precision.
    /// Elsewhere, and in double precision, this is [`new`](Self::new).
    ///
    /// ‖Ã u − A u‖ ≤ ε ‖u‖ in the energy norm and its dual, with ε of the order of 10⁻³ and independent of
    /// the size of the elements: slopes and jumps are formed in single precision before they are rounded, and
    /// the derivatives' matrices are rounded so that those of constants, with which fluxes are tested, vanish
    /// still.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn rounded(cuda: &Cuda, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        Self::with(cuda, host, Self::rounded_products())
    }

    /// What [`rounded`](Self::rounded) multiplies.
    fn rounded_products() -> Products {
        if T::BYTES == 4 { Products::Rounded } else { Products::Double }
    }

    fn with(cuda: &Cuda, host: &Sipdg<f64>, products: Products) -> Result<Self, OpsError> {
        let layout = host.device_layout()?;
        let span = |s: &DeviceSpan| Span {
            shape: s.shape,
            first_row: s.first_row,
            n_elements: s.elements.len(),
            np: s.np,
        };
        let spans = layout.spans.iter().map(span).collect();
        let mut kernels = None;
        if let Some(tables) = host.simplices(&layout) {
            kernels = Simplex::new(cuda, &layout, &tables, products)?.map(Kernels::Simplex);
        } else if let Some(tables) = host.grids(&layout) {
            kernels = Lines::new(cuda, &layout, &tables)?.map(Kernels::Lines);
        }
        let kernels = match kernels {
            Some(kernels) => kernels,
            None => Kernels::Universal(Universal::new(cuda, &layout, &host.device_parts(&layout))?),
        };
        let (order, real) = (host.order(), layout.real);
        Ok(Self { cuda: cuda.clone(), order, rows: layout.rows, real, spans, kernels })
    }

    /// The texts of its kernels, as they are compiled.
    ///
    /// # Errors
    /// As for [`new`](Self::new), but for the device's.
    pub fn texts(host: &Sipdg<f64>) -> Result<Vec<Source>, OpsError> {
        Self::texts_with(host, Products::Double)
    }

    /// Those of [`rounded`](Self::rounded).
    ///
    /// # Errors
    /// As for [`texts`](Self::texts).
    pub fn rounded_sources(host: &Sipdg<f64>) -> Result<Vec<Source>, OpsError> {
        Self::texts_with(host, Self::rounded_products())
    }

    fn texts_with(host: &Sipdg<f64>, products: Products) -> Result<Vec<Source>, OpsError> {
        let layout = host.device_layout()?;
        let simplex = host.simplices(&layout).and_then(|tables| Simplex::<T>::text(&tables, products));
        let lines = || host.grids(&layout).and_then(|tables| Lines::<T>::text(&tables));
        match simplex.or_else(lines) {
            Some(source) => Ok(vec![source]),
            None => host.device_parts(&layout).iter().map(Universal::<T>::text).collect(),
        }
    }

    /// Entries of a vector: as many as the host's.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a mesh without elements is refused
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Polynomial order.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// The device.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Bytes held on the device: geometry, matrices, tables of neighbours and what is published.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kernels.bytes()
    }

    /// Bytes that one application has to move: `u`, `A u`, coefficients, tables of neighbours, and what is
    /// published, each once or, where a kernel writes what another reads, twice.
    #[must_use]
    pub fn bytes_moved(&self) -> usize {
        2 * self.real * T::BYTES + self.kernels.bytes_moved()
    }

    /// The row of the device's vectors of each row of the host's: a permutation. Rows that fill up the host's
    /// blocks come last, and are those of the identity here as there.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// A vector of the device from one of the host.
    ///
    /// # Errors
    /// [`GpuError::Length`] for another length than [`len`](Self::len), and what the device refuses.
    pub fn upload(&self, host: &[f64]) -> Result<CudaVector<T>, GpuError> {
        self.check("copying a vector to the device", host.len())?;
        let mut numbers = vec![T::ZERO; host.len()];
        self.rows.iter().zip(host).for_each(|(&row, v)| numbers[row as usize] = T::from_f64(*v));
        let buffer = DeviceBuffer::from_slice(&self.cuda, "a vector", &numbers)?;
        CudaVector::from_buffer(&self.cuda, buffer)
    }

    /// A vector of the host from one of the device.
    ///
    /// # Errors
    /// [`GpuError::Length`] for another length than [`len`](Self::len), a failure of a kernel before, or of
    /// the driver.
    pub fn download(&self, vector: &CudaVector<T>) -> Result<Vec<f64>, GpuError> {
        self.check("copying a vector from the device", vector.buffer().len())?;
        self.cuda.take_failure()?;
        let numbers = vector.buffer().to_vec()?;
        Ok(self.rows.iter().map(|&row| numbers[row as usize].to_f64()).collect())
    }

    /// `au ← A u`: launches alone, which a graph can record.
    ///
    /// # Errors
    /// [`GpuError::Length`] for another length than [`len`](Self::len), or those of a launch.
    pub fn apply(&self, u: &CudaVector<T>, au: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check("applying an operator", u.buffer().len())?;
        self.check("applying an operator", au.buffer().len())?;
        match &self.kernels {
            Kernels::Universal(k) => k.apply(&self.cuda, u.buffer(), au.buffer_mut()),
            Kernels::Simplex(k) => k.apply(&self.cuda, u.buffer(), au.buffer_mut(), None),
            Kernels::Lines(k) => k.apply(&self.cuda, u.buffer(), au.buffer_mut()),
        }
    }

    /// Whether [`relax`](Self::relax) and [`residual`](Self::residual) are faster than the product and a pass
    /// over the vectors beside it: where a thread works on an element, on triangles up to order 2 and
    /// tetrahedra of order 1. The kernels of the tensor cores read an element's numbers by four lanes, in
    /// small pieces, for which multiplying has to wait: on an H200 whole solves of orders 4, 5 and 8 took
    /// longer so. With rounded products on triangles of order 6 they took 17.1 ms for 17.9.
    #[must_use]
    pub fn is_faster_in_one_pass(&self) -> bool {
        matches!(&self.kernels, Kernels::Simplex(k) if k.is_faster_in_one_pass())
    }

    /// `r ← b − A u`, where the kernel does so in its one pass: for affine simplices. Elsewhere it returns
    /// `false` and does nothing.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn residual(
        &self,
        b: &CudaVector<T>,
        u: &CudaVector<T>,
        r: &mut CudaVector<T>,
    ) -> Result<bool, GpuError> {
        self.finish(Finish { beta: 0.0, inverse_diagonal: None, b: b.buffer() }, u, r)
    }

    /// A step of a smoother, `y ← x + β D⁻¹ (b − A x)`, where the kernel does so in its one pass: for affine
    /// simplices. Elsewhere it returns `false` and does nothing.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn relax(
        &self,
        beta: f64,
        inverse_diagonal: &CudaVector<T>,
        b: &CudaVector<T>,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<bool, GpuError> {
        let inverse_diagonal = inverse_diagonal.buffer();
        self.check("a step of a smoother", inverse_diagonal.len())?;
        self.finish(Finish { beta, inverse_diagonal: Some(inverse_diagonal), b: b.buffer() }, x, y)
    }

    fn finish(
        &self,
        finish: Finish<'_, T>,
        u: &CudaVector<T>,
        to: &mut CudaVector<T>,
    ) -> Result<bool, GpuError> {
        let Kernels::Simplex(k) = &self.kernels else { return Ok(false) };
        for length in [finish.b.len(), u.buffer().len(), to.buffer().len()] {
            self.check("a residual", length)?;
        }
        k.apply(&self.cuda, u.buffer(), to.buffer_mut(), Some(finish))?;
        Ok(true)
    }

    /// The host's inverses of the diagonal blocks on the device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if `host` is not of this operator, and what the device refuses.
    pub fn block_inverses(&self, host: &BlockInverse<f64>) -> Result<CudaBlockInverse<T>, OpsError> {
        CudaBlockInverse::new(self, host)
    }

    fn check(&self, doing: &'static str, found: usize) -> Result<(), GpuError> {
        let wanted = self.len();
        if wanted == found { Ok(()) } else { Err(GpuError::Length { doing, wanted, found }) }
    }
}
