//! Product of an operator with a block, `C_i = Σ_j A_ij B_j`, in panels of rows that stay in registers.
//!
//! `A` is the same for all elements of a group; `B` and `C` are `[row][field][lane]`. A *panel* is a few rows
//! of `A` whose accumulators, for all fields, fit into the registers. Columns with entries in all rows of a
//! panel (all columns of a dense operator, or the points of a line in a tensor product) are *shared*: one
//! load of `B` serves all rows. Other columns are *private* to a row: one load serves one multiply–add, as a
//! memory operand. Zero entries are neither stored nor multiplied, so that one kernel serves dense operators,
//! sum factorisation and lifts at Gauss–Lobatto nodes.

use crate::lanes::simd::Pack;
use crate::lanes::span::Span;
use dgsuite_basis::Matrix;
use dgsuite_gpu::Scalar;
use std::collections::BTreeMap;

/// Number of rows of a panel for `n_fields` unknowns with packs `V`.
pub(crate) const fn panel_rows<V: Pack>(n_fields: usize) -> usize {
    match n_fields {
        1 => V::ROWS_1,
        2..=4 => V::ROWS_4,
        5 => V::ROWS_5,
        _ => {
            let rows = V::ROWS_5 * 5 / n_fields;
            if rows > 1 { rows } else { 1 }
        }
    }
}

/// Entries smaller than this fraction of the largest are treated as zero.
const NEGLIGIBLE: f64 = 1e-14;

/// A sparse matrix by rows: `(column, entry)` pairs, columns ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) cols: usize,
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
}

impl Rows {
    /// Keeps the entries of a dense matrix that are not negligible.
    pub(crate) fn dense(m: &Matrix) -> Self {
        let largest = m.as_slice().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let rows = (0..m.rows())
            .map(|i| {
                let keep = |&(_, v): &(usize, f64)| v.abs() > NEGLIGIBLE * largest;
                m.row(i).iter().copied().enumerate().filter(keep).collect()
            })
            .collect();
        Self { cols: m.cols(), rows }
    }

    pub(crate) fn identity(n: usize) -> Self {
        Self { cols: n, rows: (0..n).map(|i| vec![(i, 1.0)]).collect() }
    }

    /// `[self | other]`.
    pub(crate) fn beside(mut self, other: &Self) -> Self {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.extend(more.iter().map(|&(c, v)| (self.cols + c, v)));
        }
        self.cols += other.cols;
        self
    }

    /// `diag(self, other)`.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        let shift = self.cols;
        self.rows.extend(other.rows.iter().map(|r| r.iter().map(|&(c, v)| (shift + c, v)).collect()));
        self.cols += other.cols;
        self
    }

    /// `−self`.
    pub(crate) fn negated(mut self) -> Self {
        self.rows.iter_mut().flatten().for_each(|(_, v)| *v = -*v);
        self
    }

    /// `self ⊗ other`: the index of `other` runs fastest.
    pub(crate) fn kron(&self, other: &Self) -> Self {
        let rows = self.rows.iter().flat_map(|a| {
            other.rows.iter().map(move |b| {
                a.iter()
                    .flat_map(|&(ca, va)| b.iter().map(move |&(cb, vb)| (ca * other.cols + cb, va * vb)))
                    .collect()
            })
        });
        Self { cols: self.cols * other.cols, rows: rows.collect() }
    }
}

/// Position of one panel in the arrays.
#[derive(Clone, Copy, Debug)]
struct Panel {
    rows: u8,
    shared: u32,
    private: u32,
}

/// A matrix divided into panels of at most eight rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels<T> {
    rows: usize,
    cols: usize,
    panels: Vec<Panel>,
    /// Per panel, the rows that it computes.
    order: Vec<u32>,
    /// Per panel, the shared columns, then the `[private][row]` columns, as offsets into a block.
    offsets: Vec<u32>,
    /// Per panel, the `[shared][row]` entries, then `[private][row]`.
    entries: Vec<T>,
}

impl<T: Scalar> Panels<T> {
    /// Divides `matrix` into panels of at most `max_rows` rows: either consecutive rows, not across lines of
    /// `line` rows, or rows with the same columns, whichever needs fewer loads. A row of a block has `width`
    /// scalars (fields × lanes).
    pub(crate) fn new(matrix: &Rows, line: usize, max_rows: usize, width: usize) -> Self {
        let n = matrix.rows.len();
        let lines = (0..n).step_by(line.max(1)).map(|i| (i..n.min(i + line.max(1))).collect()).collect();
        // Operators along a direction other than the first: rows far apart have the same columns.
        let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (i, row) in matrix.rows.iter().enumerate() {
            alike.entry(row.iter().map(|e| e.0).collect()).or_default().push(i);
        }
        let mut alike: Vec<Vec<usize>> = alike.into_values().collect();
        alike.sort_unstable();
        let cut = |groups: Vec<Vec<usize>>| {
            let mut out = Self { rows: n, cols: matrix.cols, ..Self::default() };
            for group in groups {
                let parts = group.len().div_ceil(max_rows.clamp(1, 8));
                for p in 0..parts {
                    let range = group.len() * p / parts..group.len() * (p + 1) / parts;
                    out.order.extend(group[range.clone()].iter().map(|&i| i as u32));
                    let rows: Vec<_> = group[range].iter().map(|&i| matrix.rows[i].clone()).collect();
                    out.push(&rows, width);
                }
            }
            out
        };
        let (lines, alike) = (cut(lines), cut(alike));
        if alike.loads() < lines.loads() { alike } else { lines }
    }

    /// As [`new`](Self::new), without rows that have no entries: for products that are added.
    pub(crate) fn filled(matrix: &Rows, max_rows: usize, width: usize) -> Self {
        let mut out = Self { rows: matrix.rows.len(), cols: matrix.cols, ..Self::default() };
        let filled: Vec<usize> = (0..matrix.rows.len()).filter(|&i| !matrix.rows[i].is_empty()).collect();
        // Consecutive rows with the same columns share panels.
        let mut first = 0;
        while first < filled.len() {
            let columns = |i: usize| matrix.rows[filled[i]].iter().map(|e| e.0);
            let alike = (first..filled.len()).take_while(|&i| columns(i).eq(columns(first))).count();
            let count = alike.min(max_rows.clamp(1, 8));
            out.order.extend(filled[first..first + count].iter().map(|&i| i as u32));
            let rows: Vec<_> = filled[first..first + count].iter().map(|&i| matrix.rows[i].clone()).collect();
            out.push(&rows, width);
            first += count;
        }
        out
    }

    /// Panels for products that are added. Each panel uses only columns between two consecutive `offsets` and
    /// consists of rows with entries there.
    pub(crate) fn by_columns(matrix: &Rows, offsets: &[usize], max_rows: usize, width: usize) -> Self {
        let mut out = Self { rows: matrix.rows.len(), cols: matrix.cols, ..Self::default() };
        for w in offsets.windows(2) {
            let within = |e: &&(usize, f64)| (w[0]..w[1]).contains(&e.0);
            let rows: Vec<(usize, Vec<(usize, f64)>)> = (matrix.rows.iter().enumerate())
                .map(|(i, row)| (i, row.iter().filter(within).copied().collect()))
                .filter(|(_, row): &(usize, Vec<_>)| !row.is_empty())
                .collect();
            let parts = rows.len().div_ceil(max_rows.clamp(1, 8));
            for p in 0..parts {
                let part = &rows[rows.len() * p / parts..rows.len() * (p + 1) / parts];
                out.order.extend(part.iter().map(|(i, _)| *i as u32));
                let entries: Vec<_> = part.iter().map(|(_, row)| row.clone()).collect();
                out.push(&entries, width);
            }
        }
        out
    }

    /// Number of register loads of a product with four fields.
    fn loads(&self) -> usize {
        let of =
            |p: &Panel| (p.shared * (4 + u32::from(p.rows)) + p.private * 5 * u32::from(p.rows)) as usize;
        self.panels.iter().map(of).sum()
    }

    fn push(&mut self, rows: &[Vec<(usize, f64)>], width: usize) {
        let has = |row: &Vec<(usize, f64)>, c: usize| row.binary_search_by_key(&c, |e| e.0).is_ok();
        let common = |c: usize| rows.iter().all(|row| has(row, c));
        let shared: Vec<usize> = rows[0].iter().map(|e| e.0).filter(|&c| common(c)).collect();
        self.offsets.extend(shared.iter().map(|&c| (c * width) as u32));
        for &c in &shared {
            for row in rows {
                let v = row.binary_search_by_key(&c, |e| e.0).map_or(0.0, |i| row[i].1);
                self.entries.push(T::from_f64(v));
            }
        }
        let own: Vec<Vec<(usize, f64)>> =
            rows.iter().map(|row| row.iter().copied().filter(|e| !shared.contains(&e.0)).collect()).collect();
        let private = own.iter().map(Vec::len).max().unwrap_or(0);
        for j in 0..private {
            for (row, whole) in own.iter().zip(rows) {
                // Rows with fewer entries are padded with zeros at one of their own columns.
                let (c, v) = row.get(j).copied().unwrap_or((whole.first().map_or(0, |e| e.0), 0.0));
                self.offsets.push((c * width) as u32);
                self.entries.push(T::from_f64(v));
            }
        }
        self.panels.push(Panel {
            rows: rows.len() as u8,
            shared: shared.len() as u32,
            private: private as u32,
        });
    }

    /// Number of rows of the matrix.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of the matrix.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<T>() + (self.offsets.len() + self.order.len()) * 4
    }

    /// Multiply–adds per field.
    pub(crate) fn multiply_adds(&self) -> usize {
        self.entries.len()
    }
}

/// The operation on a finished row of a product.
pub(crate) trait Epilogue<V: Pack, const N: usize> {
    /// Processes row `i`.
    ///
    /// # Safety
    /// `i` is a row of the product; the implementor's pointers cover it.
    unsafe fn row(&self, i: usize, c: [V; N]);
}

/// Writes the row: `C_i ← c`.
pub(crate) struct Store<T> {
    pub(crate) out: *mut T,
    pub(crate) span: Span,
}

impl<V: Pack, const N: usize> Epilogue<V, N> for Store<V::T> {
    #[inline(always)]
    unsafe fn row(&self, i: usize, c: [V; N]) {
        for k in 0..N {
            // SAFETY: row `i` of the output, by the caller's contract.
            unsafe { c[k].store(self.out.add(self.span.at(i, k) * V::W)) };
        }
    }
}

/// Computes `Σ_j A_rj B_j` for the `R` rows of one panel.
///
/// # Safety
/// `offsets` and `entries` begin at the panel's; `b` covers the matrix's columns.
#[inline(always)]
unsafe fn product<V: Pack, const R: usize, const N: usize>(
    panel: Panel,
    offsets: *const u32,
    entries: *const V::T,
    b: *const V::T,
) -> [[V; N]; R] {
    let mut c = [[V::lit(0.0); N]; R];
    // SAFETY (whole body): counts are the panel's own, offsets were made from columns of the matrix.
    unsafe {
        for j in 0..panel.shared as usize {
            let bj = b.add(*offsets.add(j) as usize);
            // Entries of A are kept in registers, fields of B are loaded one at a time: R N + R + 1 registers
            // in all.
            let mut a = [V::lit(0.0); R];
            for r in 0..R {
                a[r] = V::broadcast(entries.add(j * R + r));
            }
            for k in 0..N {
                let bjk = V::load(bj.add(k * V::W));
                for r in 0..R {
                    c[r][k] = a[r].mul_add(bjk, c[r][k]);
                }
            }
        }
        let offsets = offsets.add(panel.shared as usize);
        let entries = entries.add(panel.shared as usize * R);
        for j in 0..panel.private as usize {
            for r in 0..R {
                let bj = b.add(*offsets.add(j * R + r) as usize);
                let a = V::broadcast(entries.add(j * R + r));
                for k in 0..N {
                    c[r][k] = a.mul_add(V::load(bj.add(k * V::W)), c[r][k]);
                }
            }
        }
    }
    c
}

/// Computes all rows of `A B` and passes each to `epilogue`.
///
/// # Safety
/// `a` was made for rows of the length of those at `b`, `b` covers the first `N` packs of `cols` such rows,
/// and `epilogue` accepts every row of `a`.
#[inline(always)]
pub(crate) unsafe fn apply<V: Pack, const N: usize, E: Epilogue<V, N>>(
    a: &Panels<V::T>,
    b: *const V::T,
    epilogue: &E,
) {
    let (mut order, mut offsets, mut entries) = (a.order.as_ptr(), a.offsets.as_ptr(), a.entries.as_ptr());
    for &panel in &a.panels {
        macro_rules! rows {
            ($r:literal) => {{
                // SAFETY: the pointers point to this panel; `b` is covered by the contract.
                let c = unsafe { product::<V, $r, N>(panel, offsets, entries, b) };
                for r in 0..$r {
                    // SAFETY: the panel has `$r` places in `order`, which holds rows.
                    unsafe { epilogue.row(*order.add(r) as usize, c[r]) };
                }
            }};
        }
        // Arms beyond the largest number of rows of these packs are never compiled.
        macro_rules! up_to {
            ($($r:literal)*) => {
                match panel.rows {
                    $($r => if const { panel_rows::<V>(N) >= $r } { rows!($r) },)*
                    n => unreachable!("a panel of {n} rows"),
                }
            };
        }
        up_to!(1 2 3 4 5 6 7 8);
        let (rows, shared, private) = (panel.rows as usize, panel.shared as usize, panel.private as usize);
        // SAFETY: moves past this panel, at most to one past the end.
        unsafe {
            order = order.add(rows);
            offsets = offsets.add(shared + private * rows);
            entries = entries.add((shared + private) * rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reconstructs the matrix from the panels.
    fn unpack(p: &Panels<f64>, width: usize) -> Matrix {
        let mut out = Matrix::zeros(p.rows, p.cols);
        let (mut first, mut o, mut e) = (0, 0, 0);
        let row = |i: usize| p.order[i] as usize;
        for panel in &p.panels {
            let rows = panel.rows as usize;
            for j in 0..panel.shared as usize {
                for r in 0..rows {
                    out[(row(first + r), p.offsets[o + j] as usize / width)] += p.entries[e + j * rows + r];
                }
            }
            o += panel.shared as usize;
            e += panel.shared as usize * rows;
            for j in 0..panel.private as usize * rows {
                out[(row(first + j % rows), p.offsets[o + j] as usize / width)] += p.entries[e + j];
            }
            o += panel.private as usize * rows;
            e += panel.private as usize * rows;
            first += rows;
        }
        out
    }

    #[test]
    fn panels_hold_the_matrix() {
        for (rows, cols, line, max) in [(10, 32, 10, 3), (16, 32, 4, 2), (7, 5, 7, 8), (1, 1, 1, 6)] {
            let dense = Matrix::from_fn(rows, cols, |i, j| {
                if (i * 7 + j * 3) % 5 < 3 { 1.0 + i as f64 - 0.5 * j as f64 } else { 0.0 }
            });
            let panels = Panels::<f64>::new(&Rows::dense(&dense), line, max, 16);
            assert_eq!(unpack(&panels, 16), dense);
            assert!(panels.panels.iter().all(|p| p.rows as usize <= max));
        }
    }

    #[test]
    fn rows_with_the_same_columns_share_them() {
        let line = Rows::dense(&Matrix::from_fn(4, 3, |i, j| 1.0 + (i * 3 + j) as f64));
        let along_second = line.kron(&Rows::identity(5));
        let panels = Panels::<f64>::new(&along_second, 5, 6, 16);
        assert!(
            panels.panels.iter().all(|p| (p.rows, p.shared, p.private) == (4, 3, 0)),
            "{:?}",
            panels.panels
        );
        let unpacked = unpack(&panels, 16);
        for (i, row) in along_second.rows.iter().enumerate() {
            assert!(row.iter().all(|&(c, v)| unpacked[(i, c)] == v));
        }
    }

    #[test]
    fn products_of_rows_are_products_of_matrices() {
        let a = Matrix::from_fn(2, 3, |i, j| 1.0 + (i * 3 + j) as f64);
        let b = Matrix::from_fn(3, 2, |i, j| 2.0 - (i + j) as f64);
        let k = Rows::dense(&a).kron(&Rows::dense(&b));
        let dense = a.kron(&b);
        for (i, row) in k.rows.iter().enumerate() {
            for &(c, v) in row {
                assert_eq!(v, dense[(i, c)]);
            }
        }
        assert_eq!((k.rows.len(), k.cols), (dense.rows(), dense.cols()));
    }
}
