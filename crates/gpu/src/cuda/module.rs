//! Compiled kernel texts on a device, with their kernels and constants.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use sys::CUfunction_attribute as Attribute;

use super::device::Context;
use super::driver::{check, wrapped};
use super::nvrtc::{Compiled, Resources};
use crate::{CudaVersion, Element, GpuError};

/// The first driver version that reports the sizes of a kernel's arguments.
const TELLS_ARGUMENTS: CudaVersion = CudaVersion { major: 12, minor: 4 };

/// Machine code of one text, loaded on a device.
pub struct Module {
    context: Arc<Context>,
    raw: sys::CUmodule,
    name: String,
    resources: Vec<Resources>,
}

// SAFETY: the driver's calls on modules are thread-safe.
unsafe impl Send for Module {}
// SAFETY: as above; the handle does not change.
unsafe impl Sync for Module {}

impl Module {
    pub(super) fn load(context: &Arc<Context>, name: &str, compiled: &Compiled) -> Result<Self, GpuError> {
        context.bind()?;
        // SAFETY: a cubin contains its own length, and it comes from the compiler or has a valid digest.
        let raw = unsafe { result::module::load_data(compiled.cubin.as_ptr().cast()) };
        let raw = wrapped("loading a kernel", raw)?;
        let (context, resources) = (context.clone(), compiled.resources());
        Ok(Self { context, raw, name: name.to_owned(), resources })
    }

    /// Name of the text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compiler's report on each kernel.
    pub fn resources(&self) -> &[Resources] {
        &self.resources
    }

    /// Finds a kernel by its name.
    ///
    /// # Errors
    /// [`GpuError::NoSymbol`] if there is none, or a failure of the driver.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<Function, GpuError> {
        let symbol = self.symbol("kernel", name)?;
        self.context.bind()?;
        // SAFETY: the module lives as long as `self`.
        let raw = unsafe { result::module::get_function(self.raw, symbol) };
        let raw = raw.map_err(|_| self.missing("kernel", name))?;
        let number = |attribute| {
            // SAFETY: `raw` is a function of this module, which the result keeps.
            let value = unsafe { result::function::get_function_attribute(raw, attribute) };
            wrapped("querying a kernel", value).map(i32::unsigned_abs)
        };
        Ok(Function {
            raw,
            name: name.to_owned(),
            registers: number(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: number(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: number(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads: number(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            argument_bytes: (self.context.info.driver >= TELLS_ARGUMENTS).then(|| argument_bytes(raw)),
            module: self.clone(),
        })
    }

    /// Address on the device and size in bytes of a `__constant__` or `__device__` variable.
    ///
    /// # Errors
    /// [`GpuError::NoSymbol`] if there is none, or a failure of the driver.
    pub fn constant(&self, name: &str) -> Result<(u64, usize), GpuError> {
        let symbol = self.symbol("constant", name)?;
        let (mut start, mut bytes) = (0, 0);
        self.context.bind()?;
        // SAFETY: the module lives as long as `self`; both results have their places.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&raw mut start, &raw mut bytes, self.raw, symbol.as_ptr()) };
        if code == sys::CUresult::CUDA_ERROR_NOT_FOUND {
            return Err(self.missing("constant", name));
        }
        check("finding a constant", code)?;
        Ok((start, bytes))
    }

    /// Writes a `__constant__` or `__device__` variable, all of it, and waits.
    ///
    /// # Errors
    /// [`GpuError::NoSymbol`]; [`GpuError::Length`] if the sizes differ (in bytes); a failure of the driver.
    pub fn set_constant<T: Element>(&self, name: &str, values: &[T]) -> Result<(), GpuError> {
        let (start, bytes) = self.constant(name)?;
        let wanted = size_of_val(values);
        if wanted != bytes {
            return Err(GpuError::Length { doing: "setting a constant", wanted, found: bytes });
        }
        let stream = self.context.stream();
        // SAFETY: the range is that of the variable; `values` outlives the copy, since this function waits
        // for it.
        let copied = unsafe { result::memcpy_htod_async(start, values, stream) };
        wrapped("setting a constant", copied)?;
        // SAFETY: the stream lives as long as its context.
        wrapped("setting a constant", unsafe { result::stream::synchronize(stream) })
    }

    fn symbol(&self, what: &'static str, name: &str) -> Result<CString, GpuError> {
        CString::new(name).map_err(|_| self.missing(what, name))
    }

    fn missing(&self, what: &'static str, name: &str) -> GpuError {
        GpuError::NoSymbol { module: self.name.clone(), what, name: name.to_owned() }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded by `load`, unloaded once; every `Function` keeps its module.
            let _ = unsafe { result::module::unload(self.raw) };
        }
    }
}

/// Sizes of a kernel's arguments. The driver must have at least the version [`TELLS_ARGUMENTS`].
fn argument_bytes(function: sys::CUfunction) -> Vec<usize> {
    let mut sizes = Vec::new();
    let (mut offset, mut size) = (0, 0);
    // The call fails at the first index beyond the end.
    // SAFETY: `function` is a kernel of a loaded module; both results have their places.
    while unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size) }
        == sys::CUresult::CUDA_SUCCESS
    {
        sizes.push(size);
    }
    sizes
}

/// A kernel on a device, with its use of a multiprocessor.
#[derive(Clone)]
pub struct Function {
    pub(super) raw: sys::CUfunction,
    pub(super) module: Arc<Module>,
    pub(super) name: String,
    /// Sizes of the arguments, if the driver reports them.
    pub(super) argument_bytes: Option<Vec<usize>>,
    registers: u32,
    local_bytes: u32,
    shared_bytes: u32,
    max_threads: u32,
}

// SAFETY: the driver's calls on functions are thread-safe.
unsafe impl Send for Function {}
// SAFETY: as above; the handle does not change.
unsafe impl Sync for Function {}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Registers per thread.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Local memory per thread, in bytes: its stack with spilled registers.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }

    /// Static shared memory, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Largest number of threads per block.
    pub fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Bytes that instructions write to spill registers, as reported by the compiler.
    pub fn spill_stores(&self) -> u32 {
        let found = self.module.resources.iter().find(|resources| resources.kernel == self.name);
        found.map_or(0, |resources| resources.spill_stores)
    }

    /// Allows launches with up to `bytes` of dynamic shared memory; required above 48 KiB.
    ///
    /// # Errors
    /// A failure of the driver, for instance if the device has less.
    pub fn set_max_dynamic_shared(&self, bytes: usize) -> Result<(), GpuError> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.module.context.bind()?;
        // SAFETY: the kernel lives as long as its module.
        let set = unsafe { result::function::set_function_attribute(self.raw, attribute, bytes) };
        wrapped("setting a kernel's shared memory", set)
    }

    /// Number of blocks of `threads` threads and `dynamic_shared` bytes that fit on one multiprocessor.
    ///
    /// # Errors
    /// A failure of the driver.
    pub fn blocks_per_multiprocessor(&self, threads: u32, dynamic_shared: usize) -> Result<u32, GpuError> {
        let mut blocks = 0;
        self.module.context.bind()?;
        // SAFETY: the kernel lives as long as its module; the result has its place.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.raw,
                threads as i32,
                dynamic_shared,
            )
        };
        check("querying a kernel's occupancy", code)?;
        Ok(blocks.unsigned_abs())
    }
}
