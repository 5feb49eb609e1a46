//! Rows of sparse matrices and their sums.

/// A row of a matrix: entries that are not zero, by their columns.
pub(crate) type SparseRow = Vec<(u32, f64)>;

/// Entries below this fraction of the largest of a row are rounding.
const ROUNDING: f64 = 1e-14;

/// The entries of a row that are more than rounding; `column` gives their columns.
pub(crate) fn sparse(row: &[f64], column: impl Fn(usize) -> u32) -> SparseRow {
    let least = ROUNDING * row.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    row.iter().enumerate().filter(|(_, v)| v.abs() > least).map(|(i, v)| (column(i), *v)).collect()
}

/// Adds up rows.
pub(crate) struct RowSum {
    values: Vec<f64>,
    /// Columns with a value, and whether a column is one of them.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl RowSum {
    /// For rows of `columns` columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { values: vec![0.0; columns], touched: Vec::new(), is_touched: vec![false; columns] }
    }

    /// Adds a multiple of a row.
    pub(crate) fn add(&mut self, factor: f64, row: &SparseRow) {
        for &(j, v) in row {
            let at = j as usize;
            if !self.is_touched[at] {
                self.is_touched[at] = true;
                self.touched.push(j);
            }
            self.values[at] += factor * v;
        }
    }

    /// The sum without rounding, in the order of columns; the next sum begins with zero.
    pub(crate) fn take(&mut self) -> SparseRow {
        self.touched.sort_unstable();
        let least =
            self.touched.iter().fold(0.0_f64, |m, j| m.max(self.values[*j as usize].abs())) * ROUNDING;
        let mut out = SparseRow::new();
        for j in self.touched.drain(..) {
            let v = std::mem::take(&mut self.values[j as usize]);
            self.is_touched[j as usize] = false;
            if v.abs() > least {
                out.push((j, v));
            }
        }
        out
    }

    /// The sum of the rows `row(d)` with these factors, but for factors that are rounding.
    pub(crate) fn of<'a>(&mut self, factors: &[f64], row: impl Fn(usize) -> &'a SparseRow) -> SparseRow {
        let least = ROUNDING * factors.iter().fold(0.0_f64, |m, f| m.max(f.abs()));
        for (d, factor) in factors.iter().enumerate().filter(|(_, f)| f.abs() > least) {
            self.add(*factor, row(d));
        }
        self.take()
    }
}
