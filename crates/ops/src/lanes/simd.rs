//! Packs of SIMD lanes: the number type of the inner loops, one register wide.
//!
//! A kernel is written once, generic over [`Pack`], and entered through [`PackScalar::dispatch`], which calls
//! it inside a function compiled for AVX-512, for AVX2 + FMA, or for the baseline of the target. The pack
//! types are private and exist only inside such a call; therefore it is sound that they use instructions
//! beyond the baseline.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use dgsuite_gpu::{Scalar, SimdLevel};
use dgsuite_physics::Real;

/// Number of lanes of the widest pack.
pub(crate) const MAX_LANES: usize = 16;

/// One register of `W` lanes.
pub trait Pack: Real {
    /// The scalar of a lane.
    type T: Scalar;
    /// Number of lanes.
    const W: usize;
    /// Number of rows of a panel whose accumulators fit into the registers, for one field.
    const ROWS_1: usize;
    /// As `ROWS_1`, for four fields.
    const ROWS_4: usize;
    /// As `ROWS_1`, for five fields.
    const ROWS_5: usize;
    /// A selection and permutation of lanes, see [`pick`](Self::pick).
    type Pick: Copy;
    /// Load `W` consecutive scalars.
    ///
    /// # Safety
    /// `p` points to `W` readable scalars.
    unsafe fn load(p: *const Self::T) -> Self;
    /// Store `W` consecutive scalars.
    ///
    /// # Safety
    /// `p` points to `W` writable scalars.
    unsafe fn store(self, p: *mut Self::T);
    /// All lanes equal to `*p`.
    ///
    /// # Safety
    /// `p` points to a readable scalar.
    unsafe fn broadcast(p: *const Self::T) -> Self;
    /// Prepares a permutation for [`replace`](Self::replace): lane `l` is replaced by lane `lanes[l] < W` if
    /// bit `l` of `taken` is set. Where it is not set, `lanes[l]` must be −1, and the lane is kept.
    fn pick(lanes: &[i8; MAX_LANES], taken: u32) -> Self::Pick;
    /// Returns this pack with the lanes of `pick` replaced by lanes of `from`.
    fn replace(self, from: Self, pick: Self::Pick) -> Self;
    /// As [`replace`](Self::replace), with lanes of the pack at `p`.
    ///
    /// # Safety
    /// `p` points to `W` readable scalars.
    #[inline(always)]
    unsafe fn merge(self, p: *const Self::T, pick: Self::Pick) -> Self {
        // SAFETY: the caller's contract.
        self.replace(unsafe { Self::load(p) }, pick)
    }
    /// Copies the lanes of `pick` from the pack at `p` to the pack at `to`.
    ///
    /// # Safety
    /// `p` points to `W` readable scalars, `to` to readable and writable ones.
    #[inline(always)]
    unsafe fn place(p: *const Self::T, pick: Self::Pick, to: *mut Self::T) {
        // SAFETY: the caller's contract.
        unsafe { Self::load(to).merge(p, pick).store(to) };
    }

    /// Loads and transposes: pack `k` holds number `k` of each of `W` rows; lane `l` belongs to the row at
    /// `rows[l]`.
    ///
    /// # Safety
    /// `rows[l]` points to `N` readable scalars for `l < W`.
    #[inline(always)]
    unsafe fn load_turned<const N: usize>(rows: &[*const Self::T; MAX_LANES]) -> [Self; N] {
        let mut turned = [[Self::T::from_f64(0.0); MAX_LANES]; N];
        for l in 0..Self::W {
            for k in 0..N {
                // SAFETY: number `k < N` of row `l < W`, by the caller's contract.
                turned[k][l] = unsafe { *rows[l].add(k) };
            }
        }
        let mut out = [Self::lit(0.0); N];
        for k in 0..N {
            // SAFETY: no pack has more than `MAX_LANES` lanes.
            out[k] = unsafe { Self::load(turned[k].as_ptr()) };
        }
        out
    }
    /// Stores and transposes the `W` packs at `p`: lane `l` of all packs goes to the `W` scalars at
    /// `out + l stride`.
    ///
    /// # Safety
    /// `p` points to `W²` readable scalars, `out` to writable ones for `l < W`.
    #[inline(always)]
    unsafe fn store_turned(p: *const Self::T, out: *mut Self::T, stride: usize) {
        for l in 0..Self::W {
            for i in 0..Self::W {
                // SAFETY: by the caller's contract.
                unsafe { *out.add(l * stride + i) = *p.add(i * Self::W + l) };
            }
        }
    }
}

/// A computation that runs with the widest packs of the machine.
///
/// `run` and everything that it calls in the hot path must be `#[inline(always)]`, so that it is
/// compiled with the features of the entry function.
pub trait Kernel<T: Scalar> {
    /// Runs with packs `V`.
    fn run<V: Pack<T = T>>(self);
}

/// A family of kernels that is compiled in this crate, once for each precision, so that dependent crates do
/// not compile it again. [`compiled`] makes one.
pub trait Compiled {
    /// The kernel with its arguments.
    type Kernel<'a, T: PackScalar>;
    /// Runs in double precision.
    fn double(level: SimdLevel, kernel: Self::Kernel<'_, f64>);
    /// Runs in single precision.
    fn single(level: SimdLevel, kernel: Self::Kernel<'_, f32>);
}

/// Defines for each `name: Kernel` the function `name(level, kernel)`, which runs the kernel with the packs
/// of a level and is compiled in this crate. A function with a contract is `unsafe name: Kernel`.
macro_rules! compiled {
    () => {};
    (unsafe $name:ident: $kernel:ident, $($more:tt)*) => {
        #[doc = concat!("Runs [`", stringify!($kernel), "`] with the packs of a level.")]
        ///
        /// # Safety
        /// The contract of the kernel.
        pub(crate) unsafe fn $name<T: $crate::lanes::simd::PackScalar>(
            level: dgsuite_gpu::SimdLevel,
            kernel: $kernel<'_, T>,
        ) {
            $crate::lanes::simd::compiled!(body $kernel, T, level, kernel);
        }
        $crate::lanes::simd::compiled!($($more)*);
    };
    ($name:ident: $kernel:ident, $($more:tt)*) => {
        #[doc = concat!("Runs [`", stringify!($kernel), "`] with the packs of a level.")]
        pub(crate) fn $name<T: $crate::lanes::simd::PackScalar>(
            level: dgsuite_gpu::SimdLevel,
            kernel: $kernel<'_, T>,
        ) {
            $crate::lanes::simd::compiled!(body $kernel, T, level, kernel);
        }
        $crate::lanes::simd::compiled!($($more)*);
    };
    (body $kernel:ident, $t:ident, $level:ident, $arguments:ident) => {
        enum Family {}
        impl $crate::lanes::simd::Compiled for Family {
            type Kernel<'a, U: $crate::lanes::simd::PackScalar> = $kernel<'a, U>;
            fn double(level: dgsuite_gpu::SimdLevel, kernel: $kernel<'_, f64>) {
                <f64 as $crate::lanes::simd::PackScalar>::dispatch(level, kernel);
            }
            fn single(level: dgsuite_gpu::SimdLevel, kernel: $kernel<'_, f32>) {
                <f32 as $crate::lanes::simd::PackScalar>::dispatch(level, kernel);
            }
        }
        $t::enter::<Family>($level, $arguments);
    };
}
pub(crate) use compiled;

/// Scalar types for which packs exist.
pub trait PackScalar: Scalar {
    /// Number of lanes of a register at `level`.
    fn lanes(level: SimdLevel) -> usize;
    /// Number of rows of a panel for `n_fields` unknowns at `level`.
    fn panel_rows(level: SimdLevel, n_fields: usize) -> usize;
    /// Runs `kernel` with the packs of `level`.
    fn dispatch<K: Kernel<Self>>(level: SimdLevel, kernel: K);
    /// Runs a kernel of a family that is compiled in this crate.
    fn enter<C: Compiled>(level: SimdLevel, kernel: C::Kernel<'_, Self>);
}

macro_rules! pack_scalar {
    ($t:ty, $of_precision:ident, $portable:ty, $avx2:ty, $avx512:ty) => {
        impl PackScalar for $t {
            fn lanes(level: SimdLevel) -> usize {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 => <$avx512>::W,
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx2 => <$avx2>::W,
                    _ => <$portable>::W,
                }
            }

            fn panel_rows(level: SimdLevel, n_fields: usize) -> usize {
                use crate::lanes::panel::panel_rows;
                match level {
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 => panel_rows::<$avx512>(n_fields),
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx2 => panel_rows::<$avx2>(n_fields),
                    _ => panel_rows::<$portable>(n_fields),
                }
            }

            #[inline]
            fn dispatch<K: Kernel<Self>>(level: SimdLevel, kernel: K) {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
                    fn on_avx512<K: Kernel<$t>>(kernel: K) {
                        kernel.run::<$avx512>();
                    }
                    #[target_feature(enable = "avx2,fma")]
                    fn on_avx2<K: Kernel<$t>>(kernel: K) {
                        kernel.run::<$avx2>();
                    }
                    match level {
                        // SAFETY: `Level::checked` admits AVX-512 only where the machine has it.
                        SimdLevel::Avx512 => return unsafe { on_avx512(kernel) },
                        // SAFETY: likewise for AVX2 and FMA.
                        SimdLevel::Avx2 => return unsafe { on_avx2(kernel) },
                        SimdLevel::Portable => {}
                    }
                }
                let _ = level;
                kernel.run::<$portable>();
            }

            fn enter<C: Compiled>(level: SimdLevel, kernel: C::Kernel<'_, Self>) {
                C::$of_precision(level, kernel);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pack_scalar!(f64, double, dgsuite_physics::Lanes<f64, 4>, avx2::F64x4, avx512::F64x8);
#[cfg(target_arch = "x86_64")]
pack_scalar!(f32, single, dgsuite_physics::Lanes<f32, 8>, avx2::F32x8, avx512::F32x16);
#[cfg(not(target_arch = "x86_64"))]
pack_scalar!(f64, double, dgsuite_physics::Lanes<f64, 4>, dgsuite_physics::Lanes<f64, 4>, dgsuite_physics::Lanes<f64, 4>);
#[cfg(not(target_arch = "x86_64"))]
pack_scalar!(f32, single, dgsuite_physics::Lanes<f32, 8>, dgsuite_physics::Lanes<f32, 8>, dgsuite_physics::Lanes<f32, 8>);

/// The level to use: the requested one, lowered to what the machine supports.
#[must_use]
pub(crate) fn checked(level: SimdLevel) -> SimdLevel {
    level.min(SimdLevel::hardware())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Square roots and reciprocals of the widest packs, compared with scalar ones.
    struct Roots;

    impl Kernel<f64> for Roots {
        #[inline(always)]
        fn run<V: Pack<T = f64>>(self) {
            let (mut x, mut out) = ([0.0; 16], [0.0; 16]);
            for i in 0..4000 {
                for l in 0..V::W {
                    x[l] = 10f64.powf((i as f64 / 40.0) - 50.0 + 0.07 * l as f64) * (1.0 + 0.1 * l as f64);
                }
                // SAFETY: the arrays hold more lanes than any pack.
                let v = unsafe { V::load(x.as_ptr()) };
                // SAFETY: likewise.
                unsafe { v.sqrt().store(out.as_mut_ptr()) };
                for l in 0..V::W {
                    assert!((out[l] / x[l].sqrt() - 1.0).abs() <= 2.0 * f64::EPSILON, "sqrt {}", x[l]);
                }
                // SAFETY: likewise.
                unsafe { v.recip().store(out.as_mut_ptr()) };
                for l in 0..V::W {
                    assert!((out[l] * x[l] - 1.0).abs() <= 4.0 * f64::EPSILON, "1 / {}", x[l]);
                }
            }
            // SAFETY: likewise.
            unsafe { V::lit(0.0).sqrt().store(out.as_mut_ptr()) };
            assert!(out[..V::W].iter().all(|&v| v == 0.0));
            // SAFETY: likewise.
            unsafe { V::lit(-1.0).sqrt().store(out.as_mut_ptr()) };
            assert!(out[..V::W].iter().all(|v| v.is_nan()));
        }
    }

    /// Transposes rows of four and five numbers into packs, and packs into rows.
    struct Turns;

    impl Kernel<f64> for Turns {
        #[inline(always)]
        fn run<V: Pack<T = f64>>(self) {
            let from: Vec<f64> = (0..256).map(f64::from).collect();
            let row: [_; MAX_LANES] = std::array::from_fn(|l| from.as_ptr().wrapping_add(11 * l + 3));
            let mut out = [0.0; 16];
            // SAFETY: 15 rows of 11 numbers and five more lie within 256.
            let (four, five) = unsafe { (V::load_turned::<4>(&row), V::load_turned::<5>(&row)) };
            for (k, pack) in four.into_iter().chain(five).enumerate() {
                // SAFETY: the array holds more lanes than any pack.
                unsafe { pack.store(out.as_mut_ptr()) };
                for l in 0..V::W {
                    assert_eq!(out[l], (11 * l + 3 + k % 4 + if k == 8 { 4 } else { 0 }) as f64);
                }
            }
            let mut rows = [0.0; 256];
            // SAFETY: `W² ≤ 256` numbers each.
            unsafe { V::store_turned(from.as_ptr(), rows.as_mut_ptr(), V::W) };
            for l in 0..V::W {
                for i in 0..V::W {
                    assert_eq!(rows[l * V::W + i], from[i * V::W + l]);
                }
            }
        }
    }

    #[test]
    fn turning_moves_every_number() {
        for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
            f64::dispatch(level, Turns);
        }
    }

    #[test]
    fn roots_and_reciprocals_are_those_of_scalars() {
        for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
            f64::dispatch(level, Roots);
        }
    }
}
