//! The buffers of an exchange, and the alternation of its starts and finishes, common to all planes.

use super::{CommError, Partner};
use crate::Buffer;

/// Buffers of the messages with each partner, which are accessible between rounds only.
pub(super) struct Buffers {
    pub(super) partners: Vec<Partner>,
    pub(super) outgoing: Vec<Buffer<u8>>,
    pub(super) incoming: Vec<Buffer<u8>>,
    under_way: bool,
}

impl Buffers {
    /// Zeros for these partners of one of `size` ranks.
    pub(super) fn new(partners: &[Partner], size: usize) -> Result<Self, CommError> {
        for (i, partner) in partners.iter().enumerate() {
            check_rank(partner.rank, size)?;
            if partners[..i].iter().any(|earlier| earlier.rank == partner.rank) {
                let reason = "it is listed twice";
                return Err(CommError::Partner { rank: partner.rank, size, reason });
            }
        }
        let zeros = |bytes| Buffer::zeros(bytes).map_err(|_| CommError::OutOfMemory { bytes });
        Ok(Self {
            partners: partners.to_vec(),
            outgoing: partners.iter().map(|partner| zeros(partner.send)).collect::<Result<_, _>>()?,
            incoming: partners.iter().map(|partner| zeros(partner.receive)).collect::<Result<_, _>>()?,
            under_way: false,
        })
    }

    /// The outgoing message to partner `i`; see [`super::Exchange::outgoing`].
    pub(super) fn outgoing(&mut self, i: usize) -> &mut [u8] {
        assert!(!self.under_way, "an outgoing message is accessible only before it is sent");
        &mut self.outgoing[i]
    }

    /// The incoming message from partner `i`; see [`super::Exchange::incoming`].
    pub(super) fn incoming(&self, i: usize) -> &[u8] {
        assert!(!self.under_way, "an incoming message is accessible only after finish");
        &self.incoming[i]
    }

    /// Whether a round has begun and not ended: the messages may still be in use.
    pub(super) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Begins a round.
    pub(super) fn begin(&mut self) -> Result<(), CommError> {
        if self.under_way {
            return Err(CommError::Round { found: "started twice" });
        }
        self.under_way = true;
        Ok(())
    }

    /// Refuses what is possible only within a round.
    pub(super) fn check_begun(&self) -> Result<(), CommError> {
        if self.under_way { Ok(()) } else { Err(CommError::Round { found: "finished without a start" }) }
    }

    /// Ends a round.
    pub(super) fn end(&mut self) {
        self.under_way = false;
    }
}

/// Refuses ranks that do not exist.
pub(crate) fn check_rank(rank: usize, size: usize) -> Result<(), CommError> {
    let reason = "there is no such rank";
    if rank < size { Ok(()) } else { Err(CommError::Partner { rank, size, reason }) }
}
