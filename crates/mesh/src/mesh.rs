//! The mesh: points, elements by shape, faces between them, and named boundaries.

use dgsuite_basis::Shape;

use crate::{MeshError, names, topology::vertex_places};

/// An unstructured conforming mesh of curved elements in two or three dimensions.
///
/// # Invariants
/// Elements have positive Jacobians. Every side of every element belongs to one face. Faces are
/// sorted by their minus side, and the minus side is the lower of the two by (element, face).
/// `sets` are sorted by shape, then by geometry order, and number the elements consecutively.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Dimension of the elements: 2 or 3.
    pub dim: usize,
    /// Geometry nodes `[x, y, z]`; in two dimensions `z = 0`.
    pub points: Vec<[f64; 3]>,
    /// Elements, one set for each shape and geometry order; none is empty.
    pub sets: Vec<ElementSet>,
    /// Every face once.
    pub faces: Vec<Face>,
    /// Boundaries, to which faces refer by index. Boundaries that have become periodic stay in the list.
    pub boundaries: Vec<BoundaryTag>,
    /// Names of regions (physical groups of the elements), by region number.
    pub region_names: Vec<RegionTag>,
    /// Pairs of boundaries that are periodic, with the map from the first to the second.
    pub links: Vec<PeriodicLink>,
    /// For each periodic face the link that it belongs to, sorted by the face's minus side.
    pub periodic_faces: Vec<PeriodicFace>,
}

/// The elements of one shape and one geometry order.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementSet {
    /// The shape.
    pub shape: Shape,
    /// Order of the geometry: 1 for straight edges.
    pub order: usize,
    /// Nodes `[element][lattice node]`, indices into the points.
    pub nodes: Vec<u32>,
    /// The numbers of the elements in the file.
    pub tags: Vec<u64>,
    /// Region (physical group) of each element; 0 for none.
    pub regions: Vec<u32>,
    /// Global index of the first element.
    pub first: usize,
}

/// One face of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side {
    /// Global index of the element.
    pub element: u32,
    /// Number of the face in the element's shape.
    pub face: u8,
}

/// The neighbour across a face.
///
/// `orientation` is the rotation `k` between the face frames (see [`Shape::meet`]): `m[i] = q[(k − i) mod n]`
/// for the vertices of the minus and plus side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Another element that shares the face's vertices.
    Interior {
        /// The other side.
        plus: Side,
        /// Rotation between the face frames.
        orientation: u8,
    },
    /// An element at another place, across a periodic boundary.
    Periodic {
        /// The other side.
        plus: Side,
        /// Rotation between the face frames.
        orientation: u8,
    },
    /// A boundary, by index.
    Boundary(u32),
}

impl Across {
    /// The other side; `None` on a boundary.
    #[must_use]
    pub const fn plus(self) -> Option<Side> {
        match self {
            Self::Interior { plus, .. } | Self::Periodic { plus, .. } => Some(plus),
            Self::Boundary(_) => None,
        }
    }
}

/// A face of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Face {
    /// The side with the lower element.
    pub minus: Side,
    /// The neighbour across the face.
    pub across: Across,
}

/// A boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundaryTag {
    /// The physical name, `#tag` if there is none, or [`UNNAMED`].
    pub name: String,
    /// The number in the file: of the physical group, or of the geometrical entity if there is no group.
    pub tag: i32,
}

/// The name of the boundary of all faces for which the file has no boundary element.
pub const UNNAMED: &str = "unnamed";

/// The name of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionTag {
    /// The number that elements refer to.
    pub region: u32,
    /// The physical name.
    pub name: String,
}

/// Two boundaries that are periodic: the affine map `x₂ = A x₁ + b` maps the first to the second.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodicLink {
    /// Index of the first boundary.
    pub first: u32,
    /// Index of the second boundary.
    pub second: u32,
    /// The matrix `A` by rows; the identity for a translation.
    pub linear: [[f64; 3]; 3],
    /// The vector `b`.
    pub offset: [f64; 3],
}

impl PeriodicLink {
    /// The point of the second boundary that corresponds to `x` on the first.
    #[must_use]
    pub fn apply(&self, x: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| (0..3).map(|j| self.linear[i][j] * x[j]).sum::<f64>() + self.offset[i])
    }

    /// True if vectors keep their direction across the boundary.
    #[must_use]
    pub fn is_translation(&self) -> bool {
        (0..3).all(|i| (0..3).all(|j| (self.linear[i][j] - f64::from(u8::from(i == j))).abs() < 1e-9))
    }
}

/// The origin of a periodic face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodicFace {
    /// The face's minus side.
    pub minus: Side,
    /// Index of its link.
    pub link: u32,
    /// True if the minus side lies on the second boundary of the link.
    pub reversed: bool,
}

impl ElementSet {
    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.tags.len()
    }

    /// True if there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Nodes of one element.
    #[must_use]
    pub fn nodes_per_element(&self) -> usize {
        dgsuite_basis::lattice::lattice_len(self.shape, self.order)
    }

    /// Nodes of element `i` of this set, in lattice order.
    #[must_use]
    pub fn element(&self, i: usize) -> &[u32] {
        let n = self.nodes_per_element();
        &self.nodes[i * n..(i + 1) * n]
    }
}

impl Mesh {
    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.sets.iter().map(ElementSet::len).sum()
    }

    /// The set of global element `element`, and its number in the set.
    ///
    /// # Panics
    /// If there is no such element.
    #[must_use]
    pub fn locate(&self, element: usize) -> (usize, usize) {
        let set = self.sets.iter().position(|s| element < s.first + s.len());
        let set = set.unwrap_or_else(|| panic!("element {element} of {}", self.n_elements()));
        (set, element - self.sets[set].first)
    }

    /// Shape of a global element.
    #[must_use]
    pub fn shape(&self, element: usize) -> Shape {
        self.sets[self.locate(element).0].shape
    }

    /// The number of a global element in the file.
    #[must_use]
    pub fn tag(&self, element: usize) -> u64 {
        let (set, i) = self.locate(element);
        self.sets[set].tags[i]
    }

    /// Nodes of element `i` of set `set`, in lattice order.
    #[must_use]
    pub fn element_nodes(&self, set: usize, i: usize) -> &[u32] {
        self.sets[set].element(i)
    }

    /// Coordinates of the nodes of element `i` of set `set`, in lattice order.
    pub fn element_points(&self, set: usize, i: usize) -> impl ExactSizeIterator<Item = [f64; 3]> + '_ {
        self.element_nodes(set, i).iter().map(|&n| self.points[n as usize])
    }

    /// Vertices of a global element, indices into the points.
    #[must_use]
    pub fn element_vertices(&self, element: usize) -> Vec<u32> {
        let (set, i) = self.locate(element);
        let nodes = self.element_nodes(set, i);
        let (places, n) = vertex_places(self.sets[set].shape, self.sets[set].order);
        places[..n].iter().map(|&v| nodes[v]).collect()
    }

    /// Mean of the vertices of a global element.
    #[must_use]
    pub fn centroid(&self, element: usize) -> [f64; 3] {
        self.mean(&self.element_vertices(element))
    }

    /// Shape of a side.
    ///
    /// # Panics
    /// If the element has no such face.
    #[must_use]
    pub fn side_shape(&self, side: Side) -> Shape {
        let shape = self.shape(side.element as usize);
        shape.face_shape(side.face as usize).unwrap_or(Shape::Line)
    }

    /// Vertices of a side in the order of its face frame, indices into the points.
    #[must_use]
    pub fn side_vertices(&self, side: Side) -> Vec<u32> {
        let (set, i) = self.locate(side.element as usize);
        let (shape, nodes) = (self.sets[set].shape, self.element_nodes(set, i));
        let (places, _) = vertex_places(shape, self.sets[set].order);
        shape.face_vertices(side.face as usize).iter().map(|&v| nodes[places[v]]).collect()
    }

    /// Geometry nodes of a side, in the lattice order of its face frame.
    #[must_use]
    pub fn side_nodes(&self, side: Side) -> Vec<u32> {
        let (set, i) = self.locate(side.element as usize);
        let lattice = crate::topology::Lattice::new(self.sets[set].shape, self.sets[set].order);
        let nodes = self.element_nodes(set, i);
        lattice.faces[side.face as usize].iter().map(|&l| nodes[l]).collect()
    }

    /// Mean of the vertices of a side.
    #[must_use]
    pub fn side_centroid(&self, side: Side) -> [f64; 3] {
        self.mean(&self.side_vertices(side))
    }

    pub(crate) fn mean(&self, nodes: &[u32]) -> [f64; 3] {
        mean(&self.points, nodes)
    }

    /// Names of the boundaries that have faces, in the order of their numbers.
    ///
    /// Boundaries that have become periodic are not included.
    #[must_use]
    pub fn boundary_names(&self) -> Vec<&str> {
        let counts = self.boundary_counts();
        self.boundaries.iter().zip(&counts).filter(|&(_, &n)| n > 0).map(|(b, _)| b.name.as_str()).collect()
    }

    /// Number of faces of each boundary.
    #[must_use]
    pub fn boundary_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.boundaries.len()];
        for face in &self.faces {
            if let Across::Boundary(b) = face.across {
                counts[b as usize] += 1;
            }
        }
        counts
    }

    /// Index of the boundary called `name`, which may have faces or be periodic.
    ///
    /// # Errors
    /// [`MeshError::UnknownBoundary`] with the existing names and the most similar one.
    pub fn boundary_index(&self, name: &str) -> Result<u32, MeshError> {
        match self.boundaries.iter().position(|b| b.name == name) {
            Some(i) => Ok(i as u32),
            None => {
                let known: Vec<String> = self.boundaries.iter().map(|b| b.name.clone()).collect();
                let nearest = names::nearest(name, &known);
                Err(MeshError::UnknownBoundary { name: name.to_owned(), known, nearest })
            }
        }
    }

    /// Highest geometry order of the elements.
    #[must_use]
    pub fn max_order(&self) -> usize {
        self.sets.iter().map(|s| s.order).max().unwrap_or(1)
    }

    /// Least and greatest coordinates of the points.
    #[must_use]
    pub fn bounding_box(&self) -> [[f64; 3]; 2] {
        let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for x in &self.points {
            for d in 0..3 {
                bounds[0][d] = bounds[0][d].min(x[d]);
                bounds[1][d] = bounds[1][d].max(x[d]);
            }
        }
        bounds
    }
}

pub(crate) fn mean(points: &[[f64; 3]], nodes: &[u32]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for &n in nodes {
        for d in 0..3 {
            sum[d] += points[n as usize][d];
        }
    }
    sum.map(|s| s / nodes.len().max(1) as f64)
}
