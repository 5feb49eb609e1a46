//! What a reference element is asked to be: space, representation, cubature.

use crate::{Correction, NodeSet, Polynomials, Shape};

/// How the coefficients of a field represent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Representation {
    /// Coefficients of the orthonormal modes of [`crate::OrthonormalBasis`].
    Modal,
    /// Values at nodes.
    Nodal(NodeSet),
    /// Coefficients of the [`crate::TaylorBasis`] of the reference shape: scaled monomials about its
    /// centroid. Only with spaces of total degree.
    Taylor,
}

/// Where a flux is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cubature {
    /// At the nodes (volume), or at the nodes of the same family on the face's own shape (faces).
    Collocated,
    /// At the points of a rule exact to this degree.
    Degree(usize),
}

/// The choices that fix a [`crate::ReferenceElement`].
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
    /// The space, where the shape leaves a choice.
    pub polynomials: Polynomials,
    /// Modes, nodes or Taylor polynomials.
    pub representation: Representation,
    /// Cubature of the volume terms.
    pub volume: Cubature,
    /// Cubature of the face terms.
    pub face: Cubature,
    /// How jumps at the faces enter: the scheme is discontinuous Galerkin, or flux reconstruction.
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
