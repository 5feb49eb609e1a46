//! Tables shared by all elements of a part: reference element and elliptic operators, in double precision.
//!
//! These are the derivatives of the basis functions at face points along the frame of each face (its
//! reference normal, then its tangents), the constants C of the trace inequality, and the matching points for
//! each orientation of a face.

use super::coefficient::Coefficient;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::space::geometry::{GeometryTables, reference_normal};
use crate::space::scheme::{MetricRule, Need, PartSpec};
use dgsuite_basis::{
    Correction, Cubature, ElementSpec, Matrix, NodeSet, OrthonormalBasis, Polynomials, ReferenceElement,
    Representation, Shape, face_permutation,
};
use dgsuite_mesh::Mesh;
use std::sync::Arc;

/// Entries of products smaller than this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-13;

/// Nodes of each shape: Gauss points along lines, with a diagonal mass matrix; warp & blend on simplices.
pub(super) fn node_set(shape: Shape) -> NodeSet {
    match shape {
        Shape::Triangle | Shape::Tetrahedron => NodeSet::WarpBlend,
        Shape::Pyramid => NodeSet::Equispaced,
        _ => NodeSet::GaussLegendre,
    }
}

/// Specifies nodal elements of order `p`; products of two functions on an affine element are integrated
/// exactly.
pub(super) fn specify(p: usize, needs: &[Need]) -> Vec<(Option<PartSpec>, Option<PartSpec>)> {
    let spec = |shape: Shape, rule: MetricRule| PartSpec {
        element: ElementSpec {
            shape,
            order: p,
            polynomials: match shape {
                Shape::Triangle | Shape::Tetrahedron => Polynomials::Total,
                _ => Polynomials::Tensor,
            },
            representation: Representation::Nodal(node_set(shape)),
            volume: Cubature::Degree(2 * p),
            face: Cubature::Degree(2 * p),
            correction: Correction::Dg,
        },
        rule,
    };
    needs
        .iter()
        .map(|need| {
            let affine = need.affine.then(|| spec(need.shape, MetricRule::Affine));
            (affine, need.curved.map(|_| spec(need.shape, MetricRule::WeightAdjusted)))
        })
        .collect()
}

/// Tables of one part of a group.
pub(super) struct Tables {
    pub(super) reference: Arc<ReferenceElement>,
    /// By geometry order.
    pub(super) geometry: Vec<(usize, GeometryTables)>,
    /// `∂φ_i/∂r_d` at the face points, `[d][k × i]`.
    pub(super) face_derivative: [Matrix; 3],
    /// Derivatives of the functions at the face points along the frame of each face, `[m][k × i]`: along its
    /// reference normal, then along its tangents.
    pub(super) frame_derivative: Vec<Matrix>,
    /// Tangential derivatives of a trace from its values, `[k × k]`, block diagonal.
    pub(super) tangential: Vec<Matrix>,
    /// From `b` in `b·∇̂u` to the factors of the derivatives along the frame, `[face][m][d]`.
    pub(super) frame: Vec<[[f64; 3]; 3]>,
    /// `C |f̂| / |Ê|` of each face, with the smallest C in `∫_f v² ≤ C |f|/|E| ∫_E v²`.
    pub(super) trace: Vec<f64>,
    /// Modes of the coefficients at volume and face points.
    pub(super) kappa: [Matrix; 2],
    pub(super) lambda: Matrix,
    /// For each face and orientation: for each point of the face, the matching point of the other side.
    meets: Vec<Vec<Vec<usize>>>,
    /// The functions that do not vanish at each volume point and at each face point, and their values.
    values: Rows,
    traces: Rows,
    /// The same for their derivatives at volume points.
    derivatives: Vec<Vec<(usize, [f64; 3])>>,
}

impl Tables {
    pub(super) fn new(
        mesh: &Mesh,
        reference: &Arc<ReferenceElement>,
        kappa: &Coefficient,
        lambda: &Coefficient,
    ) -> Result<Self, OpsError> {
        let shape = reference.spec.shape;
        let dim = shape.dim();
        let mut orders: Vec<usize> = mesh.sets.iter().filter(|s| s.shape == shape).map(|s| s.order).collect();
        orders.dedup();
        let geometry = orders.iter().map(|&n| (n, GeometryTables::new(shape, n, reference, false))).collect();
        let face_derivative = reference.gradient(&reference.face_points).map(|m| clean(&m));
        let offsets = &reference.face_offsets;
        let nf = reference.face_points.len();
        let frames: Vec<[[f64; 3]; 3]> = (0..shape.n_faces()).map(|f| frame(shape, f)).collect();
        let face_of: Vec<usize> =
            (0..shape.n_faces()).flat_map(|f| vec![f; offsets[f + 1] - offsets[f]]).collect();
        let frame_derivative = (0..dim)
            .map(|m| {
                clean(&Matrix::from_fn(nf, reference.n_basis, |k, i| {
                    (0..dim).map(|d| frames[face_of[k]][m][d] * face_derivative[d][(k, i)]).sum()
                }))
            })
            .collect();
        let mut tangential = vec![Matrix::zeros(nf, nf); dim - 1];
        let (mut frame, mut trace) = (Vec::new(), Vec::new());
        for f in 0..shape.n_faces() {
            let face = shape.face_shape(f).unwrap_or(Shape::Line);
            let rule = &reference.face_quadrature[f];
            // The trace from its values: exact for the functions, as the rule integrates their products.
            let modes = OrthonormalBasis::new(face, reference.spec.order, Polynomials::Tensor);
            let project = modes.eval(&rule.points).scale_rows(&rule.weights).transpose();
            for (k, t) in tangential.iter_mut().enumerate() {
                let d = modes.grad(&rule.points)[k].mul(&project);
                for (i, row) in (offsets[f]..offsets[f + 1]).enumerate() {
                    for j in 0..d.cols() {
                        t[(row, offsets[f] + j)] = d[(i, j)];
                    }
                }
            }
            frame.push(inverse_transpose(&frames[f], dim)?);
            let modes = reference.modes();
            let roots: Vec<f64> = rule.weights.iter().map(|w| w.sqrt()).collect();
            let at = modes.eval(&reference.face_points[offsets[f]..offsets[f + 1]]).scale_rows(&roots);
            let gram = at.mul(&at.transpose());
            let largest = gram.singular_values().and_then(|s| s.first().copied());
            trace.push(largest.unwrap_or_else(|| gram.norm_1()));
        }
        let tangential = tangential.iter().map(clean).collect();
        let meets =
            (0..shape.n_faces()).map(|f| turns(shape, f, &reference.face_quadrature[f].points)).collect();
        Ok(Self {
            meets,
            geometry,
            face_derivative,
            frame_derivative,
            tangential,
            frame,
            trace,
            kappa: [kappa.table(shape, &reference.volume.points), kappa.table(shape, &reference.face_points)],
            lambda: lambda.table(shape, &reference.volume.points),
            values: Rows::dense(&reference.interp_volume),
            traces: Rows::dense(&reference.interp_face),
            derivatives: derivatives(reference),
            reference: Arc::clone(reference),
        })
    }

    /// For each point of a face, the matching point of the other side.
    pub(super) fn meeting_points(&self, face: usize, orientation: u8) -> &[usize] {
        &self.meets[face][orientation as usize]
    }

    /// The functions that do not vanish at a volume point, and their values.
    pub(super) fn values_at(&self, point: usize) -> &[(usize, f64)] {
        &self.values.rows[point]
    }

    /// The functions that do not vanish at a face point, and their values.
    pub(super) fn traces_at(&self, point: usize) -> &[(usize, f64)] {
        &self.traces.rows[point]
    }

    /// The functions whose gradients do not vanish at a volume point, and the gradients.
    pub(super) fn derivatives_at(&self, point: usize) -> &[(usize, [f64; 3])] {
        &self.derivatives[point]
    }

    /// `Σ_d b_d ∂φ_i/∂r_d` at a face point.
    pub(super) fn slope(&self, point: usize, i: usize, b: &[f64; 3]) -> f64 {
        let mut sum = b[0] * self.face_derivative[0][(point, i)];
        for d in 1..self.reference.spec.shape.dim() {
            sum += b[d] * self.face_derivative[d][(point, i)];
        }
        sum
    }

    /// The tables of a geometry order.
    pub(super) fn of_order(&self, order: usize) -> &GeometryTables {
        &self.geometry[self.geometry.iter().position(|(n, _)| *n == order).unwrap_or(0)].1
    }
}

/// Gradients of the functions at the volume points, without those that vanish.
fn derivatives(reference: &ReferenceElement) -> Vec<Vec<(usize, [f64; 3])>> {
    let clean: Vec<Matrix> =
        reference.derivative.iter().take(reference.spec.shape.dim()).map(clean).collect();
    let at = |q: usize, i: usize| std::array::from_fn(|d| clean.get(d).map_or(0.0, |m| m[(q, i)]));
    let row = |q: usize| {
        let all = (0..reference.n_basis).map(|i| (i, at(q, i)));
        all.filter(|(_, g)| *g != [0.0; 3]).collect()
    };
    (0..reference.volume.points.len()).map(row).collect()
}

/// For each orientation of a face relative to another: the matching point of each of its points.
fn turns(shape: Shape, face: usize, points: &[[f64; 3]]) -> Vec<Vec<usize>> {
    let shape = shape.face_shape(face).unwrap_or(Shape::Line);
    // The points are symmetric, which `connect` has checked.
    let same = || (0..points.len()).collect();
    let turn = |k| face_permutation(shape, k, points).unwrap_or_else(|_| same());
    (0..shape.n_vertices()).map(turn).collect()
}

/// The directions of a face's frame: its reference normal, then its tangents.
pub(super) fn frame(shape: Shape, face: usize) -> [[f64; 3]; 3] {
    let t = shape.face_tangents(face);
    [reference_normal(shape, face), t[0], t[1]]
}

/// `F` with `b = Σ_m (Σ_d F_md b_d) direction_m`.
fn inverse_transpose(directions: &[[f64; 3]; 3], dim: usize) -> Result<[[f64; 3]; 3], OpsError> {
    let columns = Matrix::from_fn(dim, dim, |d, m| directions[m][d]);
    let inverse = columns.inverse()?;
    let mut out = [[0.0; 3]; 3];
    for m in 0..dim {
        for d in 0..dim {
            out[m][d] = inverse[(m, d)];
        }
    }
    Ok(out)
}

/// A matrix without entries that are zero up to rounding.
pub(super) fn clean(m: &Matrix) -> Matrix {
    let largest = m.as_slice().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let data = m.data.iter().map(|&v| if v.abs() > ROUNDING * largest { v } else { 0.0 }).collect();
    Matrix::from_row_major(m.rows(), m.cols(), data)
}
