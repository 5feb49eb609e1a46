//! Polynomial smoothers, each as the coefficients of one recurrence.

use crate::Smoother;

/// Steps `x_{k+1} = x_k + α_k (x_k − x_{k−1}) + β_k M⁻¹ (b − A x_k)`: pairs (α, β), the first with α = 0.
///
/// `largest` is the largest eigenvalue of `M⁻¹ A`, or a little more; M is the diagonal, or what else a level has.
/// All these are polynomials in `M⁻¹ A`, so that the same steps before and after a correction make a symmetric
/// cycle.
pub(crate) fn steps(smoother: Smoother, largest: f64) -> Vec<(f64, f64)> {
    match smoother {
        Smoother::Jacobi { sweeps } => vec![(0.0, 4.0 / (3.0 * largest)); sweeps],
        Smoother::L1Jacobi { sweeps } => vec![(0.0, 1.0); sweeps],
        Smoother::Chebyshev { degree, ratio } => {
            // Saad 2003, algorithm 12.1, with centre θ and half width δ of the interval.
            let (theta, delta) = (0.5 * largest * (1.0 + 1.0 / ratio), 0.5 * largest * (1.0 - 1.0 / ratio));
            let mut rho = delta / theta;
            let mut steps = vec![(0.0, 1.0 / theta)];
            for _ in 1..degree {
                let next = 1.0 / (2.0 * theta / delta - rho);
                steps.push((next * rho, 2.0 * next / delta));
                rho = next;
            }
            steps
        }
        Smoother::ChebyshevFourth { degree } => {
            // Lottes 2023, algorithm 1; Phillips and Fischer 2022, algorithm 3.
            let step = |k: usize| {
                let k = k as f64;
                ((2.0 * k - 1.0) / (2.0 * k + 3.0), (8.0 * k + 4.0) / ((2.0 * k + 3.0) * largest))
            };
            let first = (0.0, 4.0 / (3.0 * largest));
            std::iter::once(first).chain((1..degree).map(step)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor by which an error component of eigenvalue λ of `D⁻¹ A` shrinks.
    fn damping(smoother: Smoother, largest: f64, eigenvalue: f64) -> f64 {
        let (mut before, mut error) = (0.0, 1.0);
        for (alpha, beta) in steps(smoother, largest) {
            (before, error) = (error, error + alpha * (error - before) - beta * eigenvalue * error);
        }
        error
    }

    #[test]
    fn chebyshev_damps_its_interval_as_the_theorem_says() {
        let (largest, ratio) = (2.2, 8.0);
        for degree in [1, 2, 3, 5] {
            // 1 / T_m((ratio + 1) / (ratio − 1)), attained at both ends.
            let bound = 1.0 / (degree as f64 * f64::acosh((ratio + 1.0) / (ratio - 1.0))).cosh();
            let smoother = Smoother::Chebyshev { degree, ratio };
            let at = |t: f64| damping(smoother, largest, largest * (1.0 / ratio + t * (1.0 - 1.0 / ratio)));
            assert!((at(0.0) - bound).abs() < 1e-14 && (at(1.0).abs() - bound).abs() < 1e-14);
            assert!((0..=50).all(|k| at(f64::from(k) / 50.0).abs() <= bound * (1.0 + 1e-13)));
            assert!((damping(smoother, largest, 0.0) - 1.0).abs() < 1e-15);
        }
    }

    /// The error polynomial of the fourth kind is `W_m(1 − 2 λ/λ_max) / (2 m + 1)` with `W_m` Chebyshev's
    /// polynomial of the fourth kind (Lottes 2023), `W_m(cos t) = sin((m + ½) t) / sin(t / 2)`.
    #[test]
    fn the_fourth_kind_is_of_the_fourth_kind() {
        for degree in [1, 2, 4, 7] {
            for k in 1..20 {
                let t = f64::from(k) * 0.15;
                let eigenvalue = 0.5 * 3.0 * (1.0 - t.cos());
                let m = degree as f64;
                let expected = ((m + 0.5) * t).sin() / (0.5 * t).sin() / (2.0 * m + 1.0);
                let found = damping(Smoother::ChebyshevFourth { degree }, 3.0, eigenvalue);
                assert!((found - expected).abs() < 1e-13, "{degree} {t}: {found} {expected}");
            }
        }
    }
}
