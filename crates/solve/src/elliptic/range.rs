//! Whether a preconditioner failed because matrix entries underflow, and not because they differ too much.

use dgsuite_ops::elliptic::Sipdg;

use super::EllipticError;
use crate::precision::Precision;

/// Rounding loses coefficients that differ by more than this factor.
const SPREAD: f64 = 1e12;

/// Names underflow as the cause of an error of the preconditioner, if all entries of the diagonal are alike
/// and so small that rounding errors of products with them are below the range of their numbers.
pub(super) fn cause(error: EllipticError, operator: &Sipdg<f64>, inner: Precision) -> EllipticError {
    if !matches!(error, EllipticError::Matrix(_) | EllipticError::Multigrid(_)) {
        return error;
    }
    let diagonal = operator.diagonal();
    let entries = operator.unknowns().into_iter().map(|i| diagonal[i as usize]);
    let (least, largest) =
        entries.fold((f64::INFINITY, 0.0_f64), |(least, most), entry| (least.min(entry), most.max(entry)));
    let alike = largest <= SPREAD * least || largest < f64::MIN_POSITIVE;
    let precision = if least < f64::MIN_POSITIVE / f64::EPSILON {
        Precision::Double
    } else if inner == Precision::Single && least < f64::from(f32::MIN_POSITIVE / f32::EPSILON) {
        Precision::Single
    } else {
        return error;
    };
    if alike { EllipticError::Underflow { largest, precision } } else { error }
}
