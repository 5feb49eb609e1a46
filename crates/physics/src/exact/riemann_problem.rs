//! The Riemann problem of the Euler equations: two states that meet at a plane, solved exactly.

use super::vortex::primitive_state;
use super::{ExactError, Solution};
use crate::euler::Euler;
use crate::real::{Real, dot};

/// Density, velocity and pressure on one side of the diaphragm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GasState {
    /// Density, above 0.
    pub density: f64,
    /// Velocity.
    pub velocity: [f64; 3],
    /// Pressure, above 0.
    pub pressure: f64,
}

/// Pressure and normal velocity between the two acoustic waves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarRegion<R> {
    /// Pressure `p*`.
    pub pressure: R,
    /// Normal velocity `u*`.
    pub velocity: R,
}

/// Two states that meet at the plane `n·x = x_d` at `t = 0`, and the shocks, contact and rarefactions that
/// follow.
///
/// The tangential velocity jumps at the contact.
///
/// # Source
/// Toro 2009, §4.1–4.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiemannProblem {
    gas: Euler,
    left: GasState,
    right: GasState,
    direction: [f64; 3],
    diaphragm: f64,
    star: StarRegion<f64>,
}

/// One acoustic wave, seen from its own side: velocities are positive away from the star region.
struct Wave<R> {
    /// Speed at the outer edge: head of a rarefaction, or the shock.
    head: R,
    /// Speed at the inner edge: tail of a rarefaction, or the shock.
    tail: R,
    /// Density between the wave and the contact.
    density: R,
}

/// Newton steps to `p*`. The function is concave and increasing, so the root of each tangent is below `p*`:
/// after the first step the iterates increase to the solution, and further steps change nothing.
const NEWTON_STEPS: usize = 30;

impl RiemannProblem {
    /// Makes the problem of two states that meet at `direction·x = diaphragm`; `direction` has unit length.
    ///
    /// # Errors
    /// [`ExactError::Vacuum`] if the states separate too fast.
    pub fn new(
        gas: Euler,
        left: GasState,
        right: GasState,
        direction: [f64; 3],
        diaphragm: f64,
    ) -> Result<Self, ExactError> {
        let normal = |s: &GasState| dot(&s.velocity, &direction);
        let sound = |s: &GasState| (gas.gamma * s.pressure / s.density).sqrt();
        let limit = 2.0 * (sound(&left) + sound(&right)) / (gas.gamma - 1.0);
        let speed = normal(&right) - normal(&left);
        if speed.is_nan() || speed >= limit {
            return Err(ExactError::Vacuum { speed, limit });
        }
        let star = star_region(
            gas.gamma,
            [left.density, normal(&left), left.pressure],
            [right.density, normal(&right), right.pressure],
        );
        Ok(Self { gas, left, right, direction, diaphragm, star })
    }

    /// Sod's shock tube along x: `(1, 0, 1)` on the left and `(0.125, 0, 0.1)` on the right of `diaphragm`.
    ///
    /// # Errors
    /// None for `γ > 1`; the type is the one of [`RiemannProblem::new`].
    ///
    /// # Source
    /// Sod, J. Comput. Phys. 27 (1978) 1–31.
    pub fn sod(gas: Euler, diaphragm: f64) -> Result<Self, ExactError> {
        let left = GasState { density: 1.0, velocity: [0.0; 3], pressure: 1.0 };
        let right = GasState { density: 0.125, velocity: [0.0; 3], pressure: 0.1 };
        Self::new(gas, left, right, [1.0, 0.0, 0.0], diaphragm)
    }

    /// Returns pressure and velocity between the acoustic waves.
    pub fn star(&self) -> StarRegion<f64> {
        self.star
    }

    /// Returns the densities left and right of the contact.
    pub fn star_densities(&self) -> [f64; 2] {
        // The densities do not depend on the velocities.
        let density =
            |s: &GasState| wave(self.gas.gamma, s.density, 0.0, s.pressure, 0.0, self.star.pressure).density;
        [density(&self.left), density(&self.right)]
    }

    /// Returns the speeds of head and tail of the left wave, the contact, and tail and head of the right
    /// wave. Head and tail of a shock are equal.
    pub fn speeds(&self) -> [f64; 5] {
        let side = |s: &GasState, sign: f64| {
            let u = sign * dot(&s.velocity, &self.direction);
            wave(self.gas.gamma, s.density, u, s.pressure, sign * self.star.velocity, self.star.pressure)
        };
        let (l, r) = (side(&self.left, -1.0), side(&self.right, 1.0));
        [-l.head, -l.tail, self.star.velocity, r.tail, r.head]
    }
}

/// The pressure function of one side and its derivative: the change of velocity across the wave that changes
/// the pressure from `p_k` to `p` (Toro 2009, Eq. 4.6–4.7).
fn pressure_function<R: Real>(gamma: R, rho: R, p_k: R, p: R) -> [R; 2] {
    let (one, half, two) = (R::lit(1.0), R::lit(0.5), R::lit(2.0));
    let g1 = gamma - one;
    let c = (gamma * p_k / rho).sqrt();
    let shock = p_k.lt(p);

    let a = two / ((gamma + one) * rho);
    let b = g1 / (gamma + one) * p_k;
    let root = (a / (p + b)).sqrt();
    let shock_f = (p - p_k) * root;
    let shock_d = root * (one - half * (p - p_k) / (p + b));

    let ratio = p / p_k;
    let fan_f = two * c / g1 * (ratio.powf(half * g1 / gamma) - one);
    let fan_d = ratio.powf(-(half * (gamma + one) / gamma)) / (rho * c);
    [R::select(shock, shock_f, fan_f), R::select(shock, shock_d, fan_d)]
}

/// Pressure and velocity between the acoustic waves of two states `(ρ, u, p)`, by Newton's method on
/// `f_l(p) + f_r(p) + u_r − u_l = 0` from the two-rarefaction solution (Toro 2009, §4.3).
fn star_region<R: Real>(gamma: f64, left: [f64; 3], right: [f64; 3]) -> StarRegion<R> {
    let [rho_l, u_l, p_l] = left.map(R::lit);
    let [rho_r, u_r, p_r] = right.map(R::lit);
    let g = R::param("gamma", gamma);
    let g1 = g - R::lit(1.0);
    let half = R::lit(0.5);
    let (c_l, c_r) = ((g * p_l / rho_l).sqrt(), (g * p_r / rho_r).sqrt());
    let z = half * g1 / g;
    let least = p_l.min(p_r) * R::lit(1e-30);
    let start = (c_l + c_r - half * g1 * (u_r - u_l)) / (c_l / p_l.powf(z) + c_r / p_r.powf(z));
    let mut p = start.powf(z.recip()).max(least);
    for _ in 0..NEWTON_STEPS {
        let [f_l, d_l] = pressure_function(g, rho_l, p_l, p);
        let [f_r, d_r] = pressure_function(g, rho_r, p_r, p);
        p = (p - (f_l + f_r + u_r - u_l) / (d_l + d_r)).max(least);
    }
    let [f_l, _] = pressure_function(g, rho_l, p_l, p);
    let [f_r, _] = pressure_function(g, rho_r, p_r, p);
    StarRegion { pressure: p, velocity: half * (u_l + u_r + f_r - f_l) }
}

/// The acoustic wave between an outer state and the star region, with velocities positive outwards (Toro
/// 2009, §4.5).
fn wave<R: Real>(gamma: R, rho: R, u: R, p: R, u_star: R, p_star: R) -> Wave<R> {
    let (one, half) = (R::lit(1.0), R::lit(0.5));
    let g1 = gamma - one;
    let c = (gamma * p / rho).sqrt();
    let ratio = p_star / p;
    let shock = one.lt(ratio);

    let s = g1 / (gamma + one);
    let shock_density = rho * (ratio + s) / (s * ratio + one);
    let shock_speed = u + c * (half / gamma * ((gamma + one) * ratio + g1)).sqrt();
    let fan_density = rho * ratio.powf(gamma.recip());
    let fan_tail = u_star + c * ratio.powf(half * g1 / gamma);
    Wave {
        head: R::select(shock, shock_speed, u + c),
        tail: R::select(shock, shock_speed, fan_tail),
        density: R::select(shock, shock_density, fan_density),
    }
}

impl<const N: usize> Solution<N> for RiemannProblem {
    fn primitive<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let gamma = self.gas.gamma::<R>();
        let (zero, one, two) = (R::lit(0.0), R::lit(1.0), R::lit(2.0));
        let n: [R; 3] = self.direction.map(R::lit);
        let s = dot(&n, x) - R::lit(self.diaphragm);
        let (u_star, p_star) = (R::lit(self.star.velocity), R::lit(self.star.pressure));

        // Chooses the side of the contact, with velocities positive outwards, so that only one wave is
        // sampled. Distances are compared, s with speed × t, so that t = 0 gives the initial states.
        let right = (u_star * t).le(s);
        let pick = |l: f64, r: f64| R::select(right, R::lit(r), R::lit(l));
        let sign = pick(-1.0, 1.0);
        let rho = pick(self.left.density, self.right.density);
        let p = pick(self.left.pressure, self.right.pressure);
        let v: [R; 3] = std::array::from_fn(|d| pick(self.left.velocity[d], self.right.velocity[d]));
        let u = sign * dot(&n, &v);
        let out = sign * s;
        let wave = wave(gamma, rho, u, p, sign * u_star, p_star);

        // Inside a rarefaction c − (γ−1)/2 u = const along the wave and u + c = out/t.
        let g1 = gamma - one;
        let c = (gamma * p / rho).sqrt();
        let xi = out / R::select(zero.lt(t), t, one);
        let c_fan = (two * c + g1 * (xi - u)) / (gamma + one);
        let ratio = (c_fan / c).max(R::lit(1e-30));
        let fan_rho = rho * ratio.powf(two / g1);
        let fan_p = p * ratio.powf(two * gamma / g1);

        let outside = (wave.head * t).le(out);
        let inside = out.le(wave.tail * t);
        let choose = |state: R, star: R, fan: R| R::select(outside, state, R::select(inside, star, fan));
        let rho_here = choose(rho, wave.density, fan_rho);
        let p_here = choose(p, p_star, fan_p);
        let u_here = choose(u, sign * u_star, xi - c_fan);
        let dv = sign * (u_here - u);
        primitive_state(rho_here, std::array::from_fn(|d| dv.mul_add(n[d], v[d])), p_here)
    }
}
