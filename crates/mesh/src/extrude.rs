//! Extrusion: layers of prisms and hexahedra over a mesh of the plane.
//!
//! | element of the plane | element of each layer |
//! |---|---|
//! | triangle | prism |
//! | quadrilateral | hexahedron |
//!
//! The lattices of prisms and hexahedra are levels of the lattice of the plane, so that the nodes of an
//! element of geometry order m are those of the plane at m + 1 equispaced levels of its layer.

use dgsuite_basis::Shape;

use crate::{
    Across, BoundaryTag, Mesh, MeshError, Side,
    connect::{Draft, Join, Mark},
    gmsh,
    mesh::ElementSet,
    sides::{Corners, NONE},
};

/// Names of the boundaries at the two ends of an extruded mesh.
pub const ENDS: [&str; 2] = ["zmin", "zmax"];

/// Shape of the elements over elements of the plane; `None` for shapes that are not of the plane.
///
/// ```
/// use dgsuite_mesh::{Shape, extruded_shape};
/// assert_eq!(extruded_shape(Shape::Triangle), Some(Shape::Prism));
/// assert_eq!(extruded_shape(Shape::Tetrahedron), None);
/// ```
#[must_use]
pub const fn extruded_shape(shape: Shape) -> Option<Shape> {
    match shape {
        Shape::Triangle => Some(Shape::Prism),
        Shape::Quadrilateral => Some(Shape::Hexahedron),
        _ => None,
    }
}

impl Mesh {
    /// The mesh in space between `z[0]` and `z[1]` with `layers` layers of equal thickness over this mesh of
    /// the plane.
    ///
    /// Triangles become prisms and quadrilaterals hexahedra, of the same geometry order and region.
    /// Boundaries and periodic pairs keep their names: each edge becomes a quadrilateral in every layer. The
    /// ends are new boundaries, `zmin` and `zmax`, which [`Mesh::make_periodic`] joins, also over one layer.
    ///
    /// The elements over a set of the plane are a set, `[element of the plane][layer]` with ascending z;
    /// element numbers start again from 1. The points are `[node of the plane][level]` for the levels that
    /// bound the layers, then those inside the layers.
    ///
    /// # Errors
    /// [`MeshError::NotPlane`] for a mesh in space, [`MeshError::Extent`] unless `z[0] < z[1]`, both finite,
    /// [`MeshError::TooFewCells`] without layers, [`MeshError::EndTaken`] if a boundary has the name of an
    /// end, [`MeshError::TooLarge`] if 32-bit indices are not enough, [`MeshError::Degenerate`] for layers
    /// that are too thin for their distance from z = 0, or for their elements.
    ///
    /// ```
    /// use dgsuite_mesh::{Shape, generate::Annulus};
    /// let (shape, centre, cells) = (Shape::Quadrilateral, [0.0; 2], [2, 12]);
    /// let ring = Annulus { shape, centre, inner: 1.0, outer: 2.0, cells, growth: 1.0, order: 4 };
    /// let plane = ring.build()?;
    /// let mut tube = plane.extrude([0.0, 0.5], 3)?;
    /// assert_eq!((tube.sets[0].shape, tube.n_elements(), tube.max_order()), (Shape::Hexahedron, 72, 4));
    /// assert_eq!(tube.boundary_names(), ["inner", "outer", "zmin", "zmax"]);
    /// let sum = |mesh: &dgsuite_mesh::Mesh| mesh.volumes().iter().sum::<f64>();
    /// assert!((sum(&tube) - 0.5 * sum(&plane)).abs() < 1e-12);
    /// tube.make_periodic("zmin", "zmax")?;
    /// assert_eq!(tube.boundary_names(), ["inner", "outer"]);
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    pub fn extrude(&self, z: [f64; 2], layers: usize) -> Result<Self, MeshError> {
        if self.dim != 2 {
            return Err(MeshError::NotPlane { dim: self.dim });
        }
        // Written so that NaN is refused as well.
        if !(z[1] > z[0] && (z[1] - z[0]).is_finite()) {
            return Err(MeshError::Extent { from: z[0], to: z[1] });
        }
        if layers == 0 {
            return Err(MeshError::TooFewCells { axis: 'z', cells: 0, least: 1 });
        }
        if let Some(taken) = self.boundaries.iter().find(|b| ENDS.contains(&b.name.as_str())) {
            return Err(MeshError::EndTaken { name: taken.name.clone() });
        }
        let columns = Columns::new(self, layers)?;
        let mut draft = Draft {
            dim: 3,
            points: columns.points(self, z),
            sets: Vec::with_capacity(self.sets.len()),
            boundaries: self.boundaries.clone(),
            region_names: self.region_names.clone(),
            links: self.links.clone(),
        };
        for set in &self.sets {
            draft.sets.push(columns.set(set)?);
        }
        let ends = ENDS.map(|name| {
            let free = (1..).find(|tag| draft.boundaries.iter().all(|b| b.tag != *tag)).unwrap_or(0);
            draft.boundaries.push(BoundaryTag { name: name.to_owned(), tag: free });
            draft.boundaries.len() as u32 - 1
        });
        draft.settle()?;
        for set in &mut draft.sets {
            for (i, tag) in set.tags.iter_mut().enumerate() {
                *tag = (set.first + i + 1) as u64;
            }
        }
        // Hexahedra come before prisms, but triangles before quadrilaterals.
        let starts: Vec<usize> = self
            .sets
            .iter()
            .map(|plane| {
                let over = |set: &&ElementSet| {
                    Some(set.shape) == extruded_shape(plane.shape) && set.order == plane.order
                };
                draft.sets.iter().find(over).map_or(0, |set| set.first)
            })
            .collect();
        let shape_of = |element: u32| self.shape(element as usize);
        let over = |side: Side, layer: usize| {
            let (set, i) = self.locate(side.element as usize);
            let element = starts[set] + i * layers + layer;
            let face = side_over(self.sets[set].shape, side.face as usize);
            Side { element: element as u32, face: face as u8 }
        };
        let mut marks = Vec::new();
        for face in &self.faces {
            if let Across::Boundary(boundary) = face.across {
                marks.extend((0..layers).map(|layer| Mark { side: over(face.minus, layer), boundary }));
            }
        }
        for set in &draft.sets {
            let n = set.shape.n_vertices() / 2;
            let face = |up: bool| {
                let at = |vertices: &&[usize]| vertices.iter().all(|&v| (v >= n) == up);
                set.shape.faces().iter().position(at).unwrap_or(0) as u8
            };
            let faces = [face(false), face(true)];
            for column in 0..set.len() / layers {
                for (i, layer) in [0, layers - 1].into_iter().enumerate() {
                    let element = (set.first + column * layers + layer) as u32;
                    marks.push(Mark { side: Side { element, face: faces[i] }, boundary: ends[i] });
                }
            }
        }
        let mut joins = Vec::new();
        for join in self.joins() {
            let [first, second] = [join.first, join.second].map(|side| (shape_of(side.element), side));
            let orientation = turned(first, second, join.orientation);
            joins.extend((0..layers).map(|layer| Join {
                first: over(join.first, layer),
                second: over(join.second, layer),
                orientation,
                link: join.link,
            }));
        }
        let paired = draft.pair()?;
        let mesh = draft.connect(&paired, &marks, &joins)?;
        mesh.check_orientation()?;
        Ok(mesh)
    }
}

/// The face over edge `edge` of a shape of the plane.
fn side_over(plane: Shape, edge: usize) -> usize {
    let (solid, n) = (extruded_shape(plane).unwrap_or(plane), plane.n_vertices());
    let ends = plane.face_vertices(edge);
    let over = |face: &&[usize]| face.len() == 4 && face.iter().all(|v| ends.contains(&(v % n)));
    solid.faces().iter().position(over).unwrap_or(usize::MAX)
}

/// The orientation of the faces over two edges that are joined with `orientation`.
fn turned(first: (Shape, Side), second: (Shape, Side), orientation: u8) -> u8 {
    // A corner of such a face by its end of the edge, 0 or 1, and by its level: end + 2 · level.
    let corners = |(plane, side): (Shape, Side)| {
        let (solid, n) = (extruded_shape(plane).unwrap_or(plane), plane.n_vertices());
        let edge = side.face as usize;
        let start = plane.face_vertices(edge)[0];
        let face = solid.face_vertices(side_over(plane, edge));
        face.iter().map(move |v| (u32::from(v % n != start), (v / n) as u32)).collect::<Vec<_>>()
    };
    let numbered = |corners: Vec<(u32, u32)>| Corners::new(corners.into_iter().map(|(end, up)| end + 2 * up));
    let meeting = |(end, up)| ((u32::from(orientation) + 2 - end) % 2, up);
    let mapped = numbered(corners(first).into_iter().map(meeting).collect());
    mapped.orientation(&numbered(corners(second))).unwrap_or(0)
}

/// The points over each node of the plane: one at each level between layers, and for each geometry order
/// those inside the layers.
struct Columns {
    layers: usize,
    /// For each order above 1 the place of the first point inside the layers over each node, or [`NONE`].
    inner: Vec<(usize, Vec<u32>)>,
    n_points: usize,
}

impl Columns {
    fn new(plane: &Mesh, layers: usize) -> Result<Self, MeshError> {
        let max = NONE as usize - 1;
        let too_many = |what| MeshError::TooLarge { what, count: usize::MAX, max };
        plane.n_elements().checked_mul(layers).filter(|&n| n <= max).ok_or_else(|| too_many("elements"))?;
        let levels = layers.checked_add(1);
        let mut n_points = levels.and_then(|n| n.checked_mul(plane.points.len())).filter(|&n| n <= max);
        let mut inner: Vec<(usize, Vec<u32>)> = Vec::new();
        for set in plane.sets.iter().filter(|set| set.order > 1) {
            if !inner.iter().any(|(order, _)| *order == set.order) {
                inner.push((set.order, vec![NONE; plane.points.len()]));
            }
        }
        for (order, starts) in &mut inner {
            for node in plane.sets.iter().filter(|set| set.order == *order).flat_map(|set| &set.nodes) {
                let start = &mut starts[*node as usize];
                if let (NONE, Some(n)) = (*start, n_points) {
                    *start = n as u32;
                    let inside = layers.checked_mul(*order - 1);
                    n_points = inside.and_then(|more| n.checked_add(more)).filter(|&n| n <= max);
                }
            }
        }
        let n_points = n_points.ok_or_else(|| too_many("nodes"))?;
        Ok(Self { layers, inner, n_points })
    }

    /// The coordinates of all points, in the order in which they are numbered.
    fn points(&self, plane: &Mesh, z: [f64; 2]) -> Vec<[f64; 3]> {
        let height = |level: usize, of: usize| {
            let w = level as f64 / of as f64;
            if level == of { z[1] } else { z[0] + w * (z[1] - z[0]) }
        };
        let mut points = vec![[0.0; 3]; self.n_points];
        for (node, &[x, y, _]) in plane.points.iter().enumerate() {
            for level in 0..=self.layers {
                points[node * (self.layers + 1) + level] = [x, y, height(level, self.layers)];
            }
            for (order, starts) in self.inner.iter().filter(|(_, starts)| starts[node] != NONE) {
                let inside = (0..self.layers * order).filter(|level| level % order != 0);
                for (at, level) in (starts[node] as usize..).zip(inside) {
                    points[at] = [x, y, height(level, self.layers * order)];
                }
            }
        }
        points
    }

    /// The elements over a set of the plane, `[element][layer]`.
    fn set(&self, plane: &ElementSet) -> Result<ElementSet, MeshError> {
        let (order, layers) = (plane.order, self.layers);
        let shape = extruded_shape(plane.shape).ok_or(MeshError::BoxShape { shape: plane.shape })?;
        let max = gmsh::max_order(shape);
        if order > max {
            return Err(MeshError::GeometryOrder { shape, order, max });
        }
        let inner = self.inner.iter().find(|(o, _)| *o == order).map(|(_, starts)| starts);
        let mut nodes = Vec::with_capacity(plane.nodes.len() * layers * (order + 1));
        for i in 0..plane.len() {
            for layer in 0..layers {
                for level in 0..=order {
                    let at = |&node: &u32| match (level % order, inner) {
                        (between @ 1.., Some(starts)) => {
                            starts[node as usize] + (layer * (order - 1) + between - 1) as u32
                        }
                        _ => node * (layers as u32 + 1) + (layer + level / order) as u32,
                    };
                    nodes.extend(plane.element(i).iter().map(at));
                }
            }
        }
        let regions: Vec<u32> =
            plane.regions.iter().flat_map(|&region| std::iter::repeat_n(region, layers)).collect();
        Ok(ElementSet { shape, order, nodes, tags: vec![0; regions.len()], regions, first: 0 })
    }
}
