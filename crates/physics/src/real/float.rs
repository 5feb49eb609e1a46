//! `f64` and `f32` as [`Real`] numbers.

use super::Real;

macro_rules! float {
    ($t:ident) => {
        impl Real for $t {
            type Mask = bool;

            #[inline(always)]
            fn lit(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                <$t>::exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                <$t>::ln(self)
            }
            #[inline(always)]
            fn sin(self) -> Self {
                <$t>::sin(self)
            }
            #[inline(always)]
            fn cos(self) -> Self {
                <$t>::cos(self)
            }
            #[inline(always)]
            fn tan(self) -> Self {
                <$t>::tan(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                <$t>::tanh(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                <$t>::floor(self)
            }
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                <$t>::powf(self, exponent)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                <$t>::atan2(self, x)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn and(a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn or(a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn not(a: bool) -> bool {
                !a
            }
            #[inline(always)]
            fn select(condition: bool, a: Self, b: Self) -> Self {
                if condition { a } else { b }
            }
        }
    };
}

float!(f64);
float!(f32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn min_and_max_return_the_second_argument_next_to_a_nan() {
        assert_eq!(Real::min(f64::NAN, 1.0), 1.0);
        assert!(Real::min(1.0, f64::NAN).is_nan());
        assert_eq!(Real::max(f32::NAN, 1.0), 1.0);
        assert!(Real::max(1.0, f32::NAN).is_nan());
    }

    #[test]
    fn integer_powers_are_products() {
        for n in -9i32..=9 {
            let expected = (0..n.abs()).fold(1.0f64, |p, _| p * 1.7);
            let expected = if n < 0 { 1.0 / expected } else { expected };
            let got = Real::powi(1.7f64, n);
            assert!(
                (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(),
                "n = {n}: {got} {expected}"
            );
        }
    }

    #[test]
    fn multiply_add_rounds_twice_for_plain_numbers() {
        // (1+ε)(1−ε) rounds to 1 − ε² → 1, so the sum with −1 is 0; a fused operation would give −ε².
        let e = f64::EPSILON;
        assert_eq!(Real::mul_add(1.0 + e, 1.0 - e, -1.0), 0.0);
    }
}
