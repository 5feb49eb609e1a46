//! Launching kernels: grid and block, and arguments that cost no allocation.

use std::ffi::c_void;
use std::fmt;

use cudarc::driver::sys;

use super::driver::{self, check};
use super::{Cuda, DeviceBuffer, Function, Stream};
use crate::{CudaVersion, Element, GpuError};

/// Most arguments of a kernel.
const MAX_ARGUMENTS: usize = 64;

/// How many blocks of how many threads, and shared memory beside that of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// Whether the kernel may start before those ahead of it in the stream are done, and waits for them
    /// itself
    /// (`dg_wait_for_kernels_before` of device.cuh).
    pub early: bool,
}

impl LaunchConfig {
    /// A row of blocks of rows of threads.
    pub fn new(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, early: false }
    }

    /// At least one thread for each of `n` items; none if there are none. The kernel must ask for the end
    /// itself.
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

    /// May start before the kernels ahead of it in the stream are done, where device and driver can do so.
    /// The kernel waits for them itself, or
    /// what it reads is not yet written.
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
    /// The values, each from an 8-byte boundary on.
    words: Vec<u64>,
    /// First word and size in bytes of each.
    places: Vec<(usize, usize)>,
}

impl Args {
    /// No arguments yet.
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

    /// Forgets all arguments; keeps their memory.
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

    /// Appends a value: a number, or a `#[repr(C)]` structure laid out as the kernel's.
    pub fn value<T: Copy + 'static>(&mut self, value: T) -> &mut Self {
        let first = self.words.len();
        self.words.resize(first + size_of::<T>().div_ceil(8), 0);
        self.places.push((first, size_of::<T>()));
        self.write(first, value);
        self
    }

    /// Appends numbers that the kernel takes as one structure of that many fields.
    pub fn slice<T: Element>(&mut self, values: &[T]) -> &mut Self {
        let first = self.words.len();
        let bytes = size_of_val(values);
        self.words.resize(first + bytes.div_ceil(8), 0);
        self.places.push((first, bytes));
        // SAFETY: the words just made have room for the values; elements are plain numbers.
        unsafe {
            let to = self.words[first..].as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), to, bytes);
        }
        self
    }

    /// Changes argument `i` to a value of the same size.
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
    /// Puts a kernel into the device's main stream.
    ///
    /// # Errors
    /// [`GpuError::Launch`] if the arguments are not in number and size those of the kernel (where the driver
    /// tells), or if the device cannot run such blocks.
    ///
    /// # Safety
    /// The arguments must have the types of the kernel's parameters, their addresses must be valid for what
    /// the kernel reads and writes, and stay so until the stream has passed it.
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: LaunchConfig,
        args: &Args,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.launch_on(self.stream(), function, config, args) }
    }

    /// Whether device and driver can start a kernel before those ahead of it are done, also in graphs.
    fn overlaps(&self) -> bool {
        const DRIVER: CudaVersion = CudaVersion { major: 12, minor: 4 };
        let info = self.info();
        info.capability.0 >= 9 && info.driver >= DRIVER
    }

    /// Puts a kernel into a stream. A grid without blocks does nothing.
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
            return Err(refused(format!("its arguments have {wanted:?} bytes, given were {given:?}")));
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
                // SAFETY: numbers, addresses and their arrays: zero bits are values of each.
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
            // SAFETY: as below; the driver reads configuration and attribute in the call.
            let code = unsafe { sys::cuLaunchKernelEx(&raw const whole, function.raw, arguments, more) };
            return match check("launching a kernel", code) {
                Err(GpuError::Driver { .. }) => Err(refused(driver::reason(code))),
                other => other,
            };
        }
        // SAFETY: the function and the stream live; each pointer leads to a value that the driver copies in
        // the call; the caller answers for types and addresses.
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
