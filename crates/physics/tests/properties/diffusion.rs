//! Properties of the diffusive fluxes.

use crate::fields::*;
use crate::states::*;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::{Diffusion, Euler, Law, NavierStokes, ScalarDiffusion};
use proptest::prelude::*;

/// Stress and heat flux from the primitive variables, as in textbooks.
fn the_textbook_s_stress_and_heat_flux<const D: usize, const N: usize>(ns: NavierStokes, field: Field)
where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let (u, grad) = field.conserved::<D, N>();
    let Gas { rho, v, p } = field.gas;
    let r = if ns.viscosity.is_constant() { 1.0 } else { ns.gas_constant };
    let temperature = p / (rho * r);
    let mu = match ns.viscosity {
        Viscosity::Constant { mu } => mu,
        Viscosity::PowerLaw { mu_ref, t_ref, exponent } => mu_ref * (temperature / t_ref).powf(exponent),
        Viscosity::Sutherland { mu_ref, t_ref, s } => {
            mu_ref * (temperature / t_ref).powf(1.5) * (t_ref + s) / (temperature + s)
        }
    };
    let kappa = mu * r * GAS.gamma / (GAS.gamma - 1.0) / ns.prandtl;
    let dv = |d: usize, i: usize| field.slopes[d][1 + i];
    let div: f64 = (0..D).map(|d| dv(d, d)).sum();
    let expected: [[f64; N]; D] = std::array::from_fn(|d| {
        let tau: [f64; D] =
            std::array::from_fn(|i| mu * (dv(d, i) + dv(i, d) - if i == d { 2.0 / 3.0 * div } else { 0.0 }));
        // ∂T = T (∂p/p − ∂ρ/ρ); the slopes of density and pressure are relative.
        let conduction = kappa * temperature * (field.slopes[d][4] - field.slopes[d][0]);
        std::array::from_fn(|k| match k {
            0 => 0.0,
            k if k == N - 1 => conduction + (0..D).map(|i| tau[i] * v[i]).sum::<f64>(),
            k => tau[k - 1],
        })
    });
    let flux = ns.diffusive_flux(&u, &grad);
    let size = field.scale::<D, N>(&ns);
    for d in 0..D {
        assert_close("flux", &flux[d], &expected[d], &size, 1e-14);
        for i in 0..d {
            assert_eq!(flux[d][1 + i], flux[i][1 + d], "the stress is symmetric");
        }
    }
    if D == 3 {
        let trace: f64 = (0..D).map(|d| flux[d][1 + d]).sum();
        assert!(trace.abs() <= 1e-14 * size[1], "trace {trace:e}");
    }
    let most = (4.0f64 / 3.0).max(GAS.gamma / ns.prandtl) * mu / rho;
    assert!((ns.diffusivity(&u) - most).abs() <= 1e-11 * most, "{} {most}", ns.diffusivity(&u));
}

/// The eigenvectors of `u' ↦ F_v(u, n ⊗ u')·n` are shear (μ/ρ), compression (4/3 μ/ρ), heat (γ/Pr μ/ρ) and
/// density (0).
fn the_diffusivity_is_the_largest_eigenvalue<const D: usize, const N: usize>(
    ns: NavierStokes,
    g: Gas,
    n: [f64; 3],
) where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let u = g.state::<D, N>();
    // A change of velocity along `a` at constant density and internal energy: (0, a, v·a).
    let moved = |a: [f64; D]| -> [f64; N] {
        std::array::from_fn(|k| match k {
            0 => 0.0,
            k if k == N - 1 => (0..D).map(|d| g.v[d] * a[d]).sum(),
            k => a[k - 1],
        })
    };
    let mut across = [0.0; D];
    (across[0], across[1]) = (-n[1], n[0]);
    let warmer = std::array::from_fn(|k| if k == N - 1 { 1.0 } else { 0.0 });
    let size = 1.0 + g.v.iter().map(|v| v.abs()).sum::<f64>();
    let mut largest = 0.0_f64;
    for vector in [moved(n), moved(across), warmer] {
        let flux = ns.normal_diffusive_flux(&u, &n.map(|n| vector.map(|x| n * x)), &n);
        let most = vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        // Small if a normal along the last axis leaves only a small component.
        if most < 1e-3 {
            continue;
        }
        let value = dot(&flux, &vector) / dot(&vector, &vector);
        let nu = ns.diffusivity(&u);
        for k in 0..N {
            let defect = (flux[k] - value * vector[k]).abs();
            assert!(defect <= 1e-12 * nu * size * most, "not an eigenvector: {defect:e}");
        }
        largest = largest.max(value);
    }
    let nu = ns.diffusivity(&u);
    assert!((nu / largest - 1.0).abs() < 1e-12, "Pr = {}: {nu} is not {largest}", ns.prandtl);
}

fn the_normal_flux_is_the_flux_along_the_normal<const D: usize, const N: usize>(field: Field, n: [f64; 3])
where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let (u, grad) = field.conserved::<D, N>();
    let n: [f64; D] = std::array::from_fn(|d| 1.7 * n[d]);
    let f = SUTHERLAND.diffusive_flux(&u, &grad);
    let sum = std::array::from_fn(|k| (0..D).map(|d| f[d][k] * n[d]).sum::<f64>());
    let size = field.scale::<D, N>(&SUTHERLAND);
    assert_close("F·n", &SUTHERLAND.normal_diffusive_flux(&u, &grad, &n), &sum, &size, 1e-14);
}

fn the_flux_turns_with_the_flow<const D: usize, const N: usize>(
    field: Field,
    n: [f64; 3],
    mirrors: [[f64; 3]; 2],
) where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let (u, grad) = field.conserved::<D, N>();
    let n = unit::<D>(n);
    // The gradient rotates in its direction and in its momentum.
    let mut turned = [[0.0; N]; D];
    for k in 0..N {
        let along: [f64; D] = rotate(&std::array::from_fn(|d| grad[d][k]), mirrors);
        for d in 0..D {
            turned[d][k] = along[d];
        }
    }
    let turned = turned.map(|g| rotate_state::<D, N>(&g, mirrors));
    let at = rotate_state::<D, N>(&u, mirrors);
    let flux = SUTHERLAND.normal_diffusive_flux(&at, &turned, &rotate(&n, mirrors));
    let expected = rotate_state::<D, N>(&SUTHERLAND.normal_diffusive_flux(&u, &grad, &n), mirrors);
    assert_close("rotation", &flux, &expected, &field.scale::<D, N>(&SUTHERLAND), 1e-13);
}

fn a_moving_observer_sees_the_same_stress<const D: usize, const N: usize>(
    field: Field,
    n: [f64; 3],
    w: [f64; 3],
) where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let (u, grad) = field.conserved::<D, N>();
    let moved = field.boosted(w);
    let (at, slopes) = moved.conserved::<D, N>();
    let mut expected = SUTHERLAND.normal_diffusive_flux(&u, &grad, &n);
    for d in 0..D {
        expected[N - 1] += expected[1 + d] * w[d];
    }
    let size: [f64; N] =
        std::array::from_fn(|k| field.scale::<D, N>(&SUTHERLAND)[k] + moved.scale::<D, N>(&SUTHERLAND)[k]);
    let flux = SUTHERLAND.normal_diffusive_flux(&at, &slopes, &n);
    assert_close("boost", &flux, &expected, &size, 1e-13);
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn navier_stokes(f in field(), n in direction(), a in direction(), b in direction()) {
        for ns in [CONSTANT, SUTHERLAND, POWER] {
            the_textbook_s_stress_and_heat_flux::<2, 4>(ns, f);
            the_textbook_s_stress_and_heat_flux::<3, 5>(ns, f);
        }
        the_normal_flux_is_the_flux_along_the_normal::<2, 4>(f, n);
        the_normal_flux_is_the_flux_along_the_normal::<3, 5>(f, n);
        the_flux_turns_with_the_flow::<2, 4>(f, n, [a, b]);
        the_flux_turns_with_the_flow::<3, 5>(f, n, [a, b]);
        a_moving_observer_sees_the_same_stress::<2, 4>(f, n, a);
        a_moving_observer_sees_the_same_stress::<3, 5>(f, n, a);
    }

    /// Compression diffuses faster than heat where γ/Pr < 4/3, above Pr = 1.05 with γ = 1.4.
    #[test]
    fn the_step_is_bounded_by_the_fastest_diffusion(g in gas(), n in direction(), prandtl in 0.3..3.0f64) {
        for ns in [CONSTANT, SUTHERLAND, POWER] {
            the_diffusivity_is_the_largest_eigenvalue::<2, 4>(NavierStokes { prandtl, ..ns }, g, n);
            the_diffusivity_is_the_largest_eigenvalue::<3, 5>(NavierStokes { prandtl, ..ns }, g, n);
        }
    }

    #[test]
    fn heat_flows_to_where_it_is_colder(g in gas(), slope in 0.01..1.0f64) {
        // Temperature increases along x at constant pressure, at rest: the diffusive flux adds energy towards
        // −x.
        let still = Field { gas: Gas { v: [0.0; 3], ..g }, slopes: [[-slope, 0.0, 0.0, 0.0, 0.0], [0.0; 5], [0.0; 5]] };
        let (u, grad) = still.conserved::<2, 4>();
        let flux = CONSTANT.diffusive_flux(&u, &grad);
        // −F_v transports the conserved energy from warm to cold.
        prop_assert!(-flux[0][3] < 0.0 && flux[1][3] == 0.0);
        let kappa_over_r = MU * GAS.gamma / (GAS.gamma - 1.0) / 0.72;
        let expected = kappa_over_r * g.p / g.rho * slope;
        prop_assert!((flux[0][3] - expected).abs() <= 1e-13 * expected);
    }

    #[test]
    fn scalar_diffusion(nu in 0.01..2.0f64, slope in prop::array::uniform3(-1.0..1.0f64), n in direction()) {
        let law = ScalarDiffusion { nu };
        let flux = law.normal_diffusive_flux(&[3.0], &slope.map(|s| [s]), &n);
        prop_assert!((flux[0] - nu * dot(&slope, &n)).abs() <= 1e-15 * nu * 9.0);
        prop_assert_eq!(Diffusion::<3, 1>::diffusivity(&law, &[3.0]), nu);
    }
}

#[test]
fn the_viscosity_of_air_is_the_tabulated_one() {
    // U.S. Standard Atmosphere 1976, eq. 51: μ = 1.458e-6 T^{3/2}/(T + 110.4) kg/(m s), 1.7894e-5 at 288.15
    // K.
    let air = Viscosity::Sutherland { mu_ref: 1.716e-5, t_ref: 273.15, s: 110.4 };
    assert!((air.at(288.15) - 1.7894e-5_f64).abs() < 2e-9);
    for t in [200.0f64, 273.15, 288.15, 400.0, 1000.0] {
        let tabulated = 1.458e-6 * t.powf(1.5) / (t + 110.4);
        assert!((air.at(t) / tabulated - 1.0).abs() < 2e-4, "{t} K: {:e} {tabulated:e}", air.at(t));
    }
    // The exponent is that of the power law; the viscosity is the reference one at the reference temperature.
    let power = Viscosity::PowerLaw { mu_ref: 2.0, t_ref: 300.0, exponent: 0.5 };
    assert_eq!((power.at(300.0), power.at(1200.0)), (2.0, 4.0));
}
