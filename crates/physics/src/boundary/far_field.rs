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
/// Euler: the state between the two waves along the outward normal `n`, both taken as isentropic: the
/// outgoing one keeps the inner entropy, the incoming one that of the free stream,
///
/// ```text
/// v_n + 2c⁻ (p/p⁻)^z/(γ−1)  =  v_n⁻ + 2c⁻/(γ−1)      unless v_n⁻ ≤ −c⁻ (supersonic inflow)
/// v_n − 2c∞ (p/p∞)^z/(γ−1)  =  v_n∞ − 2c∞/(γ−1)      unless v_n⁻ ≥ c⁻ (supersonic outflow)
/// z = (γ−1)/2γ
/// ```
///
/// with entropy and tangential velocity from upwind. About uniform flow no disturbance gains energy, with any
/// numerical flux. The invariants `v_n ± 2c/(γ−1)` themselves, of which the incoming one is that of the free
/// stream, turn each disturbance of the entropy that leaves into sound that enters. Advection: the free
/// stream at inflow, the inner value elsewhere.
///
/// The free stream does not enter diffusion: nothing is lifted, and the diffusive flux is that of the
/// gradient along the face, as in [`Outflow`](super::Outflow). Waves cross the face by convection alone. A
/// gradient lifted towards the outer state, which mixes both sides, would let disturbances grow where
/// diffusion outweighs the flow on the scale of an element.
///
/// # Source
/// Hirsch, *Numerical Computation of Internal and External Flows*, vol. 2, 1990, chapter 19 (which waves come
/// from where); Toro 2009, §4.3.1, equation 4.46 (the state between two isentropic waves).
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
        let gamma = law.gamma::<R>();
        let g1 = law.gamma_minus_one::<R>();
        let (half, zero, one) = (R::lit(0.5), R::lit(0.0), R::lit(1.0));

        let all_in = inner.vn.le(-c_in);
        let all_out = c_in.le(inner.vn);
        // (p/p⁻)^z from v·n + 2c/(γ−1) of the wave that leaves and v·n − 2c/(γ−1) of the one that enters,
        // each of which keeps the entropy of its side.
        let fall = (inner.p / free.p).powf(half * g1 / gamma);
        let sum = (half * g1).mul_add(inner.vn - free.vn, c_in + c_free);
        let root = sum.max(R::lit(1e-3) * c_in) / (c_in + c_free * fall);
        let c_star = c_in * root;
        let vn = inner.vn + R::lit(2.0) * (c_in - c_star) / g1;

        // The upwind side determines entropy and tangential velocity; in supersonic flow it determines all.
        let leaves = R::or(all_out, R::and(zero.lt(vn), R::not(all_in)));
        let whole = R::or(all_in, all_out);
        let (rho_k, p_k) = (R::select(leaves, inner.rho, free.rho), R::select(leaves, inner.p, free.p));
        // (p/p_K)^z
        let ratio = R::select(whole, one, R::select(leaves, root, root * fall));
        let rho = rho_k * ratio.powf(R::lit(2.0) / g1);
        let p = p_k * ratio.powf(R::lit(2.0) * gamma / g1);
        let vn_k = R::select(leaves, inner.vn, free.vn);
        let dv = R::select(whole, zero, vn - vn_k);
        let v = array!(D, |d| dv.mul_add(n[d], R::select(leaves, inner.v[d], free.v[d])));
        law.conserved(rho, &v, p)
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
