//! Derivatives, Jacobians and volumes of curved elements.
//!
//! The map of an element is `x(r) = Σ_i ℓ_i(r) x_i` with the Lagrange basis `ℓ_i` of its lattice;
//! its Jacobian matrix has the columns `∂x/∂r_d`, and `J` is its determinant.

use dgsuite_basis::{LagrangeBasis, Matrix, Quadrature, Shape, lattice::lattice};
use rayon::prelude::*;

use crate::{Mesh, mesh::ElementSet, topology::axis_vertices};

/// The columns `∂x/∂r_d` at one point.
pub(crate) type Columns = [[f64; 3]; 3];

/// The basis of a shape's geometry at some points.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    dim: usize,
    grad: [Matrix; 3],
    n_points: usize,
}

impl Sampler {
    pub(crate) fn new(shape: Shape, order: usize, points: &[[f64; 3]]) -> Self {
        let grad = LagrangeBasis::new(shape, order).grad(points);
        Self { dim: shape.dim(), grad, n_points: points.len() }
    }

    pub(crate) const fn n_points(&self) -> usize {
        self.n_points
    }

    /// The columns at point `q` of the element with these nodes; in the plane the third is `e_z`.
    pub(crate) fn columns(&self, q: usize, points: &[[f64; 3]], nodes: &[u32]) -> Columns {
        let mut columns = [[0.0; 3], [0.0; 3], [0.0; 3]];
        for (d, column) in columns.iter_mut().enumerate().take(self.dim) {
            for (&w, &n) in self.grad[d].row(q).iter().zip(nodes) {
                for i in 0..3 {
                    column[i] += w * points[n as usize][i];
                }
            }
        }
        if self.dim == 2 {
            columns[2] = [0.0, 0.0, 1.0];
        }
        columns
    }
}

/// `a · (b × c)` of the columns.
pub(crate) fn determinant([a, b, c]: &Columns) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn norm(a: [f64; 3]) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

/// Points at which the variation of the Jacobian is measured.
///
/// One point for straight simplices, the corners for straight quadrilaterals (where that is exact), otherwise
/// a lattice one order finer than the geometry, and at least of order 2. The apex of a pyramid is omitted:
/// the Jacobian matrix is not unique there.
pub(crate) fn sample_points(shape: Shape, order: usize) -> Vec<[f64; 3]> {
    match (shape, order) {
        (Shape::Triangle | Shape::Tetrahedron, 1) => lattice(shape, 0),
        (Shape::Quadrilateral, 1) => lattice(shape, 1),
        _ => {
            let mut points = lattice(shape, order + 1);
            if shape == Shape::Pyramid {
                points.retain(|x| x[2] < 1.0 - 1e-9);
            }
            points
        }
    }
}

/// Quadrature that integrates the Jacobian of a geometry of this order exactly.
pub(crate) fn volume_rule(shape: Shape, order: usize) -> Quadrature {
    let degree = match shape {
        Shape::Triangle | Shape::Tetrahedron => shape.dim() * (order - 1),
        Shape::Pyramid => 3 * order + 1,
        _ => shape.dim() * order - 1,
    };
    Quadrature::new(shape, degree)
}

/// Volumes of the elements of a set.
pub(crate) fn set_volumes(points: &[[f64; 3]], set: &ElementSet) -> Vec<f64> {
    let rule = volume_rule(set.shape, set.order);
    let sampler = Sampler::new(set.shape, set.order, &rule.points);
    let volume = |nodes: &[u32]| {
        let at = |(q, w): (usize, &f64)| w * determinant(&sampler.columns(q, points, nodes));
        rule.weights.iter().enumerate().map(at).sum()
    };
    set.nodes.par_chunks(set.nodes_per_element()).map(volume).collect()
}

impl Mesh {
    /// Volume (in the plane: area) of each element, by global index.
    ///
    /// `|E| = ∫ J dr`, with a rule that is exact for the element's polynomial geometry.
    #[must_use]
    pub fn volumes(&self) -> Vec<f64> {
        self.sets.iter().flat_map(|set| set_volumes(&self.points, set)).collect()
    }

    /// True if element `i` of set `set` is an affine image of its reference shape, up to `tolerance`
    /// times its diameter.
    #[must_use]
    pub fn is_affine(&self, set: usize, i: usize, tolerance: f64) -> bool {
        let s = &self.sets[set];
        if s.order == 1 && matches!(s.shape, Shape::Triangle | Shape::Tetrahedron) {
            return true;
        }
        let v = dgsuite_basis::lattice::lattice_vertices(s.shape, s.order);
        let nodes = self.element_nodes(set, i);
        let at = |n: usize| self.points[nodes[n] as usize];
        let origin = at(v[0]);
        let mut columns: Columns = [[0.0; 3]; 3];
        for (d, &along) in axis_vertices(s.shape).iter().enumerate() {
            let x = at(v[along]);
            for j in 0..3 {
                columns[d][j] = 0.5 * (x[j] - origin[j]);
            }
        }
        if s.shape == Shape::Pyramid {
            // The apex lies above the centre of the base, not above vertex 0.
            for j in 0..3 {
                columns[2][j] -= 0.5 * (columns[0][j] + columns[1][j]);
            }
        }
        let size = (0..s.shape.dim()).map(|d| 2.0 * norm(columns[d])).fold(0.0, f64::max);
        let r0 = s.shape.vertices()[0];
        lattice(s.shape, s.order).iter().enumerate().all(|(n, r)| {
            let x = at(n);
            (0..3).all(|j| {
                let y: f64 = (0..3).map(|d| columns[d][j] * (r[d] - r0[d])).sum();
                (origin[j] + y - x[j]).abs() <= tolerance * size
            })
        })
    }
}
