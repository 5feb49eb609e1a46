//! The exchange of states above boundaries with other ranks, whose elements hold the places.
//!
//! The states leave before the traces of a stage are computed, and arrive before its boundaries are
//! evaluated.

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::above_wall::{Slots, Spots, by_group};
use crate::rhs::discretization::Discretization;
use crate::rhs::places_above::{Loan, LoanExchange, PlacesAbove};
use crate::rhs::ranks::Ranks;
use crate::space::above::{Base, Height};
use crate::space::group::Group;
use dgsuite_gpu::Host;
use std::sync::{Mutex, PoisonError};

/// A boundary of the mesh whose data come from above it.
pub(crate) struct Wall {
    /// Index among the mesh's boundaries.
    pub(crate) boundary: usize,
    pub(crate) name: String,
    pub(crate) height: Height,
}

/// States for another rank, at places in elements of one group.
pub(crate) struct Lent<T> {
    /// The number of the rank among the partners.
    pub(crate) partner: usize,
    pub(crate) spots: Spots<T>,
    /// The number of each place in the message.
    pub(crate) to: Vec<usize>,
    /// Where the message begins among all messages, in points.
    begin: usize,
    /// Work space: the states.
    states: Vec<T>,
}

/// A rank with which states are exchanged.
struct Partner {
    rank: usize,
    /// Points of the messages to and from it.
    lent: usize,
    borrowed: usize,
    /// Where the points of each boundary begin in the message from it.
    first: Vec<usize>,
}

/// The exchange with all ranks that have places of each other: one message for each pair, `[boundary][point]`
/// `[field]`.
pub(crate) struct AboveHalo<T> {
    /// The boundaries whose states are exchanged.
    names: Vec<String>,
    partners: Vec<Partner>,
    pub(crate) lent: Vec<Lent<T>>,
    /// The elements with places of other ranks.
    pub(crate) elements: Vec<usize>,
    pub(crate) fields: usize,
    exchange: LoanExchange,
    /// States to send, and those that have arrived, of one partner after the other.
    states: Vec<T>,
    arrived: Vec<T>,
}

impl<T: PackScalar> AboveHalo<T> {
    /// Prepares the exchange of the places `found` above each of the boundaries `walls`. Collective.
    pub(crate) fn new(
        ranks: &Ranks,
        groups: &[Group<T>],
        slots: &Slots,
        walls: &[Wall],
        found: &[(Vec<Base>, PlacesAbove)],
    ) -> Result<Self, OpsError> {
        let fields = groups[0].state.fields;
        let loans = || found.iter().flat_map(|(_, places)| &places.loans);
        let mut others: Vec<usize> = loans().map(|loan| loan.rank).collect();
        others.sort_unstable();
        others.dedup();
        let (mut partners, mut lent) = (Vec::new(), Vec::new());
        let mut begin = 0;
        for (partner, &rank) in others.iter().enumerate() {
            let (mut first, mut borrowed, mut places) = (Vec::new(), 0, Vec::new());
            for (_, of_wall) in found {
                first.push(borrowed);
                if let Some(loan) = of_wall.loans.iter().find(|loan| loan.rank == rank) {
                    borrowed += loan.borrowed.len();
                    places.extend_from_slice(&loan.lent);
                }
            }
            let n = places.len();
            for (spots, to) in by_group(groups, slots, places.into_iter().enumerate()) {
                let states = vec![T::ZERO; to.len() * fields];
                lent.push(Lent { partner, spots, to, begin, states });
            }
            partners.push(Partner { rank, lent: n, borrowed, first });
            begin += n;
        }
        let of = |p: &Partner| (p.rank, [p.lent * fields, p.borrowed * fields]);
        let exchange = LoanExchange::new::<T>(ranks.joint(), partners.iter().map(of))?;
        let mut elements: Vec<usize> = loans().flat_map(|loan: &Loan| &loan.lent).map(|p| p.0).collect();
        elements.sort_unstable();
        elements.dedup();
        let room = |of: fn(&Partner) -> usize| vec![T::ZERO; partners.iter().map(of).sum::<usize>() * fields];
        Ok(Self {
            names: walls.iter().map(|wall| wall.name.clone()).collect(),
            states: room(|p| p.lent),
            arrived: room(|p| p.borrowed),
            partners,
            lent,
            elements,
            fields,
            exchange,
        })
    }

    /// Where the states of a boundary begin among those that arrive from a rank, in points.
    pub(crate) fn first_borrowed(&self, rank: usize, wall: usize) -> usize {
        let Some(partner) = self.partners.iter().position(|p| p.rank == rank) else { return 0 };
        let before: usize = self.partners[..partner].iter().map(|p| p.borrowed).sum();
        before + self.partners[partner].first[wall]
    }

    /// The other ranks.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.partners.iter().map(|partner| partner.rank)
    }

    /// The points of the messages to and from each of them.
    pub(crate) fn points(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        self.partners.iter().map(|partner| [partner.lent, partner.borrowed])
    }

    /// Scalars of the tables and messages.
    fn len(&self) -> usize {
        let tables = self.lent.iter().map(|lent| lent.spots.weights.len() + lent.states.len());
        tables.sum::<usize>() + self.states.len() + self.arrived.len()
    }

    /// Sends the states at the places of other ranks.
    fn start(&mut self, u: &[T], host: &Host) {
        let fields = self.fields;
        for Lent { spots, to, begin, states, .. } in &mut self.lent {
            spots.states(u, fields, host, states);
            for (&q, state) in to.iter().zip(states.chunks_exact(fields)) {
                self.states[(*begin + q) * fields..][..fields].copy_from_slice(state);
            }
        }
        self.exchange.start(&self.states);
    }

    /// Waits for the states at the places in elements of other ranks.
    fn finish(&mut self) -> &[T] {
        self.exchange.finish(&mut self.arrived);
        &self.arrived
    }

    /// Waits for the states of a stage, if ranks exchange any.
    pub(crate) fn received(above: &mut Option<Mutex<Self>>) -> &[T] {
        let above = above.as_mut().map(|above| above.get_mut().unwrap_or_else(PoisonError::into_inner));
        above.map_or(&[], Self::finish)
    }
}

impl<T: PackScalar> Discretization<T> {
    /// Scalars of the exchange of states above boundaries.
    pub(crate) fn len_above(&self) -> usize {
        self.above.as_ref().map_or(0, |above| lock(above).len())
    }

    /// Sends the states at the places of other ranks above their boundaries.
    pub(crate) fn send_above(&mut self, u: &[T]) {
        if let Some(above) = &mut self.above {
            above.get_mut().unwrap_or_else(PoisonError::into_inner).start(u, &self.host);
        }
    }

    /// The states that arrive from other ranks for the boundary `name`. Collective if its data come from
    /// above it.
    pub(crate) fn arrived_above(&self, u: &[T], name: &str) -> Vec<T> {
        let Some(above) = &self.above else { return Vec::new() };
        let mut above = lock(above);
        if !above.names.iter().any(|wall| wall == name) {
            return Vec::new();
        }
        above.start(u, &self.host);
        above.finish().to_vec()
    }

    /// The elements of this rank with places of other ranks above their boundary `name`.
    pub(crate) fn lent_elements(&self, name: &str) -> Vec<usize> {
        let Some(above) = &self.above else { return Vec::new() };
        let above = lock(above);
        if above.names.iter().any(|wall| wall == name) { above.elements.clone() } else { Vec::new() }
    }
}
