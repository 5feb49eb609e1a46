//! SIMD packs for AVX-512: eight `f64` or sixteen `f32`.
//!
//! SAFETY of the whole file: these types are reachable only inside `dispatch`, which has checked
//! that the machine has AVX-512 F, DQ and VL; every intrinsic below needs nothing else.

use super::{MAX_LANES, Pack};
use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Neg, Sub};
use dgsuite_physics::Real;

/// 8 lanes of `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F64x8(__m512d);

impl F64x8 {
    /// Applies `f` to each lane, for functions without an instruction.
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        let mut a = [0.0; 8];
        // SAFETY: `a` holds 8 scalars; see the head of the file.
        unsafe {
            _mm512_storeu_pd(a.as_mut_ptr(), self.0);
            for x in &mut a {
                *x = f(*x);
            }
            Self(_mm512_loadu_pd(a.as_ptr()))
        }
    }

    /// Applies `f` to each lane of two packs.
    #[inline(always)]
    fn each2(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
        // SAFETY: `a` and `b` hold 8 scalars; see the head of the file.
        unsafe {
            _mm512_storeu_pd(a.as_mut_ptr(), self.0);
            _mm512_storeu_pd(b.as_mut_ptr(), o.0);
            for l in 0..8 {
                a[l] = f(a[l], b[l]);
            }
            Self(_mm512_loadu_pd(a.as_ptr()))
        }
    }
}

impl Add for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_add_pd(self.0, o.0) })
    }
}

impl Sub for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_sub_pd(self.0, o.0) })
    }
}

impl Mul for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mul_pd(self.0, o.0) })
    }
}

impl Div for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_div_pd(self.0, o.0) })
    }
}

impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_xor_pd(self.0, _mm512_set1_pd(-0.0)) })
    }
}

impl Real for F64x8 {
    type Mask = __mmask8;
    #[inline(always)]
    fn lit(x: f64) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe {
            // The estimate of 14 bits is improved by a step of third order, √x = g / √(1 − 2 r) with r = ½ −
            // g h, and one correction; the division unit would take three times as long.
            let (x, half) = (self.0, _mm512_set1_pd(0.5));
            let y = _mm512_rsqrt14_pd(x);
            let (g, h) = (_mm512_mul_pd(x, y), _mm512_mul_pd(half, y));
            let r = _mm512_fnmadd_pd(g, h, half);
            let series = _mm512_fmadd_pd(_mm512_mul_pd(_mm512_set1_pd(1.5), r), r, r);
            let g = _mm512_fmadd_pd(g, series, g);
            let g = _mm512_fmadd_pd(_mm512_fnmadd_pd(g, g, x), h, g);
            // The estimate is infinite at 0.
            let some = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(x, _mm512_setzero_pd());
            Self(_mm512_maskz_mov_pd(some, g))
        }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_andnot_pd(_mm512_set1_pd(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_min_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_max_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_fmadd_pd(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn le(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn lt(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a & b
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a | b
    }
    #[inline(always)]
    fn not(m: Self::Mask) -> Self::Mask {
        !m
    }
    #[inline(always)]
    fn select(m: Self::Mask, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mask_blend_pd(m, b.0, a.0) })
    }
    #[inline(always)]
    fn recip(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe {
            // Two Newton steps from an estimate of 14 bits.
            let (x, one) = (self.0, _mm512_set1_pd(1.0));
            let y = _mm512_rcp14_pd(x);
            let y = _mm512_fmadd_pd(y, _mm512_fnmadd_pd(x, y, one), y);
            Self(_mm512_fmadd_pd(y, _mm512_fnmadd_pd(x, y, one), y))
        }
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

impl Pack for F64x8 {
    type T = f64;
    const W: usize = 8;
    type Pick = (__m512i, __mmask8);
    const ROWS_1: usize = 8;
    const ROWS_4: usize = 6;
    const ROWS_5: usize = 5;
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: the caller's contract is `W` readable scalars.
        Self(unsafe { _mm512_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: the caller's contract is `W` writable scalars.
        unsafe { _mm512_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn broadcast(p: *const f64) -> Self {
        // SAFETY: the caller's contract is one readable scalar.
        Self(unsafe { _mm512_set1_pd(*p) })
    }
    #[inline(always)]
    fn pick(lanes: &[i8; MAX_LANES], taken: u32) -> Self::Pick {
        // SAFETY: the load reads 8 or 16 of 16 bytes; see the head of the file.
        unsafe { (_mm512_cvtepi8_epi64(_mm_loadl_epi64(lanes.as_ptr().cast())), taken as __mmask8) }
    }
    #[inline(always)]
    fn replace(self, from: Self, pick: Self::Pick) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mask_permutexvar_pd(self.0, pick.1, pick.0, from.0) })
    }
    #[inline(always)]
    unsafe fn place(p: *const f64, pick: Self::Pick, to: *mut f64) {
        // SAFETY: the caller's contract is `W` scalars at both.
        unsafe { _mm512_mask_storeu_pd(to, pick.1, _mm512_permutexvar_pd(pick.0, _mm512_loadu_pd(p))) };
    }
    #[inline(always)]
    unsafe fn load_turned<const N: usize>(rows: &[*const f64; MAX_LANES]) -> [Self; N] {
        let mut out = [Self::lit(0.0); N];
        // SAFETY (whole body): rows of `N` numbers, by the caller's contract.
        unsafe {
            let mut first = 0;
            while first + 4 <= N {
                let four = four_turned(rows, first);
                for k in 0..4 {
                    out[first + k] = Self(four[k]);
                }
                first += 4;
            }
            for k in first..N {
                let [low, high] = [two_and_two(rows, 0, k), two_and_two(rows, 4, k)];
                out[k] = Self(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high));
            }
        }
        out
    }
    #[inline(always)]
    unsafe fn store_turned(p: *const f64, out: *mut f64, stride: usize) {
        // SAFETY (whole body): eight packs and eight rows of eight numbers, by the caller's contract.
        unsafe {
            // Lanes 0, 2, 4, 6 of two packs side by side, then lanes 1, 3, 5, 7.
            let (mut even, mut odd) = ([_mm512_setzero_pd(); 4], [_mm512_setzero_pd(); 4]);
            for i in 0..4 {
                let (a, b) = (_mm512_loadu_pd(p.add(16 * i)), _mm512_loadu_pd(p.add(16 * i + 8)));
                even[i] = _mm512_unpacklo_pd(a, b);
                odd[i] = _mm512_unpackhi_pd(a, b);
            }
            store_lanes(even, out, stride);
            store_lanes(odd, out.add(stride), stride);
        }
    }
}

/// Numbers `first..first + 4` of eight rows, one register each.
///
/// # Safety
/// The rows have them; see the head of the file.
#[inline(always)]
unsafe fn four_turned(rows: &[*const f64; MAX_LANES], first: usize) -> [__m512d; 4] {
    // SAFETY (whole body): by the caller's contract.
    unsafe {
        // Rows l and l + 2 share a register, so that finally pairs of rows are in order.
        let mut two = [_mm512_setzero_pd(); 4];
        for (i, l) in [0, 1, 4, 5].into_iter().enumerate() {
            let low = _mm512_castpd256_pd512(_mm256_loadu_pd(rows[l].add(first)));
            two[i] = _mm512_insertf64x4::<1>(low, _mm256_loadu_pd(rows[l + 2].add(first)));
        }
        let (even, odd) = (_mm512_unpacklo_pd(two[0], two[1]), _mm512_unpackhi_pd(two[0], two[1]));
        let (even2, odd2) = (_mm512_unpacklo_pd(two[2], two[3]), _mm512_unpackhi_pd(two[2], two[3]));
        [
            _mm512_shuffle_f64x2::<0x88>(even, even2),
            _mm512_shuffle_f64x2::<0x88>(odd, odd2),
            _mm512_shuffle_f64x2::<0xdd>(even, even2),
            _mm512_shuffle_f64x2::<0xdd>(odd, odd2),
        ]
    }
}

/// Number `k` of rows `first..first + 4`.
///
/// # Safety
/// The rows have it; see the head of the file.
#[inline(always)]
unsafe fn two_and_two(rows: &[*const f64; MAX_LANES], first: usize, k: usize) -> __m256d {
    // SAFETY (whole body): by the caller's contract.
    unsafe {
        let low = _mm_loadh_pd(_mm_load_sd(rows[first].add(k)), rows[first + 1].add(k));
        let high = _mm_loadh_pd(_mm_load_sd(rows[first + 2].add(k)), rows[first + 3].add(k));
        _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
    }
}

/// Stores two numbers of four lanes in each of four registers to every second row.
///
/// # Safety
/// The rows have eight numbers; see the head of the file.
#[inline(always)]
unsafe fn store_lanes(pairs: [__m512d; 4], out: *mut f64, stride: usize) {
    // SAFETY (whole body): by the caller's contract.
    unsafe {
        let [a, b, c, d] = pairs;
        let (low, low2) = (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0x88>(c, d));
        let (high, high2) = (_mm512_shuffle_f64x2::<0xdd>(a, b), _mm512_shuffle_f64x2::<0xdd>(c, d));
        _mm512_storeu_pd(out, _mm512_shuffle_f64x2::<0x88>(low, low2));
        _mm512_storeu_pd(out.add(2 * stride), _mm512_shuffle_f64x2::<0x88>(high, high2));
        _mm512_storeu_pd(out.add(4 * stride), _mm512_shuffle_f64x2::<0xdd>(low, low2));
        _mm512_storeu_pd(out.add(6 * stride), _mm512_shuffle_f64x2::<0xdd>(high, high2));
    }
}

/// 16 lanes of `f32`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F32x16(__m512);

impl F32x16 {
    /// Applies `f` to each lane, for functions without an instruction.
    #[inline(always)]
    fn each(self, f: impl Fn(f32) -> f32) -> Self {
        let mut a = [0.0; 16];
        // SAFETY: `a` holds 16 scalars; see the head of the file.
        unsafe {
            _mm512_storeu_ps(a.as_mut_ptr(), self.0);
            for x in &mut a {
                *x = f(*x);
            }
            Self(_mm512_loadu_ps(a.as_ptr()))
        }
    }

    /// Applies `f` to each lane of two packs.
    #[inline(always)]
    fn each2(self, o: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let (mut a, mut b) = ([0.0; 16], [0.0; 16]);
        // SAFETY: `a` and `b` hold 16 scalars; see the head of the file.
        unsafe {
            _mm512_storeu_ps(a.as_mut_ptr(), self.0);
            _mm512_storeu_ps(b.as_mut_ptr(), o.0);
            for l in 0..16 {
                a[l] = f(a[l], b[l]);
            }
            Self(_mm512_loadu_ps(a.as_ptr()))
        }
    }
}

impl Add for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_add_ps(self.0, o.0) })
    }
}

impl Sub for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_sub_ps(self.0, o.0) })
    }
}

impl Mul for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mul_ps(self.0, o.0) })
    }
}

impl Div for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_div_ps(self.0, o.0) })
    }
}

impl Neg for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_xor_ps(self.0, _mm512_set1_ps(-0.0)) })
    }
}

impl Real for F32x16 {
    type Mask = __mmask16;
    #[inline(always)]
    fn lit(x: f64) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_set1_ps(x as f32) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_andnot_ps(_mm512_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_min_ps(self.0, o.0) })
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_max_ps(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_fmadd_ps(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn le(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn lt(self, o: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a & b
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a | b
    }
    #[inline(always)]
    fn not(m: Self::Mask) -> Self::Mask {
        !m
    }
    #[inline(always)]
    fn select(m: Self::Mask, a: Self, b: Self) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mask_blend_ps(m, b.0, a.0) })
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

impl Pack for F32x16 {
    type T = f32;
    const W: usize = 16;
    type Pick = (__m512i, __mmask16);
    const ROWS_1: usize = 8;
    const ROWS_4: usize = 6;
    const ROWS_5: usize = 5;
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: the caller's contract is `W` readable scalars.
        Self(unsafe { _mm512_loadu_ps(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: the caller's contract is `W` writable scalars.
        unsafe { _mm512_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn broadcast(p: *const f32) -> Self {
        // SAFETY: the caller's contract is one readable scalar.
        Self(unsafe { _mm512_set1_ps(*p) })
    }
    #[inline(always)]
    fn pick(lanes: &[i8; MAX_LANES], taken: u32) -> Self::Pick {
        // SAFETY: the load reads 8 or 16 of 16 bytes; see the head of the file.
        unsafe { (_mm512_cvtepi8_epi32(_mm_loadu_si128(lanes.as_ptr().cast())), taken as __mmask16) }
    }
    #[inline(always)]
    fn replace(self, from: Self, pick: Self::Pick) -> Self {
        // SAFETY: see the head of the file.
        Self(unsafe { _mm512_mask_permutexvar_ps(self.0, pick.1, pick.0, from.0) })
    }
    #[inline(always)]
    unsafe fn place(p: *const f32, pick: Self::Pick, to: *mut f32) {
        // SAFETY: the caller's contract is `W` scalars at both.
        unsafe { _mm512_mask_storeu_ps(to, pick.1, _mm512_permutexvar_ps(pick.0, _mm512_loadu_ps(p))) };
    }
}
