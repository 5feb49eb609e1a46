//! The exchange of face values with the devices of other ranks.
//!
//! Traces of cut faces are one message for each neighbouring rank, to the part of that rank's exterior buffer
//! that belongs to the same faces; with diffusion, published fluxes go the same way between its passes. If
//! the link reaches the memory of the other devices, a kernel writes them there; otherwise it writes them to
//! a buffer that the link transfers. See `halo.rs` for the host.
//!
//! Messages have a stream of their own, preferred by the device. A pass over the elements of all parts first
//! launches the inner ones, which need no message, and then those at cut faces, which wait for the messages
//! in branches of their own: they fill the device where the inner elements end. Limiters send their numbers
//! of elements in the same stream; see `limiter/abroad.rs`. States above boundaries with wall models leave
//! before the traces; see `above_messages.rs`.

use crate::cuda::parts::branches::{Branches, Lane, Share};
use crate::cuda::parts::device_group::{DeviceGroup, StageVectors};
use crate::cuda::run::above_messages::AboveMessages;
use crate::cuda::run::exchange::{Copies, Exchange, exchanges_of};
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::discretization::Discretization;
use crate::space::connect::{Border, Foreign};
use crate::space::group::Group;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Event, Link, Stream};

/// The sets of a device's link.
pub(crate) const TRACES: usize = 0;
pub(crate) const FLUXES: usize = 1;

/// The messages to other ranks' devices, and their stream.
pub(crate) struct Messages {
    pub(crate) link: Link,
    /// `None` if stages wait for messages as soon as they send them.
    stream: Option<Stream>,
    begun: Event,
}

/// A set of messages on its way.
pub(crate) struct Flight {
    arrived: Event,
    /// The set, if the link runs it when all other work has been launched, since the host waits for it.
    pending: Option<usize>,
}

impl Flight {
    pub(crate) fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        Ok(Self { arrived: Event::new(cuda)?, pending: None })
    }
}

impl Messages {
    /// Whether other work hides the messages.
    pub(crate) const fn overlaps(&self) -> bool {
        self.stream.is_some()
    }

    /// Starts to send a set, after the work in the main stream so far; `pack` writes the messages to
    /// their places on the other devices, or where the link sends them from if it has no such places.
    pub(crate) fn begin(
        &mut self,
        cuda: &Cuda,
        flight: &mut Flight,
        set: usize,
        pack: impl FnOnce(&Stream) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        let stream = match &self.stream {
            Some(stream) => {
                cuda.stream().record(&self.begun)?;
                stream.wait(&self.begun)?;
                stream
            }
            None => cuda.stream(),
        };
        self.link.open(stream, set)?;
        pack(stream)?;
        if self.stream.is_some() && !self.link.is_recordable() {
            flight.pending = Some(set);
            return Ok(());
        }
        self.link.close(stream, set)?;
        if self.stream.is_some() { stream.record(&flight.arrived) } else { Ok(()) }
    }

    /// Sends what [`begin`](Self::begin) has left. Work that reads the messages waits for the event, if there
    /// is one.
    pub(crate) fn finish<'a>(&mut self, flight: &'a mut Flight) -> Result<Option<&'a Event>, GpuError> {
        let Some(stream) = &self.stream else { return Ok(None) };
        if let Some(set) = flight.pending.take() {
            self.link.close(stream, set)?;
            stream.record(&flight.arrived)?;
        }
        Ok(Some(&flight.arrived))
    }
}

/// Cut faces on a device.
pub(crate) struct DeviceHalo<T: PackScalar> {
    packs: Vec<Pack>,
    /// The messages to all neighbours, one after the other, for the link.
    outgoing: DeviceBuffer<T>,
    pub(crate) messages: Messages,
    /// Traces or fluxes.
    flight: Flight,
    above: Option<AboveMessages<T>>,
}

/// Copies to messages.
struct Pack {
    exchange: Exchange,
    /// Where they begin, for each set.
    to: Vec<u64>,
}

impl<T: PackScalar> DeviceHalo<T> {
    /// Prepares the exchange; `exterior` are the exterior buffers of traces and, with diffusion, of fluxes.
    /// Collective. `None` on one rank.
    pub(crate) fn new(
        cuda: &Cuda,
        d: &Discretization<T>,
        device: &[DeviceGroup<T>],
        exterior: &[&DeviceBuffer<T>],
    ) -> Result<Option<Self>, GpuError> {
        let Some(ranks) = &d.ranks else { return Ok(None) };
        let borders = &d.connectivity.borders;
        let mut starts = vec![0];
        starts.extend(borders.iter().map(|border| border.exterior.len()));
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let len = starts.pop().unwrap_or(0);
        let outgoing = DeviceBuffer::zeros(cuda, "messages to other ranks", len)?;
        let set = |to: &&DeviceBuffer<T>| -> Vec<DeviceMessage> {
            let message = |(border, start): (&Border, &usize)| {
                let bytes = border.exterior.len() * T::BYTES;
                DeviceMessage {
                    rank: border.rank,
                    send: outgoing.ptr_at(*start),
                    send_bytes: bytes,
                    receive: to.ptr_at(border.exterior.start),
                    receive_bytes: bytes,
                }
            };
            borders.iter().zip(&starts).map(message).collect()
        };
        let sets: Vec<_> = exterior.iter().map(set).collect();
        let n_sets = sets.len();
        // SAFETY: the buffers live as long as the discretisation, which owns this link.
        let link = unsafe { Link::new(cuda, ranks.comm(), sets)? };
        let faces = |border: &Border, first: usize| -> Vec<Foreign> {
            let at = |s: &Foreign| Foreign { exterior: first as u32 + s.exterior, ..*s };
            border.sends.iter().map(at).collect()
        };
        let lists: Vec<(Vec<Foreign>, Vec<u64>)> =
            match (0..n_sets).map(|set| link.places(set)).collect::<Option<Vec<_>>>() {
                Some(places) => borders
                    .iter()
                    .enumerate()
                    .map(|(i, border)| (faces(border, 0), places.iter().map(|set| set[i]).collect()))
                    .collect(),
                None => {
                    let all = borders.iter().zip(&starts).flat_map(|(border, &first)| faces(border, first));
                    vec![(all.collect(), vec![outgoing.ptr(); n_sets])]
                }
            };
        let mut packs = Vec::new();
        for (list, to) in lists {
            let exchanges = exchanges_of(cuda, d, device, &list)?;
            packs.extend(exchanges.into_iter().map(|exchange| Pack { exchange, to: to.clone() }));
        }
        let stream = ranks.overlaps().then(|| Stream::urgent(cuda)).transpose()?;
        let mut messages = Messages { link, stream, begun: Event::new(cuda)? };
        let above = match &d.above {
            Some(above) => Some(AboveMessages::new(cuda, ranks, &mut messages.link, &lock(above))?),
            None => None,
        };
        Ok(Some(Self { packs, outgoing, messages, flight: Flight::new(cuda)?, above }))
    }

    /// Memory on the device in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.outgoing.bytes() + self.above.as_ref().map_or(0, AboveMessages::bytes)
    }

    /// Starts to send the states above boundaries of other ranks.
    pub(crate) fn begin_above(&mut self, cuda: &Cuda, copies: &mut Copies, u: u64) -> Result<(), GpuError> {
        match &mut self.above {
            Some(above) => above.begin(cuda, &mut self.messages, copies, u),
            None => Ok(()),
        }
    }

    /// Lets the main stream wait for the states above boundaries, and returns their address.
    pub(crate) fn finish_above(&mut self, cuda: &Cuda) -> Result<u64, GpuError> {
        match &mut self.above {
            Some(above) => above.finish(cuda, &mut self.messages),
            None => Ok(0),
        }
    }

    /// Whether work on inner elements hides the messages.
    pub(crate) const fn overlaps(&self) -> bool {
        self.messages.overlaps()
    }

    /// Starts to send a set, after the work in the main stream so far; `pack` copies to an address.
    pub(crate) fn begin(
        &mut self,
        cuda: &Cuda,
        set: usize,
        mut pack: impl FnMut(&Stream, &Exchange, u64) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        let Self { packs, messages, flight, .. } = self;
        messages.begin(cuda, flight, set, |stream| {
            packs.iter().try_for_each(|Pack { exchange, to }| pack(stream, exchange, to[set]))
        })
    }
}

/// Launches a kernel of every part of all groups, in concurrent branches of the main stream; those for
/// elements at cut faces wait for the messages of other ranks.
pub(crate) fn launch_parts<T: PackScalar>(
    cuda: &Cuda,
    branches: &Branches,
    groups: &mut [DeviceGroup<T>],
    hosts: &[Group<T>],
    mut halo: Option<&mut DeviceHalo<T>>,
    vectors: &StageVectors,
    mut launch: impl FnMut(&mut DeviceGroup<T>, &Lane<'_>, &StageVectors) -> Result<(), GpuError>,
) -> Result<(), GpuError> {
    let overlaps = halo.as_ref().is_some_and(|halo| halo.overlaps());
    let shares: &[Share] = if overlaps { &[Share::Inner, Share::Cut] } else { &[Share::All] };
    let mut first = 0;
    branches.fork(cuda)?;
    for &share in shares {
        let cut = halo.as_mut().filter(|_| share == Share::Cut);
        let after = match cut {
            Some(halo) => halo.messages.finish(&mut halo.flight)?,
            None => None,
        };
        let mut slots = 0;
        for (group, host) in groups.iter_mut().zip(hosts) {
            launch(group, &Lane { share, branches, first, after }, &vectors.at_slot::<T>(slots))?;
            slots += host.state.blocks * host.state.lanes;
            first += group.parts.len();
        }
        // Also if no element reads them: the main stream waits for all messages.
        if let Some(event) = after {
            cuda.stream().wait(event)?;
        }
    }
    branches.join(cuda)
}
