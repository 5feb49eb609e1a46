//! The matrix of a coarser level: `A_c = Pᵀ A P`, with P piecewise constant on aggregates.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use dgsuite_gpu::Host;
use rayon::prelude::*;

use super::aggregates::{Aggregates, NONE};
use crate::sparse::{Sparse, View};
use crate::{Csr, MatrixError};

/// Pieces of work per thread: enough to balance unequal rows.
const PIECES_PER_THREAD: usize = 4;
/// Least number of coarse rows in a piece.
const LEAST_ROWS: usize = 1024;

/// `a_KL = Σ_{i∈K} Σ_{j∈L} a_ij`, with ascending columns. Each entry is summed in the order of rows and
/// columns, so that its bits do not depend on how threads share the rows.
pub(crate) fn product(host: &Host, a: View<'_, f64>, aggregates: &Aggregates) -> Sparse<f64> {
    let n = aggregates.len();
    let most = |k: usize| aggregates.rows(k).iter().map(|&i| a.length(i as usize)).sum();
    collect(host, [n, n], most, |k, row| {
        for &i in aggregates.rows(k) {
            for (j, value) in a.entries(i as usize) {
                let column = aggregates.of_row[j];
                if column != NONE {
                    row.add(column, value);
                }
            }
        }
    })
}

/// `A B`, where B has `n_cols` columns; columns ascend, and each entry is summed in the order of the row of
/// A.
pub(crate) fn multiply(host: &Host, a: View<'_, f64>, b: View<'_, f64>, n_cols: usize) -> Sparse<f64> {
    let most = |i: usize| a.row(i).0.iter().map(|&k| b.length(k as usize)).sum();
    collect(host, [a.n_rows(), n_cols], most, |i, row| {
        for (k, value) in a.entries(i) {
            for (j, other) in b.entries(k) {
                row.add(j as u32, value * other);
            }
        }
    })
}

impl Csr<f64> {
    /// Computes `Pᵀ A P`, the Galerkin matrix of a coarser level with the prolongation P. Entries below 10⁻¹²
    /// (a_ii a_jj)^½ are rounding errors of sums that cancel and are left out. The result has the same bits
    /// for any number of threads.
    ///
    /// # Errors
    /// [`MatrixError::NotFinite`] where a sum overflows.
    ///
    /// # Panics
    /// If the matrix is not square with as many rows as P.
    #[track_caller]
    pub fn galerkin(&self, host: &Host, p: &Self) -> Result<Self, MatrixError> {
        assert!(
            [self.n_rows(), self.n_cols()] == [p.n_rows(); 2],
            "a prolongation has as many rows as the finer level"
        );
        let n = p.n_cols();
        let product = triple_product(host, self.view(), p.view(), n);
        let Sparse { starts, columns, values } = without_rounding(product.view());
        Self::from_arrays(n, n, starts, columns, values)
    }
}

/// Entries below this fraction of the geometric mean of both diagonal entries are rounding errors.
const ROUNDING: f64 = 1e-12;

fn without_rounding(a: View<'_, f64>) -> Sparse<f64> {
    let diagonal = |i: usize| a.entries(i).find(|&(j, _)| j == i).map_or(0.0, |(_, value)| value);
    let diagonal: Vec<f64> = (0..a.n_rows()).map(diagonal).collect();
    let mut kept = Sparse { starts: vec![0], ..Sparse::default() };
    for (i, own) in diagonal.iter().enumerate() {
        for (j, value) in a.entries(i) {
            if j == i || value * value > ROUNDING * ROUNDING * (own * diagonal[j]).abs() {
                kept.columns.push(j as u32);
                kept.values.push(value);
            }
        }
        kept.starts.push(kept.columns.len());
    }
    kept
}

/// If `Pᵀ A P` has at most this many terms for each row of A, they are summed directly, without the
/// intermediate product `A P`, which would be larger than A.
const FEW_TERMS: f64 = 36.0;

/// `Pᵀ A P`, where P has `n` columns.
pub(crate) fn triple_product(host: &Host, a: View<'_, f64>, p: View<'_, f64>, n: usize) -> Sparse<f64> {
    let transposed = p.transposed(n);
    let per_row = |m: View<'_, f64>| m.n_nonzeros() as f64 / a.n_rows().max(1) as f64;
    if per_row(a) * per_row(p) * per_row(p) <= FEW_TERMS {
        return at_once(host, transposed.view(), a, p);
    }
    let ap = multiply(host, a, p, n);
    multiply(host, transposed.view(), ap.view(), n)
}

/// `Pᵀ A P` from P and its transpose, without the intermediate product.
fn at_once(host: &Host, transposed: View<'_, f64>, a: View<'_, f64>, p: View<'_, f64>) -> Sparse<f64> {
    let n = transposed.n_rows();
    let reach = |i: usize| a.row(i).0.iter().map(|&j| p.length(j as usize)).sum::<usize>();
    let most = |k: usize| transposed.row(k).0.iter().map(|&i| reach(i as usize)).sum();
    collect(host, [n, n], most, |k, row| {
        for (i, left) in transposed.entries(k) {
            for (j, value) in a.entries(i) {
                for (l, right) in p.entries(j) {
                    row.add(l as u32, left * value * right);
                }
            }
        }
    })
}

/// Builds a matrix with `n` rows: `add` adds the terms of a row to a collector, and `most` bounds their
/// number.
pub(super) fn collect(
    host: &Host,
    [n, n_cols]: [usize; 2],
    most: impl Fn(usize) -> usize + Sync + Send,
    add: impl Fn(usize, &mut Collector) + Sync + Send,
) -> Sparse<f64> {
    let n_pieces = match host.n_threads() {
        1 => 1,
        n_threads => (PIECES_PER_THREAD * n_threads).min(n.div_ceil(LEAST_ROWS)).max(1),
    };
    let rows = |k: usize| k * n / n_pieces..(k + 1) * n / n_pieces;
    let room = |k: usize| rows(k).map(|i| most(i).min(n_cols)).sum();
    let room: Vec<usize> = host.install(|| (0..n_pieces).into_par_iter().map(room).collect());
    let all = room.iter().sum();
    // Each piece reserves room for its largest size; the system provides the memory when it is written.
    let (mut starts, mut columns, mut values) = (vec![0; n + 1], vec![0; all], vec![0.0; all]);
    let mut pieces = Vec::with_capacity(n_pieces);
    let (mut ends_left, mut columns_left, mut values_left) =
        (&mut starts[1..], columns.as_mut_slice(), values.as_mut_slice());
    for (k, &room) in room.iter().enumerate() {
        let ends = ends_left.split_off_mut(..rows(k).len()).unwrap_or_default();
        let columns = columns_left.split_off_mut(..room).unwrap_or_default();
        let values = values_left.split_off_mut(..room).unwrap_or_default();
        pieces.push((rows(k), ends, columns, values));
    }
    // Allocating a collector is slow, so there are only as many as run at the same time.
    let idle = Mutex::new(Vec::new());
    let fill = |(rows, ends, columns, values): (Range<usize>, &mut [usize], &mut [u32], &mut [f64])| {
        let collector = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut collector = collector.unwrap_or_else(|| Collector::new(n_cols));
        let mut length = 0;
        for (i, end) in rows.zip(ends) {
            add(i, &mut collector);
            length += collector.finish_row(&mut columns[length..], &mut values[length..]);
            *end = length;
        }
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(collector);
        length
    };
    let lengths: Vec<usize> = host.install(|| pieces.into_par_iter().map(fill).collect());

    let mut first = 0;
    for (k, length) in lengths.iter().enumerate() {
        starts[1..][rows(k)].iter_mut().for_each(|end| *end += first);
        first += length;
    }
    host.install(|| {
        rayon::join(|| close_up(&mut columns, &room, &lengths), || close_up(&mut values, &room, &lengths))
    });
    Sparse { starts, columns, values }
}

/// Moves pieces together that fill only a part of their room.
fn close_up<T: Copy>(array: &mut Vec<T>, room: &[usize], lengths: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (room, length) in room.iter().zip(lengths) {
        array.copy_within(from..from + length, to);
        (from, to) = (from + room, to + length);
    }
    array.truncate(to);
    array.shrink_to_fit();
}

/// Sums the entries of one row at a time (Gustavson 1978).
pub(super) struct Collector {
    /// The position of a column's entry in the current row, if it has one.
    place: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// Rows of up to this many entries are sorted by insertion.
const SHORT: usize = 32;

impl Collector {
    fn new(n_cols: usize) -> Self {
        Self { place: vec![0; n_cols], columns: Vec::new(), values: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, column: u32, value: f64) {
        let at = &mut self.place[column as usize];
        if self.columns.get(*at as usize) == Some(&column) {
            self.values[*at as usize] += value;
        } else {
            *at = self.columns.len() as u32;
            self.columns.push(column);
            self.values.push(value);
        }
    }

    /// Writes the row to the first places and clears it; returns the number of its entries.
    fn finish_row(&mut self, to_columns: &mut [u32], to_values: &mut [f64]) -> usize {
        let (columns, values) = (&mut self.columns, &mut self.values);
        let n = columns.len();
        if n <= SHORT {
            for k in 1..n {
                let (column, value) = (columns[k], values[k]);
                let mut at = k;
                while at > 0 && columns[at - 1] > column {
                    (columns[at], values[at]) = (columns[at - 1], values[at - 1]);
                    at -= 1;
                }
                (columns[at], values[at]) = (column, value);
            }
            to_values[..n].copy_from_slice(values);
        } else {
            columns.sort_unstable();
            // `place` still holds the positions from before the sort.
            for (to, &column) in to_values.iter_mut().zip(columns.iter()) {
                *to = values[self.place[column as usize] as usize];
            }
        }
        to_columns[..n].copy_from_slice(columns);
        columns.clear();
        values.clear();
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    #[test]
    fn both_triple_products_are_one() {
        let host = Host::new(3).unwrap();
        let a = gallery::poisson_2d(60, 50, 0.4).unwrap();
        let entries =
            (0..3000).flat_map(|i| (0..i % 4).map(move |k| (i, (i / 7 + 40 * k) % 400, 1.0 + k as f64)));
        let p = Csr::from_triplets(3000, 400, entries).unwrap();
        let transposed = p.view().transposed(400);
        let whole = at_once(&host, transposed.view(), a.view(), p.view());
        let ap = multiply(&host, a.view(), p.view(), 400);
        let steps = multiply(&host, transposed.view(), ap.view(), 400);
        assert_eq!((&whole.starts, &whole.columns), (&steps.starts, &steps.columns));
        assert!(whole.values.iter().zip(&steps.values).all(|(a, b)| (a - b).abs() < 1e-11));
        assert!(whole == at_once(&Host::new(1).unwrap(), transposed.view(), a.view(), p.view()));
    }

    #[test]
    fn coarse_entries_are_sums_over_aggregates() {
        let a = gallery::poisson_2d(90, 70, 0.4).unwrap();
        let label: Vec<u32> =
            (0..6300).map(|i| if i % 11 == 0 { NONE } else { (i / 2 + (i * i) % 5) as u32 }).collect();
        let aggregates = Aggregates::from_labels(&label);
        let coarse = product(&Host::new(1).unwrap(), a.view(), &aggregates);
        assert_eq!(coarse, product(&Host::new(3).unwrap(), a.view(), &aggregates));
        let mut dense = std::collections::BTreeMap::new();
        for i in 0..6300 {
            for (j, value) in a.row(i) {
                let (k, l) = (aggregates.of_row[i], aggregates.of_row[j]);
                if k != NONE && l != NONE {
                    *dense.entry((k, l)).or_insert(0.0) += value;
                }
            }
        }
        assert_eq!(coarse.columns.len(), dense.len());
        let view = coarse.view();
        let entries =
            (0..view.n_rows()).flat_map(|k| view.entries(k).map(move |(l, v)| ((k as u32, l as u32), v)));
        assert!(entries.zip(dense).all(|((at, v), (place, sum))| at == place && (v - sum).abs() < 1e-14));
    }
}
