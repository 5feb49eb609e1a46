//! Partitions: which part of a mesh each element belongs to, and the parts as meshes of their own.
//!
//! A partition cuts the space-filling curve through all elements into ranges of equal weight. Consecutive
//! elements of one set (a *run*) stay together, so that the SIMD blocks of a part are full. Partitions and
//! parts depend on the mesh and on the number of parts alone. One process cuts the mesh, and sends the parts
//! to the others as bytes ([`Part::to_bytes`]).

mod cutter;
#[cfg(feature = "metis")]
mod graph;
pub(crate) mod message;
mod overlap;

pub use cutter::Cutter;
pub use overlap::{CUT, Neighbour, OverlappingPart};

use crate::{Across, Mesh, MeshError, Side, SpaceFillingCurve};

/// Elements of a run, which belong to one part.
const RUN: usize = 8;

/// How a mesh is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cutting {
    /// Into ranges of the Hilbert curve: [`Partition::along_curve`].
    #[default]
    Curve,
    /// By METIS, which cuts fewer faces: [`Partition::by_graph`].
    Graph,
}

/// The part of each element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    of: Vec<u32>,
    parts: usize,
}

/// One part of a mesh.
///
/// The mesh contains the part's elements in the order of the whole mesh, with their own points and all
/// boundaries. Its faces are those between two of its elements and those on boundaries. The sides of
/// [`cuts`](Self::cuts) belong to none of its faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The elements, points and faces of the part.
    pub mesh: Mesh,
    /// For each element of the part its index in the whole mesh; ascending.
    pub elements: Vec<u32>,
    /// The faces between this part and others, sorted by part. Both parts list their common faces in the same
    /// order.
    pub cuts: Vec<Cut>,
}

/// A face between an element of this part and an element of another part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The side in this part; the element is an index of the part's mesh.
    pub own: Side,
    /// The side in the other part; the element is an index of the whole mesh.
    pub other: Side,
    /// The other part.
    pub part: u32,
    /// Rotation between the face frames, as in [`Across`].
    pub orientation: u8,
}

/// Sizes of a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionStatistics {
    /// Elements of each part.
    pub elements: Vec<usize>,
    /// Cut faces of each part.
    pub cuts: Vec<usize>,
    /// Parts that share a face with each part.
    pub neighbours: Vec<usize>,
    /// Weight of each part divided by the mean weight.
    pub load: Vec<f64>,
}

impl Partition {
    /// Cuts the Hilbert curve through the elements into `parts` ranges of about equal weight; `weight` is the
    /// weight of an element, by its index.
    ///
    /// # Errors
    /// [`MeshError::TooManyParts`] if there are fewer elements than parts, or no parts.
    pub fn along_curve(mesh: &Mesh, parts: usize, weight: impl Fn(usize) -> f64) -> Result<Self, MeshError> {
        let n = mesh.n_elements();
        if parts == 0 || parts > n {
            return Err(MeshError::TooManyParts { parts, elements: n });
        }
        // Small meshes have too few runs.
        let run = if n < 4 * RUN * parts { 1 } else { RUN };
        let grid = mesh.curve_grid();
        let mut runs: Vec<(u64, Vec<u32>)> = Vec::new();
        for set in &mesh.sets {
            let first = (0..set.len()).step_by(run);
            let keys = grid.positions(mesh, set, first, SpaceFillingCurve::Hilbert);
            runs.extend(keys.into_iter().map(|(key, i)| {
                let range = set.first + i..set.first + (i + run).min(set.len());
                (key, range.map(|element| element as u32).collect())
            }));
        }
        Ok(Self::of_runs(runs, n, parts, weight))
    }

    /// As [`along_curve`](Self::along_curve), with the elements of each of `chains` in one part. No element
    /// is in two chains.
    ///
    /// # Errors
    /// [`MeshError::TooManyParts`]; [`MeshError::Chains`] if there are fewer chains and other elements than
    /// parts.
    pub fn along_chains(
        mesh: &Mesh,
        parts: usize,
        weight: impl Fn(usize) -> f64,
        chains: &[Vec<u32>],
    ) -> Result<Self, MeshError> {
        if chains.is_empty() {
            return Self::along_curve(mesh, parts, weight);
        }
        let n = mesh.n_elements();
        if parts == 0 || parts > n {
            return Err(MeshError::TooManyParts { parts, elements: n });
        }
        let grid = mesh.curve_grid();
        let mut key = vec![0; n];
        for set in &mesh.sets {
            let positions = grid.positions(mesh, set, 0..set.len(), SpaceFillingCurve::Hilbert);
            positions.into_iter().for_each(|(position, i)| key[set.first + i] = position);
        }
        let mut alone = vec![true; n];
        chains.iter().flatten().for_each(|&element| alone[element as usize] = false);
        let of_chain = |chain: &Vec<u32>| Some((key[*chain.get(chain.len() / 2)? as usize], chain.clone()));
        let mut runs: Vec<(u64, Vec<u32>)> = chains.iter().filter_map(of_chain).collect();
        runs.extend(
            (0..n).filter(|&element| alone[element]).map(|element| (key[element], vec![element as u32])),
        );
        if runs.len() < parts {
            return Err(MeshError::Chains { parts, pieces: runs.len() });
        }
        Ok(Self::of_runs(runs, n, parts, weight))
    }

    /// Cuts runs of elements into ranges of about equal weight; each run has a place on the curve. There are
    /// at least as many runs as parts.
    fn of_runs(
        mut runs: Vec<(u64, Vec<u32>)>,
        n: usize,
        parts: usize,
        weight: impl Fn(usize) -> f64,
    ) -> Self {
        runs.sort_unstable();
        let weight_of = |run: &[u32]| run.iter().map(|&element| weight(element as usize)).sum();
        let weights: Vec<f64> = runs.iter().map(|(_, run)| weight_of(run)).collect();
        let total: f64 = weights.iter().sum();
        let mut of = vec![0; n];
        let (mut part, mut sum) = (0, 0.0);
        for (i, ((_, run), w)) in runs.iter().zip(&weights).enumerate() {
            // The next part begins where the middle of a run has passed its share, and no later than that the
            // remaining parts get one run each.
            let share = total * (part + 1) as f64 / parts as f64;
            let behind = sum + 0.5 * w > share && i > 0;
            let needed = runs.len() - i < parts - part;
            if part + 1 < parts && i > 0 && (behind || needed) {
                part += 1;
            }
            run.iter().for_each(|&element| of[element as usize] = part as u32);
            sum += w;
        }
        let out = Self { of, parts };
        // Runs of extreme weights may leave a part empty; equal numbers of runs never do.
        if out.counts().contains(&0) {
            let mut of = vec![0; n];
            for (i, (_, run)) in runs.iter().enumerate() {
                run.iter().for_each(|&element| of[element as usize] = (i * parts / runs.len()) as u32);
            }
            return Self { of, parts };
        }
        out
    }

    /// Cuts the graph of elements, in which elements with a common face are neighbours, into `parts` parts of
    /// about equal weight with few cut faces, by METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998).
    ///
    /// # Errors
    /// [`MeshError::Graph`] without the feature `metis`, or if the library fails;
    /// [`MeshError::TooManyParts`] as for [`along_curve`](Self::along_curve).
    pub fn by_graph(mesh: &Mesh, parts: usize, weight: impl Fn(usize) -> f64) -> Result<Self, MeshError> {
        #[cfg(feature = "metis")]
        return graph::cut(mesh, parts, weight);
        #[cfg(not(feature = "metis"))]
        {
            let _ = (mesh, parts, weight);
            let reason = "this program was built without it (cargo's `--features metis`)".to_owned();
            Err(MeshError::Graph { reason })
        }
    }

    /// Cuts a mesh in one of the ways.
    ///
    /// # Errors
    /// Those of [`along_curve`](Self::along_curve) and [`by_graph`](Self::by_graph).
    pub fn new(
        mesh: &Mesh,
        parts: usize,
        cutting: Cutting,
        weight: impl Fn(usize) -> f64,
    ) -> Result<Self, MeshError> {
        match cutting {
            Cutting::Curve => Self::along_curve(mesh, parts, weight),
            Cutting::Graph => Self::by_graph(mesh, parts, weight),
        }
    }

    /// The partition with the given part of each element.
    ///
    /// # Errors
    /// [`MeshError::TooManyParts`] if a part has no element.
    pub fn of_elements(of: Vec<u32>) -> Result<Self, MeshError> {
        let parts = of.iter().max().map_or(0, |&p| p as usize + 1);
        let out = Self { of, parts };
        if parts == 0 || out.counts().contains(&0) {
            return Err(MeshError::TooManyParts { parts, elements: out.of.len() });
        }
        Ok(out)
    }

    /// Number of parts.
    #[must_use]
    pub const fn parts(&self) -> usize {
        self.parts
    }

    /// The part of each element.
    #[must_use]
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.parts];
        self.of.iter().for_each(|&p| counts[p as usize] += 1);
        counts
    }

    /// Balance, cut faces and neighbours of the parts.
    #[must_use]
    pub fn statistics(&self, mesh: &Mesh, weight: impl Fn(usize) -> f64) -> PartitionStatistics {
        let mut cuts = vec![0; self.parts];
        let mut pairs = Vec::new();
        for face in &mesh.faces {
            let Some((plus, _)) = beyond(face.across) else { continue };
            let (a, b) = (self.of[face.minus.element as usize], self.of[plus.element as usize]);
            if a != b {
                cuts[a as usize] += 1;
                cuts[b as usize] += 1;
                pairs.extend([(a, b), (b, a)]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut neighbours = vec![0; self.parts];
        pairs.iter().for_each(|&(a, _)| neighbours[a as usize] += 1);
        let mut load = vec![0.0; self.parts];
        self.of.iter().enumerate().for_each(|(e, &p)| load[p as usize] += weight(e));
        let mean = load.iter().sum::<f64>() / self.parts as f64;
        load.iter_mut().for_each(|l| *l /= mean);
        PartitionStatistics { elements: self.counts(), cuts, neighbours, load }
    }

    /// Part `part` of `mesh`. [`Cutter`] makes all of them faster.
    ///
    /// # Panics
    /// If there is no such part, or if the partition belongs to another mesh.
    #[must_use]
    pub fn part(&self, mesh: &Mesh, part: usize) -> Part {
        Cutter::new(mesh, self).part(part)
    }
}

/// The other side of a face that has one.
fn beyond(across: Across) -> Option<(Side, u8)> {
    match across {
        Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
            Some((plus, orientation))
        }
        Across::Boundary(_) => None,
    }
}
