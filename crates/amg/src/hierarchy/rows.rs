//! Diagonal entries and row sums, which coarsening needs.

use dgsuite_gpu::Host;

use crate::sparse::{View, tabulate};

/// A row's diagonal entry and sums of its other entries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowSums {
    /// `a_ii`.
    pub(crate) diagonal: f64,
    /// `max(Σ_j a_ij, 0)`; zero if the sum is a rounding error.
    pub(crate) excess: f64,
    /// `Σ_{j≠i} |a_ij|`.
    pub(crate) magnitude: f64,
    /// `max_{j≠i}(−a_ij)`, at least 0.
    pub(crate) most_negative: f64,
}

/// A row sum below this fraction of the row's entries is a rounding error.
const ROUNDING: f64 = 1e-12;

impl RowSums {
    /// The sums of one row.
    #[inline]
    pub(crate) fn of(a: View<'_, f64>, i: usize) -> Self {
        let mut row = Self::default();
        let mut others = 0.0;
        for (j, value) in a.entries(i) {
            if j == i {
                row.diagonal += value;
            } else {
                others += value;
                row.magnitude += value.abs();
                row.most_negative = row.most_negative.max(-value);
            }
        }
        let sum = row.diagonal + others;
        row.excess = if sum > ROUNDING * (row.diagonal + row.magnitude) { sum } else { 0.0 };
        row
    }

    /// The sums of all rows.
    pub(crate) fn table(host: &Host, a: View<'_, f64>) -> Vec<Self> {
        tabulate(host, a.n_rows(), |i| Self::of(a, i))
    }

    /// Whether the diagonal dominates the row so strongly that smoothing alone solves for it:
    /// `a_ii ≥ κ/(κ−2) Σ|a_ij|` (Napov and Notay 2012, section 3.3). Such a row needs no coarser level.
    pub(crate) fn dominated_by_diagonal(&self, quality: f64) -> bool {
        (quality - 2.0) * self.diagonal >= quality * self.magnitude
    }

    /// `Σ_j |a_ij|`.
    pub(crate) fn l1(&self) -> f64 {
        self.diagonal.abs() + self.magnitude
    }
}
