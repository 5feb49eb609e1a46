//! Assignment of elements to blocks.
//!
//! A block reads the states across its faces from the blocks of its neighbours, lane by lane. The fewer
//! blocks these are, the fewer packs are loaded and permuted. Elements are therefore matched in pairs, pairs
//! in fours, and so on. Each is matched with the neighbour with which it shares most faces. Among several
//! such neighbours, the one is chosen that continues the direction of earlier pairs. Rows of cells become
//! bricks that meet face to face; otherwise blocks become compact.
//!
//! The two triangles of a pair are assigned to two different blocks. Where the pairs are halves of
//! quadrilaterals, all triangles of a block are alike, and a face has all its neighbours in one or two
//! blocks. Tetrahedra of a mesh with a repeated pattern are distributed in the same way ([`alike`]).

mod alike;

use crate::lock::lock;
use dgsuite_mesh::{Across, Mesh, Shape};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// No partner, or not in the part.
const NONE: u32 = u32::MAX;

/// An edge of the graph of neighbours, seen from one end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    to: u32,
    /// The numbers of the faces that they share, the same from both ends.
    kind: [u8; 2],
    /// Number of common faces.
    count: u8,
}

/// The graph of neighbours; the edges of `i` are `first[i]..first[i + 1]`.
struct Graph {
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph {
    /// Builds the graph from edges in any order, several of which may have the same ends.
    fn new(n: usize, pairs: &[(u32, Edge)]) -> Self {
        let mut next = vec![0; n + 1];
        pairs.iter().for_each(|(from, _)| next[*from as usize + 1] += 1);
        (0..n).for_each(|i| next[i + 1] += next[i]);
        let mut all = vec![Edge { to: NONE, kind: [0; 2], count: 0 }; pairs.len()];
        for (from, edge) in pairs {
            let at: &mut u32 = &mut next[*from as usize];
            all[*at as usize] = *edge;
            *at += 1;
        }
        let mut out = Self { first: vec![0], edges: Vec::with_capacity(pairs.len()) };
        let mut begin = 0;
        for end in next.into_iter().take(n) {
            let row = &mut all[begin..end as usize];
            row.sort_unstable();
            for same in row.chunk_by(|a, b| a.to == b.to) {
                let count = same.iter().map(|e| e.count).sum();
                out.edges.push(Edge { count, ..same[0] });
            }
            out.first.push(out.edges.len() as u32);
            begin = end as usize;
        }
        out
    }

    /// The graph of elements that share faces; `elements` are numbers of the mesh.
    fn of_elements(mesh: &Mesh, elements: &[u32]) -> Self {
        let mut place = vec![NONE; mesh.n_elements()];
        for (i, &e) in elements.iter().enumerate() {
            place[e as usize] = i as u32;
        }
        let mut pairs = Vec::with_capacity(2 * mesh.faces.len());
        for face in &mesh.faces {
            if let Across::Interior { plus, .. } | Across::Periodic { plus, .. } = face.across {
                let (a, b) = (place[face.minus.element as usize], place[plus.element as usize]);
                if a != NONE && b != NONE && a != b {
                    let (own, other) = (face.minus.face, plus.face);
                    let edge = |to| Edge { to, kind: [own.min(other), own.max(other)], count: 1 };
                    pairs.extend([(a, edge(b)), (b, edge(a))]);
                }
            }
        }
        Self::new(elements.len(), &pairs)
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn of(&self, i: u32) -> &[Edge] {
        &self.edges[self.first[i as usize] as usize..self.first[i as usize + 1] as usize]
    }

    /// Returns the partner of each node, or [`NONE`], and whether it is the first of its pair. As far as
    /// possible, neighbours of first ones are second ones.
    fn matching(&self) -> (Vec<u32>, Vec<bool>) {
        let (mut partner, mut is_first) = (vec![NONE; self.len()], vec![false; self.len()]);
        let mut beside: Vec<u32> = Vec::new();
        // The search goes from pair to pair, so that each finds others to align with.
        let mut next: VecDeque<u32> = VecDeque::new();
        let mut seeds = 0..self.len() as u32;
        while let Some(i) = next.pop_front().or_else(|| seeds.next()) {
            if partner[i as usize] != NONE {
                continue;
            }
            let own = self.of(i);
            // For each neighbour: how many pairs lie beside the pair with it.
            beside.clear();
            beside.resize(own.len(), 0);
            for near in own.iter().map(|e| partner[e.to as usize]).filter(|&p| p != NONE) {
                for edge in self.of(near) {
                    if let Ok(k) = own.binary_search_by_key(&edge.to, |e| e.to) {
                        beside[k] += 1;
                    }
                }
            }
            let candidates = own.iter().zip(&beside).filter(|(e, _)| partner[e.to as usize] == NONE);
            // The kind decides between equal candidates, so that the first pairs of a front are alike.
            let best = candidates.max_by_key(|(e, beside)| (e.count, **beside, Reverse((e.kind, e.to))));
            if let Some((&Edge { to, .. }, _)) = best {
                let count = |x: u32, first: bool| {
                    let same = |e: &&Edge| partner[e.to as usize] != NONE && is_first[e.to as usize] == first;
                    self.of(x).iter().filter(same).count()
                };
                let (second, first) = (count(i, true) + count(to, false), count(i, false) + count(to, true));
                is_first[if first >= second { i } else { to } as usize] = true;
                (partner[i as usize], partner[to as usize]) = (to, i);
                let around = own.iter().chain(self.of(to)).map(|e| e.to);
                next.extend(around.filter(|&x| partner[x as usize] == NONE));
            }
        }
        (partner, is_first)
    }
}

/// Returns the order in which the elements of a part fill blocks of `lanes`, as positions in `elements`,
/// which are numbers of the mesh along a space-filling curve. Blocks follow one another along the curve too.
/// With `deal`, the elements of each pair are assigned to different blocks.
fn pack(mut graph: Graph, lanes: usize, deal: bool) -> Vec<u32> {
    let n = graph.len();
    if lanes < 2 || n <= lanes || !lanes.is_power_of_two() {
        return (0..n as u32).collect();
    }
    let lanes = if deal { 2 * lanes } else { lanes };
    // Sets of `size` elements, one after the other.
    let (mut sets, mut size): (Vec<u32>, usize) = ((0..n as u32).collect(), 1);
    let mut single: Vec<Vec<u32>> = Vec::new();
    while size < lanes {
        let (partner, is_first) = graph.matching();
        let set = |i: usize| &sets[i * size..(i + 1) * size];
        let (mut new, mut joined) = (vec![NONE; graph.len()], Vec::with_capacity(sets.len()));
        for (i, &other) in partner.iter().enumerate() {
            if other == NONE {
                single.push(set(i).to_vec());
            } else if i < other as usize {
                let number = (joined.len() / (2 * size)) as u32;
                (new[i], new[other as usize]) = (number, number);
                let (a, b) = (i, other as usize);
                let (a, b) = if is_first[a] { (a, b) } else { (b, a) };
                joined.extend_from_slice(set(a));
                joined.extend_from_slice(set(b));
            }
        }
        let mut pairs = Vec::with_capacity(graph.edges.len());
        for (from, &a) in new.iter().enumerate() {
            for edge in graph.of(from as u32) {
                let to = new[edge.to as usize];
                if a != NONE && to != NONE && a != to {
                    pairs.push((a, Edge { to, ..*edge }));
                }
            }
        }
        graph = Graph::new(joined.len() / (2 * size), &pairs);
        (sets, size) = (joined, 2 * size);
    }
    // Sets without a partner fill blocks along the curve.
    single.sort_unstable_by_key(|set| set[0]);
    let rest = single.concat();
    let whole = rest.len() / lanes * lanes;
    let mut blocks: Vec<&[u32]> = sets.chunks(lanes).chain(rest[..whole].chunks(lanes)).collect();
    blocks.sort_unstable_by_key(|block| block.iter().min().copied());
    let mut out = blocks.concat();
    if deal {
        for blocks in out.chunks_mut(lanes) {
            let dealt: Vec<u32> = (0..2).flat_map(|k| blocks.iter().skip(k).step_by(2).copied()).collect();
            blocks.copy_from_slice(&dealt);
        }
    }
    out.extend_from_slice(&rest[whole..]);
    out
}

/// The properties, in addition to the mesh, that determine an order of elements: shape, whether they are
/// curved, and lanes; and whether they are those that come first.
type Key = ((Shape, bool, usize), bool);

/// Orders computed so far for one mesh; spaces of other polynomial orders use the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packings(Arc<Mutex<Vec<(Key, Arc<Vec<u32>>)>>>);

impl Packings {
    /// Returns the order by [`pack`] of the curved, or of the affine, elements of a shape, or of some of
    /// them.
    pub(crate) fn order(&self, mesh: &Mesh, key: Key, elements: &[u32]) -> Arc<Vec<u32>> {
        let mut known = lock(&self.0);
        if let Some((_, order)) = known.iter().find(|(k, _)| *k == key) {
            return Arc::clone(order);
        }
        let ((shape, _, lanes), _) = key;
        let along = || (0..elements.len() as u32).collect();
        let order = match shape {
            Shape::Triangle | Shape::Quadrilateral | Shape::Hexahedron => {
                pack(Graph::of_elements(mesh, elements), lanes, shape == Shape::Triangle)
            }
            // If cells do not have six tetrahedra each, blocks along the curve have as few neighbours as
            // others.
            Shape::Tetrahedron => alike::pack_alike(mesh, elements, lanes).unwrap_or_else(along),
            _ => along(),
        };
        known.push((key, Arc::new(order)));
        Arc::clone(&known[known.len() - 1].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::{SpaceFillingCurve, generate};
    use std::collections::BTreeSet;

    /// The average number of blocks that a face of a block reads, for faces of one kind.
    fn sources(mesh: &Mesh, order: &[u32], lanes: usize) -> f64 {
        let mut slot = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, &e)| slot[e as usize] = i);
        let (mut found, mut own) = (BTreeSet::new(), BTreeSet::new());
        for face in &mesh.faces {
            let Across::Interior { plus, .. } = face.across else { continue };
            for (a, b) in [(face.minus, plus), (plus, face.minus)] {
                let block = |element: u32| slot[element as usize] / lanes;
                found.insert((block(a.element), a.face, block(b.element), b.face));
                own.insert((block(a.element), a.face));
            }
        }
        found.len() as f64 / own.len() as f64
    }

    #[test]
    fn blocks_have_few_neighbours() {
        // Numbers of cells that are not powers of two, so that the curve alone does not produce bricks.
        let shapes = [Shape::Hexahedron, Shape::Quadrilateral, Shape::Triangle, Shape::Tetrahedron];
        for (shape, n) in shapes.into_iter().zip([11, 21, 21, 7]) {
            let mut mesh = generate::Box::unit(shape, n).build().unwrap();
            mesh.renumber(SpaceFillingCurve::Hilbert);
            let elements: Vec<u32> = (0..mesh.n_elements() as u32).collect();
            for (lanes, most) in [(8, 2.5), (16, 2.9)] {
                let order = Packings::default().order(&mesh, ((shape, false, lanes), true), &elements);
                let mut sorted = order.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, elements, "{shape}: every element once");
                let (before, after) = (sources(&mesh, &elements, lanes), sources(&mesh, &order, lanes));
                assert!(after < most && after < 0.95 * before, "{shape}, {lanes} lanes: {before} {after}");
            }
        }
    }
}
