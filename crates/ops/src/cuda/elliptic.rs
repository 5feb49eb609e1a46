//! The interior penalty operator on NVIDIA devices, with block Jacobi and transfers between orders.
//!
//! [`CudaSipdg`] is the device version of [`Sipdg`], [`CudaBlockInverse`] of [`BlockInverse`],
//! [`CudaPTransfer`] of [`PTransfer`](crate::elliptic::PTransfer). A vector on a device is `[element][node]`,
//! part after part, without padding between elements. The rows that fill up the host's blocks are at its end,
//! so that both vectors have the same length. [`CudaSipdg::rows`] is the permutation.

mod block_jacobi;
mod halves;
mod linelets;
mod lines;
mod mass;
mod penalties;
mod places;
pub(crate) mod ranks;
mod reaction;
mod rounding;
mod simplex;
mod transfer;
mod universal;

pub use block_jacobi::CudaBlockInverse;
pub use linelets::CudaLinelets;
pub use mass::CudaMass;
pub use penalties::CudaPenalties;
pub use ranks::CudaGathering;
pub use transfer::CudaPTransfer;

use crate::elliptic::device::simplices::OfSimplices;
use crate::elliptic::device::{DevicePart, DeviceSpan};
use crate::elliptic::{BlockInverse, LineletInverse, Sipdg};
use crate::error::OpsError;
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::{Cuda, CudaItems, CudaSummation, DeviceBuffer, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};
use lines::Lines;
use ranks::{CudaRefresh, DeviceRanks};
use reaction::Reaction;
use rounding::Products;
use simplex::{Finish, Simplex};
use std::sync::Arc;
use universal::Universal;

/// A kernel text of this folder in one precision, with its headers.
fn with_headers<T: Scalar>(name: &str, text: &str) -> Source {
    let source = Source::new(name, text);
    if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
}

/// Copies numbers to a device, converted to another precision.
fn upload<T: Scalar>(cuda: &Cuda, what: &str, numbers: &[f64]) -> Result<DeviceBuffer<T>, GpuError> {
    let numbers: Vec<T> = numbers.iter().map(|v| T::from_f64(*v)).collect();
    DeviceBuffer::from_slice(cuda, what, &numbers)
}

/// Location of the elements of one shape in a device's vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    shape: Shape,
    first_row: usize,
    n_elements: usize,
    np: usize,
}

/// The kernels that apply the operator.
enum Kernels<T: Scalar> {
    /// Two kernels for each part, from the host's tables.
    Universal(Universal<T>),
    /// One kernel for affine simplices, then those for other elements and the simplices beside them.
    Simplex(Simplex<T>, Option<Universal<T>>),
    /// One kernel for quadrilaterals or hexahedra.
    Lines(Lines<T>),
}

impl<T: Scalar> Kernels<T> {
    fn bytes(&self) -> usize {
        match self {
            Self::Universal(k) => k.bytes(),
            Self::Simplex(k, rest) => k.bytes() + rest.as_ref().map_or(0, Universal::bytes),
            Self::Lines(k) => k.bytes(),
        }
    }

    /// Bytes that an application moves besides its vectors.
    fn bytes_moved(&self) -> usize {
        match self {
            Self::Universal(k) => k.bytes_moved(),
            Self::Simplex(k, rest) => k.bytes() + rest.as_ref().map_or(0, Universal::bytes_moved),
            Self::Lines(k) => k.bytes(),
        }
    }
}

/// The operator of a screened Poisson problem on a device: `A u` as computed by [`Sipdg::apply`], up to
/// rounding.
///
/// Kernels are compiled at run time for the device, with shape, order, geometry and precision as constants.
/// Numbers in single precision are rounded from the host's in double precision.
pub struct CudaSipdg<T: Scalar> {
    cuda: Cuda,
    order: usize,
    rows: Vec<u32>,
    /// Number of rows of elements; the others fill up the host's blocks.
    real: usize,
    spans: Vec<Span>,
    kernels: Kernels<T>,
    /// The host's factor of λ at the set-up, and `w J λ` for that factor if it has been changed since.
    lambda_factor: f64,
    reaction: Option<Reaction<T>>,
    /// How vectors are summed.
    summation: Arc<CudaSummation>,
    /// Brings entries of elements of other ranks.
    refresh: Option<Arc<CudaRefresh>>,
}

impl<T: Scalar> CudaSipdg<T> {
    /// Sets up the operator `host` on a device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for operators with more than 2³⁰ entries, [`OpsError::Machine`] for errors of
    /// the device or its compiler.
    pub fn new(cuda: &Cuda, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        Self::with(cuda, host, Products::Double)
    }

    /// An approximation of `host` for preconditioners: in single precision, the kernels that use tensor cores
    /// for affine simplices multiply differences rounded to 11 bits (TF32) and sum in single precision. For
    /// other elements, and in double precision, this is [`new`](Self::new).
    ///
    /// ‖Ã u − A u‖ ≤ ε ‖u‖ in the energy norm and its dual, where ε is of the order of 10⁻³ and independent
    /// of the size of the elements: derivatives and jumps are computed in single precision before they are
    /// rounded, and the matrices of the derivatives are rounded so that derivatives of constants, with which
    /// fluxes are tested, still vanish.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn rounded(cuda: &Cuda, host: &Sipdg<f64>) -> Result<Self, OpsError> {
        Self::with(cuda, host, Self::rounded_products())
    }

    /// The products of [`rounded`](Self::rounded).
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
        match host.simplices(&layout)? {
            OfSimplices::Here(tables) => {
                if let Some(fast) = Simplex::new(cuda, &layout, &tables, products)? {
                    let rest = host.device_rest(&layout, &tables)?;
                    let rest = (!rest.is_empty()).then(|| Universal::new(cuda, &layout, &rest, false));
                    kernels = Some(Kernels::Simplex(fast, rest.transpose()?));
                }
            }
            OfSimplices::NoneHere => {}
            OfSimplices::No => {
                if let Some(tables) = host.grids(&layout)? {
                    kernels = Lines::new(cuda, &layout, &tables)?.map(Kernels::Lines);
                }
            }
        }
        let kernels = match kernels {
            Some(kernels) => kernels,
            None => Kernels::Universal(Universal::new(cuda, &layout, &host.device_parts(&layout)?, true)?),
        };
        let counted = |s: &DeviceSpan| s.elements.iter().filter(|&&e| host.counts(e as usize)).count();
        let items = layout.spans.iter().map(|s| CudaItems {
            first: s.first_row,
            rows: s.np,
            n: s.elements.len(),
            counted: counted(s),
        });
        let items: Vec<CudaItems> = items.collect();
        let devices = host.ranks().map(|ranks| DeviceRanks::of(ranks, cuda)).transpose()?;
        let link = devices.as_ref().map(|devices| Arc::clone(devices.link()));
        let summation = Arc::new(CudaSummation::new(cuda, layout.rows.len(), &items, link)?);
        let refresh = devices.map(|devices| devices.refresh::<T>(cuda, host, &layout.rows)).transpose()?;
        let (order, real, lambda_factor) = (host.order(), layout.real, host.lambda_factor());
        let (cuda, rows, reaction) = (cuda.clone(), layout.rows, None);
        Ok(Self { cuda, order, rows, real, spans, kernels, lambda_factor, reaction, summation, refresh })
    }

    /// The texts of the operator's kernels, as they are compiled.
    ///
    /// # Errors
    /// As for [`new`](Self::new), except errors of the device.
    pub fn texts(host: &Sipdg<f64>) -> Result<Vec<Source>, OpsError> {
        Self::texts_with(host, Products::Double)
    }

    /// The texts of the kernels of [`rounded`](Self::rounded).
    ///
    /// # Errors
    /// As for [`texts`](Self::texts).
    pub fn rounded_texts(host: &Sipdg<f64>) -> Result<Vec<Source>, OpsError> {
        Self::texts_with(host, Self::rounded_products())
    }

    fn texts_with(host: &Sipdg<f64>, products: Products) -> Result<Vec<Source>, OpsError> {
        let layout = host.device_layout()?;
        let universal = |parts: &[DevicePart]| parts.iter().map(Universal::<T>::text).collect();
        match host.simplices(&layout)? {
            OfSimplices::Here(tables) => {
                if let Some(simplex) = Simplex::<T>::text(&tables, products) {
                    let rest: Vec<_> = universal(&host.device_rest(&layout, &tables)?)?;
                    return Ok([vec![simplex], rest].concat());
                }
            }
            OfSimplices::NoneHere => {}
            OfSimplices::No => {
                if let Some(lines) = host.grids(&layout)?.and_then(|tables| Lines::<T>::text(&tables)) {
                    return Ok(vec![lines]);
                }
            }
        }
        universal(&host.device_parts(&layout)?)
    }

    /// Length of a vector, the same as on the host.
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

    /// Memory on the device in bytes: geometry, matrices, tables of neighbours and published values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kernels.bytes()
    }

    /// Bytes that one application must move: `u`, `A u`, coefficients, tables of neighbours, and published
    /// values; each once, or twice if one kernel writes what another reads.
    #[must_use]
    pub fn bytes_moved(&self) -> usize {
        2 * self.real * T::BYTES + self.kernels.bytes_moved()
    }

    /// For each row of the host's vectors, the row of the device's vectors: a permutation. Rows that fill up
    /// the host's blocks come last; they are rows of the identity on both.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Copies a vector from the host to the device.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the length is not [`len`](Self::len), and errors of the device.
    pub fn upload(&self, host: &[f64]) -> Result<CudaVector<T>, GpuError> {
        self.check("copying a vector to the device", host.len())?;
        let mut numbers = vec![T::ZERO; host.len()];
        self.rows.iter().zip(host).for_each(|(&row, v)| numbers[row as usize] = T::from_f64(*v));
        let buffer = DeviceBuffer::from_slice(&self.cuda, "a vector", &numbers)?;
        Ok(CudaVector::from_buffer(&self.cuda, buffer)?.summed_by(Arc::clone(&self.summation)))
    }

    /// A vector of zeros, summed by element, over all ranks.
    ///
    /// # Errors
    /// Not enough memory, and errors of the device.
    pub fn zeros(&self) -> Result<CudaVector<T>, GpuError> {
        Ok(CudaVector::zeros(&self.cuda, self.len())?.summed_by(Arc::clone(&self.summation)))
    }

    /// Waits for the device, with several ranks until the communicator's deadline.
    ///
    /// # Errors
    /// Errors of the device, and of the messages between ranks.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.summation.wait()
    }

    /// Whether an application consists of launches only, which a graph can record.
    #[must_use]
    pub fn is_recordable(&self) -> bool {
        self.summation.is_recordable()
    }

    /// Replaces the entries of elements of other ranks by theirs. Functions that couple elements do it
    /// themselves. Collective.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the length is not [`len`](Self::len), and errors of launches and messages.
    pub fn refresh(&self, vector: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check("an exchange of elements", vector.buffer().len())?;
        self.refreshed(vector.buffer_mut())
    }

    fn refreshed(&self, vector: &mut DeviceBuffer<T>) -> Result<(), GpuError> {
        self.refresh.as_ref().map_or(Ok(()), |refresh| refresh.run(&self.cuda, vector))
    }

    /// Copies a vector from the device to the host.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the length is not [`len`](Self::len), and errors of the device or of earlier
    /// kernels.
    pub fn download(&self, vector: &CudaVector<T>) -> Result<Vec<f64>, GpuError> {
        self.check("copying a vector from the device", vector.buffer().len())?;
        self.summation.wait()?;
        self.cuda.take_failure()?;
        let numbers = vector.buffer().to_vec()?;
        Ok(self.rows.iter().map(|&row| numbers[row as usize].to_f64()).collect())
    }

    /// Computes `au ← A u`. Consists of launches only, which a graph can record if
    /// [`is_recordable`](Self::is_recordable). Collective on several ranks.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not [`len`](Self::len), and errors of launches and messages.
    pub fn apply(&self, u: &CudaVector<T>, au: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check("applying an operator", u.buffer().len())?;
        self.check("applying an operator", au.buffer().len())?;
        match &self.kernels {
            Kernels::Lines(k) => {
                k.apply(&self.cuda, u.buffer(), au.buffer_mut())?;
                self.refreshed(au.buffer_mut())
            }
            _ => self.apply_and_finish(u.buffer(), au.buffer_mut(), None),
        }
    }

    /// Whether [`relax`](Self::relax) and [`residual`](Self::residual) are faster than the product followed
    /// by a pass over the vectors. This is so if one thread processes an element, on triangles up to order 2
    /// and tetrahedra of order 1. In the kernels with tensor cores, four lanes load an element's numbers in
    /// small pieces, and the products wait for them: on an H200, whole solves with orders 4, 5 and 8 took
    /// longer. With rounded products, on triangles of order 6, they took 17.1 ms instead of 17.9.
    #[must_use]
    pub fn is_faster_in_one_pass(&self) -> bool {
        matches!(&self.kernels, Kernels::Simplex(k, _) if k.is_faster_in_one_pass())
    }

    /// Computes `r ← b − A u` if the kernel supports this in one pass, as all but those of
    /// quadrilaterals and hexahedra do. Otherwise it returns `false` and does nothing.
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

    /// A step of a smoother, `y ← x + β D⁻¹ (b − A x)`, if the kernel supports this in one pass, as all but
    /// those of quadrilaterals and hexahedra do. Otherwise it returns `false` and does nothing.
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
        if matches!(self.kernels, Kernels::Lines(_)) {
            return Ok(false);
        }
        for length in [finish.b.len(), u.buffer().len(), to.buffer().len()] {
            self.check("a residual", length)?;
        }
        self.apply_and_finish(u.buffer(), to.buffer_mut(), Some(finish))?;
        Ok(true)
    }

    /// The kernels that can finish a step; the lengths have been checked.
    fn apply_and_finish(
        &self,
        u: &DeviceBuffer<T>,
        to: &mut DeviceBuffer<T>,
        finish: Option<Finish<'_, T>>,
    ) -> Result<(), GpuError> {
        match &self.kernels {
            Kernels::Universal(k) => k.apply(&self.cuda, u, to, finish)?,
            Kernels::Simplex(k, rest) => {
                k.apply(&self.cuda, u, to, finish)?;
                rest.iter().try_for_each(|rest| rest.apply(&self.cuda, u, to, finish))?;
            }
            Kernels::Lines(_) => {}
        }
        self.refreshed(to)
    }

    /// Copies the host's inverses of the diagonal blocks to the device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if `host` does not belong to this operator, and errors of the device.
    pub fn block_inverses(&self, host: &BlockInverse<f64>) -> Result<CudaBlockInverse<T>, OpsError> {
        CudaBlockInverse::new(self, host)
    }

    /// Copies the host's point Jacobi with linelets to the device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if `host` does not belong to this operator, and errors of the device.
    pub fn linelets(&self, host: &LineletInverse<f64>) -> Result<CudaLinelets<T>, OpsError> {
        CudaLinelets::new(self, host)
    }

    /// Copies the mass matrix of the host's operator and its inverse to the device.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if `host` does not belong to this operator, [`OpsError::Basis`] if the mass
    /// matrix of a curved element cannot be inverted, and errors of the device.
    pub fn mass(&self, host: &Sipdg<f64>) -> Result<CudaMass<T>, OpsError> {
        CudaMass::new(self, host)
    }

    /// The penalties on divergence and normal jumps in the space of this operator; `None` if an element of
    /// the mesh is curved or a pyramid, or does not fit the device's shared memory.
    ///
    /// # Errors
    /// Errors of the device or its compiler.
    pub fn penalties(&self, host: &Sipdg<f64>) -> Result<Option<CudaPenalties<T>>, OpsError> {
        CudaPenalties::new(self, host)
    }

    fn check(&self, doing: &'static str, found: usize) -> Result<(), GpuError> {
        let wanted = self.len();
        if wanted == found { Ok(()) } else { Err(GpuError::Length { doing, wanted, found }) }
    }
}
