//! Compressed rows without checks, and the parallel loops of the set-up.

use std::ops::Range;

use dgsuite_gpu::{Host, Scalar};
use rayon::prelude::*;

use crate::Csr;

/// Rows of one piece of the parallel set-up. Results do not depend on it.
pub(crate) const PIECE: usize = 8 * 1024;

/// The arrays of a matrix in compressed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sparse<T> {
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<T>,
}

/// A borrowed view of the arrays of a matrix in compressed rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a, T> {
    pub(crate) starts: &'a [usize],
    pub(crate) columns: &'a [u32],
    pub(crate) values: &'a [T],
}

impl<'a, T: Scalar> View<'a, T> {
    pub(crate) fn n_rows(self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn n_nonzeros(self) -> usize {
        self.columns.len()
    }

    /// Number of entries of row `i`.
    #[inline(always)]
    pub(crate) fn length(self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// Columns and values of row `i`.
    #[inline(always)]
    pub(crate) fn row(self, i: usize) -> (&'a [u32], &'a [T]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Column and value of each entry of row `i`.
    #[inline(always)]
    pub(crate) fn entries(self, i: usize) -> impl Iterator<Item = (usize, T)> + 'a {
        let (columns, values) = self.row(i);
        columns.iter().zip(values).map(|(&j, &a)| (j as usize, a))
    }

    /// The transpose of a matrix with `n_cols` columns.
    pub(crate) fn transposed(self, n_cols: usize) -> Sparse<T> {
        let mut starts = vec![0; n_cols + 1];
        for &j in self.columns {
            starts[j as usize + 1] += 1;
        }
        for j in 0..n_cols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; self.n_nonzeros()], vec![T::ZERO; self.n_nonzeros()]);
        for i in 0..self.n_rows() {
            for (j, value) in self.entries(i) {
                let at = &mut next[j];
                (columns[*at], values[*at]) = (i as u32, value);
                *at += 1;
            }
        }
        Sparse { starts, columns, values }
    }

    /// `Σ_j a_ij x_j`.
    #[inline(always)]
    pub(crate) fn product(self, i: usize, x: &[T]) -> T {
        let (columns, values) = self.row(i);
        let mut sum = T::ZERO;
        for (&j, &a) in columns.iter().zip(values) {
            sum += a * x[j as usize];
        }
        sum
    }
}

impl<T: Scalar> Csr<T> {
    pub(crate) fn view(&self) -> View<'_, T> {
        let matrix = self.as_sprs();
        // The index array of a whole matrix starts at zero and is never sliced.
        View { starts: matrix.indptr().into_raw_storage(), columns: matrix.indices(), values: matrix.data() }
    }
}

impl<T: Scalar> Sparse<T> {
    pub(crate) fn view(&self) -> View<'_, T> {
        View { starts: &self.starts, columns: &self.columns, values: &self.values }
    }

    /// `factor` times a matrix, rounded once to this precision.
    pub(crate) fn scaled(host: &Host, a: View<'_, f64>, factor: f64) -> Self {
        let mut values = vec![T::ZERO; a.n_nonzeros()];
        host.install(|| {
            values.par_chunks_mut(PIECE).zip(a.values.par_chunks(PIECE)).for_each(|(to, from)| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = T::from_f64(factor * from);
                }
            });
        });
        Self { starts: a.starts.to_vec(), columns: a.columns.to_vec(), values }
    }
}

/// The results of `work` for each piece of `0..n`, in order; pieces run in parallel.
pub(crate) fn pieces<R: Send>(
    host: &Host,
    n: usize,
    work: impl Fn(Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    let count = n.div_ceil(PIECE);
    let piece = |k: usize| k * PIECE..n.min((k + 1) * PIECE);
    if count <= 1 || host.n_threads() == 1 {
        (0..count).map(|k| work(piece(k))).collect()
    } else {
        host.install(|| (0..count).into_par_iter().map(|k| work(piece(k))).collect())
    }
}

/// `make(i)` for `0..n`, in parallel.
pub(crate) fn tabulate<R: Send>(host: &Host, n: usize, make: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    if n <= PIECE || host.n_threads() == 1 {
        (0..n).map(make).collect()
    } else {
        host.install(|| (0..n).into_par_iter().with_min_len(PIECE).map(make).collect())
    }
}
