//! Kernel launches: grid, block, and arguments that need no allocation.

use std::ffi::c_void;
use std::fmt;

use cudarc::driver::sys;

use super::driver::{self, check};
use super::{Cuda, DeviceBuffer, Function, Stream};
use crate::{CudaVersion, Element, GpuError};

/// Largest number of arguments of a kernel.
const MAX_ARGUMENTS: usize = 64;

/// Number of blocks, threads per block, and dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// Whether the kernel may start before the previous kernels of the stream end; it must then wait for them
    /// itself (`dg_wait_for_kernels_before` of device.cuh).
    pub early: bool,
}

impl LaunchConfig {
    /// A one-dimensional grid of one-dimensional blocks.
    pub fn new(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, early: false }
    }

    /// At least one thread for each of `n` items; an empty grid for `n = 0`. The kernel must check for the
    /// end itself.
    pub fn cover(n: usize, threads: u32) -> Self {
        let blocks = n.div_ceil(threads.max(1) as usize);
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// With dynamic shared memory.
    #[must_use]
    pub fn shared(mut self, bytes: u32) -> Self {
        self.shared = bytes;
        self
    }

    /// Allows the kernel to start before the previous kernels of the stream end, if device and driver support
    /// it. The kernel must wait for them itself; otherwise it may read data that is not yet written.
    #[must_use]
    pub fn early(mut self, yes: bool) -> Self {
        self.early = yes;
        self
    }
}

impl fmt::Display for LaunchConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grid: [gx, gy, gz], block: [bx, by, bz], shared, .. } = self;
        write!(f, "grid {gx} x {gy} x {gz}, block {bx} x {by} x {bz}, {shared} bytes of shared memory")
    }
}

/// The arguments of a kernel, in order. Keep it and launch again: a launch does not allocate.
///
/// ```
/// use dgsuite_gpu::cuda::Args;
/// let mut args = Args::new();
/// args.pointer(0xf000).value(0.5_f64).value(3_u32);
/// args.set(1, 0.25_f64);
/// assert_eq!(args.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// The values, each aligned to 8 bytes.
    words: Vec<u64>,
    /// First word and size in bytes of each.
    places: Vec<(usize, usize)>,
}

impl Args {
    /// An empty list of arguments.
    pub fn new() -> Self {
        Self { words: Vec::with_capacity(32), places: Vec::with_capacity(16) }
    }

    /// Number of arguments.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Removes all arguments; keeps their memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.places.clear();
    }

    /// Appends the address of a buffer.
    pub fn buffer<T: Element>(&mut self, buffer: &DeviceBuffer<T>) -> &mut Self {
        self.pointer(buffer.ptr())
    }

    /// Appends an address on the device.
    pub fn pointer(&mut self, address: u64) -> &mut Self {
        self.value(address)
    }

    /// Appends a value: a number, or a `#[repr(C)]` structure with the layout of the kernel's.
    pub fn value<T: Copy + 'static>(&mut self, value: T) -> &mut Self {
        let first = self.words.len();
        self.words.resize(first + size_of::<T>().div_ceil(8), 0);
        self.places.push((first, size_of::<T>()));
        self.write(first, value);
        self
    }

    /// Appends numbers that the kernel declares as one structure with that many fields.
    pub fn slice<T: Element>(&mut self, values: &[T]) -> &mut Self {
        let first = self.words.len();
        let bytes = size_of_val(values);
        self.words.resize(first + bytes.div_ceil(8), 0);
        self.places.push((first, bytes));
        // SAFETY: the words just added have room for the values; elements are plain numbers.
        unsafe {
            let to = self.words[first..].as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), to, bytes);
        }
        self
    }

    /// Replaces argument `i` by a value of the same size.
    ///
    /// # Panics
    /// If there is no argument `i`, or its size differs.
    #[track_caller]
    pub fn set<T: Copy + 'static>(&mut self, i: usize, value: T) {
        let (first, bytes) = self.places[i];
        assert_eq!(bytes, size_of::<T>(), "argument {i} has another size");
        self.write(first, value);
    }

    /// The bytes of each argument.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&(first, bytes)| {
            let words = &self.words[first..first + bytes.div_ceil(8)];
            // SAFETY: the words hold at least `bytes` bytes, all initialised (zeros before a value is
            // written).
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), bytes) }
        })
    }

    fn write<T: Copy>(&mut self, first: usize, value: T) {
        let words = &mut self.words[first..first + size_of::<T>().div_ceil(8)];
        // SAFETY: `words` has room for a `T`, and the write needs no alignment.
        unsafe { words.as_mut_ptr().cast::<T>().write_unaligned(value) };
    }
}

impl Cuda {
    /// Launches a kernel in the device's main stream.
    ///
    /// # Errors
    /// [`GpuError::Launch`] if number and sizes of the arguments do not match the kernel (if the driver
    /// reports them), or if the device cannot run such blocks.
    ///
    /// # Safety
    /// The arguments must have the types of the kernel's parameters. Their addresses must be valid for the
    /// kernel's reads and writes until the stream has passed the launch.
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: LaunchConfig,
        args: &Args,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller makes the same promise.
        unsafe { self.launch_on(self.stream(), function, config, args) }
    }

    /// Whether device and driver can start a kernel before the previous ones end, also in graphs.
    fn overlaps(&self) -> bool {
        const DRIVER: CudaVersion = CudaVersion { major: 12, minor: 4 };
        let info = self.info();
        info.capability.0 >= 9 && info.driver >= DRIVER
    }

    /// Launches a kernel in the given stream. A grid without blocks does nothing.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`launch`](Self::launch).
    pub unsafe fn launch_on(
        &self,
        stream: &Stream,
        function: &Function,
        config: LaunchConfig,
        args: &Args,
    ) -> Result<(), GpuError> {
        let LaunchConfig { grid, block, shared, early } = config;
        if grid.contains(&0) {
            return Ok(());
        }
        let refused = |reason: String| GpuError::Launch {
            kernel: function.name.clone(),
            config: config.to_string(),
            reason,
        };
        if let Some(wanted) = &function.argument_bytes
            && !wanted.iter().eq(args.places.iter().map(|(_, bytes)| bytes))
        {
            let given: Vec<usize> = args.places.iter().map(|place| place.1).collect();
            return Err(refused(format!("its arguments have {wanted:?} bytes, but {given:?} were passed")));
        }
        if args.len() > MAX_ARGUMENTS {
            return Err(refused(format!("{} arguments, at most {MAX_ARGUMENTS} are possible", args.len())));
        }
        let mut pointers = [std::ptr::null_mut::<c_void>(); MAX_ARGUMENTS];
        for (pointer, place) in pointers.iter_mut().zip(&args.places) {
            // The driver only reads through it.
            *pointer = args.words.as_ptr().wrapping_add(place.0).cast_mut().cast();
        }
        self.context().bind()?;
        if early && self.overlaps() {
            let mut attribute = sys::CUlaunchAttribute {
                id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                // SAFETY: numbers, addresses and arrays of them: zero bits are valid for each.
                ..unsafe { std::mem::zeroed() }
            };
            attribute.value.programmaticStreamSerializationAllowed = 1;
            let whole = sys::CUlaunchConfig {
                gridDimX: grid[0],
                gridDimY: grid[1],
                gridDimZ: grid[2],
                blockDimX: block[0],
                blockDimY: block[1],
                blockDimZ: block[2],
                sharedMemBytes: shared,
                hStream: stream.raw,
                attrs: &raw mut attribute,
                numAttrs: 1,
            };
            let (arguments, more) = (pointers.as_mut_ptr(), std::ptr::null_mut());
            // SAFETY: as below; the driver reads configuration and attribute during the call.
            let code = unsafe { sys::cuLaunchKernelEx(&raw const whole, function.raw, arguments, more) };
            return match check("launching a kernel", code) {
                Err(GpuError::Driver { .. }) => Err(refused(driver::reason(code))),
                other => other,
            };
        }
        // SAFETY: the function and the stream exist; each pointer refers to a value that the driver copies
        // during the call; the caller is responsible for types and addresses.
        let code = unsafe {
            sys::cuLaunchKernel(
                function.raw,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                stream.raw,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        match check("launching a kernel", code) {
            Err(GpuError::Driver { .. }) => Err(refused(driver::reason(code))),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_bytes() {
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct Point {
            x: [f64; 2],
            n: u32,
        }
        let mut args = Args::new();
        args.value(7_u8).value(Point { x: [1.0, 2.0], n: 3 }).value(0.5_f32).pointer(9);
        args.set(2, 1.5_f32);
        let bytes: Vec<Vec<u8>> = args.bytes().map(<[u8]>::to_vec).collect();
        assert_eq!(bytes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 24, 4, 8]);
        assert_eq!(bytes[1][8..20], [&2.0_f64.to_ne_bytes()[..], &3_u32.to_ne_bytes()].concat());
        assert_eq!(bytes[2], 1.5_f32.to_ne_bytes());
        args.clear();
        assert!(args.is_empty() && args.bytes().next().is_none());
    }

    #[test]
    fn a_grid_covers_its_items() {
        for (n, blocks) in [(0, 0), (1, 1), (128, 1), (129, 2)] {
            assert_eq!(LaunchConfig::cover(n, 128).grid, [blocks, 1, 1]);
        }
    }
}
