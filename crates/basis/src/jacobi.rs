//! Jacobi polynomials and their Gauss, Gauss–Lobatto and Gauss–Jacobi rules for any count.
//!
//! Zeros are computed by bisection and Newton's method. Weights are reciprocals of sums of squares of
//! orthonormal polynomials (Christoffel numbers), so that nothing cancels.

/// Coefficients `a_n`, `b_n` of `x p_n = a_{n+1} p_{n+1} + b_n p_n + a_n p_{n−1}`, where `p_n` is
/// the polynomial of degree `n` orthonormal on [−1, 1] under `(1−x)^α (1+x)^β`.
///
/// Source: Hesthaven & Warburton (2008), Appendix A.
#[must_use]
pub fn recurrence(n: usize, alpha: usize, beta: usize) -> (f64, f64) {
    let (k, a, b) = (n as f64, alpha as f64, beta as f64);
    let h = 2.0 * k + a + b;
    let off = if n == 0 {
        0.0
    } else if n == 1 {
        // The factor (n + α + β)/(2n + α + β − 1) is one.
        2.0 / h * ((a + 1.0) * (b + 1.0) / (h + 1.0)).sqrt()
    } else {
        2.0 / h * (k * (k + a + b) * (k + a) * (k + b) / ((h - 1.0) * (h + 1.0))).sqrt()
    };
    let diagonal = if alpha == beta {
        0.0
    } else if n == 0 {
        (b - a) / (a + b + 2.0)
    } else {
        (b * b - a * a) / (h * (h + 2.0))
    };
    (off, diagonal)
}

/// `∫ (1−x)^α (1+x)^β dx` over [−1, 1], `= 2^{α+β+1} α! β! / (α+β+1)!`.
#[must_use]
pub fn total_weight(alpha: usize, beta: usize) -> f64 {
    // β! α! / (α+β+1)! = 1 / ((α+β+1) · C(α+β, α)), with the binomial built up exactly.
    let binomial = (1..=alpha).fold(1.0, |c, i| c * (beta + i) as f64 / i as f64);
    2f64.powi((alpha + beta + 1) as i32) / ((alpha + beta + 1) as f64 * binomial)
}

/// Orthonormal Jacobi polynomial of degree `n` under `(1−x)^α (1+x)^β`, and its derivative, at `x`.
#[must_use]
pub fn orthonormal(n: usize, alpha: usize, beta: usize, x: f64) -> (f64, f64) {
    let (mut before, mut here) = ((0.0, 0.0), (1.0 / total_weight(alpha, beta).sqrt(), 0.0));
    for k in 0..n {
        let (a, b) = recurrence(k, alpha, beta);
        let (next, _) = recurrence(k + 1, alpha, beta);
        let value = ((x - b) * here.0 - a * before.0) / next;
        let slope = (here.0 + (x - b) * here.1 - a * before.1) / next;
        before = here;
        here = (value, slope);
    }
    here
}

/// Jacobi polynomial `P_n^{(α,β)}(x)` in the classical scaling, `P_n(1) = C(n+α, n)`.
#[must_use]
pub fn jacobi(n: usize, alpha: usize, beta: usize, x: f64) -> f64 {
    orthonormal(n, alpha, beta, x).0 * classical_scale(n, alpha, beta)
}

/// Derivative of [`jacobi`] with respect to `x`.
#[must_use]
pub fn jacobi_derivative(n: usize, alpha: usize, beta: usize, x: f64) -> f64 {
    orthonormal(n, alpha, beta, x).1 * classical_scale(n, alpha, beta)
}

/// `√h_n`, with `h_n = 2^{α+β+1}/(2n+α+β+1) · (n+α)!(n+β)!/(n!(n+α+β)!)`.
fn classical_scale(n: usize, alpha: usize, beta: usize) -> f64 {
    let (k, a, b) = (n as f64, alpha as f64, beta as f64);
    // (n+α)! (n+β)! / (n! (n+α+β)!) as a product of α ratios.
    let ratio = (1..=alpha).fold(1.0, |c, i| c * (k + i as f64) / (k + b + i as f64));
    (2f64.powi((alpha + beta + 1) as i32) / (2.0 * k + a + b + 1.0) * ratio).sqrt()
}

/// Legendre polynomial `P_n(x)`, `P_n(1) = 1`.
#[must_use]
pub fn legendre(n: usize, x: f64) -> f64 {
    let (mut before, mut here) = (0.0, 1.0);
    for k in 0..n {
        let m = k as f64;
        (before, here) = (here, ((2.0 * m + 1.0) * x * here - m * before) / (m + 1.0));
    }
    here
}

/// Zeros of the Jacobi polynomial of degree `n`, in increasing order.
///
/// They are the eigenvalues of the tridiagonal matrix of the recurrence. Each is bracketed by bisection on
/// the number of negative pivots (Sturm's count), which cannot miss one, and refined by Newton's method.
#[must_use]
pub fn jacobi_zeros(n: usize, alpha: usize, beta: usize) -> Vec<f64> {
    let coefficients: Vec<(f64, f64)> = (0..n).map(|k| recurrence(k, alpha, beta)).collect();
    let zeros_below = |x: f64| {
        let (mut count, mut pivot) = (0, 1.0);
        for &(a, b) in &coefficients {
            pivot = b - x - a * a / pivot;
            if pivot == 0.0 {
                pivot = f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count
    };
    let mut zeros: Vec<f64> = Vec::with_capacity(n);
    for i in 0..n {
        let (mut low, mut high) = (zeros.last().copied().unwrap_or(-1.0), 1.0);
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if zeros_below(middle) > i { high = middle } else { low = middle }
        }
        let mut x = 0.5 * (low + high);
        for _ in 0..3 {
            let (p, slope) = orthonormal(n, alpha, beta, x);
            x -= p / slope;
        }
        zeros.push(x);
    }
    if alpha == beta {
        // The zeros are symmetric; make them symmetric to the last bit.
        for i in 0..n / 2 {
            let x = 0.5 * (zeros[n - 1 - i] - zeros[i]);
            (zeros[i], zeros[n - 1 - i]) = (-x, x);
        }
        if n % 2 == 1 {
            zeros[n / 2] = 0.0;
        }
    }
    zeros
}

/// Gauss–Jacobi rule of `n` points: `∫ (1−x)^α (1+x)^β f dx ≈ Σ w_i f(x_i)`, exact to degree
/// `2n − 1`. Returns points in increasing order, and weights.
///
/// ```
/// let (x, w) = dgsuite_basis::jacobi::gauss_jacobi(3, 0, 0);
/// assert!((x[2] - 0.6f64.sqrt()).abs() < 1e-15 && (w[1] - 8.0 / 9.0).abs() < 1e-15);
/// ```
///
/// # Panics
/// If `n` is zero.
#[must_use]
pub fn gauss_jacobi(n: usize, alpha: usize, beta: usize) -> (Vec<f64>, Vec<f64>) {
    assert!(n > 0, "a rule needs at least one point");
    let points = jacobi_zeros(n, alpha, beta);
    let weight = |x: f64| {
        let (mut before, mut here) = (0.0, 1.0 / total_weight(alpha, beta).sqrt());
        let mut sum = 0.0;
        for k in 0..n {
            sum += here * here;
            let (a, b) = recurrence(k, alpha, beta);
            let (next, _) = recurrence(k + 1, alpha, beta);
            (before, here) = (here, ((x - b) * here - a * before) / next);
        }
        1.0 / sum
    };
    let weights = points.iter().map(|&x| weight(x)).collect();
    (points, weights)
}

/// Gauss–Legendre rule of `n` points on [−1, 1], exact to degree `2n − 1`.
///
/// # Panics
/// If `n` is zero.
#[must_use]
pub fn gauss_legendre(n: usize) -> (Vec<f64>, Vec<f64>) {
    gauss_jacobi(n, 0, 0)
}

/// Gauss–Lobatto rule of `n ≥ 2` points on [−1, 1], including both ends, exact to degree `2n − 3`:
/// `w_i = 2 / (n (n−1) P_{n−1}(x_i)²)`.
///
/// # Panics
/// If `n < 2`.
#[must_use]
pub fn gauss_lobatto(n: usize) -> (Vec<f64>, Vec<f64>) {
    assert!(n > 1, "a Lobatto rule needs at least two points, the ends");
    let mut points = vec![-1.0];
    points.extend(jacobi_zeros(n - 2, 1, 1));
    points.push(1.0);
    let scale = 2.0 / (n * (n - 1)) as f64;
    let weights = points.iter().map(|&x| scale / legendre(n - 1, x).powi(2)).collect();
    (points, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `∫ (1−x)^α (1+x)^k dx`, the moments about the left end, free of cancellation.
    fn moment(alpha: usize, beta: usize, k: usize) -> f64 {
        total_weight(alpha, beta + k)
    }

    #[test]
    fn rules_are_exact_to_their_degree_for_any_count() {
        for n in (1..=24).chain([40, 64, 101]) {
            for (alpha, beta) in [(0, 0), (1, 0), (2, 0), (1, 1), (0, 3)] {
                let (x, w) = gauss_jacobi(n, alpha, beta);
                for k in 0..2 * n {
                    let sum: f64 = x.iter().zip(&w).map(|(x, w)| w * (0.5 * (1.0 + x)).powi(k as i32)).sum();
                    let exact = moment(alpha, beta, k) / 2f64.powi(k as i32);
                    assert!(
                        (sum - exact).abs() < 4e-15 * total_weight(alpha, beta),
                        "{n} ({alpha},{beta}) {k}"
                    );
                }
            }
        }
        for n in (2..=24).chain([40, 64]) {
            let (x, w) = gauss_lobatto(n);
            assert_eq!((x[0], x[n - 1]), (-1.0, 1.0));
            for k in 0..2 * n - 2 {
                let sum: f64 = x.iter().zip(&w).map(|(x, w)| w * (0.5 * (1.0 + x)).powi(k as i32)).sum();
                assert!((sum - moment(0, 0, k) / 2f64.powi(k as i32)).abs() < 4e-15, "{n} {k}");
            }
        }
    }

    #[test]
    fn points_increase_inside_and_weights_are_positive() {
        for n in 1..=64 {
            for (alpha, beta) in [(0, 0), (1, 0), (2, 0), (5, 1)] {
                let (x, w) = gauss_jacobi(n, alpha, beta);
                assert!(x.windows(2).all(|p| p[0] < p[1]) && x[0] > -1.0 && x[n - 1] < 1.0);
                assert!(w.iter().all(|&w| w > 0.0));
            }
        }
    }

    #[test]
    fn five_points_are_the_tabulated_ones() {
        // Closed forms: Abramowitz & Stegun (1964), table 25.4 (Gauss) and 25.6 (Lobatto).
        let (x, w) = gauss_legendre(5);
        assert!((x[4] - (5.0 + 2.0 * (10.0f64 / 7.0).sqrt()).sqrt() / 3.0).abs() < 2e-16);
        assert!((w[4] - (322.0 - 13.0 * 70.0f64.sqrt()) / 900.0).abs() < 2e-16);
        let (x, w) = gauss_lobatto(5);
        assert!((x[3] - (3.0f64 / 7.0).sqrt()).abs() < 2e-16);
        assert!((w[3] - 49.0 / 90.0).abs() < 2e-16 && (w[2] - 32.0 / 45.0).abs() < 2e-16);
    }

    #[test]
    fn classical_polynomials_have_their_closed_forms() {
        for x in [-1.0, -0.3, 0.2, 1.0] {
            // P_2^{(1,0)} = (10 x² + 4 x − 2)/4 ... from Rodrigues' formula.
            assert!((jacobi(2, 1, 0, x) - (10.0 * x * x + 4.0 * x - 2.0) / 4.0).abs() < 1e-14);
            assert!((jacobi_derivative(2, 1, 0, x) - (20.0 * x + 4.0) / 4.0).abs() < 1e-14);
            assert!((jacobi(3, 0, 0, x) - legendre(3, x)).abs() < 1e-14);
            assert!((legendre(3, x) - 0.5 * (5.0 * x * x - 3.0) * x).abs() < 1e-14);
        }
        assert!((jacobi(4, 2, 1, 1.0) - 15.0).abs() < 1e-13);
    }
}
