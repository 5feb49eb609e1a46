//! The operators of split forms: a derivative along lines of nodes, and the lift.

use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::space::chain::Chain;
use dgsuite_basis::ReferenceElement;

/// The operators of a part in split form, instead of volume matrices.
pub(crate) struct Lines<T> {
    /// Number of nodes of a line.
    pub(crate) n: usize,
    /// `D_ij` of a line, `[i][j]`.
    pub(crate) derivative: Vec<f64>,
    /// `−L`.
    pub(crate) lift: Chain<T>,
}

impl<T: PackScalar> Lines<T> {
    /// Builds the lines of collocated Gauss–Lobatto elements, for blocks of rows of `width` scalars.
    pub(crate) fn new(reference: &ReferenceElement, max_rows: usize, width: usize) -> Self {
        let n = reference.tensor.as_ref().map_or(0, |t| t.n_basis_1d);
        // The first line of nodes runs along the first direction.
        let derivative = (0..n * n).map(|k| reference.derivative[0][(k / n, k % n)]).collect();
        let lift = Chain::new(&[(Rows::dense(&reference.lift).negated(), n)], max_rows, width);
        Self { n, derivative, lift }
    }
}
