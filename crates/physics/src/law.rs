//! Systems of conservation laws, `∂u/∂t + ∇·F(u) = 0`, as point formulas.

use crate::real::{Real, array};

/// A conservation law with `N` unknowns in `D` space dimensions, `∂u_k/∂t + Σ_d ∂F_dk/∂x_d = 0`.
///
/// Index order: `flux[d][k]`, direction first, unknown last. States are conserved unless a name says
/// primitive. States with [`admissibility`](Law::admissibility) above zero are admissible; for other states
/// the formulas return meaningless numbers or NaN.
pub trait Law<const D: usize, const N: usize>: Clone + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// Names of the conserved unknowns.
    fn variables(&self) -> [&'static str; N];

    /// Names of the primitive unknowns.
    fn primitives(&self) -> [&'static str; N];

    /// Returns the flux `F_d(u)`.
    fn flux<R: Real>(&self, u: &[R; N]) -> [[R; N]; D];

    /// Returns the flux through a surface element, `Σ_d F_d(u) n_d`. `n` is any vector, of unit length or
    /// not: with a scaled row of the inverse metric it is a contravariant flux.
    #[inline(always)]
    fn normal_flux<R: Real>(&self, u: &[R; N], n: &[R; D]) -> [R; N] {
        let f = self.flux(u);
        let mut sum = array!(N, |k| f[0][k] * n[0]);
        for d in 1..D {
            for k in 0..N {
                sum[k] = f[d][k].mul_add(n[d], sum[k]);
            }
        }
        sum
    }

    /// Returns the largest absolute value of a wave speed along the unit vector `n`.
    fn normal_speed<R: Real>(&self, u: &[R; N], n: &[R; D]) -> R;

    /// Returns the input of a flux with a single wave speed at a face with unit normal `n`: the sum of the
    /// normal fluxes, `(F(u⁻) + F(u⁺))·n`, and the larger of the normal speeds. A law overrides this function
    /// if the sides share work.
    #[inline(always)]
    fn flux_sum_and_speed<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> ([R; N], R) {
        let (fm, fp) = (self.normal_flux(um, n), self.normal_flux(up, n));
        let speed = self.normal_speed(um, n).max(self.normal_speed(up, n));
        (array!(N, |k| fm[k] + fp[k]), speed)
    }

    /// Whether all waves run with a velocity `v` of the state: [`normal_speed`](Law::normal_speed) is a
    /// multiple of `|n·v|`, for vectors of any length. The step bound then takes the shape of elements along
    /// the flow.
    const DIRECTED: bool = false;

    /// Returns the largest absolute value of a wave speed in any direction.
    fn max_speed<R: Real>(&self, u: &[R; N]) -> R;

    /// Returns the primitive unknowns of a conserved state.
    fn to_primitive<R: Real>(&self, u: &[R; N]) -> [R; N];

    /// Returns the conserved state of primitive unknowns.
    fn to_conserved<R: Real>(&self, w: &[R; N]) -> [R; N];

    /// Returns a number above zero exactly if the state is admissible (Euler: the smaller of density and
    /// pressure; advection: 1 for finite values). For a state with a NaN it is NaN or not above zero.
    fn admissibility<R: Real>(&self, u: &[R; N]) -> R;
}

/// Returns 1 if all numbers are finite, otherwise 0: the admissibility of a law without bounds on its states.
#[expect(clippy::eq_op, reason = "the difference is not zero for infinities and NaN")]
#[inline(always)]
pub(crate) fn finite<R: Real, const N: usize>(u: &[R; N]) -> R {
    // `u − u` is zero only for finite numbers.
    let mut sum = u[0] - u[0];
    for k in 1..N {
        sum = sum + (u[k] - u[k]);
    }
    R::select(sum.le(R::lit(0.0)), R::lit(1.0), R::lit(0.0))
}
