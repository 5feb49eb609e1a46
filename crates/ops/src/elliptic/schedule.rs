//! The order in which blocks publish and test, so that published values stay in the cache.
//!
//! One thread processes a run of blocks. It publishes a block shortly before another block tests with its
//! values, and reuses its memory (*place*) when all readers have finished. The number of places is the number
//! of blocks along the front between finished and remaining blocks. Blocks across the faces of the run,
//! its *halo*, are published a second time by this run, which costs less than writing all values to memory
//! and reading them back.

use crate::space::connect::{Neighbours, ORIENTATIONS};

/// Bytes published by all blocks of a run; the values along its front then stay in the last-level cache.
const ROOM: usize = 16 << 20;

/// Smallest number of runs per thread, for load balance.
const RUNS: usize = 4;

/// Smallest number of blocks of a run.
const LEAST: usize = 16;

/// Number of blocks of a group, and bytes published by each.
pub(super) struct Sizes {
    pub(super) blocks: usize,
    pub(super) n_faces: usize,
    pub(super) bytes: usize,
    pub(super) threads: usize,
}

/// `N` blocks that publish side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Publication<const N: usize> {
    pub(super) blocks: [u32; N],
    /// Faces at which values are needed, as bits.
    pub(super) wanted: u8,
    pub(super) place: u32,
}

/// `N` blocks that test side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    /// Number of publications of the run that must come before.
    pub(super) after: u32,
    /// The place at which the blocks themselves have published.
    pub(super) place: u32,
}

/// The publications and tests of one run, in order.
#[derive(Clone, Debug)]
pub(super) struct Run<const N: usize> {
    pub(super) publications: Vec<Publication<N>>,
    /// The tests of its own blocks, in order.
    pub(super) tests: Vec<Test>,
}

/// The runs of a group whose blocks are processed `N` at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule<const N: usize> {
    /// Number of blocks of each run except the last.
    pub(super) len: usize,
    pub(super) runs: Vec<Run<N>>,
    /// The largest number of places of a run.
    pub(super) places: usize,
}

/// Blocks that are published together, while a run is planned.
struct Unit<const N: usize> {
    blocks: [u32; N],
    wanted: u8,
    /// The last test that reads it.
    last: usize,
    place: Option<u32>,
}

impl<const N: usize> Schedule<N> {
    /// Plans all runs. Blocks in `neighbours.donors` are replaced by places of single blocks in their
    /// reader's run.
    pub(super) fn new(neighbours: &mut Neighbours, sizes: &Sizes) -> Self {
        let &Sizes { blocks, n_faces, .. } = sizes;
        let share = blocks.div_ceil(RUNS * sizes.threads);
        let len = (ROOM / sizes.bytes.max(1)).min(share).max(LEAST).next_multiple_of(N);
        let mut out = Self { len, ..Self::default() };
        // Position of a block of the halo, `units × N`.
        let mut halo_at = vec![u32::MAX; blocks];
        for first in (0..blocks).step_by(len) {
            let range = first..(first + len).min(blocks);
            let (run, places) = Self::plan(neighbours, n_faces, range, &mut halo_at);
            out.runs.push(run);
            out.places = out.places.max(places);
        }
        out
    }

    fn plan(
        neighbours: &mut Neighbours,
        n_faces: usize,
        range: std::ops::Range<usize>,
        halo_at: &mut [u32],
    ) -> (Run<N>, usize) {
        let n_tests = range.len().div_ceil(N);
        let of_test = |test: usize| {
            let begin = range.start + test * N;
            begin..(begin + N).min(range.end)
        };
        // The run's own units come first, then those of the halo, in the order in which they are read.
        let mut units: Vec<Unit<N>> = (0..n_tests)
            .map(|test| {
                let of = of_test(test);
                let blocks = std::array::from_fn(|k| (of.start + k).min(of.end - 1) as u32);
                Unit { blocks, wanted: u8::MAX, last: test, place: None }
            })
            .collect();
        let mut halo: Vec<(u32, u8)> = Vec::new();
        let donors_of = |neighbours: &Neighbours, test: usize| {
            let at = |block: usize| neighbours.first_donor[block * n_faces] as usize;
            at(of_test(test).start)..at(of_test(test).end)
        };
        for test in 0..n_tests {
            let donors = donors_of(neighbours, test);
            for donor in &mut neighbours.donors[donors] {
                let block = donor.block as usize;
                donor.block = if range.contains(&block) {
                    (block - range.start) as u32
                } else {
                    if halo_at[block] == u32::MAX {
                        halo_at[block] = halo.len() as u32;
                        halo.push((block as u32, 0));
                    }
                    let at = halo_at[block] as usize;
                    halo[at].1 |= 1 << (donor.table as usize / neighbours.table_len / ORIENTATIONS);
                    (n_tests * N + at) as u32
                };
            }
        }
        for some in halo.chunks(N) {
            let blocks = std::array::from_fn(|k| some[k.min(some.len() - 1)].0);
            let wanted = some.iter().fold(0, |bits, b| bits | b.1);
            units.push(Unit { blocks, wanted, last: 0, place: None });
        }
        halo.iter().for_each(|b| halo_at[b.0 as usize] = u32::MAX);
        for test in 0..n_tests {
            for donor in &neighbours.donors[donors_of(neighbours, test)] {
                let unit = &mut units[donor.block as usize / N];
                unit.last = unit.last.max(test);
            }
        }

        let mut run = Run { publications: Vec::new(), tests: Vec::new() };
        let (mut free, mut places) = (Vec::new(), 0);
        let mut ending = vec![Vec::new(); n_tests];
        for test in 0..n_tests {
            let mut place_of = |unit: usize| {
                let Unit { blocks, wanted, last, place } = &mut units[unit];
                *place.get_or_insert_with(|| {
                    let place = free.pop().unwrap_or_else(|| {
                        places += 1;
                        places as u32 - 1
                    });
                    run.publications.push(Publication { blocks: *blocks, wanted: *wanted, place });
                    ending[*last].push(place);
                    place
                })
            };
            let place = place_of(test);
            let donors = donors_of(neighbours, test);
            for donor in &mut neighbours.donors[donors] {
                let (unit, k) = (donor.block as usize / N, donor.block as usize % N);
                donor.block = place_of(unit) * N as u32 + k as u32;
            }
            run.tests.push(Test { after: run.publications.len() as u32, place });
            free.append(&mut ending[test]);
        }
        (run, places)
    }

    pub(super) fn bytes(&self) -> usize {
        let of = |run: &Run<N>| size_of_val(&run.publications[..]) + size_of_val(&run.tests[..]);
        self.runs.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::simd::MAX_LANES;
    use crate::space::connect::Donor;

    /// Donors of blocks in a row, each of which also reads two pseudo-random ones.
    fn neighbours(blocks: usize, n_faces: usize, table_len: usize) -> Neighbours {
        let mut out = Neighbours { table_len, first_donor: vec![0], ..Neighbours::default() };
        let mut noise = 1_u64;
        for block in 0..blocks {
            for face in 0..n_faces {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let far = (noise >> 33) as usize % blocks;
                for (other, theirs) in [((block + face) % blocks, face), (far, (face + 1) % n_faces)] {
                    let table = (theirs * ORIENTATIONS * table_len) as u32;
                    out.donors.push(Donor { block: other as u32, table, taken: 1, lanes: [-1; MAX_LANES] });
                }
                out.first_donor.push(out.donors.len() as u32);
            }
        }
        out
    }

    #[test]
    fn tests_read_what_their_neighbours_have_published() {
        check::<1>();
        check::<4>();
    }

    fn check<const N: usize>() {
        for (blocks, n_faces, bytes, threads) in
            [(1, 3, 1, 1), (7, 3, 1, 2), (100, 4, 1, 1), (203, 4, 1, 2), (150, 3, ROOM / 24, 1)]
        {
            let table_len = 5;
            let before = neighbours(blocks, n_faces, table_len);
            let mut after = before.clone();
            let schedule = Schedule::<N>::new(&mut after, &Sizes { blocks, n_faces, bytes, threads });
            let mut tested = 0;
            for (r, run) in schedule.runs.iter().enumerate() {
                let end = (r * schedule.len + schedule.len).min(blocks);
                let mut published: Vec<Option<Publication<N>>> = vec![None; schedule.places];
                let mut done = 0;
                for (i, test) in run.tests.iter().enumerate() {
                    for p in &run.publications[done..test.after as usize] {
                        published[p.place as usize] = Some(*p);
                    }
                    done = test.after as usize;
                    let begin = r * schedule.len + i * N;
                    let own = published[test.place as usize].unwrap();
                    for block in begin..(begin + N).min(end) {
                        assert_eq!(own.blocks[block - begin] as usize, block);
                        tested += 1;
                        let donors = before.first_donor[block * n_faces] as usize
                            ..before.first_donor[(block + 1) * n_faces] as usize;
                        for s in donors {
                            let (block, place) = (before.donors[s].block, after.donors[s].block as usize);
                            let read = published[place / N].unwrap();
                            assert_eq!(read.blocks[place % N], block);
                            let face = before.donors[s].table as usize / table_len / ORIENTATIONS;
                            assert!(read.wanted >> face & 1 == 1);
                        }
                    }
                }
                assert_eq!(done, run.publications.len());
            }
            assert_eq!(tested, blocks);
        }
    }
}
