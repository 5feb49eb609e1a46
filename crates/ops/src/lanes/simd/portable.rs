//! SIMD packs for any target: plain arrays, vectorised by the compiler.

use super::{MAX_LANES, Pack};
use dgsuite_physics::Lanes;

macro_rules! portable {
    ($t:ty, $w:expr) => {
        impl Pack for Lanes<$t, $w> {
            type T = $t;
            const W: usize = $w;
            type Pick = [i8; $w];
            const ROWS_1: usize = 4;
            const ROWS_4: usize = 2;
            const ROWS_5: usize = 2;
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller's contract is `W` readable scalars.
                Self(unsafe { p.cast::<[$t; $w]>().read() })
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller's contract is `W` writable scalars.
                unsafe { p.cast::<[$t; $w]>().write(self.0) }
            }
            #[inline(always)]
            unsafe fn broadcast(p: *const $t) -> Self {
                // SAFETY: the caller's contract is one readable scalar.
                Self([unsafe { *p }; $w])
            }
            #[inline(always)]
            fn pick(lanes: &[i8; MAX_LANES], _taken: u32) -> Self::Pick {
                let mut pick = [0; $w];
                pick.copy_from_slice(&lanes[..$w]);
                pick
            }
            #[inline(always)]
            fn replace(self, from: Self, pick: Self::Pick) -> Self {
                let mut out = self.0;
                for l in 0..$w {
                    if pick[l] >= 0 {
                        out[l] = from.0[pick[l] as usize % $w];
                    }
                }
                Self(out)
            }
        }
    };
}
portable!(f64, 4);
portable!(f32, 8);
