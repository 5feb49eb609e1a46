//! Rounding of matrices to numbers of 11 bits for the tensor cores (TF32).

use crate::elliptic::device::simplices::Simplices;
use dgsuite_basis::Matrix;

/// Precision of the products on the tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Products {
    /// Numbers in double precision.
    Double,
    /// Differences and matrices rounded to 11 bits, summed in single precision; for vectors in single
    /// precision.
    Rounded,
}

impl Products {
    /// The products to use on a mesh: on stretched elements, fluxes along short edges are small differences
    /// of large numbers, so these use double precision.
    pub(super) fn on(self, t: &Simplices) -> Self {
        if t.stretched { Self::Double } else { self }
    }
}

/// Bits of a rounded number after the leading one; single precision has 23.
const BITS: i32 = 10;

/// The nearest number with 11 bits.
pub(super) fn rounded(v: f64) -> f32 {
    let half = 1_u32 << (22 - BITS);
    f32::from_bits((v as f32).to_bits().wrapping_add(half) & !(2 * half - 1))
}

/// The matrix in numbers of 11 bits, such that rows with sum zero keep it: entries are multiples of the last
/// bit of the row's largest entry, rounded to nearest except for as many entries as are needed for the sum.
///
/// In the matrix `D` of the derivatives, row sums are derivatives of a constant. With exact zero sums, `Dᵀ f`
/// has no component along constants. Such a component would not shrink with the size of the elements, as the
/// energy of the fluxes does.
pub(super) fn rounded_without_sum(m: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(m.rows(), m.cols());
    for i in 0..m.rows() {
        let largest = m.row(i).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        if largest == 0.0 {
            continue;
        }
        let unit = (largest.log2().floor() - f64::from(BITS)).exp2();
        let exact: Vec<f64> = m.row(i).iter().map(|v| v / unit).collect();
        let mut whole: Vec<f64> = exact.iter().map(|v| v.round()).collect();
        let sum: f64 = whole.iter().sum();
        // Entries that were rounded most in the direction of the sum are rounded the other way.
        let over = |j: &usize| sum.signum() * (whole[*j] - exact[*j]);
        let mut by_error: Vec<usize> = (0..exact.len()).filter(|&j| exact[j] != 0.0).collect();
        by_error.sort_by(|a, b| over(b).total_cmp(&over(a)).then(a.cmp(b)));
        by_error.into_iter().take(sum.abs() as usize).for_each(|j| whole[j] -= sum.signum());
        (0..m.cols()).for_each(|j| out[(i, j)] = whole[j] * unit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_are_zero_stay_so() {
        let numbers = |i: usize, j: usize| ((7 * i + 3 * j) as f64).sin() * (j as f64 - 3.5).exp();
        let mean = |i: usize| (0..9).map(|j| numbers(i, j)).sum::<f64>() / 9.0;
        let m = Matrix::from_fn(20, 9, |i, j| numbers(i, j) - mean(i));
        let found = rounded_without_sum(&m);
        for i in 0..20 {
            let largest = m.row(i).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
            for (v, exact) in found.row(i).iter().zip(m.row(i)) {
                assert!((v - exact).abs() <= largest / 1024.0, "{v} for {exact}");
                assert_eq!(f64::from(rounded(*v)), *v, "a number of 11 bits");
            }
            assert_eq!(found.row(i).iter().sum::<f64>(), 0.0);
        }
        assert_eq!([1.0 + 0.4 / 1024.0, -1.0 - 0.6 / 1024.0].map(rounded), [1.0, -1.0 - 1.0 / 1024.0]);
    }
}
