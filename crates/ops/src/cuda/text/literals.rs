//! Operators as constants in the text of a kernel.

use dgsuite_basis::Matrix;
use std::fmt::Write;

/// Entries of a matrix smaller than this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-14;

/// The rows of a matrix as decimal numbers that read back to the same bits. Entries that are zero up to
/// rounding are written as zero, so that they cost nothing.
pub(crate) fn matrix(a: &Matrix) -> String {
    let rounding = ROUNDING * a.max_abs();
    let number = |x: &f64| format!("{:e}", if x.abs() < rounding { 0.0 } else { *x });
    braces((0..a.rows).map(|i| braces(a.row(i).iter().map(number))))
}

/// Entries as the initialiser of an array.
pub(crate) fn braces(entries: impl Iterator<Item = String>) -> String {
    let mut out = String::from("{");
    for (i, entry) in entries.enumerate() {
        let _ = write!(out, "{}{entry}", if i == 0 { "" } else { ", " });
    }
    out + "}"
}
