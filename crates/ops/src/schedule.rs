//! In which order the two passes of diffusion visit the blocks of a group.
//!
//! The second pass of a block reads what the first has written for its neighbours. It follows as soon as that is complete, while
//! most of it lies in the cache: blocks along a space-filling curve have their neighbours nearby. Each thread works on regions of
//! its own; blocks that read other regions, a boundary or another group wait for the end of the first pass.

use crate::connect::Neighbours;
use crate::group::Group;
use dgsuite_gpu::Element;
use std::ops::Range;

/// Regions for each of several threads, so that they end together.
const SHARES: usize = 4;

/// The order of one group's blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Blocks that one thread visits, in their order.
    pub(crate) regions: Vec<Range<usize>>,
    /// Blocks whose second pass may follow the first of block `b`: `ready[first[b]..first[b + 1]]`.
    first: Vec<u32>,
    ready: Vec<u32>,
    /// Blocks whose second pass waits for the end of the first.
    pub(crate) waiting: Vec<u32>,
}

impl Schedule {
    /// The order for `threads` threads.
    pub(crate) fn new<T: Element>(group: &Group<T>, neighbours: &Neighbours, threads: usize) -> Self {
        let per_block = group.shape.n_faces() * group.state.lanes;
        let reads = |b: usize| -> Option<Range<usize>> {
            let across = neighbours.slot[b * per_block..(b + 1) * per_block].iter();
            let blocks = across.map(|&slot| slot as usize / group.state.lanes);
            let (low, high) = blocks.fold((b, b), |(low, high), a| (low.min(a), high.max(a)));
            neighbours.fixes_of(b).is_empty().then_some(low..high + 1)
        };
        Self::of((0..group.state.blocks).map(reads).collect(), threads)
    }

    /// From the blocks among which those are that each block reads, or nothing if it has to wait.
    fn of(reads: Vec<Option<Range<usize>>>, threads: usize) -> Self {
        let blocks = reads.len();
        let count = if threads > 1 { SHARES * threads } else { 1 };
        let regions: Vec<Range<usize>> =
            (0..count).map(|i| blocks * i / count..blocks * (i + 1) / count).collect();
        let mut out = Self { first: vec![0; blocks + 1], ..Self::default() };
        let mut ready = Vec::with_capacity(blocks);
        for region in &regions {
            for b in region.clone() {
                match &reads[b] {
                    Some(r) if r.start >= region.start && r.end <= region.end => {
                        ready.push((r.end as u32 - 1, b as u32));
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
        Self { regions, ..out }
    }

    /// Blocks whose second pass may follow the first of `block`.
    pub(crate) fn after(&self, block: usize) -> &[u32] {
        &self.ready[self.first[block] as usize..self.first[block + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_follows_all_that_it_reads() {
        // Each reads three blocks around, every seventh one far away, every eleventh a boundary.
        let blocks = 500;
        let reads: Vec<Option<Range<usize>>> = (0..blocks)
            .map(|b: usize| {
                let end = if b % 7 == 0 { blocks.min(b + 200) } else { blocks.min(b + 4) };
                (b % 11 != 0).then_some(b.saturating_sub(3)..end)
            })
            .collect();
        for threads in [1, 2, 5] {
            let schedule = Schedule::of(reads.clone(), threads);
            let mut done = vec![0; blocks];
            for region in &schedule.regions {
                for b in region.clone() {
                    for &second in schedule.after(b) {
                        let read = reads[second as usize].clone().unwrap();
                        assert!(read.start >= region.start && read.end <= b + 1);
                        done[second as usize] += 1;
                    }
                }
            }
            let at_once: usize = done.iter().sum();
            schedule.waiting.iter().for_each(|&b| done[b as usize] += 1);
            assert!(done.iter().all(|&n| n == 1), "every block once");
            assert!(at_once > blocks / 3, "{threads} threads: {at_once} blocks at once");
        }
    }
}
