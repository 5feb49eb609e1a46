//! Functions that the standard library lacks, as formulas over [`Real`].

use super::Real;

/// `x` to an integer power: binary powers from the least significant digit on, the reciprocal last.
#[inline(always)]
pub(super) fn powi<R: Real>(x: R, n: i32) -> R {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut product: Option<R> = None;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(match product {
                Some(p) => p * square,
                None => square,
            });
        }
        rest >>= 1;
        if rest > 0 {
            square = square * square;
        }
    }
    match product {
        None => R::lit(1.0),
        Some(p) if n < 0 => p.recip(),
        Some(p) => p,
    }
}

/// Error function to about 4 units in the last place of 1.
///
/// Below 2.5 the series with positive terms, `2/√π x e^{−x²} Σ_k (2x²)^k / (1·3·…·(2k+1))`; above it one
/// minus the continued fraction of the complement, `e^{−x²}/√π · 1/(x + ½/(x + 1/(x + 3⁄2/(x + …))))`
/// (Abramowitz & Stegun 1964, 7.1.6 and 7.1.14). Term counts are fixed so that the formula can be recorded.
pub(super) fn erf<R: Real>(x: R) -> R {
    const SPLIT: f64 = 2.5;
    const TERMS: i32 = 48;
    const LEVELS: i32 = 40;
    let one = R::lit(1.0);
    let size = x.abs();

    let s = size.min(R::lit(SPLIT));
    let twice = R::lit(2.0) * s * s;
    let mut term = one;
    let mut sum = one;
    for k in 1..TERMS {
        term = term * twice * R::lit(1.0 / f64::from(2 * k + 1));
        sum = sum + term;
    }
    let inner = R::lit(std::f64::consts::FRAC_2_SQRT_PI) * s * (-(s * s)).exp() * sum;

    // Beyond 6 the complement is below half a unit in the last place.
    let l = size.max(R::lit(SPLIT)).min(R::lit(6.0));
    let mut tail = l;
    for k in (1..LEVELS).rev() {
        tail = l + R::lit(0.5 * f64::from(k)) / tail;
    }
    let outer = one - R::lit(0.5 * std::f64::consts::FRAC_2_SQRT_PI) * (-(l * l)).exp() / tail;

    let magnitude = R::select(size.lt(R::lit(SPLIT)), inner, outer);
    R::select(x.lt(R::lit(0.0)), -magnitude, magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2/√π ∫₀ˣ e^{−s²} ds` by Simpson's rule, an independent route to the same number.
    fn by_quadrature(x: f64) -> f64 {
        let n = 4000;
        let h = x / f64::from(n);
        let f = |i: i32| (-(f64::from(i) * h).powi(2)).exp();
        let inner: f64 = (1..n).map(|i| if i % 2 == 1 { 4.0 * f(i) } else { 2.0 * f(i) }).sum();
        std::f64::consts::FRAC_2_SQRT_PI * h / 3.0 * (f(0) + inner + f(n))
    }

    #[test]
    fn the_error_function_is_the_integral_of_the_gaussian() {
        for i in -70..=70 {
            let x = 0.1 * f64::from(i);
            let (got, expected) = (erf(x), by_quadrature(x));
            assert!((got - expected).abs() < 3e-14, "erf({x}) = {got}, integral {expected}");
        }
    }

    #[test]
    fn the_error_function_is_odd_bounded_and_continuous_at_the_split() {
        assert_eq!(erf(0.0), 0.0);
        assert_eq!(erf(40.0), 1.0);
        assert_eq!(erf(-1.3), -erf(1.3));
        assert!((erf(2.5 - 1e-15) - erf(2.5 + 1e-15)).abs() < 2e-15);
    }
}
