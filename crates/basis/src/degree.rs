//! Change of order or basis on one shape.

use crate::{Matrix, ReferenceElement};

/// The matrix `[to's functions][from's functions]` that maps a field from one element's space to another's on
/// the same shape. The field stays the same function if the target space contains it; otherwise the result is
/// its L2 projection.
///
/// In orthonormal modes it copies the modes that both spaces have and drops the others, so that raising the
/// order and lowering it again is the identity.
///
/// ```
/// use dgsuite_basis::{ElementSpec, Matrix, ReferenceElement, Shape, degree_change};
/// let of = |p| ReferenceElement::new(&ElementSpec::over_integrated(Shape::Prism, p));
/// let (low, high) = (of(2)?, of(4)?);
/// let there_and_back = degree_change(&high, &low).mul(&degree_change(&low, &high));
/// assert_eq!(there_and_back, Matrix::identity(low.n_basis));
/// # Ok::<(), dgsuite_basis::BasisError>(())
/// ```
///
/// # Panics
/// If the two elements have different shapes.
#[must_use]
#[track_caller]
pub fn degree_change(from: &ReferenceElement, to: &ReferenceElement) -> Matrix {
    assert_eq!(from.spec.shape, to.spec.shape, "shapes of the two elements");
    let coefficients = from.to_modes();
    let have = from.modes();
    let mut kept = Matrix::zeros(to.n_basis, from.n_basis);
    for (m, mode) in to.modes().modes().iter().enumerate() {
        if let Some(at) = have.modes().iter().position(|other| other == mode) {
            kept.row_mut(m).copy_from_slice(coefficients.row(at));
        }
    }
    to.from_modes().mul(&kept)
}
