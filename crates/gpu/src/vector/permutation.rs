//! Copies on a device between a vector and an array with the same numbers at other places.

use super::CudaVector;
use crate::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use crate::{GpuError, Scalar, Vector};

/// Threads per block, and entries per thread (`UNROLL` of permutation.cu).
const THREADS: u32 = 256;
const UNROLL: usize = 4;

/// Marks an entry of a vector without a counterpart.
const NOWHERE: u32 = u32::MAX;

/// The places of a vector's entries in another array on a device.
///
/// ```no_run
/// use dgsuite_gpu::cuda::{Cuda, Permutation};
/// use dgsuite_gpu::{Backend, CudaVector};
/// let cuda = Cuda::new(0)?;
/// let reversed = Permutation::new::<f64>(&cuda, &[2, 1, 0], 3)?;
/// let array = cuda.upload(&[1.0, 2.0, 3.0])?;
/// let mut vector = CudaVector::<f64>::zeros(&cuda, 3)?;
/// reversed.gather(array.buffer(), &mut vector); // 3, 2, 1
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
pub struct Permutation {
    places: DeviceBuffer<u32>,
    len: usize,
    gather: Function,
    scatter: Function,
}

impl Permutation {
    /// `places[i]` is the place of entry `i` in an array of `len` numbers of type `T`, or `u32::MAX` if the
    /// entry has no counterpart. No place occurs twice.
    ///
    /// # Errors
    /// Not enough memory, or an error of the compiler or the driver.
    ///
    /// # Panics
    /// If a place is not below `len`.
    #[track_caller]
    pub fn new<T: Scalar>(cuda: &Cuda, places: &[u32], len: usize) -> Result<Self, GpuError> {
        let inside = |place: &u32| *place == NOWHERE || (*place as usize) < len;
        assert!(places.iter().all(inside), "places are below the length of the array");
        let source = Source::new("permutation.cu", include_str!("permutation.cu"));
        let module = cuda.compile(&if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source })?;
        Ok(Self {
            places: DeviceBuffer::from_slice(cuda, "places of entries", places)?,
            len,
            gather: module.function("gather")?,
            scatter: module.function("scatter")?,
        })
    }

    /// Bytes of the places.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.places.bytes()
    }

    /// `to_i ← from` at the place of entry i; 0 for entries without a place.
    ///
    /// # Panics
    /// If a length is not that of the set-up.
    #[track_caller]
    pub fn gather<T: Scalar>(&self, from: &DeviceBuffer<T>, to: &mut CudaVector<T>) {
        self.launch(&self.gather, (to.buffer(), from), to.len(), from.len(), to.cuda());
    }

    /// Writes entry i of `from` to its place in `to`; other numbers of `to` stay.
    ///
    /// # Panics
    /// If a length is not that of the set-up.
    #[track_caller]
    pub fn scatter<T: Scalar>(&self, from: &CudaVector<T>, to: &mut DeviceBuffer<T>) {
        self.launch(&self.scatter, (to, from.buffer()), from.len(), to.len(), from.cuda());
    }

    #[track_caller]
    fn launch<T: Scalar>(
        &self,
        kernel: &Function,
        (to, from): (&DeviceBuffer<T>, &DeviceBuffer<T>),
        vector: usize,
        array: usize,
        cuda: &Cuda,
    ) {
        assert!(
            vector == self.places.len() && array == self.len,
            "a vector and an array of the set-up's lengths"
        );
        let mut args = Args::new();
        args.buffer(to).buffer(from).buffer(&self.places).value(vector as u64);
        let config = LaunchConfig::cover(vector.div_ceil(UNROLL), THREADS);
        // SAFETY: the arguments match both kernels; places are below the length of the array.
        cuda.note(unsafe { cuda.launch(kernel, config, &args) });
    }
}
