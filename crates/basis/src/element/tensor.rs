//! One-dimensional factors of tensor-product elements.

use super::factor::{Factor, Functions};
use super::spec::Cubature;
use crate::{Matrix, Quadrature, Shape};

/// One-dimensional factors of an element whose space is a product of lines (line, quadrilateral,
/// hexahedron with the tensor space).
///
/// With `n` functions and `q` points in one direction and `r` the fastest index, the dense matrices
/// of [`crate::ReferenceElement`] are, for a quadrilateral (left factor slowest),
/// `I = interp ⊗ interp`, `P_0 = mass_project ⊗ project`, `P_1 = project ⊗ mass_project`,
/// `Π = mass_project ⊗ mass_project`, `D_0 = interp ⊗ derivative`, and likewise with three factors.
/// On the face where coordinate `d` is ±1 the trace is `ends` in direction `d` times `face_interp`
/// in the others, and the lift is `lift` in direction `d` times `face_mass_project` in the others,
/// at the tensor grid of `face_points` (which the face's frame may list in another order).
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFactors {
    /// Number of functions in one direction.
    pub n_basis_1d: usize,
    /// Number of volume points in one direction.
    pub n_points_1d: usize,
    /// Volume points in one direction.
    pub points: Vec<f64>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// `[q × n]`: functions at the points; the identity if collocated.
    pub interp: Matrix,
    /// `[q × n]`: derivatives of the functions at the points.
    pub derivative: Matrix,
    /// `[n × q]`: `M⁻¹ Dᵀ W` (collocated: `M⁻¹ Dᵀ M`).
    pub project: Matrix,
    /// `[n × q]`: `M⁻¹ Iᵀ W`; the identity if collocated.
    pub mass_project: Matrix,
    /// `[n × n]`: mass matrix.
    pub mass: Matrix,
    /// The functions at −1 and at +1.
    pub ends: [Vec<f64>; 2],
    /// `M⁻¹ φ(−1)` and `M⁻¹ φ(+1)`.
    pub lift: [Vec<f64>; 2],
    /// Face points in one tangential direction.
    pub face_points: Vec<f64>,
    /// Their weights.
    pub face_weights: Vec<f64>,
    /// Functions at the face points, `[q_f × n]`.
    pub face_interp: Matrix,
    /// `M⁻¹ I_fᵀ W_f` in one tangential direction, `[n × q_f]`.
    pub face_mass_project: Matrix,
}

impl TensorFactors {
    /// The factors of a product of equal lines; `diagonal` is the rule of collocated faces along one
    /// line where their mass matrix is diagonal.
    pub(super) fn new(line: &Factor, face: Cubature, diagonal: Option<Quadrature>) -> Self {
        let ends = line.functions.eval(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
        let ends = [0, 1].map(|e| match &line.functions {
            // A node at the end: the other functions vanish there exactly.
            Functions::Nodal(basis) if basis.nodes().iter().any(|x| x[0] == 2.0 * e as f64 - 1.0) => {
                ends.row(e).iter().map(|x| x.round()).collect()
            }
            _ => ends.row(e).to_vec(),
        });
        let lift = [0, 1].map(|e| line.mass_inverse.mul_vec(&ends[e]));
        let (face, face_interp, face_mass_project) = match face {
            Cubature::Degree(degree) => {
                let rule = Quadrature::new(Shape::Line, degree);
                let interp = line.functions.eval(&rule.points);
                let project = line.mass_inverse.mul(&interp.transpose().scale_cols(&rule.weights));
                (rule, interp, project)
            }
            Cubature::Collocated | Cubature::Nodes(_) => {
                // The faces have the nodes, with the diagonal mass matrix of the family or the exact one.
                let n = line.functions.len();
                let (rule, mass) = match diagonal {
                    Some(rule) => {
                        let mass = Matrix::diagonal(&rule.weights);
                        (rule, mass)
                    }
                    None => {
                        let mass = line.functions.mass();
                        let points = line.functions.nodes().unwrap_or_default().to_vec();
                        let weights = mass.mul_vec(&vec![1.0; n]);
                        (Quadrature { shape: Shape::Line, points, weights, degree: n - 1 }, mass)
                    }
                };
                let identity = Matrix::identity(n);
                let project = if mass == line.mass { identity.clone() } else { line.mass_inverse.mul(&mass) };
                (rule, identity, project)
            }
        };
        let along = |rule: &Quadrature| rule.points.iter().map(|x| x[0]).collect();
        Self {
            n_basis_1d: line.functions.len(),
            n_points_1d: line.rule.len(),
            points: along(&line.rule),
            weights: line.rule.weights.clone(),
            interp: line.interp.clone(),
            derivative: line.derivative[0].clone(),
            project: line.project[0].clone(),
            mass_project: line.mass_project.clone(),
            mass: line.mass.clone(),
            ends,
            lift,
            face_points: along(&face),
            face_weights: face.weights,
            face_interp,
            face_mass_project,
        }
    }
}
