//! Sums over the entries of a vector that depend on its items alone, not on their places or ranks.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::comm::Joint;
use crate::simd::simd_versions;
use crate::{ExactSum, Host, Scalar};

/// The largest number of lanes of a block.
const LANES: usize = 16;

/// Entries that one task sums.
const TASK: usize = 1 << 14;

/// Items of the same number of entries, `[block][entry][lane]`: each lane of a block is one item.
#[derive(Clone, Debug)]
pub struct Items {
    /// Entries of an item.
    pub rows: usize,
    /// Items of a block: 1, 2, 4, 8 or 16.
    pub lanes: usize,
    /// For each item, block after block, whether this rank counts it in sums: not if it fills up a block, and
    /// not if it is that of another rank.
    pub counted: Vec<bool>,
}

/// How a vector is summed: the entries of an item, such as an element, in their order, then the items, in
/// this and all other ranks, without rounding. A sum is therefore the same for any order of items, number of
/// lanes, of threads and of ranks.
pub struct Summation {
    items: Vec<Items>,
    ranks: Option<Arc<Joint>>,
}

impl Summation {
    /// A vector of these items, list after list, over ranks that hold different ones.
    ///
    /// # Panics
    /// If items are not in whole blocks of 1, 2, 4, 8 or 16 lanes.
    #[must_use]
    pub fn new(items: Vec<Items>, ranks: Option<Arc<Joint>>) -> Self {
        for list in &items {
            let lanes = list.lanes.is_power_of_two() && list.lanes <= LANES;
            assert!(lanes && list.counted.len().is_multiple_of(list.lanes), "whole blocks of 1 to 16 lanes");
        }
        Self { items, ranks }
    }

    /// The number of entries of a vector.
    pub(crate) fn len(&self) -> usize {
        self.items.iter().map(|list| list.rows * list.counted.len()).sum()
    }

    /// `Σ_i x_i y_i` of each pair.
    pub(crate) fn dots<T: Scalar, const N: usize>(&self, host: &Host, pairs: [[&[T]; 2]; N]) -> [f64; N] {
        self.over_blocks(host, &|at: Range<usize>, lanes: usize| {
            pairs.map(|[x, y]| block_dot(host, &x[at.clone()], &y[at.clone()], lanes))
        })
    }

    /// [`dots`](Self::dots) of any number of pairs, of up to eight with one message.
    pub(crate) fn all_dots<T: Scalar>(&self, host: &Host, mut pairs: &[[&[T]; 2]]) -> Vec<f64> {
        let mut values = Vec::with_capacity(pairs.len());
        while let Some((first, rest)) = pairs.split_first_chunk::<8>() {
            values.extend(self.dots(host, *first));
            pairs = rest;
        }
        if let Some((first, rest)) = pairs.split_first_chunk::<4>() {
            values.extend(self.dots(host, *first));
            pairs = rest;
        }
        pairs.iter().for_each(|&pair| values.extend(self.dots(host, [pair])));
        values
    }

    /// `Σ_i x_i`.
    pub(crate) fn sum<T: Scalar>(&self, host: &Host, x: &[T]) -> f64 {
        self.over_blocks(host, &|at: Range<usize>, lanes: usize| [block_sum(host, &x[at], lanes)])[0]
    }

    /// The sums of `N` numbers of each item: `of_block` returns those of the entries in a range, by lane.
    fn over_blocks<const N: usize>(
        &self,
        host: &Host,
        of_block: &(impl Fn(Range<usize>, usize) -> [[f64; LANES]; N] + Sync),
    ) -> [f64; N] {
        let empty = || [const { ExactSum::new() }; N];
        let merge = |mut sums: [ExactSum; N], parts: [ExactSum; N]| {
            sums.iter_mut().zip(&parts).for_each(|(sum, part)| sum.merge(part));
            sums
        };
        let (mut sums, mut offset) = (empty(), 0);
        for list in &self.items {
            let block = list.rows * list.lanes;
            let blocks = list.counted.len() / list.lanes;
            let at_once = (TASK / block.max(1)).max(1);
            let task = |task: usize| {
                let mut sums = empty();
                for b in task * at_once..blocks.min((task + 1) * at_once) {
                    let counted = &list.counted[b * list.lanes..(b + 1) * list.lanes];
                    let of_lanes = of_block(offset + b * block..offset + (b + 1) * block, list.lanes);
                    for (sum, of_lanes) in sums.iter_mut().zip(of_lanes) {
                        let own = of_lanes.into_iter().zip(counted).filter(|(_, counted)| **counted);
                        own.for_each(|(x, _)| sum.add(x));
                    }
                }
                sums
            };
            let tasks = blocks.div_ceil(at_once);
            sums = if host.n_threads() > 1 && tasks > 1 {
                let all = host.install(|| (0..tasks).into_par_iter().map(task).reduce(empty, merge));
                merge(sums, all)
            } else {
                (0..tasks).map(task).fold(sums, merge)
            };
            offset += blocks * block;
        }
        match &self.ranks {
            None => sums.map(|sum| sum.value()),
            Some(ranks) => {
                let values = ranks.sum(&mut sums);
                std::array::from_fn(|i| values[i])
            }
        }
    }

    /// The largest of the numbers of all ranks; NaN if one is.
    pub(crate) fn largest(&self, own: f64) -> f64 {
        let mut value = [own];
        if let Some(ranks) = &self.ranks {
            ranks.max(&mut value);
        }
        value[0]
    }
}

impl std::fmt::Debug for Summation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let items: usize = self.items.iter().map(|list| list.counted.len()).sum();
        write!(f, "Summation of {items} items")
    }
}

#[inline(always)]
fn dot_of_lanes<T: Scalar, const L: usize>(x: &[T], y: &[T]) -> [f64; LANES] {
    let mut out = [0.0; LANES];
    for (x, y) in x.as_chunks::<L>().0.iter().zip(y.as_chunks::<L>().0) {
        for l in 0..L {
            out[l] += x[l].to_f64() * y[l].to_f64();
        }
    }
    out
}

#[inline(always)]
fn dot_body<T: Scalar>(x: &[T], y: &[T], lanes: usize) -> [f64; LANES] {
    match lanes {
        1 => dot_of_lanes::<T, 1>(x, y),
        2 => dot_of_lanes::<T, 2>(x, y),
        4 => dot_of_lanes::<T, 4>(x, y),
        8 => dot_of_lanes::<T, 8>(x, y),
        _ => dot_of_lanes::<T, 16>(x, y),
    }
}

#[inline(always)]
fn sum_body<T: Scalar>(x: &[T], lanes: usize) -> [f64; LANES] {
    let mut out = [0.0; LANES];
    for row in x.chunks_exact(lanes) {
        for (out, x) in out.iter_mut().zip(row) {
            *out += x.to_f64();
        }
    }
    out
}

simd_versions! {
    /// `Σ x_i y_i` of the items of one block.
    fn block_dot<T: Scalar>(x: &[T], y: &[T], lanes: usize) -> [f64; LANES] = dot_body;
}
simd_versions! {
    /// `Σ x_i` of the items of one block.
    fn block_sum<T: Scalar>(x: &[T], lanes: usize) -> [f64; LANES] = sum_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Communicator, on_each, threads};
    use crate::{HostVector, Vector};

    /// Items of three entries with these numbers in blocks of some lanes; the first of each block of four or
    /// more is not counted.
    fn vector(host: &Host, lanes: usize, numbers: &[usize], ranks: Option<Arc<Joint>>) -> HostVector<f64> {
        let spare = usize::from(lanes >= 4);
        let blocks = numbers.len().div_ceil(lanes - spare);
        let (mut counted, mut entries) = (vec![false; blocks * lanes], vec![0.5; 3 * blocks * lanes]);
        for (i, &number) in numbers.iter().enumerate() {
            let (block, lane) = (i / (lanes - spare), i % (lanes - spare) + spare);
            counted[block * lanes + lane] = true;
            for row in 0..3 {
                entries[(3 * block + row) * lanes + lane] = (1.7 * number as f64 + row as f64).sin().powi(9);
            }
        }
        let items = Items { rows: 3, lanes, counted };
        let summation = Arc::new(Summation::new(vec![items], ranks));
        HostVector::from_slice(host, &entries).unwrap().summed_by(summation)
    }

    fn sums(x: &HostVector<f64>) -> [u64; 4] {
        let mut y = x.zeros_like().unwrap();
        y.copy_from(x);
        let square = y.add_and_square(0.3, x);
        [x.dot(&y), x.dot_two(x, &y)[0], x.sum(), square].map(f64::to_bits)
    }

    #[test]
    fn sums_depend_neither_on_places_nor_on_threads_nor_on_ranks() {
        let numbers: Vec<usize> = (0..20_011).collect();
        let expected = sums(&vector(&Host::new(1).unwrap(), 1, &numbers, None));
        let backwards: Vec<usize> = numbers.iter().rev().copied().collect();
        for lanes in [2, 4, 8, 16] {
            assert_eq!(sums(&vector(&Host::new(3).unwrap(), lanes, &backwards, None)), expected);
        }
        let of_ranks = on_each(threads(3), |comm| {
            let own: Vec<usize> = numbers.iter().copied().filter(|n| n % 3 == comm.rank()).collect();
            let joint = Arc::new(Joint::new(Arc::new(comm)));
            let host = Host::new(1).unwrap();
            sums(&vector(&host, [2, 4, 8][joint.comm().rank()], &own, Some(joint)))
        });
        assert_eq!(of_ranks, [expected; 3]);
    }

    #[test]
    fn the_largest_entry_is_that_of_all_ranks() {
        let of_ranks = on_each(threads(2), |comm| {
            let rank = comm.rank();
            let joint = Arc::new(Joint::new(Arc::new(comm)));
            let x = vector(&Host::new(1).unwrap(), 1, &[rank], Some(joint));
            [x.norm_max(), x.norm2()]
        });
        assert_eq!(of_ranks[0], of_ranks[1]);
        let both = vector(&Host::new(1).unwrap(), 1, &[0, 1], None);
        assert_eq!(of_ranks[0], [both.norm_max(), both.norm2()]);
    }
}
