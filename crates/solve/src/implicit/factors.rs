//! Incomplete factors of the Jacobian, `1/Δτ − R′(u)`, in the space itself or in that of order one below.

use std::sync::Arc;

use dgsuite_gpu::Host;
use dgsuite_gpu::comm::CommError;
use rayon::prelude::*;

use super::between::Between;
use super::colours::Coloured;
use super::dense;
use super::jacobian::Jacobian;
use super::matrix::{BlockMatrix, Levels, Row};
use super::whole::Whole;

/// Takes the blocks `−∂R_e/∂u_c` of elements `e` and their neighbours `c` from products with directions that
/// are not zero in elements of one colour, of which no two are neighbours of one element. Collective.
pub(super) fn blocks_of(
    jacobian: &Jacobian,
    whole: &Whole,
    Coloured { apart, .. }: &Coloured,
) -> Result<BlockMatrix, CommError> {
    let offsets = &jacobian.offsets;
    let size = |e: usize| whole.size(e);
    let mut matrix = BlockMatrix::zeros(size, &whole.neighbours);
    let seed = |e: usize, j: usize, v: &mut [f64]| {
        if let Some(own) = whole.local(e) {
            v[offsets[own] + j] = 1.0;
        }
    };
    jacobian.by_colours(apart, size, seed, |e, j, y| {
        for &row in whole.neighbours[e].iter().chain([&(e as u32)]) {
            let Some(own) = whole.local(row as usize) else { continue };
            let there = &y[offsets[own]..offsets[own + 1]];
            if let Some(block) = matrix.block_mut(row as usize, e as u32) {
                there.iter().enumerate().for_each(|(i, y)| block[i * size(e) + j] = -y);
            }
        }
    });
    whole.complete(&mut matrix)?;
    Ok(matrix)
}

/// The blocks of order one, `−R ∂R_e/∂u_c P`, as [`blocks_of`].
pub(super) fn blocks_below(
    jacobian: &Jacobian,
    whole: &Whole,
    between: &[Arc<Between>],
    Coloured { apart, .. }: &Coloured,
) -> Result<BlockMatrix, CommError> {
    let fields = jacobian.fields();
    let size = |e: usize| fields * between[e].coarse;
    let mut matrix = BlockMatrix::zeros(size, &whole.neighbours);
    let seed = |e: usize, j: usize, v: &mut [f64]| {
        let Some(own) = whole.local(e) else { return };
        let Between { fine, coarse, up, .. } = &*between[e];
        let (field, column) = (j / coarse, j % coarse);
        let at = jacobian.offsets[own] + field * fine;
        (0..*fine).for_each(|f| v[at + f] = up[f * coarse + column]);
    };
    jacobian.by_colours(apart, size, seed, |e, j, y| {
        for &other in whole.neighbours[e].iter().chain([&(e as u32)]) {
            let there = other as usize;
            let Some(own) = whole.local(there) else { continue };
            let Some(block) = matrix.block_mut(there, e as u32) else { continue };
            let Between { fine, coarse, down, .. } = &*between[there];
            for field in 0..fields {
                let at = jacobian.offsets[own] + field * fine;
                for (i, row) in down.chunks_exact(*fine).enumerate() {
                    let sum: f64 = row.iter().zip(&y[at..at + fine]).map(|(a, b)| a * b).sum();
                    block[(field * coarse + i) * size(e) + j] = -sum;
                }
            }
        }
    });
    whole.complete(&mut matrix)?;
    Ok(matrix)
}

/// The same blocks from those of the space itself.
pub(super) fn restricted(
    host: &Host,
    fine: &BlockMatrix,
    between: &[Arc<Between>],
    fields: usize,
) -> BlockMatrix {
    let row_of = |(row, own): (&Row, &Arc<Between>)| {
        let one = |(column, block): &(u32, Vec<f64>)| {
            let other = &between[*column as usize];
            let (n, m) = (fields * own.coarse, fields * other.coarse);
            // The blocks of two fields are apart: R A P for each.
            let mut product = vec![0.0; n * m];
            let mut half = vec![0.0; own.fine * other.coarse];
            for (f, g) in (0..fields).flat_map(|f| (0..fields).map(move |g| (f, g))) {
                for i in 0..own.fine {
                    let row = &block[((f * own.fine + i) * fields + g) * other.fine..][..other.fine];
                    let half = &mut half[i * other.coarse..(i + 1) * other.coarse];
                    half.fill(0.0);
                    for (a, up) in row.iter().zip(other.up.chunks_exact(other.coarse)) {
                        half.iter_mut().zip(up).for_each(|(h, up)| *h += a * up);
                    }
                }
                for (i, down) in own.down.chunks_exact(own.fine).enumerate() {
                    let to = &mut product[(f * own.coarse + i) * m + g * other.coarse..][..other.coarse];
                    for (d, half) in down.iter().zip(half.chunks_exact(other.coarse)) {
                        to.iter_mut().zip(half).for_each(|(to, h)| *to += d * h);
                    }
                }
            }
            (*column, product)
        };
        row.iter().map(one).collect()
    };
    let rows: Vec<Row> = host.install(|| fine.rows.par_iter().zip(between).map(row_of).collect());
    let mut offsets = vec![0];
    between.iter().enumerate().for_each(|(e, own)| offsets.push(offsets[e] + fields * own.coarse));
    BlockMatrix { rows, offsets }
}

/// Incomplete factors of a matrix of blocks.
pub(super) struct Factors {
    /// The elements in the order of elimination.
    order: Vec<u32>,
    /// The prolongations from the space of the matrix, if it is not the space itself.
    between: Option<Vec<Arc<Between>>>,
    /// The Jacobian's part, and the factors of the same with pseudo-time.
    jacobian: BlockMatrix,
    factors: BlockMatrix,
    levels: Levels,
    r: Vec<f64>,
    z: Vec<f64>,
}

impl Factors {
    /// Factors of a matrix whose rows are eliminated in an order.
    pub(super) fn new(matrix: BlockMatrix, order: &[u32], between: Option<Vec<Arc<Between>>>) -> Self {
        let jacobian = matrix.in_order(order);
        let zeros = vec![0.0; jacobian.offsets[order.len()]];
        let (factors, levels) = (jacobian.clone(), jacobian.levels());
        Self { order: order.to_vec(), between, factors, levels, jacobian, r: zeros.clone(), z: zeros }
    }

    /// Adds pseudo-time, with `1/Δτ_e` in `shifts`, and factorises. Returns `false` if this is impossible.
    pub(super) fn factorise(&mut self, host: &Host, shifts: &[f64]) -> bool {
        let Self { factors, order, .. } = self;
        factors.copy_from(&self.jacobian);
        factors.add_to_diagonal(|row| shifts[order[row] as usize]);
        factors.factorise(host, &self.levels)
    }

    /// `z ← z + P A⁻¹ R r`; the entries of an element begin at `offsets`.
    pub(super) fn add_correction(&mut self, host: &Host, offsets: &[usize], r: &[f64], z: &mut [f64]) {
        let (mut right, mut found) = (std::mem::take(&mut self.r), std::mem::take(&mut self.z));
        self.restrict(offsets, r, &mut right);
        self.factors.solve(host, &self.levels, &right, &mut found);
        // Factors of a matrix that is nearly singular do not help.
        if found.iter().all(|x| x.is_finite()) {
            self.prolongate(offsets, &found, z);
        }
        (self.r, self.z) = (right, found);
    }

    /// `to ← R from`.
    pub(super) fn restrict(&self, offsets: &[usize], from: &[f64], to: &mut [f64]) {
        for (row, &e) in self.order.iter().enumerate() {
            let to = &mut to[self.jacobian.range(row)];
            let from = &from[offsets[e as usize]..offsets[e as usize + 1]];
            let Some(between) = &self.between else {
                to.copy_from_slice(from);
                continue;
            };
            let Between { fine, coarse, down, .. } = &*between[e as usize];
            to.fill(0.0);
            for (to, from) in to.chunks_exact_mut(*coarse).zip(from.chunks_exact(*fine)) {
                dense::add_product(down, from, 1.0, to);
            }
        }
    }

    /// `to ← to + P from`.
    pub(super) fn prolongate(&self, offsets: &[usize], from: &[f64], to: &mut [f64]) {
        for (row, &e) in self.order.iter().enumerate() {
            let from = &from[self.jacobian.range(row)];
            let to = &mut to[offsets[e as usize]..offsets[e as usize + 1]];
            let Some(between) = &self.between else {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                continue;
            };
            let Between { fine, coarse, up, .. } = &*between[e as usize];
            for (to, from) in to.chunks_exact_mut(*fine).zip(from.chunks_exact(*coarse)) {
                dense::add_product(up, from, 1.0, to);
            }
        }
    }

    /// Number of unknowns.
    pub(super) fn len(&self) -> usize {
        self.r.len()
    }

    /// `y ← y − R R′(u) P x`.
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
        2 * self.jacobian.bytes()
    }
}

/// The bytes of factors of a matrix with these neighbours, whose rows of blocks have these sizes.
pub(super) fn bytes_of(neighbours: &[Vec<u32>], sizes: impl Fn(usize) -> usize) -> usize {
    let row = |(e, near): (usize, &Vec<u32>)| {
        let columns = sizes(e) + near.iter().map(|&c| sizes(c as usize)).sum::<usize>();
        16 * sizes(e) * columns
    };
    neighbours.iter().enumerate().map(row).sum()
}
