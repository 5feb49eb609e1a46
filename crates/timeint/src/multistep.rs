//! Backward differences and extrapolation over steps of different sizes.

use crate::TimeError;

/// The highest order of [`weights`].
const MAX_ORDER: usize = 3;

/// The first step of a graded start, as a fraction of the wanted one.
const FIRST_STEP: f64 = 0.01;

/// The largest ratio of a step to the one before it, and of a step to the one after it.
const GROWTH: f64 = 2.0;

/// The weights of a backward difference formula and of an extrapolation of the same order.
///
/// For a step of size Δt from `tⁿ` to `tⁿ⁺¹`, with values `u` and explicit terms `f` of past times,
///
/// ```text
/// ∂u/∂t(tⁿ⁺¹) ≈ (γ₀ uⁿ⁺¹ − Σ_i α_i uⁿ⁻ⁱ)/Δt,   f(tⁿ⁺¹) ≈ Σ_i β_i fⁿ⁻ⁱ,   i = 0, 1, 2
/// ```
///
/// so that an implicit problem has the factor `s = γ₀/Δt` and the right-hand side `R = Σ_i α_i uⁿ⁻ⁱ/Δt`.
/// Entries beyond the order are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Weight γ₀ of the new value.
    pub gamma: f64,
    /// Weights `α_i` of the past values, the latest first.
    pub alpha: [f64; 3],
    /// Weights `β_i` of the past explicit terms, the latest first.
    pub beta: [f64; 3],
}

/// Computes the weights of the given order, where `sizes[0]` is the size of the step to be taken, `sizes[1]`
/// that of the last one, and so on.
///
/// With the distances `d_i = (tⁿ⁺¹ − tⁿ⁻ⁱ)/Δt`, the interpolant through `uⁿ⁺¹` and the past values has at
/// `tⁿ⁺¹` the derivative with
///
/// ```text
/// γ₀ = Σ_i 1/d_i,   β_i = Π_{k≠i} d_k/(d_k − d_i),   α_i = β_i/d_i,   i, k = 0, …, order − 1
/// ```
///
/// and `β_i` are the values at `tⁿ⁺¹` of the Lagrange polynomials of the past times. Both are exact for
/// polynomials in time: the derivative up to the degree `order`, the extrapolation up to `order − 1`.
///
/// With equal steps, the formulas of order 1 and 2 are A-stable and that of order 3 is A(86°)-stable. With
/// steps that grow by a constant ratio, order 2 is stable up to the ratio `1 + √2` and order 3 up to about
/// 1.53; a few steps with a larger ratio are harmless.
///
/// # Panics
/// If the order is not 1, 2 or 3, or if there are fewer sizes than the order.
///
/// # Source
/// Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., 1993, §III.5; the ratios
/// are from Grigorieff, Numer. Math. 42 (1983) 359–377, and Calvo, Grande & Grigorieff, Numer. Math. 57
/// (1990) 39–50.
///
/// ```
/// use dgsuite_timeint::weights;
/// let second = weights(2, &[0.1, 0.1]);
/// assert_eq!((second.gamma, second.alpha, second.beta), (1.5, [2.0, -0.5, 0.0], [2.0, -1.0, 0.0]));
/// ```
pub fn weights(order: usize, sizes: &[f64]) -> Weights {
    assert!((1..=MAX_ORDER).contains(&order), "the order is 1, 2 or 3, not {order}");
    assert!(sizes.len() >= order, "{} sizes are too few for order {order}", sizes.len());
    let mut distances = [0.0; MAX_ORDER];
    let mut elapsed = 0.0;
    for i in 0..order {
        elapsed += sizes[i];
        distances[i] = elapsed / sizes[0];
    }
    let distances = &distances[..order];
    let beta = lagrange(distances);
    let mut alpha = beta;
    for i in 0..order {
        alpha[i] /= distances[i];
    }
    Weights { gamma: distances.iter().map(|d| 1.0 / d).sum(), alpha, beta }
}

/// Returns the values at 0 of the Lagrange polynomials of the points `−d_i`, then zeros.
fn lagrange(distances: &[f64]) -> [f64; MAX_ORDER] {
    let mut values = [0.0; MAX_ORDER];
    for (i, d) in distances.iter().enumerate() {
        let others = distances.iter().enumerate().filter(|(k, _)| *k != i);
        values[i] = others.map(|(_, other)| other / (other - d)).product();
    }
    values
}

/// The past steps of a multistep formula, and the sizes and weights of the next ones.
///
/// The first step has order 1, since one past state is known; the order rises by one with each step. Without
/// measures, the error of the first steps limits a formula of order 3 to order 2. With a *graded start*, the
/// first step has a hundredth of the wanted size. Each later step has at most twice and at least half the
/// size of the step before.
///
/// ```
/// use dgsuite_timeint::Multistep;
/// // du/dt = −u with the formula of order 3.
/// let (mut past, mut t) = ([1.0, 0.0, 0.0], 0.0);
/// let mut steps = Multistep::new(3, true);
/// while t < 1.0 {
///     let dt = steps.next_size(0.01);
///     let w = steps.weights(dt);
///     let sum: f64 = w.alpha.iter().zip(past).map(|(a, u)| a * u).sum();
///     past = [sum / (w.gamma + dt), past[0], past[1]];
///     steps.accept(dt);
///     t += dt;
/// }
/// assert!((past[0] - (-t).exp()).abs() < 2e-7);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multistep {
    order: usize,
    graded: bool,
    /// Sizes of the past steps, the last one first.
    sizes: Vec<f64>,
}

impl Multistep {
    /// Starts a formula of this order from one state, with or without a graded start.
    ///
    /// # Panics
    /// If the order is not 1, 2 or 3.
    pub fn new(order: usize, graded: bool) -> Self {
        assert!((1..=MAX_ORDER).contains(&order), "the order is 1, 2 or 3, not {order}");
        Self { order, graded, sizes: Vec::with_capacity(MAX_ORDER) }
    }

    /// Returns the order of the formula after the first steps.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the order of the next step, which is the number of past states it uses.
    pub fn available_order(&self) -> usize {
        self.order.min(self.sizes.len() + 1)
    }

    /// Returns the size of the next step if a step of size `wanted` is stable and accurate: the nearest size
    /// from half of the last step to twice the last step. A larger one than wanted is as stable as the last
    /// step was.
    pub fn next_size(&self, wanted: f64) -> f64 {
        match self.sizes.first() {
            None if self.graded => FIRST_STEP * wanted,
            None => wanted,
            Some(last) if wanted > 0.0 => wanted.clamp(last / GROWTH, GROWTH * last),
            Some(_) => wanted,
        }
    }

    /// Computes the weights of the next step with the highest available order; `dt` is its size.
    pub fn weights(&self, dt: f64) -> Weights {
        self.weights_of_order(dt, self.order)
    }

    /// Computes the weights of the next step with this order, or with the nearest one from 1 to
    /// [`available_order`](Self::available_order).
    pub fn weights_of_order(&self, dt: f64, order: usize) -> Weights {
        let mut sizes = [dt; MAX_ORDER];
        for (size, past) in sizes[1..].iter_mut().zip(&self.sizes) {
            *size = *past;
        }
        weights(order.clamp(1, self.available_order()), &sizes)
    }

    /// Computes the weights of `uⁿ`, `uⁿ⁻¹` and `uⁿ⁻²` in the value at the time `tⁿ + offset` of the
    /// interpolant through the first `order` of them, or through the nearest number from 1 to
    /// [`available_order`](Self::available_order). With `offset = Δt` they are the `β_i` of that order.
    pub fn interpolation(&self, offset: f64, order: usize) -> [f64; 3] {
        self.at(offset, order.clamp(1, self.available_order()))
    }

    /// Computes the weights of `uⁿ`, `uⁿ⁻¹` and `uⁿ⁻²` in the value at the time `tⁿ − ago` between the last
    /// two of the polynomial through as many of them as the order of the formula, two at least, or through
    /// all that are known. Its error is of the order of the formula: `max |u″| Δt²/8` for order 2 and equal
    /// steps.
    ///
    /// # Source
    /// Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., 1993, §III.1: the
    /// polynomial of a multistep formula is its continuous extension.
    pub fn before(&self, ago: f64) -> [f64; 3] {
        self.at(-ago, self.order.max(2).min(self.sizes.len() + 1))
    }

    /// The weights of the last `n` values in that of their polynomial at the time `tⁿ + offset`.
    fn at(&self, offset: f64, n: usize) -> [f64; 3] {
        let mut distances = [offset; MAX_ORDER];
        for (i, size) in self.sizes.iter().enumerate().take(n - 1) {
            distances[i + 1] = distances[i] + size;
        }
        lagrange(&distances[..n])
    }

    /// Records that a step of this size has been taken.
    pub fn accept(&mut self, dt: f64) {
        self.sizes.truncate(MAX_ORDER - 2);
        self.sizes.insert(0, dt);
    }

    /// Returns the sizes of the past steps that later weights depend on, the last step first: at most two.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Sets the sizes of the past steps, the last one first, as [`sizes`](Self::sizes) returned them: later
    /// sizes and weights have the same bits as without the interruption. Without sizes, the start is
    /// repeated.
    ///
    /// # Errors
    /// [`TimeError::NotPositive`] if a size is not positive and finite; nothing is changed.
    pub fn restore(&mut self, sizes: &[f64]) -> Result<(), TimeError> {
        let past = &sizes[..sizes.len().min(MAX_ORDER - 1)];
        if let Some(&value) = past.iter().find(|size| !(**size > 0.0 && size.is_finite())) {
            return Err(TimeError::NotPositive { what: "the size of a past step", value });
        }
        self.sizes.clear();
        self.sizes.extend_from_slice(past);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_steps_have_the_classical_weights() {
        for dt in [1.0, 0.1, 3e-5] {
            let of = |order| weights(order, &[dt; 3]);
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} instead of {b} with dt = {dt}");
            let check = |order, gamma, alpha: [f64; 3], beta: [f64; 3]| {
                let w = of(order);
                close(w.gamma, gamma);
                for i in 0..3 {
                    close(w.alpha[i], alpha[i]);
                    close(w.beta[i], beta[i]);
                }
            };
            check(1, 1.0, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
            check(2, 1.5, [2.0, -0.5, 0.0], [2.0, -1.0, 0.0]);
            check(3, 11.0 / 6.0, [3.0, -1.5, 1.0 / 3.0], [3.0, -3.0, 1.0]);
        }
    }

    proptest! {
        #[test]
        fn weights_are_exact_for_polynomials_of_their_order(
            order in 1usize..4,
            ratios in [0.25..4.0f64, 0.25..4.0],
            dt in 1e-4..1e2f64,
            coefficients in [-1.0..1.0f64, -1.0..1.0, -1.0..1.0, -1.0..1.0],
            offset in 0.0..1.0f64,
        ) {
            // A polynomial of the time in units of dt since tⁿ⁺¹, of degree `order` or `order − 1`.
            let up_to = |degree: usize, s: f64| -> f64 {
                (0..=degree).rev().fold(0.0, |value, k| value * s + coefficients[k])
            };
            let sizes = [dt, dt * ratios[0], dt * ratios[0] * ratios[1]];
            let times = [-1.0, -1.0 - ratios[0], -1.0 - ratios[0] - ratios[0] * ratios[1]];
            let w = weights(order, &sizes);
            let sum = |weights: [f64; 3], degree: usize| -> f64 {
                (0..3).map(|i| weights[i] * up_to(degree, times[i])).sum()
            };
            let size = |weights: [f64; 3], degree: usize| -> f64 {
                (0..3).map(|i| (weights[i] * up_to(degree, times[i])).abs()).fold(1.0, f64::max)
            };
            // The derivative at tⁿ⁺¹ is the linear coefficient.
            let slope = w.gamma * coefficients[0] - sum(w.alpha, order);
            prop_assert!((slope - coefficients[1]).abs() < 1e-13 * size(w.alpha, order), "{slope}: {w:?}");
            let value = sum(w.beta, order - 1);
            prop_assert!((value - coefficients[0]).abs() < 1e-13 * size(w.beta, order - 1), "{value}: {w:?}");
            prop_assert!(w.alpha[order..].iter().chain(&w.beta[order..]).all(|w| *w == 0.0));

            let mut steps = Multistep::new(order, false);
            steps.accept(sizes[2]);
            steps.accept(sizes[1]);
            prop_assert_eq!(steps.weights(dt), w);
            let at = steps.interpolation(offset * dt, order);
            let exact = up_to(order - 1, offset - 1.0);
            let value = sum(at, order - 1);
            prop_assert!((value - exact).abs() < 1e-13 * size(at, order - 1), "{value}: {at:?}");

            // Within the last step, by a straight line at least: values at 0 would be those of `times`.
            let before = steps.before(offset * sizes[1]);
            let degree = order.max(2) - 1;
            let (exact, value) = (up_to(degree, -1.0 - offset * ratios[0]), sum(before, degree));
            prop_assert!((value - exact).abs() < 1e-13 * size(before, degree), "{value}: {before:?}");
            prop_assert_eq!(steps.before(0.0), [1.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn the_order_rises_with_the_number_of_past_states() {
        let mut steps = Multistep::new(3, false);
        for (taken, order) in [1, 2, 3, 3].into_iter().enumerate() {
            assert_eq!(steps.available_order(), order, "after {taken} steps");
            assert_eq!(steps.weights(0.1).beta[order - 1..].iter().filter(|b| **b != 0.0).count(), 1);
            assert_eq!(steps.weights_of_order(0.1, 0), steps.weights_of_order(0.1, 1));
            assert_eq!(steps.interpolation(0.0, 3), [1.0, 0.0, 0.0]);
            steps.accept(0.1);
        }
        assert_eq!(steps.interpolation(-0.1, 2), [0.0, 1.0, 0.0]);
        assert_eq!(steps.sizes(), [0.1, 0.1]);
        let mut limited = Multistep::new(2, false);
        limited.accept(0.3);
        limited.accept(0.2);
        assert_eq!((limited.order(), limited.available_order()), (2, 2));
        assert_eq!(limited.weights(0.1), weights(2, &[0.1, 0.2]));
    }

    #[test]
    fn a_graded_start_grows_to_the_wanted_size() {
        let (mut graded, mut plain) = (Multistep::new(3, true), Multistep::new(3, false));
        let mut taken = Vec::new();
        for _ in 0..9 {
            assert_eq!(plain.next_size(0.8), 0.8);
            plain.accept(0.8);
            taken.push(graded.next_size(0.8));
            graded.accept(*taken.last().unwrap());
        }
        assert_eq!(taken[0], 0.008);
        assert!(taken.windows(2).all(|pair| pair[1] == (2.0 * pair[0]).min(0.8)), "{taken:?}");
        assert_eq!(taken[7..], [0.8, 0.8]);
        assert_eq!(graded.next_size(0.5), 0.5);
        assert_eq!(graded.next_size(0.1), 0.4, "no step is less than half of the last one");
        assert!(
            graded.next_size(f64::NAN).is_nan() && graded.next_size(0.0) == 0.0,
            "for the plan to refuse"
        );
        assert_eq!(plain.next_size(8.0), 1.6, "no step is more than twice the last one");
    }

    #[test]
    fn a_restored_formula_has_the_same_bits() {
        let mut steps = Multistep::new(3, true);
        for _ in 0..4 {
            steps.accept(steps.next_size(0.3));
        }
        let mut restored = Multistep::new(3, true);
        restored.restore(steps.sizes()).unwrap();
        assert_eq!(restored, steps);
        assert_eq!(restored.next_size(0.3).to_bits(), steps.next_size(0.3).to_bits());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = restored.restore(&[0.1, bad]).unwrap_err().to_string();
            assert!(message.contains("the size of a past step"), "{message}");
        }
        assert_eq!(restored, steps, "an error changes nothing");
        restored.restore(&[]).unwrap();
        assert_eq!(restored.available_order(), 1);
    }
}
