//! NVIDIA devices: memory, streams, kernels compiled at run time, graphs.
//!
//! CUDA is not needed to build or to start a program that uses this module: [`Cuda::new`] looks for the
//! driver and the compiler, and returns an error that explains what is missing.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | device | [`Cuda`], [`DeviceInfo`] | a handle to one device with its main stream; clones share it |
//! | array | [`DeviceBuffer`], [`PinnedBuffer`] | on the device; on the host, for asynchronous copies |
//! | order | [`Stream`], [`Event`] | a queue of work; a mark in it with its time |
//! | text | [`Source`], [`Options`] | CUDA C++ with headers, defines and compiler options |
//! | code | [`Module`], [`Function`], [`nvrtc`] | compiled for the device found, cached in memory and on disk ([`Cache`]), ahead of need by a thread ([`Ahead`]) |
//! | launch | [`LaunchConfig`], [`Args`], [`Graph`] | one kernel; a recorded sequence |
//!
//! ```no_run
//! use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, LaunchConfig, Source};
//! let cuda = Cuda::new(0)?;
//! let module = cuda.compile(&Source::new("scale.cu", r#"
//!     extern "C" __global__ void scale(double* x, double a, unsigned n) {
//!         const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < n) x[i] *= a;
//!     }"#))?;
//! let scale = module.function("scale")?;
//! let x = DeviceBuffer::from_slice(&cuda, "an example", &[1.0, 2.0, 3.0])?;
//! let mut args = Args::new();
//! args.buffer(&x).value(0.5_f64).value(3_u32);
//! // SAFETY: the arguments are those of the kernel, and `x` lives until it is read back.
//! unsafe { cuda.launch(&scale, LaunchConfig::cover(3, 128), &args)? };
//! assert_eq!(x.to_vec()?, [0.5, 1.0, 1.5]);
//! # Ok::<(), dgsuite_gpu::GpuError>(())
//! ```

mod cache;
mod device;
mod driver;
mod flags;
mod graph;
mod joint_link;
mod launch;
mod link;
mod memory;
mod module;
pub mod nccl;
pub mod nvrtc;
mod peer;
mod source;
mod stream;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

pub use crate::vector::{CudaItems, CudaSummation, EXACT_HEADER, ItemLists, Permutation, REDUCE_HEADER};
pub use cache::{CACHE_VARIABLE, Cache};
pub use device::{DeviceInfo, DeviceLink};
pub use flags::FLAGS_VARIABLE;
pub use graph::Graph;
pub use joint_link::JointLink;
pub use launch::{Args, LaunchConfig};
pub use link::{DevicePlane, Link, PLANE_VARIABLE};
pub use memory::{DeviceBuffer, PinnedBuffer};
pub use module::{Function, Module};
pub use source::{DEVICE_HEADER, Options, Source};
pub use stream::{Event, Stream};

use crate::comm::Traffic;
use crate::vector::cuda::Kernels;
use crate::{GpuError, Scalar};
use device::Context;
use nvrtc::Compiled;

/// One NVIDIA device: its context, its main stream, its compiled kernels. A handle; clones share all of
/// these.
///
/// Threads may share it: each may compile, launch, copy, wait and record ([`Cuda::capture`]) at the same time
/// as the others. They must order their work on the same array themselves.
#[derive(Clone)]
pub struct Cuda {
    inner: Arc<Inner>,
}

struct Inner {
    stream: Stream,
    /// The stream that replaces `stream` on a thread that records.
    recorded: Stream,
    cache: Cache,
    /// Texts by their digest, each with its own lock, so that several threads that need one wait for a single
    /// compilation.
    modules: Mutex<HashMap<u128, Arc<Mutex<Code>>>>,
    /// The kernels of vector arithmetic, by the name of their number type.
    vectors: Mutex<HashMap<&'static str, Arc<Kernels>>>,
    /// The first failure of an operation that could not return it.
    failure: Mutex<Option<GpuError>>,
    /// Where messages of this device are counted.
    traffic: OnceLock<Arc<Traffic>>,
}

/// The state of a text.
#[derive(Default)]
enum Code {
    #[default]
    Text,
    Compiled(Compiled),
    Loaded(Arc<Module>),
}

/// A thread that compiles texts. Dropping it waits for the current text and skips the others.
#[must_use = "dropping it ends the compilation"]
pub struct Ahead {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A panic of the thread has been printed; texts that it did not compile are compiled when they are
        // needed.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Cuda {
    /// Opens device number `ordinal`, with the kernel cache from the environment.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`], [`GpuError::DriverTooOld`], [`GpuError::NoDevice`],
    /// [`GpuError::NoSuchDevice`], or another failure of the driver.
    pub fn new(ordinal: usize) -> Result<Self, GpuError> {
        Self::with_cache(ordinal, Cache::from_environment())
    }

    /// As [`new`](Self::new), with the given kernel cache.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_cache(ordinal: usize, cache: Cache) -> Result<Self, GpuError> {
        let context = Context::on(ordinal)?;
        let (stream, recorded) = (Stream::main(&context), Stream::recorded(&context));
        let (modules, vectors, failure) = (Mutex::default(), Mutex::default(), Mutex::default());
        let traffic = OnceLock::new();
        Ok(Self { inner: Arc::new(Inner { stream, recorded, cache, modules, vectors, failure, traffic }) })
    }

    /// The devices that the driver reports, at least one.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`], [`GpuError::DriverTooOld`], [`GpuError::NoDevice`], or another failure of the
    /// driver.
    pub fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
        device::devices()
    }

    /// The address of a device on the PCI bus, such as `0000:17:00.0`, by its number.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`] and other failures of the driver.
    pub fn bus_address(ordinal: usize) -> Result<String, GpuError> {
        device::bus_address(ordinal)
    }

    /// How device `from` reaches the memory of device `to`, by their numbers.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`] and other failures of the driver.
    pub fn link(from: usize, to: usize) -> Result<DeviceLink, GpuError> {
        device::link(from, to)
    }

    /// The driver's description of this device; `memory_free` is from the time when it was opened.
    pub fn info(&self) -> &DeviceInfo {
        &self.context().info
    }

    /// The main stream, which receives all work without an explicit stream; inside [`capture`](Self::capture)
    /// the stream that is recorded.
    pub fn stream(&self) -> &Stream {
        if self.context().is_recorded_here() { &self.inner.recorded } else { &self.inner.stream }
    }

    /// Current free and total memory, in bytes.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn memory(&self) -> Result<(usize, usize), GpuError> {
        self.context().memory()
    }

    /// Waits for all work on the device; waits first for recordings of other threads to end.
    ///
    /// # Errors
    /// A failure of any earlier kernel, or of the driver.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.context().synchronize()
    }

    /// Compiles a text for this device and loads it; returns at once if it was compiled before, in this run
    /// or another.
    ///
    /// # Errors
    /// [`GpuError::NoCompiler`], [`GpuError::Compile`] with the compiler's log, or a failure of the driver.
    pub fn compile(&self, source: &Source) -> Result<Arc<Module>, GpuError> {
        let architecture = self.info().architecture();
        let code = self.inner.code(&architecture, source);
        let mut code = code.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = match std::mem::take(&mut *code) {
            Code::Text => self.inner.cache.compile(&architecture, source)?,
            Code::Compiled(compiled) => compiled,
            Code::Loaded(module) => {
                *code = Code::Loaded(module.clone());
                return Ok(module);
            }
        };
        let module = Arc::new(Module::load(self.context(), &source.name, &compiled)?);
        *code = Code::Loaded(module.clone());
        Ok(module)
    }

    /// Compiles texts in order on a separate thread while the caller continues; [`compile`](Self::compile)
    /// then finds them, or waits for the current one. The thread does not call the driver, so that it may run
    /// while work is recorded. A text that cannot be compiled gives its error to the caller of
    /// [`compile`](Self::compile).
    pub fn compile_ahead(&self, sources: Vec<Source>) -> Ahead {
        let (inner, stop) = (self.inner.clone(), Arc::new(AtomicBool::new(false)));
        let (architecture, stopped) = (self.info().architecture(), stop.clone());
        let work = move || {
            for source in sources.iter().take_while(|_| !stopped.load(Ordering::Relaxed)) {
                let code = inner.code(&architecture, source);
                let mut code = code.lock().unwrap_or_else(PoisonError::into_inner);
                if matches!(*code, Code::Text)
                    && let Ok(compiled) = inner.cache.compile(&architecture, source)
                {
                    *code = Code::Compiled(compiled);
                }
            }
        };
        // If the thread cannot be started, everything is compiled when it is needed.
        let thread = std::thread::Builder::new().name("compiler".to_owned()).spawn(work).ok();
        Ahead { stop, thread }
    }

    /// Median time of `runs` calls of `work`, in seconds, each measured by two events of the main stream,
    /// after one call that is not counted.
    ///
    /// # Errors
    /// The errors of `work`, a failure of a kernel, or of the driver.
    pub fn median_time(
        &self,
        runs: usize,
        mut work: impl FnMut() -> Result<(), GpuError>,
    ) -> Result<f64, GpuError> {
        let (start, end) = (Event::new(self)?, Event::new(self)?);
        let mut times = Vec::with_capacity(runs);
        work()?;
        for _ in 0..runs.max(1) {
            self.stream().record(&start)?;
            work()?;
            self.stream().record(&end)?;
            times.push(end.seconds_since(&start)?);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    /// The kernels of vector arithmetic, compiled at the first call.
    pub(crate) fn vector_kernels<T: Scalar>(&self) -> Result<Arc<Kernels>, GpuError> {
        let mut vectors = self.inner.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = vectors.get(T::NAME) {
            return Ok(found.clone());
        }
        let kernels = Arc::new(Kernels::new::<T>(self)?);
        vectors.insert(T::NAME, kernels.clone());
        Ok(kernels)
    }

    /// Stores a failure that the caller cannot return, for [`take_failure`](Self::take_failure) and the next
    /// [`Backend::download`](crate::Backend::download); only the first one is kept.
    pub fn note(&self, result: Result<(), GpuError>) {
        if let Err(error) = result {
            let mut failure = self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
    }

    /// Returns the stored failure, if there is one.
    ///
    /// # Errors
    /// The stored failure, once.
    pub fn take_failure(&self) -> Result<(), GpuError> {
        let mut failure = self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), Err)
    }

    /// Counts messages of this device with those of its rank; of several calls the first one counts.
    pub(crate) fn counts_in(&self, traffic: &Arc<Traffic>) {
        self.inner.traffic.get_or_init(|| Arc::clone(traffic));
    }

    /// Where messages of this device are counted, if there are some.
    pub(crate) fn traffic(&self) -> Option<&Arc<Traffic>> {
        self.inner.traffic.get()
    }

    fn context(&self) -> &Arc<Context> {
        &self.inner.stream.context
    }
}

impl Inner {
    /// The entry of a text.
    fn code(&self, architecture: &str, source: &Source) -> Arc<Mutex<Code>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.entry(source.digest(&[architecture])).or_default().clone()
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("info", self.info()).finish()
    }
}
