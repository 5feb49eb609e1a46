//! The order of the points of a boundary on several ranks.

use super::On;
use crate::rank_mesh::ROOT;
use crate::words::{Reader, Words};
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::EllipticRanks;
use std::sync::Arc;

/// The order of the points of open boundaries on one rank, for the points of several.
pub(super) struct PointOrder {
    ranks: Arc<EllipticRanks>,
    /// The place of each point of this rank among those of all.
    pub(super) places: Vec<usize>,
    /// Whether a point is that of an own element.
    own: Vec<bool>,
    /// Points of all ranks.
    pub(super) len: usize,
}

impl PointOrder {
    /// Points are in the order of the elements of the whole mesh, those of both kinds one after the other.
    /// Collective.
    pub(super) fn new(ranks: &Arc<EllipticRanks>, on: &On) -> Result<Self, OpsError> {
        let local = on.list(&on.elliptic.elements, &on.flux.elements);
        let kind = |q: usize| usize::from(on.first > 0 && q >= on.first);
        let number = |element: u32| ranks.elements()[element as usize] as usize;
        let keys: Vec<[usize; 2]> = (0..on.len()).map(|q| [kind(q), number(local[q])]).collect();
        let own: Vec<bool> = local.iter().map(|&element| ranks.owns(element as usize)).collect();
        let mut words = Words::default();
        let told: Vec<usize> =
            keys.iter().zip(&own).filter(|(_, own)| **own).flat_map(|(key, _)| *key).collect();
        words.numbers(told.into_iter());
        let comm = ranks.joint().comm();
        let messages = comm.gather(ROOT, words.bytes())?.unwrap_or_default();
        let mut all: Vec<[usize; 2]> = Vec::new();
        for message in &messages {
            all.extend(Reader::new(message).numbers().as_chunks::<2>().0);
        }
        all.sort_unstable();
        let mut words = Words::default();
        words.numbers(all.iter().flatten().copied().collect::<Vec<_>>().into_iter());
        let mut bytes = words.bytes().to_vec();
        comm.broadcast(ROOT, &mut bytes)?;
        let numbers = Reader::new(&bytes).numbers();
        let all = numbers.as_chunks::<2>().0;
        let mut places = Vec::with_capacity(keys.len());
        for (q, key) in keys.iter().enumerate() {
            // The points of an element follow each other.
            let before = keys[..q].iter().rev().take_while(|other| *other == key).count();
            places.push(all.partition_point(|other| other < key) + before);
        }
        Ok(Self { ranks: Arc::clone(ranks), places, own, len: all.len() })
    }

    /// The numbers of all points on rank 0, none on others. Collective.
    pub(super) fn gather(&self, numbers: &[f64]) -> Vec<f64> {
        let own = |list: &[usize]| -> Vec<usize> {
            list.iter().zip(&self.own).filter(|(_, own)| **own).map(|(x, _)| *x).collect()
        };
        let mut words = Words::default();
        words.numbers(own(&self.places).into_iter());
        let values = numbers.iter().zip(&self.own).filter(|(_, own)| **own).map(|(x, _)| *x);
        words.reals(values.collect::<Vec<_>>().into_iter());
        let joint = self.ranks.joint();
        let messages = joint.kept(joint.comm().gather(ROOT, words.bytes())).flatten().unwrap_or_default();
        let mut all = vec![0.0; if messages.is_empty() { 0 } else { self.len }];
        for message in &messages {
            let mut reader = Reader::new(message);
            let (places, values) = (reader.numbers(), reader.reals());
            places.into_iter().zip(values).for_each(|(place, value)| all[place] = value);
        }
        all
    }
}
