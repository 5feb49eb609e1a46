//! Slices of sixteen rows: storage of their entries, and products.

use std::ops::Range;

use dgsuite_gpu::Scalar;

use crate::sparse::View;

/// Rows of a slice.
pub(super) const LANES: usize = 16;
/// A slice is stored by offsets if that needs at most this multiple of its entries.
const BAND_FILL: f64 = 1.75;
/// A slice is stored by columns if that needs at most this multiple of its entries.
const COLUMNS_FILL: f64 = 1.8;

/// The storage format of a slice, with `width` places for each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Place by place, sixteen values each; one index, the column of the first row.
    Band,
    /// Place by place, sixteen values and sixteen columns each.
    Columns,
    /// Row by row; sixteen lengths, then the columns.
    Rows,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) kind: Kind,
    width: u32,
    /// The start of its values and of its indices in the arrays of the block.
    values: usize,
    indices: usize,
}

/// The rows that one thread processes.
#[derive(Clone, Debug)]
pub(super) struct Block<T> {
    pub(super) slices: Vec<Slice>,
    values: Vec<T>,
    indices: Vec<u32>,
}

impl<T: Scalar> Block<T> {
    /// The rows of a range, multiplied by a factor.
    pub(super) fn new(a: View<'_, f64>, factor: f64, n_cols: usize, rows: Range<usize>) -> Self {
        let entries = a.starts[rows.end] - a.starts[rows.start];
        let mut block = Self {
            slices: Vec::with_capacity(rows.len().div_ceil(LANES)),
            values: Vec::with_capacity(entries + entries / 8),
            indices: Vec::with_capacity(entries / 4),
        };
        let mut offsets = Offsets::default();
        for first in rows.clone().step_by(LANES) {
            let end = rows.end.min(first + LANES);
            block.push(a, factor, n_cols, first..end, &mut offsets);
        }
        block
    }

    fn push(
        &mut self,
        a: View<'_, f64>,
        factor: f64,
        n_cols: usize,
        rows: Range<usize>,
        offsets: &mut Offsets,
    ) {
        let first = rows.start;
        let entries = a.starts[rows.end] - a.starts[first];
        let (values, indices) = (self.values.len(), self.indices.len());
        let full = rows.len() == LANES;
        let allowed = |fill: f64| (fill * entries as f64) as usize / LANES;
        let width = rows.clone().map(|i| a.starts[i + 1] - a.starts[i]).max().unwrap_or(0);
        let rounded = |value: f64| T::from_f64(factor * value);
        let (kind, width) = if full && same_offsets(a, first, width) {
            let (columns, entries) = (&a.columns[a.starts[first]..], &a.values[a.starts[first]..]);
            self.indices.extend_from_slice(&columns[..width]);
            let entries = &entries[..LANES * width];
            for k in 0..width {
                let mut column = [T::ZERO; LANES];
                for l in 0..LANES {
                    column[l] = rounded(entries[l * width + k]);
                }
                self.values.extend_from_slice(&column);
            }
            (Kind::Band, width)
        } else if full && offsets.find(a, first, allowed(BAND_FILL), n_cols) {
            let width = offsets.found.len();
            self.indices.extend(offsets.found.iter().map(|offset| (first as i64 + offset) as u32));
            let at = self.values.len();
            self.values.resize(at + LANES * width, T::ZERO);
            for (l, i) in rows.enumerate() {
                let mut k = 0;
                for (j, value) in a.entries(i) {
                    while offsets.found[k] != j as i64 - i as i64 {
                        k += 1;
                    }
                    self.values[at + LANES * k + l] = rounded(value);
                }
            }
            (Kind::Band, width)
        } else if full && width <= allowed(COLUMNS_FILL) {
            let (at, at_index) = (self.values.len(), self.indices.len());
            self.values.resize(at + LANES * width, T::ZERO);
            // Places without an entry multiply zero by an entry of x that is read anyway.
            self.indices.resize(at_index + LANES * width, 0);
            for (l, i) in rows.enumerate() {
                let mut last = 0;
                for (k, (j, value)) in a.entries(i).enumerate() {
                    self.values[at + LANES * k + l] = rounded(value);
                    self.indices[at_index + LANES * k + l] = j as u32;
                    last = j as u32;
                }
                for k in a.starts[i + 1] - a.starts[i]..width {
                    self.indices[at_index + LANES * k + l] = last;
                }
            }
            (Kind::Columns, width)
        } else {
            let lengths = rows.clone().map(|i| (a.starts[i + 1] - a.starts[i]) as u32);
            self.indices.extend(lengths.chain(std::iter::repeat_n(0, LANES - rows.len())));
            for i in rows {
                let (columns, values) = a.row(i);
                self.indices.extend(columns);
                self.values.extend(values.iter().map(|&value| rounded(value)));
            }
            (Kind::Rows, width)
        };
        self.slices.push(Slice { kind, width: width as u32, values, indices });
    }

    /// `Σ_j a_ij x_j` for the rows of a slice.
    #[inline(always)]
    pub(super) fn product(&self, slice: &Slice, x: &[T]) -> [T; LANES] {
        let (width, values, indices) =
            (slice.width as usize, &self.values[slice.values..], &self.indices[slice.indices..]);
        let mut sum = [T::ZERO; LANES];
        match slice.kind {
            Kind::Band => {
                for (&j, a) in indices[..width].iter().zip(values.as_chunks::<LANES>().0) {
                    let Some(x) = x[j as usize..].first_chunk::<LANES>() else { break };
                    for l in 0..LANES {
                        sum[l] += a[l] * x[l];
                    }
                }
            }
            Kind::Columns => {
                let places =
                    indices.as_chunks::<LANES>().0[..width].iter().zip(values.as_chunks::<LANES>().0);
                for (columns, a) in places {
                    for l in 0..LANES {
                        sum[l] += a[l] * x[columns[l] as usize];
                    }
                }
            }
            Kind::Rows => {
                let (lengths, columns) = indices.split_at(LANES);
                let mut at = 0;
                for (sum, &length) in sum.iter_mut().zip(lengths) {
                    let range = at..at + length as usize;
                    at = range.end;
                    for (&j, &a) in columns[range.clone()].iter().zip(&values[range]) {
                        *sum += a * x[j as usize];
                    }
                }
            }
        }
        sum
    }

    /// Column and value of each place of row `l` of a slice.
    pub(super) fn places(&self, slice: &Slice, l: usize) -> Vec<(u32, T)> {
        let (at, at_index) = (slice.values, slice.indices);
        let place = |k: usize| at + LANES * k + l;
        match slice.kind {
            Kind::Band => (0..slice.width as usize)
                .map(|k| (self.indices[at_index + k] + l as u32, self.values[place(k)]))
                .collect(),
            Kind::Columns => (0..slice.width as usize)
                .map(|k| (self.indices[at_index + LANES * k + l], self.values[place(k)]))
                .collect(),
            Kind::Rows => {
                let lengths = &self.indices[at_index..at_index + LANES];
                let first = lengths[..l].iter().sum::<u32>() as usize;
                (first..first + lengths[l] as usize)
                    .map(|k| (self.indices[at_index + LANES + k], self.values[at + k]))
                    .collect()
            }
        }
    }

    /// Bytes of the three arrays.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Slice>() * self.slices.len()
            + T::BYTES * self.values.len()
            + size_of::<u32>() * self.indices.len()
    }
}

/// Whether each row of a slice has `width` entries, all at the same offsets from the diagonal.
fn same_offsets(a: View<'_, f64>, first: usize, width: usize) -> bool {
    let starts = &a.starts[first..=first + LANES];
    if starts[LANES] - starts[0] != LANES * width || starts.windows(2).any(|ends| ends[1] - ends[0] != width)
    {
        return false;
    }
    let columns = &a.columns[starts[0]..starts[LANES]];
    let (own, mut differ) = (&columns[..width], 0);
    for l in 1..LANES {
        for (column, own) in columns[l * width..].iter().zip(own) {
            differ |= column.wrapping_sub(*own) ^ l as u32;
        }
    }
    differ == 0
}

/// The offsets from the diagonal at which at least one row of a slice has an entry, ascending.
#[derive(Default)]
struct Offsets {
    found: Vec<i64>,
    merged: Vec<i64>,
}

impl Offsets {
    /// Finds the offsets of the slice that starts at row `first`. Returns false if there are more than
    /// `most`, or if they reach beyond the columns.
    fn find(&mut self, a: View<'_, f64>, first: usize, most: usize, n_cols: usize) -> bool {
        self.found.clear();
        self.found.extend(a.row(first).0.iter().map(|&j| i64::from(j) - first as i64));
        for i in first + 1..first + LANES {
            let columns = a.row(i).0;
            let offset = |j: u32| i64::from(j) - i as i64;
            if columns.len() == self.found.len()
                && columns.iter().zip(&self.found).all(|(&j, &found)| offset(j) == found)
            {
                continue;
            }
            self.merged.clear();
            let mut k = 0;
            for &j in columns {
                let own = offset(j);
                while let Some(&found) = self.found.get(k).filter(|&&found| found < own) {
                    self.merged.push(found);
                    k += 1;
                }
                k += usize::from(self.found.get(k) == Some(&own));
                self.merged.push(own);
            }
            self.merged.extend(&self.found[k..]);
            std::mem::swap(&mut self.found, &mut self.merged);
            if self.found.len() > most {
                return false;
            }
        }
        let inside = |offset: &i64| {
            let start = first as i64 + offset;
            start >= 0 && start + LANES as i64 <= n_cols as i64
        };
        self.found.len() <= most && self.found.iter().all(inside)
    }
}
