//! Copies on a device between a vector and an array with the same numbers at other places.

use super::CudaVector;
use crate::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use crate::{GpuError, Scalar, Vector};

/// Threads per block, and entries per thread (`UNROLL` of permutation.cu).
const THREADS: u32 = 256;
const UNROLL: usize = 4;

/// Vectors of one launch, and terms of a vector (`PARTS`, `TERMS` of permutation.cu).
const PARTS: usize = 8;
const TERMS: usize = 4;

/// Marks an entry of a vector without a counterpart.
const NOWHERE: u32 = u32::MAX;

/// The vectors of one launch of `gather`, with the layout of permutation.cu.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Gathered {
    to: [u64; PARTS],
    places: [u64; PARTS],
}

/// The vectors of one launch of `scatter`, with the layout of permutation.cu.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Scattered {
    places: [u64; PARTS],
    from: [[u64; TERMS]; PARTS],
    factors: [[f64; TERMS]; PARTS],
    terms: [u32; PARTS],
}

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
        Self::gather_each(from, &mut [(self, to)]);
    }

    /// [`gather`](Self::gather) of several vectors of one length, in one launch.
    ///
    /// # Panics
    /// If a length is not that of the set-up.
    #[track_caller]
    pub fn gather_each<T: Scalar>(from: &DeviceBuffer<T>, all: &mut [(&Self, &mut CudaVector<T>)]) {
        for some in all.chunks_mut(PARTS) {
            let rows = some.len();
            let mut list = Gathered::default();
            for (k, (places, to)) in some.iter().enumerate() {
                places.check(to.len(), from.len());
                (list.to[k], list.places[k]) = (to.buffer().ptr(), places.places.ptr());
            }
            let (places, to) = &some[0];
            let mut args = Args::new();
            args.value(list).buffer(from);
            places.launch(&places.gather, args, (to.len(), rows), to.cuda());
        }
    }

    /// Writes entry i of `from` to its place in `to`; other numbers of `to` stay.
    ///
    /// # Panics
    /// If a length is not that of the set-up.
    #[track_caller]
    pub fn scatter<T: Scalar>(&self, from: &CudaVector<T>, to: &mut DeviceBuffer<T>) {
        Self::scatter_each(&[(self, [(1.0, from)])], to);
    }

    /// [`scatter`](Self::scatter) of several sums `Σ_k c_k x_k` of vectors of one length, in one launch; each
    /// is a list of one to four pairs `(c_k, x_k)`.
    ///
    /// # Panics
    /// If a length is not that of the set-up, or a sum has no terms or more than four.
    #[track_caller]
    pub fn scatter_each<'a, T: Scalar>(
        all: &[(&Self, impl AsRef<[(f64, &'a CudaVector<T>)]>)],
        to: &mut DeviceBuffer<T>,
    ) {
        for some in all.chunks(PARTS) {
            let mut list = Scattered::default();
            for (k, (places, terms)) in some.iter().enumerate() {
                let terms = terms.as_ref();
                assert!((1..=TERMS).contains(&terms.len()), "one to {TERMS} terms");
                list.places[k] = places.places.ptr();
                list.terms[k] = terms.len() as u32;
                for (j, (factor, x)) in terms.iter().enumerate() {
                    places.check(x.len(), to.len());
                    (list.factors[k][j], list.from[k][j]) = (*factor, x.buffer().ptr());
                }
            }
            let (places, (_, first)) = (some[0].0, some[0].1.as_ref()[0]);
            let mut args = Args::new();
            args.buffer(to).value(list);
            places.launch(&places.scatter, args, (first.len(), some.len()), first.cuda());
        }
    }

    #[track_caller]
    fn check(&self, vector: usize, array: usize) {
        let fits = vector == self.places.len() && array == self.len;
        assert!(fits, "a vector and an array of the set-up's lengths");
    }

    /// One launch over the entries of a number of vectors, whose arguments precede their length.
    fn launch(&self, kernel: &Function, mut args: Args, (len, rows): (usize, usize), cuda: &Cuda) {
        args.value(len as u64);
        let mut config = LaunchConfig::cover(len.div_ceil(UNROLL), THREADS);
        config.grid[1] = rows as u32;
        // SAFETY: the arguments match both kernels; places are below the length of the array.
        cuda.note(unsafe { cuda.launch(kernel, config, &args) });
    }
}
