//! Sources and destinations of packs for the kernels in Bernstein form.

use super::orbits::{Read, Write};
use crate::lanes::panel::Epilogue;
use crate::lanes::simd::Pack;
use crate::rhs::residual::prefetch_second;

/// Rows of several blocks, each multiplied by a factor.
pub(super) struct Scaled<V: Pack, const N: usize> {
    pub(super) factor: [V; N],
    pub(super) blocks: [*const V::T; N],
}

impl<V: Pack, const N: usize> Read<V, N> for Scaled<V, N> {
    #[inline(always)]
    unsafe fn read(&self, i: u32) -> [V; N] {
        let mut out = self.factor;
        for k in 0..N {
            // SAFETY: a row of each block, by the caller's contract.
            out[k] = out[k] * unsafe { V::load(self.blocks[k].add(i as usize * V::W)) };
        }
        out
    }
}

/// Rows of several blocks.
pub(super) struct Blocks<T, const N: usize>(pub(super) [*mut T; N]);

impl<V: Pack, const N: usize> Read<V, N> for Blocks<V::T, N> {
    #[inline(always)]
    unsafe fn read(&self, i: u32) -> [V; N] {
        let mut out = [V::lit(0.0); N];
        for k in 0..N {
            // SAFETY: a row of each block, by the caller's contract.
            out[k] = unsafe { V::load(self.0[k].add(i as usize * V::W)) };
        }
        out
    }
}

impl<V: Pack, const N: usize> Write<V, N> for Blocks<V::T, N> {
    #[inline(always)]
    unsafe fn write(&self, i: u32, x: [V; N]) {
        for k in 0..N {
            // SAFETY: a row of each block, by the caller's contract.
            unsafe { x[k].store(self.0[k].add(i as usize * V::W)) };
        }
    }
}

/// Rows of one block among `N` blocks that lie side by side.
pub(super) struct Among<T, const N: usize>(pub(super) *mut T);

impl<V: Pack, const N: usize> Write<V, 1> for Among<V::T, N> {
    #[inline(always)]
    unsafe fn write(&self, i: u32, [x]: [V; 1]) {
        // SAFETY: by the caller's contract.
        unsafe { x.store(self.0.add(i as usize * N * V::W)) };
    }
}

/// Writes rows of blocks side by side and prefetches the same rows of the first or the second half of the
/// following blocks. Only a fraction of the cache lines is prefetched at a time, because the number of
/// outstanding loads is limited.
pub(super) struct Fetching<'a, T, const N: usize, const SECOND: bool> {
    pub(super) to: *mut T,
    /// Addresses to prefetch; any value is allowed.
    pub(super) next: &'a [*const T; N],
}

impl<V: Pack, const N: usize, const SECOND: bool> Write<V, N> for Fetching<'_, V::T, N, SECOND> {
    #[inline(always)]
    unsafe fn write(&self, i: u32, x: [V; N]) {
        for k in 0..N {
            // SAFETY: by the caller's contract.
            unsafe { x[k].store(self.to.add((i as usize * N + k) * V::W)) };
        }
        for k in 0..N {
            if (k >= N / 2) == SECOND {
                prefetch_second(self.next[k].wrapping_add(i as usize * V::W));
            }
        }
    }
}

impl<V: Pack, const N: usize, const SECOND: bool> Epilogue<V, N> for Fetching<'_, V::T, N, SECOND> {
    #[inline(always)]
    unsafe fn row(&self, i: usize, c: [V; N]) {
        // SAFETY: by the caller's contract.
        unsafe { self.write(i as u32, c) };
    }
}

/// Rows at the faces: a block's own and those across, each multiplied by a factor, `[face]`.
pub(super) struct Across<V: Pack, const F: usize> {
    pub(super) own: *const V::T,
    /// Offsets of the own rows, `[k][face]`.
    pub(super) rows: *const u32,
    pub(super) across: *const V::T,
    pub(super) factors: [[V; 2]; F],
}

impl<V: Pack, const F: usize> Read<V, F> for Across<V, F> {
    #[inline(always)]
    unsafe fn read(&self, k: u32) -> [V; F] {
        let mut out = [V::lit(0.0); F];
        for f in 0..F {
            // SAFETY: a row of the faces, by the caller's contract.
            unsafe {
                let at = k as usize * F + f;
                let own = V::load(self.own.add(*self.rows.add(at) as usize));
                let across = V::load(self.across.add(at * V::W));
                out[f] = self.factors[f][0].mul_add(own, self.factors[f][1] * across);
            }
        }
        out
    }
}

/// `Σ_de G_de Δ_d Δ_e b` of one block among `N`, from the factors of `b_{γ + e_i + e_j}`.
pub(super) struct Curvature<V: Pack, const P: usize> {
    pub(super) rows: *const u32,
    pub(super) b: *const V::T,
    pub(super) factors: [V; P],
}

impl<V: Pack, const P: usize> Read<V, 1> for Curvature<V, P> {
    #[inline(always)]
    unsafe fn read(&self, c: u32) -> [V; 1] {
        // SAFETY: rows of the coefficients.
        unsafe {
            let rows = self.rows.add(c as usize * P);
            let mut sums = [V::lit(0.0); 2];
            for i in 0..P {
                let b = V::load(self.b.add(*rows.add(i) as usize));
                sums[i % 2] =
                    if i < 2 { self.factors[i] * b } else { self.factors[i].mul_add(b, sums[i % 2]) };
            }
            [sums[0] + sums[1]]
        }
    }
}
