//! The parts of a mesh, one after another, each with work and memory in proportion to its size.

use super::{Cut, Part, Partition, beyond};
use crate::{Across, ElementSet, Face, Mesh, PeriodicFace, Side};

/// Makes the parts of a mesh.
pub struct Cutter<'a> {
    mesh: &'a Mesh,
    partition: &'a Partition,
    /// The elements of each part, ascending.
    elements: Lists,
    /// The faces of each part, ascending; one between two parts is in both lists.
    faces: Lists,
    /// The number of each element in its part.
    local: Vec<u32>,
    /// The number of each point in the part that is being made; otherwise [`NONE`].
    number: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// A list of numbers for each part.
struct Lists {
    starts: Vec<usize>,
    all: Vec<u32>,
}

impl Lists {
    /// The numbers `0..n`, each in the lists of the parts that `of` returns.
    fn new<I: IntoIterator<Item = u32>>(parts: usize, n: usize, of: impl Fn(usize) -> I) -> Self {
        let mut starts = vec![0; parts + 1];
        (0..n).flat_map(&of).for_each(|part| starts[part as usize + 1] += 1);
        (0..parts).for_each(|part| starts[part + 1] += starts[part]);
        let mut next = starts.clone();
        let mut all = vec![0; starts[parts]];
        for i in 0..n {
            for part in of(i) {
                all[next[part as usize]] = i as u32;
                next[part as usize] += 1;
            }
        }
        Self { starts, all }
    }

    fn of(&self, part: usize) -> &[u32] {
        &self.all[self.starts[part]..self.starts[part + 1]]
    }
}

impl<'a> Cutter<'a> {
    /// Prepares the parts of `mesh`.
    ///
    /// # Panics
    /// If the partition belongs to another mesh.
    #[must_use]
    pub fn new(mesh: &'a Mesh, partition: &'a Partition) -> Self {
        let (of, parts) = (&partition.of, partition.parts);
        assert!(of.len() == mesh.n_elements(), "the partition has other elements than the mesh");
        let elements = Lists::new(parts, of.len(), |element| [of[element]]);
        let faces = Lists::new(parts, mesh.faces.len(), |face| {
            let Face { minus, across } = mesh.faces[face];
            let first = of[minus.element as usize];
            let second = beyond(across).map(|(plus, _)| of[plus.element as usize]);
            [Some(first), second.filter(|&part| part != first)].into_iter().flatten()
        });
        let mut local = vec![0; of.len()];
        for part in 0..parts {
            elements.of(part).iter().enumerate().for_each(|(i, &element)| local[element as usize] = i as u32);
        }
        Self { mesh, partition, elements, faces, local, number: vec![NONE; mesh.points.len()] }
    }

    /// Number of parts.
    #[must_use]
    pub const fn parts(&self) -> usize {
        self.partition.parts
    }

    /// Part `part`.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn part(&mut self, part: usize) -> Part {
        assert!(part < self.parts(), "part {part} of {}", self.parts());
        let (sets, points) = subsets(self.mesh, self.elements.of(part), &mut self.number);
        let (mesh, of) = (self.mesh, &self.partition.of);
        let inside = |side: Side| of[side.element as usize] as usize == part;
        let own = |side: Side| Side { element: self.local[side.element as usize], face: side.face };
        let (mut faces, mut periodic_faces) = (Vec::new(), Vec::new());
        let mut cuts: Vec<(u32, Side, Cut)> = Vec::new();
        for &face in self.faces.of(part) {
            let face = mesh.faces[face as usize];
            let Some((plus, orientation)) = beyond(face.across) else {
                faces.push(Face { minus: own(face.minus), across: face.across });
                continue;
            };
            let (first, second) = (inside(face.minus), inside(plus));
            if !(first && second) {
                let (inner, other) = if first { (face.minus, plus) } else { (plus, face.minus) };
                let part = of[other.element as usize];
                cuts.push((part, face.minus, Cut { own: own(inner), other, part, orientation }));
                continue;
            }
            let minus = own(face.minus);
            let across = match face.across {
                Across::Periodic { .. } => Across::Periodic { plus: own(plus), orientation },
                _ => Across::Interior { plus: own(plus), orientation },
            };
            faces.push(Face { minus, across });
            if let Ok(i) = mesh.periodic_faces.binary_search_by_key(&face.minus, |origin| origin.minus) {
                periodic_faces.push(PeriodicFace { minus, ..mesh.periodic_faces[i] });
            }
        }
        // A face is identified by its minus side in the whole mesh, which is the same for both parts.
        cuts.sort_unstable_by_key(|&(part, face, _)| (part, face));
        let mesh = Mesh {
            dim: mesh.dim,
            points,
            sets,
            faces,
            boundaries: mesh.boundaries.clone(),
            region_names: mesh.region_names.clone(),
            links: mesh.links.clone(),
            periodic_faces,
        };
        let elements = self.elements.of(part).to_vec();
        Part { mesh, elements, cuts: cuts.into_iter().map(|(_, _, cut)| cut).collect() }
    }
}

/// The given elements of a mesh, ascending, set by set, and the points that they use, numbered by first use.
/// `number` has [`NONE`] for each point of the mesh, before and after.
pub(super) fn subsets(mesh: &Mesh, elements: &[u32], number: &mut [u32]) -> (Vec<ElementSet>, Vec<[f64; 3]>) {
    let (mut sets, mut used, mut first) = (Vec::new(), Vec::new(), 0);
    let mut rest = elements;
    for set in &mesh.sets {
        let n = rest.partition_point(|&element| (element as usize) < set.first + set.len());
        let (kept, others) = rest.split_at(n);
        rest = others;
        if kept.is_empty() {
            continue;
        }
        let kept = || kept.iter().map(|&element| element as usize - set.first);
        let mut nodes = Vec::with_capacity(n * set.nodes_per_element());
        for &node in kept().flat_map(|i| set.element(i)) {
            let new = &mut number[node as usize];
            if *new == NONE {
                *new = used.len() as u32;
                used.push(node);
            }
            nodes.push(*new);
        }
        let (tags, regions) = (kept().map(|i| set.tags[i]).collect(), kept().map(|i| set.regions[i]));
        let (shape, order, regions) = (set.shape, set.order, regions.collect());
        sets.push(ElementSet { shape, order, nodes, tags, regions, first });
        first += n;
    }
    used.iter().for_each(|&node| number[node as usize] = NONE);
    (sets, used.into_iter().map(|node| mesh.points[node as usize]).collect())
}
