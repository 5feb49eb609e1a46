//! Tables by which blocks in Bernstein form find the published values of their neighbours.

use super::TOGETHER;
use crate::lanes::simd::MAX_LANES;
use crate::space::connect::Neighbours;

/// Lanes of one face of a block whose neighbours have published at the same place and are read through the
/// same table.
#[derive(Clone, Copy, Debug)]
pub(in crate::elliptic) struct Crossing {
    /// Offset of the published values of the neighbours' block.
    pub(super) from: u32,
    /// First entry of the table.
    pub(super) table: u32,
    /// Offset of the face in a row that contains all faces of a block.
    pub(super) to: u32,
    /// See [`crate::space::connect::Donor`].
    pub(super) taken: u32,
    pub(super) lanes: [i8; MAX_LANES],
}

/// The crossings of all blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossings {
    /// The crossings of block `b` are `all[first[b]..first[b + 1]]`.
    all: Vec<Crossing>,
    first: Vec<u32>,
    /// Number of published scalars that are read.
    pub(super) reach: usize,
}

/// Sizes of blocks, places and tables.
pub(super) struct Sizes {
    pub(super) n_faces: usize,
    pub(super) lanes: usize,
    /// Number of rows of a block.
    pub(super) rows: usize,
    /// Number of entries of a table.
    pub(super) table: usize,
}

impl Crossings {
    /// Builds the crossings from donors whose blocks are places, as
    /// [`Schedule`](crate::elliptic::schedule::Schedule) leaves them.
    pub(super) fn new(neighbours: &Neighbours, sizes: &Sizes) -> Self {
        let &Sizes { n_faces, lanes, rows, table } = sizes;
        let side_by_side = rows * TOGETHER * lanes;
        let mut out = Self { first: vec![0], ..Self::default() };
        for (i, w) in neighbours.first_donor.windows(2).enumerate() {
            for s in &neighbours.donors[w[0] as usize..w[1] as usize] {
                let block = s.block as usize;
                out.reach = out.reach.max((block / TOGETHER + 1) * side_by_side);
                out.all.push(Crossing {
                    from: (block / TOGETHER * side_by_side + block % TOGETHER * lanes) as u32,
                    table: s.table / neighbours.table_len as u32 * table as u32,
                    to: (i % n_faces * lanes) as u32,
                    taken: s.taken,
                    lanes: s.lanes,
                });
            }
            if (i + 1) % n_faces == 0 {
                out.first.push(out.all.len() as u32);
            }
        }
        out
    }

    /// The crossings of a block.
    pub(super) fn of(&self, block: usize) -> &[Crossing] {
        &self.all[self.first[block] as usize..self.first[block + 1] as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.all[..]) + size_of_val(&self.first[..])
    }
}
