//! The search for places at a height above points of a boundary, in the elements of all ranks.
//!
//! The element of the point's face is tried first, then all elements: of those that hold the place, the one
//! with the lowest number in the whole mesh is taken. Places therefore do not depend on the parts of a mesh.
//! Each rank searches its own elements, for the points of all ranks.

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::halo::{scalars, scalars_mut};
use crate::rhs::ranks::agree;
use crate::space::above::Base;
use dgsuite_gpu::comm::{CommError, Communicator, Exchange, Joint, Partner};
use dgsuite_mesh::{Locator, Mesh};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An element of this rank, with reference coordinates in it.
pub type PlaceAbove = (usize, [f64; 3]);

/// What a rank knows of its elements among those of the other ranks.
pub struct Among<'a> {
    /// The ranks.
    pub comm: &'a dyn Communicator,
    /// For each element of this rank's mesh its number in the whole mesh; ascending.
    pub elements: &'a [u32],
    /// Whether an element of this rank's mesh is its own, as each one is that of one rank; `None` if all are.
    pub owns: Option<&'a [bool]>,
}

/// The places above points of a boundary.
#[derive(Clone, Debug, Default)]
pub struct PlacesAbove {
    /// For each point its place; `None` if it lies in an element of another rank.
    pub own: Vec<Option<PlaceAbove>>,
    /// What this rank and others have of each other, by rank; ascending.
    pub loans: Vec<Loan>,
}

/// The places that two ranks have of each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loan {
    /// The other rank.
    pub rank: usize,
    /// The places of its points in elements of this rank.
    pub lent: Vec<PlaceAbove>,
    /// The points of this rank with places in elements of the other one, ascending: the order of the other's
    /// `lent`.
    pub borrowed: Vec<usize>,
}

/// Where a point's place is.
#[derive(Clone, Copy)]
enum Holder {
    Here(PlaceAbove),
    Rank(usize),
}

/// The places of points that were found, and the places lent to other ranks.
struct Found {
    holders: Vec<Option<Holder>>,
    lent: BTreeMap<usize, Vec<PlaceAbove>>,
}

struct Search<'a> {
    locator: Locator<'a>,
    among: Option<&'a Among<'a>>,
}

impl Search<'_> {
    /// Finds the places at these heights above points of this rank. Collective.
    fn all(&self, points: &[(Base, f64)]) -> Result<Found, CommError> {
        let own = |(point, h): &(Base, f64)| {
            let r = self.locator.find_in(point.element, point.up(*h))?;
            Some(Holder::Here((point.element, r)))
        };
        let mut holders: Vec<Option<Holder>> = points.iter().map(own).collect();
        let mut lent = BTreeMap::new();
        let far: Vec<usize> = (0..points.len()).filter(|&q| holders[q].is_none()).collect();
        let targets: Vec<[f64; 3]> = far.iter().map(|&q| points[q].0.up(points[q].1)).collect();
        let Some(among) = self.among else {
            for (&q, &x) in far.iter().zip(&targets) {
                holders[q] = self.locator.find_across(x).map(Holder::Here);
            }
            return Ok(Found { holders, lent });
        };
        let this = among.comm.rank();
        for rank in 0..among.comm.size() {
            let mut bytes = Vec::new();
            if rank == this {
                bytes.extend(targets.iter().flatten().flat_map(|c| c.to_le_bytes()));
            }
            among.comm.broadcast(rank, &mut bytes)?;
            let numbers: Vec<f64> = bytes.as_chunks().0.iter().map(|&c| f64::from_le_bytes(c)).collect();
            let (asked, _) = numbers.as_chunks::<3>();
            if asked.is_empty() {
                continue;
            }
            let found: Vec<_> = asked.iter().map(|&x| among.find(&self.locator, x)).collect();
            // The least name of all ranks.
            let name = |place: &Option<(f64, PlaceAbove)>| place.map_or(f64::NEG_INFINITY, |(name, _)| -name);
            let mut least: Vec<f64> = found.iter().map(name).collect();
            among.comm.max(&mut least)?;
            let held = found.iter().zip(&least).map(|(place, least)| {
                let (name, place) = (*place)?;
                (-name == *least).then_some(place)
            });
            let held: Vec<Option<PlaceAbove>> = held.collect();
            let holder = |place: &Option<PlaceAbove>| if place.is_some() { this as f64 } else { -1.0 };
            let mut ranks: Vec<f64> = held.iter().map(holder).collect();
            among.comm.max(&mut ranks)?;
            if rank == this {
                for ((&q, place), holder) in far.iter().zip(held).zip(ranks) {
                    let other = (holder >= 0.0).then_some(Holder::Rank(holder as usize));
                    holders[q] = place.map(Holder::Here).or(other);
                }
            } else if held.iter().any(Option::is_some) {
                lent.insert(rank, held.into_iter().flatten().collect());
            }
        }
        Ok(Found { holders, lent })
    }
}

impl Among<'_> {
    /// An own element that holds `x` or its image across periodic boundaries, with a number by which the
    /// places of ranks are ordered as a search in the whole mesh does.
    fn find(&self, locator: &Locator<'_>, x: [f64; 3]) -> Option<(f64, PlaceAbove)> {
        let (image, element, r) = locator.find_image(x)?;
        // An element of another rank is found by that one.
        let name = image as f64 * 2.0_f64.powi(32) + f64::from(self.elements[element]);
        self.owns.is_none_or(|own| own[element]).then_some((name, (element, r)))
    }
}

impl PlacesAbove {
    fn new(found: Found) -> Self {
        let mut loans: BTreeMap<usize, Loan> = BTreeMap::new();
        let mut of = |rank: usize, add: &mut dyn FnMut(&mut Loan)| {
            add(loans.entry(rank).or_insert_with(|| Loan { rank, ..Loan::default() }));
        };
        for (rank, places) in found.lent {
            of(rank, &mut |loan| loan.lent.clone_from(&places));
        }
        let mut own = Vec::with_capacity(found.holders.len());
        for (q, holder) in found.holders.into_iter().enumerate() {
            own.push(match holder {
                Some(Holder::Here(place)) => Some(place),
                Some(Holder::Rank(rank)) => {
                    of(rank, &mut |loan| loan.borrowed.push(q));
                    None
                }
                None => None,
            });
        }
        Self { own, loans: loans.into_values().collect() }
    }
}

/// Finds the elements at the heights above points of the boundary `name`, with reference coordinates, also
/// across periodic boundaries. Collective with several ranks, of which some may have no points.
///
/// # Errors
/// [`OpsError::NothingAbove`] if there is no element at the height of a point; on ranks where each point has
/// one [`OpsError::OtherRank`].
pub fn places_above(
    mesh: &Mesh,
    name: &str,
    points: &[Base],
    among: Option<&Among<'_>>,
) -> Result<PlacesAbove, OpsError> {
    let search = Search { locator: Locator::new(mesh), among };
    let at_heights: Vec<(Base, f64)> = points.iter().map(|point| (*point, point.height)).collect();
    let found = search.all(&at_heights)?;
    let lost = at_heights.iter().zip(&found.holders).filter(|(_, holder)| holder.is_none());
    let mut missing: Vec<(Base, f64)> = lost.map(|(point, _)| *point).collect();
    if highest(among, missing.len() as f64)? == 0.0 {
        return Ok(PlacesAbove::new(found));
    }
    // The largest height that all points allow, by bisection.
    let mut spans: Vec<[f64; 2]> = missing.iter().map(|(point, _)| [0.0, point.height]).collect();
    for _ in 0..30 {
        for ((_, h), [inside, outside]) in missing.iter_mut().zip(&spans) {
            *h = 0.5 * (inside + outside);
        }
        let found = search.all(&missing)?;
        for (((_, h), span), holder) in missing.iter().zip(&mut spans).zip(&found.holders) {
            span[usize::from(holder.is_none())] = *h;
        }
    }
    let largest = spans.iter().map(|[inside, _]| *inside).fold(f64::INFINITY, f64::min);
    let largest = -highest(among, -largest)?;
    let error = |(point, _): &(Base, f64)| OpsError::NothingAbove {
        boundary: name.to_owned(),
        height: point.height,
        at: point.at,
        largest,
    };
    let result = missing.first().map_or(Ok(PlacesAbove::default()), |first| Err(error(first)));
    match among {
        Some(among) => agree(among.comm, result),
        None => result,
    }
}

/// The largest value of all ranks.
fn highest(among: Option<&Among<'_>>, value: f64) -> Result<f64, CommError> {
    let mut values = [value];
    if let Some(among) = among {
        among.comm.max(&mut values)?;
    }
    Ok(values[0])
}

/// The exchange of numbers at the places that ranks have of each other: one message for each pair of ranks.
pub struct LoanExchange {
    joint: Arc<Joint>,
    /// Bytes to and from each rank.
    partners: Vec<Partner>,
    exchange: Box<dyn Exchange>,
    /// After a failure nothing is exchanged any more: the step ends, and then the run.
    failed: bool,
}

impl LoanExchange {
    /// Prepares the exchange of scalars of type `T`: for each rank, ascending, the number of those lent and
    /// borrowed. Collective.
    ///
    /// # Errors
    /// Those of the communication.
    pub fn new<T: PackScalar>(
        joint: &Arc<Joint>,
        loans: impl IntoIterator<Item = (usize, [usize; 2])>,
    ) -> Result<Self, CommError> {
        let partner = |(rank, [lent, borrowed]): (usize, [usize; 2])| Partner {
            rank,
            send: lent * T::BYTES,
            receive: borrowed * T::BYTES,
        };
        let partners: Vec<Partner> = loans.into_iter().map(partner).collect();
        let exchange = joint.comm().exchange(&partners)?;
        Ok(Self { joint: Arc::clone(joint), partners, exchange, failed: false })
    }

    /// Sends the numbers at lent places, those for one rank after the other.
    pub fn start<T: PackScalar>(&mut self, numbers: &[T]) {
        if self.failed {
            return;
        }
        let mut rest = numbers;
        for i in 0..self.partners.len() {
            let message: &mut [T] = scalars_mut(self.exchange.outgoing(i));
            let (own, more) = rest.split_at(message.len());
            message.copy_from_slice(own);
            rest = more;
        }
        let started = self.exchange.start();
        self.failed = self.joint.kept(started).is_none();
    }

    /// Waits for the numbers at borrowed places, those of one rank after the other. After a failure the last
    /// ones stay.
    pub fn finish<T: PackScalar>(&mut self, numbers: &mut [T]) {
        if self.failed {
            return;
        }
        let finished = self.exchange.finish();
        self.failed = self.joint.kept(finished).is_none();
        if self.failed {
            return;
        }
        let mut rest = numbers;
        for i in 0..self.partners.len() {
            let message: &[T] = scalars(self.exchange.incoming(i));
            let (own, more) = rest.split_at_mut(message.len());
            own.copy_from_slice(message);
            rest = more;
        }
    }
}
