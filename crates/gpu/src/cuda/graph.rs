//! Graphs: a sequence of launches, recorded once and started together.

use cudarc::driver::{result, sys};

use super::driver::{check, wrapped};
use super::{Cuda, Stream};
use crate::GpuError;
use crate::comm::Amount;

/// Launches and copies that start together, without the cost of separate launches.
///
/// Pointers and scalars are those of the recording; data that changes between launches must lie in device
/// memory. Everything that the recorded work uses must outlive the graph. Kernels do, since the graph holds
/// its device.
pub struct Graph {
    cuda: Cuda,
    exec: sys::CUgraphExec,
    n_nodes: usize,
    /// What a launch sends to other ranks.
    sends: Amount,
}

// SAFETY: one thread at a time uses the handle (`launch` is the only use, and the driver orders it).
unsafe impl Send for Graph {}

impl Cuda {
    /// Records what `work` puts into [`Cuda::stream`] as a graph, without running it.
    ///
    /// Inside `work` only launches and asynchronous copies are allowed: no waiting, no allocation, no other
    /// recording. Work of other threads still goes to the device meanwhile. A thread that also records, or
    /// that waits for the whole device, first waits for the end of this recording, so `work` must not wait
    /// for such a thread.
    ///
    /// # Errors
    /// The errors of `work`, or of the driver if something in it cannot be recorded.
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<(), GpuError>) -> Result<Graph, GpuError> {
        const MODE: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.context().bind()?;
        let turn = self.context().begin_turn()?;
        let stream = self.stream();
        // SAFETY: the stream lives as long as this device.
        wrapped("starting to record", unsafe { result::stream::begin_capture(stream.raw, MODE) })?;
        // `open` ends the recording even if `work` fails.
        let open = Recording(stream);
        let sent = || self.traffic().map(|traffic| traffic.now()).unwrap_or_default();
        let before = sent();
        let worked = work(stream);
        let graph = open.end();
        // Only launches send.
        let sends = sent() - before;
        self.traffic().inspect(|traffic| traffic.take(sends));
        drop(turn);
        let graph = match (worked, graph) {
            (Ok(()), Ok(graph)) => graph,
            (Err(error), Ok(graph)) => {
                // SAFETY: returned by `end`, destroyed once.
                let _ = unsafe { result::graph::destroy(graph) };
                return Err(error);
            }
            (Err(error), Err(_)) | (Ok(()), Err(error)) => return Err(error),
        };
        let mut n_nodes = 0;
        // SAFETY: a null array requests the number only.
        let counted = unsafe { sys::cuGraphGetNodes(graph, std::ptr::null_mut(), &raw mut n_nodes) };
        let mut exec = std::ptr::null_mut();
        // Without this flag the work of all recorded streams has the priority of the stream of the launch.
        // Drivers before CUDA 11.7 do not know it.
        let priority = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0.into();
        // SAFETY: `graph` is complete; the driver copies what it needs.
        let mut instantiate =
            |flags| unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, flags) };
        let made = match instantiate(priority) {
            sys::CUresult::CUDA_ERROR_INVALID_VALUE => instantiate(0),
            made => made,
        };
        // SAFETY: returned by `end`, destroyed once.
        let _ = unsafe { result::graph::destroy(graph) };
        check("counting what was recorded", counted)?;
        check("creating a graph", made)?;
        Ok(Graph { cuda: self.clone(), exec, n_nodes, sends })
    }
}

/// A stream that is being recorded.
struct Recording<'a>(&'a Stream);

impl Recording<'_> {
    fn end(self) -> Result<sys::CUgraph, GpuError> {
        // SAFETY: the stream is being recorded since `capture`.
        let graph = unsafe { result::stream::end_capture(self.0.raw) };
        std::mem::forget(self);
        wrapped("recording", graph)
    }
}

impl Drop for Recording<'_> {
    /// Only reached when `work` panics.
    fn drop(&mut self) {
        // SAFETY: as in `end`; the driver keeps a graph that may result.
        let _ = unsafe { result::stream::end_capture(self.0.raw) };
    }
}

impl Graph {
    /// Puts the whole graph into the device's main stream.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn launch(&self) -> Result<(), GpuError> {
        self.launch_on(self.cuda.stream())
    }

    /// Puts the whole graph into a stream.
    ///
    /// # Errors
    /// The errors of the driver.
    pub fn launch_on(&self, stream: &Stream) -> Result<(), GpuError> {
        self.cuda.context().bind()?;
        self.cuda.traffic().inspect(|traffic| traffic.add(self.sends));
        // SAFETY: both handles live as long as their owners.
        wrapped("launching a graph", unsafe { result::graph::launch(self.exec, stream.raw) })
    }

    /// Number of launches and copies in the graph.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.cuda.context().bind().is_ok() {
            // SAFETY: created by `capture`, destroyed once.
            let _ = unsafe { result::graph::exec_destroy(self.exec) };
        }
    }
}
