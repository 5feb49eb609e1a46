//! The exchange of face values with the devices of other ranks.
//!
//! Traces of cut faces are copied into one message for each neighbouring rank, which the link transfers to
//! the part of that rank's exterior buffer that belongs to the same faces; with diffusion, published fluxes
//! go the same way between its passes. See `halo.rs` for the host.

use crate::connect::Foreign;
use crate::cuda::device_group::DeviceGroup;
use crate::cuda::exchange::{Exchange, exchanges_of};
use crate::discretization::Discretization;
use crate::simd::PackScalar;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Link};

/// The sets of a device's link.
pub(super) const TRACES: usize = 0;
pub(super) const FLUXES: usize = 1;

/// Cut faces on a device.
pub(super) struct DeviceHalo<T: PackScalar> {
    /// Copies to the messages.
    pub(super) packs: Vec<Exchange>,
    /// The messages to all neighbours, one after the other.
    pub(super) outgoing: DeviceBuffer<T>,
    pub(super) link: Link,
}

impl<T: PackScalar> DeviceHalo<T> {
    /// Prepares the exchange; `exterior` are the exterior buffers of traces and, with diffusion, of fluxes.
    /// Collective. `None` on one rank.
    pub(super) fn new(
        cuda: &Cuda,
        d: &Discretization<T>,
        device: &[DeviceGroup<T>],
        exterior: &[&DeviceBuffer<T>],
    ) -> Result<Option<Self>, GpuError> {
        let Some(ranks) = &d.ranks else { return Ok(None) };
        let borders = &d.connectivity.borders;
        let (mut list, mut starts, mut len) = (Vec::new(), Vec::new(), 0);
        for border in borders {
            let first = len as u32;
            list.extend(border.sends.iter().map(|s| Foreign { exterior: first + s.exterior, ..*s }));
            starts.push(len);
            len += border.exterior.len();
        }
        let packs = exchanges_of(cuda, d, device, &list)?;
        let outgoing = DeviceBuffer::zeros(cuda, "messages to other ranks", len)?;
        let set = |to: &&DeviceBuffer<T>| -> Vec<DeviceMessage> {
            let message = |(border, start): (&crate::halo::Border, &usize)| {
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
        let sets = exterior.iter().map(set).collect();
        // SAFETY: the buffers live as long as the discretisation, which owns this link.
        let link = unsafe { Link::new(cuda, ranks.comm(), sets)? };
        Ok(Some(Self { packs, outgoing, link }))
    }
}
