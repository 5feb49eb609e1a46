//! Matrices for many products: slices of sixteen rows, each stored in the format that suits its entries.
//!
//! Compressed rows need an index for each entry and a short loop for each row. Where the rows of a slice have
//! their entries at the same offsets from the diagonal, as on any part of a structured grid, one index serves
//! sixteen entries, which multiply consecutive entries of x. Where rows have similar lengths, sixteen rows
//! advance together (sliced ELLPACK, Kreutzer et al. 2014). Other slices remain compressed rows. Each row is
//! summed from left to right, so that all formats give the bits of compressed rows.

mod block;

use dgsuite_gpu::{Host, HostVector, Scalar, Vectorized};
use rayon::prelude::*;

use crate::sparse::{Sparse, View, pieces};
use crate::{Csr, LinearOperator};
use block::{Block, LANES};

/// Rows of a block, which one thread processes: the same as a piece of [`pieces`].
const BLOCK: usize = crate::sparse::PIECE;

/// A matrix in slices.
#[derive(Clone, Debug)]
pub(crate) struct Sliced<T> {
    n_rows: usize,
    n_nonzeros: usize,
    blocks: Vec<Block<T>>,
}

impl<T: Scalar> Sliced<T> {
    /// `factor` times a matrix with `n_cols` columns, rounded once to this precision.
    pub(crate) fn new(host: &Host, a: View<'_, f64>, factor: f64, n_cols: usize) -> Self {
        let blocks = pieces(host, a.n_rows(), |rows| Block::new(a, factor, n_cols, rows));
        Self { n_rows: a.n_rows(), n_nonzeros: a.n_nonzeros(), blocks }
    }

    /// As [`new`](Self::new); in addition calls `work` with the first row of each block and the block's
    /// entries of a vector, while the block is in the cache, and returns the results.
    pub(crate) fn new_beside<R: Send>(
        host: &Host,
        a: View<'_, f64>,
        factor: f64,
        vector: &mut HostVector<T>,
        work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
    ) -> (Self, Vec<R>) {
        let n = a.n_rows();
        let make = |(k, entries): (usize, &mut [T])| {
            let first = k * BLOCK;
            let block = Block::new(a, factor, n, first..first + entries.len());
            (block, work(first, entries))
        };
        let vector = vector.as_mut_slice();
        let (blocks, made) = host.install(|| vector.par_chunks_mut(BLOCK).enumerate().map(make).unzip());
        (Self { n_rows: n, n_nonzeros: a.n_nonzeros(), blocks }, made)
    }

    /// A matrix without rows.
    pub(crate) fn empty() -> Self {
        Self { n_rows: 0, n_nonzeros: 0, blocks: Vec::new() }
    }

    /// Number of entries of the original matrix.
    pub(crate) fn n_nonzeros(&self) -> usize {
        self.n_nonzeros
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(Block::bytes).sum()
    }

    /// The matrix in compressed rows, without entries that are zero.
    pub(crate) fn to_rows(&self) -> Sparse<T> {
        let mut rows = Sparse { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for (k, block) in self.blocks.iter().enumerate() {
            for (s, slice) in block.slices.iter().enumerate() {
                for l in 0..LANES.min(self.n_rows - k * BLOCK - s * LANES) {
                    for (j, value) in block.places(slice, l) {
                        if value != T::ZERO {
                            rows.columns.push(j);
                            rows.values.push(value);
                        }
                    }
                    rows.starts.push(rows.columns.len());
                }
            }
        }
        rows
    }

    /// Calls `work(first row, entries of y, A x)` for up to sixteen rows at a time.
    #[inline(always)]
    fn for_each_slice(
        &self,
        x: &[T],
        y: &mut HostVector<T>,
        work: impl Fn(usize, &mut [T], &[T; LANES]) + Sync + Send,
    ) {
        let host = y.host().clone();
        let run = |(k, (y, block)): (usize, (&mut [T], &Block<T>))| {
            host.vectorized(Slices { first: k * BLOCK, block, x, y, work: &work });
        };
        let y = y.as_mut_slice();
        if host.n_threads() == 1 || self.blocks.len() <= 1 {
            y.chunks_mut(BLOCK).zip(&self.blocks).enumerate().for_each(run);
        } else {
            host.install(|| y.par_chunks_mut(BLOCK).zip(&self.blocks).enumerate().for_each(run));
        }
    }

    /// `y ← A x`.
    pub(crate) fn multiply(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        self.for_each_slice(x, y, |_, y, ax| y.copy_from_slice(&ax[..y.len()]));
    }

    /// `y ← y + A x`.
    pub(crate) fn add_product(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        self.for_each_slice(x, y, |_, y, ax| {
            for (y, ax) in y.iter_mut().zip(ax) {
                *y += *ax;
            }
        });
    }

    /// `b ← b − A x`.
    pub(crate) fn subtract_product(&self, x: &HostVector<T>, b: &mut HostVector<T>) {
        self.for_each_slice(x, b, |_, b, ax| {
            for (b, ax) in b.iter_mut().zip(ax) {
                *b -= *ax;
            }
        });
    }

    /// `r ← b − A x`.
    pub(crate) fn residual(&self, b: &HostVector<T>, x: &HostVector<T>, r: &mut HostVector<T>) {
        self.for_each_slice(x, r, |first, r, ax| {
            for ((r, b), ax) in r.iter_mut().zip(&b[first..]).zip(ax) {
                *r = *b - *ax;
            }
        });
    }

    /// `y ← x + β D⁻¹ (b − A x)`: one step of any polynomial smoother, in one pass over the matrix.
    pub(crate) fn relax(
        &self,
        beta: f64,
        inverse_diagonal: &[T],
        b: &[T],
        x: &HostVector<T>,
        y: &mut HostVector<T>,
    ) {
        let beta = T::from_f64(beta);
        let x = x.as_slice();
        self.for_each_slice(x, y, |first, y, ax| {
            let n = y.len();
            let (own, b, d) =
                (&x[first..first + n], &b[first..first + n], &inverse_diagonal[first..first + n]);
            for l in 0..n {
                y[l] = own[l] + beta * d[l] * (b[l] - ax[l]);
            }
        });
    }
}

/// The loop over the slices of a block for [`Sliced::for_each_slice`].
struct Slices<'a, T, W> {
    first: usize,
    block: &'a Block<T>,
    x: &'a [T],
    y: &'a mut [T],
    work: &'a W,
}

impl<T: Scalar, W: Fn(usize, &mut [T], &[T; LANES])> Vectorized for Slices<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (s, (y, slice)) in self.y.chunks_mut(LANES).zip(&self.block.slices).enumerate() {
            let (first, product) = (self.first + s * LANES, self.block.product(slice, self.x));
            // A length known at compile time gives vector instructions.
            if y.len() == LANES {
                (self.work)(first, &mut y[..LANES], &product);
            } else {
                (self.work)(first, y, &product);
            }
        }
    }
}

impl<T: Scalar> LinearOperator<HostVector<T>> for Sliced<T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn apply(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        self.multiply(x, y);
    }
}

/// A matrix for many products on the CPU, stored in slices of sixteen rows.
///
/// Where neighbouring rows have their entries at the same offsets from the diagonal, as on any part of a
/// structured grid, one index serves sixteen entries: products with five-point matrices take two thirds of
/// the time of [`Csr`]. For finite vectors results have the same bits. Building one takes as long as a few
/// products.
#[derive(Clone, Debug)]
pub struct SlicedCsr<T: Scalar> {
    matrix: Sliced<T>,
    n_cols: usize,
}

impl SlicedCsr<f64> {
    /// Copies a matrix.
    pub fn new(host: &Host, a: &Csr<f64>) -> Self {
        Self { matrix: Sliced::new(host, a.view(), 1.0, a.n_cols()), n_cols: a.n_cols() }
    }
}

impl<T: Scalar> SlicedCsr<T> {
    /// Bytes of all arrays.
    pub fn bytes(&self) -> usize {
        self.matrix.bytes()
    }
}

impl<T: Scalar> LinearOperator<HostVector<T>> for SlicedCsr<T> {
    fn n_rows(&self) -> usize {
        self.matrix.n_rows
    }

    #[track_caller]
    fn apply(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        assert_eq!(x.len(), self.n_cols, "A x needs as many entries in x as A has columns");
        assert_eq!(y.len(), self.matrix.n_rows, "y = A x needs as many entries in y as A has rows");
        self.matrix.multiply(x, y);
    }
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, SimdLevel};

    use super::block::Kind;
    use super::*;
    use crate::gallery;

    fn kinds(a: &Sliced<f64>) -> [usize; 3] {
        let count = |kind| a.blocks.iter().flat_map(|b| &b.slices).filter(|slice| slice.kind == kind).count();
        [count(Kind::Band), count(Kind::Columns), count(Kind::Rows)]
    }

    /// Rows of any length; some are empty.
    fn ragged(n: usize, n_cols: usize) -> Csr<f64> {
        let entries = (0..n).flat_map(|i| {
            (0..(i * i) % 23).map(move |k| (i, (i * 7 + k * k * 31) % n_cols, 1.0 + (i + 3 * k) as f64))
        });
        Csr::from_triplets(n, n_cols, entries).unwrap()
    }

    #[test]
    fn slices_of_all_kinds_have_the_bits_of_rows() {
        let host = Host::new(2).unwrap();
        let n = 100;
        let two_lines =
            (0..3 * n).flat_map(|i| [(i, (i * 37) % (3 * n), 2.0), (i, (i * 91 + 5) % (3 * n), -0.5)]);
        let holes = (0..500).flat_map(|i| {
            let offsets =
                [-40, -3, 0, 1, 17].into_iter().enumerate().filter(move |(k, _)| (7 * i + 13 * k) % 5 != 0);
            let inside = offsets
                .filter_map(move |(k, offset)| Some((i, i.checked_add_signed(offset)?, 1.0 + k as f64)));
            inside.filter(|&(_, j, _)| j < 500)
        });
        let cases = [
            (Csr::from_triplets(500, 500, holes).unwrap(), [25, 0, 1]),
            (gallery::poisson_2d(150, 77, 0.3).unwrap(), [700, 1, 1]),
            (gallery::poisson_7(25).unwrap(), [900, 1, 1]),
            (Csr::from_triplets(3 * n, 3 * n, two_lines).unwrap(), [0, 18, 1]),
            (ragged(1003, 700), [0, 0, 63]),
        ];
        for (a, least) in cases {
            let sliced = Sliced::<f64>::new(&host, a.view(), 1.0, a.n_cols());
            let found = kinds(&sliced);
            assert!(found.iter().zip(least).all(|(found, least)| *found >= least), "{found:?} {least:?}");
            let numbers = |n: usize| (0..n).map(|i| (i as f64 * 0.7).sin()).collect::<Vec<_>>();
            let x = host.upload(&numbers(a.n_cols())).unwrap();
            let mut expected = host.zeros(a.n_rows()).unwrap();
            LinearOperator::apply(&a, &x, &mut expected);
            for level in SimdLevel::ALL.into_iter().filter(|&level| level <= SimdLevel::hardware()) {
                let mut y = Host::with_simd(2, level).unwrap().zeros(a.n_rows()).unwrap();
                sliced.multiply(&x, &mut y);
                assert_eq!(y.as_slice(), expected.as_slice(), "{level}");
            }
            let mut y = host.zeros(a.n_rows()).unwrap();
            let b = host.upload(&numbers(a.n_rows())).unwrap();
            sliced.residual(&b, &x, &mut y);
            assert!((0..a.n_rows()).all(|i| y[i] == b[i] - expected[i]));
            sliced.add_product(&x, &mut y);
            assert!((0..a.n_rows()).all(|i| y[i] == b[i] - expected[i] + expected[i]));
            assert_eq!(sliced.to_rows().view().columns, a.view().columns);
            assert_eq!(sliced.to_rows().starts, a.view().starts);
        }
    }

    #[test]
    fn a_step_is_that_of_a_product() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 17, 1.0).unwrap();
        let sliced = Sliced::<f64>::new(&host, a.view(), 2.0, a.n_cols());
        let vector =
            |f: fn(f64) -> f64| host.upload(&(0..340).map(|i| f(f64::from(i))).collect::<Vec<_>>()).unwrap();
        let (b, d, x) = (vector(f64::sin), vector(|i| 1.0 + i), vector(f64::cos));
        let mut ax = host.zeros(340).unwrap();
        LinearOperator::apply(&a, &x, &mut ax);
        let mut y = vector(|_| f64::NAN);
        sliced.relax(0.25, &d, &b, &x, &mut y);
        let exact = |i: usize| x[i] + 0.25 * d[i] * (b[i] - 2.0 * ax[i]);
        assert!((0..340).all(|i| (y[i] - exact(i)).abs() < 1e-12));
    }
}
