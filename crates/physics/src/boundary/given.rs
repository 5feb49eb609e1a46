//! A number of a boundary condition: constant, or prescribed at each point.

use crate::real::Real;

/// A number of a boundary condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// The same number at all points and times.
    Constant(f64),
    /// At each point an entry of the prescribed data; the condition documents which one.
    Prescribed,
}

impl Given {
    /// Makes the components of a constant vector.
    #[must_use]
    pub const fn vector([x, y, z]: [f64; 3]) -> [Self; 3] {
        [Self::Constant(x), Self::Constant(y), Self::Constant(z)]
    }

    /// Returns the number: a parameter called `name`, or `data`.
    #[inline(always)]
    pub fn value<R: Real>(self, name: &'static str, data: R) -> R {
        match self {
            Self::Constant(x) => R::param(name, x),
            Self::Prescribed => data,
        }
    }
}

impl From<f64> for Given {
    fn from(x: f64) -> Self {
        Self::Constant(x)
    }
}
