//! Values, derivatives and loads at the points of boundaries, as sparse matrices for vectors of the operator.
//!
//! Splitting schemes for incompressible flow exchange data between velocity and pressure at boundaries: they
//! evaluate `u`, `∂u/∂x_d` or `n·∇×∇×u` there, and test prescribed values with `φ` or with the Dirichlet form
//! `2τφ − ∂φ/∂n` of the interior penalty method. All of these maps act on the elements at the boundary alone
//! and do not change in time, so they are stored.

use super::space::ElementTerms;
use super::{Beyond, Sipdg, Space};
use crate::lanes::simd::PackScalar;
use crate::space::positions::positions;
use dgsuite_basis::Matrix;
use std::convert::Infallible;

/// An entry of a sparse matrix: row, column, value.
pub type Triplet = (usize, usize, f64);

/// The cubature points of some boundaries, and the maps between functions there and vectors of an operator,
/// see [`Sipdg::boundary_points`].
///
/// Matrices are lists of entries without zeros. *Rows* of evaluations and *columns* of loads are points;
/// columns of evaluations and rows of loads are entries of the operator's vectors.
#[derive(Clone, Debug, Default)]
pub struct BoundaryPoints {
    /// The element of each point, numbered as in the mesh.
    pub elements: Vec<u32>,
    /// Positions.
    pub points: Vec<[f64; 3]>,
    /// Outward unit normals.
    pub normals: Vec<[f64; 3]>,
    /// Weights of the cubature times `sJ`.
    pub weights: Vec<f64>,
    /// The index of each point's boundary in the list of names.
    pub boundary: Vec<u32>,
    /// `κ_f` of each point.
    kappa: Vec<f64>,
    /// The penalty τ of each point's face.
    tau: Vec<f64>,
    dim: usize,
    /// For each point, the rows of its element in vectors, and the values and derivatives of the functions.
    rows: Vec<PointRows>,
}

/// The functions of one element at one point.
#[derive(Clone, Debug)]
struct PointRows {
    entries: Vec<u32>,
    values: Vec<f64>,
    gradient: [Vec<f64>; 3],
    /// `n·∇×∇×u` of the component c of u.
    double_curl: [Vec<f64>; 3],
}

impl BoundaryPoints {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    fn evaluation(&self, row: impl Fn(&PointRows) -> &[f64]) -> Vec<Triplet> {
        let mut all = Vec::new();
        for (q, rows) in self.rows.iter().enumerate() {
            let entries = rows.entries.iter().zip(row(rows)).filter(|(_, v)| **v != 0.0);
            all.extend(entries.map(|(&i, &v)| (q, i as usize, v)));
        }
        all
    }

    /// The matrix of `u`.
    #[must_use]
    pub fn value(&self) -> Vec<Triplet> {
        self.evaluation(|rows| &rows.values)
    }

    /// The matrix of `∂u/∂x_d`.
    ///
    /// # Panics
    /// If `d` is not below 3.
    #[must_use]
    pub fn derivative(&self, d: usize) -> Vec<Triplet> {
        self.evaluation(|rows| &rows.gradient[d])
    }

    /// The matrix of the share of component `c` of a vector field `u` in `n·∇×∇×u`. The curl is evaluated
    /// element by element; ω = ∇×u is projected to the functions of the element before its curl.
    ///
    /// # Panics
    /// If `c` is not below 3.
    #[must_use]
    pub fn double_curl(&self, c: usize) -> Vec<Triplet> {
        self.evaluation(|rows| &rows.double_curl[c])
    }

    /// The matrix of the load `⟨g, φ⟩`.
    #[must_use]
    pub fn load(&self) -> Vec<Triplet> {
        let mut all = self.value();
        all.iter_mut().for_each(|(q, i, v)| (*q, *i, *v) = (*i, *q, *v * self.weights[*q]));
        all
    }

    /// The matrix of the load of Dirichlet data, `⟨κ g, 2τφ − ∂φ/∂n⟩`.
    #[must_use]
    pub fn dirichlet_load(&self) -> Vec<Triplet> {
        let mut all = Vec::new();
        for (q, rows) in self.rows.iter().enumerate() {
            let (n, w) = (self.normals[q], self.kappa[q] * self.weights[q]);
            for (k, (&i, phi)) in rows.entries.iter().zip(&rows.values).enumerate() {
                let slope: f64 = (0..self.dim).map(|d| n[d] * rows.gradient[d][k]).sum();
                let v = w * (2.0 * self.tau[q] * phi - slope);
                if v != 0.0 {
                    all.push((i as usize, q, v));
                }
            }
        }
        all
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// The points of the boundaries of the mesh with these names, in the order of the mesh's elements. Names
    /// that the mesh does not have are ignored.
    #[must_use]
    pub fn boundary_points(&self, names: &[&str]) -> BoundaryPoints {
        let space = &self.space;
        let mesh = &space.problem.mesh;
        let wanted: Vec<Option<usize>> =
            mesh.boundaries.iter().map(|tag| names.iter().position(|n| *n == tag.name)).collect();
        let Ok(faces) = space.in_pieces(|element, all: &mut Vec<BoundaryPoints>| {
            let mut terms = None;
            for face in 0..mesh.shape(element).n_faces() {
                let Beyond::Boundary(b) = space.across(element, face) else { continue };
                let Some(boundary) = wanted.get(b as usize).copied().flatten() else { continue };
                let (terms, gradients) = terms.get_or_insert_with(|| {
                    let terms = space.terms(element);
                    let gradients = space.nodal_gradients(element, &terms);
                    (terms, gradients)
                });
                all.push(space.points_of_face((element, face), boundary, terms, gradients));
            }
            Ok::<(), Infallible>(())
        });
        let mut out = BoundaryPoints { dim: mesh.dim, ..BoundaryPoints::default() };
        for mut face in faces {
            out.elements.append(&mut face.elements);
            out.points.append(&mut face.points);
            out.normals.append(&mut face.normals);
            out.weights.append(&mut face.weights);
            out.boundary.append(&mut face.boundary);
            out.kappa.append(&mut face.kappa);
            out.tau.append(&mut face.tau);
            out.rows.append(&mut face.rows);
        }
        out
    }
}

impl<T: PackScalar> Space<T> {
    /// The functions whose nodal values are `∂u/∂x_l`, projected to the element: `[l][node × node]`.
    fn nodal_gradients(&self, element: usize, terms: &ElementTerms) -> Vec<Matrix> {
        let reference = &self.tables_of(element).reference;
        let (np, dim) = (reference.n_basis, self.problem.mesh.dim);
        let at_points = |l: usize, weigh: &dyn Fn(usize) -> f64| {
            Matrix::from_fn(terms.metric.len(), np, |q, i| {
                let d = (0..dim).map(|d| terms.metric[q][d][l] * reference.derivative[d][(q, i)]);
                weigh(q) * d.sum::<f64>()
            })
        };
        if reference.tensor.is_some() {
            // The volume points are the nodes.
            return (0..dim).map(|l| at_points(l, &|_| 1.0)).collect();
        }
        let test = reference.interp_volume.transpose();
        // The mass matrix is regular: weights and Jacobians are positive, which was checked during set-up.
        let inverse = self.mass_block(element).inverse().unwrap_or_else(|_| Matrix::zeros(np, np));
        (0..dim).map(|l| inverse.mul(&test.mul(&at_points(l, &|q| terms.jw[q])))).collect()
    }

    fn points_of_face(
        &self,
        (element, face): (usize, usize),
        boundary: usize,
        terms: &ElementTerms,
        gradients: &[Matrix],
    ) -> BoundaryPoints {
        let tables = self.tables_of(element);
        let reference = &tables.reference;
        let (np, dim) = (reference.n_basis, self.problem.mesh.dim);
        let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
        let (tau, kappa) = self.face_coefficients(element, face);
        let (first, stride) = self.rows(element);
        let entries: Vec<u32> = (0..np).map(|i| (first + i * stride) as u32).collect();
        let rows = range.clone().map(|q| {
            let (normal, metric) = (terms.face[q].normal, &terms.face[q].metric);
            let along = |x: usize| -> Vec<f64> {
                let slope = |i: usize| {
                    (0..dim).map(|d| metric[d][x] * tables.face_derivative[d][(q, i)]).sum::<f64>()
                };
                if x < dim { (0..np).map(slope).collect() } else { Vec::new() }
            };
            let gradient = [along(0), along(1), along(2)];
            // (∇×∇×u)_i = ∂_j ∂_i u_j − ∂_j ∂_j u_i; the outer derivative is taken of projected functions.
            let mut double_curl = [const { Vec::new() }; 3];
            for (c, out) in double_curl.iter_mut().enumerate().take(dim) {
                *out = vec![0.0; np];
                for j in 0..dim {
                    add_product(normal[j], &gradient[c], &gradients[j], out);
                    add_product(-normal[c], &gradient[j], &gradients[j], out);
                }
            }
            let values = reference.interp_face.row(q).to_vec();
            PointRows { entries: entries.clone(), values, gradient, double_curl }
        });
        let n = range.len();
        BoundaryPoints {
            elements: vec![element as u32; n],
            points: positions(&self.problem.mesh, element, &reference.face_points[range.clone()]),
            normals: range.clone().map(|q| terms.face[q].normal).collect(),
            weights: range.map(|q| terms.face[q].weight).collect(),
            boundary: vec![boundary as u32; n],
            kappa,
            tau: vec![tau; n],
            dim,
            rows: rows.collect(),
        }
    }
}

/// `out ← out + factor rowᵀ A`.
fn add_product(factor: f64, row: &[f64], a: &Matrix, out: &mut [f64]) {
    if factor == 0.0 {
        return;
    }
    for (i, r) in row.iter().enumerate().filter(|(_, r)| **r != 0.0) {
        for (out, v) in out.iter_mut().zip(a.row(i)) {
            *out += factor * r * v;
        }
    }
}
