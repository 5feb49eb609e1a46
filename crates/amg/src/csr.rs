//! Sparse matrices in compressed rows, on the CPU.

use dgsuite_gpu::{HostVector, Scalar, Vector};
use sprs::CsMatI;

use crate::{LinearOperator, MatrixError};

/// Largest number of rows or columns: column numbers are stored in 32 bits, half the memory traffic of 64.
pub const MAX_ROWS: usize = u32::MAX as usize;

/// A sparse matrix in compressed rows: the columns of each row ascend, and all entries are finite.
///
/// A checked wrapper of [`sprs::CsMatI`]; [`as_sprs`](Self::as_sprs) returns the wrapped matrix.
///
/// ```
/// use dgsuite_amg::Csr;
/// let a = Csr::from_triplets(2, 2, [(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.5), (1, 1, 0.5)])?;
/// assert_eq!(a.diagonal(), [2.0, 2.0]);           // duplicates are added
/// assert_eq!(a.row(0).collect::<Vec<_>>(), [(0, 2.0), (1, -1.0)]);
/// # Ok::<(), dgsuite_amg::MatrixError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T: Scalar> {
    matrix: CsMatI<T, u32, usize>,
}

impl<T: Scalar> Csr<T> {
    /// Builds a matrix from entries `(row, column, value)` in any order. Entries at the same place are added
    /// in the order given.
    ///
    /// # Errors
    /// [`MatrixError::OutsideMatrix`], [`MatrixError::NotFinite`] or [`MatrixError::TooLarge`].
    pub fn from_triplets(
        n_rows: usize,
        n_cols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self, MatrixError> {
        check_size(n_rows, n_cols)?;
        let mut entries = Vec::new();
        for (row, col, value) in triplets {
            if row >= n_rows || col >= n_cols {
                return Err(MatrixError::OutsideMatrix { row, col, n_rows, n_cols });
            }
            if !value.is_finite() {
                return Err(MatrixError::NotFinite { row, col, value: value.to_f64() });
            }
            entries.push((row as u32, col as u32, value));
        }
        // A stable sort keeps the order of the summands.
        entries.sort_by_key(|&(row, col, _)| (row, col));
        let mut starts = vec![0usize; n_rows + 1];
        let (mut columns, mut values) =
            (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        let mut last = None;
        for (row, col, value) in entries {
            match values.last_mut() {
                Some(sum) if last == Some((row, col)) => *sum += value,
                _ => {
                    starts[row as usize + 1] += 1;
                    columns.push(col);
                    values.push(value);
                    last = Some((row, col));
                }
            }
        }
        for row in 0..n_rows {
            starts[row + 1] += starts[row];
        }
        Self::from_arrays(n_rows, n_cols, starts, columns, values)
    }

    /// Builds a matrix from the arrays of compressed rows: the start of each row (and the end), columns,
    /// values.
    ///
    /// # Errors
    /// [`MatrixError::Structure`] if the arrays do not fit together or the columns of a row do not ascend,
    /// and the errors of [`from_triplets`](Self::from_triplets).
    pub fn from_arrays(
        n_rows: usize,
        n_cols: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self, MatrixError> {
        check_size(n_rows, n_cols)?;
        let matrix = CsMatI::try_new((n_rows, n_cols), starts, columns, values)
            .map_err(|(.., reason)| MatrixError::Structure { reason })?;
        let csr = Self { matrix };
        for row in 0..n_rows {
            if let Some((col, value)) = csr.row(row).find(|(_, value)| !value.is_finite()) {
                return Err(MatrixError::NotFinite { row, col, value: value.to_f64() });
            }
        }
        Ok(csr)
    }

    /// Converts a matrix of sprs, in compressed rows or columns.
    ///
    /// # Errors
    /// [`MatrixError::NotFinite`] or [`MatrixError::TooLarge`].
    pub fn from_sprs(matrix: sprs::CsMat<T>) -> Result<Self, MatrixError> {
        check_size(matrix.rows(), matrix.cols())?;
        let matrix = matrix.into_csr();
        let (n_rows, n_cols) = (matrix.rows(), matrix.cols());
        let (starts, columns, values) = matrix.into_raw_storage();
        Self::from_arrays(n_rows, n_cols, starts, columns.into_iter().map(|j| j as u32).collect(), values)
    }

    /// The matrix as a type of sprs.
    pub fn as_sprs(&self) -> &CsMatI<T, u32, usize> {
        &self.matrix
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.matrix.cols()
    }

    /// Number of stored entries.
    pub fn n_nonzeros(&self) -> usize {
        self.matrix.nnz()
    }

    /// Column and value of each stored entry of row `i`, in ascending order of the columns.
    ///
    /// # Panics
    /// If there is no such row.
    #[track_caller]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let starts = self.matrix.indptr();
        let range = starts.raw_storage()[i]..starts.raw_storage()[i + 1];
        let (columns, values) = (&self.matrix.indices()[range.clone()], &self.matrix.data()[range]);
        columns.iter().zip(values).map(|(&j, &value)| (j as usize, value))
    }

    /// The entry `(i, j)`; zero if it is not stored.
    pub fn get(&self, i: usize, j: usize) -> T {
        self.matrix.get(i, j).copied().unwrap_or(T::ZERO)
    }

    /// The diagonal; zero for entries that are not stored.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.n_rows().min(self.n_cols())).map(|i| self.get(i, i)).collect()
    }

    /// The transposed matrix.
    pub fn transpose(&self) -> Self {
        Self { matrix: self.matrix.transpose_view().to_csr() }
    }

    /// Checks that `|a_ij − a_ji| ≤ tolerance max |a|` for all entries.
    ///
    /// # Errors
    /// [`MatrixError::NotSquare`], or [`MatrixError::NotSymmetric`] with the first pair that differs.
    pub fn require_symmetric(&self, tolerance: f64) -> Result<(), MatrixError> {
        let (n_rows, n_cols) = (self.n_rows(), self.n_cols());
        if n_rows != n_cols {
            return Err(MatrixError::NotSquare { n_rows, n_cols });
        }
        let largest = self.matrix.data().iter().fold(0.0, |m: f64, a| m.max(a.abs().to_f64()));
        for row in 0..n_rows {
            for (col, value) in self.row(row) {
                let (value, mirrored) = (value.to_f64(), self.get(col, row).to_f64());
                if (value - mirrored).abs() > tolerance * largest {
                    return Err(MatrixError::NotSymmetric { row, col, value, mirrored });
                }
            }
        }
        Ok(())
    }
}

fn check_size(n_rows: usize, n_cols: usize) -> Result<(), MatrixError> {
    if n_rows > MAX_ROWS || n_cols > MAX_ROWS {
        return Err(MatrixError::TooLarge { n_rows, n_cols, most: MAX_ROWS });
    }
    Ok(())
}

/// As [`Csr::from_sprs`].
impl<T: Scalar> TryFrom<sprs::CsMat<T>> for Csr<T> {
    type Error = MatrixError;

    fn try_from(matrix: sprs::CsMat<T>) -> Result<Self, MatrixError> {
        Self::from_sprs(matrix)
    }
}

/// `y = A x`, with rows in parallel, each summed from left to right: the same bits for any number of threads.
impl<T: Scalar> LinearOperator<HostVector<T>> for Csr<T> {
    fn n_rows(&self) -> usize {
        self.n_rows()
    }

    #[track_caller]
    fn apply(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        assert_eq!(x.len(), self.n_cols(), "A x needs as many entries in x as A has columns");
        assert_eq!(y.len(), self.n_rows(), "y = A x needs as many entries in y as A has rows");
        let starts = self.matrix.indptr();
        let (starts, columns, values) = (starts.raw_storage(), self.matrix.indices(), self.matrix.data());
        let x = x.as_slice();
        y.for_each_piece(|first, piece| {
            for (y, ends) in piece.iter_mut().zip(starts[first..].windows(2)) {
                let range = ends[0]..ends[1];
                let mut sum = T::ZERO;
                for (&j, &a) in columns[range.clone()].iter().zip(&values[range]) {
                    sum += a * x[j as usize];
                }
                *y = sum;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_outside_or_not_finite_are_named() {
        let outside = Csr::from_triplets(2, 3, [(0, 0, 1.0), (1, 3, 1.0)]);
        assert_eq!(outside, Err(MatrixError::OutsideMatrix { row: 1, col: 3, n_rows: 2, n_cols: 3 }));
        let infinite = Csr::from_triplets(2, 2, [(1, 0, f64::INFINITY)]);
        assert!(matches!(infinite, Err(MatrixError::NotFinite { row: 1, col: 0, .. })));
        let huge = Csr::<f64>::from_triplets(1 << 40, 1, []);
        assert!(matches!(huge, Err(MatrixError::TooLarge { .. })));
        let unsorted = Csr::from_arrays(1, 3, vec![0, 2], vec![2, 0], vec![1.0, 2.0]);
        assert!(matches!(unsorted, Err(MatrixError::Structure { .. })));
        let nan = Csr::from_arrays(1, 3, vec![0, 2], vec![0, 2], vec![1.0, f64::NAN]);
        assert!(matches!(nan, Err(MatrixError::NotFinite { row: 0, col: 2, .. })));
    }

    #[test]
    fn symmetry_is_checked_against_the_largest_entry() {
        let a =
            |b: f64| Csr::from_triplets(2, 2, [(0, 0, 4.0), (0, 1, 1.0), (1, 0, b), (1, 1, 4.0)]).unwrap();
        assert!(a(1.0).require_symmetric(0.0).is_ok());
        assert!(a(1.0 + 1e-13).require_symmetric(1e-12).is_ok());
        let lopsided = a(0.5).require_symmetric(1e-12);
        assert_eq!(lopsided, Err(MatrixError::NotSymmetric { row: 0, col: 1, value: 1.0, mirrored: 0.5 }));
        let missing = Csr::from_triplets(2, 2, [(1, 0, 3.0)]).unwrap();
        assert!(missing.require_symmetric(0.1).is_err());
        let wide = Csr::<f64>::from_triplets(2, 3, []).unwrap();
        assert_eq!(wide.require_symmetric(0.0), Err(MatrixError::NotSquare { n_rows: 2, n_cols: 3 }));
    }

    #[test]
    fn sprs_matrices_of_either_order_are_taken_over() {
        let mut triplets = sprs::TriMat::new((2, 3));
        triplets.add_triplet(0, 2, 5.0);
        triplets.add_triplet(1, 0, -1.0);
        let (rows, columns): (sprs::CsMat<f64>, sprs::CsMat<f64>) = (triplets.to_csr(), triplets.to_csc());
        let a = Csr::from_sprs(rows).unwrap();
        assert_eq!(a, Csr::from_sprs(columns).unwrap());
        assert_eq!((a.get(0, 2), a.get(1, 0), a.get(0, 0), a.n_nonzeros()), (5.0, -1.0, 0.0, 2));
        assert_eq!(a.transpose().get(2, 0), 5.0);
    }
}
