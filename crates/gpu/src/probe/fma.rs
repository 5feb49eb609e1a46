//! Multiply-add rate: independent chains `x ← x m + a` in registers, on all threads at once.
//!
//! A multiply-add takes about four cycles and two can start in each, so that at least eight chains must run
//! concurrently; 12 fill the 16 registers of AVX2, 24 the 32 of AVX-512.

use std::hint::black_box;

use super::{Effort, best_time};
use crate::{Host, SimdLevel};

/// Chains of the AVX2 loop.
#[cfg(target_arch = "x86_64")]
const CHAINS_AVX2: usize = 12;
/// Chains of the AVX-512 loop.
#[cfg(target_arch = "x86_64")]
const CHAINS_AVX512: usize = 24;
/// Numbers of the portable loop, an array that the compiler vectorises.
const NUMBERS_PORTABLE: usize = 128;
/// Multiply-adds of each number in one sweep of the portable loop.
const STEPS_PORTABLE: u64 = 8;

macro_rules! rate {
    ($name:ident, $T:ident, $bytes:literal, $avx2:ident, $set2:ident, $fma2:ident, $get2:ident,
     $avx512:ident, $set512:ident, $fma512:ident, $get512:ident, $portable:ident) => {
        /// Operations per second, a multiply-add counted as two.
        pub(super) fn $name(host: &Host, effort: Effort) -> f64 {
            let rounds = effort.fma_rounds.next_multiple_of(STEPS_PORTABLE);
            // Values that stay near one, unknown to the compiler.
            let (m, a) = black_box((0.999_999 as $T, 1e-6 as $T));
            let numbers = match host.simd() {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => CHAINS_AVX2 * host.simd().lanes($bytes),
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => CHAINS_AVX512 * host.simd().lanes($bytes),
                _ => NUMBERS_PORTABLE,
            };
            let time = best_time(effort.runs, || {
                black_box(host.on_each_thread(|_| match host.simd() {
                    // SAFETY: a `Host` is only built with a level that this CPU supports.
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx2 => unsafe { $avx2(rounds, m, a) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 => unsafe { $avx512(rounds, m, a) },
                    _ => $portable(rounds, m, a),
                }));
            });
            2.0 * (numbers * host.n_threads()) as f64 * rounds as f64 / time
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $avx2(rounds: u64, m: $T, a: $T) -> $T {
            use std::arch::x86_64::{$fma2, $get2, $set2};
            let (m, a) = ($set2(m), $set2(a));
            let mut x: [_; CHAINS_AVX2] = std::array::from_fn(|i| $set2(1.0 + i as $T));
            for _ in 0..rounds {
                for x in &mut x {
                    *x = $fma2(*x, m, a);
                }
            }
            x.into_iter().map(|x| $get2(x)).sum()
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn $avx512(rounds: u64, m: $T, a: $T) -> $T {
            use std::arch::x86_64::{$fma512, $get512, $set512};
            let (m, a) = ($set512(m), $set512(a));
            let mut x: [_; CHAINS_AVX512] = std::array::from_fn(|i| $set512(1.0 + i as $T));
            for _ in 0..rounds {
                for x in &mut x {
                    *x = $fma512(*x, m, a);
                }
            }
            x.into_iter().map(|x| $get512(x)).sum()
        }

        /// A multiply and an add: baseline targets may lack a fused instruction.
        fn $portable(rounds: u64, m: $T, a: $T) -> $T {
            let mut x: [$T; NUMBERS_PORTABLE] = std::array::from_fn(|i| 1.0 + i as $T);
            for _ in 0..rounds / STEPS_PORTABLE {
                for x in &mut x {
                    for _ in 0..STEPS_PORTABLE {
                        *x = *x * m + a;
                    }
                }
            }
            x.into_iter().sum()
        }
    };
}

rate!(
    rate_double,
    f64,
    8,
    double_avx2,
    _mm256_set1_pd,
    _mm256_fmadd_pd,
    _mm256_cvtsd_f64,
    double_avx512,
    _mm512_set1_pd,
    _mm512_fmadd_pd,
    _mm512_cvtsd_f64,
    double_portable
);
rate!(
    rate_single,
    f32,
    4,
    single_avx2,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_cvtss_f32,
    single_avx512,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_cvtss_f32,
    single_portable
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Each level does the work that is counted: the chains converge to the fixed point a / (1 − m).
    #[test]
    fn chains_of_each_level_reach_their_fixed_point() {
        let (m, a) = (0.5, 1.0);
        let fixed = 2.0;
        assert_eq!(double_portable(80, m, a), fixed * 128.0);
        assert_eq!(single_portable(40, m as f32, a as f32), fixed as f32 * 128.0);
        #[cfg(target_arch = "x86_64")]
        {
            if SimdLevel::hardware() >= SimdLevel::Avx2 {
                // SAFETY: the level was just checked.
                let (double, single) =
                    unsafe { (double_avx2(80, m, a), single_avx2(40, m as f32, a as f32)) };
                assert_eq!((double, single), (24.0, 24.0));
            }
            if SimdLevel::hardware() >= SimdLevel::Avx512 {
                // SAFETY: the level was just checked.
                let (double, single) =
                    unsafe { (double_avx512(80, m, a), single_avx512(40, m as f32, a as f32)) };
                assert_eq!((double, single), (48.0, 48.0));
            }
        }
    }
}
