//! One rank's share of an elliptic problem: its elements with one layer of those of other ranks.

use crate::elliptic::linelets::Linelets;
use crate::elliptic::space::Space;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::halo::{scalars, scalars_mut};
use crate::rhs::places_above::Among;
use crate::space::group::{Group, needs};
use crate::space::scheme::{MetricRule, Need};
use dgsuite_basis::Shape;
use dgsuite_gpu::comm::{Exchange, Joint, Partner};
use dgsuite_gpu::{Items, Summation};
use dgsuite_mesh::{Mesh, Neighbour, OverlappingPart, Partition};
use std::any::Any;
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// The part of a mesh on which this rank works, beside the ranks that work on the other parts.
///
/// Operators on several ranks have vectors of the rank's own elements and of one layer of elements beyond
/// them. Entries of the layer always equal those of the rank that owns the elements: results of operators
/// that couple elements are sent there, and all other work is done twice. Functions of such operators are
/// *collective*: all ranks call them in the same order. Results have the same bits for any number of ranks.
pub struct EllipticRanks {
    joint: Arc<Joint>,
    whole: Arc<Mesh>,
    mesh: Arc<Mesh>,
    elements: Vec<u32>,
    own: Vec<bool>,
    neighbours: Vec<Neighbour>,
    partition: Partition,
    /// What the whole mesh needs of each shape.
    needs: Vec<Need>,
    /// The linelets of own elements, in numbers of the part.
    lines: Linelets,
    /// Whether an element of the whole mesh is in a linelet.
    thin: Vec<bool>,
    /// What operators on a device share, once there are any.
    pub(crate) on_device: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

impl EllipticRanks {
    /// The share of the rank of `joint` in a mesh that all ranks have. The partition has a part for each rank
    /// and cuts none of the linelets of the whole mesh.
    ///
    /// # Errors
    /// [`OpsError::Parts`] if the number of parts is not that of the ranks.
    pub fn new(
        whole: Arc<Mesh>,
        partition: Partition,
        lines: &Linelets,
        joint: Arc<Joint>,
    ) -> Result<Self, OpsError> {
        let (parts, ranks) = (partition.parts(), joint.comm().size());
        if parts != ranks {
            return Err(OpsError::Parts { parts, ranks });
        }
        let part = OverlappingPart::new(&whole, &partition, joint.comm().rank());
        let OverlappingPart { mesh, elements, own, neighbours } = part;
        let local = |element: u32| {
            let local = elements.binary_search(&element).ok()?;
            own[local].then_some(local as u32)
        };
        let mut thin = vec![false; whole.n_elements()];
        lines.elements().iter().flatten().for_each(|element| thin[*element as usize] = true);
        let lines = lines.renumbered(local);
        let needs = needs(&whole);
        let mesh = Arc::new(mesh);
        let on_device = Mutex::new(None);
        Ok(Self { joint, whole, mesh, elements, own, neighbours, partition, needs, lines, thin, on_device })
    }

    /// The ranks.
    #[must_use]
    pub fn joint(&self) -> &Arc<Joint> {
        &self.joint
    }

    /// The whole mesh.
    #[must_use]
    pub fn whole(&self) -> &Arc<Mesh> {
        &self.whole
    }

    /// The mesh of this rank: its own elements and one layer of elements of others.
    #[must_use]
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// For each element of this rank's mesh its index in the whole mesh; ascending.
    #[must_use]
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// Whether an element of this rank's mesh is its own.
    #[must_use]
    pub fn owns(&self, element: usize) -> bool {
        self.own[element]
    }

    /// What a search in the elements of all ranks needs.
    #[must_use]
    pub fn among(&self) -> Among<'_> {
        Among { comm: self.joint.comm().as_ref(), elements: &self.elements, owns: Some(&self.own) }
    }

    /// The part of each element of the whole mesh.
    pub(crate) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The ranks with which elements are exchanged.
    pub(crate) fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    pub(in crate::elliptic) fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Whether an element of the whole mesh is in a linelet.
    pub(in crate::elliptic) fn is_thin(&self, element: u32) -> bool {
        self.thin[element as usize]
    }

    /// Whether the whole mesh has linelets.
    pub(in crate::elliptic) fn has_lines(&self) -> bool {
        self.thin.contains(&true)
    }

    pub(in crate::elliptic) fn lines(&self) -> &Linelets {
        &self.lines
    }

    /// Replaces each flag by whether it is set on any rank. Collective.
    pub(crate) fn any(&self, flags: &mut [bool]) -> Result<(), OpsError> {
        let mut values: Vec<f64> = flags.iter().map(|&flag| f64::from(u8::from(flag))).collect();
        self.joint.comm().max(&mut values)?;
        flags.iter_mut().zip(values).for_each(|(flag, value)| *flag = value > 0.0);
        Ok(())
    }
}

/// The entries of an element in a vector: the first, the distance between them, and their number.
#[derive(Clone, Copy)]
pub(crate) struct Entries {
    pub(in crate::elliptic) first: usize,
    pub(in crate::elliptic) stride: usize,
    pub(in crate::elliptic) count: usize,
}

impl Entries {
    pub(crate) fn all(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |i| self.first + i * self.stride)
    }
}

/// Copies the entries of elements into a message, one element after another.
pub(in crate::elliptic) fn pack<T: PackScalar>(elements: &[Entries], vector: &[T], message: &mut [u8]) {
    let entries = elements.iter().flat_map(|element| element.all());
    scalars_mut(message).iter_mut().zip(entries).for_each(|(to, entry)| *to = vector[entry]);
}

/// Copies a message to the entries of elements.
pub(in crate::elliptic) fn unpack<T: PackScalar>(elements: &[Entries], message: &[u8], vector: &mut [T]) {
    let entries = elements.iter().flat_map(|element| element.all());
    scalars(message).iter().zip(entries).for_each(|(&from, entry)| vector[entry] = from);
}

/// The number of bytes of such a message.
pub(in crate::elliptic) fn message_len<T: PackScalar>(elements: &[Entries]) -> usize {
    elements.iter().map(|element| element.count).sum::<usize>() * T::BYTES
}

/// Brings the entries of the layer from the ranks that own them.
pub(in crate::elliptic) struct Refresh {
    ranks: Arc<EllipticRanks>,
    sends: Vec<Vec<Entries>>,
    receives: Vec<Vec<Entries>>,
    exchange: Mutex<(Box<dyn Exchange>, Failed)>,
}

/// After a failure nothing is exchanged any more: the solve ends, and then the run.
type Failed = bool;

impl Refresh {
    /// Prepares the exchange for the vectors of a space. Collective.
    pub(in crate::elliptic) fn new<T: PackScalar>(
        space: &Space<T>,
        ranks: &Arc<EllipticRanks>,
    ) -> Result<Self, OpsError> {
        let of = |list: &Vec<u32>| list.iter().map(|&e| space.entries(e as usize)).collect();
        let sends: Vec<Vec<Entries>> = ranks.neighbours.iter().map(|n| of(&n.sends)).collect();
        let receives: Vec<Vec<Entries>> = ranks.neighbours.iter().map(|n| of(&n.receives)).collect();
        let partner = |((n, send), receive): ((&Neighbour, &Vec<Entries>), &Vec<Entries>)| Partner {
            rank: n.part as usize,
            send: message_len::<T>(send),
            receive: message_len::<T>(receive),
        };
        let partners: Vec<Partner> =
            ranks.neighbours.iter().zip(&sends).zip(&receives).map(partner).collect();
        let exchange = Mutex::new((ranks.joint.comm().exchange(&partners)?, false));
        Ok(Self { ranks: Arc::clone(ranks), sends, receives, exchange })
    }

    pub(in crate::elliptic) fn run<T: PackScalar>(&self, vector: &mut [T]) {
        let mut guard = lock(&self.exchange);
        let (exchange, failed) = &mut *guard;
        if *failed {
            return;
        }
        for (i, elements) in self.sends.iter().enumerate() {
            pack(elements, vector, exchange.outgoing(i));
        }
        let done = exchange.start().and_then(|()| exchange.finish());
        *failed = self.ranks.joint.kept(done).is_none();
        if !*failed {
            for (i, elements) in self.receives.iter().enumerate() {
                unpack(elements, exchange.incoming(i), vector);
            }
        }
    }
}

/// Facts of the elements of one shape and kind on all ranks, on which the form of `A u` depends.
#[derive(Clone, Copy, Debug)]
pub(in crate::elliptic) struct Kind {
    /// Whether tangential factors of a face do not vanish.
    pub(in crate::elliptic) skew: bool,
    /// Whether κ differs on both sides of a face.
    pub(in crate::elliptic) jumps: bool,
}

impl<T: PackScalar> Space<T> {
    /// Whether a flag is set on any rank. Collective.
    pub(in crate::elliptic) fn any(&self, flag: bool) -> Result<bool, OpsError> {
        let mut flags = [flag];
        self.problem.ranks.as_ref().map_or(Ok(()), |ranks| ranks.any(&mut flags))?;
        Ok(flags[0])
    }

    /// The sums of numbers over all ranks. Collective.
    pub(in crate::elliptic) fn totals<const N: usize>(
        &self,
        own: [usize; N],
    ) -> Result<[usize; N], OpsError> {
        let Some(ranks) = &self.problem.ranks else { return Ok(own) };
        let mut all = own.map(|n| n as i64);
        ranks.joint.comm().sum(&mut all)?;
        Ok(all.map(|n| n as usize))
    }

    /// Whether the elements of all ranks have one shape, and are all affine or all curved.
    pub(in crate::elliptic) fn is_of_one_kind(&self) -> bool {
        match &self.problem.ranks {
            None => self.groups.iter().map(|group| group.parts.len()).sum::<usize>() == 1,
            Some(ranks) => {
                let [need] = ranks.needs() else { return false };
                need.affine != need.curved.is_some()
            }
        }
    }

    /// Whether the elements of all ranks are simplices.
    pub(in crate::elliptic) fn is_of_simplices(&self) -> bool {
        let simplex = |shape: Shape| matches!(shape, Shape::Triangle | Shape::Tetrahedron);
        match &self.problem.ranks {
            None => self.groups.iter().all(|group| simplex(group.shape)),
            Some(ranks) => ranks.needs().iter().all(|need| simplex(need.shape)),
        }
    }

    /// Whether any element is curved, if the elements of all ranks have one shape; `None` otherwise.
    pub(in crate::elliptic) fn any_curved_of_one_shape(&self) -> Option<bool> {
        match &self.problem.ranks {
            None => match &self.groups[..] {
                [group] => Some(group.parts.iter().any(|part| part.spec.rule != MetricRule::Affine)),
                _ => None,
            },
            Some(ranks) => match ranks.needs() {
                [need] => Some(need.curved.is_some()),
                _ => None,
            },
        }
    }

    pub(in crate::elliptic) fn entries(&self, element: usize) -> Entries {
        let (first, stride) = self.rows(element);
        Entries { first, stride, count: self.n_basis(element) }
    }

    /// Whether this rank counts an element in sums.
    pub(in crate::elliptic) fn counts(&self, element: usize) -> bool {
        self.problem.ranks.as_ref().is_none_or(|ranks| ranks.owns(element))
    }

    /// The number of an element in the whole mesh.
    pub(in crate::elliptic) fn number(&self, element: usize) -> usize {
        self.problem.ranks.as_ref().map_or(element, |ranks| ranks.elements()[element] as usize)
    }

    /// Whether the elements of a group are all affine, or none is, on all ranks.
    pub(in crate::elliptic) fn is_uniform(&self, g: usize) -> bool {
        let group = &self.groups[g];
        match &self.problem.ranks {
            None => group.parts.len() == 1,
            Some(ranks) => {
                let need = ranks.needs().iter().find(|need| need.shape == group.shape);
                group.parts.len() == 1 && need.is_some_and(|need| need.affine != need.curved.is_some())
            }
        }
    }

    /// Replaces the facts of each part of each group by those of all ranks. Collective.
    pub(in crate::elliptic) fn agree(&self, kinds: &mut [Vec<Kind>]) -> Result<(), OpsError> {
        let Some(ranks) = &self.problem.ranks else { return Ok(()) };
        let mut flags = vec![false; 4 * Shape::ALL.len()];
        let row = |g: usize, p: usize| {
            let shape = Shape::ALL.iter().position(|&shape| shape == self.groups[g].shape).unwrap_or(0);
            4 * shape + 2 * usize::from(self.groups[g].parts[p].kind == crate::space::layout::PerPoint::Yes)
        };
        let each = |kinds: &[Vec<Kind>]| -> Vec<(usize, usize)> {
            let of =
                |(g, parts): (usize, &Vec<Kind>)| (0..parts.len()).map(move |p| (g, p)).collect::<Vec<_>>();
            kinds.iter().enumerate().flat_map(of).collect()
        };
        let all = each(kinds);
        for &(g, p) in &all {
            let (row, kind) = (row(g, p), kinds[g][p]);
            (flags[row], flags[row + 1]) = (kind.skew, kind.jumps);
        }
        ranks.any(&mut flags)?;
        for (g, p) in all {
            let row = row(g, p);
            kinds[g][p] = Kind { skew: flags[row], jumps: flags[row + 1] };
        }
        Ok(())
    }

    /// For each group whether it has a face with another group on any rank. Collective.
    pub(in crate::elliptic) fn meet_others(&self, here: &[bool]) -> Result<Vec<bool>, OpsError> {
        let Some(ranks) = &self.problem.ranks else { return Ok(here.to_vec()) };
        let at = |g: usize| Shape::ALL.iter().position(|&s| s == self.groups[g].shape).unwrap_or(0);
        let mut flags = vec![false; Shape::ALL.len()];
        here.iter().enumerate().for_each(|(g, &meets)| flags[at(g)] |= meets);
        ranks.any(&mut flags)?;
        Ok((0..here.len()).map(|g| flags[at(g)]).collect())
    }

    /// By group and block: whether all elements are those of other ranks. Empty on one rank.
    pub(in crate::elliptic) fn foreign_blocks(&self) -> Vec<Vec<bool>> {
        if self.problem.ranks.is_none() {
            return Vec::new();
        }
        let of_group = |group: &Group<T>| {
            let mut foreign = vec![true; group.state.blocks];
            for slot in group.real_slots().filter(|&slot| self.counts(group.elements[slot] as usize)) {
                foreign[slot / group.state.lanes] = false;
            }
            foreign
        };
        self.groups.iter().map(of_group).collect()
    }

    /// How vectors are summed: by element, over all ranks.
    pub(in crate::elliptic) fn summation(&self) -> Summation {
        let items = self.groups.iter().map(|group| {
            let mut counted = vec![false; group.state.blocks * group.state.lanes];
            for slot in group.real_slots() {
                counted[slot] = self.counts(group.elements[slot] as usize);
            }
            Items { rows: group.state.rows, lanes: group.state.lanes, counted }
        });
        Summation::new(items.collect(), self.problem.ranks.as_ref().map(|ranks| Arc::clone(ranks.joint())))
    }
}
