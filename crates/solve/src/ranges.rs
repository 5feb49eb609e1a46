//! Which numbers of a saved state belong to the elements of one rank.

use std::iter::once;
use std::ops::Range;

/// Ranges of a list of numbers, in ascending order and with gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<Range<usize>>,
    total: usize,
}

impl Ranges {
    /// The ranges of a list of `total` numbers; those that touch are joined. They come in ascending order.
    pub fn new(ranges: impl IntoIterator<Item = Range<usize>>, total: usize) -> Self {
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ if range.is_empty() => {}
                _ => joined.push(range),
            }
        }
        Self { ranges: joined, total }
    }

    /// The whole list.
    #[must_use]
    pub fn all(total: usize) -> Self {
        Self::new(once(0..total), total)
    }

    /// Share `part` of a list in `parts` equal ones.
    #[must_use]
    pub fn share(total: usize, part: usize, parts: usize) -> Self {
        let from = |part: usize| (total as u128 * part as u128 / parts as u128) as usize;
        Self::new(once(from(part)..from(part + 1)), total)
    }

    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.ranges.iter().cloned()
    }

    /// Length of the list.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.total
    }

    /// How many numbers lie in the ranges.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one_and_shares_cover_the_list() {
        let ranges = Ranges::new([0..2, 2..2, 2..5, 7..9, 9..10], 12);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [0..5, 7..10]);
        assert_eq!((ranges.count(), ranges.total()), (8, 12));
        for parts in 1..5 {
            let shares = (0..parts).flat_map(|part| Ranges::share(7, part, parts).ranges);
            assert_eq!(Ranges::new(shares, 7), Ranges::all(7));
        }
    }
}
