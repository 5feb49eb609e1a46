//! Two-point fluxes: symmetric means of the flux, for split forms of the volume terms.

mod central;
mod kennedy_gruber;
mod ranocha;

pub use central::Central;
pub use kennedy_gruber::KennedyGruber;
pub use ranocha::Ranocha;

use crate::law::Law;
use crate::real::Real;

/// A two-point flux `f#(u_l, u_r, n)`: consistent, `f#(u, u, n) = F(u)·n`, symmetric in the two states and
/// linear in `n`, which is any vector.
///
/// A split form replaces the divergence in the nodes of a tensor element by `2 Σ_j D_ij f#(u_i, u_j, n)` with
/// the mean of the two metric vectors for `n`; with Gauss–Lobatto nodes it conserves the quantities that the
/// two-point flux conserves.
///
/// # Source
/// Gassner, Winters & Kopriva, J. Comput. Phys. 327 (2016) 39–66.
pub trait TwoPointFlux<L: Law<D, N>, const D: usize, const N: usize>: Copy + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// Returns the flux through the vector `n` from the states at two points.
    fn eval<R: Real>(&self, law: &L, ul: &[R; N], ur: &[R; N], n: &[R; D]) -> [R; N];
}

/// Logarithmic mean `(b − a)/(ln b − ln a)` of two positive numbers, also if they are nearly or exactly
/// equal.
///
/// With `f = (b − a)/(b + a)` it is `½ (a + b) (1 − f²/3 − 4 f⁴/45 − …)`. This function selects results, not
/// inputs of a common last operation: if the numbers are close, as for most pairs of nodes, a device then
/// skips the logarithm and its divisions.
///
/// # Source
/// Ismail & Roe, J. Comput. Phys. 228 (2009) 5410–5436, appendix B.
#[inline(always)]
pub fn logarithmic_mean<R: Real>(a: R, b: R) -> R {
    let Close { sum, difference, f2, near, ratio, .. } = Close::new(a, b);
    let series = R::lit(-22.0 / 945.0).mul_add(f2, R::lit(-2.0 / 45.0));
    let series = series.mul_add(f2, R::lit(-1.0 / 6.0)).mul_add(f2, R::lit(0.5));
    R::select(near, sum * series, difference / ratio.ln())
}

/// The reciprocal of the [`logarithmic_mean`], `(2 + 2 f²/3 + 2 f⁴/5 + …)/(a + b)`.
#[inline(always)]
pub fn inverse_logarithmic_mean<R: Real>(a: R, b: R) -> R {
    let Close { inverse_sum, difference, f2, near, ratio, .. } = Close::new(a, b);
    let series = R::lit(2.0 / 7.0).mul_add(f2, R::lit(2.0 / 5.0));
    let series = series.mul_add(f2, R::lit(2.0 / 3.0)).mul_add(f2, R::lit(2.0));
    R::select(near, inverse_sum * series, ratio.ln() / difference)
}

/// The common quantities of both means: `f²`, below 1e-4 of which the series are exact to rounding, and the
/// terms used below and above that bound.
struct Close<R: Real> {
    sum: R,
    inverse_sum: R,
    difference: R,
    f2: R,
    near: R::Mask,
    /// `b/a`; if it is not used, a number whose logarithm is not zero.
    ratio: R,
}

impl<R: Real> Close<R> {
    #[inline(always)]
    fn new(a: R, b: R) -> Self {
        let (sum, difference) = (a + b, b - a);
        let inverse_sum = sum.recip();
        let f = difference * inverse_sum;
        let f2 = f * f;
        let near = f2.lt(R::lit(1e-4));
        Self { sum, inverse_sum, difference, f2, near, ratio: R::select(near, R::lit(2.0), b / a) }
    }
}
