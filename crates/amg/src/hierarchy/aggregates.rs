//! A partition of rows into aggregates, which become the rows of the next coarser level.

/// The number of a row that belongs to no aggregate.
pub(crate) const NONE: u32 = u32::MAX;

/// Which aggregate each row belongs to, and which rows each aggregate has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregates {
    /// The aggregate of each row, or [`NONE`].
    pub(crate) of_row: Vec<u32>,
    /// Where the rows of each aggregate start in `rows`, and the end.
    pub(crate) starts: Vec<u32>,
    /// Rows, ascending in each aggregate.
    pub(crate) rows: Vec<u32>,
}

impl Aggregates {
    /// Numbers the aggregates by their first rows. `label[i]` is any number below the number of rows that the
    /// rows of one aggregate share, or [`NONE`].
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

    /// Aggregates of aggregates: the rows of the finer level by the aggregates of the coarser.
    pub(crate) fn then(&self, coarser: &Self) -> Self {
        let merge = |&k: &u32| if k == NONE { NONE } else { coarser.of_row[k as usize] };
        Self::from_labels(&self.of_row.iter().map(merge).collect::<Vec<_>>())
    }

    /// Bytes of the three arrays.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u32>() * (self.of_row.len() + self.starts.len() + self.rows.len())
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
        let merged = pairs.then(&Aggregates::from_labels(&[1, NONE, 1]));
        assert_eq!(merged.of_row, [0, NONE, NONE, 0, NONE, 0]);
        assert_eq!((merged.len(), merged.rows(0)), (1, &[0, 3, 5][..]));
        assert_eq!(Aggregates::from_labels(&[NONE]).len(), 0);
    }
}
