//! Properties of the numerical fluxes, each for every flux that has it, in 2D and 3D.

use crate::states::*;
use dgsuite_physics::two_point::{KennedyGruber, Ranocha};
use dgsuite_physics::{
    Advection, Dual, Euler, FaceMean, Hll, Hllc, Law, NumericalFlux, Roe, Rusanov, Slau2, TwoPointFlux,
    gas_fluxes,
};
use proptest::prelude::*;

const ROE: Roe = Roe::PLAIN;
const LOW_MACH: Roe = Roe::LOW_MACH;
const SPARING: Roe = Roe { mean: FaceMean::KennedyGruber, dissipation: 0.2, ..Roe::LOW_MACH };

/// Runs a generic check for the named fluxes in both dimensions.
macro_rules! for_each {
    (@call $check:ident, $flux:expr, ($($argument:expr),*)) => {
        $check::<_, 2, 4>($flux, $($argument),*);
        $check::<_, 3, 5>($flux, $($argument),*);
    };
    ($check:ident, [$($flux:ident),+], $arguments:tt) => {
        $( for_each!(@call $check, $flux, $arguments); )+
    };
}

/// Runs a generic check for all fluxes, and Roe's with a share of its dissipation, in both dimensions.
macro_rules! for_all {
    ($check:ident, $arguments:tt) => {
        gas_fluxes!(each_row! { $check, $arguments; });
        for_each!(@call $check, SPARING, $arguments);
    };
}

/// The rows of `gas_fluxes!`.
macro_rules! each_row {
    ($check:ident, $arguments:tt; $($variant:ident $word:literal $value:expr, $text:literal;)*) => {
        $( for_each!(@call $check, $value, $arguments); )*
    };
}

fn consistent<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(flux: F, g: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let (u, n) = (g.state::<D, N>(), unit::<D>(n));
    let size = flux_scale::<D, N>(&[&u]);
    assert_close(F::NAME, &flux.eval(&GAS, &u, &u, &n), &GAS.normal_flux(&u, &n), &size, 1e-13);
}

fn scales_exactly<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
    scale: f64,
) where
    Euler: Law<D, N>,
{
    let (a, b, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    let by_hand = flux.eval(&GAS, &a, &b, &n).map(|f| f * scale);
    assert_eq!(flux.eval_scaled(&GAS, &a, &b, &n, scale), by_hand, "{}", F::NAME);
}

fn antisymmetric<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
) where
    Euler: Law<D, N>,
{
    let (a, b, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    let forth = flux.eval(&GAS, &a, &b, &n);
    let back = flux.eval(&GAS, &b, &a, &n.map(|x| -x)).map(|f| -f);
    assert_close(F::NAME, &forth, &back, &flux_scale::<D, N>(&[&a, &b]), 1e-12);
}

fn turns_with_the_states<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
    mirrors: [[f64; 3]; 2],
) where
    Euler: Law<D, N>,
{
    let (a, b, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    let turned = flux.eval(
        &GAS,
        &rotate_state::<D, N>(&a, mirrors),
        &rotate_state::<D, N>(&b, mirrors),
        &rotate(&n, mirrors),
    );
    let expected = rotate_state::<D, N>(&flux.eval(&GAS, &a, &b, &n), mirrors);
    assert_close(F::NAME, &turned, &expected, &flux_scale::<D, N>(&[&a, &b]), 1e-11);
}

/// A share of the dissipation added to each of the means, and all of it on boundaries.
fn dissipates_by_shares<const D: usize, const N: usize>(a: Gas, b: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let (a, b, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    let (fa, fb) = (GAS.normal_flux(&a, &n), GAS.normal_flux(&b, &n));
    let fluxes: [f64; N] = std::array::from_fn(|k| 0.5 * (fa[k] + fb[k]));
    let means = [
        (FaceMean::Fluxes, fluxes),
        (FaceMean::KennedyGruber, KennedyGruber.eval(&GAS, &a, &b, &n)),
        (FaceMean::Ranocha, Ranocha.eval(&GAS, &a, &b, &n)),
    ];
    let size = flux_scale::<D, N>(&[&a, &b]);
    for whole in [ROE, LOW_MACH] {
        let roe = whole.eval(&GAS, &a, &b, &n);
        for ((mean, f), share) in means.into_iter().zip([0.3, 1.0, 0.0]) {
            let flux = Roe { mean, dissipation: share, ..whole };
            let expected = std::array::from_fn(|k| f[k] - share * (fluxes[k] - roe[k]));
            assert_close("roe", &flux.eval(&GAS, &a, &b, &n), &expected, &size, 1e-12);
        }
    }
}

/// If all waves move in one direction, the flux is that of the upwind side.
fn upwind<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(flux: F, a: Gas, b: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let n3 = n;
    let n = unit::<D>(n);
    // A normal speed so large that the slowest wave of these states and of their Roe average has the same
    // direction.
    let jump: f64 = (0..3).map(|d| (a.v[d] - b.v[d]).powi(2)).sum::<f64>().sqrt();
    let boost = 8.0 + 2.0 * (a.c() + b.c() + jump);
    let moved = |g: Gas, sign: f64| {
        let length = n3[..D].iter().map(|x| x * x).sum::<f64>().sqrt();
        let v = std::array::from_fn(|d| g.v[d] + if d < D { sign * boost * n3[d] / length } else { 0.0 });
        Gas { v, ..g }.state::<D, N>()
    };
    for (sign, from_minus) in [(1.0, true), (-1.0, false)] {
        let (um, up) = (moved(a, sign), moved(b, sign));
        let expected = GAS.normal_flux(if from_minus { &um } else { &up }, &n);
        let size = flux_scale::<D, N>(&[&um, &up]);
        assert_close(F::NAME, &flux.eval(&GAS, &um, &up, &n), &expected, &size, 1e-12);
    }
}

/// The flux of mass and energy through a contact at rest, also with shear, is zero.
fn keeps_a_contact<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
) where
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let slide = |g: Gas| {
        let v: [f64; D] = std::array::from_fn(|d| g.v[d]);
        let vn = dot(&v, &n);
        Gas { rho: g.rho, v: std::array::from_fn(|d| if d < D { v[d] - vn * n[d] } else { 0.0 }), p: a.p }
            .state::<D, N>()
    };
    let (um, up) = (slide(a), slide(b));
    let expected = std::array::from_fn(|k| if k == 0 || k == N - 1 { 0.0 } else { a.p * n[k - 1] });
    let size = flux_scale::<D, N>(&[&um, &up]);
    assert_close(F::NAME, &flux.eval(&GAS, &um, &up, &n), &expected, &size, 1e-13);
}

/// States on both sides of a steady shock in a flow of the given Mach number (Rankine–Hugoniot).
fn standing_shock(ahead: Gas, mach: f64, n: [f64; 3], dim: usize) -> (Gas, Gas) {
    let g = GAS.gamma;
    let m2 = mach * mach;
    let p = ahead.p * (2.0 * g * m2 - (g - 1.0)) / (g + 1.0);
    let rho = ahead.rho * (g + 1.0) * m2 / ((g - 1.0) * m2 + 2.0);
    let length = n[..dim].iter().map(|x| x * x).sum::<f64>().sqrt();
    let along = |speed: f64| std::array::from_fn(|d| if d < dim { speed * n[d] / length } else { 0.0 });
    let speed = mach * ahead.c();
    (Gas { v: along(speed), ..ahead }, Gas { rho, v: along(speed * ahead.rho / rho), p })
}

/// A single shock, at rest or with any velocity, also with shear: the flux is exactly that of the side in
/// which the face lies.
fn keeps_a_shock<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    g: Gas,
    mach: f64,
    n: [f64; 3],
    frames: &[[f64; 3]],
) where
    Euler: Law<D, N>,
{
    let (ahead, behind) = standing_shock(g, mach, n, D);
    let n = unit::<D>(n);
    let moving = |side: Gas, frame: [f64; 3]| {
        let v = std::array::from_fn(|d| side.v[d] + frame[d]);
        Gas { v, ..side }.state::<D, N>()
    };
    for &frame in frames {
        let (um, up) = (moving(ahead, frame), moving(behind, frame));
        let speed = dot(&std::array::from_fn::<f64, D, _>(|d| frame[d]), &n);
        let expected = GAS.normal_flux(if speed > 0.0 { &um } else { &up }, &n);
        let size = flux_scale::<D, N>(&[&um, &up]);
        assert_close(F::NAME, &flux.eval(&GAS, &um, &up, &n), &expected, &size, 1e-12);
    }
}

/// The same two states exchanged would be a shock that decreases entropy: no flux may preserve it.
fn breaks_an_expansion_shock<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    g: Gas,
    mach: f64,
    n: [f64; 3],
) where
    Euler: Law<D, N>,
{
    let (ahead, behind) = standing_shock(g, mach, n, D);
    let (um, up, n) = (behind.state::<D, N>(), ahead.state::<D, N>(), unit::<D>(n));
    let kept = GAS.normal_flux(&um, &n);
    let got = flux.eval(&GAS, &um, &up, &n);
    let relative = (got[0] - kept[0]).abs() / kept[0].abs();
    assert!(
        relative > 0.01 * (mach - 1.0),
        "{} keeps an expansion shock of Mach {mach}: {relative:e}",
        F::NAME
    );
}

fn derivative_is_that_of_differences<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    a: Gas,
    b: Gas,
    n: [f64; 3],
    along: [f64; 5],
) where
    Euler: Law<D, N>,
{
    let (a, b, n) = (a.state::<D, N>(), b.state::<D, N>(), unit::<D>(n));
    // Changes both sides in proportion to the state, so that it stays admissible.
    let step = |u: &[f64; N], k: usize, side: f64| along[k] * side * (0.2 * u[0] + 0.05 * u[k].abs());
    let da: [f64; N] = std::array::from_fn(|k| step(&a, k, 1.0));
    let db: [f64; N] = std::array::from_fn(|k| step(&b, k, -0.7));
    let seeded = |u: &[f64; N], du: &[f64; N]| std::array::from_fn(|k| Dual::new(u[k], du[k]));
    let dual = flux.eval(&GAS, &seeded(&a, &da), &seeded(&b, &db), &n.map(Dual::constant));
    let at = |h: f64| {
        let moved = |u: &[f64; N], du: &[f64; N]| std::array::from_fn(|k| u[k] + h * du[k]);
        flux.eval(&GAS, &moved(&a, &da), &moved(&b, &db), &n)
    };
    let h = 1e-6;
    let (ahead, behind) = (at(h), at(-h));
    let slope = std::array::from_fn(|k| (ahead[k] - behind[k]) / (2.0 * h));
    // Slopes change fast if the pressure is small compared with the kinetic energy.
    let stiff = |g: &[f64; N]| g[N - 1] / (Law::<D, N>::to_primitive(&GAS, g)[N - 1]);
    let factor = 1.0 + stiff(&a) + stiff(&b);
    let size = flux_scale::<D, N>(&[&a, &b]).map(|s| s * factor * factor);
    assert_close(F::NAME, &dual.map(|d| d.derivative), &slope, &size, 1e-8);
}

/// One explicit step of first order at half the stable step keeps density and pressure positive.
fn keeps_positive<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(
    flux: F,
    cells: [Gas; 3],
    n: [f64; 3],
) where
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let u = cells.map(|g| g.state::<D, N>());
    let fastest = [(0, 1), (1, 2)]
        .map(|(i, j)| {
            let roe = roe_speed(&cells[i], &cells[j], D);
            roe.max(Law::<D, N>::max_speed(&GAS, &u[i])).max(Law::<D, N>::max_speed(&GAS, &u[j]))
        })
        .into_iter()
        .fold(0.0, f64::max);
    let (left, right) = (flux.eval(&GAS, &u[0], &u[1], &n), flux.eval(&GAS, &u[1], &u[2], &n));
    let next: [f64; N] = std::array::from_fn(|k| u[1][k] - 0.5 / fastest * (right[k] - left[k]));
    let least = Law::<D, N>::admissibility(&GAS, &next);
    assert!(least > 0.0, "{}: {next:?} has lost positivity ({least:e})", F::NAME);
}

/// Bound of the wave speeds of Roe's average.
fn roe_speed(a: &Gas, b: &Gas, dim: usize) -> f64 {
    let w = a.rho.sqrt() / (a.rho.sqrt() + b.rho.sqrt());
    let enthalpy = |g: &Gas| {
        GAS.gamma / (GAS.gamma - 1.0) * g.p / g.rho + 0.5 * g.v[..dim].iter().map(|v| v * v).sum::<f64>()
    };
    let v2: f64 = (0..dim).map(|d| (w * a.v[d] + (1.0 - w) * b.v[d]).powi(2)).sum();
    let c2 = (GAS.gamma - 1.0) * (w * enthalpy(a) + (1.0 - w) * enthalpy(b) - 0.5 * v2);
    v2.sqrt() + c2.sqrt()
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn all_are_consistent(g in gas(), n in direction()) {
        for_all!(consistent, (g, n));
    }

    #[test]
    fn all_scale_exactly(a in gas(), b in gas(), n in direction(), scale in 1e-3..1e3f64) {
        for_all!(scales_exactly, (a, b, n, scale));
    }

    #[test]
    fn all_are_antisymmetric(a in gas(), b in gas(), n in direction()) {
        for_all!(antisymmetric, (a, b, n));
    }

    #[test]
    fn all_turn_with_the_states(a in gas(), b in gas(), n in direction(), p in direction(), q in direction()) {
        for_all!(turns_with_the_states, (a, b, n, [p, q]));
    }

    #[test]
    fn roe_dissipates_by_shares(a in gas(), b in gas(), n in direction()) {
        dissipates_by_shares::<2, 4>(a, b, n);
        dissipates_by_shares::<3, 5>(a, b, n);
    }

    #[test]
    fn hll_hllc_and_roe_are_upwind_in_supersonic_flow(a in gas(), b in gas(), n in direction()) {
        for_each!(upwind, [Hll, Hllc, ROE, LOW_MACH], (a, b, n));
    }

    #[test]
    fn hllc_roe_and_slau2_keep_contacts(a in gas(), b in gas(), n in direction()) {
        for_each!(keeps_a_contact, [Hllc, ROE, LOW_MACH, Slau2], (a, b, n));
    }

    #[test]
    fn hll_hllc_and_roe_are_exact_for_single_shocks(g in gas(), mach in 1.05..8.0f64, n in direction()) {
        for_each!(keeps_a_shock, [Hll, Hllc, ROE], (g, mach, n, &[[0.0; 3], g.v]));
        // With a moving shock, both sides may be subsonic.
        for_each!(keeps_a_shock, [LOW_MACH], (g, mach, n, &[[0.0; 3]]));
    }

    #[test]
    fn none_keeps_an_expansion_shock(g in gas(), mach in 1.05..3.0f64, n in direction()) {
        for_each!(breaks_an_expansion_shock, [Rusanov, Hll, Hllc, ROE, LOW_MACH], (g, mach, n));
    }

    #[test]
    fn derivatives_agree_with_differences(
        a in gas(), b in gas(), n in direction(), along in prop::array::uniform5(-1.0..1.0f64),
    ) {
        for_all!(derivative_is_that_of_differences, (a, b, n, along));
    }

    #[test]
    fn rusanov_hll_and_hllc_keep_density_and_pressure_positive(a in gas(), b in gas(), c in gas(), n in direction()) {
        for_each!(keeps_positive, [Rusanov, Hll, Hllc], ([a, b, c], n));
    }

    #[test]
    fn rusanov_is_the_upwind_flux_of_advection(
        a in direction(), n in direction(), um in -5.0..5.0f64, up in -5.0..5.0f64,
    ) {
        let law = Advection { velocity: a };
        let n = unit::<3>(n);
        let an = dot(&a, &n);
        let f = Rusanov.eval(&law, &[um], &[up], &n);
        let expected = an * if an > 0.0 { um } else { up };
        prop_assert!((f[0] - expected).abs() <= 1e-14 * (um.abs() + up.abs()) * an.abs().max(1e-3));
    }
}

/// Two streams with small opposite normal velocities: the pressure of Roe's flux is `ρ c Δv/2`, as for sound;
/// the pressure of the other flux is `ρ |v| Δv/2`, as for convection.
#[test]
fn the_fix_for_low_mach_numbers_scales_the_pressure_of_sound() {
    let (mach, jump) = (0.01, 1e-6);
    let gas = |vn: f64| Gas { rho: 1.0, v: [vn, mach, 0.0], p: 1.0 / GAS.gamma }.state::<3, 5>();
    let pressure = |flux: Roe| {
        flux.eval(&GAS, &gas(0.5 * jump), &gas(-0.5 * jump), &[1.0, 0.0, 0.0])[1] - 1.0 / GAS.gamma
    };
    assert!((pressure(ROE) / (0.5 * jump) - 1.0).abs() < 1e-3);
    assert!((pressure(LOW_MACH) / (0.5 * jump * mach) - 1.0).abs() < 1e-3);
}

#[test]
fn names_are_those_of_pipeline_files() {
    fn name<F: NumericalFlux<Euler, 2, 4>>(_: F) -> &'static str {
        F::NAME
    }
    macro_rules! names {
        ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
            // One type has the words of both of Roe's fluxes.
            $( assert!($word.starts_with(name($value)), "{}", $word); )*
        };
    }
    gas_fluxes!(names! {});
}
