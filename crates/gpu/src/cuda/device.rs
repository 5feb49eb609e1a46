//! The devices of this machine and a context on one of them.

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::{result, sys};
use sys::CUdevice_attribute as Attribute;

use super::driver::{self, check, wrapped};
use crate::{CudaVersion, GpuError};

/// The driver's description of a device.
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
    /// Free memory at the time of the query, in bytes; `None` if no context could be created on the device.
    pub memory_free: Option<usize>,
    /// Cache shared by all multiprocessors, in bytes.
    pub l2_bytes: usize,
    /// Largest shared memory of a block, in bytes.
    pub shared_per_block: usize,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: usize,
    /// The version of CUDA that the driver supports.
    pub driver: CudaVersion,
}

impl DeviceInfo {
    /// The architecture as compilers name it: `sm_90`.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// Everything that can be queried without a context; `memory_free` is `None`.
    fn new(ordinal: usize, device: sys::CUdevice, driver: CudaVersion) -> Result<Self, GpuError> {
        const DOING: &str = "querying a device";
        let number = |attribute| {
            // SAFETY: `device` comes from the driver.
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

/// Number of devices that the driver reports.
fn count() -> Result<usize, GpuError> {
    let count = wrapped("counting devices", result::device::get_count())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// All devices that the driver reports.
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

/// The address of a device on the PCI bus, as the files of Linux name it.
pub(super) fn bus_address(ordinal: usize) -> Result<String, GpuError> {
    const DOING: &str = "asking for the place of a device";
    driver::load()?;
    let device = wrapped("finding a device", result::device::get(ordinal as i32))?;
    // SAFETY: `device` comes from the driver.
    let number = |attribute| wrapped(DOING, unsafe { result::device::get_attribute(device, attribute) });
    let domain = number(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = number(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let slot = number(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    Ok(format!("{domain:04x}:{bus:02x}:{slot:02x}.0"))
}

/// The number of a device that is the same in all processes that see it.
pub(super) fn uuid(ordinal: usize) -> Result<[u8; 16], GpuError> {
    driver::load()?;
    let device = wrapped("finding a device", result::device::get(ordinal as i32))?;
    let uuid = wrapped("asking for the number of a device", result::device::get_uuid(device))?;
    Ok(uuid.bytes.map(|byte| byte as u8))
}

/// How a device reaches the memory of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceLink {
    /// Directly, atomic operations included: NVLink.
    DirectWithAtomics,
    /// Directly, without atomic operations: PCI Express.
    Direct,
    /// Through host memory.
    ThroughHost,
}

impl fmt::Display for DeviceLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DirectWithAtomics => "direct access with atomics (NVLink)",
            Self::Direct => "direct access (PCI Express)",
            Self::ThroughHost => "no direct access",
        })
    }
}

/// The link between two devices, by their numbers.
pub(super) fn link(from: usize, to: usize) -> Result<DeviceLink, GpuError> {
    use sys::CUdevice_P2PAttribute as Link;
    driver::load()?;
    let device = |i: usize| wrapped("finding a device", result::device::get(i as i32));
    let (from, to) = (device(from)?, device(to)?);
    let has = |attribute| {
        let mut value = 0;
        // SAFETY: a place for the answer; both devices come from the driver.
        let code = unsafe { sys::cuDeviceGetP2PAttribute(&raw mut value, attribute, from, to) };
        check("asking for the link between devices", code).map(|()| value != 0)
    };
    Ok(if !has(Link::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED)? {
        DeviceLink::ThroughHost
    } else if has(Link::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)? {
        DeviceLink::DirectWithAtomics
    } else {
        DeviceLink::Direct
    })
}

/// The driver's state on one device, with the main stream, which receives all work without an explicit
/// stream.
///
/// It is the device's primary context, shared with other CUDA libraries in the process.
pub(super) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// The main stream.
    pub(super) main: sys::CUstream,
    /// The stream that replaces the main stream on a thread that records: no other thread puts work into it
    /// or waits for it.
    pub(super) recorded: sys::CUstream,
    /// Locked by the thread that records.
    recorder: Mutex<()>,
    pub(super) info: DeviceInfo,
}

/// Locked for reading by all threads that record, and for writing by a thread that waits for a whole device:
/// the driver aborts all recordings on a device that is waited for, including those of other contexts, since
/// all share the primary context.
static WHOLE_DEVICE: RwLock<()> = RwLock::new(());

thread_local! {
    /// The context on which this thread records.
    static RECORDING: Cell<*const Context> = const { Cell::new(std::ptr::null()) };
}

/// Permission to record; while it exists this thread's work goes to [`Context::recorded`].
pub(super) struct Turn<'a> {
    _alone: MutexGuard<'a, ()>,
    _shared: RwLockReadGuard<'static, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        RECORDING.set(std::ptr::null());
    }
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
        // SAFETY: `device` comes from the driver; released in `drop`.
        let raw = wrapped("opening a device", unsafe { result::primary_ctx::retain(device) })?;
        let none = std::ptr::null_mut();
        let mut context = Self { device, raw, main: none, recorded: none, recorder: Mutex::new(()), info };
        context.bind()?;
        for stream in [&mut context.main, &mut context.recorded] {
            *stream = wrapped(
                "creating a stream",
                result::stream::create(result::stream::StreamKind::NonBlocking),
            )?;
        }
        let (free, _) = context.memory()?;
        context.info.memory_free = Some(free);
        Ok(Arc::new(context))
    }

    /// Makes the context current on this thread; required before every call that needs a context.
    pub(super) fn bind(&self) -> Result<(), GpuError> {
        // SAFETY: the context was retained and is released only in `drop`.
        wrapped("using a device from this thread", unsafe { result::ctx::set_current(self.raw) })
    }

    /// Whether this thread records on this context.
    pub(super) fn is_recorded_here(&self) -> bool {
        std::ptr::eq(RECORDING.get(), self)
    }

    /// The stream that receives this thread's work without an explicit stream.
    pub(super) fn stream(&self) -> sys::CUstream {
        if self.is_recorded_here() { self.recorded } else { self.main }
    }

    /// Waits until no other thread records on this context, and grants this thread the permission.
    ///
    /// # Errors
    /// [`GpuError::Driver`] if this thread is already recording.
    pub(super) fn begin_turn(&self) -> Result<Turn<'_>, GpuError> {
        if !RECORDING.get().is_null() {
            let reason = driver::reason(sys::CUresult::CUDA_ERROR_ILLEGAL_STATE);
            return Err(GpuError::Driver { doing: "starting to record", reason });
        }
        let alone = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = WHOLE_DEVICE.read().unwrap_or_else(PoisonError::into_inner);
        RECORDING.set(self);
        Ok(Turn { _alone: alone, _shared: shared })
    }

    /// Free and total memory, in bytes.
    pub(super) fn memory(&self) -> Result<(usize, usize), GpuError> {
        self.bind()?;
        wrapped("querying free memory", result::mem_get_info())
    }

    /// Waits for all work on the device, after the current recordings.
    pub(super) fn synchronize(&self) -> Result<(), GpuError> {
        if !RECORDING.get().is_null() {
            // The thread's own recording cannot end while it waits.
            return check("waiting for the device", sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        let _alone = WHOLE_DEVICE.write().unwrap_or_else(PoisonError::into_inner);
        self.bind()?;
        // SAFETY: the only precondition is a current context.
        check("waiting for the device", unsafe { sys::cuCtxSynchronize() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Errors cannot be returned here; after a failed kernel all of these calls fail.
        if self.bind().is_ok() {
            for stream in [self.main, self.recorded].into_iter().filter(|stream| !stream.is_null()) {
                // SAFETY: created in `on`, and every user of it holds this context.
                let _ = unsafe { result::stream::destroy(stream) };
            }
        }
        // SAFETY: retained in `on`, released once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}
