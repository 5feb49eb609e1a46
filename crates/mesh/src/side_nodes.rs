//! Geometry nodes of many sides, with each lattice computed once.

use std::collections::HashMap;

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError, Side,
    connect::Join,
    nearby::distance,
    sides::Corners,
    topology::{Lattice, meeting_nodes},
};

/// The lattices of a mesh's sets, and the correspondence of face lattices.
pub(crate) struct SideNodes<'a> {
    mesh: &'a Mesh,
    lattices: Vec<Lattice>,
    meetings: HashMap<(Shape, usize, u8), Vec<usize>>,
}

impl<'a> SideNodes<'a> {
    pub(crate) fn new(mesh: &'a Mesh) -> Self {
        let lattices = mesh.sets.iter().map(|s| Lattice::new(s.shape, s.order)).collect();
        Self { mesh, lattices, meetings: HashMap::new() }
    }

    /// All nodes of a side, in the lattice order of its face frame.
    pub(crate) fn nodes(&self, side: Side) -> Vec<u32> {
        let (set, i) = self.mesh.locate(side.element as usize);
        let nodes = self.mesh.element_nodes(set, i);
        self.lattices[set].faces[side.face as usize].iter().map(|&l| nodes[l]).collect()
    }

    pub(crate) fn corners(&self, side: Side) -> Corners {
        Corners::new(self.mesh.side_vertices(side))
    }

    /// The vertices of several sides, each once, sorted.
    pub(crate) fn vertices(&self, sides: &[Side]) -> Vec<u32> {
        let mut nodes: Vec<u32> = sides.iter().flat_map(|&s| self.mesh.side_vertices(s)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    pub(crate) fn shortest_edge(&self, side: Side) -> f64 {
        let v = self.mesh.side_vertices(side);
        let at = |i: usize| self.mesh.points[v[i % v.len()] as usize];
        (0..v.len()).map(|i| distance(at(i), at(i + 1))).fold(f64::INFINITY, f64::min)
    }

    /// Check that the curved nodes of two joined sides coincide under the link's map.
    ///
    /// Sides of different geometry order are not compared.
    pub(crate) fn check_curve(
        &mut self,
        join: &Join,
        map: impl Fn([f64; 3]) -> [f64; 3],
        tolerance: f64,
    ) -> Result<(), MeshError> {
        let order = |s: Side| self.lattices[self.mesh.locate(s.element as usize).0].order;
        let n = order(join.first);
        if n == 1 || n != order(join.second) {
            return Ok(());
        }
        let (a, b) = (self.nodes(join.first), self.nodes(join.second));
        let shape = self.mesh.side_shape(join.first);
        let meeting = self
            .meetings
            .entry((shape, n, join.orientation))
            .or_insert_with(|| meeting_nodes(shape, n, join.orientation));
        let point = |i: u32| self.mesh.points[i as usize];
        let gap = |(&a, &at): (&u32, &usize)| distance(map(point(a)), point(b[at]));
        let far = a.iter().zip(meeting.iter()).map(gap).fold(0.0, f64::max);
        if far <= tolerance {
            return Ok(());
        }
        Err(MeshError::CurvedFace {
            first: self.mesh.tag(join.first.element as usize),
            second: self.mesh.tag(join.second.element as usize),
            centroid: self.mesh.side_centroid(join.first),
            distance: far,
        })
    }
}
