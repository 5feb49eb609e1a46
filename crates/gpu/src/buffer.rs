//! Arrays of fixed length, aligned to a cache line.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rayon::prelude::*;

use crate::{GpuError, Host};

/// Alignment of every buffer, in bytes: one cache line, one AVX-512 register.
pub const ALIGNMENT: usize = 64;

/// Size of a parallel piece when a buffer is first written, in bytes.
const TOUCH_BYTES: usize = 1 << 20;

/// Plain data for which all bits zero are a valid value.
///
/// # Safety
/// A type may implement this only if the all-zero bit pattern is a valid value, it has no drop glue, and its
/// alignment is at most [`ALIGNMENT`].
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! element {
    ($($T:ty)*) => { $(
        // SAFETY: a primitive number: zero bits are the value 0, alignment at most 16.
        unsafe impl Element for $T {}
    )* };
}
element!(f64 f32 u8 u16 u32 u64 usize i8 i16 i32 i64 isize);
// SAFETY: an array of elements has its element's validity and alignment.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

/// An array of fixed length on the host, aligned to [`ALIGNMENT`] bytes; it derefs to a slice.
///
/// ```
/// use dgsuite_gpu::Buffer;
/// let mut a = Buffer::<f64>::zeros(5)?;
/// a[2] = 1.5;
/// assert_eq!(&a[..], &[0.0, 0.0, 1.5, 0.0, 0.0]);
/// assert_eq!(a.as_ptr() as usize % 64, 0);
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
pub struct Buffer<T: Element> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: a buffer owns its memory alone, and `Element` is `Send`.
unsafe impl<T: Element> Send for Buffer<T> {}
// SAFETY: shared access gives only `&[T]`, and `Element` is `Sync`.
unsafe impl<T: Element> Sync for Buffer<T> {}

impl<T: Element> Buffer<T> {
    /// `len` zeros, written by the calling thread.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if there is not enough memory.
    pub fn zeros(len: usize) -> Result<Self, GpuError> {
        let layout = Self::layout(len)?;
        // SAFETY: `allocate` calls this only with a layout of non-zero size.
        Self::allocate(len, layout, |layout| unsafe { alloc_zeroed(layout) })
    }

    /// `len` zeros, first written by the threads of `host`, so that on a machine with several memory nodes
    /// each page lies near a thread that will use it.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if there is not enough memory.
    pub fn zeros_on(host: &Host, len: usize) -> Result<Self, GpuError> {
        let piece = TOUCH_BYTES / size_of::<T>().max(1);
        if host.n_threads() == 1 || len <= piece {
            return Self::zeros(len);
        }
        let layout = Self::layout(len)?;
        // SAFETY: `allocate` calls this only with a layout of non-zero size.
        let buffer = Self::allocate(len, layout, |layout| unsafe { alloc(layout) })?;
        let address = buffer.start.as_ptr().expose_provenance();
        host.install(|| {
            (0..len.div_ceil(piece)).into_par_iter().for_each(|i| {
                let first = i * piece;
                let n = piece.min(len - first);
                // SAFETY: [first, first + n) lies inside the `len` elements just allocated, the pieces are
                // disjoint, and nothing reads the memory before this loop has ended.
                unsafe {
                    std::ptr::with_exposed_provenance_mut::<T>(address).add(first).write_bytes(0, n);
                }
            });
        });
        Ok(buffer)
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if there is not enough memory.
    pub fn from_slice(values: &[T]) -> Result<Self, GpuError> {
        let layout = Self::layout(values.len())?;
        // SAFETY: `allocate` calls this only with a layout of non-zero size.
        let buffer = Self::allocate(values.len(), layout, |layout| unsafe { alloc(layout) })?;
        // SAFETY: both sides hold `values.len()` elements, and fresh memory overlaps nothing.
        unsafe { buffer.start.as_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(buffer)
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// The elements, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    fn layout(len: usize) -> Result<Layout, GpuError> {
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        Layout::array::<T>(len)
            .and_then(|array| array.align_to(ALIGNMENT))
            .map_err(|_| GpuError::OutOfMemory { bytes: len as u128 * size_of::<T>() as u128 })
    }

    /// Memory from `request` (not called for an empty layout); uninitialised if `request` leaves it so.
    fn allocate(
        len: usize,
        layout: Layout,
        request: impl FnOnce(Layout) -> *mut u8,
    ) -> Result<Self, GpuError> {
        let raw =
            if layout.size() == 0 { std::ptr::without_provenance_mut(ALIGNMENT) } else { request(layout) };
        match NonNull::new(raw.cast::<T>()) {
            Some(start) => Ok(Self { start, len }),
            None => Err(GpuError::OutOfMemory { bytes: layout.size() as u128 }),
        }
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and points to `len` initialised elements (every constructor fills them).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Ok(layout) = Self::layout(self.len)
            && layout.size() > 0
        {
            // SAFETY: the memory came from the global allocator with this very layout.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

impl<T: Element> Clone for Buffer<T> {
    /// A copy; as with Rust's own containers, the program ends if there is no memory for it.
    fn clone(&self) -> Self {
        match Self::from_slice(self) {
            Ok(copy) => copy,
            Err(_) => handle_alloc_error(Layout::for_value::<[T]>(self)),
        }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Element + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<'a, T: Element> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_length_is_an_error_with_its_bytes() {
        match Buffer::<f64>::zeros(usize::MAX) {
            Err(GpuError::OutOfMemory { bytes }) => assert_eq!(bytes, u128::from(u64::MAX) * 8),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn empty_buffers_and_empty_elements_are_fine() {
        assert!(Buffer::<f32>::zeros(0).unwrap().is_empty());
        assert_eq!(Buffer::<[f64; 0]>::zeros(7).unwrap().len(), 7);
        let host = Host::new(2).unwrap();
        assert!(Buffer::<u32>::zeros_on(&host, 0).unwrap().is_empty());
    }

    #[test]
    fn parallel_first_touch_gives_zeros_everywhere() {
        let host = Host::new(2).unwrap();
        let a = Buffer::<u32>::zeros_on(&host, 3 * TOUCH_BYTES / 4 + 5).unwrap();
        assert!(a.iter().all(|&x| x == 0));
        assert_eq!(a.bytes(), 4 * a.len());
    }
}
