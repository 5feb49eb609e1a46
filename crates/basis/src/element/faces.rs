//! Points, weights and mass matrices of the faces, in the face frames.

use super::factor::diagonal_rule;
use super::spec::{Cubature, ElementSpec, Representation};
use crate::nodes::{NodeSet, nodes, solid_face};
use crate::{BasisError, LagrangeBasis, Matrix, Quadrature, Shape};

/// A rule that tests fluxes given at a face's points: `∮ φ_i f ≈ Σ_jk φ_i(x_j) M_jk f_k`.
pub(super) struct FaceRule {
    pub(super) quadrature: Quadrature,
    pub(super) mass: FaceMass,
}

/// The matrix `M` of a [`FaceRule`].
pub(super) enum FaceMass {
    /// Diagonal: the weights of the rule.
    Weights,
    /// The mass matrix of the Lagrange basis on the points.
    Full(Matrix),
}

/// The rule of face `face`.
pub(super) fn face_rule(spec: &ElementSpec, face: usize) -> Result<FaceRule, BasisError> {
    let weighted = |quadrature| FaceRule { quadrature, mass: FaceMass::Weights };
    let Some(shape) = spec.shape.face_shape(face) else {
        // The end of a line: one point of weight one.
        let (points, weights) = (vec![[0.0; 3]], vec![1.0]);
        return Ok(weighted(Quadrature { shape: Shape::Line, points, weights, degree: usize::MAX }));
    };
    let set = match (spec.face, spec.representation) {
        (Cubature::Degree(degree), _) => return Ok(weighted(Quadrature::symmetric(shape, degree))),
        (Cubature::Collocated, Representation::Nodal(set)) | (Cubature::Nodes(set), _) => set,
        (Cubature::Collocated, Representation::Modal | Representation::Taylor) => {
            return Err(BasisError::NotCollocated { shape: spec.shape });
        }
    };
    let order = spec.order;
    if let Some(rule) = diagonal_rule(shape, order, set, spec.correction) {
        if spec.shape != Shape::Prism || set == NodeSet::GaussLegendre {
            return Ok(weighted(rule));
        }
        // Lobatto prism: along the triangle's edge (ξ, fastest) the mass matrix is exact as in the volume,
        // along the line it is lumped. The row sums are the products of Lobatto weights.
        let edge = exact_mass(Shape::Line, order, nodes(Shape::Line, order, set)?)?;
        let along = Quadrature::lobatto(Shape::Line, order + 1);
        let mass = Matrix::diagonal(&along.weights).kron(&edge);
        return Ok(FaceRule { quadrature: rule, mass: FaceMass::Full(mass) });
    }
    let points = trace_nodes(shape, order, set)?;
    let mass = exact_mass(shape, order, points.clone())?;
    let weights = mass.mul_vec(&vec![1.0; points.len()]);
    let quadrature = Quadrature { shape, points, weights, degree: order };
    Ok(FaceRule { quadrature, mass: FaceMass::Full(mass) })
}

fn exact_mass(shape: Shape, order: usize, points: Vec<[f64; 3]>) -> Result<Matrix, BasisError> {
    let to_modes = LagrangeBasis::on_points(shape, order, points)?.to_modes();
    Ok(to_modes.transpose().mul(&to_modes))
}

/// The nodes of an element on a face of the given shape, in the face's frame.
fn trace_nodes(face: Shape, order: usize, set: NodeSet) -> Result<Vec<[f64; 3]>, BasisError> {
    match (face, set) {
        // Triangular faces of solids have their own nodes in every family.
        (Shape::Triangle, _) => Ok(solid_face(order, set)),
        // Quadrilateral faces of warp & blend prisms have products of Lobatto points.
        (Shape::Quadrilateral, NodeSet::WarpBlend) => nodes(face, order, NodeSet::GaussLobatto),
        _ => nodes(face, order, set),
    }
}
