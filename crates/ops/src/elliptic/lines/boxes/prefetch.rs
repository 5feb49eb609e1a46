//! Lists of blocks of boxes to prefetch into the second-level cache.
//!
//! Along a space-filling curve, most of a block's neighbours have been read recently. The others are
//! determined when the operator is built. They are prefetched, a few cache lines at a time, while earlier
//! blocks are processed.

use crate::space::connect::Neighbours;

/// Number of blocks between the prefetch and the use.
const BLOCKS: usize = 2;

/// A block is assumed to stay in the cache while blocks of this many bytes in total are processed; results
/// and coefficients need cache, too.
const RECENT: usize = 400 << 10;

/// Blocks to prefetch.
#[derive(Debug, Default)]
pub(in crate::elliptic) struct Ahead {
    /// The list of block `b` is `first[b]..first[b + 1]`.
    first: Vec<u32>,
    blocks: Vec<u32>,
}

impl Ahead {
    /// Lists, for each block of `bytes` bytes, the blocks (itself and neighbours) that have not been read
    /// recently.
    pub(in crate::elliptic) fn new(n: &Neighbours, n_faces: usize, bytes: usize) -> Self {
        let count = (n.first_donor.len() - 1) / n_faces;
        let recent = RECENT / bytes;
        let (mut out, mut read) = (Self { first: vec![0], blocks: Vec::new() }, vec![0; count]);
        for block in 0..count {
            let (begin, end) = (n.first_donor[block * n_faces], n.first_donor[(block + 1) * n_faces]);
            let others = n.donors[begin as usize..end as usize].iter().map(|s| s.block as usize);
            for other in std::iter::once(block).chain(others) {
                // The number of the last block that read it, plus one.
                if read[other] == 0 || block + 1 - read[other] > recent {
                    out.blocks.push(other as u32);
                }
                read[other] = block + 1;
            }
            out.first.push(out.blocks.len() as u32);
        }
        out
    }

    /// The blocks to prefetch during the work on a block: the part for direction `d` of `dim`.
    #[inline(always)]
    pub(super) fn of(&self, block: usize, d: usize, dim: usize) -> &[u32] {
        let block = block + BLOCKS;
        if block + 1 >= self.first.len() {
            return &[];
        }
        let of_block = &self.blocks[self.first[block] as usize..self.first[block + 1] as usize];
        let share = of_block.len().div_ceil(dim);
        &of_block[(d * share).min(of_block.len())..((d + 1) * share).min(of_block.len())]
    }

    /// Memory in bytes.
    pub(in crate::elliptic) fn bytes(&self) -> usize {
        size_of_val(&self.first[..]) + size_of_val(&self.blocks[..])
    }
}
