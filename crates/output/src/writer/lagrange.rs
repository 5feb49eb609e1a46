//! The order of nodes in VTK's Lagrange cells, as maps from VTK's numbers to lattice nodes.
//!
//! VTK lists the vertices of a cell, then the nodes inside its edges, inside its faces, and inside the cell.
//! Vertices are numbered as in [`Shape::vertices`]. The lists of edges and faces, and the direction in which
//! each is traversed, depend on the shape (`edges` and `faces` below). Nodes inside a triangle are a triangle
//! of order `n − 3`, numbered by the same rule; nodes inside a tetrahedron are a tetrahedron of order
//! `n − 4`. Nodes inside a quadrilateral or a hexahedron are listed row by row, layer by layer, and so are
//! nodes inside a prism and inside its triangles (from order 5 this differs from the nodes of a triangle
//! cell).
//!
//! ```text
//! triangle, order 4            quadrilateral, order 3
//!
//!  2
//!  9  8                         3  8  9  2
//! 10 14  7                     11 14 15  7
//! 11 12 13  6                  10 12 13  6
//!  0  3  4  5  1                0  4  5  1
//! ```
//!
//! Opposite edges of quadrilaterals and hexahedra have the same direction (3 → 2 and not 2 → 3), and the four
//! upright edges of a hexahedron come in the order 0-4, 1-5, 2-6, 3-7. This is the order of files of version
//! 2.2; in older ones the last two are exchanged. The third quadrilateral of a prism goes from vertex 2 to
//! vertex 0.
//!
//! # Source
//! `PointIndexFromIJK` and `InterpolateFunctions` of VTK's Lagrange cells. The test `vtk_readback` checks the
//! whole order against VTK itself.

use std::collections::HashMap;

use dgsuite_basis::{Shape, lattice::lattice_indices};

/// Returns the lattice nodes of a Lagrange cell in VTK's order: node `v` of the VTK cell is node
/// `lagrange_nodes(shape, order)[v]` of the lattice.
///
/// ```
/// use dgsuite_output::writer::lagrange_nodes;
/// use dgsuite_basis::Shape;
/// // The lattice of the quadratic triangle, with its VTK numbers:   2
/// //                                                                5 4
/// //                                                                0 3 1
/// assert_eq!(lagrange_nodes(Shape::Triangle, 2), [0, 2, 5, 1, 4, 3]);
/// ```
///
/// # Panics
/// If `order` is 0, or for pyramids, whose Lagrange cell is not used here.
#[must_use]
pub fn lagrange_nodes(shape: Shape, order: usize) -> Vec<usize> {
    assert!(order > 0 && shape != Shape::Pyramid, "no Lagrange {shape} of order {order}");
    let position: HashMap<[usize; 3], usize> =
        lattice_indices(shape, order).into_iter().enumerate().map(|(at, index)| (index, at)).collect();
    nodes(shape, order).iter().map(|index| position[index]).collect()
}

/// Edges as pairs of vertices, in VTK's order, each in the direction in which its nodes are listed.
fn edges(shape: Shape) -> &'static [[usize; 2]] {
    match shape {
        Shape::Line => &[[0, 1]],
        Shape::Triangle => &[[0, 1], [1, 2], [2, 0]],
        Shape::Quadrilateral => &[[0, 1], [1, 2], [3, 2], [0, 3]],
        Shape::Tetrahedron => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
        Shape::Hexahedron => {
            &[[0, 1], [1, 2], [3, 2], [0, 3], [4, 5], [5, 6], [7, 6], [4, 7], [0, 4], [1, 5], [2, 6], [3, 7]]
        }
        Shape::Prism => &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]],
        Shape::Pyramid => &[],
    }
}

/// Faces of solids by their vertices, in VTK's order: nodes are listed from the first vertex towards the
/// second (fast) and towards the last (slow).
fn faces(shape: Shape) -> &'static [&'static [usize]] {
    match shape {
        Shape::Tetrahedron => &[&[0, 1, 3], &[2, 3, 1], &[0, 3, 2], &[0, 2, 1]],
        Shape::Hexahedron => {
            &[&[0, 3, 7, 4], &[1, 2, 6, 5], &[0, 1, 5, 4], &[3, 2, 6, 7], &[0, 1, 2, 3], &[4, 5, 6, 7]]
        }
        Shape::Prism => &[&[0, 1, 2], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
        _ => &[],
    }
}

/// Integer coordinates of the nodes in VTK's order. Order 0 is one node.
fn nodes(shape: Shape, n: usize) -> Vec<[usize; 3]> {
    if n == 0 {
        return vec![[0; 3]];
    }
    // Vertices of the lattice: reference coordinates −1 and 1 are 0 and n, absent ones are 0.
    let corner = |v: usize| -> [usize; 3] {
        let x = shape.vertices()[v];
        std::array::from_fn(|d| if d < shape.dim() && x[d] > 0.0 { n } else { 0 })
    };
    let mut out: Vec<[usize; 3]> = (0..shape.n_vertices()).map(corner).collect();
    for &[a, b] in edges(shape) {
        out.extend((1..n).map(|m| between(n, corner(a), &[(corner(b), m)])));
    }
    for face in faces(shape) {
        let (origin, fast, slow) = (corner(face[0]), corner(face[1]), corner(face[face.len() - 1]));
        let inside = match (face.len(), shape) {
            (3, Shape::Prism) => rows(n),
            (3, _) => inside(Shape::Triangle, n),
            _ => inside(Shape::Quadrilateral, n),
        };
        out.extend(inside.iter().map(|&[i, j, _]| between(n, origin, &[(fast, i), (slow, j)])));
    }
    out.extend(inside(shape, n));
    out
}

/// Nodes strictly inside the shape, in VTK's order.
fn inside(shape: Shape, n: usize) -> Vec<[usize; 3]> {
    let inner = |m: Option<usize>, k: usize| {
        m.map(|m| nodes(shape, m)).unwrap_or_default().into_iter().map(move |[i, j, l]| [i + 1, j + 1, l + k])
    };
    match shape {
        Shape::Triangle => inner(n.checked_sub(3), 0).collect(),
        Shape::Tetrahedron => inner(n.checked_sub(4), 1).collect(),
        Shape::Prism => (1..n).flat_map(|k| rows(n).into_iter().map(move |[i, j, _]| [i, j, k])).collect(),
        Shape::Quadrilateral => (1..n).flat_map(|j| (1..n).map(move |i| [i, j, 0])).collect(),
        Shape::Hexahedron => {
            (1..n).flat_map(|k| (1..n).flat_map(move |j| (1..n).map(move |i| [i, j, k]))).collect()
        }
        // The nodes inside a line are those of its edge.
        Shape::Line | Shape::Pyramid => Vec::new(),
    }
}

/// Nodes strictly inside a triangle, row by row.
fn rows(n: usize) -> Vec<[usize; 3]> {
    (1..n).flat_map(|j| (1..n - j).map(move |i| [i, j, 0])).collect()
}

/// The node `m/n` of the way from `origin` towards each of the ends, with the displacements added.
fn between(n: usize, origin: [usize; 3], ends: &[([usize; 3], usize)]) -> [usize; 3] {
    // All vertices are at 0 or n, so n divides every product.
    std::array::from_fn(|d| {
        let forward: usize = ends.iter().map(|(end, m)| end[d] * m / n).sum();
        let backward: usize = ends.iter().map(|(_, m)| origin[d] * m / n).sum();
        origin[d] + forward - backward
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::lattice::{lattice, lattice_len};

    fn lagrange_shapes() -> impl Iterator<Item = Shape> {
        Shape::ALL.into_iter().filter(|&s| s != Shape::Pyramid)
    }

    #[test]
    fn every_order_is_a_permutation_of_the_lattice() {
        for shape in lagrange_shapes() {
            for n in 1..=10 {
                let mut nodes = lagrange_nodes(shape, n);
                nodes.sort_unstable();
                assert!(nodes.iter().copied().eq(0..lattice_len(shape, n)), "{shape} {n}");
            }
        }
    }

    #[test]
    fn vertices_come_first_and_edges_next() {
        for shape in lagrange_shapes() {
            let n = 4;
            let points = lattice(shape, n);
            let nodes = lagrange_nodes(shape, n);
            for (v, x) in shape.vertices().iter().enumerate() {
                assert_eq!(points[nodes[v]], *x, "{shape}");
            }
            for (e, &[a, b]) in edges(shape).iter().enumerate() {
                for m in 1..n {
                    let x = points[nodes[shape.n_vertices() + e * (n - 1) + m - 1]];
                    let w = m as f64 / n as f64;
                    let [a, b] = [a, b].map(|v| shape.vertices()[v]);
                    assert!(
                        (0..3).all(|d| (x[d] - (1.0 - w) * a[d] - w * b[d]).abs() < 1e-14),
                        "{shape} {e}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_triangles_of_a_prism_run_as_a_triangle_does() {
        let (triangle, prism) = (edges(Shape::Triangle), edges(Shape::Prism));
        assert_eq!(prism[..3], *triangle);
        assert!(prism[3..6].iter().zip(triangle).all(|(above, below)| *above == below.map(|v| v + 3)));
    }

    /// Rows of VTK numbers from top to bottom, as in the pictures.
    fn picture(shape: Shape, n: usize) -> Vec<Vec<usize>> {
        let mut number = vec![0; lattice_len(shape, n)];
        for (vtk, at) in lagrange_nodes(shape, n).into_iter().enumerate() {
            number[at] = vtk;
        }
        let mut rows = vec![Vec::new(); n + 1];
        for (at, [_, j, _]) in lattice_indices(shape, n).into_iter().enumerate() {
            rows[n - j].push(number[at]);
        }
        rows
    }

    #[test]
    fn the_pictures_of_the_documentation_are_true() {
        let triangle = picture(Shape::Triangle, 4);
        assert_eq!(
            triangle,
            [vec![2], vec![9, 8], vec![10, 14, 7], vec![11, 12, 13, 6], vec![0, 3, 4, 5, 1]]
        );
        let quadrilateral = picture(Shape::Quadrilateral, 3);
        assert_eq!(quadrilateral, [[3, 8, 9, 2], [11, 14, 15, 7], [10, 12, 13, 6], [0, 4, 5, 1]]);
    }
}
