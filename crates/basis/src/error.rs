//! Errors of specifications, node sets and matrices.

use crate::{Polynomials, Shape, nodes::NodeSet};

/// Errors of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BasisError {
    /// The node family is not defined on the shape.
    #[error("{set} nodes are not defined on a {shape}")]
    UnsupportedNodes {
        /// The shape.
        shape: Shape,
        /// The node family.
        set: NodeSet,
    },
    /// Collocation without nodes to collocate at, or without an operator for it.
    #[error("no collocated form on a {shape}: give a cubature degree instead")]
    NotCollocated {
        /// The shape.
        shape: Shape,
    },
    /// The number of nodes differs from the dimension of the space.
    #[error(
        "{nodes} nodes cannot span the {polynomials} polynomials of a {shape} ({n_basis} dimensions): \
         use the modal form, or the tensor space"
    )]
    NodesDoNotSpan {
        /// The shape.
        shape: Shape,
        /// The polynomial space.
        polynomials: Polynomials,
        /// Number of nodes of the family.
        nodes: usize,
        /// Dimension of the space.
        n_basis: usize,
    },
    /// A Taylor basis for a space that is not of a total degree.
    #[error("a Taylor basis on a {shape} spans the polynomials of a total degree: choose that space")]
    NotTotalDegree {
        /// The shape.
        shape: Shape,
    },
    /// A face's point set is not mapped to itself when the two sides meet.
    #[error(
        "the points of a {shape} face do not coincide with each other at orientation {orientation} (point {point})"
    )]
    NotSymmetric {
        /// Shape of the face.
        shape: Shape,
        /// The orientation, as in [`Shape::meet`].
        orientation: usize,
        /// The first point without a partner.
        point: usize,
    },
    /// No corrections of flux reconstruction are known for the shape or its space.
    #[error(
        "no corrections of flux reconstruction are known on a {shape}: they need simplices, or products of simplices \
         and lines with the tensor space"
    )]
    NoCorrection {
        /// The shape.
        shape: Shape,
    },
    /// A parameter for which flux reconstruction is not stable.
    #[error(
        "flux reconstruction of order {order} on a {shape} needs a parameter c above {least:.4e}; {c:.4e} is not"
    )]
    UnstableCorrection {
        /// The shape, or the factor of a product.
        shape: Shape,
        /// Order of the polynomials.
        order: usize,
        /// The parameter.
        c: f64,
        /// The bound that it must exceed.
        least: f64,
    },
    /// A matrix that is singular to working precision.
    #[error("a {size} × {size} matrix is singular to working precision")]
    Singular {
        /// Number of rows.
        size: usize,
    },
}
