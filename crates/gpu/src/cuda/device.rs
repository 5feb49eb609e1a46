//! The devices of this machine and a context on one of them.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use sys::CUdevice_attribute as Attribute;

use super::driver::{self, check, wrapped};
use crate::{CudaVersion, GpuError};

/// What the driver says about a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Its number, from 0, in the driver's order.
    pub ordinal: usize,
    /// Its name, such as `NVIDIA H200`.
    pub name: String,
    /// Compute capability, `(9, 0)` for sm_90.
    pub capability: (u32, u32),
    /// Number of multiprocessors.
    pub n_multiprocessors: u32,
    /// Memory, in bytes.
    pub memory_total: usize,
    /// Memory that was free when it was asked, in bytes; `None` if the device let no context be made.
    pub memory_free: Option<usize>,
    /// Cache that all multiprocessors share, in bytes.
    pub l2_bytes: usize,
    /// Most shared memory that a block can be given, in bytes.
    pub shared_per_block: usize,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: usize,
    /// The version of CUDA that the driver serves.
    pub driver: CudaVersion,
}

impl DeviceInfo {
    /// The architecture as compilers write it: `sm_90`.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// All that can be asked without a context; `memory_free` is `None`.
    fn new(ordinal: usize, device: sys::CUdevice, driver: CudaVersion) -> Result<Self, GpuError> {
        const DOING: &str = "describing a device";
        let number = |attribute| {
            // SAFETY: `device` was given by the driver.
            let value = unsafe { result::device::get_attribute(device, attribute) };
            wrapped(DOING, value).map(i32::unsigned_abs)
        };
        let bytes = |attribute| number(attribute).map(|n| n as usize);
        Ok(Self {
            ordinal,
            name: wrapped(DOING, result::device::get_name(device))?,
            capability: (
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            n_multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            // SAFETY: as above.
            memory_total: wrapped(DOING, unsafe { result::device::total_mem(device) })?,
            memory_free: None,
            l2_bytes: bytes(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            shared_per_block: bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_per_multiprocessor: bytes(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            driver,
        })
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gib = |bytes: usize| bytes as f64 / f64::from(1 << 30);
        write!(f, "{}, {}, {} multiprocessors, ", self.name, self.architecture(), self.n_multiprocessors)?;
        match self.memory_free {
            Some(free) => write!(f, "{:.1} of {:.1} GiB free, ", gib(free), gib(self.memory_total))?,
            None => write!(f, "{:.1} GiB, ", gib(self.memory_total))?,
        }
        write!(f, "driver for CUDA {}", self.driver)
    }
}

/// Number of devices that the driver shows.
fn count() -> Result<usize, GpuError> {
    let count = wrapped("counting devices", result::device::get_count())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Every device that the driver shows.
pub(super) fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
    let driver = driver::load()?;
    let n_devices = count()?;
    if n_devices == 0 {
        return Err(driver::no_device());
    }
    let one = |ordinal: usize| {
        let device = wrapped("finding a device", result::device::get(ordinal as i32))?;
        let info = DeviceInfo::new(ordinal, device, driver)?;
        let free = Context::on(ordinal).and_then(|context| context.memory()).map(|(free, _)| free);
        Ok(DeviceInfo { memory_free: free.ok(), ..info })
    };
    (0..n_devices).map(one).collect()
}

/// The driver's state on one device, with the stream that work goes to unless another is named.
///
/// It is the device's primary context, shared with other CUDA libraries in the process.
pub(super) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// The main stream.
    pub(super) main: sys::CUstream,
    pub(super) info: DeviceInfo,
}

// SAFETY: a context may be used from any thread that has made it current, which `bind` does.
unsafe impl Send for Context {}
// SAFETY: as above; the driver's calls are thread-safe, and nothing here changes after construction.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn on(ordinal: usize) -> Result<Arc<Self>, GpuError> {
        let driver = driver::load()?;
        let count = count()?;
        match count {
            0 => return Err(driver::no_device()),
            _ if ordinal >= count => return Err(GpuError::NoSuchDevice { ordinal, count }),
            _ => {}
        }
        let device = wrapped("finding a device", result::device::get(ordinal as i32))?;
        let info = DeviceInfo::new(ordinal, device, driver)?;
        // SAFETY: `device` was given by the driver; released in `drop`.
        let raw = wrapped("opening a device", unsafe { result::primary_ctx::retain(device) })?;
        let mut context = Self { device, raw, main: std::ptr::null_mut(), info };
        context.bind()?;
        context.main =
            wrapped("making a stream", result::stream::create(result::stream::StreamKind::NonBlocking))?;
        let (free, _) = context.memory()?;
        context.info.memory_free = Some(free);
        Ok(Arc::new(context))
    }

    /// Makes the context current on this thread: before every call that needs one.
    pub(super) fn bind(&self) -> Result<(), GpuError> {
        // SAFETY: the context was retained and is released only in `drop`.
        wrapped("using a device from this thread", unsafe { result::ctx::set_current(self.raw) })
    }

    /// Free and total memory, in bytes.
    pub(super) fn memory(&self) -> Result<(usize, usize), GpuError> {
        self.bind()?;
        wrapped("asking for free memory", result::mem_get_info())
    }

    /// Waits for all work on the device.
    pub(super) fn synchronize(&self) -> Result<(), GpuError> {
        self.bind()?;
        // SAFETY: no preconditions beside a current context.
        check("waiting for the device", unsafe { sys::cuCtxSynchronize() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Failures have nowhere to go; after a failed kernel all of these fail.
        if self.bind().is_ok() && !self.main.is_null() {
            // SAFETY: made in `on`, and whoever uses it holds this context.
            let _ = unsafe { result::stream::destroy(self.main) };
        }
        // SAFETY: retained in `on`, released once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}
