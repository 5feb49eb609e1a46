//! Sparse matrices of dense blocks, and their incomplete factors.

use super::dense;

/// A matrix of blocks: those of an element's row are its own and those of its neighbours, ascending. Rows are
/// numbered in the order of elimination.
#[derive(Clone)]
pub(super) struct BlockMatrix {
    /// Offset of the entries of each row of blocks.
    pub(super) offsets: Vec<usize>,
    /// The columns and blocks of each row.
    pub(super) rows: Vec<Vec<(u32, Vec<f64>)>>,
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
    pub(super) fn couplings(&self, shifts: &[f64]) -> Vec<Vec<(u32, [f64; 2])>> {
        let scaled: Vec<Vec<(u32, f64)>> = (0..self.rows.len())
            .map(|i| {
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
            })
            .collect();
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

    /// Incomplete factors in the places of the blocks, with inverted diagonals (Meijerink & van der Vorst
    /// 1977, for blocks). Returns `false` if a diagonal block is singular.
    pub(super) fn factorise(&mut self) -> bool {
        for e in 0..self.rows.len() {
            let mut row = std::mem::take(&mut self.rows[e]);
            let n = self.size(e);
            for i in 0..row.len() {
                let before = row[i].0 as usize;
                if before >= e {
                    break;
                }
                // L = A U⁻¹ of the earlier row.
                let m = self.size(before);
                let mut factor = vec![0.0; n * m];
                let Some(own) = self.rows[before].iter().position(|(c, _)| *c as usize == before) else {
                    continue;
                };
                dense::subtract_product(&row[i].1, &self.rows[before][own].1, n, m, &mut factor);
                factor.iter_mut().for_each(|x| *x = -*x);
                for (column, block) in &self.rows[before][own + 1..] {
                    if let Ok(at) = row.binary_search_by_key(column, |(c, _)| *c) {
                        dense::subtract_product(&factor, block, n, m, &mut row[at].1);
                    }
                }
                row[i].1 = factor;
            }
            if let Ok(own) = row.binary_search_by_key(&(e as u32), |(c, _)| *c)
                && !dense::invert(&mut row[own].1, n)
            {
                return false;
            }
            self.rows[e] = row;
        }
        true
    }

    /// Solves with the factors.
    pub(super) fn solve(&self, r: &[f64], x: &mut [f64]) {
        for (e, row) in self.rows.iter().enumerate() {
            let mut sum = r[self.range(e)].to_vec();
            for (column, block) in row.iter().take_while(|(c, _)| (*c as usize) < e) {
                dense::add_product(block, &x[self.range(*column as usize)], -1.0, &mut sum);
            }
            x[self.range(e)].copy_from_slice(&sum);
        }
        for (e, row) in self.rows.iter().enumerate().rev() {
            let mut sum = x[self.range(e)].to_vec();
            let mut own = None;
            for (column, block) in row.iter().skip_while(|(c, _)| (*c as usize) < e) {
                if *column as usize == e {
                    own = Some(block);
                } else {
                    dense::add_product(block, &x[self.range(*column as usize)], -1.0, &mut sum);
                }
            }
            if let Some(own) = own {
                let range = self.range(e);
                x[range.clone()].fill(0.0);
                dense::add_product(own, &sum, 1.0, &mut x[range]);
            }
        }
    }
}
