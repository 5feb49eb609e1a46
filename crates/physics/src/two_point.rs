//! Two-point fluxes: symmetric means of the flux, for split forms of the volume terms.

mod central;
mod kennedy_gruber;
mod ranocha;

pub use central::Central;
pub use kennedy_gruber::KennedyGruber;
pub use ranocha::Ranocha;

use crate::law::Law;
use crate::real::Real;

/// A two-point flux `f#(u_l, u_r, n)`: consistent, `f#(u, u, n) = F(u)·n`, symmetric in the two states and linear in `n`,
/// which is any vector.
///
/// A split form replaces the divergence in the nodes of a tensor element by `2 Σ_j D_ij f#(u_i, u_j, n)` with the mean of
/// the two metric vectors for `n`; with Gauss–Lobatto nodes it keeps what the two-point flux keeps.
///
/// # Source
/// Gassner, Winters & Kopriva, J. Comput. Phys. 327 (2016) 39–66.
pub trait TwoPointFlux<L: Law<D, N>, const D: usize, const N: usize>: Copy + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// The flux through the vector `n` from the states at two points.
    fn eval<R: Real>(&self, law: &L, ul: &[R; N], ur: &[R; N], n: &[R; D]) -> [R; N];
}

/// Logarithmic mean `(b − a)/(ln b − ln a)` of two positive numbers, also where they are nearly or exactly equal.
///
/// # Source
/// Ismail & Roe, J. Comput. Phys. 228 (2009) 5410–5436, appendix B; rearranged with one division by Ranocha et al., ACM
/// Trans. Math. Softw. 49 (2023), article 32.
#[inline(always)]
pub fn logarithmic_mean<R: Real>(a: R, b: R) -> R {
    let two = R::lit(2.0);
    // f² with f = (b − a)/(b + a); the series of the mean in f² is exact to rounding below 1e-4.
    let (sum, difference) = (a + b, b - a);
    let f2 = difference * difference / (sum * sum);
    let near = f2.lt(R::lit(1e-4));
    let series = R::lit(2.0 / 7.0).mul_add(f2, R::lit(2.0 / 5.0));
    let series = series.mul_add(f2, R::lit(2.0 / 3.0)).mul_add(f2, two);
    // Inputs are selected: the logarithm must not vanish where it is not used.
    let ratio = R::select(near, two, b / a);
    R::select(near, sum, difference) / R::select(near, series, ratio.ln())
}
