//! Preconditioners on a device for vectors in another order, in another precision, or with padding.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{Backend, CudaVector, GpuError, Scalar, Vector};

use crate::Preconditioner;

/// Threads per block, and entries per thread (`UNROLL` of reordered.cu).
const THREADS: u32 = 256;
const UNROLL: usize = 4;

/// Marks an entry without a counterpart; it becomes 0.
pub const NOWHERE: u32 = u32::MAX;

pub(super) fn own_source() -> Source {
    Source::new("reordered.cu", include_str!("reordered.cu"))
}

/// Copies a vector to another order and precision, `to_i = factor from_{places_i}`.
pub(super) struct Gather<S: Scalar, T: Scalar> {
    cuda: Cuda,
    kernel: Function,
    places: Option<DeviceBuffer<u32>>,
    numbers: std::marker::PhantomData<fn(S) -> T>,
}

/// The factor of a copy.
#[derive(Clone, Copy)]
pub(super) enum Factor<'a> {
    One,
    Size(&'a DeviceBuffer<f64>),
    InverseSize(&'a DeviceBuffer<f64>),
}

impl<S: Scalar, T: Scalar> Gather<S, T> {
    /// `places[i]` is the source of entry `i`, or [`NOWHERE`]; `None` if the order is the same.
    pub(super) fn new(cuda: &Cuda, places: Option<&[u32]>) -> Result<Self, GpuError> {
        let word = |bytes: usize| if bytes == 4 { "single" } else { "double" };
        let module = cuda.compile(&own_source())?;
        let kernel = module.function(&format!("{}_of_{}", word(T::BYTES), word(S::BYTES)))?;
        let copy = |places: &[u32]| DeviceBuffer::from_slice(cuda, "an order of entries", places);
        let places = places.map(copy).transpose()?;
        Ok(Self { cuda: cuda.clone(), kernel, places, numbers: std::marker::PhantomData })
    }

    /// Bytes of the order.
    pub(super) fn bytes(&self) -> usize {
        self.places.as_ref().map_or(0, DeviceBuffer::bytes)
    }

    /// Launches the copy. Places must be below the length of `from`.
    pub(super) fn launch(
        &self,
        from: &CudaVector<S>,
        factor: Factor<'_>,
        to: &mut CudaVector<T>,
    ) -> Result<(), GpuError> {
        let entries = self.places.as_ref().map_or(from.len(), DeviceBuffer::len);
        assert_eq!(to.len(), entries, "the target has one entry per place");
        let (size, inverse) = match factor {
            Factor::One => (0, 0u32),
            Factor::Size(size) => (size.ptr(), 0),
            Factor::InverseSize(size) => (size.ptr(), 1),
        };
        let mut args = Args::new();
        args.buffer(to.buffer()).buffer(from.buffer());
        args.pointer(self.places.as_ref().map_or(0, DeviceBuffer::ptr)).pointer(size).value(inverse);
        args.value(to.len() as u64);
        let config = LaunchConfig::cover(to.len().div_ceil(UNROLL), THREADS).early(true);
        // SAFETY: the arguments match the kernel; the constructors of the types below check the places.
        unsafe { self.cuda.launch(&self.kernel, config, &args) }
    }
}

/// A preconditioner whose vectors have their unknowns in another order, or no padding. It adds only launches.
pub struct CudaReordered<T: Scalar, M> {
    cuda: Cuda,
    inner: M,
    r: CudaVector<T>,
    z: CudaVector<T>,
    inwards: Gather<T, T>,
    outwards: Gather<T, T>,
}

impl<T: Scalar, M: Preconditioner<CudaVector<T>>> CudaReordered<T, M> {
    /// `inwards[i]` is the outer entry that becomes inner entry `i`, `outwards` the reverse; [`NOWHERE`] for
    /// entries without a counterpart, which become 0.
    ///
    /// # Errors
    /// Not enough memory, or an error of the compiler or the driver.
    ///
    /// # Panics
    /// If an entry is beyond the end of its vector.
    #[track_caller]
    pub fn new(cuda: &Cuda, inner: M, inwards: &[u32], outwards: &[u32]) -> Result<Self, GpuError> {
        let below = |places: &[u32], n: usize| places.iter().all(|&p| p == NOWHERE || (p as usize) < n);
        assert!(
            below(inwards, outwards.len()) && below(outwards, inwards.len()),
            "entries are those of the vectors"
        );
        let n = inwards.len();
        Ok(Self {
            cuda: cuda.clone(),
            inner,
            r: cuda.zeros(n)?,
            z: cuda.zeros(n)?,
            inwards: Gather::new(cuda, Some(inwards))?,
            outwards: Gather::new(cuda, Some(outwards))?,
        })
    }

    /// Bytes of vectors and orders.
    pub fn bytes(&self) -> usize {
        2 * self.r.buffer().bytes() + self.inwards.bytes() + self.outwards.bytes()
    }
}

impl<T: Scalar, M: Preconditioner<CudaVector<T>>> Preconditioner<CudaVector<T>> for CudaReordered<T, M> {
    #[track_caller]
    fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) {
        assert_eq!(r.len(), z.len(), "vectors of one operation have one length");
        let there = self.inwards.launch(r, Factor::One, &mut self.r);
        self.cuda.note(there);
        self.inner.apply(&self.r, &mut self.z);
        let back = self.outwards.launch(&self.z, Factor::One, z);
        self.cuda.note(back);
    }
}
