//! The closure of singular values.

use super::{VelocityGradient, minors, square_sum};
use crate::real::Real;

/// `σ₃ (σ₁ − σ₂)(σ₂ − σ₃)/σ₁²` with the singular values `σ₁ ≥ σ₂ ≥ σ₃ ≥ 0` of the gradient.
///
/// The largest comes from the closed form of the cubic, with the cosine of a third of an angle by Newton
/// steps. The product of all three is the determinant, and the second invariant is a sum of squares, so that
/// the others come without loss of digits: `σ₃` is exactly zero in plane flow.
///
/// # Source
/// Nicoud, Baya Toda, Cabrit, Bose & Lee, Phys. Fluids 23 (2011) 085106, eqs. 19–22 and appendix.
#[inline(always)]
pub(super) fn rate<R: Real>(g: &VelocityGradient<R>) -> R {
    let (zero, one) = (R::lit(0.0), R::lit(1.0));
    // Scaled to length 1, so that the first invariant of gᵀg is 1.
    let size = square_sum(g).sqrt_of_squares();
    let inverse = R::select(zero.lt(size), size, one).recip();
    let mut unit = *g;
    for i in 0..9 {
        unit[i / 3][i % 3] = g[i / 3][i % 3] * inverse;
    }
    let cofactors = minors(&unit);
    let second = square_sum(&cofactors);
    let det = unit[0][2]
        .mul_add(cofactors[0][2], unit[0][1].mul_add(cofactors[0][1], unit[0][0] * cofactors[0][0]));
    let third = det * det;

    // The largest root of λ³ − λ² + I₂ λ − I₃ = 0.
    let spread = (R::lit(1.0 / 9.0) - R::lit(1.0 / 3.0) * second).max(zero);
    let root = spread.sqrt_of_squares();
    let distinct = zero.lt(spread);
    let skew = R::lit(1.0 / 27.0) - R::lit(1.0 / 6.0) * second + R::lit(0.5) * third;
    let cosine = (skew * R::select(distinct, spread * root, one).recip()).min(one).max(-one);
    let first = R::lit(1.0 / 3.0) + R::lit(2.0) * root * cosine_of_third(cosine);

    // The others are the roots of a quadratic.
    let inverse = first.recip();
    let product = third * inverse;
    let sum = (second - product) * inverse;
    let apart = (sum * sum - R::lit(4.0) * product).max(zero).sqrt_of_squares();
    let middle = R::lit(0.5) * (sum + apart);
    let (s1, s2) = (first.sqrt(), middle.sqrt_of_squares());
    let s3 = det.abs() * R::select(zero.lt(s2), s1 * s2, one).recip();
    size * (s3 * ((s1 - s2) * (s2 - s3)) * inverse).max(zero)
}

/// `cos(θ/3)` from `cos θ`, for angles between 0 and π.
///
/// With `s = cos(θ/2)` it is `½ + s q`, and `4 c³ − 3 c = cos θ` becomes `3 q² + 2 s q³ = 1`, whose root is
/// simple for all `s`. Five steps with an approximate slope, from a parabola that is 4e-4 off, reach the last
/// digit without a division: each divides the error by more than 200.
#[inline(always)]
fn cosine_of_third<R: Real>(cosine: R) -> R {
    let half = R::lit(0.5);
    let s = half.mul_add(cosine, half).sqrt_of_squares();
    let parabola = R::lit(0.02634).mul_add(s, R::lit(-0.10369)).mul_add(s, R::lit(0.57735));
    // 1/(6 q + 6 s q²), to 1e-3.
    let inverse = R::lit(0.03215).mul_add(s, R::lit(-0.098603)).mul_add(s, R::lit(0.288675));
    let twice = R::lit(2.0) * s;
    let mut q = parabola;
    for _ in 0..5 {
        q = q - (twice.mul_add(q, R::lit(3.0)) * (q * q) - R::lit(1.0)) * inverse;
    }
    s.mul_add(q, half)
}

#[cfg(test)]
mod tests {
    use super::cosine_of_third;

    #[test]
    fn the_cosine_of_a_third_is_exact_to_rounding() {
        for i in 0..=1000 {
            let angle = std::f64::consts::PI * f64::from(i) / 1000.0;
            let (got, expected) = (cosine_of_third(angle.cos()), (angle / 3.0).cos());
            // The cosine of an angle near π has lost half of its digits.
            let tolerance = if i > 990 { 1e-9 } else { 1e-14 };
            assert!((got - expected).abs() < tolerance, "{i}: {got} {expected}");
        }
    }
}
