//! The problem of order one below a problem of higher order: `R A P`, with the prolongation `P` of each
//! element and its pseudo-inverse `R`, as a sparse matrix of blocks with incomplete factors.

use std::sync::Arc;

use super::dense;
use super::jacobian::Jacobian;

/// The prolongation of one field on a shape: `[fine basis function][coarse basis function]`, and its
/// pseudo-inverse, `[coarse][fine]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Between {
    pub(super) fine: usize,
    pub(super) coarse: usize,
    pub(super) up: Vec<f64>,
    pub(super) down: Vec<f64>,
}

impl Between {
    /// From the prolongation, `[fine][coarse]`: its pseudo-inverse is `(PᵀP)⁻¹ Pᵀ`. `None` if its columns
    /// depend on each other.
    pub(super) fn new(up: Vec<f64>, coarse: usize) -> Option<Self> {
        let fine = up.len() / coarse;
        let mut gram = vec![0.0; coarse * coarse];
        for row in up.chunks_exact(coarse) {
            for i in 0..coarse {
                for j in 0..coarse {
                    gram[i * coarse + j] += row[i] * row[j];
                }
            }
        }
        if !dense::invert(&mut gram, coarse) {
            return None;
        }
        let mut down = vec![0.0; coarse * fine];
        for i in 0..coarse {
            for f in 0..fine {
                down[i * fine + f] = (0..coarse).map(|j| gram[i * coarse + j] * up[f * coarse + j]).sum();
            }
        }
        Some(Self { fine, coarse, up, down })
    }
}

/// A matrix of blocks: those of an element's row are its own and those of its neighbours, ascending.
#[derive(Clone)]
struct BlockMatrix {
    /// Offset of the entries of each element.
    offsets: Vec<usize>,
    /// The elements and blocks of each row.
    rows: Vec<Vec<(u32, Vec<f64>)>>,
}

impl BlockMatrix {
    fn size(&self, e: usize) -> usize {
        self.offsets[e + 1] - self.offsets[e]
    }

    fn range(&self, e: usize) -> std::ops::Range<usize> {
        self.offsets[e]..self.offsets[e + 1]
    }

    fn block_mut(&mut self, e: usize, column: u32) -> Option<&mut Vec<f64>> {
        let row = &mut self.rows[e];
        row.binary_search_by_key(&column, |(c, _)| *c).ok().map(|i| &mut row[i].1)
    }

    /// Copies the blocks of a matrix with the same places.
    fn copy_from(&mut self, other: &Self) {
        for ((_, to), (_, from)) in self.rows.iter_mut().flatten().zip(other.rows.iter().flatten()) {
            to.copy_from_slice(from);
        }
    }

    /// Incomplete factors in the places of the blocks, with inverted diagonals (Meijerink & van der Vorst
    /// 1977, for blocks). Returns `false` if a diagonal block is singular.
    fn factorise(&mut self) -> bool {
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
    fn solve(&self, r: &[f64], x: &mut [f64]) {
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

/// The problem of order one.
pub(super) struct Coarse {
    /// The prolongation of each element.
    between: Vec<Arc<Between>>,
    fields: usize,
    /// The Jacobian's part, `−R R′(u) P`, and the factors of the same with pseudo-time.
    jacobian: BlockMatrix,
    factors: BlockMatrix,
    r: Vec<f64>,
    z: Vec<f64>,
}

impl Coarse {
    /// Takes the blocks from products, as [`Blocks::new`](super::blocks::Blocks::new); no two elements of a
    /// colour are neighbours of one element.
    pub(super) fn new(
        jacobian: &Jacobian,
        between: Vec<Arc<Between>>,
        neighbours: &[Vec<u32>],
        colours: &[Vec<u32>],
    ) -> Self {
        let fields = jacobian.fields();
        let mut offsets = vec![0];
        for (e, between) in between.iter().enumerate() {
            offsets.push(offsets[e] + fields * between.coarse);
        }
        let size = |e: usize| offsets[e + 1] - offsets[e];
        let row = |e: usize| -> Vec<(u32, Vec<f64>)> {
            let mut columns: Vec<u32> = neighbours[e].iter().copied().chain([e as u32]).collect();
            columns.sort_unstable();
            columns.into_iter().map(|c| (c, vec![0.0; size(e) * size(c as usize)])).collect()
        };
        let rows = (0..between.len()).map(row).collect();
        let mut matrix = BlockMatrix { offsets: offsets.clone(), rows };
        let seed = |e: usize, j: usize, v: &mut [f64]| {
            let Between { fine, coarse, up, .. } = &*between[e];
            let (field, column) = (j / coarse, j % coarse);
            let at = jacobian.offsets[e] + field * fine;
            (0..*fine).for_each(|f| v[at + f] = up[f * coarse + column]);
        };
        jacobian.by_colours(colours, size, seed, |e, j, y| {
            for &other in neighbours[e].iter().chain([&(e as u32)]) {
                let there = other as usize;
                let Some(block) = matrix.block_mut(there, e as u32) else { continue };
                let Between { fine, coarse, down, .. } = &*between[there];
                for field in 0..fields {
                    let at = jacobian.offsets[there] + field * fine;
                    for (i, row) in down.chunks_exact(*fine).enumerate() {
                        let sum: f64 = row.iter().zip(&y[at..at + fine]).map(|(a, b)| a * b).sum();
                        block[(field * coarse + i) * size(e) + j] = -sum;
                    }
                }
            }
        });
        let zeros = vec![0.0; offsets[between.len()]];
        Self { between, fields, factors: matrix.clone(), jacobian: matrix, r: zeros.clone(), z: zeros }
    }

    /// Adds pseudo-time, with `1/Δτ_e` in `shifts`, and factorises. Returns `false` if this is impossible.
    pub(super) fn factorise(&mut self, shifts: &[f64]) -> bool {
        self.factors.copy_from(&self.jacobian);
        for (e, &shift) in shifts.iter().enumerate() {
            let n = self.factors.size(e);
            if let Some(block) = self.factors.block_mut(e, e as u32) {
                (0..n).for_each(|i| block[i * n + i] += shift);
            }
        }
        self.factors.factorise()
    }

    /// `z ← z + P A₁⁻¹ R r`; the fine entries of an element begin at `offsets`.
    pub(super) fn add_correction(&mut self, offsets: &[usize], r: &[f64], z: &mut [f64]) {
        let (mut right, mut found) = (std::mem::take(&mut self.r), std::mem::take(&mut self.z));
        self.restrict(offsets, r, &mut right);
        self.factors.solve(&right, &mut found);
        // Factors of a matrix that is nearly singular do not help.
        if found.iter().all(|x| x.is_finite()) {
            self.prolongate(offsets, &found, z);
        }
        (self.r, self.z) = (right, found);
    }

    /// `coarse ← R fine`.
    pub(super) fn restrict(&self, offsets: &[usize], from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for (e, between) in self.between.iter().enumerate() {
            let Between { fine, coarse, down, .. } = &**between;
            for field in 0..self.fields {
                let at = self.jacobian.offsets[e] + field * coarse;
                let from = &from[offsets[e] + field * fine..][..*fine];
                dense::add_product(down, from, 1.0, &mut to[at..at + coarse]);
            }
        }
    }

    /// `fine ← fine + P coarse`.
    pub(super) fn prolongate(&self, offsets: &[usize], from: &[f64], to: &mut [f64]) {
        for (e, between) in self.between.iter().enumerate() {
            let Between { fine, coarse, up, .. } = &**between;
            for field in 0..self.fields {
                let at = self.jacobian.offsets[e] + field * coarse;
                let to = &mut to[offsets[e] + field * fine..][..*fine];
                dense::add_product(up, &from[at..at + coarse], 1.0, to);
            }
        }
    }

    /// Number of unknowns.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.r.len()
    }

    /// `y ← y − R R′(u) P x`.
    #[cfg(test)]
    pub(super) fn add_product(&self, x: &[f64], y: &mut [f64]) {
        for (e, row) in self.jacobian.rows.iter().enumerate() {
            for (column, block) in row {
                let x = &x[self.jacobian.range(*column as usize)];
                dense::add_product(block, x, 1.0, &mut y[self.jacobian.range(e)]);
            }
        }
    }

    /// Bytes of the matrices.
    pub(super) fn bytes(&self) -> usize {
        16 * self.jacobian.rows.iter().flatten().map(|(_, block)| block.len()).sum::<usize>()
    }
}
