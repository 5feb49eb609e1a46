//! Where packs of a block come from and go to.

use super::orbits::Read;
use crate::simd::Pack;

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
