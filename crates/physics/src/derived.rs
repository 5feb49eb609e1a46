//! Quantities derived from a gas state and its gradient: vorticity, Q-criterion, Mach number, wall force.

use crate::diffusion::Diffusion;
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// Velocity `v` of a conserved state.
#[inline(always)]
pub fn velocity<R: Real, const D: usize, const N: usize>(u: &[R; N]) -> [R; D] {
    let inv_rho = u[0].recip();
    array!(D, |d| u[1 + d] * inv_rho)
}

/// Gradient of the velocity, `[d][i] = ∂v_i/∂x_d`, from a conserved state and its gradient
/// `grad[d][k] = ∂u_k/∂x_d`.
#[inline(always)]
pub fn velocity_gradient<R: Real, const D: usize, const N: usize>(
    u: &[R; N],
    grad: &[[R; N]; D],
) -> [[R; D]; D] {
    let inv_rho = u[0].recip();
    let v = velocity::<R, D, N>(u);
    let mut out = [[inv_rho; D]; D];
    for d in 0..D {
        for i in 0..D {
            out[d][i] = inv_rho * (grad[d][1 + i] - v[i] * grad[d][0]);
        }
    }
    out
}

/// Vorticity `ω = ∇ × v`, three components; in two dimensions only the third is not zero.
#[inline(always)]
pub fn vorticity<R: Real, const D: usize, const N: usize>(u: &[R; N], grad: &[[R; N]; D]) -> [R; 3] {
    const { assert!(D == 2 || D == 3, "two or three dimensions") };
    let g = velocity_gradient(u, grad);
    let mut w = [R::lit(0.0); 3];
    w[2] = g[0][1] - g[1][0];
    if D == 3 {
        w[0] = g[1][2] - g[2][1];
        w[1] = g[2][0] - g[0][2];
    }
    w
}

/// Q-criterion, `Q = ½ (|Ω|² − |S|²)` with the antisymmetric and symmetric parts of `∇v`; positive where
/// rotation exceeds strain.
///
/// # Source
/// Hunt, Wray & Moin, CTR-S88 (1988) 193–208; for a compressible flow `S` keeps its trace.
#[inline(always)]
pub fn q_criterion<R: Real, const D: usize, const N: usize>(u: &[R; N], grad: &[[R; N]; D]) -> R {
    let g = velocity_gradient(u, grad);
    // ½ (|Ω|² − |S|²) = −½ Σ_di ∂_d v_i ∂_i v_d
    let mut sum = g[0][0] * g[0][0];
    for d in 1..D {
        sum = g[d][d].mul_add(g[d][d], sum);
        for i in 0..d {
            sum = (g[d][i] + g[d][i]).mul_add(g[i][d], sum);
        }
    }
    R::lit(-0.5) * sum
}

/// Mach number `|v|/c`.
#[inline(always)]
pub fn mach<R: Real, const D: usize, const N: usize>(gas: &Euler, u: &[R; N]) -> R
where
    Euler: Law<D, N>,
{
    let w = gas.to_primitive(u);
    let v = array!(D, |d| w[1 + d]);
    (dot(&v, &v) * w[0] / (gas.gamma::<R>() * w[N - 1])).sqrt()
}

/// Temperature `T = p/(ρ R)`; with a gas constant of one it is `p/ρ`.
#[inline(always)]
pub fn temperature<R: Real, const D: usize, const N: usize>(gas: &Euler, gas_constant: f64, u: &[R; N]) -> R
where
    Euler: Law<D, N>,
{
    let w = gas.to_primitive(u);
    w[N - 1] / (w[0] * R::param("gas_constant", gas_constant))
}

/// Entropy `s = ln(p/ρ^γ)`, in units of `c_v` and up to a constant.
#[inline(always)]
pub fn entropy<R: Real, const D: usize, const N: usize>(gas: &Euler, u: &[R; N]) -> R
where
    Euler: Law<D, N>,
{
    let w = gas.to_primitive(u);
    w[N - 1].ln() - gas.gamma::<R>() * w[0].ln()
}

/// The force of a gas on a wall, per area: pressure and friction, `p n` and `−τ n`, with `n` out of the gas.
///
/// `u` is the state at the wall, where the gas has the velocity of the wall, and `grad` its gradient.
#[inline(always)]
pub fn wall_force<R: Real, const D: usize, const N: usize>(
    ns: &NavierStokes,
    u: &[R; N],
    grad: &[[R; N]; D],
    n: &[R; D],
) -> ([R; D], [R; D])
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    let p = ns.gas.to_primitive(u)[N - 1];
    let stress = ns.normal_diffusive_flux(u, grad, n);
    (array!(D, |d| p * n[d]), array!(D, |d| -stress[1 + d]))
}
