//! Layouts of a matrix in device memory: slices with one lane per row, or compressed rows with several lanes
//! per row.

use dgsuite_gpu::Scalar;

use crate::sparse::View;

/// Rows of a slice: the lanes of a warp.
pub(super) const SLICE: usize = 32;
/// Slices may store this multiple of the entries.
const PADDING: f64 = 1.15;
/// With fewer rows than this, one lane per row leaves most of a device idle, and each lane waits long for its
/// entries.
const MANY_ROWS: usize = 1 << 16;
/// In single precision, rows up to this length are faster as compressed rows with one lane each than in
/// slices: 5 and 7 entries were measured on an H200, with 84 to 91 % of its copy rate against 69 to 71 %.
const SHORT_ROW: f64 = 8.0;
/// Rows longer than this are read by several lanes each.
const LONG_ROW: f64 = 48.0;
/// Logarithm of the largest number of lanes per row, a warp.
const MAX_SHIFT: u32 = 5;

/// The layout of a matrix's rows in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLayout {
    /// Slices of 32 rows, padded to their longest row. Entry k of all rows lies side by side, and one lane
    /// sums a row from left to right (the sliced ELLPACK format; Kreutzer, Hager, Wellein, Fehske and Bishop
    /// 2014).
    Slices,
    /// Compressed rows; 2^`shift` lanes share a row (Bell and Garland 2009). At most 32 lanes.
    Groups {
        /// Logarithm of the number of lanes.
        shift: u32,
    },
}

impl RowLayout {
    /// A layout in which sums of rows depend on the rows alone, for parts of a matrix: a lane for every four
    /// entries of a row with `entries`, as all parts know them.
    #[must_use]
    pub fn of_rows(entries: usize) -> Self {
        Self::Groups { shift: (entries / 4).max(1).ilog2().min(MAX_SHIFT) }
    }

    /// Logarithm of the number of lanes that share a row.
    pub(super) fn shift(self) -> u32 {
        match self {
            Self::Slices => 0,
            Self::Groups { shift } => shift,
        }
    }
}

/// The arrays of a matrix as the kernels read them.
pub(super) struct Arrays<T> {
    /// The start of each slice or row, and the end.
    pub(super) starts: Vec<u64>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<T>,
}

/// The fastest layout for a product: slices for many rows of similar lengths, except short ones in single
/// precision; otherwise enough lanes per row to fill a device, but with work for each lane.
pub(super) fn choose<T: Scalar>(a: View<'_, T>) -> RowLayout {
    let n = a.n_rows();
    let mean = a.n_nonzeros() as f64 / n.max(1) as f64;
    let even = || slices(a).last().copied().unwrap_or(0) as f64 <= PADDING * a.n_nonzeros() as f64;
    let short = T::BYTES == 4 && mean <= SHORT_ROW;
    if n >= MANY_ROWS && !short && mean <= LONG_ROW && even() {
        return RowLayout::Slices;
    }
    let lanes = if n >= MANY_ROWS { 0.25 * mean } else { mean };
    RowLayout::Groups { shift: lanes.max(1.0).log2().floor().min(f64::from(MAX_SHIFT)) as u32 }
}

/// The start of each slice, and the end.
fn slices<T: Scalar>(a: View<'_, T>) -> Vec<u64> {
    let (n, mut end) = (a.n_rows(), 0);
    let mut starts = vec![0];
    for first in (0..n).step_by(SLICE) {
        let longest = (first..n.min(first + SLICE)).map(|i| a.row(i).0.len()).max().unwrap_or(0);
        end += (SLICE * longest) as u64;
        starts.push(end);
    }
    starts
}

impl<T: Scalar> Arrays<T> {
    pub(super) fn new(a: View<'_, T>, layout: RowLayout) -> Self {
        match layout {
            RowLayout::Groups { .. } => Self {
                starts: a.starts.iter().map(|&start| start as u64).collect(),
                columns: a.columns.to_vec(),
                values: a.values.to_vec(),
            },
            RowLayout::Slices => {
                let starts = slices(a);
                let size = starts[starts.len() - 1] as usize;
                let (mut columns, mut values) = (vec![0; size], vec![T::ZERO; size]);
                for i in 0..a.n_rows() {
                    let (slice, lane) = (i / SLICE, i % SLICE);
                    let places = (starts[slice] as usize + lane..starts[slice + 1] as usize).step_by(SLICE);
                    let (own, entries) = a.row(i);
                    for (k, at) in places.enumerate() {
                        // Padding: zero times an entry of x that the row reads anyway.
                        let last = k.min(own.len().saturating_sub(1));
                        columns[at] = own.get(last).copied().unwrap_or(0);
                        values[at] = entries.get(k).copied().unwrap_or(T::ZERO);
                    }
                }
                Self { starts, columns, values }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, gallery};

    #[test]
    fn slices_hold_each_entry_once() {
        let a = gallery::poisson_2d(9, 5, 1.0).unwrap();
        let Arrays { starts, columns, values } = Arrays::new(a.view(), RowLayout::Slices);
        assert_eq!(starts, [0, 5 * 32, 2 * 5 * 32]);
        for i in 0..45 {
            let first = starts[i / 32] as usize + i % 32;
            let row: Vec<(usize, f64)> =
                (0..5).map(|k| (columns[first + 32 * k] as usize, values[first + 32 * k])).collect();
            let n = a.row(i).count();
            assert_eq!(row[..n], a.row(i).collect::<Vec<_>>());
            assert!(row[n..].iter().all(|&(j, value)| value == 0.0 && j == row[n - 1].0));
        }
    }

    #[test]
    fn the_layout_follows_the_rows() {
        let layout = |a: &Csr<f64>| choose(a.view());
        let entries = (0..70_000).map(|i| (i, i, 1.0_f32));
        let single = Csr::from_triplets(70_000, 70_000, entries).unwrap();
        assert_eq!(choose(single.view()), RowLayout::Groups { shift: 0 });
        assert_eq!(layout(&gallery::poisson_2d(300, 300, 1.0).unwrap()), RowLayout::Slices);
        assert_eq!(layout(&gallery::poisson_2d(30, 30, 1.0).unwrap()), RowLayout::Groups { shift: 2 });
        assert_eq!(
            layout(&gallery::random_graph(70_000, 9, 1.0, 1).unwrap()),
            RowLayout::Groups { shift: 2 }
        );
        assert_eq!(layout(&gallery::poisson_27(10).unwrap()), RowLayout::Groups { shift: 4 });
        assert_eq!(layout(&Csr::from_triplets(3, 3, []).unwrap()), RowLayout::Groups { shift: 0 });
    }
}
