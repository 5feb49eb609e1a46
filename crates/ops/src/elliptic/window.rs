//! Windows of blocks whose published values stay in the cache.
//!
//! A window is a run of blocks together with the blocks across its faces, its *halo*. One thread publishes both into
//! room of its own and then tests the run. Blocks of a halo are published once more by their own windows, which costs
//! less than to write everything to memory and read it back.

use crate::connect::{Neighbours, ORIENTATIONS};

/// Bytes of the published values of a window's run, in two and three dimensions.
pub(super) const ROOM: [usize; 2] = [768 << 10, 1536 << 10];

/// The same where coefficients are published that the test reads too.
pub(super) const ROOM_OF_COEFFICIENTS: usize = 256 << 10;

/// Fewest runs of a thread, so that none waits long for another.
const RUNS: usize = 4;

/// Fewest blocks of a window.
const LEAST: usize = 16;

/// How blocks of a group are cut into windows.
pub(super) struct Cut {
    pub(super) blocks: usize,
    pub(super) n_faces: usize,
    /// What each block publishes.
    pub(super) bytes: usize,
    pub(super) threads: usize,
    /// Bytes of the published values of a run.
    pub(super) room: usize,
    /// Blocks that are worked on together: runs and halos begin at multiples.
    pub(super) together: usize,
}

/// Windows of one group.
pub(super) struct Windows {
    /// Blocks of each run but the last.
    pub(super) run: usize,
    /// Blocks that are worked on together.
    together: usize,
    /// Blocks across the faces of each run, and which of their faces these are, a bit each.
    pub(super) halo: Vec<Vec<(u32, u8)>>,
}

impl Windows {
    /// For blocks that do not publish.
    pub(super) const fn none() -> Self {
        Self { run: 0, together: 1, halo: Vec::new() }
    }

    /// Number the blocks in `neighbours.sources` as the window of their reader has them: the run, then the halo.
    pub(super) fn new(neighbours: &mut Neighbours, cut: &Cut) -> Self {
        let &Cut { blocks, n_faces, together, .. } = cut;
        let share = blocks.div_ceil(RUNS * cut.threads);
        let run = (cut.room / cut.bytes.max(1)).min(share).max(LEAST).next_multiple_of(together);
        let mut halos = Vec::new();
        let mut local = vec![u32::MAX; blocks];
        for first in (0..blocks).step_by(run) {
            let last = (first + run).min(blocks);
            let behind = (last - first).next_multiple_of(together);
            let mut halo: Vec<(u32, u8)> = Vec::new();
            let begin = neighbours.first_source[first * n_faces] as usize;
            let end = neighbours.first_source[last * n_faces] as usize;
            for source in &mut neighbours.sources[begin..end] {
                let block = source.block as usize;
                let face = source.table as usize / neighbours.table_len / ORIENTATIONS;
                source.block = if (first..last).contains(&block) {
                    (block - first) as u32
                } else {
                    if local[block] == u32::MAX {
                        local[block] = (behind + halo.len()) as u32;
                        halo.push((block as u32, 0));
                    }
                    halo[local[block] as usize - behind].1 |= 1 << face;
                    local[block]
                };
            }
            for &(block, _) in &halo {
                local[block as usize] = u32::MAX;
            }
            halos.push(halo);
        }
        Self { run, together, halo: halos }
    }

    /// The most blocks that one window has room for.
    pub(super) fn largest(&self) -> usize {
        self.run + self.halo.iter().map(Vec::len).max().unwrap_or(0).next_multiple_of(self.together)
    }
}
