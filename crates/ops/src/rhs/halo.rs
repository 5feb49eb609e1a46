//! The exchange of face values with the parts of other ranks.
//!
//! The sender arranges the values of a cut face in the frame of the receiver's face, `[point][field]`, as in
//! the exterior buffer. Both parts list their common faces in the same order, so that a message is copied
//! into the exterior buffer as it is.

use crate::lanes::simd::PackScalar;
use crate::rhs::ranks::Ranks;
use crate::space::connect::Border;
use crate::space::connect::Foreign;
use dgsuite_gpu::comm::{CommError, Exchange, Partner};
use rayon::prelude::*;
use std::sync::Arc;

/// The exchange with all neighbouring parts.
pub(crate) struct Halo {
    ranks: Arc<Ranks>,
    borders: Vec<Border>,
    exchange: Box<dyn Exchange>,
    /// After a failure nothing is exchanged any more: the step ends, and then the run.
    failed: bool,
}

impl Halo {
    /// Prepares the exchange of scalars of type `T`. Collective.
    pub(crate) fn new<T: PackScalar>(ranks: &Arc<Ranks>, borders: &[Border]) -> Result<Self, CommError> {
        let partner = |b: &Border| Partner {
            rank: b.rank,
            send: b.exterior.len() * T::BYTES,
            receive: b.exterior.len() * T::BYTES,
        };
        let partners: Vec<Partner> = borders.iter().map(partner).collect();
        let exchange = ranks.comm().exchange(&partners)?;
        Ok(Self { ranks: Arc::clone(ranks), borders: borders.to_vec(), exchange, failed: false })
    }

    /// Sends the values of all cut faces: `put` copies those of one face to the place given.
    pub(crate) fn start<T: PackScalar>(&mut self, put: impl Fn(&Foreign, &mut [T])) {
        if self.failed {
            return;
        }
        for (i, border) in self.borders.iter().enumerate() {
            let message: &mut [T] = scalars_mut(self.exchange.outgoing(i));
            let ends = border.sends.iter().skip(1).map(|s| s.exterior as usize).chain([message.len()]);
            for (send, end) in border.sends.iter().zip(ends) {
                put(send, &mut message[send.exterior as usize..end]);
            }
        }
        let started = self.exchange.start();
        self.failed = self.ranks.kept(started).is_none();
    }

    /// Waits for the values of the other parts and copies them into the exterior buffer.
    pub(crate) fn finish<T: PackScalar>(&mut self, exterior: &mut [T]) {
        if self.failed {
            return; // the values of the last exchange stay
        }
        let finished = self.exchange.finish();
        self.failed = self.ranks.kept(finished).is_none();
        if self.failed {
            return;
        }
        for (i, border) in self.borders.iter().enumerate() {
            exterior[border.exterior.clone()].copy_from_slice(scalars(self.exchange.incoming(i)));
        }
    }
}

/// The exchange of some numbers of the elements at cut faces.
pub(crate) struct ElementHalo {
    ranks: Arc<Ranks>,
    borders: Vec<Border>,
    exchange: Box<dyn Exchange>,
    width: usize,
    /// As for [`Halo`].
    failed: bool,
    /// The numbers of the elements beyond the cut faces, `[cut face][number]`.
    pub(crate) numbers: Vec<f64>,
}

impl ElementHalo {
    /// Prepares the exchange of `width` numbers of each element. Collective.
    pub(crate) fn new(ranks: &Arc<Ranks>, borders: &[Border], width: usize) -> Result<Self, CommError> {
        let bytes = |b: &Border| b.sends.len() * width * size_of::<f64>();
        let partner = |b: &Border| Partner { rank: b.rank, send: bytes(b), receive: bytes(b) };
        let partners: Vec<Partner> = borders.iter().map(partner).collect();
        let exchange = ranks.comm().exchange(&partners)?;
        let faces: usize = borders.iter().map(|b| b.sends.len()).sum();
        let (ranks, borders) = (Arc::clone(ranks), borders.to_vec());
        Ok(Self { ranks, borders, exchange, width, failed: false, numbers: vec![0.0; faces * width] })
    }

    /// Sends the numbers that `of` computes for the element of a group and slot.
    pub(crate) fn start(&mut self, of: impl Fn(usize, usize, &mut [f64]) + Sync) {
        if self.failed {
            return;
        }
        for (i, border) in self.borders.iter().enumerate() {
            let message: &mut [f64] = scalars_mut(self.exchange.outgoing(i));
            let faces = message.par_chunks_exact_mut(self.width).zip(&border.sends);
            faces.for_each(|(out, send)| of(send.group as usize, send.slot as usize, out));
        }
        let started = self.exchange.start();
        self.failed = self.ranks.kept(started).is_none();
    }

    /// Waits for the numbers of the other parts.
    pub(crate) fn finish(&mut self) {
        if self.failed {
            return;
        }
        let arrived = self.exchange.finish();
        self.failed = self.ranks.kept(arrived).is_none();
        if self.failed {
            return;
        }
        let mut rest = &mut self.numbers[..];
        for i in 0..self.borders.len() {
            let message: &[f64] = scalars(self.exchange.incoming(i));
            let (own, more) = rest.split_at_mut(message.len());
            own.copy_from_slice(message);
            rest = more;
        }
    }

    /// The numbers of the element beyond a cut face.
    pub(crate) fn of(&self, face: usize) -> &[f64] {
        &self.numbers[face * self.width..(face + 1) * self.width]
    }
}

pub(crate) fn scalars<T: PackScalar>(bytes: &[u8]) -> &[T] {
    // SAFETY: every bit pattern is a scalar.
    let (before, values, after) = unsafe { bytes.align_to() };
    assert!(before.is_empty() && after.is_empty(), "messages are aligned and hold whole scalars");
    values
}

pub(crate) fn scalars_mut<T: PackScalar>(bytes: &mut [u8]) -> &mut [T] {
    // SAFETY: every bit pattern is a scalar, and every scalar is bytes.
    let (before, values, after) = unsafe { bytes.align_to_mut() };
    assert!(before.is_empty() && after.is_empty(), "messages are aligned and hold whole scalars");
    values
}
