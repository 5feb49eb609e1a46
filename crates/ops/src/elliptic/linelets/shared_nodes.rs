//! The nodes that elements share: one number for each function that is continuous over all elements.
//!
//! Two nodes are the same if the elements meet at a face that has both, at the same place of the face. Nodes
//! of elements that meet at an edge or a vertex are found through the faces around it.

use crate::elliptic::Space;
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{LagrangeBasis, Shape};
use dgsuite_mesh::{Across, Mesh, Side};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Values of a vertex's function that differ by less are the same.
const SAME: f64 = 1e-9;

/// Faces that one task visits.
const FACES: usize = 1024;

/// A node: an element of the list that was searched, and its number there.
pub(super) type Node = (u32, u16);

/// The nodes of each shape on each of its faces, with the values of the face's vertices' functions.
struct FaceNodes(Vec<Vec<(u16, Vec<f64>)>>);

impl FaceNodes {
    fn new(shape: Shape, nodes: &[[f64; 3]]) -> Self {
        let lattice = LagrangeBasis::new(shape, 1);
        let values = lattice.eval(nodes);
        // The lattice has its own order.
        let at = |corner: &[f64; 3]| {
            let apart = |node: &[f64; 3]| (0..3).map(|d| (node[d] - corner[d]).abs()).sum::<f64>();
            lattice.nodes().iter().position(|node| apart(node) < SAME).unwrap_or(0)
        };
        let column: Vec<usize> = shape.vertices().iter().map(at).collect();
        let of_face = |face: usize| {
            let vertices = shape.face_vertices(face);
            let beside: Vec<usize> = (0..column.len()).filter(|v| !vertices.contains(v)).collect();
            let is_there = |i: &usize| beside.iter().all(|&v| values[(*i, column[v])].abs() < SAME);
            let of = |i: usize| (i as u16, vertices.iter().map(|&v| values[(i, column[v])]).collect());
            (0..nodes.len()).filter(is_there).map(of).collect()
        };
        Self((0..shape.n_faces()).map(of_face).collect())
    }

    /// The pairs of nodes of two faces that meet; `None` if a node of one is none of the other.
    fn pairs(&self, face: usize, other: &Self, other_face: usize, orientation: u8) -> Option<Vec<[u16; 2]>> {
        let (ours, theirs) = (&self.0[face], &other.0[other_face]);
        if ours.len() != theirs.len() {
            return None;
        }
        let pair = |(i, at): &(u16, Vec<f64>)| {
            let n = at.len();
            let meets = |(_, other): &&(u16, Vec<f64>)| {
                let met = |k: usize| (usize::from(orientation) + n - k) % n;
                other.len() == n && (0..n).all(|k| (at[k] - other[met(k)]).abs() < SAME)
            };
            Some([*i, theirs.iter().find(meets)?.0])
        };
        ours.iter().map(pair).collect()
    }
}

/// The nodes that are the same node of the mesh, for each that at least two elements share. Nodes and lists
/// are in the order of elements.
pub(super) struct SharedNodes {
    /// First of each list in `nodes`, then their number.
    pub(super) starts: Vec<u32>,
    pub(super) nodes: Vec<Node>,
}

impl SharedNodes {
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn list(&self, k: usize) -> &[Node] {
        &self.nodes[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = &[Node]> {
        (0..self.len()).map(|k| self.list(k))
    }

    /// Those with this property.
    pub(super) fn only(self, wanted: impl Fn(&[Node]) -> bool) -> Self {
        if self.lists().all(&wanted) {
            return self;
        }
        let mut out = Self { starts: vec![0], nodes: Vec::new() };
        for list in self.lists().filter(|list| wanted(list)) {
            out.nodes.extend_from_slice(list);
            out.starts.push(out.nodes.len() as u32);
        }
        out
    }
}

/// Finds the nodes that elements share.
///
/// `elements` are those to be searched, ascending; `nodes` are the nodes of each shape of the mesh. A node is
/// left out if the nodes of elements at a face differ, if an element meets itself there, or if `skip` holds
/// for one of the elements.
pub(super) fn shared_nodes<T: PackScalar>(
    space: &Space<T>,
    mesh: &Mesh,
    elements: &[u32],
    nodes: &[(Shape, Vec<[f64; 3]>)],
    skip: impl Fn(u32) -> bool + Sync,
) -> SharedNodes {
    let kinds: Vec<(Shape, FaceNodes, usize)> =
        nodes.iter().map(|(shape, nodes)| (*shape, FaceNodes::new(*shape, nodes), nodes.len())).collect();
    let kind = |element: u32| {
        let shape = mesh.shape(element as usize);
        kinds.iter().position(|(of, ..)| *of == shape).unwrap_or(0)
    };
    let whole = elements.len() == mesh.n_elements();
    let local = |element: u32| match whole {
        true => Some(element as usize),
        false => elements.binary_search(&element).ok(),
    };
    let mut first = Vec::with_capacity(elements.len() + 1);
    first.push(0_u32);
    for &element in elements {
        first.push(first[first.len() - 1] + kinds[kind(element)].2 as u32);
    }
    let n = first[elements.len()];
    // Faces between elements of the list, as pairs of sides.
    let sides = |face: &dgsuite_mesh::Face| -> Option<(Side, Side, u8)> {
        match face.across {
            Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
                Some((face.minus, plus, orientation))
            }
            Across::Boundary(_) => None,
        }
    };
    type Meeting = (usize, u8, usize, u8, u8);
    let meeting = |(minus, plus, orientation): (Side, Side, u8)| -> Meeting {
        (kind(minus.element), minus.face, kind(plus.element), plus.face, orientation)
    };
    let mut pairs: BTreeMap<Meeting, Option<Vec<[u16; 2]>>> = BTreeMap::new();
    let mut last = None;
    for at in mesh.faces.iter().filter_map(sides).map(meeting) {
        if last != Some(at) {
            let (a, f, b, g, orientation) = at;
            let found = || kinds[a].1.pairs(f.into(), &kinds[b].1, g.into(), orientation);
            pairs.entry(at).or_insert_with(found);
            last = Some(at);
        }
    }
    let parent: Vec<AtomicU32> = (0..n).map(AtomicU32::new).collect();
    let left_out: Vec<AtomicBool> = (0..n).map(|_| AtomicBool::new(false)).collect();
    space.problem.host.install(|| {
        mesh.faces.par_chunks(FACES).for_each(|faces| {
            for both @ (minus, plus, _) in faces.iter().filter_map(sides) {
                let (a, b) = (local(minus.element), local(plus.element));
                let found = pairs.get(&meeting(both)).and_then(Option::as_ref);
                match (a, b, found) {
                    (Some(a), Some(b), Some(pairs)) if a != b => {
                        for [i, j] in pairs {
                            unite(&parent, first[a] + u32::from(*i), first[b] + u32::from(*j));
                        }
                    }
                    (Some(_), Some(_), _) => {
                        for (at, side) in [(a, minus), (b, plus)] {
                            let Some(at) = at else { continue };
                            for (i, _) in &kinds[kind(side.element)].1.0[side.face as usize] {
                                left_out[(first[at] + u32::from(*i)) as usize].store(true, Ordering::Relaxed);
                            }
                        }
                    }
                    _ => {}
                }
            }
        });
        elements.par_iter().enumerate().filter(|(_, element)| skip(**element)).for_each(|(at, _)| {
            (first[at]..first[at + 1]).for_each(|i| left_out[i as usize].store(true, Ordering::Relaxed));
        });
        let roots: Vec<u32> = (0..n).into_par_iter().map(|i| root(&parent, i)).collect();
        gathered(&roots, &left_out, &first)
    })
}

/// The nodes of each root that has several, without those with a root that is left out.
fn gathered(roots: &[u32], left_out: &[AtomicBool], first: &[u32]) -> SharedNodes {
    let mut count = vec![0_u32; roots.len()];
    roots.iter().for_each(|root| count[*root as usize] += 1);
    for (root, left_out) in roots.iter().zip(left_out) {
        if left_out.load(Ordering::Relaxed) {
            count[*root as usize] = 0;
        }
    }
    // The place of the next node of each root's list.
    let (mut starts, mut n) = (vec![0], 0);
    for count in &mut count {
        if *count > 1 {
            (*count, n) = (n, n + *count);
            starts.push(n);
        } else {
            *count = NONE;
        }
    }
    let mut nodes = vec![(0, 0); n as usize];
    for (element, ends) in first.windows(2).enumerate() {
        for i in ends[0]..ends[1] {
            let next = &mut count[roots[i as usize] as usize];
            if *next != NONE {
                nodes[*next as usize] = (element as u32, (i - ends[0]) as u16);
                *next += 1;
            }
        }
    }
    // An element that has a node twice meets itself through others.
    let once = |list: &[Node]| list.windows(2).all(|pair| pair[0].0 != pair[1].0);
    SharedNodes { starts, nodes }.only(once)
}

/// A root without a list.
const NONE: u32 = u32::MAX;

/// The smallest of the numbers united with `i`, if nothing is united meanwhile.
fn root(parent: &[AtomicU32], mut i: u32) -> u32 {
    loop {
        let above = parent[i as usize].load(Ordering::Relaxed);
        if above == i {
            return i;
        }
        let next = parent[above as usize].load(Ordering::Relaxed);
        // A shorter way is as good for all others.
        let _ = parent[i as usize].compare_exchange_weak(above, next, Ordering::Relaxed, Ordering::Relaxed);
        i = next;
    }
}

/// Unites two numbers; any number of threads may do so at a time (Jayanti & Tarjan 2016). A root only ever
/// gets a smaller parent, so that the result does not depend on their order.
fn unite(parent: &[AtomicU32], a: u32, b: u32) {
    loop {
        let (a, b) = (root(parent, a), root(parent, b));
        let (low, high) = (a.min(b), a.max(b));
        if low == high {
            return;
        }
        let united = parent[high as usize].compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
        if united.is_ok() {
            return;
        }
    }
}
