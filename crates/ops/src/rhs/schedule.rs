//! The order in which the two passes of diffusion visit the blocks of a group.
//!
//! The second pass of a block reads what the first pass has written for its neighbours. It runs as soon as
//! these data are complete, while most of them are still in the cache: along a space-filling curve,
//! neighbours are close. Each thread works on its own regions. Blocks that read other regions, a boundary or
//! another group wait until the first pass has ended everywhere. The memory (*place*) of data that no block
//! needs any more is reused by the next block, so that the exchanged data stay in the cache.

use crate::space::connect::Neighbours;
use crate::space::group::Group;
use dgsuite_gpu::Element;
use std::ops::Range;

/// Regions per thread, so that threads finish at about the same time.
const SHARES: usize = 4;

/// The order of one group's blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Ranges of blocks, each visited in order by one thread.
    pub(crate) regions: Vec<Range<usize>>,
    /// Blocks whose second pass can run after the first pass of block `b`: `ready[first[b]..first[b + 1]]`.
    first: Vec<u32>,
    ready: Vec<u32>,
    /// Blocks whose second pass waits for the end of the first pass.
    pub(crate) waiting: Vec<u32>,
    /// The place of each block's published data, one of `n_places`.
    pub(crate) place: Vec<u32>,
    pub(crate) n_places: usize,
}

impl Schedule {
    /// Computes the order for `threads` threads.
    pub(crate) fn new<T: Element>(group: &Group<T>, neighbours: &Neighbours, threads: usize) -> Self {
        let per_block = group.shape.n_faces() * group.state.lanes;
        let reads = |b: usize| {
            let across = neighbours.slot[b * per_block..(b + 1) * per_block].iter();
            let mut blocks: Vec<u32> =
                across.map(|&slot| slot / group.state.lanes as u32).chain([b as u32]).collect();
            blocks.sort_unstable();
            blocks.dedup();
            (blocks, neighbours.fixes_of(b).is_empty())
        };
        Self::of(&(0..group.state.blocks).map(reads).collect::<Vec<_>>(), threads)
    }

    /// Computes the order from the blocks that each block reads (including itself, ascending), and whether
    /// these are all its inputs.
    fn of(reads: &[(Vec<u32>, bool)], threads: usize) -> Self {
        let blocks = reads.len();
        let count = if threads > 1 { SHARES * threads } else { 1 };
        let regions: Vec<Range<usize>> =
            (0..count).map(|i| blocks * i / count..blocks * (i + 1) / count).collect();
        let mut out = Self { first: vec![0; blocks + 1], ..Self::default() };
        let mut ready = Vec::with_capacity(blocks);
        for region in &regions {
            for b in region.clone() {
                match &reads[b] {
                    (read, true) if read.iter().all(|&a| region.contains(&(a as usize))) => {
                        ready.push((read.last().copied().unwrap_or(b as u32), b as u32));
                    }
                    _ => out.waiting.push(b as u32),
                }
            }
        }
        ready.sort_unstable();
        for b in 0..blocks {
            out.first[b + 1] = ready.partition_point(|r| r.0 as usize <= b) as u32;
        }
        out.ready = ready.into_iter().map(|r| r.1).collect();
        out.regions = regions;
        out.find_places(reads);
        out
    }

    /// Assigns a place to each block, from its first pass until the last block has read it. Different regions
    /// are visited concurrently.
    fn find_places(&mut self, reads: &[(Vec<u32>, bool)]) {
        let mut readers = vec![0_u32; reads.len()];
        reads.iter().flat_map(|(read, _)| read).for_each(|&a| readers[a as usize] += 1);
        let mut place = vec![0; reads.len()];
        for region in &self.regions {
            // The place that became free last is the most likely to be in the cache.
            let mut free: Vec<u32> = Vec::new();
            for b in region.clone() {
                place[b] = free.pop().unwrap_or_else(|| {
                    self.n_places += 1;
                    self.n_places as u32 - 1
                });
                for &a in self.after(b).iter().flat_map(|&second| &reads[second as usize].0) {
                    readers[a as usize] -= 1;
                    if readers[a as usize] == 0 {
                        free.push(place[a as usize]);
                    }
                }
            }
        }
        self.place = place;
    }

    /// Blocks whose second pass can run after the first pass of `block`.
    pub(crate) fn after(&self, block: usize) -> &[u32] {
        &self.ready[self.first[block] as usize..self.first[block + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_follows_all_that_it_reads() {
        // Each block reads three blocks around it; every seventh reads one far away, every eleventh a
        // boundary.
        let blocks = 500;
        let reads: Vec<(Vec<u32>, bool)> = (0..blocks)
            .map(|b: u32| {
                let end = if b.is_multiple_of(7) { b + 60 } else { b + 4 };
                ((b.saturating_sub(3)..end.min(blocks)).collect(), !b.is_multiple_of(11))
            })
            .collect();
        for threads in [1, 2, 5] {
            let schedule = Schedule::of(&reads, threads);
            let mut done = vec![0; blocks as usize];
            // The block whose values lie in each place.
            let mut held = vec![None; schedule.n_places];
            for region in &schedule.regions {
                for b in region.clone() {
                    held[schedule.place[b] as usize] = Some(b as u32);
                    for &second in schedule.after(b) {
                        let (read, all) = &reads[second as usize];
                        assert!(*all && read.iter().all(|&a| region.contains(&(a as usize))));
                        assert!(read.iter().all(|&a| held[schedule.place[a as usize] as usize] == Some(a)));
                        done[second as usize] += 1;
                    }
                }
            }
            let at_once: u32 = done.iter().sum();
            for &b in &schedule.waiting {
                assert!(
                    reads[b as usize].0.iter().all(|&a| held[schedule.place[a as usize] as usize] == Some(a))
                );
                done[b as usize] += 1;
            }
            assert!(done.iter().all(|&n| n == 1), "every block once");
            assert!(at_once > blocks / 3, "{threads} threads: {at_once} blocks at once");
            // In small regions nearly all blocks wait.
            assert!(threads > 1 || schedule.n_places < reads.len(), "{} places", schedule.n_places);
        }
    }
}
