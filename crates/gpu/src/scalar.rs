//! The two number types of arrays: double and single precision.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::Element;

/// The number type of an array: `f64` or `f32`.
///
/// Reductions of arrays in single precision are summed in `f64`.
pub trait Scalar:
    Element
    + Debug
    + Display
    + Default
    + PartialEq
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
{
    /// The word in pipeline files: `double` or `single`.
    const NAME: &'static str;
    /// Bytes of one number.
    const BYTES: usize;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Distance from one to the next larger number.
    const EPSILON: Self;

    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The same value in double precision (exact).
    fn to_f64(self) -> f64;
    /// |x|.
    fn abs(self) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
}

macro_rules! scalar {
    ($T:ident, $name:literal) => {
        impl Scalar for $T {
            const NAME: &'static str = $name;
            const BYTES: usize = size_of::<$T>();
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $T::EPSILON;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $T
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $T::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $T::sqrt(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $T::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $T::is_nan(self)
            }
        }
    };
}
scalar!(f64, "double");
scalar!(f32, "single");
