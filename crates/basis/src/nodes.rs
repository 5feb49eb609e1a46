//! Interpolation nodes: warp & blend, Gauss–Legendre, Gauss–Lobatto and equispaced.

mod warp_blend;

use crate::{BasisError, OrthonormalBasis, Polynomials, Quadrature, Shape, jacobi, lattice};

/// A family of interpolation nodes.
///
/// | shape | `WarpBlend` | `GaussLegendre` | `GaussLobatto` | `Equispaced` |
/// |---|---|---|---|---|
/// | line | Lobatto points | Gauss | Lobatto | equispaced |
/// | triangle, tetrahedron | warp & blend | cubature points | – | equispaced |
/// | quadrilateral, hexahedron | – | Gauss | Lobatto | equispaced |
/// | prism | warp & blend × Lobatto | warp & blend × Gauss | warp & blend × Lobatto | equispaced |
/// | pyramid | – | – | – | equispaced |
///
/// In one dimension warp & blend *is* Gauss–Lobatto. On the line and the prism `WarpBlend` and `GaussLobatto`
/// have the same nodes but different collocated mass matrices: exact along the line for the first, lumped for
/// the second.
///
/// The cubature points of simplices are the points of the symmetric rule with exactly as many points as the
/// space has dimensions: triangles of orders 1, 2 and 4, tetrahedra of orders 1 and 4 (exact to degree 2p − 1
/// at least). Where the tables have no such rule, or its points are badly conditioned as nodes, warp & blend
/// nodes are used instead.
///
/// The triangle of a prism has the nodes of a tetrahedron's face, so that the two meet node to node. From
/// order 4 on these differ from the nodes of the triangle as a cell, which has its own blending parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeSet {
    /// Warburton's explicit nodes on simplices (2006).
    WarpBlend,
    /// Gauss–Legendre points, inside the element; on simplices points of a symmetric cubature.
    GaussLegendre,
    /// Gauss–Lobatto points, with nodes on every face.
    GaussLobatto,
    /// The lattice of [`crate::lattice`]; for geometry and output, ill-conditioned at high order.
    Equispaced,
}

/// Cubature points with a larger condition number of the Vandermonde matrix are not used as nodes.
const WORST_CONDITION: f64 = 100.0;

impl NodeSet {
    /// Every family.
    pub const ALL: [Self; 4] = [Self::WarpBlend, Self::GaussLegendre, Self::GaussLobatto, Self::Equispaced];

    /// The name in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarpBlend => "warp & blend",
            Self::GaussLegendre => "Gauss–Legendre",
            Self::GaussLobatto => "Gauss–Lobatto",
            Self::Equispaced => "equispaced",
        }
    }

    /// True if the family is defined on the shape.
    #[must_use]
    pub const fn is_defined_on(self, shape: Shape) -> bool {
        match shape {
            Shape::Line | Shape::Prism => true,
            Shape::Triangle | Shape::Tetrahedron => !matches!(self, Self::GaussLobatto),
            Shape::Quadrilateral | Shape::Hexahedron => !matches!(self, Self::WarpBlend),
            Shape::Pyramid => matches!(self, Self::Equispaced),
        }
    }
}

impl std::fmt::Display for NodeSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The `order + 1` nodes of the line, in increasing order; one node at 0 for order 0.
#[must_use]
pub fn line_nodes(order: usize, set: NodeSet) -> Vec<f64> {
    match set {
        _ if order == 0 => vec![0.0],
        NodeSet::GaussLegendre => jacobi::gauss_legendre(order + 1).0,
        NodeSet::GaussLobatto | NodeSet::WarpBlend => jacobi::gauss_lobatto(order + 1).0,
        NodeSet::Equispaced => lattice::lattice(Shape::Line, order).iter().map(|x| x[0]).collect(),
    }
}

/// The nodes of a family in reference coordinates: `r` fastest, then `s`, then `t` (prism: the triangle's
/// nodes fastest). Simplices are in lattice order, cubature points by orbits. Order 0 has one node, the
/// centroid.
///
/// ```
/// use dgsuite_basis::{NodeSet, Shape, nodes::nodes};
/// assert_eq!(nodes(Shape::Tetrahedron, 3, NodeSet::WarpBlend)?.len(), 20);
/// assert!(nodes(Shape::Triangle, 3, NodeSet::GaussLobatto).is_err());
/// # Ok::<(), dgsuite_basis::BasisError>(())
/// ```
///
/// # Errors
/// [`BasisError::UnsupportedNodes`] where [`NodeSet`] has a dash.
pub fn nodes(shape: Shape, order: usize, set: NodeSet) -> Result<Vec<[f64; 3]>, BasisError> {
    if !set.is_defined_on(shape) {
        return Err(BasisError::UnsupportedNodes { shape, set });
    }
    if order == 0 || set == NodeSet::Equispaced {
        return Ok(lattice::lattice(shape, order));
    }
    let line = line_nodes(order, set);
    if let (Shape::Triangle | Shape::Tetrahedron, NodeSet::GaussLegendre) = (shape, set)
        && let Some(points) = cubature_points(shape, order)
    {
        return Ok(points);
    }
    Ok(match shape {
        Shape::Triangle => warp_blend::triangle(order),
        Shape::Tetrahedron => warp_blend::tetrahedron(order),
        Shape::Prism => product(&solid_face(order, set), &line, 2),
        _ => {
            let mut points = vec![[0.0; 3]];
            for d in 0..shape.dim() {
                points = product(&points, &line, d);
            }
            points
        }
    })
}

/// The points of the symmetric rule on a simplex that has as many of them as the space has dimensions.
fn cubature_points(shape: Shape, order: usize) -> Option<Vec<[f64; 3]>> {
    let modes = OrthonormalBasis::new(shape, order, Polynomials::Total);
    let degrees = (2 * order).saturating_sub(1)..=2 * order;
    let rule = degrees.map(|d| Quadrature::symmetric(shape, d)).find(|rule| rule.len() == modes.len())?;
    let values = modes.eval(&rule.points).singular_values()?;
    let (least, largest) =
        values.iter().fold((f64::INFINITY, 0.0), |(l, g): (f64, f64), &v| (l.min(v), g.max(v)));
    (largest < WORST_CONDITION * least).then_some(rule.points)
}

/// The nodes of a triangular face of a tetrahedron or prism, in the face's frame.
pub(crate) fn solid_face(order: usize, set: NodeSet) -> Vec<[f64; 3]> {
    match set {
        NodeSet::Equispaced => lattice::lattice(Shape::Triangle, order),
        _ if order == 0 => lattice::lattice(Shape::Triangle, 0),
        _ => warp_blend::tetrahedron_face(order),
    }
}

/// `base × line`, the line along coordinate `d`, the base's points fastest.
pub(crate) fn product(base: &[[f64; 3]], line: &[f64], d: usize) -> Vec<[f64; 3]> {
    let mut out = Vec::with_capacity(base.len() * line.len());
    for &x in line {
        for &point in base {
            let mut point = point;
            point[d] = x;
            out.push(point);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_sets_have_the_size_of_the_space_and_lie_inside() {
        for shape in Shape::ALL {
            for set in NodeSet::ALL {
                for order in 0..=10 {
                    let result = nodes(shape, order, set);
                    if !set.is_defined_on(shape) {
                        assert_eq!(result, Err(BasisError::UnsupportedNodes { shape, set }));
                        continue;
                    }
                    let points = result.unwrap();
                    assert_eq!(points.len(), lattice::lattice_len(shape, order), "{shape} {set}");
                    assert!(points.iter().all(|&x| shape.contains(x, 1e-14)), "{shape} {set} {order}");
                }
            }
        }
    }

    #[test]
    fn simplices_have_their_cubature_points() {
        let has = |shape, order| {
            let gauss = nodes(shape, order, NodeSet::GaussLegendre).unwrap();
            let inside = |x: &[f64; 3]| shape.contains(*x, -1e-6);
            let good = gauss.iter().all(inside);
            assert!(good || gauss == nodes(shape, order, NodeSet::WarpBlend).unwrap());
            good
        };
        let orders = |shape| (1..=10).filter(|&p| has(shape, p)).collect::<Vec<_>>();
        assert_eq!(orders(Shape::Triangle), [1, 2, 4]);
        assert_eq!(orders(Shape::Tetrahedron), [1, 4]);
    }

    #[test]
    fn warp_and_blend_edges_are_gauss_lobatto_points() {
        for shape in [Shape::Triangle, Shape::Tetrahedron] {
            for order in 1..=12 {
                let points = nodes(shape, order, NodeSet::WarpBlend).unwrap();
                let (lobatto, _) = jacobi::gauss_lobatto(order + 1);
                for [a, b] in shape.edges() {
                    let (a, b) = (shape.vertices()[*a], shape.vertices()[*b]);
                    for x in &lobatto {
                        let on: [f64; 3] =
                            std::array::from_fn(|d| 0.5 * ((1.0 - x) * a[d] + (1.0 + x) * b[d]));
                        let near = |p: &&[f64; 3]| (0..3).all(|d| (p[d] - on[d]).abs() < 1e-13);
                        assert_eq!(points.iter().filter(near).count(), 1, "{shape} {order}");
                    }
                }
            }
        }
    }

    #[test]
    fn faces_of_tetrahedra_and_prisms_carry_the_same_nodes() {
        for order in 1..=12 {
            let triangle = solid_face(order, NodeSet::WarpBlend);
            for (shape, faces) in [(Shape::Tetrahedron, 0..4), (Shape::Prism, 0..2)] {
                let solid = nodes(shape, order, NodeSet::WarpBlend).unwrap();
                for face in faces {
                    for &x in &triangle {
                        let on = shape.face_point(face, x);
                        let near = |p: &&[f64; 3]| (0..3).all(|d| (p[d] - on[d]).abs() < 1e-13);
                        assert_eq!(solid.iter().filter(near).count(), 1, "{shape} {order}");
                    }
                }
            }
        }
    }

    #[test]
    fn interior_nodes_of_order_five_are_the_tabulated_ones() {
        // Tetrahedron, α = 1.5608: coordinates in the `alpha-opt` table of PyFR 3.1 (n = 56).
        let solid = nodes(Shape::Tetrahedron, 5, NodeSet::WarpBlend).unwrap();
        for x in [
            [-0.622331815219382, -0.622331815219382, -0.133004554341855],
            [-0.68854346464994, 0.377086929299879, -1.0],
            [-0.668495612639582, -0.165752193680209, -0.165752193680209],
        ] {
            assert!(solid.iter().any(|p| (0..3).all(|d| (p[d] - x[d]).abs() < 1e-13)), "{x:?}");
        }
    }
}
