//! Two-point fluxes are consistent and symmetric, and conserve their quantities.

use crate::states::*;
use dgsuite_physics::two_point::{KennedyGruber, Ranocha, TwoPointFlux, logarithmic_mean};
use dgsuite_physics::{Euler, Law};
use proptest::prelude::*;

fn consistent_symmetric_and_linear<F, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
    scale: f64,
) where
    Euler: Law<D, N>,
    F: TwoPointFlux<Euler, D, N>,
{
    let (ul, ur, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    let one = flux_scale::<D, N>(&[&ul]);
    assert_close(F::NAME, &flux.eval(&GAS, &ul, &ul, &n), &GAS.normal_flux(&ul, &n), &one, 1e-12);
    let f = flux.eval(&GAS, &ul, &ur, &n);
    // Means of densities times means of velocities are bounded by the sums' products.
    let speed = Law::<D, N>::max_speed(&GAS, &ul) + Law::<D, N>::max_speed(&GAS, &ur);
    let rho = ul[0] + ur[0];
    let size: [f64; N] = std::array::from_fn(|k| match k {
        0 => rho * speed,
        k if k == N - 1 => rho * speed * speed * speed,
        _ => rho * speed * speed,
    });
    assert_close(F::NAME, &flux.eval(&GAS, &ur, &ul, &n), &f, &size, 1e-13);
    let scaled = flux.eval(&GAS, &ul, &ur, &n.map(|n| scale * n));
    assert_close(F::NAME, &scaled, &f.map(|f| scale * f), &size.map(|s| s * scale.abs()), 1e-13);
}

/// Entropy variables of `−ρ s/(γ−1)` with `s = ln(p/ρ^γ)`; the entropy potential is `ρ v`.
fn entropy_variables<const D: usize, const N: usize>(g: Gas) -> [f64; N] {
    let v: [f64; D] = std::array::from_fn(|d| g.v[d]);
    let s = g.p.ln() - GAS.gamma * g.rho.ln();
    let beta = g.rho / g.p;
    std::array::from_fn(|k| match k {
        0 => (GAS.gamma - s) / (GAS.gamma - 1.0) - 0.5 * beta * dot(&v, &v),
        k if k == N - 1 => -beta,
        k => beta * v[k - 1],
    })
}

/// `Δw·f# − Δψ` relative to the terms in it.
fn entropy_defect<F, const D: usize, const N: usize>(flux: F, a: Gas, b: Gas, n: [f64; 3]) -> f64
where
    Euler: Law<D, N>,
    F: TwoPointFlux<Euler, D, N>,
{
    let n = unit::<D>(n);
    let f = flux.eval(&GAS, &a.state::<D, N>(), &b.state::<D, N>(), &n);
    let (wa, wb) = (entropy_variables::<D, N>(a), entropy_variables::<D, N>(b));
    let potential = |g: Gas| (0..D).map(|d| g.rho * g.v[d] * n[d]).sum::<f64>();
    let (pa, pb) = (potential(a), potential(b));
    let sum: f64 = (0..N).map(|k| (wb[k] - wa[k]) * f[k]).sum();
    let size: f64 =
        (0..N).map(|k| (wb[k].abs() + wa[k].abs()) * f[k].abs()).sum::<f64>() + pa.abs() + pb.abs();
    (sum - (pb - pa)).abs() / size
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn properties_of_any_two_point_flux(a in gas(), b in gas(), n in direction(), scale in -3.0..3.0f64) {
        consistent_symmetric_and_linear::<_, 2, 4>(KennedyGruber, a, b, n, scale);
        consistent_symmetric_and_linear::<_, 3, 5>(KennedyGruber, a, b, n, scale);
        consistent_symmetric_and_linear::<_, 2, 4>(Ranocha, a, b, n, scale);
        consistent_symmetric_and_linear::<_, 3, 5>(Ranocha, a, b, n, scale);
    }

    #[test]
    fn ranocha_keeps_the_entropy(a in gas(), b in gas(), n in direction(), near in 1e-6..0.1f64) {
        prop_assert!(entropy_defect::<_, 2, 4>(Ranocha, a, b, n) < 1e-13);
        prop_assert!(entropy_defect::<_, 3, 5>(Ranocha, a, b, n) < 1e-13);
        // Also for states so close that the means come from series.
        let close = Gas { rho: a.rho * (1.0 + near), v: a.v.map(|v| v + near), p: a.p * (1.0 - 0.5 * near) };
        prop_assert!(entropy_defect::<_, 3, 5>(Ranocha, a, close, n) < 1e-13);
    }

    #[test]
    fn both_keep_the_kinetic_energy(a in gas(), b in gas(), n in direction()) {
        // f_ρv − {v} f_ρ is the mean pressure along the normal (Jameson 2008).
        let n = unit::<3>(n);
        let (ul, ur) = (a.state::<3, 5>(), b.state::<3, 5>());
        for f in [KennedyGruber.eval(&GAS, &ul, &ur, &n), Ranocha.eval(&GAS, &ul, &ur, &n)] {
            for d in 0..3 {
                let rest = f[1 + d] - 0.5 * (a.v[d] + b.v[d]) * f[0];
                let size = (ul[4] + ur[4]) * 8.0 + f[1 + d].abs();
                prop_assert!((rest - 0.5 * (a.p + b.p) * n[d]).abs() < 1e-14 * size);
            }
        }
    }

    #[test]
    fn the_logarithmic_mean_lies_between(a in 0.01..10.0f64, ratio in 1.0001..50.0f64) {
        let (b, m) = (a * ratio, logarithmic_mean(a, a * ratio));
        prop_assert!((a * b).sqrt() <= m * (1.0 + 1e-14) && m <= 0.5 * (a + b) * (1.0 + 1e-14));
        prop_assert!(logarithmic_mean(a, a) == a);
    }
}

#[test]
fn kennedy_gruber_does_not_keep_the_entropy() {
    let a = Gas { rho: 1.0, v: [0.5, 0.0, 0.0], p: 1.0 };
    let b = Gas { rho: 2.0, v: [-0.2, 0.3, 0.0], p: 3.0 };
    assert!(entropy_defect::<_, 2, 4>(KennedyGruber, a, b, [1.0, 0.2, 0.0]) > 1e-4);
    assert!(entropy_defect::<_, 2, 4>(Ranocha, a, b, [1.0, 0.2, 0.0]) < 1e-15);
}

#[test]
fn the_logarithmic_mean_is_smooth_where_its_series_begins() {
    // f² = 1e-4 at b/a = 1.01/0.99: on both sides of it the mean is ½ (a + b) (1 − f²/3 − 4f⁴/45 − …).
    for f in [0.0099, 0.009_999, 0.010_001, 0.0101f64] {
        let (a, b, f2) = (1.0 - f, 1.0 + f, f * f);
        let expected = 1.0 - f2 / 3.0 - 4.0 / 45.0 * f2 * f2 - 44.0 / 945.0 * f2 * f2 * f2;
        let error = (logarithmic_mean(a, b) - expected).abs();
        assert!(error < 1e-13, "{f}: {error:e}");
    }
}
