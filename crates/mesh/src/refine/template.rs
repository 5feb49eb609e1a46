//! Templates of refinement: the children's nodes on the parent's finer lattice.

use dgsuite_basis::{Shape, lattice::lattice};

use crate::topology::{Lattice, axis_vertices, position};

type X = [f64; 3];

/// One child.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) shape: Shape,
    /// For each lattice node of the child the node of the parent's finer lattice.
    pub(crate) nodes: Vec<usize>,
}

/// One way to split a shape.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) children: Vec<Child>,
    /// For each face of the parent the children's faces on it, as (child, face).
    pub(crate) sides: Vec<Vec<(usize, u8)>>,
    /// Ends of the inner diagonal of a tetrahedron, on the finer lattice.
    pub(crate) diagonal: Option<[usize; 2]>,
}

impl Template {
    /// All ways to split `shape` with geometry of order `order`; `fine` has twice the order.
    pub(crate) fn all(shape: Shape, order: usize, fine: &Lattice) -> Vec<Self> {
        let find = |x: X| position(&fine.points, x).unwrap_or_else(|| panic!("{shape}: no node at {x:?}"));
        let build = |(children, diagonal): (Vec<(Shape, Vec<X>)>, Option<[X; 2]>)| {
            let children: Vec<Child> = children
                .into_iter()
                .map(|(shape, corners)| {
                    let place = |&r: &X| find(affine(shape, &corners, r));
                    Child { shape, nodes: lattice(shape, order).iter().map(place).collect() }
                })
                .collect();
            let sides = fine.faces.iter().map(|on| sides_on(&children, order, on)).collect();
            Self { children, sides, diagonal: diagonal.map(|d| d.map(find)) }
        };
        split(shape).into_iter().map(build).collect()
    }

    /// Children of one shape.
    pub(crate) fn count(&self, shape: Shape) -> usize {
        self.children.iter().filter(|c| c.shape == shape).count()
    }

    /// Number of a child among the children of its shape.
    pub(crate) fn rank(&self, child: usize) -> usize {
        let shape = self.children[child].shape;
        self.children[..child].iter().filter(|c| c.shape == shape).count()
    }
}

/// The children's faces whose vertices all lie on one face of the parent.
fn sides_on(children: &[Child], order: usize, on: &[usize]) -> Vec<(usize, u8)> {
    let mut out = Vec::new();
    for (c, child) in children.iter().enumerate() {
        let lattice = Lattice::new(child.shape, order);
        for f in 0..child.shape.n_faces() {
            if lattice.face_vertices(f).into_iter().all(|l| on.contains(&child.nodes[l])) {
                out.push((c, f as u8));
            }
        }
    }
    out
}

/// The point `r` of a shape whose corners are an affine image of the reference corners.
fn affine(shape: Shape, corners: &[X], r: X) -> X {
    let mut x = corners[0];
    let r0 = shape.vertices()[0];
    let mut columns = [[0.0; 3]; 3];
    for (d, &v) in axis_vertices(shape).iter().enumerate() {
        columns[d] = std::array::from_fn(|j| 0.5 * (corners[v][j] - corners[0][j]));
    }
    if shape == Shape::Pyramid {
        // The apex lies above the centre of the base.
        columns[2] = std::array::from_fn(|j| columns[2][j] - 0.5 * (columns[0][j] + columns[1][j]));
    }
    for d in 0..shape.dim() {
        (0..3).for_each(|j| x[j] += columns[d][j] * (r[d] - r0[d]));
    }
    x
}

fn middle(a: X, b: X) -> X {
    std::array::from_fn(|d| 0.5 * (a[d] + b[d]))
}

/// Children of the reference shape by their corners, and the diagonal that distinguishes the splittings.
fn split(shape: Shape) -> Vec<(Vec<(Shape, Vec<X>)>, Option<[X; 2]>)> {
    let v = shape.vertices();
    // Copies at half the size, one in each corner: all children of a product shape, some of the others.
    let corner = |i: usize| (shape, v.iter().map(|&x| middle(v[i], x)).collect::<Vec<X>>());
    let mut children: Vec<(Shape, Vec<X>)> = (0..v.len()).map(corner).collect();
    let m = |i: usize, j: usize| middle(v[i], v[j]);
    match shape {
        Shape::Line | Shape::Quadrilateral | Shape::Hexahedron => {}
        Shape::Triangle => children.push((shape, vec![m(1, 2), m(0, 2), m(0, 1)])),
        Shape::Prism => {
            let turned = [m(1, 2), m(0, 2), m(0, 1)];
            for t in [-1.0, 0.0] {
                let level = |t: f64| turned.map(|x| [x[0], x[1], t]);
                children.push((shape, [level(t), level(t + 1.0)].concat()));
            }
        }
        Shape::Tetrahedron => {
            // Each diagonal of the octahedron in the centre, and the ring of edges around it.
            let ways = [
                ([m(0, 1), m(2, 3)], [m(0, 2), m(1, 2), m(1, 3), m(0, 3)]),
                ([m(0, 2), m(1, 3)], [m(0, 1), m(1, 2), m(2, 3), m(0, 3)]),
                ([m(0, 3), m(1, 2)], [m(0, 1), m(0, 2), m(2, 3), m(1, 3)]),
            ];
            return ways
                .into_iter()
                .map(|(diagonal, ring)| {
                    let mut all = children.clone();
                    for i in 0..4 {
                        let [a, b] = diagonal;
                        all.push((shape, positive([a, b, ring[i], ring[(i + 1) % 4]])));
                    }
                    (all, Some(diagonal))
                })
                .collect();
        }
        Shape::Pyramid => {
            let below = m(0, 2);
            let ring = [m(0, 4), m(1, 4), m(2, 4), m(3, 4)];
            children.push((shape, vec![ring[0], ring[3], ring[2], ring[1], below]));
            for i in 0..4 {
                let j = (i + 1) % 4;
                children.push((Shape::Tetrahedron, positive([m(i, j), ring[i], ring[j], below])));
            }
        }
    }
    vec![(children, None)]
}

/// The corners of a tetrahedron in an order with positive volume.
fn positive([a, b, c, d]: [X; 4]) -> Vec<X> {
    let u = |x: X| -> X { std::array::from_fn(|i| x[i] - a[i]) };
    if crate::geometry::determinant(&[u(b), u(c), u(d)]) > 0.0 { vec![a, b, c, d] } else { vec![a, c, b, d] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_fill_the_parent_and_its_faces() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
            for order in 1..=3 {
                let fine = Lattice::new(shape, 2 * order);
                for template in Template::all(shape, order, &fine) {
                    let mut volume = 0.0;
                    for child in &template.children {
                        let coarse = Lattice::new(child.shape, order);
                        let at = |v: usize| fine.points[child.nodes[coarse.vertices[v]]];
                        let mut columns = [[0.0; 3], [0.0; 3], [0.0, 0.0, 1.0]];
                        for (d, &v) in axis_vertices(child.shape).iter().enumerate() {
                            columns[d] = std::array::from_fn(|j| 0.5 * (at(v)[j] - at(0)[j]));
                        }
                        let j = crate::geometry::determinant(&columns);
                        assert!(j > 0.0, "{shape}: a child is turned over");
                        volume += j * child.shape.measure();
                    }
                    assert!((volume - shape.measure()).abs() < 1e-14, "{shape}: {volume}");
                    for f in 0..shape.n_faces() {
                        let expected = if shape.dim() == 2 { 2 } else { 4 };
                        assert_eq!(template.sides[f].len(), expected, "{shape} face {f}");
                    }
                }
            }
        }
    }
}
