//! The number type of all point formulas.
//!
//! A formula that is generic over [`Real`] is written once and used in four ways: `f64` or `f32` evaluate it,
//! [`Lanes`] evaluate it for a pack of numbers in SIMD registers, [`Dual`] differentiates it, and
//! [`Sym`](crate::trace::Sym) records it, to be printed as CUDA C++.
//!
//! # Rules for formulas
//! 1. No `if` on values: use [`Real::select`], [`Real::min`], [`Real::max`]. Both arms must be finite for
//!    admissible states. Select inputs, not outputs: it is cheaper to choose a side and compute one flux than
//!    to compute two fluxes and choose.
//! 2. Loops over dimensions and variables only, so that they are unrolled.
//! 3. Sums start with the first term, and nothing is multiplied by unit vectors.
//! 4. Parameters of a law use [`Real::param`], so that device code takes them as arguments.
//! 5. Iterations have a fixed number of steps.
//! 6. Functions that run at every point are `#[inline(always)]` and use loops rather than closures, so that
//!    they are compiled as part of the kernel that calls them, for its registers.

/// Builds the array `[f(0), …, f(n − 1)]` without a closure: `array!(n, |i| expression)`.
///
/// `std::array::from_fn` and closures are compiled as separate functions, which may not be inlined into
/// kernels for wider registers; a loop always is.
macro_rules! array {
    ($n:expr, |$i:ident| $e:expr) => {{
        let mut a = [{
            let $i = 0usize;
            $e
        }; $n];
        for $i in 1..$n {
            a[$i] = $e;
        }
        a
    }};
}
pub(crate) use array;

mod dual;
mod float;
mod lanes;
mod special;

pub use dual::Dual;
pub use lanes::Lanes;

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number, or a type with the same operations: a pack of lanes, a dual number, a recorded symbol.
///
/// Only the required methods must be implemented. An implementation may override provided methods with faster
/// ones of the same meaning.
///
/// ```
/// use dgsuite_physics::{Dual, Real};
///
/// fn kinetic_energy<R: Real>(rho: R, v: [R; 2]) -> R {
///     R::lit(0.5) * rho * v[0].mul_add(v[0], v[1] * v[1])
/// }
/// assert_eq!(kinetic_energy(2.0, [3.0, 4.0]), 25.0);
/// // The same formula, differentiated by v[0]: ρ v[0] = 6.
/// let v = [Dual::variable(3.0), Dual::constant(4.0)];
/// assert_eq!(kinetic_energy(Dual::constant(2.0), v).derivative, 6.0);
/// ```
pub trait Real:
    Copy
    + Send
    + Sync
    + Debug
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The result of a comparison: `bool` for numbers, one per lane for packs, a symbol for recordings.
    type Mask: Copy;

    /// A literal.
    fn lit(x: f64) -> Self;

    /// A parameter of a law: its value on the CPU, a named kernel argument in recorded formulas.
    #[inline(always)]
    fn param(name: &'static str, value: f64) -> Self {
        let _ = name;
        Self::lit(value)
    }

    /// Names an intermediate result in recorded formulas; does not change the value.
    #[inline(always)]
    fn named(self, name: &'static str) -> Self {
        let _ = name;
        self
    }

    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Natural exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine; the argument is in radians.
    fn sin(self) -> Self;
    /// Cosine; the argument is in radians.
    fn cos(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Largest integer that is not greater than the number.
    fn floor(self) -> Self;
    /// `self` to a real power.
    fn powf(self, exponent: Self) -> Self;
    /// Angle of the point `(x, self)`, in `(−π, π]`.
    fn atan2(self, x: Self) -> Self;

    /// Tangent; the argument is in radians.
    #[inline(always)]
    fn tan(self) -> Self {
        self.sin() / self.cos()
    }

    /// Error function, `2/√π ∫₀ˣ exp(−s²) ds`.
    #[inline]
    fn erf(self) -> Self {
        special::erf(self)
    }

    /// Square root of a sum of squares. [`Dual`] numbers take zero for the derivative where all of them are
    /// zero, at the tip of a cone.
    #[inline(always)]
    fn sqrt_of_squares(self) -> Self {
        self.sqrt()
    }

    /// Reciprocal, `1/self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::lit(1.0) / self
    }

    /// `self` to an integer power, by repeated squaring: all implementations round in the same way.
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        special::powi(self, n)
    }

    /// `self * a + b`: two roundings for plain numbers, one instruction if the type has it.
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }

    /// The smaller number; `other` if either is NaN (`self < other ? self : other`).
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }

    /// The larger number; `other` if either is NaN (`self > other ? self : other`).
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }

    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// Both conditions.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Either condition.
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The opposite condition.
    fn not(a: Self::Mask) -> Self::Mask;
    /// `a` if the condition holds, otherwise `b`.
    fn select(condition: Self::Mask, a: Self, b: Self) -> Self;
}

/// Scalar product `Σ_i a_i b_i`, starting with the first term.
///
/// # Panics
/// At compile time for `D = 0`.
#[inline(always)]
pub fn dot<R: Real, const D: usize>(a: &[R; D], b: &[R; D]) -> R {
    const { assert!(D > 0) };
    let mut sum = a[0] * b[0];
    for i in 1..D {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}
