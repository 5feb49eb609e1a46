//! Arrays in device memory, and pinned arrays on the host for asynchronous copies.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::device::Context;
use super::driver::{self, check, wrapped};
use super::{Cuda, Stream};
use crate::{Element, GpuError};

/// An array of fixed length in the memory of a device.
///
/// The copies [`upload`](Self::upload) and [`download`](Self::download) go through the device's main stream,
/// in order with its other work, and wait. The memory is ordinary device memory, to which other devices of
/// the host can be granted access.
pub struct DeviceBuffer<T: Element> {
    context: Arc<Context>,
    start: sys::CUdeviceptr,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// `len` uninitialised elements. `what` names the array in the error if memory runs out.
    ///
    /// # Errors
    /// [`GpuError::OutOfDeviceMemory`], or another failure of the driver.
    ///
    /// # Safety
    /// The elements must be written before anything reads them.
    pub unsafe fn uninit(cuda: &Cuda, what: &str, len: usize) -> Result<Self, GpuError> {
        let context = cuda.context().clone();
        let wanted = len as u128 * size_of::<T>() as u128;
        let (mut start, mut code) = (0, sys::CUresult::CUDA_SUCCESS);
        context.bind()?;
        if wanted > isize::MAX as u128 {
            code = sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        } else if wanted > 0 {
            // SAFETY: `start` is a place for an address; the size is neither zero nor too large for a usize.
            code = unsafe { sys::cuMemAlloc_v2(&raw mut start, wanted as usize) };
        }
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (free, total) = context.memory()?;
            return Err(GpuError::OutOfDeviceMemory { what: what.to_owned(), bytes: wanted, free, total });
        }
        check("allocating memory", code)?;
        Ok(Self { context, start, len, element: PhantomData })
    }

    /// `len` zeros. `what` names the array in the error if memory runs out.
    ///
    /// # Errors
    /// [`GpuError::OutOfDeviceMemory`], or another failure of the driver.
    pub fn zeros(cuda: &Cuda, what: &str, len: usize) -> Result<Self, GpuError> {
        // SAFETY: filled in the next line, in the stream that orders every later use by the wait.
        let mut buffer = unsafe { Self::uninit(cuda, what, len) }?;
        buffer.clear(cuda.stream())?;
        cuda.stream().synchronize()?;
        Ok(buffer)
    }

    /// A copy of `values`. `what` names the array in the error if memory runs out.
    ///
    /// # Errors
    /// [`GpuError::OutOfDeviceMemory`], or another failure of the driver.
    pub fn from_slice(cuda: &Cuda, what: &str, values: &[T]) -> Result<Self, GpuError> {
        // SAFETY: filled in the next line.
        let mut buffer = unsafe { Self::uninit(cuda, what, values.len()) }?;
        buffer.upload(values)?;
        Ok(buffer)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Address on the device of the first element (0 for an empty array).
    pub fn ptr(&self) -> u64 {
        self.start
    }

    /// Address on the device of element `offset`, which may be the end.
    ///
    /// # Panics
    /// If `offset` is beyond the end.
    #[track_caller]
    pub fn ptr_at(&self, offset: usize) -> u64 {
        assert!(offset <= self.len, "element {offset} of {}", self.len);
        self.start + (offset * size_of::<T>()) as u64
    }

    /// Sets all bytes to zero, in a stream.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn clear(&mut self, stream: &Stream) -> Result<(), GpuError> {
        if self.bytes() == 0 {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the range is the whole buffer.
        let code = unsafe { sys::cuMemsetD8Async(self.start, 0, self.bytes(), stream.raw) };
        check("clearing memory", code)
    }

    /// Copies `values` in and waits.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the lengths differ; a failure of an earlier kernel, or of the driver.
    pub fn upload(&mut self, values: &[T]) -> Result<(), GpuError> {
        self.whole("copying to the device", values.len())?;
        self.upload_at(0, values)
    }

    /// Copies `values` to the elements from `offset` on, and waits.
    ///
    /// # Errors
    /// As for [`upload`](Self::upload).
    pub fn upload_at(&mut self, offset: usize, values: &[T]) -> Result<(), GpuError> {
        self.within("copying to the device", offset, values.len())?;
        if size_of_val(values) == 0 {
            return Ok(());
        }
        let stream = Stream::current(&self.context);
        self.context.bind()?;
        // SAFETY: the range is checked; `values` outlives the copy, since this function waits for it.
        let copied = unsafe { result::memcpy_htod_async(self.ptr_at(offset), values, stream.raw) };
        wrapped("copying to the device", copied)?;
        stream.synchronize()
    }

    /// Copies all elements to `values` and waits.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the lengths differ; a failure of an earlier kernel, or of the driver.
    pub fn download(&self, values: &mut [T]) -> Result<(), GpuError> {
        self.whole("copying from the device", values.len())?;
        self.download_at(0, values)
    }

    /// Copies the elements from `offset` on to `values`, and waits.
    ///
    /// # Errors
    /// As for [`download`](Self::download).
    pub fn download_at(&self, offset: usize, values: &mut [T]) -> Result<(), GpuError> {
        self.within("copying from the device", offset, values.len())?;
        let stream = Stream::current(&self.context);
        if size_of_val(values) == 0 {
            return stream.synchronize();
        }
        self.context.bind()?;
        // SAFETY: the range is checked; `values` outlives the copy, since this function waits for it.
        let copied = unsafe { result::memcpy_dtoh_async(values, self.ptr_at(offset), stream.raw) };
        wrapped("copying from the device", copied)?;
        stream.synchronize()
    }

    /// A copy of all elements.
    ///
    /// # Errors
    /// A failure of an earlier kernel, or of the driver.
    pub fn to_vec(&self) -> Result<Vec<T>, GpuError> {
        // SAFETY: for an `Element` all bits zero are a valid value.
        let mut values = vec![unsafe { std::mem::zeroed::<T>() }; self.len];
        self.download(&mut values)?;
        Ok(values)
    }

    /// `self ← other`, on the device, in a stream.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the lengths differ, or a failure of the driver.
    pub fn copy_from(&mut self, other: &Self, stream: &Stream) -> Result<(), GpuError> {
        self.whole("copying on the device", other.len)?;
        self.copy_range(0, other, 0, other.len, stream)
    }

    /// Copies `len` elements of `other` from `from` on to the elements from `to` on, on the device, in a
    /// stream.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a range does not fit, or a failure of the driver.
    pub fn copy_range(
        &mut self,
        to: usize,
        other: &Self,
        from: usize,
        len: usize,
        stream: &Stream,
    ) -> Result<(), GpuError> {
        self.within("copying on the device", to, len)?;
        other.within("copying on the device", from, len)?;
        let bytes = len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: both ranges are checked, and two buffers do not overlap.
        let copied =
            unsafe { result::memcpy_dtod_async(self.ptr_at(to), other.ptr_at(from), bytes, stream.raw) };
        wrapped("copying on the device", copied)
    }

    /// Starts a copy of `from` to the elements from `offset` on, in a stream, and does not wait.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the range does not fit, or a failure of the driver.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `from` must exist and not be written.
    pub unsafe fn upload_async(
        &mut self,
        offset: usize,
        from: &PinnedBuffer<T>,
        stream: &Stream,
    ) -> Result<(), GpuError> {
        self.within("copying to the device", offset, from.len())?;
        if from.is_empty() {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the range is checked; the caller keeps `from`.
        let copied = unsafe { result::memcpy_htod_async(self.ptr_at(offset), from, stream.raw) };
        wrapped("copying to the device", copied)
    }

    /// Starts a copy of the elements from `offset` on to `to`, in a stream, and does not wait.
    ///
    /// # Errors
    /// [`GpuError::Length`] if the range does not fit, or a failure of the driver.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `to` must exist and be neither read nor written.
    pub unsafe fn download_async(
        &self,
        offset: usize,
        to: &mut PinnedBuffer<T>,
        stream: &Stream,
    ) -> Result<(), GpuError> {
        self.within("copying from the device", offset, to.len())?;
        if to.is_empty() {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the range is checked; the caller keeps `to`.
        let copied = unsafe { result::memcpy_dtoh_async(to, self.ptr_at(offset), stream.raw) };
        wrapped("copying from the device", copied)
    }

    fn whole(&self, doing: &'static str, wanted: usize) -> Result<(), GpuError> {
        if wanted == self.len { Ok(()) } else { Err(GpuError::Length { doing, wanted, found: self.len }) }
    }

    fn within(&self, doing: &'static str, offset: usize, len: usize) -> Result<(), GpuError> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(GpuError::Length { doing, wanted: offset.saturating_add(len), found: self.len }),
        }
    }
}

impl<T: Element> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.start != 0 && self.context.bind().is_ok() {
            // SAFETY: allocated by `uninit`, freed once; the driver waits for work that uses it.
            let _ = unsafe { result::free_sync(self.start) };
        }
    }
}

/// An array on the host that is pinned in physical memory, so that devices copy from and to it
/// asynchronously.
///
/// It derefs to a slice.
pub struct PinnedBuffer<T: Element> {
    context: Arc<Context>,
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its memory alone, and `Element` is `Send`.
unsafe impl<T: Element> Send for PinnedBuffer<T> {}
// SAFETY: shared access gives only `&[T]`, and `Element` is `Sync`.
unsafe impl<T: Element> Sync for PinnedBuffer<T> {}

impl<T: Element> PinnedBuffer<T> {
    /// `len` zeros.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the system cannot provide the memory, or another failure of the driver.
    pub fn zeros(cuda: &Cuda, len: usize) -> Result<Self, GpuError> {
        let context = cuda.context().clone();
        let bytes = len as u128 * size_of::<T>() as u128;
        let mut start = NonNull::<T>::dangling();
        if bytes > 0 {
            context.bind()?;
            let size = usize::try_from(bytes).map_err(|_| GpuError::OutOfMemory { bytes })?;
            // SAFETY: a context is current and the size is not zero.
            let raw = unsafe { result::malloc_host(size, 0) }.map_err(|error| match error.0 {
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => GpuError::OutOfMemory { bytes },
                code => GpuError::Driver { doing: "pinning memory", reason: driver::reason(code) },
            })?;
            start = NonNull::new(raw.cast()).ok_or(GpuError::OutOfMemory { bytes })?;
            // SAFETY: `size` bytes were just allocated; zero bits are a valid `Element`.
            unsafe { start.as_ptr().write_bytes(0, len) };
        }
        Ok(Self { context, start, len })
    }
}

impl<T: Element> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` initialised elements, page-aligned by the driver.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len * size_of::<T>() > 0 && self.context.bind().is_ok() {
            // SAFETY: allocated by the driver in `zeros`, freed once.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}
