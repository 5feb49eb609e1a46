//! States above boundaries whose places lie in elements of other ranks, on devices.
//!
//! A kernel interpolates the states at the places of another rank and writes them into the message, or to its
//! place on the other device; the kernel of the boundary's data reads the message that arrives as if each
//! state were an element with one constant function. See `above_halo.rs` for the host.

use crate::cuda::run::exchange::Copies;
use crate::cuda::run::halo::{Flight, Messages};
use crate::cuda::terms::above_wall::DeviceSpots;
use crate::lanes::simd::PackScalar;
use crate::rhs::above_halo::{AboveHalo, Lent};
use crate::rhs::ranks::Ranks;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Link};

/// The messages of a stage.
pub(super) struct AboveMessages<T: PackScalar> {
    packs: Vec<Pack<T>>,
    /// The messages to all ranks, one after the other, for the link.
    outgoing: DeviceBuffer<T>,
    /// The states of all ranks, one after the other.
    arrived: DeviceBuffer<T>,
    /// The number of the set of the link.
    set: usize,
    flight: Flight,
}

/// States for another rank, at places in elements of one group.
struct Pack<T: PackScalar> {
    spots: DeviceSpots<T>,
    /// Where each state begins in the message.
    offsets: DeviceBuffer<u32>,
    /// Where the message begins.
    to: u64,
}

impl<T: PackScalar> AboveMessages<T> {
    /// Adds the messages to a link. Collective.
    pub(super) fn new(
        cuda: &Cuda,
        ranks: &Ranks,
        link: &mut Link,
        halo: &AboveHalo<T>,
    ) -> Result<Self, GpuError> {
        const WHAT: &str = "states above boundaries";
        let width = halo.fields;
        let points = |of: fn(&[usize; 2]) -> usize| -> usize { halo.points().map(|n| of(&n)).sum() };
        let outgoing = DeviceBuffer::zeros(cuda, WHAT, points(|n| n[0]) * width)?;
        let arrived = DeviceBuffer::zeros(cuda, WHAT, points(|n| n[1]) * width)?;
        let (mut sent, mut received) = (0, 0);
        let mut set = Vec::new();
        for (rank, [lent, borrowed]) in halo.ranks().zip(halo.points()) {
            set.push(DeviceMessage {
                rank,
                send: outgoing.ptr_at(sent * width),
                send_bytes: lent * width * T::BYTES,
                receive: arrived.ptr_at(received * width),
                receive_bytes: borrowed * width * T::BYTES,
            });
            sent += lent;
            received += borrowed;
        }
        let own: Vec<u64> = set.iter().map(|message| message.send).collect();
        // SAFETY: the buffers live as long as the discretisation, which alone runs this set.
        let set = unsafe { link.add(ranks.comm(), set, false)? };
        let places = link.places(set).unwrap_or(own);
        let pack = |lent: &Lent<T>| -> Result<Pack<T>, GpuError> {
            let offsets: Vec<u32> = lent.to.iter().map(|&q| (q * width) as u32).collect();
            Ok(Pack {
                spots: DeviceSpots::new(cuda, &lent.spots)?,
                offsets: DeviceBuffer::from_slice(cuda, WHAT, &offsets)?,
                to: places[lent.partner],
            })
        };
        let packs = halo.lent.iter().map(pack).collect::<Result<_, _>>()?;
        Ok(Self { packs, outgoing, arrived, set, flight: Flight::new(cuda)? })
    }

    /// Memory on the device in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.outgoing.bytes() + self.arrived.bytes()
    }

    /// Starts to send the states in the values at address `u`.
    pub(super) fn begin(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        copies: &mut Copies,
        u: u64,
    ) -> Result<(), GpuError> {
        let Self { packs, set, flight, .. } = self;
        messages.begin(cuda, flight, *set, |stream| {
            packs.iter().try_for_each(|Pack { spots, offsets, to }| {
                copies.states(cuda, stream, spots, u, (offsets, *to))
            })
        })
    }

    /// Lets the main stream wait for the states that arrive, and returns their address.
    pub(super) fn finish(&mut self, cuda: &Cuda, messages: &mut Messages) -> Result<u64, GpuError> {
        if let Some(arrived) = messages.finish(&mut self.flight)? {
            cuda.stream().wait(arrived)?;
        }
        Ok(self.arrived.ptr())
    }
}
