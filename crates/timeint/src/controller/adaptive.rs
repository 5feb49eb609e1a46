//! Control of the step size by an estimate of the error.

use crate::{STRETCH, Scheme};

/// Fraction of the step that the error alone would allow.
const SAFETY: f64 = 0.9;
/// Smallest and largest ratio of a step to the one before.
const FACTORS: [f64; 2] = [0.2, 2.0];
/// Smaller errors are replaced by this value.
const LEAST: f64 = 1e-10;

/// The memory of the step size control between steps; a checkpoint must store it so that the steps continue
/// as if uninterrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The wanted size of the next step.
    pub dt: f64,
    /// Errors of the last accepted steps, newest first, relative to the tolerance.
    pub errors: [f64; 2],
    /// Attempts rejected since then.
    pub rejected: u32,
}

/// Control of the step size by the error of an [embedded solution](Scheme::embedded) of order q, with k = q +
/// 1:
///
/// ```text
/// dt ← dt · clamp(0.9 ε₁^(−β₁/k) ε₂^(−β₂/k) ε₃^(−β₃/k), 0.2, 2),   β = (0.64, −0.31, 0.04)
/// ```
///
/// with `ε₁` the error of the step relative to the tolerance and `ε₂`, `ε₃` the errors of the steps before. A
/// step with `ε₁ > 1`, or NaN, is rejected and repeated with `dt · clamp(0.9 ε₁^(−1/k), 0.2, 0.9)`; the step
/// after that does not grow. A successful step that was shortened from outside does not change the wanted
/// size.
///
/// Exponents are rounded to 64ths, so that powers are computed with square roots and products, which have the
/// same bits on every machine.
///
/// # Source
/// Söderlind (2003), digital filters in adaptive time-stepping; β of Ranocha, Dalcin, Parsani and Ketcheson
/// (2022), table 3, for this pair.
///
/// ```
/// use dgsuite_timeint::{Adaptive, Scheme};
/// let mut control = Adaptive::new(Scheme::Rdpk35, 0.1).unwrap();
/// assert!(!control.judge(0.1, 8.0));               // rejected: 8^(1/3) times too large
/// assert!((control.wanted() - 0.045).abs() < 1e-3);
/// assert!(control.judge(control.wanted(), 0.5));
/// assert!(Adaptive::new(Scheme::Lserk54, 0.1).is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Adaptive {
    memory: Memory,
    exponents: Exponents,
}

/// Exponents in 64ths: of the errors of the last three steps, and of the error of a rejected one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exponents {
    last: [u32; 3],
    rejected: u32,
}

impl Exponents {
    /// `64 β/k` and `64/k` for an embedded solution of order `k − 1`.
    fn of(embedded_order: usize) -> Self {
        match embedded_order {
            3 => Self { last: [10, 5, 1], rejected: 16 },
            _ => Self { last: [14, 7, 1], rejected: 21 },
        }
    }
}

impl Adaptive {
    /// A control whose first step is `first`; `None` for schemes without an embedded solution.
    #[must_use]
    pub fn new(scheme: Scheme, first: f64) -> Option<Self> {
        Some(Self::of_order(scheme.embedded_order()?, first))
    }

    /// A control whose first step is `first`, by errors of an embedded solution of this order, 2 or 3.
    #[must_use]
    pub fn of_order(embedded_order: usize, first: f64) -> Self {
        let memory = Memory { dt: first, errors: [1.0; 2], rejected: 0 };
        Self { memory, exponents: Exponents::of(embedded_order) }
    }

    /// The wanted size of the next step.
    #[must_use]
    pub fn wanted(&self) -> f64 {
        self.memory.dt
    }

    /// The memory, for a checkpoint.
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Continues with the memory of a checkpoint.
    pub fn resume(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// Returns whether a step of size `dt` with this error, relative to the tolerance, is accepted; computes
    /// the next size.
    pub fn judge(&mut self, dt: f64, error: f64) -> bool {
        let Memory { dt: wanted, errors: [second, third], rejected } = self.memory;
        let [least, most] = FACTORS;
        if error.is_nan() || error > 1.0 {
            let factor =
                if error.is_finite() { SAFETY / power(error, self.exponents.rejected) } else { least };
            self.memory.dt = dt * factor.clamp(least, SAFETY);
            self.memory.rejected = rejected + 1;
            return false;
        }
        self.memory.rejected = 0;
        if dt < wanted * (1.0 - STRETCH) {
            return true;
        }
        let error = error.max(LEAST);
        let [a, b, c] = self.exponents.last;
        let factor = SAFETY * power(second, b) / (power(error, a) * power(third, c));
        let most = if rejected > 0 { 1.0 } else { most };
        self.memory.dt = dt * factor.clamp(least, most);
        self.memory.errors = [error, second];
        true
    }
}

/// `x^(n/64)`, for `n < 64`.
fn power(x: f64, n: u32) -> f64 {
    let (mut root, mut product) = (x, 1.0);
    for bit in [32, 16, 8, 4, 2, 1] {
        root = root.sqrt();
        if n & bit != 0 {
            product *= root;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(dt: f64) -> Adaptive {
        Adaptive::new(Scheme::Rdpk35, dt).unwrap()
    }

    #[test]
    fn powers_are_powers() {
        for n in 0..64 {
            for x in [1e-10, 0.3, 1.0, 7.0, 1e9f64] {
                let exact = x.powf(f64::from(n) / 64.0);
                assert!((power(x, n) / exact - 1.0).abs() < 1e-14, "{x}^({n}/64)");
            }
        }
    }

    /// Errors `ε = (dt/h)³`: the step settles below h, and no step is rejected on the way from below.
    #[test]
    fn the_step_settles_where_the_error_is_below_one() {
        let mut control = control(1e-6);
        for _ in 0..200 {
            let dt = control.wanted();
            assert!(control.judge(dt, dt.powi(3)), "{dt}");
        }
        let settled = control.wanted();
        assert!((0.7..0.95).contains(&settled), "{settled}");
        // The control follows an abrupt change of the problem within a few steps.
        let mut rejected = 0;
        for _ in 0..40 {
            let dt = control.wanted();
            rejected += u32::from(!control.judge(dt, (10.0 * dt).powi(3)));
        }
        assert!((1..=4).contains(&rejected), "{rejected}");
        assert!((0.07..0.095).contains(&control.wanted()));
    }

    #[test]
    fn what_is_no_number_is_rejected_and_the_step_after_does_not_grow() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut control = control(1.0);
            assert!(!control.judge(1.0, bad));
            assert_eq!((control.wanted(), control.memory().rejected), (0.2, 1));
            assert!(control.judge(0.2, 1e-12));
            assert_eq!((control.wanted(), control.memory().rejected), (0.2, 0));
            assert!(control.judge(0.2, 1e-12));
            assert_eq!(control.wanted(), 0.4);
        }
    }

    /// Errors of a solution of order three are proportional to the fourth power of the step.
    #[test]
    fn steps_follow_the_order_of_the_embedded_solution() {
        for (order, rejected, grown) in [(2, 16f64.cbrt(), 16f64.powf(0.213)), (3, 2.0, 16f64.powf(0.16))] {
            let mut control = Adaptive::of_order(order, 1.0);
            assert!(!control.judge(1.0, 16.0));
            assert!((control.wanted() * rejected - 0.9).abs() < 0.02, "{order}: {}", control.wanted());
            let mut control = Adaptive::of_order(order, 1.0);
            assert!(control.judge(1.0, 1.0 / 16.0));
            assert!((control.wanted() / grown - 0.9).abs() < 0.02, "{order}: {}", control.wanted());
        }
    }

    #[test]
    fn a_step_shortened_from_outside_leaves_the_wanted_size() {
        let mut control = control(1.0);
        assert!(control.judge(0.4, 1e-3));
        assert_eq!(control, Adaptive::new(Scheme::Rdpk35, 1.0).unwrap());
        // A rejection, however, has an effect.
        assert!(!control.judge(0.4, 2.0));
        assert!(control.wanted() < 0.4);
    }
}
