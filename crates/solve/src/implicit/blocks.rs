//! The diagonal blocks of the Jacobian, one for each element, and their inverses.

use dgsuite_gpu::Host;
use rayon::prelude::*;

use super::dense;
use super::jacobian::Jacobian;
use super::whole::Whole;

/// The negative diagonal blocks `−∂R_e/∂u_e`, row by row, and the inverses of these plus a multiple of one.
pub(super) struct Blocks {
    blocks: Vec<Vec<f64>>,
    inverses: Vec<Vec<f64>>,
}

impl Blocks {
    /// Takes the blocks from products with the Jacobian: in the elements of a colour, of which no two are
    /// neighbours, one entry of each is 1. These are as many products as the largest element has unknowns,
    /// for each colour.
    pub(super) fn new(jacobian: &Jacobian, whole: &Whole, colours: &[Vec<u32>]) -> Self {
        let offsets = &jacobian.offsets;
        let size = |e: usize| offsets[e + 1] - offsets[e];
        let mut blocks: Vec<Vec<f64>> =
            (0..offsets.len() - 1).map(|e| vec![0.0; size(e) * size(e)]).collect();
        let seed = |e: usize, j: usize, v: &mut [f64]| {
            if let Some(own) = whole.local(e) {
                v[offsets[own] + j] = 1.0;
            }
        };
        jacobian.by_colours(
            colours,
            |e| whole.size(e),
            seed,
            |e, j, y| {
                let Some(e) = whole.local(e) else { return };
                for (i, &y) in y[offsets[e]..offsets[e + 1]].iter().enumerate() {
                    blocks[e][i * size(e) + j] = -y;
                }
            },
        );
        Self { inverses: blocks.clone(), blocks }
    }

    /// Inverts `1/Δτ_e − ∂R_e/∂u_e`, with `1/Δτ_e` in `shifts`. Returns `false` if one is singular.
    pub(super) fn invert(&mut self, host: &Host, shifts: &[f64]) -> bool {
        let Self { blocks, inverses } = self;
        host.install(|| {
            let each = blocks.par_iter().zip(inverses.par_iter_mut()).zip(shifts);
            each.map(|((block, inverse), &shift)| {
                let n = block.len().isqrt();
                inverse.copy_from_slice(block);
                (0..n).for_each(|i| inverse[i * n + i] += shift);
                dense::invert(inverse, n)
            })
            .reduce(|| true, |a, b| a && b)
        })
    }

    /// `z ← D⁻¹ r`.
    pub(super) fn apply(&self, host: &Host, offsets: &[usize], r: &[f64], z: &mut [f64]) {
        let mut parts = Vec::with_capacity(self.inverses.len());
        let mut rest = z;
        for range in offsets.windows(2) {
            let (part, after) = rest.split_at_mut(range[1] - range[0]);
            parts.push(part);
            rest = after;
        }
        host.install(|| {
            parts.into_par_iter().zip(&self.inverses).enumerate().for_each(|(e, (z, inverse))| {
                z.fill(0.0);
                dense::add_product(inverse, &r[offsets[e]..offsets[e + 1]], 1.0, z);
            });
        });
    }

    /// The block of an element.
    pub(super) fn of(&self, e: usize) -> &[f64] {
        &self.blocks[e]
    }

    /// Bytes of blocks and inverses.
    pub(super) fn bytes(&self) -> usize {
        16 * self.blocks.iter().map(Vec::len).sum::<usize>()
    }
}
