//! SIMD packs for AVX2 + FMA: four `f64` or eight `f32`.
//!
//! SAFETY of the whole file: these types are reachable only inside `dispatch`, which has checked
//! that the machine has AVX2 and FMA; every intrinsic below needs nothing else.

use super::{MAX_LANES, Pack};
use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Neg, Sub};
use dgsuite_physics::Real;

/// 4 lanes of `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F64x4(__m256d);

impl F64x4 {
    /// Applies `f` to each lane, for functions without an instruction.
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        let mut a = [0.0; 4];
        // SAFETY: `a` holds 4 scalars; see the head of the file.
        unsafe {
            _mm256_storeu_pd(a.as_mut_ptr(), self.0);
            for x in &mut a {
                *x = f(*x);
            }
            Self(_mm256_loadu_pd(a.as_ptr()))
        }
    }

    /// Applies `f` to each lane of two packs.
    #[inline(always)]
    fn each2(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
        // SAFETY: `a` and `b` hold 4 scalars; see the head of the file.
        unsafe {
            _mm256_storeu_pd(a.as_mut_ptr(), self.0);
            _mm256_storeu_pd(b.as_mut_ptr(), o.0);
            for l in 0..4 {
                a[l] = f(a[l], b[l]);
            }
            Self(_mm256_loadu_pd(a.as_ptr()))
        }
    }
}

impl Add for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_add_pd(self.0, o.0) })
    }
}

impl Sub for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_sub_pd(self.0, o.0) })
    }
}

impl Mul for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_mul_pd(self.0, o.0) })
    }
}

impl Div for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_div_pd(self.0, o.0) })
    }
}

impl Neg for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
    }
}

impl Real for F64x4 {
    type Mask = __m256d;
    #[inline(always)]
    fn lit(x: f64) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_min_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_max_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_fmadd_pd(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn le(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn lt(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_and_pd(a, b) }
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_or_pd(a, b) }
    }
    #[inline(always)]
    fn not(m: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_xor_pd(m, _mm256_cmp_pd::<_CMP_EQ_OQ>(_mm256_setzero_pd(), _mm256_setzero_pd())) }
    }
    #[inline(always)]
    fn select(m: Self::Mask, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_blendv_pd(b.0, a.0, m) })
    }
    #[inline(always)]
    fn recip(self) -> Self {
        Self::lit(1.0) / self
    }
    #[inline(always)]
    fn powf(self, o: Self) -> Self {
        self.each2(o, <f64>::powf)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.each(|x| x.powi(n))
    }
    #[inline(always)]
    fn atan2(self, o: Self) -> Self {
        self.each2(o, <f64>::atan2)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self.each(<f64>::floor)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.each(<f64>::exp)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.each(<f64>::ln)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.each(<f64>::sin)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.each(<f64>::cos)
    }
    #[inline(always)]
    fn tan(self) -> Self {
        self.each(<f64>::tan)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.each(<f64>::tanh)
    }
}

impl Pack for F64x4 {
    type T = f64;
    const W: usize = 4;
    type Pick = (__m256i, __m256d);
    const ROWS_1: usize = 8;
    const ROWS_4: usize = 3;
    const ROWS_5: usize = 2;
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: the caller's contract is `W` readable scalars.
        Self(unsafe { _mm256_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: the caller's contract is `W` writable scalars.
        unsafe { _mm256_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn broadcast(p: *const f64) -> Self {
        // SAFETY: the caller's contract is one readable scalar.
        Self(unsafe { _mm256_set1_pd(*p) })
    }
    #[inline(always)]
    fn pick(lanes: &[i8; MAX_LANES], _taken: u32) -> Self::Pick {
        // SAFETY: the load reads all 16 bytes; see the head of the file.
        unsafe {
            let lanes = _mm_loadu_si128(lanes.as_ptr().cast());
            let from = _mm256_cvtepi8_epi64(lanes);
            // Each lane of 64 bits is two halves, 2 l and 2 l + 1. A negative lane has its sign bit set,
            // which `blendv` tests.
            let low = _mm256_slli_epi64::<1>(from);
            let high = _mm256_slli_epi64::<32>(_mm256_add_epi64(low, _mm256_set1_epi64x(1)));
            (_mm256_or_si256(low, high), _mm256_castsi256_pd(from))
        }
    }
    #[inline(always)]
    fn replace(self, from: Self, pick: Self::Pick) -> Self {
        // SAFETY: see the head of the file.
        unsafe {
            let all = _mm256_castpd_ps(from.0);
            let picked = _mm256_castps_pd(_mm256_permutevar8x32_ps(all, pick.0));
            Self(_mm256_blendv_pd(picked, self.0, pick.1))
        }
    }
}

/// 8 lanes of `f32`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F32x8(__m256);

impl F32x8 {
    /// Applies `f` to each lane, for functions without an instruction.
    #[inline(always)]
    fn each(self, f: impl Fn(f32) -> f32) -> Self {
        let mut a = [0.0; 8];
        // SAFETY: `a` holds 8 scalars; see the head of the file.
        unsafe {
            _mm256_storeu_ps(a.as_mut_ptr(), self.0);
            for x in &mut a {
                *x = f(*x);
            }
            Self(_mm256_loadu_ps(a.as_ptr()))
        }
    }

    /// Applies `f` to each lane of two packs.
    #[inline(always)]
    fn each2(self, o: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
        // SAFETY: `a` and `b` hold 8 scalars; see the head of the file.
        unsafe {
            _mm256_storeu_ps(a.as_mut_ptr(), self.0);
            _mm256_storeu_ps(b.as_mut_ptr(), o.0);
            for l in 0..8 {
                a[l] = f(a[l], b[l]);
            }
            Self(_mm256_loadu_ps(a.as_ptr()))
        }
    }
}

impl Add for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_add_ps(self.0, o.0) })
    }
}

impl Sub for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_sub_ps(self.0, o.0) })
    }
}

impl Mul for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_mul_ps(self.0, o.0) })
    }
}

impl Div for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_div_ps(self.0, o.0) })
    }
}

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

impl Real for F32x8 {
    type Mask = __m256;
    #[inline(always)]
    fn lit(x: f64) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_set1_ps(x as f32) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_min_ps(self.0, o.0) })
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_max_ps(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_fmadd_ps(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn le(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn lt(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_and_ps(a, b) }
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_or_ps(a, b) }
    }
    #[inline(always)]
    fn not(m: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_xor_ps(m, _mm256_cmp_ps::<_CMP_EQ_OQ>(_mm256_setzero_ps(), _mm256_setzero_ps())) }
    }
    #[inline(always)]
    fn select(m: Self::Mask, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm256_blendv_ps(b.0, a.0, m) })
    }
    #[inline(always)]
    fn recip(self) -> Self {
        Self::lit(1.0) / self
    }
    #[inline(always)]
    fn powf(self, o: Self) -> Self {
        self.each2(o, <f32>::powf)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.each(|x| x.powi(n))
    }
    #[inline(always)]
    fn atan2(self, o: Self) -> Self {
        self.each2(o, <f32>::atan2)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self.each(<f32>::floor)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.each(<f32>::exp)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.each(<f32>::ln)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.each(<f32>::sin)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.each(<f32>::cos)
    }
    #[inline(always)]
    fn tan(self) -> Self {
        self.each(<f32>::tan)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.each(<f32>::tanh)
    }
}

impl Pack for F32x8 {
    type T = f32;
    const W: usize = 8;
    type Pick = __m256i;
    const ROWS_1: usize = 8;
    const ROWS_4: usize = 3;
    const ROWS_5: usize = 2;
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: the caller's contract is `W` readable scalars.
        Self(unsafe { _mm256_loadu_ps(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: the caller's contract is `W` writable scalars.
        unsafe { _mm256_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn broadcast(p: *const f32) -> Self {
        // SAFETY: the caller's contract is one readable scalar.
        Self(unsafe { _mm256_set1_ps(*p) })
    }
    #[inline(always)]
    fn pick(lanes: &[i8; MAX_LANES], _taken: u32) -> Self::Pick {
        // SAFETY: the load reads all 16 bytes; see the head of the file.
        unsafe {
            let lanes = _mm_loadu_si128(lanes.as_ptr().cast());
            _mm256_cvtepi8_epi32(lanes)
        }
    }
    #[inline(always)]
    fn replace(self, from: Self, pick: Self::Pick) -> Self {
        // SAFETY: see the head of the file.
        unsafe {
            let picked = _mm256_permutevar8x32_ps(from.0, pick);
            // A negative lane has its sign bit set, which `blendv` tests.
            Self(_mm256_blendv_ps(picked, self.0, _mm256_castsi256_ps(pick)))
        }
    }
}
