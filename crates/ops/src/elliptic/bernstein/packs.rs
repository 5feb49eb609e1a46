//! Where packs of a block come from and go to.

use super::Bernstein;
use super::orbits::{Read, RowsOf, Write};
use crate::simd::Pack;

/// `y` and `j` of a coefficient of a face.
pub(super) struct Jump<'a, V: Pack, const D: usize> {
    pub(super) by: &'a Bernstein<V::T>,
    pub(super) tau: V,
    /// Rows of the face.
    pub(super) rows: *const u32,
    pub(super) own: *const V::T,
    /// `u⁺`, then `p⁻ − p⁺`.
    pub(super) plus: *const V::T,
}

impl<V: Pack, const D: usize> Read<V, 2> for Jump<'_, V, D> {
    #[inline(always)]
    unsafe fn read(&self, k: u32) -> [V; 2] {
        // SAFETY: rows of what is published, of what lies across, and of the tables.
        unsafe {
            let k = k as usize;
            let minus = V::load(self.own.add(*self.rows.add(k) as usize * V::W));
            let jump = minus - V::load(self.plus.add(k * V::W));
            let mut y = self.tau * jump;
            for i in 0..D {
                let from = self.by.n_face[0] + *self.by.elevated.get_unchecked(k * D + i) as usize;
                let factor = V::broadcast(self.by.elevation.as_ptr().add(k * D + i));
                y = factor.mul_add(V::load(self.plus.add(from * V::W)), y);
            }
            [y, jump]
        }
    }
}

/// `Σ_e G_de Δ_e b`.
pub(super) struct Slopes<V: Pack, const D: usize> {
    pub(super) raised: *const u32,
    pub(super) b: *const V::T,
    pub(super) metric: [[V; D]; D],
}

impl<V: Pack, const D: usize> Read<V, D> for Slopes<V, D> {
    #[inline(always)]
    unsafe fn read(&self, a: u32) -> [V; D] {
        // SAFETY: rows of the coefficients.
        unsafe {
            let rows = self.raised.add(a as usize * (D + 1));
            let first = V::load(self.b.add(*rows as usize * V::W));
            let mut g = [V::lit(0.0); D];
            for d in 0..D {
                g[d] = V::load(self.b.add(*rows.add(d + 1) as usize * V::W)) - first;
            }
            let mut out = [V::lit(0.0); D];
            for d in 0..D {
                out[d] = self.metric[d][0] * g[0];
                for e in 1..D {
                    out[d] = self.metric[d][e].mul_add(g[e], out[d]);
                }
            }
            out
        }
    }
}

/// Some packs of each row.
pub(super) struct Column<T> {
    pub(super) first: *mut T,
    pub(super) stride: usize,
}

impl<V: Pack, const N: usize> Read<V, N> for Column<V::T> {
    #[inline(always)]
    unsafe fn read(&self, i: u32) -> [V; N] {
        // SAFETY: row `i` of the columns, by the caller's contract.
        unsafe { RowsOf(self.first.add(i as usize * self.stride)).read(0) }
    }
}

impl<V: Pack, const N: usize> Write<V, N> for Column<V::T> {
    #[inline(always)]
    unsafe fn write(&self, i: u32, x: [V; N]) {
        // SAFETY: row `i` of the columns, by the caller's contract.
        unsafe { RowsOf(self.first.add(i as usize * self.stride)).write(0, x) };
    }
}

/// Added to the rows of a face.
pub(super) struct Added<T> {
    pub(super) rows: *const u32,
    pub(super) to: *mut T,
}

impl<V: Pack> Write<V, 1> for Added<V::T> {
    #[inline(always)]
    unsafe fn write(&self, k: u32, x: [V; 1]) {
        // SAFETY: coefficient `k` of the face is a row.
        unsafe {
            let p = self.to.add(*self.rows.add(k as usize) as usize * V::W);
            (V::load(p) + x[0]).store(p);
        }
    }
}

/// Rows times a factor.
pub(super) struct Scaled<V: Pack> {
    pub(super) factor: V,
    pub(super) from: *const V::T,
}

impl<V: Pack> Read<V, 1> for Scaled<V> {
    #[inline(always)]
    unsafe fn read(&self, i: u32) -> [V; 1] {
        // SAFETY: by the caller's contract.
        [self.factor * unsafe { V::load(self.from.add(i as usize * V::W)) }]
    }
}
