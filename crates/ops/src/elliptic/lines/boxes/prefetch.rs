//! What to fetch into the second-level cache ahead of its use.
//!
//! Along a space-filling curve most of a block's neighbours have been read lately. The others are found when
//! the operator is built, and asked for a few lines at a time while earlier blocks are worked on.

use crate::connect::Neighbours;

/// Blocks between fetching and reading.
const BLOCKS: usize = 2;

/// A block is in the cache while others of so many bytes are worked on: results and coefficients take room,
/// too.
const RECENT: usize = 400 << 10;

/// Blocks to be fetched.
#[derive(Debug, Default)]
pub(in crate::elliptic) struct Ahead {
    /// Those of block `b` are `first[b]..first[b + 1]`.
    first: Vec<u32>,
    blocks: Vec<u32>,
}

impl Ahead {
    /// What each of the blocks, of `bytes` each, reads for the first time in a while: itself and its
    /// neighbours.
    pub(in crate::elliptic) fn new(n: &Neighbours, n_faces: usize, bytes: usize) -> Self {
        let count = (n.first_donor.len() - 1) / n_faces;
        let recent = RECENT / bytes;
        let (mut out, mut read) = (Self { first: vec![0], blocks: Vec::new() }, vec![0; count]);
        for block in 0..count {
            let (begin, end) = (n.first_donor[block * n_faces], n.first_donor[(block + 1) * n_faces]);
            let others = n.donors[begin as usize..end as usize].iter().map(|s| s.block as usize);
            for other in std::iter::once(block).chain(others) {
                // One more than the last block that read it.
                if read[other] == 0 || block + 1 - read[other] > recent {
                    out.blocks.push(other as u32);
                }
                read[other] = block + 1;
            }
            out.first.push(out.blocks.len() as u32);
        }
        out
    }

    /// What to fetch during the work on a block, the share of direction `d` of `dim`.
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

    /// Bytes held.
    pub(in crate::elliptic) fn bytes(&self) -> usize {
        size_of_val(&self.first[..]) + size_of_val(&self.blocks[..])
    }
}
