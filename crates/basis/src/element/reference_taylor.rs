//! The Taylor basis of a reference shape: scaled monomials about its centroid, with zero mean.

use crate::{BasisError, Matrix, OrthonormalBasis, Polynomials, Quadrature, Shape, TaylorBasis};

/// [`TaylorBasis`] of the reference shape, with the change to and from orthonormal modes.
///
/// An affine map turns it into a Taylor basis of the element, in coordinates along the element's own edges:
/// the first coefficient is the element's mean, the next ones are scaled derivatives at its centroid.
#[derive(Clone, Debug)]
pub(super) struct ReferenceTaylor {
    pub(super) basis: TaylorBasis,
    /// The modes that span the same polynomials.
    pub(super) modes: OrthonormalBasis,
    /// `[mode][function]`, `∫ ψ_m B_i`.
    pub(super) to_modes: Matrix,
    /// Its inverse.
    pub(super) from_modes: Matrix,
}

impl ReferenceTaylor {
    /// The basis of total degree `order`.
    ///
    /// # Errors
    /// [`BasisError::NotTotalDegree`] if the space contains other polynomials: tensor spaces, pyramids.
    pub(super) fn new(shape: Shape, order: usize, polynomials: Polynomials) -> Result<Self, BasisError> {
        let modes = OrthonormalBasis::new(shape, order, polynomials);
        let rule = Quadrature::new(shape, 2 * order);
        let scale = TaylorBasis::half_extent(shape.vertices());
        let basis = TaylorBasis::new(shape.dim(), order, &rule.points, &rule.weights, scale);
        if basis.len() != modes.len() {
            return Err(BasisError::NotTotalDegree { shape });
        }
        let tested = modes.eval(&rule.points).transpose().scale_cols(&rule.weights);
        let to_modes = tested.mul(&basis.eval(&rule.points));
        let from_modes = to_modes.inverse()?;
        Ok(Self { basis, modes, to_modes, from_modes })
    }
}
