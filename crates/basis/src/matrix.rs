//! Small dense matrices for set-up: products, Kronecker products, solves.
//!
//! Row-major storage; faer computes the factorisations and is not part of the interface.

use std::ops::{Index, IndexMut};

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::BasisError;

/// Products of at least this many multiplications go to faer's blocked kernel.
pub(crate) const BLOCKED: usize = 1 << 14;

/// A dense row-major matrix of `f64`; entry `(i, j)` is `data[i * cols + j]`.
///
/// ```
/// use dgsuite_basis::Matrix;
/// let a = Matrix::from_fn(2, 2, |i, j| (1 + i + 2 * j) as f64);
/// assert_eq!(a.mul(&a.inverse().unwrap()), Matrix::identity(2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The entries, row after row: `rows * cols` of them.
    pub data: Vec<f64>,
}

impl Matrix {
    /// The zero matrix.
    #[must_use]
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity.
    #[must_use]
    pub fn identity(n: usize) -> Self {
        Self::diagonal(&vec![1.0; n])
    }

    /// The diagonal matrix with the given entries.
    #[must_use]
    pub fn diagonal(entries: &[f64]) -> Self {
        let n = entries.len();
        let mut out = Self::zeros(n, n);
        for (i, &x) in entries.iter().enumerate() {
            out[(i, i)] = x;
        }
        out
    }

    /// The matrix with entries `f(i, j)`.
    #[must_use]
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Self { rows, cols, data }
    }

    /// The matrix over `data`, row after row.
    ///
    /// # Panics
    /// If `data` does not hold `rows * cols` entries.
    #[must_use]
    pub fn from_row_major(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "entries of a {rows} × {cols} matrix");
        Self { rows, cols, data }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row after row.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Row `i`.
    #[must_use]
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, mutable.
    #[must_use]
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Column `j`, copied.
    #[must_use]
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// The rows `range`, copied.
    #[must_use]
    pub fn row_range(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            rows: range.len(),
            cols: self.cols,
            data: self.data[range.start * self.cols..range.end * self.cols].to_vec(),
        }
    }

    /// `Aᵀ`.
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// `A B`.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    #[must_use]
    #[track_caller]
    pub fn mul(&self, b: &Self) -> Self {
        assert_eq!(self.cols, b.rows, "{}×{} times {}×{}", self.rows, self.cols, b.rows, b.cols);
        let mut out = Self::zeros(self.rows, b.cols);
        if self.rows * self.cols * b.cols >= BLOCKED {
            let (m, n) = (self.rows, b.cols);
            let dst = MatMut::from_row_major_slice_mut(&mut out.data, m, n);
            matmul(dst, Accum::Replace, self.view(), b.view(), 1.0, Par::Seq);
            return out;
        }
        for i in 0..self.rows {
            for (k, &a) in self.row(i).iter().enumerate() {
                let (target, source) = (i * b.cols, b.row(k));
                for (j, &x) in source.iter().enumerate() {
                    out.data[target + j] += a * x;
                }
            }
        }
        out
    }

    /// `A x`.
    ///
    /// # Panics
    /// If `x` does not have one entry for each column.
    #[must_use]
    #[track_caller]
    pub fn mul_vec(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.cols, x.len(), "entries of the vector");
        (0..self.rows).map(|i| self.row(i).iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    /// `α A`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { data: self.data.iter().map(|x| factor * x).collect(), ..*self }
    }

    /// `diag(d) A`.
    ///
    /// # Panics
    /// If `d` does not have one entry for each row.
    #[must_use]
    pub fn scale_rows(&self, d: &[f64]) -> Self {
        assert_eq!(self.rows, d.len(), "one factor for each row");
        Self::from_fn(self.rows, self.cols, |i, j| d[i] * self[(i, j)])
    }

    /// `A diag(d)`.
    ///
    /// # Panics
    /// If `d` does not have one entry for each column.
    #[must_use]
    pub fn scale_cols(&self, d: &[f64]) -> Self {
        assert_eq!(self.cols, d.len(), "one factor for each column");
        Self::from_fn(self.rows, self.cols, |i, j| self[(i, j)] * d[j])
    }

    /// `A + α B`.
    ///
    /// # Panics
    /// If the sizes differ.
    #[must_use]
    #[track_caller]
    pub fn add_scaled(&self, factor: f64, b: &Self) -> Self {
        assert_eq!((self.rows, self.cols), (b.rows, b.cols), "sizes of the two matrices");
        Self { data: self.data.iter().zip(&b.data).map(|(x, y)| x + factor * y).collect(), ..*self }
    }

    /// `A ⊗ B`: entry `(i m_B + k, j n_B + l)` is `A_ij B_kl`, so the index of `B` runs fastest.
    #[must_use]
    pub fn kron(&self, b: &Self) -> Self {
        let mut data = Vec::with_capacity(self.data.len() * b.data.len());
        for i in 0..self.rows {
            for k in 0..b.rows {
                for &a in self.row(i) {
                    data.extend(b.row(k).iter().map(|&x| a * x));
                }
            }
        }
        Self { rows: self.rows * b.rows, cols: self.cols * b.cols, data }
    }

    /// `[A B]`: the columns of `b` after the columns of `self`.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    #[must_use]
    pub fn beside(&self, b: &Self) -> Self {
        assert_eq!(self.rows, b.rows, "rows of the two matrices");
        let mut data = Vec::with_capacity(self.data.len() + b.data.len());
        for i in 0..self.rows {
            data.extend_from_slice(self.row(i));
            data.extend_from_slice(b.row(i));
        }
        Self { rows: self.rows, cols: self.cols + b.cols, data }
    }

    /// `max |A_ij|`.
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// `max |A_ij − B_ij|`.
    ///
    /// # Panics
    /// If the sizes differ.
    #[must_use]
    #[track_caller]
    pub fn distance(&self, b: &Self) -> f64 {
        self.add_scaled(-1.0, b).max_abs()
    }

    /// `A⁻¹`, by LU with partial pivoting.
    ///
    /// # Errors
    /// [`BasisError::Singular`] if `‖A‖₁ ‖A⁻¹‖₁` exceeds the reciprocal of the working precision.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn inverse(&self) -> Result<Self, BasisError> {
        assert_eq!(self.rows, self.cols, "only a square matrix has an inverse");
        let inverse = Self::of_faer(&self.view().partial_piv_lu().inverse());
        let condition = self.norm_1() * inverse.norm_1();
        // Written so that NaN is refused as well.
        if condition < 1.0 / f64::EPSILON || self.rows == 0 {
            Ok(inverse)
        } else {
            Err(BasisError::Singular { size: self.rows })
        }
    }

    /// The solution `X` of `A X = B`, by LU with partial pivoting.
    ///
    /// # Errors
    /// [`BasisError::Singular`] if the solution is not finite.
    ///
    /// # Panics
    /// If the matrix is not square, or `B` has another number of rows.
    pub fn solve(&self, b: &Self) -> Result<Self, BasisError> {
        assert_eq!(self.rows, self.cols, "only a square system can be solved");
        assert_eq!(self.rows, b.rows, "rows of the right-hand side");
        let x = Self::of_faer(&self.view().partial_piv_lu().solve(b.view()));
        if x.data.iter().all(|v| v.is_finite()) {
            Ok(x)
        } else {
            Err(BasisError::Singular { size: self.rows })
        }
    }

    /// Singular values, largest first; `None` if the iteration does not converge.
    #[must_use]
    pub fn singular_values(&self) -> Option<Vec<f64>> {
        self.view().singular_values().ok()
    }

    /// Largest absolute column sum.
    #[must_use]
    pub fn norm_1(&self) -> f64 {
        let mut sums = vec![0.0; self.cols];
        for i in 0..self.rows {
            for (sum, x) in sums.iter_mut().zip(self.row(i)) {
                *sum += x.abs();
            }
        }
        // `f64::max` would drop a NaN.
        sums.into_iter().fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    fn of_faer(m: &Mat<f64>) -> Self {
        Self::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(i < self.rows && j < self.cols, "({i}, {j}) of a {} × {}", self.rows, self.cols);
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(i < self.rows && j < self.cols, "({i}, {j}) of a {} × {}", self.rows, self.cols);
        &mut self.data[i * self.cols + j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |i, j| {
            ((3 * i + 7 * j) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 }
        })
    }

    #[test]
    fn blocked_and_plain_products_agree() {
        let (a, b) = (sample(40, 30), sample(30, 50));
        let c = a.mul(&b);
        for (i, j) in [(0, 0), (39, 49), (17, 23)] {
            let direct: f64 = (0..30).map(|k| a[(i, k)] * b[(k, j)]).sum();
            assert!((c[(i, j)] - direct).abs() < 1e-12);
        }
        let small = a.row_range(3..5).mul(&b);
        assert!(small.distance(&c.row_range(3..5)) < 1e-12);
    }

    #[test]
    fn inverse_and_solve_undo_the_product() {
        let a = sample(12, 12);
        assert!(a.mul(&a.inverse().unwrap()).distance(&Matrix::identity(12)) < 1e-12);
        let b = sample(12, 3);
        assert!(a.mul(&a.solve(&b).unwrap()).distance(&b) < 1e-11);
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        let a = Matrix::from_fn(4, 4, |i, j| (i + j) as f64);
        assert_eq!(a.inverse(), Err(BasisError::Singular { size: 4 }));
    }

    #[test]
    fn kronecker_products_multiply_factor_by_factor() {
        let (a, b, c, d) = (sample(2, 3), sample(4, 2), sample(3, 2), sample(2, 5));
        let left = a.kron(&b).mul(&c.kron(&d));
        assert!(left.distance(&a.mul(&c).kron(&b.mul(&d))) < 1e-10);
    }
}
