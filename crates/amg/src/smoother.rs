//! Polynomial smoothers, each as the coefficients of its steps.

use std::f64::consts::PI;

use crate::Smoother;

/// The β of the steps `x ← x + β M⁻¹ (b − A x)`, whose error polynomial is `Π (1 − β λ)`: the inverses of its
/// roots. A step needs only the last iterate, where the usual three-term recurrences read two.
///
/// `largest` is the largest eigenvalue of `M⁻¹ A`, or slightly more; M is the diagonal or another
/// preconditioner of the level. All of these are polynomials in `M⁻¹ A`, so that the same steps before and
/// after a correction make a symmetric cycle.
pub(crate) fn steps(smoother: Smoother, largest: f64) -> Vec<f64> {
    // Steps from the roots k = 1 … degree, relative to `largest`.
    let of_roots = |degree: usize, root: &dyn Fn(f64) -> f64| {
        in_stable_order(degree).into_iter().map(|k| 1.0 / (largest * root(k as f64))).collect()
    };
    match smoother {
        Smoother::Jacobi { sweeps } => vec![4.0 / (3.0 * largest); sweeps],
        Smoother::L1Jacobi { sweeps } => vec![1.0; sweeps],
        Smoother::Chebyshev { degree, ratio } => {
            // The roots of Chebyshev's polynomial on [1/ratio, 1] (Saad 2003, section 12.3).
            let (centre, half) = (0.5 * (1.0 + 1.0 / ratio), 0.5 * (1.0 - 1.0 / ratio));
            of_roots(degree, &|k| centre - half * (PI * (k - 0.5) / degree as f64).cos())
        }
        Smoother::ChebyshevFourth { degree } => {
            // The roots of W_m(1 − 2 x), with W_m(cos t) = sin((m + ½) t) / sin(t / 2) (Lottes 2023).
            of_roots(degree, &|k| 0.5 - 0.5 * (PI * k / (degree as f64 + 0.5)).cos())
        }
    }
}

/// The numbers 1 … n in an order in which the rounding errors of one step do not grow in the next: small and
/// large roots alternate, recursively (Lebedev and Finogenov 1971, for powers of two; for other n the numbers
/// beyond n are left out).
fn in_stable_order(n: usize) -> Vec<usize> {
    let mut order = vec![1];
    while order.len() < n {
        let sum = 2 * order.len() + 1;
        order = order.into_iter().flat_map(|k| [k, sum - k]).collect();
    }
    order.retain(|k| *k <= n);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor that multiplies an error component of eigenvalue λ of `D⁻¹ A`.
    fn damping(smoother: Smoother, largest: f64, eigenvalue: f64) -> f64 {
        steps(smoother, largest).iter().map(|beta| 1.0 - beta * eigenvalue).product()
    }

    /// Neither intermediate iterates nor rounding errors exceed twice the smoother's result for a residual,
    /// `Σ β`.
    #[test]
    fn no_order_of_steps_makes_rounding_grow() {
        assert_eq!(in_stable_order(8), [1, 8, 4, 5, 2, 7, 3, 6]);
        for degree in (1..=20).chain([33, 64]) {
            for smoother in
                [Smoother::ChebyshevFourth { degree }, Smoother::Chebyshev { degree, ratio: 30.0 }]
            {
                let steps = steps(smoother, 1.0);
                assert_eq!(steps.len(), degree);
                let most = 2.0 * steps.iter().sum::<f64>();
                for x in (0..=400).map(|k| f64::from(k) / 400.0) {
                    let factors = steps.iter().map(|beta| 1.0 - beta * x);
                    let grows = |size: &mut f64, factor: f64| {
                        *size *= factor;
                        Some(size.abs())
                    };
                    let iterates = factors.clone().scan(1.0, grows).fold(0.0, f64::max);
                    let rounding = factors.rev().scan(1.0, grows).fold(0.0, f64::max);
                    assert!(iterates.max(rounding) <= most, "{smoother:?} {x}: {iterates} {rounding} {most}");
                }
            }
        }
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
