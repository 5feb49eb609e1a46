//! Concurrent launches: streams beside the main stream for the kernels of several groups and parts.
//!
//! When one kernel no longer occupies the whole device, blocks of the next run beside it.

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, Event, Stream};

/// Streams beside the main one. Launches between [`fork`](Self::fork) and [`join`](Self::join) run, relative
/// to the main stream, between the two calls; when recorded, they become branches of a graph.
pub(super) struct Branches {
    streams: Vec<(Stream, Event)>,
    begin: Event,
}

impl Branches {
    /// Branches for `n` launches, one of them in the main stream.
    pub(super) fn new(cuda: &Cuda, n: usize) -> Result<Self, GpuError> {
        let streams = (1..n).map(|_| -> Result<_, GpuError> { Ok((Stream::new(cuda)?, Event::new(cuda)?)) });
        Ok(Self { streams: streams.collect::<Result<_, _>>()?, begin: Event::new(cuda)? })
    }

    /// Makes the other streams wait for all work in the main stream so far.
    pub(super) fn fork(&self, cuda: &Cuda) -> Result<(), GpuError> {
        if self.streams.is_empty() {
            return Ok(());
        }
        cuda.stream().record(&self.begin)?;
        self.streams.iter().try_for_each(|(stream, _)| stream.wait(&self.begin))
    }

    /// The stream of launch `i`: the main stream for the first launch, and for all if there are no others.
    pub(super) fn stream<'a>(&'a self, cuda: &'a Cuda, i: usize) -> &'a Stream {
        i.checked_sub(1).and_then(|i| self.streams.get(i)).map_or(cuda.stream(), |(stream, _)| stream)
    }

    /// Makes the main stream wait for the others.
    pub(super) fn join(&self, cuda: &Cuda) -> Result<(), GpuError> {
        self.streams.iter().try_for_each(|(stream, end)| {
            stream.record(end)?;
            cuda.stream().wait(end)
        })
    }
}
