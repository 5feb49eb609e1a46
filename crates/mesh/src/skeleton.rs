//! A finer lattice on every element whose nodes are shared across faces and edges.
//!
//! Nodes are identified by the entity they lie on (vertex, edge, face, interior), never by coordinates. Where
//! a new node coincides with an old one, its coordinates are kept bit by bit; elsewhere they are interpolated
//! with the element's own geometry.

use std::collections::HashMap;

use dgsuite_basis::{LagrangeBasis, Matrix, lattice::lattice};

use crate::{
    Across, Mesh, MeshError, Side,
    mesh::ElementSet,
    sides::{NONE, SideNumbers},
    topology::{Lattice, meeting_nodes, position},
};

/// The entity on which a lattice node lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    Vertex,
    /// Edge, and position from its first vertex.
    Edge(usize, usize),
    /// Face, and number in the lattice of its frame.
    Face(usize, usize),
    Inside,
}

/// New points, and the nodes `[element][lattice node]` of each set.
pub(crate) struct Skeleton {
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) nodes: Vec<Vec<u32>>,
}

/// The entities of the nodes of a lattice. In the plane edges are faces.
fn places(fine: &Lattice) -> Vec<Place> {
    let mut out = vec![Place::Inside; fine.points.len()];
    for (f, nodes) in fine.faces.iter().enumerate() {
        nodes.iter().enumerate().for_each(|(i, &l)| out[l] = Place::Face(f, i));
    }
    if fine.shape.dim() == 3 {
        for (e, nodes) in fine.edges.iter().enumerate() {
            nodes.iter().enumerate().for_each(|(j, &l)| out[l] = Place::Edge(e, j));
        }
    }
    fine.vertices.iter().for_each(|&l| out[l] = Place::Vertex);
    out
}

/// Values of the geometry basis of `set` at the points of `fine`; exact where nodes coincide.
fn interpolation(set: &ElementSet, fine: &Lattice) -> Matrix {
    let coarse = lattice(set.shape, set.order);
    let mut matrix = LagrangeBasis::new(set.shape, set.order).eval(&fine.points);
    for (i, &x) in fine.points.iter().enumerate() {
        if let Some(node) = position(&coarse, x) {
            let row = matrix.row_mut(i);
            row.fill(0.0);
            row[node] = 1.0;
        }
    }
    matrix
}

impl Skeleton {
    /// The lattices of order `orders[set]`, numbered by first use.
    pub(crate) fn new(mesh: &Mesh, orders: &[usize]) -> Result<Self, MeshError> {
        let numbers = SideNumbers::new(&mesh.sets)?;
        // For plus sides of inner faces: the minus side that has the face's nodes.
        let mut owner: Vec<(u32, u8)> = vec![(NONE, 0); numbers.len];
        for face in &mesh.faces {
            if let Across::Interior { plus, orientation } = face.across {
                let order = |s: Side| orders[mesh.locate(s.element as usize).0];
                if order(face.minus) == order(plus) {
                    owner[numbers.number(plus) as usize] = (numbers.number(face.minus), orientation);
                }
            }
        }
        let mut points: Vec<[f64; 3]> = Vec::new();
        let mut vertex = vec![NONE; mesh.points.len()];
        let mut edges: HashMap<(u32, u32, usize), u32> = HashMap::new();
        let mut face_start = vec![NONE; numbers.len];
        let mut meetings = HashMap::new();
        let mut nodes = Vec::with_capacity(mesh.sets.len());
        for (set, &order) in mesh.sets.iter().zip(orders) {
            let fine = Lattice::new(set.shape, order);
            let coarse = Lattice::new(set.shape, set.order);
            let weights = interpolation(set, &fine);
            let places = places(&fine);
            // Nodes inside each face, by rank; nodes on its border belong to edges or vertices.
            let ranks: Vec<Vec<u32>> =
                fine.faces.iter().enumerate().map(|(f, on)| ranks(&places, f, on)).collect();
            let mut all = Vec::with_capacity(set.len() * fine.points.len());
            for i in 0..set.len() {
                let old = set.element(i);
                let corner = |v: usize| old[coarse.vertices[v]];
                for (l, &place) in places.iter().enumerate() {
                    let allocate = |points: &mut Vec<[f64; 3]>, count: usize| {
                        let start = points.len() as u32;
                        points.resize(points.len() + count, [f64::NAN; 3]);
                        start
                    };
                    let id = match place {
                        Place::Vertex => {
                            let v = fine.vertices.iter().position(|&at| at == l).unwrap_or(0);
                            let id = &mut vertex[corner(v) as usize];
                            if *id == NONE {
                                *id = allocate(&mut points, 1);
                            }
                            *id
                        }
                        Place::Edge(e, j) => {
                            let [a, b] = set.shape.edges()[e].map(corner);
                            let (key, j) =
                                if a < b { ((a, b, order), j) } else { ((b, a, order), order - j) };
                            let start = *edges.entry(key).or_insert_with(|| allocate(&mut points, order - 1));
                            start + j as u32 - 1
                        }
                        Place::Face(f, at) => {
                            let side = Side { element: (set.first + i) as u32, face: f as u8 };
                            let mine = numbers.number(side);
                            let (theirs, orientation) = owner[mine as usize];
                            let (side, at) = if theirs == NONE {
                                (mine, at)
                            } else {
                                let shape = set.shape.face_shape(f).unwrap_or(set.shape);
                                let meet = meetings
                                    .entry((shape, order, orientation))
                                    .or_insert_with(|| meeting_nodes(shape, order, orientation));
                                (theirs, meet[at])
                            };
                            let start = &mut face_start[side as usize];
                            if *start == NONE {
                                let inside = ranks[f].iter().filter(|&&r| r != NONE).count();
                                *start = allocate(&mut points, inside);
                            }
                            *start + ranks[f][at]
                        }
                        Place::Inside => allocate(&mut points, 1),
                    };
                    let x = &mut points[id as usize];
                    if x[0].is_nan() {
                        *x = [0.0; 3];
                        for (&w, &n) in weights.row(l).iter().zip(old) {
                            if w != 0.0 {
                                (0..3).for_each(|d| x[d] += w * mesh.points[n as usize][d]);
                            }
                        }
                    }
                    all.push(id);
                }
            }
            let max = NONE as usize - 1;
            if points.len() > max {
                return Err(MeshError::TooLarge { what: "nodes", count: points.len(), max });
            }
            nodes.push(all);
        }
        Ok(Self { points, nodes })
    }
}

/// For each node of a face's lattice its rank among the nodes inside the face, or [`NONE`].
///
/// The rank depends on the face's shape only, so that it is the same on both sides.
fn ranks(places: &[Place], f: usize, on: &[usize]) -> Vec<u32> {
    let mut next = 0;
    let mut rank = |&l: &usize| match places[l] {
        Place::Face(g, _) if g == f => {
            next += 1;
            next - 1
        }
        _ => NONE,
    };
    on.iter().map(&mut rank).collect()
}
