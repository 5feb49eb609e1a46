//! Properties of the conservation laws themselves.

use crate::states::*;
use dgsuite_physics::{Advection, Bounded, Dual, Euler, Law};
use proptest::prelude::*;

fn flux_is_linear_in_the_normal<const D: usize, const N: usize>(g: Gas, n: [f64; 3], scale: f64)
where
    Euler: Law<D, N>,
{
    let u = g.state::<D, N>();
    let n: [f64; D] = std::array::from_fn(|d| scale * n[d]);
    let f = GAS.flux(&u);
    let sum = std::array::from_fn(|k| (0..D).map(|d| f[d][k] * n[d]).sum::<f64>());
    let size = flux_scale::<D, N>(&[&u]).map(|s| s * scale.abs());
    assert_close("F·n", &GAS.normal_flux(&u, &n), &sum, &size, 1e-14);
}

/// `∂(F·n)/∂u r = λ r` for the sound wave `r = (1, v + c n, H + c v_n)`, `λ = v_n + c`, and for the entropy
/// wave.
fn wave_speeds_are_eigenvalues_of_the_flux<const D: usize, const N: usize>(g: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let u = g.state::<D, N>();
    let n = unit::<D>(n);
    let v: [f64; D] = std::array::from_fn(|d| g.v[d]);
    let vn = dot(&v, &n);
    let enthalpy = (u[N - 1] + g.p) / g.rho;
    let energy = 0.5 * dot(&v, &v);
    for (sound, last) in [(g.c(), enthalpy + g.c() * vn), (-g.c(), enthalpy - g.c() * vn), (0.0, energy)] {
        let r: [f64; N] = std::array::from_fn(|k| match k {
            0 => 1.0,
            k if k == N - 1 => last,
            k => v[k - 1] + sound * n[k - 1],
        });
        let seeded = std::array::from_fn(|k| Dual::new(u[k], r[k]));
        let f = GAS.normal_flux(&seeded, &n.map(Dual::constant)).map(|f| f.derivative);
        let expected = r.map(|r| (vn + sound) * r);
        let size = r.map(|r| (1.0 + r.abs()) * (1.0 + dot(&v, &v) + g.c() * g.c()) * (1.0 + g.c()));
        assert_close("A r = λ r", &f, &expected, &size, 1e-12);
    }
    let speed = Law::<D, N>::normal_speed(&GAS, &u, &n);
    assert!((speed - (vn.abs() + g.c())).abs() <= 1e-13 * speed);
}

fn speed_in_any_direction_is_the_largest<const D: usize, const N: usize>(g: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let u = g.state::<D, N>();
    let most = Law::<D, N>::max_speed(&GAS, &u);
    assert!(Law::<D, N>::normal_speed(&GAS, &u, &unit(n)) <= most * (1.0 + 1e-14));
    let v: [f64; D] = std::array::from_fn(|d| g.v[d]);
    let along = v.map(|x| x / dot(&v, &v).sqrt());
    assert!((Law::<D, N>::normal_speed(&GAS, &u, &along) - most).abs() <= 1e-13 * most);
}

fn primitive_and_conserved_are_inverse<const D: usize, const N: usize>(g: Gas)
where
    Euler: Law<D, N>,
{
    let u = g.state::<D, N>();
    let w = GAS.to_primitive(&u);
    let back = GAS.to_conserved(&w);
    assert_close("conserved", &back, &u, &u.map(f64::abs), 1e-14);
    // The pressure is a difference of energies.
    assert!((w[N - 1] - g.p).abs() <= 1e-15 * (GAS.gamma - 1.0) * 8.0 * u[N - 1]);
    let least = GAS.admissibility(&u);
    assert!((least - g.rho.min(g.p)).abs() <= 1e-14 * u[N - 1]);
}

/// `change` is relative to the size of each unknown, less than 1, and uses up a part of the bounds.
fn pressures_nearby_follow_from_the_gradient<const D: usize, const N: usize>(
    g: Gas,
    change: [f64; 5],
    part: f64,
) where
    Euler: Bounded<D, N>,
{
    let u = g.state::<D, N>();
    let size: [f64; N] = std::array::from_fn(|k| if k == 0 || k == N - 1 { u[k] } else { g.rho * g.c() });
    let delta: [f64; N] = std::array::from_fn(|k| size[k] * change[k].abs());
    let w: [f64; N] = std::array::from_fn(|k| u[k] + part * size[k] * change[k]);
    let gradient = GAS.pressure_gradient(&u);
    for k in 0..N {
        let seeded = std::array::from_fn(|i| Dual::new(u[i], if i == k { 1.0 } else { 0.0 }));
        let [_, p] = GAS.density_and_pressure(&seeded);
        assert!((p.derivative - gradient[k]).abs() <= 1e-13 * (1.0 + u[N - 1] / g.rho));
    }
    let linear: f64 = (0..N).map(|k| gradient[k] * (w[k] - u[k])).sum();
    let remainder = GAS.density_and_pressure(&w)[1] - g.p - linear;
    let bound = GAS.pressure_remainder(&u, &delta);
    let rounding = 1e-13 * (u[N - 1] + w[N - 1].abs());
    assert!(remainder.abs() <= bound + rounding, "{remainder} {bound}");
    // A change against the flow with less density uses up the bound, if all velocities have this sign.
    let against: [f64; N] = std::array::from_fn(|k| match k {
        0 => u[0] - delta[0],
        k if k == N - 1 => u[k],
        k => u[k] + delta[k] * u[k].signum(),
    });
    let linear: f64 = (0..N).map(|k| gradient[k] * (against[k] - u[k])).sum();
    let remainder = GAS.density_and_pressure(&against)[1] - g.p - linear;
    let rounding = 1e-13 * (u[N - 1] + bound) / (1.0 - change[0].abs());
    assert!((remainder + bound).abs() <= rounding, "{remainder} {bound}");
}

fn the_flux_turns_with_the_state<const D: usize, const N: usize>(g: Gas, n: [f64; 3], mirrors: [[f64; 3]; 2])
where
    Euler: Law<D, N>,
{
    let u = g.state::<D, N>();
    let n = unit::<D>(n);
    let turned = GAS.normal_flux(&rotate_state::<D, N>(&u, mirrors), &rotate(&n, mirrors));
    let expected = rotate_state::<D, N>(&GAS.normal_flux(&u, &n), mirrors);
    assert_close("rotation", &turned, &expected, &flux_scale::<D, N>(&[&u]), 1e-13);
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn euler(g in gas(), n in direction(), a in direction(), b in direction(), scale in -3.0..3.0f64) {
        flux_is_linear_in_the_normal::<2, 4>(g, n, scale);
        flux_is_linear_in_the_normal::<3, 5>(g, n, scale);
        wave_speeds_are_eigenvalues_of_the_flux::<2, 4>(g, n);
        wave_speeds_are_eigenvalues_of_the_flux::<3, 5>(g, n);
        speed_in_any_direction_is_the_largest::<2, 4>(g, n);
        speed_in_any_direction_is_the_largest::<3, 5>(g, n);
        primitive_and_conserved_are_inverse::<2, 4>(g);
        primitive_and_conserved_are_inverse::<3, 5>(g);
        the_flux_turns_with_the_state::<2, 4>(g, n, [a, b]);
        the_flux_turns_with_the_state::<3, 5>(g, n, [a, b]);
    }

    #[test]
    fn pressures_nearby(g in gas(), change in [-0.9..0.9f64, -2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64], part in 0.0..1.0f64) {
        pressures_nearby_follow_from_the_gradient::<2, 4>(g, change, part);
        pressures_nearby_follow_from_the_gradient::<3, 5>(g, change, part);
    }

    #[test]
    fn sums_over_both_sides_are_the_separate_ones(a in gas(), b in gas(), n in direction()) {
        let (um, up, n) = (a.state::<3, 5>(), b.state::<3, 5>(), unit::<3>(n));
        let (sum, speed) = GAS.flux_sum_and_speed(&um, &up, &n);
        let (fm, fp) = (GAS.normal_flux(&um, &n), GAS.normal_flux(&up, &n));
        let size = flux_scale::<3, 5>(&[&um, &up]);
        assert_close("sum", &sum, &std::array::from_fn(|k| fm[k] + fp[k]), &size, 1e-14);
        let larger = GAS.normal_speed(&um, &n).max(GAS.normal_speed(&up, &n));
        prop_assert!((speed - larger).abs() <= 1e-14 * larger);
    }

    #[test]
    fn advection(a in direction(), n in direction(), u in -5.0..5.0f64) {
        let law = Advection { velocity: a };
        let n = unit::<3>(n);
        let f = law.normal_flux(&[u], &n);
        prop_assert!((f[0] - dot(&a, &n) * u).abs() <= 1e-14 * (1.0 + u.abs()));
        prop_assert!(law.normal_speed(&[u], &n) <= law.max_speed(&[u]) * (1.0 + 1e-14));
        let f = law.flux(&[u]);
        prop_assert_eq!([f[0][0], f[1][0], f[2][0]], a.map(|a| a * u));
    }
}

#[test]
fn states_that_make_no_sense_are_not_admissible() {
    let good = [1.0, 0.5, -0.5, 2.0];
    assert!(GAS.admissibility(&good) > 0.0);
    for bad in [
        [-1.0, 0.5, -0.5, 2.0],
        [0.0, 0.5, -0.5, 2.0],
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 0.5, -0.5, 0.2],
        [1.0, 0.5, -0.5, f64::NAN],
        [f64::NAN, 0.5, -0.5, 2.0],
        [1.0, f64::NAN, -0.5, 2.0],
        [1.0, 0.5, -0.5, f64::NEG_INFINITY],
    ] {
        let least = GAS.admissibility(&bad);
        assert!(least.is_nan() || least <= 0.0, "{bad:?} counts as admissible: {least}");
    }
    let law = Advection { velocity: [1.0, 0.0] };
    assert_eq!(law.admissibility(&[3.0]), 1.0);
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(law.admissibility(&[bad]), 0.0);
    }
}

#[test]
fn names_match_the_unknowns() {
    assert_eq!(Law::<2, 4>::variables(&GAS), ["rho", "rho_u", "rho_v", "rho_E"]);
    assert_eq!(Law::<3, 5>::variables(&GAS), ["rho", "rho_u", "rho_v", "rho_w", "rho_E"]);
    assert_eq!(Law::<2, 4>::primitives(&GAS), ["rho", "u", "v", "p"]);
    assert_eq!(Law::<3, 5>::primitives(&GAS), ["rho", "u", "v", "w", "p"]);
}
