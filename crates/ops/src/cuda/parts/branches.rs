//! Concurrent launches: streams beside the main stream for the kernels of several groups and parts.
//!
//! When one kernel no longer occupies the whole device, blocks of the next run beside it. On several ranks
//! the elements at cut faces have branches of their own, which wait for the messages of other ranks.

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, Event, Stream};

/// The elements of a part that a launch processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    All,
    /// Those at cut faces, in whole runs.
    Cut,
    /// All but those of `Cut`.
    Inner,
}

/// The branches of one share of the elements, for the parts of a group.
pub(crate) struct Lane<'a> {
    pub(crate) share: Share,
    pub(crate) branches: &'a Branches,
    /// The branch of the group's first part.
    pub(crate) first: usize,
    /// The event for which the launches wait.
    pub(crate) after: Option<&'a Event>,
}

impl<'a> Lane<'a> {
    /// The stream for part `i` of the group.
    pub(crate) fn stream(&'a self, cuda: &'a Cuda, i: usize) -> Result<&'a Stream, GpuError> {
        let stream = self.branches.stream(cuda, self.first + i);
        if let Some(event) = self.after {
            stream.wait(event)?;
        }
        Ok(stream)
    }
}

/// Streams beside the main one. Launches between [`fork`](Self::fork) and [`join`](Self::join) run, relative
/// to the main stream, between the two calls; when recorded, they become branches of a graph.
pub(crate) struct Branches {
    streams: Vec<(Stream, Event)>,
    begin: Event,
}

impl Branches {
    /// Branches for `n` launches, one of them in the main stream.
    pub(crate) fn new(cuda: &Cuda, n: usize) -> Result<Self, GpuError> {
        let streams = (1..n).map(|_| -> Result<_, GpuError> { Ok((Stream::new(cuda)?, Event::new(cuda)?)) });
        Ok(Self { streams: streams.collect::<Result<_, _>>()?, begin: Event::new(cuda)? })
    }

    /// Makes the other streams wait for all work in the main stream so far.
    pub(crate) fn fork(&self, cuda: &Cuda) -> Result<(), GpuError> {
        if self.streams.is_empty() {
            return Ok(());
        }
        cuda.stream().record(&self.begin)?;
        self.streams.iter().try_for_each(|(stream, _)| stream.wait(&self.begin))
    }

    /// The stream of launch `i`: the main stream for the first launch, and for all if there are no others.
    fn stream<'a>(&'a self, cuda: &'a Cuda, i: usize) -> &'a Stream {
        i.checked_sub(1).and_then(|i| self.streams.get(i)).map_or(cuda.stream(), |(stream, _)| stream)
    }

    /// Makes the main stream wait for the others.
    pub(crate) fn join(&self, cuda: &Cuda) -> Result<(), GpuError> {
        self.streams.iter().try_for_each(|(stream, end)| {
            stream.record(end)?;
            cuda.stream().wait(end)
        })
    }
}
