//! Sparse matrices of dense blocks, and their incomplete factors.

use dgsuite_gpu::Host;
use rayon::prelude::*;

use super::dense;

/// The columns of a row, ascending, and their blocks, row by row.
pub(super) type Row = Vec<(u32, Vec<f64>)>;

/// A matrix of blocks: those of an element's row are its own and those of its neighbours, ascending. Rows are
/// numbered in the order of elimination.
#[derive(Clone)]
pub(super) struct BlockMatrix {
    /// Offset of the entries of each row of blocks.
    pub(super) offsets: Vec<usize>,
    /// The columns and blocks of each row.
    pub(super) rows: Vec<Row>,
}

impl BlockMatrix {
    pub(super) fn size(&self, e: usize) -> usize {
        self.offsets[e + 1] - self.offsets[e]
    }

    pub(super) fn range(&self, e: usize) -> std::ops::Range<usize> {
        self.offsets[e]..self.offsets[e + 1]
    }

    /// A matrix of zeros, of rows of these sizes, with the places of neighbours and of the diagonal.
    pub(super) fn zeros(sizes: impl Fn(usize) -> usize, neighbours: &[Vec<u32>]) -> Self {
        let mut offsets = vec![0];
        (0..neighbours.len()).for_each(|e| offsets.push(offsets[e] + sizes(e)));
        let row = |(e, near): (usize, &Vec<u32>)| {
            let mut columns: Vec<u32> = near.iter().copied().chain([e as u32]).collect();
            columns.sort_unstable();
            columns.into_iter().map(|c| (c, vec![0.0; sizes(e) * sizes(c as usize)])).collect()
        };
        Self { rows: neighbours.iter().enumerate().map(row).collect(), offsets }
    }

    /// Adds a multiple of one to the diagonal of each row.
    pub(super) fn add_to_diagonal(&mut self, shift: impl Fn(usize) -> f64) {
        for e in 0..self.rows.len() {
            let (n, shift) = (self.size(e), shift(e));
            if let Some(block) = self.block_mut(e, e as u32) {
                (0..n).for_each(|i| block[i * n + i] += shift);
            }
        }
    }

    /// Bytes of the blocks.
    pub(super) fn bytes(&self) -> usize {
        8 * self.rows.iter().flatten().map(|(_, block)| block.len()).sum::<usize>()
    }

    pub(super) fn block_mut(&mut self, e: usize, column: u32) -> Option<&mut Vec<f64>> {
        let row = &mut self.rows[e];
        row.binary_search_by_key(&column, |(c, _)| *c).ok().map(|i| &mut row[i].1)
    }

    /// The same matrix with the row `order[k]` in place `k`.
    pub(super) fn in_order(mut self, order: &[u32]) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&row, k)| place[row as usize] = k);
        let mut offsets = vec![0];
        let mut rows = Vec::with_capacity(order.len());
        for (k, &row) in order.iter().enumerate() {
            offsets.push(offsets[k] + self.size(row as usize));
            let mut blocks = std::mem::take(&mut self.rows[row as usize]);
            blocks.iter_mut().for_each(|(column, _)| *column = place[*column as usize]);
            blocks.sort_unstable_by_key(|(column, _)| *column);
            rows.push(blocks);
        }
        Self { offsets, rows }
    }

    /// The norms of `D_i⁻¹ A_ik` and `D_k⁻¹ A_ki` for all neighbours `k` of each row `i`, with pseudo-time.
    pub(super) fn couplings(&self, host: &Host, shifts: &[f64]) -> Vec<Vec<(u32, [f64; 2])>> {
        let row = |i: usize| -> Vec<(u32, f64)> {
            let n = self.size(i);
            let mut inverse = vec![0.0; n * n];
            if let Some((_, own)) = self.rows[i].iter().find(|(column, _)| *column as usize == i) {
                inverse.copy_from_slice(own);
                (0..n).for_each(|k| inverse[k * n + k] += shifts[i]);
            }
            dense::invert(&mut inverse, n);
            let others = self.rows[i].iter().filter(|(column, _)| *column as usize != i);
            let norm = |(column, block): &(u32, Vec<f64>)| {
                let mut product = vec![0.0; block.len()];
                dense::subtract_product(&inverse, block, n, n, &mut product);
                (*column, product.iter().map(|x| x * x).sum::<f64>().sqrt())
            };
            others.map(norm).collect()
        };
        let scaled: Vec<Vec<(u32, f64)>> =
            host.install(|| (0..self.rows.len()).into_par_iter().map(row).collect());
        let back = |i: u32, k: u32| {
            let row = &scaled[k as usize];
            row.binary_search_by_key(&i, |(column, _)| *column).map_or(0.0, |at| row[at].1)
        };
        (0..).zip(&scaled).map(|(i, row)| row.iter().map(|&(k, c)| (k, [c, back(i, k)])).collect()).collect()
    }

    /// Copies the blocks of a matrix with the same places.
    pub(super) fn copy_from(&mut self, other: &Self) {
        for ((_, to), (_, from)) in self.rows.iter_mut().flatten().zip(other.rows.iter().flatten()) {
            to.copy_from_slice(from);
        }
    }

    /// The rows that can be solved at a time, from the first row to the last and back: each level needs those
    /// before it.
    pub(super) fn levels(&self) -> Levels {
        let n = self.rows.len();
        let before = |e: usize, column: &&(u32, Vec<f64>)| (column.0 as usize) < e;
        let lower = in_levels(0..n, |e| self.rows[e].iter().take_while(move |column| before(e, column)));
        let upper = in_levels((0..n).rev(), |e| {
            self.rows[e].iter().rev().take_while(move |(column, _)| *column as usize > e)
        });
        Levels { lower, upper }
    }

    /// Incomplete factors in the places of the blocks, with inverted diagonals (Meijerink & van der Vorst
    /// 1977, for blocks). Returns `false` if a diagonal block is singular; the factors are then not usable.
    pub(super) fn factorise(&mut self, host: &Host, levels: &Levels) -> bool {
        for level in &levels.lower {
            let take = |&e: &u32| (e as usize, std::mem::take(&mut self.rows[e as usize]));
            let mut rows: Vec<(usize, Row)> = level.iter().map(take).collect();
            let eliminate = |(e, row): &mut (usize, Row)| self.eliminate(*e, row);
            let regular = host.install(|| rows.par_iter_mut().map(eliminate).reduce(|| true, |a, b| a && b));
            rows.into_iter().for_each(|(e, row)| self.rows[e] = row);
            if !regular {
                return false;
            }
        }
        true
    }

    /// Makes row `e` one of the factors; those that it needs are there.
    fn eliminate(&self, e: usize, row: &mut Row) -> bool {
        let n = self.size(e);
        for i in 0..row.len() {
            let before = row[i].0 as usize;
            if before >= e {
                break;
            }
            // L = A U⁻¹ of the earlier row.
            let m = self.size(before);
            let mut factor = vec![0.0; n * m];
            let earlier = &self.rows[before];
            let Some(own) = earlier.iter().position(|(c, _)| *c as usize == before) else { continue };
            dense::subtract_product(&row[i].1, &earlier[own].1, n, m, &mut factor);
            factor.iter_mut().for_each(|x| *x = -*x);
            for (column, block) in &earlier[own + 1..] {
                if let Ok(at) = row.binary_search_by_key(column, |(c, _)| *c) {
                    dense::subtract_product(&factor, block, n, m, &mut row[at].1);
                }
            }
            row[i].1 = factor;
        }
        let own = row.binary_search_by_key(&(e as u32), |(c, _)| *c);
        own.is_ok_and(|own| dense::invert(&mut row[own].1, n))
    }

    /// Solves with the factors.
    pub(super) fn solve(&self, host: &Host, levels: &Levels, r: &[f64], x: &mut [f64]) {
        host.install(|| {
            for level in &levels.lower {
                self.solve_rows(host, level, x, |e, x| {
                    let mut sum = r[self.range(e)].to_vec();
                    for (column, block) in self.rows[e].iter().take_while(|(c, _)| (*c as usize) < e) {
                        dense::add_product(block, &x[self.range(*column as usize)], -1.0, &mut sum);
                    }
                    sum
                });
            }
            for level in &levels.upper {
                self.solve_rows(host, level, x, |e, x| {
                    let mut sum = x[self.range(e)].to_vec();
                    let mut solved = vec![0.0; sum.len()];
                    let mut own = None;
                    for (column, block) in self.rows[e].iter().skip_while(|(c, _)| (*c as usize) < e) {
                        if *column as usize == e {
                            own = Some(block);
                        } else {
                            dense::add_product(block, &x[self.range(*column as usize)], -1.0, &mut sum);
                        }
                    }
                    if let Some(own) = own {
                        dense::add_product(own, &sum, 1.0, &mut solved);
                    }
                    solved
                });
            }
        });
    }

    /// Sets the entries of the rows of a level, which do not depend on each other.
    fn solve_rows(
        &self,
        host: &Host,
        level: &[u32],
        x: &mut [f64],
        row: impl Fn(usize, &[f64]) -> Vec<f64> + Sync,
    ) {
        let numbers = |e: u32| self.rows[e as usize].iter().map(|(_, block)| block.len()).sum::<usize>();
        // Small rows are not worth another thread.
        let at_once = level.first().map_or(1, |&e| TASK.div_ceil(numbers(e).max(1)));
        if host.n_threads() == 1 || level.len() <= at_once {
            for &e in level {
                let found = row(e as usize, x);
                x[self.range(e as usize)].copy_from_slice(&found);
            }
            return;
        }
        let seen: &[f64] = x;
        let found: Vec<Vec<f64>> =
            level.par_iter().with_min_len(at_once).map(|&e| row(e as usize, seen)).collect();
        for (&e, found) in level.iter().zip(found) {
            x[self.range(e as usize)].copy_from_slice(&found);
        }
    }
}

/// Rows of levels, by their numbers in the order of elimination.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    lower: Vec<Vec<u32>>,
    upper: Vec<Vec<u32>>,
}

/// Numbers of blocks that one task reads at least.
const TASK: usize = 1 << 15;

/// The rows of each level, where row `e` needs the columns `before(e)`.
fn in_levels<'a, I: Iterator<Item = &'a (u32, Vec<f64>)>>(
    rows: impl ExactSizeIterator<Item = usize>,
    before: impl Fn(usize) -> I,
) -> Vec<Vec<u32>> {
    let mut level = vec![0; rows.len()];
    let mut levels: Vec<Vec<u32>> = Vec::new();
    for e in rows {
        level[e] = before(e).map(|(column, _)| level[*column as usize] + 1).max().unwrap_or(0);
        if levels.len() <= level[e] {
            levels.resize(level[e] + 1, Vec::new());
        }
        levels[level[e]].push(e as u32);
    }
    levels
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// A chain of elements with blocks of two rows, so that incomplete factors are complete.
    fn chain(n: usize) -> BlockMatrix {
        let near = |e: usize| [e.checked_sub(1), Some(e + 1).filter(|&e| e < n)];
        let neighbours: Vec<Vec<u32>> =
            (0..n).map(|e| near(e).into_iter().flatten().map(|e| e as u32).collect()).collect();
        let mut matrix = BlockMatrix::zeros(|_| 2, &neighbours);
        for (e, row) in matrix.rows.iter_mut().enumerate() {
            for (column, block) in row {
                let own = if *column as usize == e { 4.0 } else { 1.0 };
                *block = vec![own, 0.3 * e as f64 / n as f64, -0.5, own + 0.1 * f64::from(*column)];
            }
        }
        matrix
    }

    #[test]
    fn complete_factors_solve_with_any_number_of_threads_and_order() {
        let n = 9;
        let matrix = chain(n);
        let x: Vec<f64> = (0..2 * n).map(|i| (i as f64).sin()).collect();
        let mut r = vec![0.0; 2 * n];
        for (e, row) in matrix.rows.iter().enumerate() {
            for (column, block) in row {
                let from = matrix.range(*column as usize);
                dense::add_product(block, &x[from], 1.0, &mut r[2 * e..2 * e + 2]);
            }
        }
        let natural: Vec<u32> = (0..n as u32).collect();
        // Ends first: no fill is lost in a chain either.
        let from_ends: Vec<u32> =
            (0..n as u32).map(|k| if k % 2 == 0 { k / 2 } else { n as u32 - 1 - k / 2 }).collect();
        for order in [natural, from_ends] {
            let mut found = Vec::new();
            for threads in [1, 2] {
                let mut factors = matrix.clone().in_order(&order);
                let (host, levels) = (Host::new(threads).unwrap(), factors.levels());
                assert!(factors.factorise(&host, &levels));
                let right: Vec<f64> = order.iter().flat_map(|&e| r[2 * e as usize..][..2].to_vec()).collect();
                let mut solved = vec![0.0; 2 * n];
                factors.solve(&host, &levels, &right, &mut solved);
                for (k, &e) in order.iter().enumerate() {
                    for i in 0..2 {
                        let error = solved[2 * k + i] - x[2 * e as usize + i];
                        assert!(error.abs() < 1e-13, "{order:?} {e}: {error:.1e}");
                    }
                }
                found.push(solved);
            }
            assert_eq!(found[0], found[1]);
        }
    }

    #[test]
    fn a_singular_block_is_told_and_leaves_the_places() {
        let host = Host::new(1).unwrap();
        let whole = chain(4);
        // A failure leaves all rows, so that the next attempt begins with the same places.
        let (mut factors, levels) = (whole.clone(), whole.levels());
        factors.rows[1][1].1.fill(0.0);
        factors.rows[1][0].1.fill(0.0);
        assert!(!factors.factorise(&host, &levels));
        factors.copy_from(&whole);
        assert!(factors.factorise(&host, &levels));
    }
}
