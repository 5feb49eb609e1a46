//! A sparse matrix on a device: products, residuals and smoothing steps, each in one kernel.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar, Vector};

use super::layout::{self, Arrays, RowLayout};
use crate::sparse::View;
use crate::{Csr, LinearOperator};

/// Threads of a block.
pub(super) const THREADS: u32 = 256;

/// A kernel text of this crate with the header for rows, for one precision.
pub(super) fn source<T: Scalar>(name: &str, text: &str) -> Source {
    let source = Source::new(name, text).header("rows.cuh", include_str!("rows.cuh"));
    let source = source.define("THREADS", THREADS).define("SLICE", layout::SLICE);
    if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
}

pub(super) fn own_source<T: Scalar>() -> Source {
    source::<T>("sparse.cu", include_str!("sparse.cu"))
}

/// A sparse matrix in the memory of a device.
///
/// Beside `x` and `y` a product moves, for each stored entry, 4 bytes for the column and one number: 12 bytes
/// in double precision, 8 in single; and 8 bytes for each row, or for each slice of 32. A smoother's step
/// reads three more vectors than a product (`b`, `D⁻¹` and the former iterate).
///
/// Operations return at once and run in the order of the device's main stream; the next download reports a
/// launch that failed, as for [`CudaVector`].
pub struct CudaCsr<T: Scalar> {
    cuda: Cuda,
    starts: DeviceBuffer<u64>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<T>,
    layout: RowLayout,
    n_rows: usize,
    n_cols: usize,
    multiply: Function,
    add_product: Function,
    residual: Function,
    relax: Function,
}

/// `Matrix` of rows.cuh.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MatrixArgument {
    starts: u64,
    columns: u64,
    values: u64,
    n_rows: u32,
    shift: u32,
    sliced: u32,
}

/// The vectors of a smoother's step.
pub(super) struct Relaxation<'a, T: Scalar> {
    pub(super) inverse_diagonal: &'a DeviceBuffer<T>,
    pub(super) b: &'a DeviceBuffer<T>,
    pub(super) x: &'a DeviceBuffer<T>,
    pub(super) y: &'a mut DeviceBuffer<T>,
}

impl<T: Scalar> CudaCsr<T> {
    /// Copies a matrix to a device, in the layout that suits its rows.
    ///
    /// # Errors
    /// [`GpuError::OutOfDeviceMemory`], the errors of [`Cuda::compile`], or a failure of the driver.
    pub fn new(cuda: &Cuda, matrix: &Csr<T>) -> Result<Self, GpuError> {
        Self::with_layout(cuda, matrix, layout::choose(matrix.view()))
    }

    /// As [`new`](Self::new), in the given layout.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If more than 32 lanes share a row.
    #[track_caller]
    pub fn with_layout(cuda: &Cuda, matrix: &Csr<T>, layout: RowLayout) -> Result<Self, GpuError> {
        Self::upload(cuda, matrix.view(), matrix.n_cols(), layout)
    }

    /// The matrix of a level, square.
    pub(super) fn of_level(cuda: &Cuda, matrix: View<'_, T>) -> Result<Self, GpuError> {
        Self::upload(cuda, matrix, matrix.n_rows(), layout::choose(matrix))
    }

    /// A matrix between two levels.
    pub(super) fn of_way(cuda: &Cuda, matrix: View<'_, T>, n_cols: usize) -> Result<Self, GpuError> {
        Self::upload(cuda, matrix, n_cols, layout::choose(matrix))
    }

    fn upload(cuda: &Cuda, matrix: View<'_, T>, n_cols: usize, layout: RowLayout) -> Result<Self, GpuError> {
        assert!(layout.shift() <= 5, "at most the 32 lanes of a warp share a row");
        let module = cuda.compile(&own_source::<T>())?;
        let arrays = Arrays::new(matrix, layout);
        Ok(Self {
            cuda: cuda.clone(),
            starts: DeviceBuffer::from_slice(cuda, "the rows of a matrix", &arrays.starts)?,
            columns: DeviceBuffer::from_slice(cuda, "the columns of a matrix", &arrays.columns)?,
            values: DeviceBuffer::from_slice(cuda, "the entries of a matrix", &arrays.values)?,
            layout,
            n_rows: matrix.n_rows(),
            n_cols,
            multiply: module.function("multiply")?,
            add_product: module.function("add_product")?,
            residual: module.function("residual")?,
            relax: module.function("relax")?,
        })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// The layout of the rows in memory.
    pub fn layout(&self) -> RowLayout {
        self.layout
    }

    /// Bytes of the matrix, which a product moves in addition to its vectors.
    pub fn bytes(&self) -> usize {
        self.starts.bytes() + self.columns.bytes() + self.values.bytes()
    }

    /// `r ← b − A x`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn residual(&self, b: &CudaVector<T>, x: &CudaVector<T>, r: &mut CudaVector<T>) {
        assert_eq!(x.len(), self.n_cols, "A x needs as many entries in x as A has columns");
        assert_eq!(
            (b.len(), r.len()),
            (self.n_rows, self.n_rows),
            "b − A x has as many entries as A has rows"
        );
        let mut args = Args::new();
        args.value(self.argument()).buffer(b.buffer()).buffer(x.buffer()).buffer(r.buffer());
        // SAFETY: the arguments match the kernel; the lengths are checked, and columns are below `n_cols`.
        let launched = unsafe { self.cuda.launch(&self.residual, self.per_row(self.n_rows), &args) };
        self.cuda.note(launched);
    }

    /// `y ← y + A x`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn add_product(&self, x: &CudaVector<T>, y: &mut CudaVector<T>) {
        assert_eq!(x.len(), self.n_cols, "A x needs as many entries in x as A has columns");
        assert_eq!(y.len(), self.n_rows, "y + A x needs as many entries in y as A has rows");
        let mut args = Args::new();
        args.value(self.argument()).buffer(x.buffer()).buffer(y.buffer());
        // SAFETY: the arguments match the kernel; the lengths are checked, and columns are below `n_cols`.
        let launched = unsafe { self.cuda.launch(&self.add_product, self.per_row(self.n_rows), &args) };
        self.cuda.note(launched);
    }

    /// `r ← b − A x` of a level.
    pub(super) fn residual_of(
        &self,
        b: &DeviceBuffer<T>,
        x: &DeviceBuffer<T>,
        r: &mut DeviceBuffer<T>,
    ) -> Result<(), GpuError> {
        assert!(
            [b.len(), x.len(), r.len()] == [self.n_rows; 3] && self.n_cols == self.n_rows,
            "a level's vectors"
        );
        let mut args = Args::new();
        args.value(self.argument()).buffer(b).buffer(x).buffer(r);
        // SAFETY: the arguments match the kernel; the lengths are checked, and columns are below `n_cols`.
        unsafe { self.cuda.launch(&self.residual, self.per_row(self.n_rows), &args) }
    }

    /// `y ← x + β D⁻¹ (b − A x)`: one step of any polynomial smoother.
    ///
    /// # Panics
    /// If a length does not fit, or the matrix is not square.
    #[track_caller]
    pub fn relax(
        &self,
        beta: f64,
        inverse_diagonal: &CudaVector<T>,
        b: &CudaVector<T>,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) {
        let (inverse_diagonal, b, x, y) = (inverse_diagonal.buffer(), b.buffer(), x.buffer(), y.buffer_mut());
        let vectors = Relaxation { inverse_diagonal, b, x, y };
        self.cuda.note(self.step(beta, &vectors));
    }

    /// As [`relax`](Self::relax), on buffers.
    #[track_caller]
    pub(super) fn step(&self, beta: f64, vectors: &Relaxation<'_, T>) -> Result<(), GpuError> {
        let Relaxation { inverse_diagonal, b, x, y } = vectors;
        assert_eq!(self.n_rows, self.n_cols, "a smoother's matrix is square");
        assert!(
            [inverse_diagonal.len(), b.len(), x.len(), y.len()] == [self.n_rows; 4],
            "a smoother's vectors have as many entries as A has rows"
        );
        let mut args = Args::new();
        args.value(self.argument()).buffer(inverse_diagonal).buffer(b).buffer(x).buffer(y);
        args.value(beta);
        // SAFETY: the arguments match the kernel; the lengths are checked, and columns are below `n_cols`.
        unsafe { self.cuda.launch(&self.relax, self.per_row(self.n_rows), &args) }
    }

    pub(super) fn argument(&self) -> MatrixArgument {
        MatrixArgument {
            starts: self.starts.ptr(),
            columns: self.columns.ptr(),
            values: self.values.ptr(),
            // A matrix has at most `MAX_ROWS` rows.
            n_rows: self.n_rows as u32,
            shift: self.layout.shift(),
            sliced: u32::from(self.layout == RowLayout::Slices),
        }
    }

    /// A launch with the lanes of a row for each of `n` items. It may begin before the previous kernels end:
    /// all kernels of this crate wait for them themselves.
    pub(super) fn per_row(&self, n: usize) -> LaunchConfig {
        LaunchConfig::cover(n << self.layout.shift(), THREADS).early(true)
    }
}

/// `y = A x`, each row summed in a fixed order.
impl<T: Scalar> LinearOperator<CudaVector<T>> for CudaCsr<T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    #[track_caller]
    fn apply(&self, x: &CudaVector<T>, y: &mut CudaVector<T>) {
        assert_eq!(x.len(), self.n_cols, "A x needs as many entries in x as A has columns");
        assert_eq!(y.len(), self.n_rows, "y = A x needs as many entries in y as A has rows");
        let mut args = Args::new();
        args.value(self.argument()).buffer(x.buffer()).buffer(y.buffer());
        // SAFETY: the arguments match the kernel; the lengths are checked, and columns are below `n_cols`.
        let launched = unsafe { self.cuda.launch(&self.multiply, self.per_row(self.n_rows), &args) };
        self.cuda.note(launched);
    }
}
