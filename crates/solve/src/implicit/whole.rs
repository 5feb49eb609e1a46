//! All elements of the mesh, as the preconditioner of Newton steps knows them on every rank.
//!
//! Each rank has the rows of its elements from products, and gets those of the others. It then factorises the
//! matrix of the whole mesh and solves with it, so that iterates are those of one rank, to the last bit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dgsuite_basis::Shape;
use dgsuite_gpu::comm::{CommError, Exchange, Joint, Partner};
use dgsuite_gpu::{Items, Summation};
use dgsuite_mesh::{Across, Mesh};
use dgsuite_ops::{Discretization, OpsError, PackScalar, Ranks};

use super::between::Between;
use super::matrix::BlockMatrix;
use crate::SystemError;
use crate::rank_mesh::{ROOT, RankMesh};
use crate::words::{Reader, Words};

/// The elements of the whole mesh, and which of them are those of this rank.
pub(super) struct Whole {
    shapes: Vec<Shape>,
    /// The neighbours of each element across faces, ascending, without the element itself.
    pub(super) neighbours: Vec<Vec<u32>>,
    /// First entry of each element in vectors of the whole mesh, then the number of all.
    pub(super) offsets: Vec<usize>,
    /// First entry of each element of this rank in its vectors.
    own_offsets: Vec<usize>,
    ranks: Option<OnRanks>,
}

/// What several ranks exchange.
struct OnRanks {
    joint: Arc<Joint>,
    /// The place of each element among those of this rank, or [`OTHER`].
    local: Vec<u32>,
    /// The elements of each rank, ascending.
    of_ranks: Vec<Vec<u32>>,
    /// Exchanges of vectors, and of one number for each element.
    vectors: Mutex<Box<dyn Exchange>>,
    numbers: Mutex<Box<dyn Exchange>>,
    failed: AtomicBool,
}

/// An element of another rank.
const OTHER: u32 = u32::MAX;

impl Whole {
    /// The elements of a discretisation on one rank or several, for vectors of `fields` unknowns. Collective.
    pub(super) fn new<T: PackScalar>(
        mesh: &RankMesh,
        d: &Discretization<T>,
        fields: usize,
    ) -> Result<Self, SystemError> {
        let shapes: Vec<Shape> =
            mesh.set_sizes().iter().flat_map(|set| std::iter::repeat_n(set.shape, set.elements)).collect();
        let size = |shape| fields * d.basis_size_in(d.representation(), d.order(), shape);
        let offsets = sums(shapes.iter().map(|&shape| size(shape)));
        let own = |e: usize| d.ranks().map_or(e, |ranks| ranks.elements()[e] as usize);
        let own_offsets = sums((0..d.mesh().n_elements()).map(|e| size(shapes[own(e)])));
        let mut whole = Self { shapes, neighbours: Vec::new(), offsets, own_offsets, ranks: None };
        match d.ranks() {
            None => whole.neighbours = neighbours(d.mesh(), &[], &[]),
            Some(ranks) => {
                let shared = whole.shared(ranks).map_err(OpsError::from)?;
                whole.ranks = Some(shared);
            }
        }
        Ok(whole)
    }

    /// Tells all ranks the elements of each with their neighbours.
    fn shared(&mut self, ranks: &Ranks) -> Result<OnRanks, CommError> {
        let joint = Arc::clone(ranks.joint());
        let mut words = Words::default();
        words.numbers(ranks.elements().iter().map(|&e| e as usize));
        for near in neighbours(ranks.mesh(), ranks.elements(), ranks.cuts()) {
            words.numbers(near.iter().map(|&e| e as usize));
        }
        let n = self.shapes.len();
        let (mut of_ranks, mut local) = (Vec::new(), vec![OTHER; n]);
        self.neighbours = vec![Vec::new(); n];
        for message in everywhere(&joint, &words)? {
            let mut reader = Reader::new(&message);
            let elements: Vec<u32> = reader.numbers().into_iter().map(|e| e as u32).collect();
            for &e in &elements {
                self.neighbours[e as usize] = reader.numbers().into_iter().map(|e| e as u32).collect();
            }
            of_ranks.push(elements);
        }
        ranks.elements().iter().zip(0..).for_each(|(&e, i)| local[e as usize] = i);
        let exchange = |size: &dyn Fn(usize) -> usize| exchange(&joint, &of_ranks, size).map(Mutex::new);
        let (vectors, numbers) = (exchange(&|e| self.size(e))?, exchange(&|_| 1)?);
        Ok(OnRanks { local, of_ranks, vectors, numbers, failed: AtomicBool::new(false), joint })
    }

    /// Number of elements.
    pub(super) fn n_elements(&self) -> usize {
        self.shapes.len()
    }

    /// Number of unknowns of an element.
    pub(super) fn size(&self, e: usize) -> usize {
        self.offsets[e + 1] - self.offsets[e]
    }

    /// The place of an element among those of this rank; `None` if it is that of another.
    pub(super) fn local(&self, e: usize) -> Option<usize> {
        self.ranks.as_ref().map_or(Some(e), |ranks| {
            let local = ranks.local[e];
            (local != OTHER).then_some(local as usize)
        })
    }

    /// Whether there are several ranks.
    pub(super) fn on_ranks(&self) -> bool {
        self.ranks.is_some()
    }

    /// The first entry of an element of this rank in its vectors; 0 for those of others.
    pub(super) fn first(&self, e: usize) -> usize {
        self.local(e).map_or(0, |local| self.own_offsets[local])
    }

    /// The number of unknowns of this rank.
    pub(super) fn own_len(&self) -> usize {
        self.own_offsets[self.own_offsets.len() - 1]
    }

    /// The other ranks with their elements, if there are several.
    pub(super) fn others(&self) -> Option<(&Arc<Joint>, impl Iterator<Item = (usize, &[u32])>)> {
        self.ranks.as_ref().map(|ranks| {
            let here = ranks.joint.comm().rank();
            let all = ranks.of_ranks.iter().map(Vec::as_slice).enumerate();
            (&ranks.joint, all.filter(move |(rank, _)| *rank != here))
        })
    }

    /// Sums of vectors of this rank: those of elements without rounding, so that they depend neither on ranks
    /// nor on threads.
    pub(super) fn summation(&self) -> Summation {
        let items = |(rows, n): (usize, usize)| Items { rows, lanes: 1, counted: vec![true; n] };
        let items = self.runs().into_iter().map(items).collect();
        Summation::new(items, self.ranks.as_ref().map(|ranks| Arc::clone(&ranks.joint)))
    }

    /// Entries of an element, and the number of elements of this rank that have as many, one after the other.
    pub(super) fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for range in self.own_offsets.windows(2) {
            let rows = range[1] - range[0];
            match runs.last_mut().filter(|(last, _)| *last == rows) {
                Some((_, n)) => *n += 1,
                None => runs.push((rows, 1)),
            }
        }
        runs
    }

    /// The smallest of the numbers of all ranks; NaN if one is, or after a failure. Collective.
    pub(super) fn smallest(&self, own: f64) -> f64 {
        let mut value = [-own];
        if let Some(ranks) = &self.ranks {
            ranks.joint.max(&mut value);
        }
        -value[0]
    }

    /// The whole of a vector, of which each rank has its elements. Collective.
    pub(super) fn gather(&self, own: &[f64], whole: &mut [f64]) {
        let Some(ranks) = &self.ranks else { return whole.copy_from_slice(own) };
        self.put(own, whole);
        ranks.share(&mut lock(&ranks.vectors), own.iter().copied(), &mut |elements, numbers| {
            for &e in elements {
                let range = self.offsets[e as usize]..self.offsets[e as usize + 1];
                whole[range].iter_mut().for_each(|x| *x = numbers());
            }
        });
    }

    /// As [`gather`](Self::gather), as a new vector. Collective.
    pub(super) fn gathered(&self, own: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; self.offsets[self.n_elements()]];
        self.gather(own, &mut whole);
        whole
    }

    /// This rank's entries of a vector, if it is one of the whole mesh.
    pub(super) fn picked(&self, whole: &[f64]) -> Option<Vec<f64>> {
        let mut own = vec![0.0; self.own_len()];
        (whole.len() == self.offsets[self.n_elements()]).then(|| self.pick(whole, &mut own))?;
        Some(own)
    }

    /// One number for each element, of which each rank has those of its own. Collective.
    pub(super) fn of_elements(&self, own: &[f64]) -> Vec<f64> {
        let Some(ranks) = &self.ranks else { return own.to_vec() };
        let mut whole = vec![0.0; self.n_elements()];
        let here = &ranks.of_ranks[ranks.joint.comm().rank()];
        here.iter().zip(own).for_each(|(&e, x)| whole[e as usize] = *x);
        ranks.share(&mut lock(&ranks.numbers), own.iter().copied(), &mut |elements, numbers| {
            elements.iter().for_each(|&e| whole[e as usize] = numbers());
        });
        whole
    }

    /// Completes a matrix, of which each rank has the rows of its elements. Collective.
    pub(super) fn complete(&self, matrix: &mut BlockMatrix) -> Result<(), CommError> {
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let numbers_of = |e: usize| matrix.rows[e].iter().map(|(_, block)| block.len()).sum::<usize>();
        let mut exchange = exchange(&ranks.joint, &ranks.of_ranks, &numbers_of)?;
        let here = &ranks.of_ranks[ranks.joint.comm().rank()];
        let of_row = |&e: &u32| matrix.rows[e as usize].iter().flat_map(|(_, block)| block.iter().copied());
        let own: Vec<f64> = here.iter().flat_map(of_row).collect();
        ranks.share(&mut exchange, own.into_iter(), &mut |elements, numbers| {
            for &e in elements {
                let blocks = matrix.rows[e as usize].iter_mut().flat_map(|(_, block)| block.iter_mut());
                blocks.for_each(|x| *x = numbers());
            }
        });
        Ok(())
    }

    /// Copies this rank's entries into a whole vector.
    pub(super) fn put(&self, own: &[f64], whole: &mut [f64]) {
        for (here, there) in self.ranges() {
            whole[there].copy_from_slice(&own[here]);
        }
    }

    /// Copies them from a whole vector.
    pub(super) fn pick(&self, whole: &[f64], own: &mut [f64]) {
        for (here, there) in self.ranges() {
            own[here].copy_from_slice(&whole[there]);
        }
    }

    /// Where the entries of this rank's elements are, in its vectors and in those of the whole mesh.
    fn ranges(&self) -> impl Iterator<Item = (std::ops::Range<usize>, std::ops::Range<usize>)> {
        let number = |i: usize| match &self.ranks {
            None => i,
            Some(ranks) => ranks.of_ranks[ranks.joint.comm().rank()][i] as usize,
        };
        self.own_offsets.windows(2).enumerate().map(move |(i, range)| {
            let e = number(i);
            (range[0]..range[1], self.offsets[e]..self.offsets[e + 1])
        })
    }

    /// The prolongations of all elements, from those of the shapes of this rank's elements. Collective.
    pub(super) fn prolongations(
        &self,
        known: &[(Shape, Arc<Between>)],
    ) -> Result<Option<Vec<Arc<Between>>>, CommError> {
        let mut known = known.to_vec();
        if let Some(ranks) = &self.ranks {
            let mut words = Words::default();
            for (shape, between) in &known {
                words.number(Shape::ALL.iter().position(|of| of == shape).unwrap_or(0));
                words.number(between.coarse);
                [&between.up, &between.down].into_iter().for_each(|table| words.reals(table.iter().copied()));
            }
            for message in everywhere(&ranks.joint, &words)? {
                let mut reader = Reader::new(&message);
                while !reader.is_empty() {
                    let (shape, coarse) = (reader.number(), reader.number());
                    let (up, down) = (reader.reals(), reader.reals());
                    let shape = Shape::ALL[shape.min(Shape::ALL.len() - 1)];
                    if known.iter().all(|(of, _)| *of != shape) {
                        known.push((shape, Arc::new(Between { fine: up.len() / coarse, coarse, up, down })));
                    }
                }
            }
        }
        let of = |shape: &Shape| known.iter().find(|(of, _)| of == shape).map(|(_, own)| Arc::clone(own));
        Ok(self.shapes.iter().map(of).collect())
    }
}

impl OnRanks {
    /// Sends numbers to all other ranks, and shows those of each: its elements, and a function that reads one
    /// after the other. After a failure of the communication these are not numbers.
    fn share(
        &self,
        exchange: &mut Box<dyn Exchange>,
        own: impl Iterator<Item = f64>,
        take: &mut dyn FnMut(&[u32], &mut dyn FnMut() -> f64),
    ) {
        let bytes: Vec<u8> = own.flat_map(f64::to_le_bytes).collect();
        let here = self.joint.comm().rank();
        let others = || self.of_ranks.iter().enumerate().filter(|(rank, _)| *rank != here);
        let done = !self.failed.load(Ordering::Relaxed) && {
            (0..others().count()).for_each(|i| exchange.outgoing(i).copy_from_slice(&bytes));
            self.joint.kept(exchange.start().and_then(|()| exchange.finish())).is_some()
        };
        self.failed.store(!done, Ordering::Relaxed);
        for (i, (_, elements)) in others().enumerate() {
            let incoming = if done { exchange.incoming(i) } else { &[] };
            let mut numbers = incoming.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
            take(elements, &mut || numbers.next().unwrap_or(f64::NAN));
        }
    }
}

fn lock<V>(of: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An exchange with all other ranks, each of which sends `size(e)` numbers of each of its elements.
fn exchange(
    joint: &Joint,
    of_ranks: &[Vec<u32>],
    size: &dyn Fn(usize) -> usize,
) -> Result<Box<dyn Exchange>, CommError> {
    let here = joint.comm().rank();
    let bytes = |rank: usize| 8 * of_ranks[rank].iter().map(|&e| size(e as usize)).sum::<usize>();
    let others = (0..of_ranks.len()).filter(|&rank| rank != here);
    let partners: Vec<Partner> =
        others.map(|rank| Partner { rank, send: bytes(here), receive: bytes(rank) }).collect();
    joint.comm().exchange(&partners)
}

/// The messages of all ranks, in their order, on every rank. Collective.
fn everywhere(joint: &Joint, words: &Words) -> Result<Vec<Vec<u8>>, CommError> {
    let mut all = Words::default();
    if let Some(messages) = joint.comm().gather(ROOT, words.bytes())? {
        messages.iter().for_each(|message| all.list(message));
    }
    let mut bytes = all.bytes().to_vec();
    joint.comm().broadcast(ROOT, &mut bytes)?;
    let mut reader = Reader::new(&bytes);
    let mut messages = Vec::new();
    while !reader.is_empty() {
        messages.push(reader.list().to_vec());
    }
    Ok(messages)
}

/// The sums of all numbers before each, then that of all.
fn sums(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sums = vec![0];
    numbers.for_each(|n| sums.push(sums[sums.len() - 1] + n));
    sums
}

/// The neighbours of each element of a mesh across faces, ascending, without the element itself. In a part,
/// `elements` are the numbers in the whole mesh, and `cuts` the faces to other parts.
pub(super) fn neighbours(mesh: &Mesh, elements: &[u32], cuts: &[dgsuite_mesh::Cut]) -> Vec<Vec<u32>> {
    let number = |e: u32| elements.get(e as usize).copied().unwrap_or(e);
    let mut all = vec![Vec::new(); mesh.n_elements()];
    for face in &mesh.faces {
        let (Across::Interior { plus, .. } | Across::Periodic { plus, .. }) = face.across else { continue };
        let (a, b) = (face.minus.element, plus.element);
        if a != b {
            all[a as usize].push(number(b));
            all[b as usize].push(number(a));
        }
    }
    for cut in cuts {
        all[cut.own.element as usize].push(cut.other.element);
    }
    for list in &mut all {
        list.sort_unstable();
        list.dedup();
    }
    all
}
