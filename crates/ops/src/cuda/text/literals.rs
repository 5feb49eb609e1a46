//! Operators as constants in the text of a kernel.

use dgsuite_basis::Matrix;
use std::fmt::Write;

/// Entries of a matrix smaller than this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-14;

/// A matrix whose entries are zero where they are so up to rounding.
pub(crate) fn rounded(a: &Matrix) -> Matrix {
    let rounding = ROUNDING * a.max_abs();
    Matrix::from_fn(a.rows, a.cols, |i, k| if a[(i, k)].abs() < rounding { 0.0 } else { a[(i, k)] })
}

/// The rows of a matrix as decimal numbers that read back to the same bits. Entries that are zero up to
/// rounding are written as zero, so that they cost nothing.
pub(crate) fn matrix(a: &Matrix) -> String {
    let rounded = rounded(a);
    let number = |x: &f64| format!("{x:e}");
    braces((0..a.rows).map(|i| braces(rounded.row(i).iter().map(number))))
}

/// Entries as the initialiser of an array.
pub(crate) fn braces(entries: impl Iterator<Item = String>) -> String {
    let mut out = String::from("{");
    for (i, entry) in entries.enumerate() {
        let _ = write!(out, "{}{entry}", if i == 0 { "" } else { ", " });
    }
    out + "}"
}
