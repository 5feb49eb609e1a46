//! Polynomial smoothers, each as the coefficients of one recurrence.

use dgsuite_gpu::{GpuError, HostVector, Scalar, Vector};

use crate::Smoother;
use crate::sparse::Sparse;

/// Steps `x_{k+1} = x_k + α_k (x_k − x_{k−1}) + β_k D⁻¹ (b − A x_k)`: pairs (α, β), the first with α = 0.
///
/// `largest` is the largest eigenvalue of `D⁻¹ A`, or a little more. All these are polynomials in `D⁻¹ A`, so
/// that the same steps before and after a correction make a symmetric cycle.
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

/// Steps of Lanczos's method.
const LANCZOS_STEPS: usize = 8;
/// What its estimate, which comes from below, is raised by.
const SAFETY: f64 = 1.08;

/// The largest eigenvalue of `D⁻¹ A`, from above as far as is known: Lanczos's estimate with a margin, and no
/// more than the largest row sum `bound` of `D⁻¹ |A|` (Gershgorin).
///
/// Lanczos's method runs in the inner product of D, from a fixed vector; `x` and `y` are work space.
pub(crate) fn largest_eigenvalue<T: Scalar>(
    a: &Sparse<T>,
    diagonal: &HostVector<T>,
    inverse_diagonal: &HostVector<T>,
    bound: f64,
    x: &mut HostVector<T>,
    y: &mut HostVector<T>,
) -> Result<f64, GpuError> {
    x.for_each_piece(|first, piece| {
        for (i, x) in (first..).zip(piece) {
            // Signs that neighbours do not share: rich in the upper end of the spectrum.
            let bits = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let size = 1.0 + bits as f64 / (1u64 << 24) as f64;
            *x = T::from_f64(if bits & 1 == 0 { size } else { -size });
        }
    });
    let mut weighted = x.zeros_like()?;
    let zero = x.zeros_like()?;
    let mut size = norm(diagonal, x, &mut weighted);
    let (mut alphas, mut betas) = (Vec::new(), Vec::new());
    y.fill(0.0);
    for _ in 0..LANCZOS_STEPS {
        if !(size.is_finite() && size > 0.0) {
            break;
        }
        x.axpby(0.0, &zero, 1.0 / size);
        weighted.axpby(0.0, &zero, 1.0 / size);
        // y ← D⁻¹ A x − β y, in the form that the fused loop has.
        let beta = if betas.is_empty() { 0.0 } else { size };
        a.lanczos(inverse_diagonal, x, T::from_f64(beta), y);
        let alpha = weighted.dot(y);
        alphas.push(alpha);
        y.axpby(-alpha, x, 1.0);
        size = norm(diagonal, y, &mut weighted);
        betas.push(size);
        std::mem::swap(x, y);
    }
    betas.pop();
    let largest = SAFETY * largest_of_tridiagonal(&alphas, &betas);
    Ok(if largest > 0.0 && largest < bound { largest } else { bound })
}

/// `(xᵀ D x)^½`, with `D x` left in `weighted`.
fn norm<T: Scalar>(diagonal: &HostVector<T>, x: &HostVector<T>, weighted: &mut HostVector<T>) -> f64 {
    weighted.add_product(1.0, diagonal, x, 0.0);
    weighted.dot(x).sqrt()
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection with Sturm's sequence.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let reach = |i: usize| {
        let left = if i > 0 { beside[i - 1] } else { 0.0 };
        diagonal[i] + left + beside.get(i).copied().unwrap_or(0.0)
    };
    let above = (0..diagonal.len()).map(reach).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, above);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let mut pivot = 1.0;
        let some_above = diagonal.iter().enumerate().any(|(i, d)| {
            let coupling = if i > 0 { beside[i - 1] * beside[i - 1] / pivot } else { 0.0 };
            pivot = middle - d - coupling;
            pivot <= 0.0
        });
        if some_above { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host};

    use super::*;
    use crate::gallery;

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

    #[test]
    fn the_largest_eigenvalue_is_met_from_above() {
        let host = Host::new(2).unwrap();
        // The 27-point stencil is 27 − (1 + 2 cos)(1 + 2 cos)(1 + 2 cos) on products of sines.
        let factor = |k: u32| 1.0 + 2.0 * (f64::from(k) * std::f64::consts::PI / 11.0).cos();
        for (a, exact) in [
            (gallery::poisson_2d(40, 30, 1.0).unwrap(), 2.0),
            (gallery::poisson_2d(40, 30, 1e-3).unwrap(), 2.0),
            (gallery::poisson_27(10).unwrap(), (27.0 - factor(1) * factor(1) * factor(10)) / 26.0),
        ] {
            let a_single = Sparse::<f32>::scaled(&host, a.view(), 1.0);
            let diagonal: Vec<f32> = a.diagonal().iter().map(|&d| d as f32).collect();
            let inverse: Vec<f32> = diagonal.iter().map(|d| 1.0 / d).collect();
            let (diagonal, inverse) = (host.upload(&diagonal).unwrap(), host.upload(&inverse).unwrap());
            let (mut x, mut y) = (diagonal.zeros_like().unwrap(), diagonal.zeros_like().unwrap());
            let found = largest_eigenvalue(&a_single, &diagonal, &inverse, 2.0, &mut x, &mut y).unwrap();
            assert!(found > 0.97 * exact && found < 1.12 * exact, "{found} {exact}");
        }
    }

    #[test]
    fn bisection_finds_the_largest_eigenvalue() {
        let n = 12;
        let found = largest_of_tridiagonal(&vec![2.0; n], &vec![1.0; n - 1]);
        assert!((found - gallery::poisson_1d_eigenvalue(n, n)).abs() < 1e-14);
    }
}
