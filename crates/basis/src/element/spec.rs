//! The specification of a reference element: space, representation, cubature, correction.

use crate::{Correction, NodeSet, Polynomials, Shape};

/// The meaning of a field's coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Representation {
    /// Coefficients of the orthonormal modes of [`crate::OrthonormalBasis`].
    Modal,
    /// Values at nodes.
    Nodal(NodeSet),
    /// Coefficients of the [`crate::TaylorBasis`] of the reference shape: scaled monomials about its
    /// centroid. Only for spaces of total degree.
    Taylor,
}

/// The points at which a flux is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cubature {
    /// At the nodes (volume), or at the nodes of the same family on the face's own shape (faces).
    Collocated,
    /// At the nodes of another family: the operators are those of a collocated element of that family, for
    /// values at the nodes of this one.
    Nodes(NodeSet),
    /// At the points of a rule exact to this degree.
    Degree(usize),
}

/// The specification of a [`crate::ReferenceElement`].
///
/// ```
/// use dgsuite_basis::{ElementSpec, NodeSet, Shape};
/// let dgsem = ElementSpec::collocated(Shape::Hexahedron, 4, NodeSet::GaussLobatto);
/// let modal = ElementSpec::over_integrated(Shape::Tetrahedron, 4);
/// assert_ne!(dgsem, modal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementSpec {
    /// The shape.
    pub shape: Shape,
    /// Order of the polynomials.
    pub order: usize,
    /// The space, for shapes with a choice.
    pub polynomials: Polynomials,
    /// Modes, nodes or Taylor polynomials.
    pub representation: Representation,
    /// Cubature of the volume terms.
    pub volume: Cubature,
    /// Cubature of the face terms.
    pub face: Cubature,
    /// The lift of jumps at the faces: discontinuous Galerkin or flux reconstruction.
    pub correction: Correction,
}

impl ElementSpec {
    /// Nodal and collocated, in volume and on faces.
    #[must_use]
    pub const fn collocated(shape: Shape, order: usize, set: NodeSet) -> Self {
        Self {
            shape,
            order,
            polynomials: Polynomials::Tensor,
            representation: Representation::Nodal(set),
            volume: Cubature::Collocated,
            face: Cubature::Collocated,
            correction: Correction::Dg,
        }
    }

    /// Modal, with rules of degree `2 · order` in volume and `2 · order + 1` on faces, which
    /// integrate linear fluxes exactly.
    #[must_use]
    pub const fn over_integrated(shape: Shape, order: usize) -> Self {
        Self {
            shape,
            order,
            polynomials: Polynomials::Tensor,
            representation: Representation::Modal,
            volume: Cubature::Degree(2 * order),
            face: Cubature::Degree(2 * order + 1),
            correction: Correction::Dg,
        }
    }
}
