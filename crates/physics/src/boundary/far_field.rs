//! Far field: outgoing waves leave, incoming waves come from the free stream.

use super::Boundary;
use crate::advection::Advection;
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// Characteristic far field; `data` is the free stream.
///
/// Euler: the Riemann invariants along the outward normal,
///
/// ```text
/// J⁺ = v_n + 2c/(γ−1)  from inside, unless v_n ≤ −c (supersonic inflow)
/// J⁻ = v_n − 2c/(γ−1)  from the free stream, unless v_n ≥ c (supersonic outflow)
/// v_n = ½ (J⁺ + J⁻),   c = ¼ (γ−1) (J⁺ − J⁻)
/// ```
///
/// with entropy and tangential velocity from upwind. Advection: the free stream at inflow, the inner value
/// elsewhere.
///
/// The free stream does not enter diffusion: nothing is lifted, and the diffusive flux is that of the
/// gradient along the face, as in [`Outflow`](super::Outflow). Waves cross the face by convection alone. A
/// gradient lifted towards the outer state, which mixes both sides, would let disturbances grow where
/// diffusion outweighs the flow on the scale of an element.
///
/// # Source
/// Hirsch, *Numerical Computation of Internal and External Flows*, vol. 2, 1990, chapter 19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FarField;

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for FarField
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "far-field";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Euler, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        let inner = law.side(um, n);
        let free = law.side(data, n);
        let (c_in, c_free) = (inner.c2.sqrt(), free.c2.sqrt());
        let g1 = law.gamma_minus_one::<R>();
        let two = R::lit(2.0) / g1;
        let (half, zero) = (R::lit(0.5), R::lit(0.0));

        let all_in = inner.vn.le(-c_in);
        let all_out = c_in.le(inner.vn);
        let j_plus = R::select(all_in, free.vn, inner.vn) + two * R::select(all_in, c_free, c_in);
        let j_minus = R::select(all_out, inner.vn, free.vn) - two * R::select(all_out, c_in, c_free);
        let vn = half * (j_plus + j_minus);
        let c = (R::lit(0.25) * g1 * (j_plus - j_minus)).max(R::lit(1e-3) * c_in);

        // The upwind side K determines the entropy: p/ρ^γ gives ρ = ρ_K (c²/c_K²)^{1/(γ−1)}. In supersonic
        // flow this is the side that determines everything.
        let leaves = R::or(all_out, R::and(zero.lt(vn), R::not(all_in)));
        let (rho_k, c2_k) = (R::select(leaves, inner.rho, free.rho), R::select(leaves, inner.c2, free.c2));
        let c2 = c * c;
        let rho = rho_k * (c2 / c2_k).powf(g1.recip());
        let dv = vn - R::select(leaves, inner.vn, free.vn);
        let v = array!(D, |d| dv.mul_add(n[d], R::select(leaves, inner.v[d], free.v[d])));
        law.conserved(rho, &v, rho * c2 / law.gamma())
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for FarField
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    const LEVEL: bool = true;
}

impl<const D: usize> Boundary<Advection<D>, D, 1> for FarField {
    const NAME: &'static str = "far-field";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Advection<D>, um: &[R; 1], n: &[R; D], data: &[R; 1]) -> [R; 1] {
        let enters = dot(&law.velocity(), n).lt(R::lit(0.0));
        [R::select(enters, data[0], um[0])]
    }
}
