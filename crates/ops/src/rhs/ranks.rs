//! One rank's share of a problem: its part of the mesh, and the numbers that all ranks have in common.

use crate::error::OpsError;
use crate::rhs::discretization::PartSummary;
use crate::rhs::places_above::Among;
use crate::space::group::needs;
use crate::space::scheme::{MetricRule, Need};
use dgsuite_basis::{Cubature, NodeSet, Shape};
use dgsuite_gpu::ExactSum;
use dgsuite_gpu::comm::{CommError, Communicator, Joint, pass};
use dgsuite_gpu::cuda::DevicePlane;
use dgsuite_mesh::{Cut, Cutter, Mesh, Part, Partition};
use std::sync::Arc;

/// The environment variable that, with the value `0`, makes ranks wait for the messages of a stage before
/// they work on it, and with `1` lets them work on inner elements meanwhile. By default they do so, but for
/// devices whose messages NCCL sends: its kernels and those of the stage compete for multiprocessors.
pub const OVERLAP_VARIABLE: &str = "DGSUITE_OVERLAP";

/// The part of a mesh on which this rank works, beside the ranks that work on the other parts.
///
/// Functions of a [`Discretization`](crate::Discretization) on several ranks are *collective*: all ranks call
/// them in the same order. Integrals, norms and step sizes are those of the whole mesh, the same on all ranks
/// and for any number of ranks, to the last bit.
pub struct Ranks {
    joint: Arc<Joint>,
    mesh: Arc<Mesh>,
    elements: Vec<u32>,
    pub(crate) cuts: Vec<Cut>,
    /// What the whole mesh needs of each shape. Cubatures depend on it, so that they are the same on all
    /// ranks.
    pub(crate) needs: Vec<Need>,
    /// Whether inner elements are worked on while messages are on their way.
    overlap: Option<bool>,
}

/// Returns `result` if it is `Ok` on all ranks. Otherwise the first rank with an error returns it, and the
/// others return [`OpsError::OtherRank`]. Collective.
///
/// # Errors
/// The error of `result`, or of another rank, or of the communication.
pub fn agree<V, E: From<OpsError>>(comm: &dyn Communicator, result: Result<V, E>) -> Result<V, E> {
    let own = comm.rank();
    let mut first = [if result.is_err() { -(own as f64) } else { f64::NEG_INFINITY }];
    if let Err(lost) = comm.max(&mut first) {
        // Other ranks may be elsewhere: an error of this one is then the cause.
        return result.and(Err(E::from(lost.into())));
    }
    match first {
        [f64::NEG_INFINITY] => result,
        [rank] if -rank == own as f64 => result,
        [rank] => Err(OpsError::OtherRank { rank: -rank as usize }.into()),
    }
}

/// A mesh that is cut into a part for each rank, with what all parts have to know of the whole.
pub struct Distribution<'a> {
    cutter: Cutter<'a>,
    needs: Vec<Need>,
}

impl<'a> Distribution<'a> {
    /// Prepares the parts of `mesh` for `ranks` ranks.
    ///
    /// # Errors
    /// [`OpsError::Parts`] if the number of parts is not that of the ranks.
    pub fn new(mesh: &'a Mesh, partition: &'a Partition, ranks: usize) -> Result<Self, OpsError> {
        let parts = partition.parts();
        if parts != ranks {
            return Err(OpsError::Parts { parts, ranks });
        }
        Ok(Self { cutter: Cutter::new(mesh, partition), needs: needs(mesh) })
    }
}

/// The needs of a shape as bytes.
fn bytes_of(need: &Need) -> [u8; 3] {
    let shape = Shape::ALL.iter().position(|&shape| shape == need.shape).unwrap_or(0);
    [shape as u8, u8::from(need.affine), need.curved.unwrap_or(0) as u8]
}

fn needs_of(bytes: &[u8]) -> Vec<Need> {
    let need = |&[shape, affine, order]: &[u8; 3]| {
        let shape = *Shape::ALL.get(usize::from(shape))?;
        Some(Need { shape, affine: affine == 1, curved: (order > 0).then_some(usize::from(order)) })
    };
    bytes.as_chunks().0.iter().filter_map(need).collect()
}

/// Sizes of a discretisation on all ranks together.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// Each part, with the elements of all ranks.
    pub summary: Vec<PartSummary>,
    /// Degrees of freedom.
    pub dofs: usize,
    /// Memory in bytes.
    pub bytes: usize,
}

impl Ranks {
    /// The part of `mesh` that belongs to the rank of `comm`; there is one part for each rank.
    ///
    /// # Errors
    /// [`OpsError::Parts`] if the number of parts is not that of the ranks.
    pub fn new(mesh: &Mesh, partition: &Partition, comm: Arc<dyn Communicator>) -> Result<Self, OpsError> {
        let mut distribution = Distribution::new(mesh, partition, comm.size())?;
        let part = distribution.cutter.part(comm.rank());
        Ok(Self::with_part(part, distribution.needs, comm))
    }

    /// The part of a mesh that rank `root` has, and sends to the other ranks; `whole` is the cut of this mesh
    /// on rank `root`, and `None` on the others, which never hold more of it than their parts. Collective.
    ///
    /// # Errors
    /// Those of the communication; [`OpsError::Message`] for what is not a part.
    ///
    /// # Panics
    /// If `whole` is missing on rank `root`.
    pub fn distribute(
        comm: Arc<dyn Communicator>,
        root: usize,
        whole: Option<Distribution<'_>>,
    ) -> Result<Self, OpsError> {
        let (rank, others) = (comm.rank(), (0..comm.size()).filter(|&rank| rank != root));
        if rank != root {
            let mut needs = Vec::new();
            comm.broadcast(root, &mut needs)?;
            let mut own = Vec::new();
            for to in others {
                // Empty unless it is for this rank.
                own.append(&mut pass(comm.as_ref(), root, to, &[])?);
            }
            let part = Part::from_bytes(&own).map_err(OpsError::Message)?;
            return Ok(Self::with_part(part, needs_of(&needs), comm));
        }
        let Some(Distribution { mut cutter, needs }) = whole else { panic!("rank {root} has no mesh") };
        comm.broadcast(root, &mut needs.iter().flat_map(bytes_of).collect())?;
        for to in others {
            pass(comm.as_ref(), root, to, &cutter.part(to).to_bytes())?;
        }
        Ok(Self::with_part(cutter.part(root), needs, comm))
    }

    fn with_part(part: Part, needs: Vec<Need>, comm: Arc<dyn Communicator>) -> Self {
        let Part { mesh, elements, cuts } = part;
        let overlap = match std::env::var(OVERLAP_VARIABLE).as_deref() {
            Ok("0") => Some(false),
            Ok("1") => Some(true),
            _ => None,
        };
        Self { joint: Arc::new(Joint::new(comm)), mesh: Arc::new(mesh), elements, cuts, needs, overlap }
    }

    /// Sets whether inner elements are worked on while messages are on their way, instead of
    /// [`OVERLAP_VARIABLE`]. Residuals and stages have the same bits.
    #[must_use]
    pub fn overlapping(self, overlap: bool) -> Self {
        Self { overlap: Some(overlap), ..self }
    }

    /// Whether devices work on inner elements while messages are on their way.
    pub(crate) fn overlaps(&self) -> bool {
        self.overlap.unwrap_or_else(|| DevicePlane::expected(&**self.comm()) != DevicePlane::Nccl)
    }

    /// Whether the host waits for messages as soon as it has sent them.
    pub(crate) fn waits(&self) -> bool {
        self.overlap == Some(false)
    }

    /// The elements that come first on a device: those at cut faces, if work on others hides messages.
    pub(crate) fn front(&self) -> Vec<u32> {
        let overlaps = self.overlaps();
        let cuts = self.cuts.iter().filter(|_| overlaps);
        let mut front: Vec<u32> = cuts.map(|cut| cut.own.element).collect();
        front.sort_unstable();
        front.dedup();
        front
    }

    /// This rank's part of the mesh.
    #[must_use]
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// For each element of the part its index in the whole mesh; ascending.
    #[must_use]
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// The faces between this part and others.
    #[must_use]
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The ranks, with the first failure of their communication.
    #[must_use]
    pub fn joint(&self) -> &Arc<Joint> {
        &self.joint
    }

    /// What a search in the elements of all ranks needs.
    #[must_use]
    pub fn among(&self) -> Among<'_> {
        Among { comm: self.comm().as_ref(), elements: &self.elements, owns: None }
    }

    /// The communicator.
    #[must_use]
    pub fn comm(&self) -> &Arc<dyn Communicator> {
        self.joint.comm()
    }

    /// Sums over all ranks, rounded once. After a failure of the communication they are not numbers; see
    /// [`take_failure`](Self::take_failure).
    #[must_use]
    pub fn sum(&self, sums: &mut [ExactSum]) -> Vec<f64> {
        self.joint.sum(sums)
    }

    /// Replaces each value by the largest one of all ranks; with [`sum`](Self::sum)'s behaviour at failures.
    pub fn max(&self, values: &mut [f64]) {
        self.joint.max(values);
    }

    /// The result, or `None` after keeping the failure for [`take_failure`](Self::take_failure).
    pub fn kept<V>(&self, result: Result<V, CommError>) -> Option<V> {
        self.joint.kept(result)
    }

    /// Sums the sizes of all ranks. Collective.
    pub(crate) fn whole(&self, own: &[PartSummary], dofs: usize, bytes: usize) -> Result<Whole, OpsError> {
        // One row for the affine and one for the curved elements of each shape. Ranks that have such elements
        // agree on their sizes.
        let mut counts = vec![0_i64; 2 + 2 * Shape::ALL.len()];
        let mut sizes = vec![f64::NEG_INFINITY; 2 * Shape::ALL.len() * SIZES];
        (counts[0], counts[1]) = (dofs as i64, bytes as i64);
        for part in own {
            let shape = Shape::ALL.iter().position(|s| *s == part.shape).unwrap_or(0);
            let row = 2 * shape + usize::from(part.rule != MetricRule::Affine);
            counts[2 + row] = part.elements as i64;
            sizes[row * SIZES..(row + 1) * SIZES].copy_from_slice(&sizes_of(part));
        }
        self.comm().sum(&mut counts)?;
        self.comm().max(&mut sizes)?;
        let rows = sizes.chunks_exact(SIZES).zip(&counts[2..]).enumerate();
        let summary = rows
            .filter(|(_, (_, n))| **n > 0)
            .map(|(row, (sizes, &n))| part_of_sizes(Shape::ALL[row / 2], n as usize, sizes))
            .collect();
        Ok(Whole { summary, dofs: counts[0] as usize, bytes: counts[1] as usize })
    }

    /// The smallest step of all ranks, or, if a rank has a bad state in an element of its mesh, that of the
    /// element with the lowest number in the whole mesh.
    pub(crate) fn agree_on_step(
        &self,
        smallest: f64,
        bad: Option<(usize, &OpsError)>,
    ) -> Result<f64, OpsError> {
        let none = f64::NEG_INFINITY;
        let own = bad.map_or(none, |(element, _)| -f64::from(self.elements()[element]));
        let mut values = [-smallest, own];
        self.comm().max(&mut values)?;
        if values[1] == none {
            return Ok(-values[0]);
        }
        let mut first = [if own == values[1] { -(self.comm().rank() as f64) } else { none }];
        self.comm().max(&mut first)?;
        let mut message = bad.map_or_else(Vec::new, |(_, error)| encode(error));
        self.comm().broadcast((-first[0]) as usize, &mut message)?;
        Err(decode(&message))
    }

    /// Returns the first failure of the communication since the last call.
    #[must_use]
    pub fn take_failure(&self) -> Option<CommError> {
        self.joint.take_failure()
    }
}

/// Numbers of a part's summary beside its shape and its number of elements.
const SIZES: usize = 10;
const RULES: [MetricRule; 5] = [
    MetricRule::Affine,
    MetricRule::Collocated,
    MetricRule::WeightAdjusted,
    MetricRule::Stored,
    MetricRule::Reference,
];

fn sizes_of(part: &PartSummary) -> [f64; SIZES] {
    let degree = |c: Cubature| match c {
        Cubature::Collocated => -1.0,
        Cubature::Nodes(set) => -2.0 - NodeSet::ALL.iter().position(|s| *s == set).unwrap_or(0) as f64,
        Cubature::Degree(d) => d as f64,
    };
    [
        part.n_basis as f64,
        part.volume_points as f64,
        degree(part.volume),
        part.face_points as f64,
        degree(part.face),
        RULES.iter().position(|r| *r == part.rule).unwrap_or(0) as f64,
        f64::from(u8::from(part.direct_traces)),
        part.map_numbers as f64,
        part.operator_bytes as f64,
        part.multiply_adds as f64,
    ]
}

fn part_of_sizes(shape: Shape, elements: usize, sizes: &[f64]) -> PartSummary {
    let cubature = |d: f64| match d {
        d if d <= -2.0 => Cubature::Nodes(NodeSet::ALL[((-2.0 - d) as usize).min(NodeSet::ALL.len() - 1)]),
        d if d < 0.0 => Cubature::Collocated,
        d => Cubature::Degree(d as usize),
    };
    PartSummary {
        shape,
        elements,
        n_basis: sizes[0] as usize,
        volume_points: sizes[1] as usize,
        volume: cubature(sizes[2]),
        face_points: sizes[3] as usize,
        face: cubature(sizes[4]),
        rule: RULES[(sizes[5] as usize).min(RULES.len() - 1)],
        direct_traces: sizes[6] > 0.0,
        map_numbers: sizes[7] as usize,
        operator_bytes: sizes[8] as usize,
        multiply_adds: sizes[9] as usize,
    }
}

/// The words for a bad state.
const WHAT: [&str; 2] = ["finite", "admissible"];

/// A bad state as bytes: which word, the element, the place, the state.
fn encode(error: &OpsError) -> Vec<u8> {
    let OpsError::State { what, element, at, state } = error else { return Vec::new() };
    let word = WHAT.iter().position(|w| w == what).unwrap_or(0) as u64;
    let numbers = at.iter().chain(state).map(|x| x.to_bits());
    [word, *element].into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect()
}

fn decode(bytes: &[u8]) -> OpsError {
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|c| c.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b))).collect();
    let number = |i: usize| words.get(i).map_or(f64::NAN, |&w| f64::from_bits(w));
    OpsError::State {
        what: words.first().and_then(|&w| WHAT.get(w as usize)).copied().unwrap_or(WHAT[0]),
        element: words.get(1).copied().unwrap_or(0),
        at: [number(2), number(3), number(4)],
        state: (5..words.len()).map(number).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_state_reaches_other_ranks_unchanged() {
        let state = vec![1.0, f64::NAN, -3.5e-200];
        let error = OpsError::State { what: "admissible", element: 7, at: [0.5, -1.0, 2.0], state };
        assert_eq!(format!("{:?}", decode(&encode(&error))), format!("{error:?}"));
    }
}
