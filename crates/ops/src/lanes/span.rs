//! The unknowns of a row that a matrix kernel processes at a time.
//!
//! Kernels are compiled for 1 to 6 unknowns, whose accumulators stay in registers. Any other number of
//! unknowns is processed one by one, with the kernel for one unknown and a distance between rows that is not
//! a constant.

use crate::lanes::simd::Pack;

/// The unknowns of a row that a kernel for `N` unknowns processes: `first..first + N`, of `of` in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    first: usize,
    of: usize,
}

impl Span {
    /// All `n` unknowns of a row.
    #[inline(always)]
    pub(crate) const fn all(n: usize) -> Self {
        Self { first: 0, of: n }
    }

    /// Unknown `k` alone, of `n` in a row.
    #[inline(always)]
    pub(crate) const fn one(k: usize, n: usize) -> Self {
        Self { first: k, of: n }
    }

    /// Number of unknowns of a row.
    #[inline(always)]
    pub(crate) const fn of(self) -> usize {
        self.of
    }

    /// Whether no unknowns follow, for a kernel for `N` unknowns.
    #[inline(always)]
    pub(crate) const fn is_last<const N: usize>(self) -> bool {
        self.first + N == self.of
    }

    /// Index of the pack of unknown `k` of the span in row `i`.
    #[inline(always)]
    pub(crate) const fn at(self, i: usize, k: usize) -> usize {
        i * self.of + self.first + k
    }

    /// Pointer to the span's first pack of the first row; `rows` points to the rows.
    ///
    /// # Safety
    /// `rows` covers one row.
    #[inline(always)]
    pub(crate) unsafe fn of_rows<V: Pack>(self, rows: *const V::T) -> *const V::T {
        // SAFETY: inside the first row, by the caller's contract.
        unsafe { rows.add(self.first * V::W) }
    }
}

/// Calls the method `run_fields` of a kernel for all unknowns: at once with their number as a constant, or
/// one by one where it is larger than 6.
macro_rules! by_fields {
    ($self:ident, $v:ty) => {
        match $self.fields {
            1 => $self.run_fields::<$v, 1>(Span::all(1)),
            2 => $self.run_fields::<$v, 2>(Span::all(2)),
            3 => $self.run_fields::<$v, 3>(Span::all(3)),
            4 => $self.run_fields::<$v, 4>(Span::all(4)),
            5 => $self.run_fields::<$v, 5>(Span::all(5)),
            6 => $self.run_fields::<$v, 6>(Span::all(6)),
            n => {
                for k in 0..n {
                    $self.run_fields::<$v, 1>(Span::one(k, n));
                }
            }
        }
    };
}
pub(crate) use by_fields;
