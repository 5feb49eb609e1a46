//! Operators of a part for the universal kernels: chains of sparse factors, stored by rows.

use crate::cuda::text::published::PassFactors;
use crate::lanes::panel::Rows;
use crate::space::chain::Factors;
use dgsuite_gpu::Scalar;
use std::fmt::Write;

/// Entries and indices of sparse factors, and text that defines the offsets of each.
pub(crate) struct Packed<T> {
    /// `a.tables`.
    pub(crate) entries: Vec<T>,
    /// `a.indices`.
    pub(crate) indices: Vec<u32>,
    /// Definitions of the chains `INTERP`, `RESIDUAL`, `PROJECT`, `TRACE` as arrays of `Factor`.
    pub(crate) text: String,
    /// Offset of the integral's weights in `entries`.
    pub(crate) integral: usize,
    /// Offset of the coefficients of the constant 1 in `entries`.
    pub(crate) one: usize,
}

impl<T: Scalar> Packed<T> {
    /// Packs the chains of `factors`; `integral` and `one` are the tables of the weight-adjusted rule.
    pub(crate) fn new(factors: &Factors, integral: &[T], one: &[T]) -> Self {
        let mut out =
            Self { entries: Vec::new(), indices: Vec::new(), text: String::new(), integral: 0, one: 0 };
        out.chain("INTERP", &factors.interp);
        out.chain("RESIDUAL", &factors.residual);
        out.chain("PROJECT", &factors.project);
        out.chain("TRACE", &factors.interp_face);
        out.integral = out.entries.len();
        out.entries.extend_from_slice(integral);
        out.one = out.entries.len();
        out.entries.extend_from_slice(one);
        out
    }

    /// Adds the chains `GRADIENT`, `FACE_GRADIENT` and `LIFT`.
    pub(crate) fn add_lifts(&mut self, lifts: &PassFactors) {
        self.chain("GRADIENT", &lifts.gradient);
        self.chain("FACE_GRADIENT", &lifts.face_gradient);
        self.chain("LIFT", &lifts.lift);
    }

    fn chain(&mut self, name: &str, factors: &[(Rows, usize)]) {
        let list: Vec<String> = factors.iter().map(|(rows, _)| self.factor(rows)).collect();
        let _ = writeln!(
            self.text,
            "static __device__ constexpr Factor {name}[{}] = {{ {} }};",
            list.len(),
            list.join(", ")
        );
    }

    fn factor(&mut self, matrix: &Rows) -> String {
        let (first, entry) = (self.indices.len(), self.entries.len());
        let mut count = 0;
        self.indices.push(0);
        for row in &matrix.rows {
            count += row.len();
            self.indices.push(count as u32);
        }
        let column = self.indices.len();
        for &(c, v) in matrix.rows.iter().flatten() {
            self.indices.push(c as u32);
            self.entries.push(T::from_f64(v));
        }
        format!("{{ {}, {}, {first}, {column}, {entry} }}", matrix.rows.len(), matrix.cols)
    }
}

/// Largest number of rows between two factors of a chain.
pub(crate) fn widest_between(chain: &[(Rows, usize)]) -> usize {
    chain.split_last().map_or(0, |(_, before)| before.iter().map(|(m, _)| m.rows.len()).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::Matrix;

    #[test]
    fn packed_factors_multiply_as_they_should() {
        let dense =
            Matrix::from_fn(3, 4, |i, j| if (i + j) % 3 == 0 { 0.0 } else { 1.0 + (i * 4 + j) as f64 });
        let chain = || vec![(Rows::dense(&dense), 1)];
        let factors = Factors { interp: chain(), residual: chain(), project: chain(), interp_face: chain() };
        let p = Packed::<f64>::new(&factors, &[0.5], &[0.25, 0.75]);
        assert!(p.text.contains("RESIDUAL[1] = { { 3, 4, "));
        // The second factor, by its offsets.
        let numbers: Vec<usize> = p.text.lines().nth(1).map_or_else(Vec::new, |line| {
            let (_, list) = line.split_once("{ {").unwrap_or_default();
            list.split([',', '}']).filter_map(|s| s.trim().parse().ok()).collect()
        });
        let (rows, first, column, entry) = (numbers[0], numbers[2], numbers[3], numbers[4]);
        for i in 0..rows {
            let (begin, end) = (p.indices[first + i] as usize, p.indices[first + i + 1] as usize);
            let mut row = vec![0.0; 4];
            for j in begin..end {
                row[p.indices[column + j] as usize] = p.entries[entry + j];
            }
            assert_eq!(row, dense.row(i));
        }
        assert_eq!(p.entries[p.integral], 0.5);
        assert_eq!(p.entries[p.one..], [0.25, 0.75]);
    }
}
