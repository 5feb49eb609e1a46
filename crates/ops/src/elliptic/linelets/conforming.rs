//! Diagonal scaling of the functions that are continuous over all elements.
//!
//! The penalty makes functions stiff that jump between elements, and those that do not are soft beside them:
//! point Jacobi, which scales the jumps, hardly damps the others. With the embedding Q of the continuous
//! nodal functions, a smoother `D⁻¹ + Q diag(QᵀAQ)⁻¹ Qᵀ` damps both. Jumps of continuous functions vanish, so
//! that `QᵀAQ` is the matrix of continuous finite elements, whatever the penalty.

use super::shared_nodes::{Node, SharedNodes, shared_nodes};
use crate::elliptic::space::ranks::EllipticRanks;
use crate::elliptic::{Space, continuous};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::halo::{scalars, scalars_mut};
use dgsuite_basis::Shape;
use dgsuite_gpu::comm::{Exchange, Partner};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Functions that one task sums.
const SUMS: usize = 512;

/// An entry that belongs to no continuous function.
const NOWHERE: u32 = u32::MAX;

/// `Q diag(QᵀAQ)⁻¹ Qᵀ` for the nodal functions of nodes that elements share.
pub(crate) struct Conforming<T> {
    /// First place in `entries` of each function, then their number.
    pub(crate) starts: Vec<u32>,
    /// Entries of vectors, then places of what other ranks send, counted from the length of a vector.
    pub(crate) entries: Vec<u32>,
    /// `1 / diag(QᵀAQ)`.
    pub(crate) inverse: Vec<T>,
    /// The function of each entry.
    pub(crate) function: Vec<u32>,
    sums: Vec<T>,
    halo: Option<NodeHalo<T>>,
}

/// The entries of nodes that elements of several ranks share and that are not in the layer.
pub(crate) struct NodeHalo<T> {
    ranks: Arc<EllipticRanks>,
    /// By partner: its rank, the entries that are sent, and the number of those received.
    messages: Vec<(usize, Vec<u32>, usize)>,
    exchange: Mutex<(Box<dyn Exchange>, bool)>,
    received: Vec<T>,
}

impl<T: PackScalar> NodeHalo<T> {
    /// Brings the entries of a vector. After a failure nothing is exchanged any more: the solve ends.
    fn run(&mut self, vector: &[T]) {
        let mut guard = lock(&self.exchange);
        let (exchange, failed) = &mut *guard;
        if *failed {
            return;
        }
        for (i, (_, sends, _)) in self.messages.iter().enumerate() {
            let message = scalars_mut(exchange.outgoing(i));
            message.iter_mut().zip(sends).for_each(|(to, &entry)| *to = vector[entry as usize]);
        }
        let done = exchange.start().and_then(|()| exchange.finish());
        *failed = self.ranks.joint().kept(done).is_none();
        let mut rest = &mut self.received[..];
        for (i, (_, _, n)) in self.messages.iter().enumerate().filter(|_| !*failed) {
            let (own, others) = rest.split_at_mut(*n);
            rest = others;
            own.copy_from_slice(&scalars(exchange.incoming(i))[..*n]);
        }
    }
}

impl<T: PackScalar> Conforming<T> {
    /// Finds the functions. `nodes` are those of the smoother's basis by shape, `own` has the terms of each
    /// entry in `diag(QᵀAQ)`, in the layer too, and `thin` tells whether an element of the whole mesh is in a
    /// linelet. Collective.
    pub(super) fn new(
        space: &Space<T>,
        nodes: &[(Shape, Vec<[f64; 3]>)],
        own: &[T],
        thin: &(dyn Fn(u32) -> bool + Sync),
    ) -> Result<Self, OpsError> {
        let ranks = space.problem.ranks.as_ref();
        let mesh = ranks.map_or(&space.problem.mesh, |ranks| ranks.whole());
        let elements: Vec<u32> = match ranks {
            None => (0..mesh.n_elements() as u32).collect(),
            Some(ranks) => around(ranks),
        };
        let mut shared = shared_nodes(space, mesh, &elements, nodes, thin);
        let n = space.len();
        let (mut halo, mut place) = (None, BTreeMap::new());
        if let Some(ranks) = ranks {
            let here = ranks.joint().comm().rank() as u32;
            let of = ranks.partition().of();
            let is_own = |node: &Node| of[elements[node.0 as usize] as usize] == here;
            shared = shared.only(|list| list.iter().any(is_own));
            let (mut of_ranks, places) = node_halo(space, ranks, &elements, &shared)?;
            of_ranks.run(own);
            (halo, place) = (Some(of_ranks), places);
        }
        let entry = |(element, i): &Node| -> u32 {
            let local = match ranks {
                None => Some(*element as usize),
                Some(ranks) => ranks.elements().binary_search(&elements[*element as usize]).ok(),
            };
            match local {
                Some(local) => {
                    let (first, stride) = space.rows(local);
                    (first + usize::from(*i) * stride) as u32
                }
                None => n as u32 + place.get(&(*element, *i)).copied().unwrap_or(0),
            }
        };
        let received: &[T] = halo.as_ref().map_or(&[], |halo| &halo.received);
        let term = |&entry: &u32| {
            let entry = entry as usize;
            own.get(entry).unwrap_or_else(|| &received[entry - n]).to_f64()
        };
        let (entries, inverse) = space.problem.host.install(|| {
            let entries: Vec<u32> = shared.nodes.par_iter().map(entry).collect();
            // A function whose diagonal is no number is left out.
            let inverse = |k: usize| {
                let of = shared.starts[k] as usize..shared.starts[k + 1] as usize;
                let sum: f64 = entries[of].iter().map(term).sum();
                T::from_f64(if sum > 0.0 && sum.is_finite() { 1.0 / sum } else { 0.0 })
            };
            let inverse: Vec<T> = (0..shared.len()).into_par_iter().map(inverse).collect();
            (entries, inverse)
        });
        let mut function = vec![NOWHERE; n];
        for (k, ends) in shared.starts.windows(2).enumerate() {
            for &entry in &entries[ends[0] as usize..ends[1] as usize] {
                if let Some(function) = function.get_mut(entry as usize) {
                    *function = k as u32;
                }
            }
        }
        let sums = vec![T::ZERO; inverse.len()];
        Ok(Self { starts: shared.starts, entries, inverse, function, sums, halo })
    }

    /// `diag(QᵀAQ)⁻¹ Qᵀ r`.
    pub(super) fn sum(&mut self, r: &[T]) {
        let Self { starts, entries, inverse, sums, halo, .. } = self;
        if let Some(halo) = halo {
            halo.run(r);
        }
        let received: &[T] = halo.as_ref().map_or(&[], |halo| &halo.received);
        sums.par_chunks_mut(SUMS).enumerate().for_each(|(task, sums)| {
            for (k, sum) in (task * SUMS..).zip(sums) {
                let of = &entries[starts[k] as usize..starts[k + 1] as usize];
                let value = |&entry: &u32| match r.get(entry as usize) {
                    Some(value) => *value,
                    None => received[entry as usize - r.len()],
                };
                *sum = inverse[k] * of.iter().map(value).fold(T::ZERO, |sum, value| sum + value);
            }
        });
    }

    /// Adds the functions to entries of a vector from `first` on.
    pub(super) fn add(&self, first: usize, z: &mut [T]) {
        for (z, function) in z.iter_mut().zip(&self.function[first..]) {
            if let Some(sum) = self.sums.get(*function as usize) {
                *z += *sum;
            }
        }
    }

    /// By partner on other ranks: its rank, the entries that are sent, and the number of those received.
    pub(crate) fn halo(&self) -> Option<(&EllipticRanks, &[(usize, Vec<u32>, usize)])> {
        self.halo.as_ref().map(|halo| (halo.ranks.as_ref(), &halo.messages[..]))
    }

    /// The number of values that come from other ranks.
    pub(crate) fn n_received(&self) -> usize {
        self.halo.as_ref().map_or(0, |halo| halo.received.len())
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let numbers = self.starts.len() + self.entries.len() + self.function.len();
        numbers * size_of::<u32>() + 2 * self.inverse.len() * size_of::<T>()
    }
}

/// The elements of the whole mesh that share a vertex with own elements, and these; ascending.
fn around(ranks: &EllipticRanks) -> Vec<u32> {
    let (vertices, n) = continuous::vertices(ranks.whole());
    let (of, here) = (ranks.partition().of(), ranks.joint().comm().rank() as u32);
    let mut near = vec![false; n];
    for (vertices, _) in vertices.iter().zip(of).filter(|(_, part)| **part == here) {
        vertices.iter().for_each(|v| near[*v as usize] = true);
    }
    let is_near = |element: &u32| vertices[*element as usize].iter().any(|v| near[*v as usize]);
    (0..vertices.len() as u32).filter(is_near).collect()
}

/// The messages of shared nodes, and the places of those received.
fn node_halo<T: PackScalar>(
    space: &Space<T>,
    ranks: &Arc<EllipticRanks>,
    elements: &[u32],
    shared: &SharedNodes,
) -> Result<(NodeHalo<T>, BTreeMap<Node, u32>), OpsError> {
    let (of, here) = (ranks.partition().of(), ranks.joint().comm().rank() as u32);
    let part = |node: &Node| of[elements[node.0 as usize] as usize];
    // Own elements in the layers of other ranks.
    let mut layers: Vec<(u32, u32)> = Vec::new();
    for neighbour in ranks.neighbours() {
        let sent = neighbour.sends.iter().map(|local| (ranks.elements()[*local as usize], neighbour.part));
        layers.extend(sent);
    }
    layers.sort_unstable();
    let (mut sends, mut receives): (Vec<(u32, Node)>, Vec<(u32, Node)>) = (Vec::new(), Vec::new());
    for list in shared.lists() {
        for node in list {
            let element = elements[node.0 as usize];
            if part(node) == here {
                let to = list.iter().map(part).filter(|part| *part != here);
                sends.extend(
                    to.filter(|to| layers.binary_search(&(element, *to)).is_err()).map(|to| (to, *node)),
                );
            } else if ranks.elements().binary_search(&element).is_err() {
                receives.push((part(node), *node));
            }
        }
    }
    for all in [&mut sends, &mut receives] {
        all.sort_unstable();
        all.dedup();
    }
    let mut partners: Vec<u32> = sends.iter().chain(&receives).map(|(part, _)| *part).collect();
    partners.sort_unstable();
    partners.dedup();
    let place = receives.iter().enumerate().map(|(k, (_, node))| (*node, k as u32)).collect();
    let message = |&partner: &u32| {
        let to = sends.iter().filter(|(part, _)| *part == partner);
        let entry = |(_, (element, i)): &(u32, Node)| {
            let local = ranks.elements().binary_search(&elements[*element as usize]).unwrap_or(0);
            let (first, stride) = space.rows(local);
            (first + usize::from(*i) * stride) as u32
        };
        let received = receives.iter().filter(|(part, _)| *part == partner).count();
        (partner as usize, to.map(entry).collect::<Vec<_>>(), received)
    };
    let messages: Vec<(usize, Vec<u32>, usize)> = partners.iter().map(message).collect();
    let partner = |(rank, sends, n): &(usize, Vec<u32>, usize)| Partner {
        rank: *rank,
        send: sends.len() * T::BYTES,
        receive: n * T::BYTES,
    };
    let exchange = ranks.joint().comm().exchange(&messages.iter().map(partner).collect::<Vec<_>>())?;
    let exchange = Mutex::new((exchange, false));
    let received = vec![T::ZERO; receives.len()];
    Ok((NodeHalo { ranks: Arc::clone(ranks), messages, exchange, received }, place))
}
