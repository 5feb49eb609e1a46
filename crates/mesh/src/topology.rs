//! The nodes of an element's lattice on its vertices, edges and faces.

use dgsuite_basis::{
    Shape,
    lattice::{lattice, lattice_indices, lattice_vertices},
};

/// The lattice of one shape and order, by vertices, edges and faces.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    pub(crate) shape: Shape,
    pub(crate) order: usize,
    /// Reference coordinates of the nodes.
    pub(crate) points: Vec<[f64; 3]>,
    /// Node of each vertex.
    pub(crate) vertices: Vec<usize>,
    /// All nodes of each edge, from its first vertex to its second.
    pub(crate) edges: Vec<Vec<usize>>,
    /// All nodes of each face, in the lattice order of the face frame.
    pub(crate) faces: Vec<Vec<usize>>,
    /// Exchange of the first two reference directions; it reverses an inverted element.
    pub(crate) mirror: Vec<usize>,
}

/// Index of `x` in `points`; lattice points of a reference element are more than 1e-9 apart.
pub(crate) fn position(points: &[[f64; 3]], x: [f64; 3]) -> Option<usize> {
    points.iter().position(|y| (0..3).all(|d| (x[d] - y[d]).abs() < 1e-9))
}

/// Nodes of the vertices of a shape in the lattice of order `n ≥ 1`, and their number.
///
/// The same as `lattice_vertices` without its search, because it is called for every face of a mesh.
pub(crate) const fn vertex_places(shape: Shape, n: usize) -> ([usize; 8], usize) {
    let triangle = (n + 1) * (n + 2) / 2;
    let square = (n + 1) * (n + 1);
    match shape {
        Shape::Line => ([0, n, 0, 0, 0, 0, 0, 0], 2),
        Shape::Triangle => ([0, n, triangle - 1, 0, 0, 0, 0, 0], 3),
        Shape::Quadrilateral => ([0, n, square - 1, square - 1 - n, 0, 0, 0, 0], 4),
        Shape::Tetrahedron => ([0, n, triangle - 1, triangle * (n + 3) / 3 - 1, 0, 0, 0, 0], 4),
        Shape::Hexahedron => {
            let top = n * square;
            ([0, n, square - 1, square - 1 - n, top, top + n, top + square - 1, top + square - 1 - n], 8)
        }
        Shape::Prism => {
            let top = n * triangle;
            ([0, n, triangle - 1, top, top + n, top + triangle - 1, 0, 0], 6)
        }
        Shape::Pyramid => {
            let apex = (n + 1) * (n + 2) * (2 * n + 3) / 6 - 1;
            ([0, n, square - 1, square - 1 - n, apex, 0, 0, 0], 5)
        }
    }
}

impl Lattice {
    /// The lattice of order `order ≥ 1` on `shape`.
    ///
    /// # Panics
    /// If the order is 0.
    pub(crate) fn new(shape: Shape, order: usize) -> Self {
        assert!(order > 0, "a lattice of order 0 has no vertices");
        let points = lattice(shape, order);
        let find = |x: [f64; 3]| position(&points, x).unwrap_or_else(|| panic!("{shape} {order}: {x:?}"));
        let v = shape.vertices();
        let edge = |&[a, b]: &[usize; 2]| {
            let at = |j: usize| {
                let w = j as f64 / order as f64;
                find(std::array::from_fn(|d| (1.0 - w) * v[a][d] + w * v[b][d]))
            };
            (0..=order).map(at).collect()
        };
        let face = |f: usize| match shape.face_shape(f) {
            None => vec![find(v[shape.face_vertices(f)[0]])],
            Some(s) => lattice(s, order).into_iter().map(|xi| find(shape.face_point(f, xi))).collect(),
        };
        let indices = lattice_indices(shape, order);
        let mirrored = |&[i, j, k]: &[usize; 3]| indices.iter().position(|&x| x == [j, i, k]);
        let mirror = indices.iter().map(|i| mirrored(i).unwrap_or(usize::MAX)).collect();
        Self {
            shape,
            order,
            vertices: lattice_vertices(shape, order),
            edges: shape.edges().iter().map(edge).collect(),
            faces: (0..shape.n_faces()).map(face).collect(),
            mirror,
            points,
        }
    }

    /// Nodes of the vertices of face `f`, in face order.
    pub(crate) fn face_vertices(&self, f: usize) -> Vec<usize> {
        self.shape.face_vertices(f).iter().map(|&v| self.vertices[v]).collect()
    }
}

/// The vertices next to vertex 0 along the reference axes (for a pyramid: the apex along the third).
pub(crate) const fn axis_vertices(shape: Shape) -> &'static [usize] {
    match shape {
        Shape::Line => &[1],
        Shape::Triangle => &[1, 2],
        Shape::Quadrilateral => &[1, 3],
        Shape::Tetrahedron | Shape::Prism => &[1, 2, 3],
        Shape::Hexahedron | Shape::Pyramid => &[1, 3, 4],
    }
}

/// For each node of a face's lattice on the minus side, the corresponding node of the plus side.
pub(crate) fn meeting_nodes(face: Shape, order: usize, orientation: u8) -> Vec<usize> {
    let points = lattice(face, order);
    let meet = |&xi: &[f64; 3]| position(&points, face.meet(orientation as usize, xi)).unwrap_or(usize::MAX);
    points.iter().map(meet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_and_edges_hold_their_vertices_and_the_mirror_reflects() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
            for order in 1..=5 {
                let lattice = Lattice::new(shape, order);
                let (places, n) = vertex_places(shape, order);
                assert_eq!(places[..n], lattice.vertices, "{shape} {order}");
                for (e, &[a, b]) in shape.edges().iter().enumerate() {
                    assert_eq!(lattice.edges[e][0], lattice.vertices[a]);
                    assert_eq!(lattice.edges[e][order], lattice.vertices[b]);
                }
                for f in 0..shape.n_faces() {
                    for v in lattice.face_vertices(f) {
                        assert!(lattice.faces[f].contains(&v), "{shape} {order} face {f}");
                    }
                }
                for (i, &j) in lattice.mirror.iter().enumerate() {
                    let [r, s, t] = lattice.points[i];
                    assert_eq!(lattice.points[j], [s, r, t], "{shape} {order}");
                }
            }
        }
    }
}
