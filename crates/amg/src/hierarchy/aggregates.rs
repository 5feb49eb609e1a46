//! A partition of rows into aggregates, which become the rows of the next coarser level.

use std::ops::Range;

use dgsuite_gpu::Host;
use rayon::prelude::*;

use crate::sparse::{PIECE, tabulate};

/// Marks a row that belongs to no aggregate.
pub(crate) const NONE: u32 = u32::MAX;

/// The aggregate of each row, and the rows of each aggregate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregates {
    /// The aggregate of each row, or [`NONE`].
    pub(crate) of_row: Vec<u32>,
    /// The start of each aggregate's rows in `rows`, and the end.
    pub(crate) starts: Vec<u32>,
    /// Rows, ascending in each aggregate.
    pub(crate) rows: Vec<u32>,
}

impl Aggregates {
    /// Numbers the aggregates by their first rows. `label[i]` is any number below the number of rows, the
    /// same for all rows of one aggregate, or [`NONE`].
    pub(crate) fn from_labels(label: &[u32]) -> Self {
        let mut number = vec![NONE; label.len()];
        let mut of_row = vec![NONE; label.len()];
        let mut starts = vec![0u32];
        for (of_row, &label) in of_row.iter_mut().zip(label) {
            if label == NONE {
                continue;
            }
            let number = &mut number[label as usize];
            if *number == NONE {
                *number = starts.len() as u32 - 1;
                starts.push(0);
            }
            *of_row = *number;
            starts[*number as usize + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[starts.len() - 1] as usize];
        for (i, &k) in of_row.iter().enumerate() {
            if k != NONE {
                let place = &mut next[k as usize];
                rows[*place as usize] = i as u32;
                *place += 1;
            }
        }
        Self { of_row, starts, rows }
    }

    /// Number of aggregates.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of an aggregate, ascending.
    #[inline(always)]
    pub(crate) fn rows(&self, k: usize) -> &[u32] {
        &self.rows[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// As [`from_labels`](Self::from_labels), in parallel; the label of a row must be the first row of its
    /// aggregate, and no aggregate may extend over two chunks of `chunk` rows.
    pub(crate) fn within_chunks(host: &Host, label: &[u32], chunk: usize) -> Self {
        let count = |(k, label): (usize, &[u32])| {
            let is_first = |(i, label): &(usize, &u32)| **label as usize == k * chunk + i;
            let rows = label.iter().filter(|&&label| label != NONE).count();
            (label.iter().enumerate().filter(is_first).count(), rows)
        };
        let counts: Vec<_> = host.install(|| label.par_chunks(chunk).enumerate().map(count).collect());
        let (aggregates, filled) = counts.iter().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
        let (mut of_row, mut starts) = (vec![NONE; label.len()], vec![0; aggregates + 1]);
        let mut rows = vec![0; filled];

        let (mut starts_left, mut rows_left) = (&mut starts[1..], &mut rows[..]);
        let (mut first_aggregate, mut first_place) = (0, 0);
        let mut chunks = Vec::with_capacity(counts.len());
        for (k, (of_row, n)) in of_row.chunks_mut(chunk).zip(counts).enumerate() {
            let ends = starts_left.split_off_mut(..n.0).unwrap_or_default();
            let rows = rows_left.split_off_mut(..n.1).unwrap_or_default();
            let (first_row, label) = (k * chunk, &label[k * chunk..k * chunk + of_row.len()]);
            chunks.push(Chunk { first_row, first_aggregate, first_place, label, of_row, ends, rows });
            (first_aggregate, first_place) = (first_aggregate + n.0 as u32, first_place + n.1 as u32);
        }
        host.install(|| chunks.into_par_iter().for_each(Chunk::fill));
        Self { of_row, starts, rows }
    }

    /// Aggregates of aggregates: the rows of the finer level, grouped by the aggregates of the coarser. Both
    /// are numbered by their first rows, and so is the result.
    pub(crate) fn then(&self, host: &Host, coarser: &Self) -> Self {
        let of_row = tabulate(host, self.of_row.len(), |i| match self.of_row[i] {
            NONE => NONE,
            k => coarser.of_row[k as usize],
        });
        let length = |k: u32| self.starts[k as usize + 1] - self.starts[k as usize];
        let lengths =
            tabulate(host, coarser.len(), |c| coarser.rows(c).iter().map(|&k| length(k)).sum::<u32>());
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        starts.push(0);
        let mut end = 0;
        starts.extend(lengths.iter().map(|length| {
            end += length;
            end
        }));
        let mut rows = vec![0; end as usize];
        let mut left = &mut rows[..];
        let mut parts = Vec::with_capacity(lengths.len().div_ceil(PIECE));
        for first in (0..lengths.len()).step_by(PIECE) {
            let last = lengths.len().min(first + PIECE);
            let length = (starts[last] - starts[first]) as usize;
            parts.push((first..last, left.split_off_mut(..length).unwrap_or_default()));
        }
        let fill = |(range, mut rows): (Range<usize>, &mut [u32])| {
            for c in range {
                let own = rows.split_off_mut(..lengths[c] as usize).unwrap_or_default();
                let all = coarser.rows(c).iter().flat_map(|&k| self.rows(k as usize));
                own.iter_mut().zip(all).for_each(|(own, row)| *own = *row);
                own.sort_unstable();
            }
        };
        host.install(|| parts.into_par_iter().for_each(fill));
        Self { of_row, starts, rows }
    }

    /// Bytes of the three arrays.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u32>() * (self.of_row.len() + self.starts.len() + self.rows.len())
    }
}

/// The rows of a chunk, whose aggregates have no rows outside, and its part of each array.
struct Chunk<'a> {
    first_row: usize,
    first_aggregate: u32,
    first_place: u32,
    label: &'a [u32],
    of_row: &'a mut [u32],
    /// The ends of its aggregates' rows.
    ends: &'a mut [u32],
    rows: &'a mut [u32],
}

impl Chunk<'_> {
    fn fill(self) {
        let Self { first_row, first_aggregate, first_place, label, of_row, ends, rows } = self;
        let mut count = first_aggregate;
        for (i, &label) in label.iter().enumerate() {
            if label == NONE {
                continue;
            }
            let first = label as usize - first_row;
            if first == i {
                of_row[i] = count;
                count += 1;
            } else {
                of_row[i] = of_row[first];
            }
            ends[(of_row[i] - first_aggregate) as usize] += 1;
        }
        let mut end = 0;
        let mut next = Vec::with_capacity(ends.len());
        for place in ends.iter_mut() {
            next.push(end);
            end += *place;
            *place = first_place + end;
        }
        for (i, &k) in of_row.iter().enumerate().filter(|(_, k)| **k != NONE) {
            let place = &mut next[(k - first_aggregate) as usize];
            rows[*place as usize] = (first_row + i) as u32;
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregates_are_numbered_by_their_first_rows() {
        let pairs = Aggregates::from_labels(&[4, 0, NONE, 4, 0, 3]);
        assert_eq!(pairs.of_row, [0, 1, NONE, 0, 1, 2]);
        assert_eq!((pairs.rows(0), pairs.rows(1), pairs.rows(2)), (&[0, 3][..], &[1, 4][..], &[5][..]));
        let host = Host::new(2).unwrap();
        let merged = pairs.then(&host, &Aggregates::from_labels(&[1, NONE, 1]));
        assert_eq!(merged.of_row, [0, NONE, NONE, 0, NONE, 0]);
        assert_eq!((merged.len(), merged.rows(0)), (1, &[0, 3, 5][..]));
        assert_eq!(Aggregates::from_labels(&[NONE]).len(), 0);
    }

    /// Labels of pairs and triples within chunks of eight rows; some rows have no aggregate.
    fn labels(n: usize, seed: u64) -> Vec<u32> {
        let mut state = seed;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let mut label = vec![NONE; n];
        for i in 0..n {
            if label[i] == NONE && random(5) > 0 {
                label[i] = i as u32;
                for _ in 0..random(3) {
                    let j = i + random(n.min(i / 8 * 8 + 8) - i);
                    if label[j] == NONE {
                        label[j] = i as u32;
                    }
                }
            }
        }
        label
    }

    #[test]
    fn in_parallel_they_are_the_same() {
        for threads in [1, 3] {
            let host = Host::new(threads).unwrap();
            for (seed, n) in [0, 1, 7, 8, 9, 64, 1000, 40_000].into_iter().enumerate() {
                let label = labels(n, seed as u64);
                let serial = Aggregates::from_labels(&label);
                assert_eq!(Aggregates::within_chunks(&host, &label, 8), serial);
                let coarser = Aggregates::from_labels(&labels(serial.len(), 99 + seed as u64));
                let merged = serial.of_row.iter().map(|&k| match k {
                    NONE => NONE,
                    k => coarser.of_row[k as usize],
                });
                let merged = Aggregates::from_labels(&merged.collect::<Vec<_>>());
                assert_eq!(serial.then(&host, &coarser), merged);
            }
        }
    }
}
