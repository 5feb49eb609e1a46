//! Launches that do not wait for one another: the kernels of several groups and parts run beside each other,
//! so that the end of one fills the device with the next.

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, Event, Stream};

/// Streams beside the main one. What is put into them between [`fork`](Self::fork) and [`join`](Self::join)
/// comes, for the main stream, between the two; recorded, they are branches of a graph.
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

    /// The streams wait for what the main one has so far.
    pub(super) fn fork(&self, cuda: &Cuda) -> Result<(), GpuError> {
        if self.streams.is_empty() {
            return Ok(());
        }
        cuda.stream().record(&self.begin)?;
        self.streams.iter().try_for_each(|(stream, _)| stream.wait(&self.begin))
    }

    /// The stream of launch `i`; the main one is that of the first, and of all where there are no others.
    pub(super) fn stream<'a>(&'a self, cuda: &'a Cuda, i: usize) -> &'a Stream {
        i.checked_sub(1).and_then(|i| self.streams.get(i)).map_or(cuda.stream(), |(stream, _)| stream)
    }

    /// The main stream waits for the others.
    pub(super) fn join(&self, cuda: &Cuda) -> Result<(), GpuError> {
        self.streams.iter().try_for_each(|(stream, end)| {
            stream.record(end)?;
            cuda.stream().wait(end)
        })
    }
}
