//! Linear maps of the unknowns, the same at every point.

use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::{CHUNK, Discretization};
use rayon::prelude::*;

impl<T: PackScalar> Discretization<T> {
    /// Maps a state linearly, `u ← A u` at every point, with `a` the entries of A, `[row][column]`. The
    /// coefficients of any basis are mapped as the values are.
    ///
    /// # Panics
    /// If `a` is not square with the number of unknowns, or `u` does not have the length of the state.
    pub fn map_unknowns(&self, a: &[f64], u: &mut [T]) {
        let fields = self.physics.n_fields();
        assert!(a.len() == fields * fields && u.len() == self.len(), "a matrix of the unknowns and a state");
        let a: Vec<T> = a.iter().map(|&a| T::from_f64(a)).collect();
        for group in &self.groups {
            let (layout, state) = (group.state, &mut u[group.offset..group.offset + group.state.len()]);
            let (len, stride) = (layout.block_len(), layout.field_stride());
            let map = |blocks: &mut [T]| {
                let mut values = vec![T::ZERO; fields];
                for block in blocks.chunks_exact_mut(len) {
                    for point in 0..layout.rows * layout.lanes {
                        let first = point / layout.lanes * layout.row_stride() + point % layout.lanes;
                        values.iter_mut().enumerate().for_each(|(k, v)| *v = block[first + k * stride]);
                        for (k, row) in a.chunks_exact(fields).enumerate() {
                            let terms = row.iter().zip(&values);
                            block[first + k * stride] = terms.fold(T::ZERO, |sum, (&a, &v)| sum + a * v);
                        }
                    }
                }
            };
            self.host.install(|| state.par_chunks_mut(CHUNK * len).for_each(map));
        }
    }
}
