//! The default step is stable at every order: acoustics on a line by the discontinuous Galerkin method.
//!
//! `p_t + v_x = 0, v_t + p_x = 0, s_t = 0` (linear Euler flow at rest, the worst state) on a periodic line
//! with the local Lax–Friedrichs flux, orthonormal Legendre modes of any degree.
#![allow(clippy::unwrap_used)]

use dgsuite_gpu::{Host, HostVector, Vector};
use dgsuite_timeint::{Scheme, Stepper, from_fn};

const CELLS: usize = 12;
/// Pressure, velocity, entropy.
const FIELDS: usize = 3;

/// The flux of (p, v, s).
fn flux_of(u: [f64; FIELDS]) -> [f64; FIELDS] {
    [u[1], u[0], 0.0]
}

/// `S_mn = ∫ φ_m' φ_n` for orthonormal Legendre modes on [-1, 1]: `√((2m+1)(2n+1))` where m > n and m − n is
/// odd.
fn stiffness(m: usize, n: usize) -> f64 {
    if m > n && (m - n) % 2 == 1 { (((2 * m + 1) * (2 * n + 1)) as f64).sqrt() } else { 0.0 }
}

/// `φ_m(±1)`.
fn end(m: usize, right: bool) -> f64 {
    let size = ((2 * m + 1) as f64 / 2.0).sqrt();
    if right || m.is_multiple_of(2) { size } else { -size }
}

/// du/dt, cells of length one; layout [cell][field][mode].
fn acoustics(order: usize, u: &[f64], du: &mut [f64]) {
    let n = order + 1;
    let at = |cell: usize, field: usize, mode: usize| (cell * FIELDS + field) * n + mode;
    let trace = |cell: usize, right: bool| -> [f64; FIELDS] {
        std::array::from_fn(|field| (0..n).map(|m| u[at(cell, field, m)] * end(m, right)).sum())
    };
    // Numerical flux between the cells `cell` and `cell + 1`.
    let flux = |cell: usize| -> [f64; FIELDS] {
        let (minus, plus) = (trace(cell, true), trace((cell + 1) % CELLS, false));
        let (f_minus, f_plus) = (flux_of(minus), flux_of(plus));
        std::array::from_fn(|k| 0.5 * (f_minus[k] + f_plus[k]) + 0.5 * (minus[k] - plus[k]))
    };
    for cell in 0..CELLS {
        let (right, left) = (flux(cell), flux((cell + CELLS - 1) % CELLS));
        for m in 0..n {
            let mut rate: [f64; FIELDS] =
                std::array::from_fn(|k| left[k] * end(m, false) - right[k] * end(m, true));
            for i in 0..n {
                let f = flux_of(std::array::from_fn(|k| u[at(cell, k, i)]));
                for k in 0..FIELDS {
                    rate[k] += stiffness(m, i) * f[k];
                }
            }
            for k in 0..FIELDS {
                du[at(cell, k, m)] = 2.0 * rate[k];
            }
        }
    }
}

/// Growth of the L2 norm over many steps from a state that contains every mode; `radius` is the product of
/// step and spectral radius.
fn growth(scheme: Scheme, order: usize, radius: f64, steps: usize) -> f64 {
    let host = Host::new(1).unwrap();
    let n = CELLS * FIELDS * (order + 1);
    let noise: Vec<f64> = (0..n).map(|i| ((i * i * 37 + 11 * i) % 101) as f64 / 50.0 - 1.0).collect();
    let mut u = HostVector::from_slice(&host, &noise).unwrap();
    let mut rhs = from_fn(|_, u: &HostVector<f64>, du: &mut HostVector<f64>| acoustics(order, u, du));
    let mut stepper = Stepper::new(scheme, &u).unwrap();
    let before = u.norm2();
    // The trace of a Legendre series on both ends is at most (p + 1)(p + 2) times its mean square; λ = 1.
    let dt = radius / ((order + 1) * (order + 2)) as f64;
    for i in 0..steps {
        let Ok(()) = stepper.step(&mut rhs, i as f64 * dt, dt, &mut u);
    }
    u.norm2() / before
}

#[test]
fn the_default_is_stable_and_a_quarter_more_is_not() {
    for scheme in Scheme::ALL {
        for order in 0..=10 {
            let radius = scheme.stable_radius(order);
            let grown = growth(scheme, order, radius, 300);
            assert!(grown < 1.05, "{scheme}, p = {order}: grown to {grown:.3e}");
            // With two stages accuracy limits the steps; modes grow slowly up to the limit on the real axis.
            if scheme.n_stages() > 2 {
                let grown = growth(scheme, order, 1.25 * radius, 300);
                assert!(
                    grown.is_nan() || grown > 1e3,
                    "{scheme}, p = {order}: only {grown:.3e} at 1.25 times it"
                );
            }
        }
    }
}
