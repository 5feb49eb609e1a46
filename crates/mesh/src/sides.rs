//! The sides of all elements, found by their vertices.
//!
//! Sides are sorted into buckets by their lowest vertex (counting sort), and within each bucket by the other
//! vertices. Two sides with the same key are one face. The cost is linear in the number of sides, and the
//! result depends on the elements only.

use dgsuite_basis::Shape;

use crate::{
    MeshError, Side,
    mesh::{ElementSet, mean},
    topology::Lattice,
};

/// Marks a missing side or vertex.
pub(crate) const NONE: u32 = u32::MAX;

/// Numbers the sides of all elements: set by set, element by element, face by face.
#[derive(Clone, Debug)]
pub(crate) struct SideNumbers {
    /// For each set: first side, number of faces per element, first element.
    sets: Vec<(usize, usize, usize)>,
    pub(crate) len: usize,
}

impl SideNumbers {
    pub(crate) fn new(sets: &[ElementSet]) -> Result<Self, MeshError> {
        let mut len = 0;
        let mut numbers = Vec::with_capacity(sets.len());
        for set in sets {
            numbers.push((len, set.shape.n_faces(), set.first));
            len += set.len() * set.shape.n_faces();
        }
        let max = NONE as usize - 1;
        if len > max {
            return Err(MeshError::TooLarge { what: "element faces", count: len, max });
        }
        Ok(Self { sets: numbers, len })
    }

    pub(crate) fn number(&self, side: Side) -> u32 {
        let e = side.element as usize;
        let at = self.sets.partition_point(|&(_, _, first)| first <= e).max(1) - 1;
        let (start, n_faces, first) = self.sets[at];
        (start + (e - first) * n_faces + side.face as usize) as u32
    }

    pub(crate) fn side(&self, number: u32) -> Side {
        let n = number as usize;
        let at = self.sets.partition_point(|&(start, _, _)| start <= n).max(1) - 1;
        let (start, n_faces, first) = self.sets[at];
        Side { element: (first + (n - start) / n_faces) as u32, face: ((n - start) % n_faces) as u8 }
    }
}

/// The vertices of a side in face order; edges and triangles do not use the last places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Corners {
    pub(crate) node: [u32; 4],
    pub(crate) n: usize,
}

impl Corners {
    pub(crate) fn new(nodes: impl IntoIterator<Item = u32>) -> Self {
        let mut node = [NONE; 4];
        let mut n = 0;
        for x in nodes.into_iter().take(4) {
            node[n] = x;
            n += 1;
        }
        Self { node, n }
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.node[..self.n]
    }

    /// The vertices in ascending order; unused places last.
    pub(crate) fn key(&self) -> [u32; 4] {
        let mut k = self.node;
        k.sort_unstable();
        k
    }

    /// The orientation `k` with `self[i] = other[(k − i) mod n]`, if there is one.
    pub(crate) fn orientation(&self, other: &Self) -> Option<u8> {
        let n = self.n;
        let k = (0..n).find(|&k| other.node[k] == self.node[0])?;
        let meets = n == other.n && (0..n).all(|i| self.node[i] == other.node[(k + n - i) % n]);
        // An edge with the same direction on both sides also fits, with k = 0.
        (meets && (n > 2 || k == 1)).then_some(k as u8)
    }
}

/// For each face of each set the lattice nodes of its vertices.
pub(crate) fn face_corners(sets: &[ElementSet]) -> Vec<Vec<Vec<usize>>> {
    let corners = |s: &ElementSet| {
        let lattice = Lattice::new(s.shape, s.order);
        (0..s.shape.n_faces()).map(|f| lattice.face_vertices(f)).collect()
    };
    sets.iter().map(corners).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    rest: [u32; 3],
    side: u32,
}

/// Sides sorted by their vertices.
#[derive(Default)]
pub(crate) struct SideTable {
    starts: Vec<u32>,
    records: Vec<Record>,
}

impl SideTable {
    pub(crate) fn new(n_points: usize, sets: &[ElementSet], numbers: &SideNumbers) -> Self {
        let corners = face_corners(sets);
        let mut starts = vec![0_u32; n_points + 1];
        for_each_side(sets, &corners, |_, key| starts[key[0] as usize + 1] += 1);
        for v in 0..n_points {
            starts[v + 1] += starts[v];
        }
        let mut records = vec![Record { rest: [NONE; 3], side: NONE }; numbers.len];
        let mut next = starts.clone();
        for_each_side(sets, &corners, |side, key| {
            let at = &mut next[key[0] as usize];
            records[*at as usize] = Record { rest: [key[1], key[2], key[3]], side };
            *at += 1;
        });
        let mut rest = records.as_mut_slice();
        for v in 0..n_points {
            let (bucket, tail) = rest.split_at_mut((starts[v + 1] - starts[v]) as usize);
            bucket.sort_unstable();
            rest = tail;
        }
        Self { starts, records }
    }

    /// Numbers of the sides with these vertices, lowest first.
    pub(crate) fn find(&self, corners: &Corners) -> impl ExactSizeIterator<Item = u32> + '_ {
        let [lowest, rest @ ..] = corners.key();
        let v = lowest as usize;
        let bucket = if v + 1 < self.starts.len() {
            &self.records[self.starts[v] as usize..self.starts[v + 1] as usize]
        } else {
            &[]
        };
        let from = bucket.partition_point(|r| r.rest < rest);
        let to = bucket.partition_point(|r| r.rest <= rest);
        bucket[from..to].iter().map(|r| r.side)
    }

    /// For each side the number of the side with the same vertices, or [`NONE`].
    ///
    /// # Errors
    /// [`MeshError::NonManifold`] or [`MeshError::DuplicateElement`] where more than two sides meet.
    pub(crate) fn pairs(
        &self,
        points: &[[f64; 3]],
        sets: &[ElementSet],
        numbers: &SideNumbers,
    ) -> Result<Vec<u32>, MeshError> {
        let mut partner = vec![NONE; numbers.len];
        for v in 0..self.starts.len() - 1 {
            let bucket = &self.records[self.starts[v] as usize..self.starts[v + 1] as usize];
            for group in bucket.chunk_by(|a, b| a.rest == b.rest) {
                match group {
                    [_] => {}
                    [a, b] => {
                        partner[a.side as usize] = b.side;
                        partner[b.side as usize] = a.side;
                    }
                    _ => {
                        let sides: Vec<Side> = group.iter().map(|r| numbers.side(r.side)).collect();
                        return Err(crowded(points, sets, &sides));
                    }
                }
            }
        }
        Ok(partner)
    }
}

fn for_each_side(sets: &[ElementSet], corners: &[Vec<Vec<usize>>], mut visit: impl FnMut(u32, [u32; 4])) {
    let mut side = 0;
    for (set, faces) in sets.iter().zip(corners) {
        if set.shape == Shape::Triangle && set.order == 1 {
            // A separate loop for triangle meshes, the most frequent case.
            for e in set.nodes.chunks_exact(3) {
                for (a, b) in [(e[0], e[1]), (e[1], e[2]), (e[2], e[0])] {
                    visit(side, [a.min(b), a.max(b), NONE, NONE]);
                    side += 1;
                }
            }
            continue;
        }
        for e in set.nodes.chunks_exact(set.nodes_per_element()) {
            for face in faces {
                let mut key = [NONE; 4];
                for (k, &l) in key.iter_mut().zip(face) {
                    *k = e[l];
                }
                key.sort_unstable();
                visit(side, key);
                side += 1;
            }
        }
    }
}

/// The error for sides that must not share a face: duplicate elements, or too many elements at a face.
pub(crate) fn crowded(points: &[[f64; 3]], sets: &[ElementSet], sides: &[Side]) -> MeshError {
    let describe = |side: &Side| {
        let e = side.element as usize;
        let set = sets.iter().find(|s| e < s.first + s.len()).unwrap_or(&sets[0]);
        let lattice = Lattice::new(set.shape, set.order);
        let nodes = set.element(e - set.first);
        let mut vertices: Vec<u32> = lattice.vertices.iter().map(|&l| nodes[l]).collect();
        let face: Vec<u32> =
            lattice.face_vertices(side.face as usize).into_iter().map(|l| nodes[l]).collect();
        vertices.sort_unstable();
        (set.tags[e - set.first], vertices, face, set.regions[e - set.first])
    };
    let all: Vec<_> = sides.iter().map(describe).collect();
    for (i, a) in all.iter().enumerate() {
        if let Some(b) = all[..i].iter().find(|b| b.1 == a.1) {
            let groups = (a.3 != b.3).then(|| Box::new([b.3.to_string(), a.3.to_string()]));
            return MeshError::DuplicateElement {
                groups,
                first: b.0,
                second: a.0,
                centroid: mean(points, &a.1),
            };
        }
    }
    let centroid = mean(points, &all[0].2);
    match all.as_slice() {
        [a, b] => MeshError::Overlap { first: a.0, second: b.0, centroid },
        _ => MeshError::NonManifold { elements: all.iter().take(8).map(|a| a.0).collect(), centroid },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_is_the_rotation_that_reverses_the_other_side() {
        let m = Corners::new([3, 7, 5, 9]);
        for k in 0..4_usize {
            let mut q = [0; 4];
            for i in 0..4 {
                q[(k + 4 - i) % 4] = m.node[i];
            }
            assert_eq!(m.orientation(&Corners::new(q)), Some(k as u8));
        }
        assert_eq!(m.orientation(&m), None);
        let edge = Corners::new([1, 2]);
        assert_eq!(edge.orientation(&Corners::new([2, 1])), Some(1));
        assert_eq!(edge.orientation(&edge), None);
    }
}
