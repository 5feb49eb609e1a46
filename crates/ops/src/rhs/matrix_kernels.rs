//! SIMD kernels of operator products and their epilogues, compiled once for each precision and SIMD level.
//!
//! Kernels are structs with their arguments; [`compiled`] makes for each a function that selects the code of
//! a SIMD level. This file defines the products with [`Panels`], gathers of traces, and the metric rules;
//! other kernels are defined beside the code that uses them.

use crate::formulas::pointwise::NeighbourStates;
use crate::lanes::panel::{Epilogue, Panels, Store, apply};
use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use crate::lanes::span::{Span, by_fields};
use crate::rhs::finish::Finish;

compiled! {
    multiply_store: MultiplyStore,
    multiply_add: MultiplyAdd,
    face_slopes: FaceSlopes,
    gather: Gather,
    half_jump: HalfJump,
    gain: Gain,
    scale: Scale,
    unsafe multiply_finish: MultiplyFinish,
    unsafe add_constant: AddConstant,
    unsafe stored_inverse: StoredInverse,
}

/// `out ← A b`.
pub(crate) struct MultiplyStore<'a, T> {
    pub(crate) fields: usize,
    pub(crate) a: &'a Panels<T>,
    pub(crate) b: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for MultiplyStore<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> MultiplyStore<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let width = span.of() * V::W;
        assert!(self.b.len() >= self.a.cols() * width && self.out.len() >= self.a.rows() * width);
        // SAFETY: lengths are asserted above; the panels were made for this width.
        unsafe {
            apply::<V, N, _>(
                self.a,
                span.of_rows::<V>(self.b.as_ptr()),
                &Store { out: self.out.as_mut_ptr(), span },
            );
        }
    }
}

/// `out ← out + A b`; rows of `A` without entries are not changed.
pub(crate) struct MultiplyAdd<'a, T> {
    pub(crate) fields: usize,
    pub(crate) a: &'a Panels<T>,
    pub(crate) b: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for MultiplyAdd<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> MultiplyAdd<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let width = span.of() * V::W;
        assert!(self.b.len() >= self.a.cols() * width && self.out.len() >= self.a.rows() * width);
        // SAFETY: lengths are asserted above; the panels were made for this width.
        unsafe {
            apply::<V, N, _>(
                self.a,
                span.of_rows::<V>(self.b.as_ptr()),
                &Add { out: self.out.as_mut_ptr(), span },
            );
        }
    }
}

/// Adds to the row: `C_i ← C_i + c`.
struct Add<T> {
    out: *mut T,
    span: Span,
}

impl<V: Pack, const N: usize> Epilogue<V, N> for Add<V::T> {
    #[inline(always)]
    unsafe fn row(&self, i: usize, c: [V; N]) {
        for k in 0..N {
            // SAFETY: row `i` of the output, by the caller's contract.
            unsafe {
                let p = self.out.add(self.span.at(i, k) * V::W);
                (V::load(p) + c[k]).store(p);
            }
        }
    }
}

/// Gradients on faces that carry nodes: `out_dq ← slopes_d,node(q) + N̂_d own_q`.
pub(crate) struct FaceSlopes<'a, T> {
    pub(crate) fields: usize,
    pub(crate) offsets: &'a [usize],
    /// Node of each face point.
    pub(crate) nodes: &'a [u32],
    /// `N̂`, `[face][d]`.
    pub(crate) normals: &'a [T],
    /// `[d][node][field][lane]`.
    pub(crate) slopes: &'a [T],
    /// The liftings on their own faces, `[face point][field][lane]`.
    pub(crate) own: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for FaceSlopes<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> FaceSlopes<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n_faces = self.offsets.len() - 1;
        let (n, dim) = (self.nodes.len(), self.normals.len() / n_faces);
        let n_nodes = self.slopes.len() / (dim * span.of() * V::W);
        assert!(self.offsets[n_faces] == n && self.nodes.iter().all(|&i| (i as usize) < n_nodes));
        assert!(self.own.len() >= n * span.of() * V::W && self.out.len() >= dim * n * span.of() * V::W);
        for d in 0..dim {
            for f in 0..n_faces {
                let normal = self.normals[f * dim + d];
                for q in self.offsets[f]..self.offsets[f + 1] {
                    // SAFETY: `q < n` and its node is one of `n_nodes`; lengths are asserted above.
                    unsafe {
                        let normal = V::broadcast(&normal);
                        let node = *self.nodes.get_unchecked(q) as usize;
                        let slope = self.slopes.as_ptr().add(span.at(d * n_nodes + node, 0) * V::W);
                        let own = self.own.as_ptr().add(span.at(q, 0) * V::W);
                        let out = self.out.as_mut_ptr().add(span.at(d * n + q, 0) * V::W);
                        for k in 0..N {
                            let s = V::load(slope.add(k * V::W));
                            normal.mul_add(V::load(own.add(k * V::W)), s).store(out.add(k * V::W));
                        }
                    }
                }
            }
        }
    }
}

/// `A b`, passed row by row to the residual or the stage.
pub(crate) struct MultiplyFinish<'a, T> {
    pub(crate) fields: usize,
    pub(crate) a: &'a Panels<T>,
    pub(crate) b: &'a [T],
    pub(crate) finish: Finish<'a, T>,
}

impl<T: PackScalar> Kernel<T> for MultiplyFinish<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> MultiplyFinish<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        assert!(self.b.len() >= self.a.cols() * span.of() * V::W);
        // SAFETY: lengths are asserted here and in `rows`; the caller guarantees the output.
        unsafe {
            let rows = self.finish.rows::<V>(self.a.rows(), span);
            apply::<V, N, _>(self.a, span.of_rows::<V>(self.b.as_ptr()), &rows);
        }
    }
}

/// Copies the states across the faces of one block into rows, in the block's own face frames:
/// `[point][field][lane]`.
pub(crate) struct Gather<'a, T> {
    pub(crate) fields: usize,
    pub(crate) offsets: &'a [usize],
    pub(crate) across: NeighbourStates<'a, T>,
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Gather<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> Gather<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n_faces = self.offsets.len() - 1;
        assert!(self.out.len() >= self.offsets[n_faces] * span.of() * V::W);
        let store = Store { out: self.out.as_mut_ptr(), span };
        for f in 0..n_faces {
            let count = self.offsets[f + 1] - self.offsets[f];
            let donors = self.across.of_face(f, count);
            for i in 0..count {
                // SAFETY: `i < count`, `of_face` has asserted the rest; the output's length is asserted.
                unsafe {
                    let state = self.across.state::<V, N>(donors, i, span);
                    Epilogue::<V, N>::row(&store, self.offsets[f] + i, state);
                }
            }
        }
    }
}

/// `out ← ½ (u⁺ − u⁻)` at the face points of one block.
pub(crate) struct HalfJump<'a, T> {
    pub(crate) fields: usize,
    /// States of the element; point `q` at row `rows[q]`.
    pub(crate) minus: &'a [T],
    pub(crate) rows: &'a [u32],
    /// States across, `[point][field][lane]`.
    pub(crate) plus: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for HalfJump<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> HalfJump<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n = self.rows.len();
        let last = self.rows.iter().fold(0, |last, &r| last.max(r as usize + 1));
        assert!(self.minus.len() >= last * span.of() * V::W);
        assert!(self.plus.len() >= n * span.of() * V::W && self.out.len() >= n * span.of() * V::W);
        let half = V::lit(0.5);
        for (q, &row) in self.rows.iter().enumerate() {
            // SAFETY: `q < n` and `row < last`; lengths are asserted above.
            unsafe {
                let minus = self.minus.as_ptr().add(span.at(row as usize, 0) * V::W);
                let plus = self.plus.as_ptr().add(span.at(q, 0) * V::W);
                let out = self.out.as_mut_ptr().add(span.at(q, 0) * V::W);
                for k in 0..N {
                    let jump = V::load(plus.add(k * V::W)) - V::load(minus.add(k * V::W));
                    (half * jump).store(out.add(k * V::W));
                }
            }
        }
    }
}

/// `out_k ← Σ_i w_i r_ik`: the integral of a block's coefficients, as one row.
pub(crate) struct Gain<'a, T> {
    pub(crate) fields: usize,
    pub(crate) integral: &'a [T],
    pub(crate) r: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Gain<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> Gain<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n = self.integral.len();
        assert!(self.r.len() >= n * span.of() * V::W && self.out.len() >= span.of() * V::W);
        let mut gain = [V::lit(0.0); N];
        // SAFETY: lengths are asserted above.
        unsafe {
            for i in 0..n {
                let w = V::broadcast(self.integral.as_ptr().add(i));
                for k in 0..N {
                    gain[k] = w.mul_add(V::load(self.r.as_ptr().add(span.at(i, k) * V::W)), gain[k]);
                }
            }
            Epilogue::<V, N>::row(&Store { out: self.out.as_mut_ptr(), span }, 0, gain);
        }
    }
}

/// `v_qk ← s_q v_qk`, lane by lane.
pub(crate) struct Scale<'a, T> {
    pub(crate) fields: usize,
    pub(crate) by: &'a [T],
    pub(crate) values: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Scale<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let rows = self.by.len() / V::W;
        assert!(self.values.len() >= rows * self.fields * V::W);
        for q in 0..rows {
            // SAFETY: lengths are asserted above.
            unsafe {
                let s = V::load(self.by.as_ptr().add(q * V::W));
                for k in 0..self.fields {
                    let p = self.values.as_mut_ptr().add((q * self.fields + k) * V::W);
                    (V::load(p) * s).store(p);
                }
            }
        }
    }
}

/// Adds the constant `c` for which the block's integral is the gain, and passes `v + c` to the residual or
/// stage (weight-adjusted rule).
pub(crate) struct AddConstant<'a, T> {
    pub(crate) fields: usize,
    /// Coefficients of the constant 1.
    pub(crate) one: &'a [T],
    /// `∫ J φ_i / ∫ J`, `[i][lane]`, then `1 / ∫ J`.
    pub(crate) weighted: &'a [T],
    pub(crate) gain: &'a [T],
    pub(crate) v: &'a [T],
    pub(crate) finish: Finish<'a, T>,
}

impl<T: PackScalar> Kernel<T> for AddConstant<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> AddConstant<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n = self.one.len();
        assert!(
            self.weighted.len() >= (n + 1) * V::W
                && self.v.len() >= n * span.of() * V::W
                && self.gain.len() >= span.of() * V::W
        );
        // SAFETY: lengths are asserted above and in `rows`; the caller guarantees the output.
        unsafe {
            let (v, weighted) = (self.v.as_ptr(), self.weighted.as_ptr());
            let per_volume = V::load(weighted.add(n * V::W));
            let mut c = [V::lit(0.0); N];
            for k in 0..N {
                c[k] = V::load(self.gain.as_ptr().add(span.at(0, k) * V::W)) * per_volume;
            }
            for i in 0..n {
                let w = V::load(weighted.add(i * V::W));
                for k in 0..N {
                    c[k] = c[k] - w * V::load(v.add(span.at(i, k) * V::W));
                }
            }
            let rows = self.finish.rows::<V>(n, span);
            for i in 0..n {
                let one = V::broadcast(self.one.as_ptr().add(i));
                let mut row = [V::lit(0.0); N];
                for k in 0..N {
                    row[k] = one.mul_add(c[k], V::load(v.add(span.at(i, k) * V::W)));
                }
                Epilogue::<V, N>::row(&rows, i, row);
            }
        }
    }
}

/// `M_e⁻¹ M̂ r` with a dense matrix for each lane, passed to the residual or stage.
pub(crate) struct StoredInverse<'a, T> {
    pub(crate) fields: usize,
    /// `[i][j][lane]`.
    pub(crate) inverse: &'a [T],
    pub(crate) r: &'a [T],
    pub(crate) finish: Finish<'a, T>,
}

impl<T: PackScalar> Kernel<T> for StoredInverse<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> StoredInverse<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let n = (self.inverse.len() / V::W).isqrt();
        assert!(self.r.len() >= n * span.of() * V::W);
        // SAFETY: lengths are asserted here and in `rows`; the caller guarantees the output.
        unsafe {
            let rows = self.finish.rows::<V>(n, span);
            for i in 0..n {
                let mut row = [V::lit(0.0); N];
                for j in 0..n {
                    let m = V::load(self.inverse.as_ptr().add((i * n + j) * V::W));
                    for k in 0..N {
                        row[k] = m.mul_add(V::load(self.r.as_ptr().add(span.at(j, k) * V::W)), row[k]);
                    }
                }
                Epilogue::<V, N>::row(&rows, i, row);
            }
        }
    }
}
