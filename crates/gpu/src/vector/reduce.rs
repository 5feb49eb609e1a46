//! Reductions over a tree of fixed shape: the same bits for any number of threads.
//!
//! The range is divided into leaves of [`LEAF`] entries. A node of the tree splits its leaves at the largest
//! power of two below their number. The shape depends only on the length; the threads only decide which of
//! them computes a branch. Nothing is allocated.

use std::ops::Range;

use crate::Scalar;
use crate::simd::simd_versions;

/// Entries of one leaf.
pub(crate) const LEAF: usize = 4096;

/// Ranges longer than this are split between threads.
const GRAIN: usize = 8 * LEAF;

/// Running sums of a leaf, one per lane: a fixed number, independent of the register width.
const LANES: usize = 16;

/// Reduces `0..n`: `leaf` computes one leaf, `join` combines two neighbours.
pub(crate) fn tree<A: Send>(
    parallel: bool,
    n: usize,
    leaf: &(impl Fn(Range<usize>) -> A + Sync),
    join: &(impl Fn(A, A) -> A + Sync),
) -> A {
    node(parallel, 0..n, leaf, join)
}

fn node<A: Send>(
    parallel: bool,
    range: Range<usize>,
    leaf: &(impl Fn(Range<usize>) -> A + Sync),
    join: &(impl Fn(A, A) -> A + Sync),
) -> A {
    if range.len() <= LEAF {
        return leaf(range);
    }
    let n_leaves = range.len().div_ceil(LEAF);
    let middle = range.start + LEAF * (n_leaves.next_power_of_two() / 2);
    let (left, right) = (range.start..middle, middle..range.end);
    let (a, b) = if parallel && range.len() > GRAIN {
        rayon::join(|| node(true, left, leaf, join), || node(true, right, leaf, join))
    } else {
        (node(false, left, leaf, join), node(false, right, leaf, join))
    };
    join(a, b)
}

/// The same over leaves that are modified: `leaf` receives its entries of `y` and the index of the first.
pub(crate) fn tree_mut<T: Send, A: Send>(
    parallel: bool,
    first: usize,
    y: &mut [T],
    leaf: &(impl Fn(usize, &mut [T]) -> A + Sync),
    join: &(impl Fn(A, A) -> A + Sync),
) -> A {
    if y.len() <= LEAF {
        return leaf(first, y);
    }
    let middle = LEAF * (y.len().div_ceil(LEAF).next_power_of_two() / 2);
    let threads = parallel && y.len() > GRAIN;
    let (left, right) = y.split_at_mut(middle);
    let (a, b) = if threads {
        rayon::join(
            || tree_mut(true, first, left, leaf, join),
            || tree_mut(true, first + middle, right, leaf, join),
        )
    } else {
        (tree_mut(false, first, left, leaf, join), tree_mut(false, first + middle, right, leaf, join))
    };
    join(a, b)
}

/// A sum and its rounding error.
#[derive(Clone, Copy)]
pub(crate) struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    const ZERO: Self = Self { sum: 0.0, error: 0.0 };

    pub(crate) fn value(self) -> f64 {
        // The error of an infinite sum is meaningless (NaN).
        if self.sum.is_finite() { self.sum + self.error } else { self.sum }
    }

    /// One more term, by Knuth's two-sum.
    #[inline(always)]
    fn add(self, x: f64) -> Self {
        let sum = self.sum + x;
        let seen = sum - self.sum;
        let error = (self.sum - (sum - seen)) + (x - seen);
        Self { sum, error: self.error + error }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        let joined = self.add(other.sum);
        Self { sum: joined.sum, error: joined.error + other.error }
    }
}

/// Adds the lanes pairwise, always in the same order.
#[inline(always)]
fn fold<A: Copy>(mut lanes: [A; LANES], join: impl Fn(A, A) -> A) -> A {
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            lanes[l] = join(lanes[l], lanes[l + width]);
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn dot_body<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (y_blocks, y_rest) = y.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in x_blocks.iter().zip(y_blocks) {
        for l in 0..LANES {
            lanes[l] += a[l].to_f64() * b[l].to_f64();
        }
    }
    for (l, (a, b)) in x_rest.iter().zip(y_rest).enumerate() {
        lanes[l] += a.to_f64() * b.to_f64();
    }
    fold(lanes, |a, b| a + b)
}

#[inline(always)]
fn sum_body<T: Scalar>(x: &[T]) -> Compensated {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [Compensated::ZERO; LANES];
    for a in blocks {
        for l in 0..LANES {
            lanes[l] = lanes[l].add(a[l].to_f64());
        }
    }
    for (l, a) in rest.iter().enumerate() {
        lanes[l] = lanes[l].add(a.to_f64());
    }
    fold(lanes, Compensated::join)
}

/// Largest magnitude, and whether there is a NaN (comparisons ignore it).
#[inline(always)]
fn max_body<T: Scalar>(x: &[T]) -> f64 {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    let mut nan = [false; LANES];
    for a in blocks {
        for l in 0..LANES {
            let magnitude = a[l].abs();
            lanes[l] = if magnitude > lanes[l] { magnitude } else { lanes[l] };
            nan[l] |= magnitude.is_nan();
        }
    }
    for (l, a) in rest.iter().enumerate() {
        let magnitude = a.abs();
        lanes[l] = if magnitude > lanes[l] { magnitude } else { lanes[l] };
        nan[l] |= magnitude.is_nan();
    }
    if nan.contains(&true) { f64::NAN } else { fold(lanes, |a, b| if b > a { b } else { a }).to_f64() }
}

/// The larger of two magnitudes, or NaN if one is NaN.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

simd_versions! {
    /// `Σ x_i y_i` of one leaf.
    fn dot_leaf<T: Scalar>(x: &[T], y: &[T]) -> f64 = dot_body;
}
simd_versions! {
    /// `Σ x_i` of one leaf, with its rounding error.
    fn sum_leaf<T: Scalar>(x: &[T]) -> Compensated = sum_body;
}
simd_versions! {
    /// `max |x_i|` of one leaf.
    fn max_leaf<T: Scalar>(x: &[T]) -> f64 = max_body;
}

/// `Σ x_i y_i`.
pub(crate) fn dot<T: Scalar>(host: &crate::Host, parallel: bool, x: &[T], y: &[T]) -> f64 {
    tree(parallel, x.len(), &|r| dot_leaf(host, &x[r.clone()], &y[r]), &|a, b| a + b)
}

/// `Σ x_i y_i` and `Σ x_i z_i`, in one pass.
pub(crate) fn dot_two<T: Scalar>(host: &crate::Host, parallel: bool, x: &[T], y: &[T], z: &[T]) -> [f64; 2] {
    let leaf = |r: Range<usize>| {
        let x = &x[r.clone()];
        [dot_leaf(host, x, &y[r.clone()]), dot_leaf(host, x, &z[r])]
    };
    tree(parallel, x.len(), &leaf, &|a, b| [a[0] + b[0], a[1] + b[1]])
}

/// `Σ y_i²` after `update(first, entries)` of each leaf of `y`.
pub(crate) fn square_after<T: Scalar>(
    host: &crate::Host,
    parallel: bool,
    y: &mut [T],
    update: impl Fn(usize, &mut [T]) + Sync,
) -> f64 {
    let leaf = |first: usize, y: &mut [T]| {
        update(first, y);
        dot_leaf(host, y, y)
    };
    tree_mut(parallel, 0, y, &leaf, &|a, b| a + b)
}

/// `Σ x_i`, compensated.
pub(crate) fn sum<T: Scalar>(host: &crate::Host, parallel: bool, x: &[T]) -> f64 {
    if x.is_empty() {
        return Compensated::ZERO.value();
    }
    tree(parallel, x.len(), &|r| sum_leaf(host, &x[r]), &Compensated::join).value()
}

/// `max |x_i|`, NaN if there is one.
pub(crate) fn norm_max<T: Scalar>(host: &crate::Host, parallel: bool, x: &[T]) -> f64 {
    tree(parallel, x.len(), &|r| max_leaf(host, &x[r]), &larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_covers_each_entry_once_and_in_order() {
        for n in [0, 1, LEAF, LEAF + 1, 3 * LEAF, 9 * LEAF + 17, 64 * LEAF] {
            for parallel in [false, true] {
                let covered = tree(parallel, n, &|r| (r.start, r.end), &|a: (usize, usize), b| {
                    assert_eq!(a.1, b.0);
                    (a.0, b.1)
                });
                assert_eq!(covered, (0, n));
            }
        }
    }

    #[test]
    fn two_sum_keeps_what_rounding_drops() {
        let total = [1.0, 1e100, 1.0, -1e100].iter().fold(Compensated::ZERO, |s, &x| s.add(x));
        assert_eq!(total.value(), 2.0);
    }
}
