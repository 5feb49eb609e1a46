//! A global allocator that requests huge pages for large arrays.

use std::alloc::{GlobalAlloc, Layout, System};

/// Size of a huge page, bytes.
const PAGE: usize = 2 << 20;

/// The smallest allocation for which huge pages are requested, bytes.
const LARGE: usize = 2 * PAGE;

/// The system's allocator, which on Linux requests huge pages for arrays of 4 MiB and more.
///
/// The kernel does so if `/sys/kernel/mm/transparent_hugepage/enabled` is `madvise` or `always`. Arrays then
/// cause a 512th of the page faults, and reading them out of order causes fewer misses in the translation
/// buffer.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: dgsuite_gpu::HugePages = dgsuite_gpu::HugePages;
///
/// let squares: Vec<u64> = (0..1_000_000).map(|i| i * i).collect();
/// assert_eq!(squares[1000], 1_000_000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HugePages;

/// Requests huge pages where they fit into `size` bytes at `start`.
fn advise(start: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= LARGE && !start.is_null() {
        let begin = start.align_offset(PAGE);
        if begin < size {
            let len = (size - begin) / PAGE * PAGE;
            // SAFETY: whole pages inside an allocation of the caller; the advice changes no contents, and a
            // kernel that does not support it returns an error.
            unsafe { libc::madvise(start.add(begin).cast(), len, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, size);
}

// SAFETY: all memory comes from the system allocator, with the caller's layouts.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE {
            // SAFETY: the caller's contract is the same.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // The system allocator writes zeros into arrays of large alignment; the advice must come before that.
        let aligned = layout.align() > align_of::<u128>();
        // SAFETY: the caller's contract is the same.
        let start = unsafe { if aligned { System.alloc(layout) } else { System.alloc_zeroed(layout) } };
        advise(start, layout.size());
        if aligned && !start.is_null() {
            // SAFETY: `size` bytes have just been allocated there.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        let start = unsafe { System.realloc(start, layout, size) };
        advise(start, size);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_are_zeroed_and_keep_their_contents() {
        for align in [8, 64, 4096] {
            let size = 3 * LARGE + 24;
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: the layout has a size; all accesses lie inside it.
            unsafe {
                // Write to memory that the allocator may reuse.
                let first = HugePages.alloc(layout);
                first.write_bytes(7, size);
                HugePages.dealloc(first, layout);
                let zeros = HugePages.alloc_zeroed(layout);
                assert_eq!(zeros.align_offset(align), 0);
                assert!(std::slice::from_raw_parts(zeros, size).iter().all(|x| *x == 0));
                zeros.add(size - 1).write(9);
                let longer = HugePages.realloc(zeros, layout, 2 * size);
                assert_eq!((longer.read(), longer.add(size - 1).read()), (0, 9));
                HugePages.dealloc(longer, Layout::from_size_align(2 * size, align).unwrap());
            }
        }
    }
}
