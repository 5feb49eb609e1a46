//! Packs on any target: plain arrays, left to the compiler's vectoriser.

use super::Pack;
use dgsuite_physics::Lanes;

macro_rules! portable {
    ($t:ty, $w:expr) => {
        impl Pack for Lanes<$t, $w> {
            type T = $t;
            const W: usize = $w;
            type Offsets = [usize; $w];
            const NO_OFFSETS: Self::Offsets = [0; $w];
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
            unsafe fn gather(p: *const $t, offsets: &Self::Offsets) -> Self {
                let mut out = [0.0; $w];
                for l in 0..$w {
                    // SAFETY: the caller's contract covers every addressed scalar.
                    out[l] = unsafe { *p.add(offsets[l]) };
                }
                Self(out)
            }
        }
    };
}
portable!(f64, 4);
portable!(f32, 8);
