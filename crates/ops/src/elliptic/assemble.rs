//! The matrix, element by element, from the bilinear form: in double precision, at cubature points, in scalars.

use super::space::ElementTerms;
use super::{Beyond, EllipticBoundary, Sipdg, Space};
use crate::simd::PackScalar;
use dgsuite_basis::Matrix;
use rayon::prelude::*;
use sprs::CsMat;

impl<T: PackScalar> Space<T> {
    /// `∫ κ ∇φ_i·∇φ_j + λ φ_i φ_j` on one element.
    fn volume_block(&self, element: usize, terms: &ElementTerms) -> Matrix {
        let reference = &self.tables_of(element).reference;
        let (np, dim) = (reference.n_basis, self.problem.mesh.dim);
        let mut out = Matrix::zeros(np, np);
        let points = terms.jw.len();
        for x in 0..dim {
            // √(w J κ) ∂φ_i/∂x at the points.
            let d = Matrix::from_fn(points, np, |q, i| {
                let slope: f64 =
                    (0..dim).map(|d| terms.metric[q][d][x] * reference.derivative[d][(q, i)]).sum();
                (terms.jw[q] * terms.kappa[q]).sqrt() * slope
            });
            out = out.add_scaled(1.0, &d.transpose().mul(&d));
        }
        if terms.lambda.iter().any(|l| *l != 0.0) {
            let v = Matrix::from_fn(points, np, |q, i| {
                (terms.jw[q] * terms.lambda[q]).sqrt() * reference.interp_volume[(q, i)]
            });
            out = out.add_scaled(1.0, &v.transpose().mul(&v));
        }
        out
    }

    /// The block of an element with itself.
    pub(super) fn diagonal_block(&self, element: usize) -> Matrix {
        let terms = self.terms(element);
        let mut out = self.volume_block(element, &terms);
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            let (v, d, w, tau) = self.side(element, face, &terms);
            let (stiffness, mass) = match self.across(element, face) {
                Beyond::Element { side, .. } => {
                    // An element that meets itself across a periodic boundary.
                    if side.element as usize == element
                        && let Some((_, block)) = self.coupling(element, face, &terms)
                    {
                        out = out.add_scaled(1.0, &block);
                    }
                    (0.5, 1.0)
                }
                Beyond::Boundary(b) => match self.problem.boundary(b) {
                    EllipticBoundary::Dirichlet => (1.0, 2.0),
                    EllipticBoundary::Neumann => continue,
                    EllipticBoundary::Robin { alpha } => {
                        let offset = self.tables_of(element).reference.face_offsets[face];
                        let weight: Vec<f64> =
                            (0..w.len()).map(|q| alpha * terms.face[offset + q].weight).collect();
                        out = out.add_scaled(1.0, &v.transpose().mul(&v.scale_rows(&weight)));
                        continue;
                    }
                },
            };
            let tested = v.transpose().mul(&d.scale_rows(&w)).scaled(stiffness);
            let penalty: Vec<f64> = w.iter().map(|w| mass * tau * w).collect();
            out = out.add_scaled(1.0, &v.transpose().mul(&v.scale_rows(&penalty)));
            out = out.add_scaled(-1.0, &tested).add_scaled(-1.0, &tested.transpose());
        }
        out
    }

    /// Values and normal derivatives at the points of a side, `w κ_f sJ`, and τ.
    fn side(&self, element: usize, face: usize, terms: &ElementTerms) -> (Matrix, Matrix, Vec<f64>, f64) {
        let reference = &self.tables_of(element).reference;
        let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
        let (tau, kappa) = self.face_coefficients(element, face);
        let w = range.clone().zip(kappa).map(|(q, k)| k * terms.face[q].weight).collect();
        let d = self.normal_derivatives(element, face, terms);
        (reference.interp_face.row_range(range), d, w, tau)
    }

    /// The neighbour across a face and the block that joins an element to it; `None` at a boundary.
    fn coupling(&self, element: usize, face: usize, terms: &ElementTerms) -> Option<(usize, Matrix)> {
        let Beyond::Element { side, .. } = self.across(element, face) else { return None };
        let other = side.element as usize;
        let (v, d, w, tau) = self.side(element, face, terms);
        let (vp, dp, ..) = self.side(other, side.face as usize, &self.terms(other));
        let meets = self.meeting_points(element, face);
        let turned = |m: &Matrix| Matrix::from_fn(m.rows(), m.cols(), |q, j| m[(meets[q], j)]);
        let (vp, dp) = (turned(&vp), turned(&dp));
        // − τ φ_i φ_j⁺ + ½ φ_i ∂φ_j⁺/∂n⁺ + ½ φ_j⁺ ∂φ_i/∂n, n⁺ the other side's normal.
        let half: Vec<f64> = w.iter().map(|w| 0.5 * w).collect();
        let penalty: Vec<f64> = w.iter().map(|w| -tau * w).collect();
        let block = v
            .transpose()
            .mul(&vp.scale_rows(&penalty))
            .add_scaled(1.0, &v.transpose().mul(&dp.scale_rows(&half)))
            .add_scaled(1.0, &d.transpose().mul(&vp.scale_rows(&half)));
        Some((other, block))
    }

    /// The blocks of an element's rows: itself, then its neighbours, each once.
    fn blocks(&self, element: usize) -> Vec<(usize, Matrix)> {
        let mut out = vec![(element, self.diagonal_block(element))];
        let terms = self.terms(element);
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            match self.coupling(element, face, &terms) {
                Some((other, block)) if other != element => {
                    // Across periodic boundaries an element can meet another twice.
                    match out.iter_mut().find(|(e, _)| *e == other) {
                        Some((_, sum)) => *sum = sum.add_scaled(1.0, &block),
                        None => out.push((other, block)),
                    }
                }
                _ => {}
            }
        }
        out
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// The matrix in compressed rows, in the order of the operator's vectors; entries that are zero are left out, and
    /// padding has rows of the identity. Integrated from the bilinear form, apart from what [`apply`](Self::apply) uses.
    #[must_use]
    pub fn assemble(&self) -> CsMat<f64> {
        let space = &self.space;
        let n = space.len();
        let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        let elements = 0..space.problem.mesh.n_elements();
        let all: Vec<Vec<(usize, Vec<(usize, f64)>)>> = space.problem.host.install(|| {
            elements
                .into_par_iter()
                .map(|e| {
                    let blocks = space.blocks(e);
                    let (first, stride) = space.rows(e);
                    (0..blocks[0].1.rows())
                        .map(|i| {
                            let mut row = Vec::new();
                            for (other, block) in &blocks {
                                let (begin, step) = space.rows(*other);
                                let entries = block.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0);
                                row.extend(entries.map(|(j, v)| (begin + j * step, *v)));
                            }
                            row.sort_unstable_by_key(|e| e.0);
                            (first + i * stride, row)
                        })
                        .collect()
                })
                .collect()
        });
        for (row, entries) in all.into_iter().flatten() {
            rows[row] = entries;
        }
        let (mut first, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in rows.into_iter().enumerate() {
            if row.is_empty() {
                columns.push(i);
                values.push(1.0);
            }
            for (c, v) in row {
                columns.push(c);
                values.push(v);
            }
            first.push(columns.len());
        }
        CsMat::new((n, n), first, columns, values)
    }

    /// The diagonal of the matrix; ones in the padding.
    #[must_use]
    pub fn diagonal(&self) -> Vec<T> {
        let space = &self.space;
        let mut out = vec![T::ONE; space.len()];
        let all: Vec<Vec<f64>> = space.problem.host.install(|| {
            (0..space.problem.mesh.n_elements())
                .into_par_iter()
                .map(|e| {
                    let block = space.diagonal_block(e);
                    (0..block.rows()).map(|i| block[(i, i)]).collect()
                })
                .collect()
        });
        for (e, diagonal) in all.into_iter().enumerate() {
            let (first, stride) = space.rows(e);
            for (i, v) in diagonal.into_iter().enumerate() {
                out[first + i * stride] = T::from_f64(v);
            }
        }
        out
    }
}
