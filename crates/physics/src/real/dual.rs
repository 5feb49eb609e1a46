//! Dual numbers: a value and its derivative along one direction.

use super::Real;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Value and directional derivative, `f(x + εd) = f(x) + ε f′(x) d` with `ε² = 0`.
///
/// Evaluating a formula on dual numbers gives its exact derivative (forward-mode differentiation).
/// Comparisons use the values only; at a kink the derivative is that of the chosen arm.
///
/// ```
/// use dgsuite_physics::{Dual, Real};
/// let y = Dual::variable(2.0).powi(3);
/// assert_eq!((y.value, y.derivative), (8.0, 12.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<R> {
    /// The value.
    pub value: R,
    /// Its derivative along the direction with which the variables were seeded.
    pub derivative: R,
}

impl<R: Real> Dual<R> {
    /// Makes a number with the given derivative.
    #[inline(always)]
    pub fn new(value: R, derivative: R) -> Self {
        Self { value, derivative }
    }

    /// Makes a number that does not depend on the variable.
    #[inline(always)]
    pub fn constant(value: R) -> Self {
        Self::new(value, R::lit(0.0))
    }

    /// Makes the variable itself, with derivative one.
    #[inline(always)]
    pub fn variable(value: R) -> Self {
        Self::new(value, R::lit(1.0))
    }

    /// `f(value)` with slope `f′(value)`, by the chain rule.
    #[inline(always)]
    fn chain(self, value: R, slope: R) -> Self {
        Self::new(value, slope * self.derivative)
    }
}

impl<R: Real> Add for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.value + o.value, self.derivative + o.derivative)
    }
}
impl<R: Real> Sub for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.value - o.value, self.derivative - o.derivative)
    }
}
impl<R: Real> Mul for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self::new(self.value * o.value, self.derivative.mul_add(o.value, self.value * o.derivative))
    }
}
impl<R: Real> Div for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let q = self.value / o.value;
        Self::new(q, (self.derivative - q * o.derivative) / o.value)
    }
}
impl<R: Real> Neg for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.value, -self.derivative)
    }
}

impl<R: Real> Real for Dual<R> {
    type Mask = R::Mask;

    #[inline(always)]
    fn lit(x: f64) -> Self {
        Self::constant(R::lit(x))
    }
    #[inline(always)]
    fn param(name: &'static str, value: f64) -> Self {
        Self::constant(R::param(name, value))
    }
    #[inline(always)]
    fn named(self, name: &'static str) -> Self {
        Self::new(self.value.named(name), self.derivative)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::new(root, self.derivative / (root + root))
    }
    #[inline(always)]
    fn sqrt_of_squares(self) -> Self {
        let root = self.value.sqrt_of_squares();
        let zero = R::lit(0.0);
        let away = zero.lt(root);
        let slope = R::select(away, self.derivative, zero) / R::select(away, root + root, R::lit(1.0));
        Self::new(root, slope)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let positive = R::lit(0.0).le(self.value);
        Self::new(self.value.abs(), R::select(positive, self.derivative, -self.derivative))
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        Self::new(self.value.ln(), self.derivative / self.value)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    #[inline(always)]
    fn tan(self) -> Self {
        let t = self.value.tan();
        self.chain(t, t.mul_add(t, R::lit(1.0)))
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.chain(t, R::lit(1.0) - t * t)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self::constant(self.value.floor())
    }
    #[inline]
    fn erf(self) -> Self {
        let slope = R::lit(std::f64::consts::FRAC_2_SQRT_PI) * (-(self.value * self.value)).exp();
        self.chain(self.value.erf(), slope)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        let r = self.value.recip();
        self.chain(r, -(r * r))
    }
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        // d(aᵇ) = b aᵇ⁻¹ da + aᵇ ln(a) db; the second term only if b varies, so that a ≤ 0 is allowed.
        let (a, b) = (self.value, exponent.value);
        let value = a.powf(b);
        let base = b * a.powf(b - R::lit(1.0)) * self.derivative;
        let zero = R::lit(0.0);
        let fixed = R::and(exponent.derivative.le(zero), zero.le(exponent.derivative));
        let varying = value * R::select(fixed, R::lit(1.0), a).ln() * exponent.derivative;
        Self::new(value, base + R::select(fixed, zero, varying))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let r2 = x.value.mul_add(x.value, self.value * self.value);
        let d = (x.value * self.derivative - self.value * x.derivative) / r2;
        Self::new(self.value.atan2(x.value), d)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        let derivative = self.derivative.mul_add(a.value, self.value.mul_add(a.derivative, b.derivative));
        Self::new(self.value.mul_add(a.value, b.value), derivative)
    }
    #[inline(always)]
    fn le(self, other: Self) -> R::Mask {
        self.value.le(other.value)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> R::Mask {
        self.value.lt(other.value)
    }
    #[inline(always)]
    fn and(a: R::Mask, b: R::Mask) -> R::Mask {
        R::and(a, b)
    }
    #[inline(always)]
    fn or(a: R::Mask, b: R::Mask) -> R::Mask {
        R::or(a, b)
    }
    #[inline(always)]
    fn not(a: R::Mask) -> R::Mask {
        R::not(a)
    }
    #[inline(always)]
    fn select(condition: R::Mask, a: Self, b: Self) -> Self {
        Self::new(R::select(condition, a.value, b.value), R::select(condition, a.derivative, b.derivative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `d/dx f` at `x` against a central difference.
    fn check(name: &str, x: f64, f: impl Fn(Dual<f64>) -> Dual<f64>) {
        let h = 1e-6 * (1.0 + x.abs());
        let value = |x: f64| f(Dual::constant(x)).value;
        let expected = (value(x + h) - value(x - h)) / (2.0 * h);
        let got = f(Dual::variable(x)).derivative;
        assert!((got - expected).abs() <= 1e-8 * (1.0 + expected.abs()), "{name}({x}): {got} {expected}");
    }

    #[test]
    fn derivatives_of_all_functions_agree_with_differences() {
        for x in [0.3, 0.9, 1.7] {
            check("sqrt", x, Real::sqrt);
            check("sqrt of squares", x, |x| (x * x).sqrt_of_squares());
            check("abs", -x, Real::abs);
            check("exp", x, Real::exp);
            check("ln", x, Real::ln);
            check("sin", x, Real::sin);
            check("cos", x, Real::cos);
            check("tan", x, Real::tan);
            check("tanh", x, Real::tanh);
            check("floor", x, Real::floor);
            check("erf", x, Real::erf);
            check("recip", x, Real::recip);
            check("powi", x, |x| x.powi(-3));
            check("x^a", x, |x| x.powf(Dual::lit(1.4)));
            check("a^x", x, |x| Dual::lit(1.4).powf(x));
            check("x^x", x, |x| x.powf(x));
            check("atan2", x, |x| x.atan2(Dual::lit(0.4) - x * x));
            check("quotient", x, |x| (x + Dual::lit(1.0)) / (x * x - Dual::lit(5.0)));
            check("mul_add", x, |x| x.mul_add(x, x));
            check("min", x, |x| x.min(x * x));
            check("max", x, |x| x.max(x * x));
        }
    }

    #[test]
    fn powers_of_a_negative_base_with_a_fixed_exponent_have_a_derivative() {
        let y = Dual::variable(-2.0).powf(Dual::lit(3.0));
        assert_eq!((y.value, y.derivative), (-8.0, 12.0));
    }

    #[test]
    fn lengths_have_a_derivative_of_zero_at_the_tip_of_their_cone() {
        let length = |x: Dual<f64>| (x * x).sqrt_of_squares();
        assert_eq!((length(Dual::variable(0.0)).value, length(Dual::variable(0.0)).derivative), (0.0, 0.0));
        assert_eq!(
            (length(Dual::variable(-3.0)).value, length(Dual::variable(-3.0)).derivative),
            (3.0, -1.0)
        );
    }

    #[test]
    fn second_derivatives_come_from_dual_numbers_of_dual_numbers() {
        let x = Dual::new(Dual::variable(2.0), Dual::constant(1.0));
        assert_eq!(x.powi(3).derivative.derivative, 12.0);
    }
}
