//! Vectors of the whole mesh on each rank, from those of all ranks.

use super::ranks::{Entries, message_len, pack, unpack};
use crate::elliptic::Sipdg;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use dgsuite_gpu::comm::{Exchange, Joint, Partner};
use std::sync::{Arc, Mutex};

/// Gathers vectors of an operator on several ranks to vectors of the same operator on the whole mesh, on all
/// ranks: coarse levels of multigrid are solved there, by each rank for itself.
pub struct Gathering<T> {
    joint: Arc<Joint>,
    /// Own elements in the vectors of this rank.
    own: Vec<Entries>,
    /// The elements of each rank in whole vectors.
    of_ranks: Vec<Vec<Entries>>,
    /// For each entry of this rank's elements, with those of the layer, its entry in whole vectors.
    pairs: Vec<(u32, u32)>,
    /// The exchange, the numbers of the other ranks, and whether it has failed.
    exchange: Mutex<(Box<dyn Exchange>, Vec<usize>, bool)>,
    numbers: std::marker::PhantomData<T>,
}

impl<T: PackScalar> Gathering<T> {
    /// Prepares the exchange between vectors of `part`, an operator on several ranks, and of `whole`, the
    /// operator of the same order on the whole mesh. Collective.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if `part` is not on several ranks; errors of the communication.
    pub fn new(part: &Sipdg<T>, whole: &Sipdg<T>) -> Result<Self, OpsError> {
        let Some(ranks) = part.ranks() else {
            return Err(OpsError::Elliptic { reason: "only operators on ranks are gathered".to_owned() });
        };
        let joint = Arc::clone(ranks.joint());
        let (comm, of) = (Arc::clone(joint.comm()), ranks.partition().of());
        let mut of_ranks = vec![Vec::new(); comm.size()];
        for (element, &rank) in of.iter().enumerate() {
            of_ranks[rank as usize].push(whole.space.entries(element));
        }
        let (mut own, mut pairs) = (Vec::new(), Vec::new());
        for (local, &element) in ranks.elements().iter().enumerate() {
            let (here, there) = (part.space.entries(local), whole.space.entries(element as usize));
            if ranks.owns(local) {
                own.push(here);
            }
            pairs.extend(here.all().zip(there.all()).map(|(a, b)| (a as u32, b as u32)));
        }
        let others: Vec<usize> = (0..comm.size()).filter(|&rank| rank != comm.rank()).collect();
        let partner = |&rank: &usize| Partner {
            rank,
            send: message_len::<T>(&own),
            receive: message_len::<T>(&of_ranks[rank]),
        };
        let partners: Vec<Partner> = others.iter().map(partner).collect();
        let exchange = Mutex::new((comm.exchange(&partners)?, others, false));
        Ok(Self { joint, own, of_ranks, pairs, exchange, numbers: std::marker::PhantomData })
    }

    /// The whole vector. Its padding is not changed. Collective.
    pub fn gather(&self, part: &[T], whole: &mut [T]) {
        let mut guard = lock(&self.exchange);
        let (exchange, others, failed) = &mut *guard;
        self.put(part, whole);
        if *failed {
            return;
        }
        for i in 0..others.len() {
            pack(&self.own, part, exchange.outgoing(i));
        }
        let done = exchange.start().and_then(|()| exchange.finish());
        *failed = self.joint.kept(done).is_none();
        if !*failed {
            for (i, &rank) in others.iter().enumerate() {
                unpack(&self.of_ranks[rank], exchange.incoming(i), whole);
            }
        }
    }

    /// Copies this rank's entries, with those of the layer, into a whole vector.
    pub fn put(&self, part: &[T], whole: &mut [T]) {
        self.pairs.iter().for_each(|&(here, there)| whole[there as usize] = part[here as usize]);
    }

    /// Copies this rank's entries, with those of the layer, from a whole vector.
    pub fn pick(&self, whole: &[T], part: &mut [T]) {
        self.pairs.iter().for_each(|&(here, there)| part[here as usize] = whole[there as usize]);
    }
}
