//! Values, derivatives and loads at the points of boundaries, as sparse matrices for vectors of the operator.
//!
//! Splitting schemes for incompressible flow exchange data between velocity and pressure at boundaries: they
//! evaluate `u`, `∂u/∂x_d` or `n·∇×∇×u` there, and test prescribed values with `φ` or with the Dirichlet form
//! `2τφ − ∂φ/∂n` of the interior penalty method. All of these maps act on the elements at the boundary alone
//! and do not change in time, so they are stored.

pub(super) mod above;
pub(super) mod sparse_row;

use self::sparse_row::{RowSum, SparseRow, sparse};
use super::space::ElementTerms;
use super::tables::Tables;
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
    /// For each point, the values and derivatives of the functions of its element.
    rows: Vec<PointRows>,
}

/// The functions of one element at one point, by entries of vectors.
#[derive(Clone, Debug)]
struct PointRows {
    values: SparseRow,
    gradient: [SparseRow; 3],
    /// `∂/∂n`.
    slope: SparseRow,
    /// `n·∇×∇×u` of the component c of u.
    double_curl: [SparseRow; 3],
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

    fn evaluation(&self, row: impl Fn(&PointRows) -> &SparseRow) -> Vec<Triplet> {
        let mut all = Vec::with_capacity(self.rows.iter().map(|rows| row(rows).len()).sum());
        for (q, rows) in self.rows.iter().enumerate() {
            all.extend(row(rows).iter().map(|&(i, v)| (q, i as usize, v)));
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
            let w = self.kappa[q] * self.weights[q];
            let (mut values, mut slopes) = (rows.values.iter().peekable(), rows.slope.iter().peekable());
            while let Some(i) = values.peek().into_iter().chain(slopes.peek()).map(|(i, _)| *i).min() {
                let phi = values.next_if(|(of, _)| *of == i).map_or(0.0, |(_, v)| *v);
                let slope = slopes.next_if(|(of, _)| *of == i).map_or(0.0, |(_, v)| *v);
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
        if wanted.iter().all(Option::is_none) {
            return BoundaryPoints::default();
        }
        let rows: Vec<Vec<Derivatives>> =
            space.tables.iter().map(|parts| parts.iter().map(Derivatives::new).collect()).collect();
        let Ok(faces) = space.in_pieces(|element, all: &mut Vec<BoundaryPoints>| {
            let mut terms = None;
            for face in 0..mesh.shape(element).n_faces() {
                let Beyond::Boundary(b) = space.across(element, face) else { continue };
                let Some(boundary) = wanted.get(b as usize).copied().flatten() else { continue };
                let (g, p) = space.part_of(element);
                let rows = &rows[g][p];
                let (terms, gradients) = terms.get_or_insert_with(|| {
                    let terms = space.terms(element);
                    let gradients = space.nodal_gradients(element, &terms, rows);
                    (terms, gradients)
                });
                all.push(space.points_of_face((element, face), boundary, terms, (rows, gradients)));
            }
            Ok::<(), Infallible>(())
        });
        let mut out = BoundaryPoints::default();
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

/// The derivatives of the functions of a reference element, by rows, `[d][point]`.
struct Derivatives {
    /// At the nodes of tensor elements, which are the volume points.
    volume: Vec<Vec<SparseRow>>,
    face: Vec<Vec<SparseRow>>,
}

impl Derivatives {
    fn new(tables: &Tables) -> Self {
        let reference = &tables.reference;
        let dim = reference.spec.shape.dim();
        let rows = |a: &Matrix| (0..a.rows()).map(|q| sparse(a.row(q), |i| i as u32)).collect();
        let of = |all: &[Matrix]| all[..dim].iter().map(rows).collect();
        let volume = if reference.tensor.is_some() { of(&reference.derivative) } else { Vec::new() };
        Self { volume, face: of(&tables.face_derivative) }
    }
}

impl<T: PackScalar> Space<T> {
    /// The functions whose nodal values are `∂u/∂x_l`, projected to the element: rows of `[l][node × node]`.
    fn nodal_gradients(
        &self,
        element: usize,
        terms: &ElementTerms,
        rows: &Derivatives,
    ) -> Vec<Vec<SparseRow>> {
        let reference = &self.tables_of(element).reference;
        let (np, dim) = (reference.n_basis, self.problem.mesh.dim);
        if reference.tensor.is_some() {
            let mut sum = RowSum::new(np);
            let mut row = |l: usize, q: usize| {
                let factors = terms.metric[q].map(|d| d[l]);
                sum.of(&factors[..dim], |d| &rows.volume[d][q])
            };
            return (0..dim).map(|l| (0..np).map(|q| row(l, q)).collect()).collect();
        }
        let at_points = |l: usize| {
            Matrix::from_fn(terms.metric.len(), np, |q, i| {
                let d = (0..dim).map(|d| terms.metric[q][d][l] * reference.derivative[d][(q, i)]);
                terms.jw[q] * d.sum::<f64>()
            })
        };
        let test = reference.interp_volume.transpose();
        // The mass matrix is regular: weights and Jacobians are positive, which was checked during set-up.
        let inverse = self.mass_block(element).inverse().unwrap_or_else(|_| Matrix::zeros(np, np));
        let rows = |a: Matrix| (0..np).map(|i| sparse(a.row(i), |j| j as u32)).collect();
        (0..dim).map(|l| rows(inverse.mul(&test.mul(&at_points(l))))).collect()
    }

    fn points_of_face(
        &self,
        (element, face): (usize, usize),
        boundary: usize,
        terms: &ElementTerms,
        (rows, gradients): (&Derivatives, &[Vec<SparseRow>]),
    ) -> BoundaryPoints {
        let reference = &self.tables_of(element).reference;
        let dim = self.problem.mesh.dim;
        let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
        let (tau, kappa) = self.face_coefficients(element, face);
        let (first, stride) = self.rows(element);
        let entry = |i: usize| (first + i * stride) as u32;
        let in_vectors = |row: SparseRow| row.into_iter().map(|(i, v)| (entry(i as usize), v)).collect();
        let mut sum = RowSum::new(reference.n_basis);
        let rows = range.clone().map(|q| {
            let (normal, metric) = (terms.face[q].normal, &terms.face[q].metric);
            let row = |factors: [f64; 3], sum: &mut RowSum| sum.of(&factors[..dim], |d| &rows.face[d][q]);
            // For axes that the space does not have, rows are empty.
            let gradient = [0, 1, 2].map(|x| row([0, 1, 2].map(|d| metric[d][x]), &mut sum));
            // (∇×∇×u)_i = ∂_j ∂_i u_j − ∂_j ∂_j u_i; the outer derivative is taken of projected functions.
            let double_curl = [0, 1, 2].map(|c| {
                for j in (0..dim).filter(|_| c < dim) {
                    for (factor, of) in [(normal[j], &gradient[c]), (-normal[c], &gradient[j])] {
                        of.iter().for_each(|&(i, v)| sum.add(factor * v, &gradients[j][i as usize]));
                    }
                }
                in_vectors(sum.take())
            });
            PointRows {
                values: sparse(reference.interp_face.row(q), entry),
                slope: in_vectors(row(terms.face[q].conormal(), &mut sum)),
                gradient: gradient.map(in_vectors),
                double_curl,
            }
        });
        let rows = rows.collect();
        let n = range.len();
        BoundaryPoints {
            elements: vec![element as u32; n],
            points: positions(&self.problem.mesh, element, &reference.face_points[range.clone()]),
            normals: range.clone().map(|q| terms.face[q].normal).collect(),
            weights: range.map(|q| terms.face[q].weight).collect(),
            boundary: vec![boundary as u32; n],
            kappa,
            tau: vec![tau; n],
            rows,
        }
    }
}
