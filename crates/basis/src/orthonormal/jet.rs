//! Number types for the evaluation of a basis: a value alone, or a value with its gradient.

use std::ops::{Add, Mul, Sub};

/// The arithmetic used by the recurrences of the bases.
pub(crate) trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A constant.
    fn constant(x: f64) -> Self;
    /// Coordinate `d` of the point, with value `x`.
    fn coordinate(x: f64, d: usize) -> Self;
    /// `factor · self`.
    fn scale(self, factor: f64) -> Self;
    /// `1 / self`.
    fn recip(self) -> Self;
    /// The value alone.
    fn value(self) -> f64;
}

impl Number for f64 {
    fn constant(x: f64) -> Self {
        x
    }

    fn coordinate(x: f64, _: usize) -> Self {
        x
    }

    fn scale(self, factor: f64) -> Self {
        factor * self
    }

    fn recip(self) -> Self {
        1.0 / self
    }

    fn value(self) -> f64 {
        self
    }
}

/// A value and its gradient in the reference coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    pub(crate) value: f64,
    pub(crate) gradient: [f64; 3],
}

impl Add for Jet {
    type Output = Self;

    fn add(self, o: Self) -> Self {
        let gradient = std::array::from_fn(|d| self.gradient[d] + o.gradient[d]);
        Self { value: self.value + o.value, gradient }
    }
}

impl Sub for Jet {
    type Output = Self;

    fn sub(self, o: Self) -> Self {
        let gradient = std::array::from_fn(|d| self.gradient[d] - o.gradient[d]);
        Self { value: self.value - o.value, gradient }
    }
}

impl Mul for Jet {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule is a sum")]
    fn mul(self, o: Self) -> Self {
        let gradient = std::array::from_fn(|d| self.gradient[d] * o.value + self.value * o.gradient[d]);
        Self { value: self.value * o.value, gradient }
    }
}

impl Number for Jet {
    fn constant(x: f64) -> Self {
        Self { value: x, gradient: [0.0; 3] }
    }

    fn coordinate(x: f64, d: usize) -> Self {
        let mut gradient = [0.0; 3];
        gradient[d] = 1.0;
        Self { value: x, gradient }
    }

    fn scale(self, factor: f64) -> Self {
        Self { value: factor * self.value, gradient: self.gradient.map(|g| factor * g) }
    }

    fn recip(self) -> Self {
        let r = 1.0 / self.value;
        Self { value: r, gradient: self.gradient.map(|g| -g * r * r) }
    }

    fn value(self) -> f64 {
        self.value
    }
}
