//! Streams, which order work, and events, which mark positions in them.

use std::sync::Arc;

use cudarc::driver::{result, sys};
use sys::CUevent_flags as Flags;

use super::Cuda;
use super::device::Context;
use super::driver::{check, wrapped};
use crate::GpuError;

/// A queue of work on a device: its work runs in order, concurrently with other streams.
pub struct Stream {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUstream,
    /// Streams of the context are destroyed with the context.
    owned: bool,
}

// SAFETY: the driver's calls on streams are thread-safe.
unsafe impl Send for Stream {}
// SAFETY: as above; the handle does not change.
unsafe impl Sync for Stream {}

impl Stream {
    /// The context's main stream.
    pub(super) fn main(context: &Arc<Context>) -> Self {
        Self { context: context.clone(), raw: context.main, owned: false }
    }

    /// The stream that replaces the main stream on a thread that records.
    pub(super) fn recorded(context: &Arc<Context>) -> Self {
        Self { context: context.clone(), raw: context.recorded, owned: false }
    }

    /// The stream that receives this thread's work: the main or the recorded one.
    pub(super) fn current(context: &Arc<Context>) -> Self {
        Self { context: context.clone(), raw: context.stream(), owned: false }
    }

    /// A new stream.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        let context = cuda.context().clone();
        context.bind()?;
        let raw =
            wrapped("creating a stream", result::stream::create(result::stream::StreamKind::NonBlocking))?;
        Ok(Self { context, raw, owned: true })
    }

    /// A new stream whose work the device prefers to that of other streams.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn urgent(cuda: &Cuda) -> Result<Self, GpuError> {
        let context = cuda.context().clone();
        context.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both numbers are valid for writes; the context is current.
        let code = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        check("querying the priorities of streams", code)?;
        let kind = result::stream::StreamKind::NonBlocking;
        let raw = result::stream::create_with_priority(kind, greatest);
        Ok(Self { context, raw: wrapped("creating a stream", raw)?, owned: true })
    }

    /// Waits until all work of the stream is done.
    ///
    /// # Errors
    /// A failure of any earlier kernel, or of the driver.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.context.bind()?;
        // SAFETY: the stream lives as long as `self`.
        wrapped("waiting for a stream", unsafe { result::stream::synchronize(self.raw) })
    }

    /// Records an event at this position of the stream.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn record(&self, event: &Event) -> Result<(), GpuError> {
        self.context.bind()?;
        // SAFETY: both handles live as long as their owners.
        wrapped("recording an event", unsafe { result::event::record(event.raw, self.raw) })
    }

    /// Makes later work of this stream wait until the event's position in its own stream is reached.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn wait(&self, event: &Event) -> Result<(), GpuError> {
        self.context.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both handles live as long as their owners.
        wrapped("waiting for an event", unsafe { result::stream::wait_event(self.raw, event.raw, flags) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.owned && self.context.bind().is_ok() {
            // SAFETY: created by `new`, destroyed once; the driver first completes the stream's work.
            let _ = unsafe { result::stream::destroy(self.raw) };
        }
    }
}

/// A position in a stream, with the time at which the device passed it.
pub struct Event {
    context: Arc<Context>,
    raw: sys::CUevent,
}

// SAFETY: the driver's calls on events are thread-safe.
unsafe impl Send for Event {}
// SAFETY: as above; the handle does not change.
unsafe impl Sync for Event {}

impl Event {
    /// A new event, not yet recorded.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        let context = cuda.context().clone();
        context.bind()?;
        let raw = wrapped("creating an event", result::event::create(Flags::CU_EVENT_DEFAULT))?;
        Ok(Self { context, raw })
    }

    /// Waits until the device has passed the event.
    ///
    /// # Errors
    /// A failure of any earlier kernel, or of the driver.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.context.bind()?;
        // SAFETY: the event lives as long as `self`.
        wrapped("waiting for an event", unsafe { result::event::synchronize(self.raw) })
    }

    /// Whether the device has passed the event.
    ///
    /// # Errors
    /// A failure of any earlier kernel, or of the driver.
    pub fn is_done(&self) -> Result<bool, GpuError> {
        self.context.bind()?;
        // SAFETY: the event lives as long as `self`.
        match unsafe { result::event::query(self.raw) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => wrapped("querying an event", other).map(|()| true),
        }
    }

    /// Time from `start` to this event, in seconds, with a resolution of about half a microsecond. Waits for
    /// this event.
    ///
    /// # Errors
    /// An event that was not recorded, or the errors of [`synchronize`](Self::synchronize).
    pub fn seconds_since(&self, start: &Self) -> Result<f64, GpuError> {
        self.synchronize()?;
        // SAFETY: both events live as long as their owners.
        let milliseconds = wrapped("timing", unsafe { result::event::elapsed(start.raw, self.raw) })?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: created by `new`, destroyed once.
            let _ = unsafe { result::event::destroy(self.raw) };
        }
    }
}
