//! A pack of `W` numbers that are evaluated together.

use super::Real;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `W` numbers; every operation acts on each lane and rounds as the plain number type does.
///
/// It is portable: an array, which the compiler maps to the vector registers of the target.
///
/// ```
/// use dgsuite_physics::{Lanes, Real};
/// let x = Lanes([1.0, 4.0, 9.0, 16.0]);
/// assert_eq!((x.sqrt() + Lanes::lit(1.0)).0, [2.0, 3.0, 4.0, 5.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes<T, const W: usize>(pub [T; W]);

impl<T: Real, const W: usize> Lanes<T, W> {
    /// Makes a pack with the same number in every lane.
    #[inline(always)]
    pub fn splat(x: T) -> Self {
        Self([x; W])
    }

    #[inline(always)]
    fn map(self, f: impl Fn(T) -> T) -> Self {
        let mut out = self;
        for i in 0..W {
            out.0[i] = f(self.0[i]);
        }
        out
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut out = self;
        for i in 0..W {
            out.0[i] = f(self.0[i], other.0[i]);
        }
        out
    }
}

impl<T: Real, const W: usize> Add for Lanes<T, W> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}
impl<T: Real, const W: usize> Sub for Lanes<T, W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}
impl<T: Real, const W: usize> Mul for Lanes<T, W> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}
impl<T: Real, const W: usize> Div for Lanes<T, W> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}
impl<T: Real, const W: usize> Neg for Lanes<T, W> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

impl<T: Real, const W: usize> Real for Lanes<T, W> {
    type Mask = [T::Mask; W];

    #[inline(always)]
    fn lit(x: f64) -> Self {
        Self::splat(T::lit(x))
    }
    #[inline(always)]
    fn param(name: &'static str, value: f64) -> Self {
        Self::splat(T::param(name, value))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(T::sqrt)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(T::abs)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.map(T::exp)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.map(T::ln)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.map(T::sin)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.map(T::cos)
    }
    #[inline(always)]
    fn tan(self) -> Self {
        self.map(T::tan)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.map(T::tanh)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self.map(T::floor)
    }
    #[inline(always)]
    fn erf(self) -> Self {
        self.map(T::erf)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        self.map(T::recip)
    }
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        self.zip(exponent, T::powf)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.zip(x, T::atan2)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(array!(W, |i| self.0[i].mul_add(a.0[i], b.0[i])))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, T::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, T::max)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        array!(W, |i| self.0[i].le(other.0[i]))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        array!(W, |i| self.0[i].lt(other.0[i]))
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        array!(W, |i| T::and(a[i], b[i]))
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        array!(W, |i| T::or(a[i], b[i]))
    }
    #[inline(always)]
    fn not(a: Self::Mask) -> Self::Mask {
        array!(W, |i| T::not(a[i]))
    }
    #[inline(always)]
    fn select(condition: Self::Mask, a: Self, b: Self) -> Self {
        Self(array!(W, |i| T::select(condition[i], a.0[i], b.0[i])))
    }
}
