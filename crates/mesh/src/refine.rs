//! Uniform refinement: splits every element; curved nodes are computed from the parent's geometry.
//!
//! | element | children |
//! |---|---|
//! | triangle | 4 triangles |
//! | quadrilateral | 4 quadrilaterals |
//! | tetrahedron | 4 at the corners, 4 around the shortest inner diagonal |
//! | hexahedron | 8 hexahedra |
//! | prism | 8 prisms |
//! | pyramid | 6 pyramids and 4 tetrahedra |
//!
//! The nodes of all children lie on the parent's lattice of twice the order. Children of all shapes except
//! the pyramid are affine images of the reference shape, so that the geometry is reproduced exactly. In a
//! pyramid that is not an affine image the geometry is interpolated.

use std::collections::HashMap;

use dgsuite_basis::Shape;

use crate::{
    Across, Mesh, MeshError, Side,
    connect::{Draft, Join, Mark},
    mesh::ElementSet,
    nearby::distance,
    sides::Corners,
    skeleton::Skeleton,
    topology::{Lattice, meeting_nodes},
};

mod template;

use template::Template;

impl Mesh {
    /// Split every element once: four children in the plane, eight in space (pyramids: ten).
    ///
    /// Boundary names, regions and periodicity are kept. The children of an element are numbered
    /// consecutively; element numbers start again from 1.
    ///
    /// # Errors
    /// [`MeshError::TooLarge`] if 32-bit indices are not enough; [`MeshError::Inverted`] if a child of a
    /// strongly curved pyramid is not valid.
    pub fn refine_uniform(&mut self) -> Result<(), MeshError> {
        let doubled: Vec<usize> = self.sets.iter().map(|s| 2 * s.order).collect();
        let skeleton = Skeleton::new(self, &doubled)?;
        let splits: Vec<Split> = self
            .sets
            .iter()
            .zip(&skeleton.nodes)
            .map(|(s, nodes)| Split::new(s, nodes, &skeleton.points))
            .collect();

        let mut draft = Draft {
            dim: self.dim,
            points: Vec::new(),
            sets: Vec::new(),
            boundaries: self.boundaries.clone(),
            region_names: self.region_names.clone(),
            links: self.links.clone(),
        };
        // The start of the children of each set and shape in their new set.
        let mut starts: Vec<HashMap<Shape, usize>> = Vec::with_capacity(splits.len());
        for (set, split) in self.sets.iter().zip(&splits) {
            starts.push(split.append(set, &mut draft.sets));
        }
        draft.points = skeleton.points;
        draft.settle()?;
        for set in &mut draft.sets {
            for (i, tag) in set.tags.iter_mut().enumerate() {
                *tag = (set.first + i + 1) as u64;
            }
        }
        let children = |side: Side| -> Vec<Side> {
            let (s, i) = self.locate(side.element as usize);
            let (set, split) = (&self.sets[s], &splits[s]);
            let template = &split.templates[split.choice[i] as usize];
            template.sides[side.face as usize]
                .iter()
                .map(|&(child, face)| {
                    let shape = template.children[child].shape;
                    let new = draft.sets.iter().find(|n| n.shape == shape && n.order == set.order);
                    let first = new.map_or(0, |n| n.first) + starts[s][&shape];
                    let element = first + i * template.count(shape) + template.rank(child);
                    Side { element: element as u32, face }
                })
                .collect()
        };
        let mut marks = Vec::new();
        for face in &self.faces {
            if let Across::Boundary(boundary) = face.across {
                marks.extend(children(face.minus).into_iter().map(|side| Mark { side, boundary }));
            }
        }
        let joins = self.child_joins(&draft, &skeleton.nodes, &splits, children);
        let paired = draft.pair()?;
        let mesh = draft.connect(&paired, &marks, &joins)?;
        if self.sets.iter().any(|s| s.shape == Shape::Pyramid) {
            mesh.check_orientation()?;
        }
        *self = mesh;
        Ok(())
    }

    /// Pair the children of periodic faces by the nodes of the two face frames.
    fn child_joins(
        &self,
        draft: &Draft,
        nodes: &[Vec<u32>],
        splits: &[Split],
        children: impl Fn(Side) -> Vec<Side>,
    ) -> Vec<Join> {
        let corners = |side: Side| {
            let e = side.element as usize;
            let set = draft.sets.iter().find(|s| e < s.first + s.len()).unwrap_or(&draft.sets[0]);
            let (places, _) = crate::topology::vertex_places(set.shape, set.order);
            let nodes = set.element(e - set.first);
            Corners::new(set.shape.face_vertices(side.face as usize).iter().map(|&v| nodes[places[v]]))
        };
        let fine = |side: Side| -> Vec<u32> {
            let (s, i) = self.locate(side.element as usize);
            let lattice = &splits[s].fine;
            let n = lattice.points.len();
            lattice.faces[side.face as usize].iter().map(|&l| nodes[s][i * n + l]).collect()
        };
        let mut meetings = HashMap::new();
        let mut joins = Vec::new();
        for join in self.joins() {
            let shape = self.side_shape(join.first);
            let order = splits[self.locate(join.first.element as usize).0].fine.order;
            let meet = meetings
                .entry((shape, order, join.orientation))
                .or_insert_with(|| meeting_nodes(shape, order, join.orientation));
            let (a, b) = (fine(join.first), fine(join.second));
            // Faces of different geometry order have lattices of different length.
            let image: HashMap<u32, u32> =
                a.iter().zip(meet.iter()).filter_map(|(&a, &at)| Some((a, *b.get(at)?))).collect();
            let targets: Vec<(Side, Corners)> =
                children(join.second).into_iter().map(|s| (s, corners(s))).collect();
            for first in children(join.first) {
                let mapped: Option<Vec<u32>> =
                    corners(first).as_slice().iter().map(|v| image.get(v).copied()).collect();
                let Some(mapped) = mapped.map(Corners::new) else { continue };
                let found = targets.iter().find_map(|(s, c)| Some((*s, mapped.orientation(c)?)));
                if let Some((second, orientation)) = found {
                    joins.push(Join { first, second, orientation, link: join.link });
                }
            }
        }
        joins
    }
}

/// The splitting of a set's elements.
struct Split {
    fine: Lattice,
    /// The possible splittings of the shape: three for tetrahedra, one for the others.
    templates: Vec<Template>,
    /// The splitting of each element.
    choice: Vec<u8>,
    /// Nodes of the children by shape, element by element.
    nodes: Vec<(Shape, Vec<u32>)>,
}

impl Split {
    fn new(set: &ElementSet, nodes: &[u32], points: &[[f64; 3]]) -> Self {
        let fine = Lattice::new(set.shape, 2 * set.order);
        let templates = Template::all(set.shape, set.order, &fine);
        let n = fine.points.len();
        let mut choice = Vec::with_capacity(set.len());
        let mut by_shape: Vec<(Shape, Vec<u32>)> = Vec::new();
        for e in nodes.chunks_exact(n) {
            // The shortest diagonal; the first among equals.
            let length = |t: &Template| {
                t.diagonal.map_or(0.0, |[a, b]| distance(points[e[a] as usize], points[e[b] as usize]))
            };
            let lengths: Vec<f64> = templates.iter().map(length).collect();
            let best = (0..lengths.len())
                .reduce(|a, b| if lengths[b] < lengths[a] * (1.0 - 1e-9) { b } else { a })
                .unwrap_or(0);
            choice.push(best as u8);
            for child in &templates[best].children {
                let at = by_shape.iter().position(|(s, _)| *s == child.shape).unwrap_or_else(|| {
                    by_shape.push((child.shape, Vec::new()));
                    by_shape.len() - 1
                });
                by_shape[at].1.extend(child.nodes.iter().map(|&l| e[l]));
            }
        }
        Self { fine, templates, choice, nodes: by_shape }
    }

    /// Add the children to the new sets; returns their starts, by shape.
    fn append(&self, parent: &ElementSet, sets: &mut Vec<ElementSet>) -> HashMap<Shape, usize> {
        let mut starts = HashMap::new();
        for (shape, nodes) in &self.nodes {
            let (shape, order) = (*shape, parent.order);
            let at = sets.iter().position(|s| s.shape == shape && s.order == order).unwrap_or_else(|| {
                let (nodes, tags, regions) = (Vec::new(), Vec::new(), Vec::new());
                sets.push(ElementSet { shape, order, nodes, tags, regions, first: 0 });
                sets.len() - 1
            });
            let (set, count) = (&mut sets[at], self.templates[0].count(shape));
            starts.insert(shape, set.len());
            set.nodes.extend_from_slice(nodes);
            set.regions.extend(parent.regions.iter().flat_map(|&r| std::iter::repeat_n(r, count)));
            set.tags.resize(set.regions.len(), 0);
        }
        starts
    }
}
