//! Exact solutions satisfy their equations: residuals through dual numbers, jumps by Rankine–Hugoniot.

use crate::states::{GAS, config};
use dgsuite_physics::exact::{
    BetaVortex, ClosedForm, EntropyWave, GasState, GaussianPulse, IsentropicVortex, RiemannProblem, SineWave,
    Solution, SupersonicVortex, Uniform, VortexTube,
};
use dgsuite_physics::{Advection, Dual, Euler, Exact, Law};
use proptest::prelude::*;

/// `∂u/∂t + Σ_d ∂F_d(u)/∂x_d` at a point relative to the size of its terms, largest over the unknowns.
fn residual<L, S, const D: usize, const N: usize>(law: &L, solution: &S, t: f64, x: [f64; 3]) -> f64
where
    L: Law<D, N>,
    S: Solution<N>,
{
    let form = ClosedForm::<L, S, D, N>::new(law.clone(), solution.clone());
    let mut sum = form.state(Dual::variable(t), &x.map(Dual::constant)).map(|u| u.derivative);
    let mut size = sum.map(f64::abs);
    for d in 0..D {
        let mut seeded = x.map(Dual::constant);
        seeded[d] = Dual::variable(x[d]);
        let f = law.flux(&form.state(Dual::constant(t), &seeded))[d];
        for k in 0..N {
            sum[k] += f[k].derivative;
            size[k] += f[k].derivative.abs();
        }
    }
    let largest = size.iter().copied().fold(0.0, f64::max);
    (0..N).map(|k| sum[k].abs() / (1.0 + largest)).fold(0.0, f64::max)
}

/// The variation of the solution: a constant would pass every test above.
fn variation<S: Solution<N>, const N: usize>(solution: &S, t: f64, x: [f64; 3]) -> f64 {
    let slopes = (0..3).flat_map(|d| {
        let mut seeded = x.map(Dual::constant);
        seeded[d] = Dual::variable(x[d]);
        solution.primitive(Dual::constant(t), &seeded).map(|w| w.derivative.abs())
    });
    slopes.fold(0.0, f64::max)
}

#[test]
fn smooth_flows_satisfy_the_euler_equations() {
    fn check<S: Solution<N>, const D: usize, const N: usize>(name: &str, solution: &S, points: &[[f64; 3]])
    where
        Euler: Law<D, N>,
    {
        let mut varies = 0f64;
        for &x in points {
            for t in [0.0, 0.37, 1.9] {
                let r = residual::<_, _, D, N>(&GAS, solution, t, x);
                assert!(r < 2e-14, "{name} in {D}D at {x:?}, t = {t}: residual {r:e}");
                varies = varies.max(variation::<_, N>(solution, t, x));
            }
        }
        assert!(varies > 1e-2, "{name} hardly varies: {varies:e}");
    }
    let points: Vec<[f64; 3]> = (0..60)
        .map(f64::from)
        .map(|i| [2.0 * (1.7 * i).sin(), 2.0 * (2.3 * i).cos(), 2.0 * (0.9 * i).sin()])
        .collect();
    let strong = IsentropicVortex {
        epsilon: 4.0,
        mach: 0.8,
        radius: 1.5,
        density: 1.7,
        velocity: [1.3, -0.6, 0.0],
        centre: [0.4, 0.3, 0.0],
        period: [9.0, 8.0, 0.0],
        ..IsentropicVortex::new(GAS)
    };
    let near = BetaVortex { centre: [0.3, -0.2, 0.0], velocity: [1.0, -0.4, 0.7], ..BetaVortex::new(GAS) };
    let wave = EntropyWave { waves: [1.0, 2.0, -1.0], amplitude: 0.7, ..EntropyWave::new(3) };
    check::<_, 2, 4>("isentropic vortex", &IsentropicVortex::new(GAS), &points);
    check::<_, 3, 5>("isentropic vortex", &IsentropicVortex::new(GAS), &points);
    check::<_, 2, 4>("isentropic vortex, strong and periodic", &strong, &points);
    check::<_, 2, 4>("vortex of strength beta", &near, &points);
    check::<_, 3, 5>("vortex of strength beta", &near, &points);
    check::<_, 3, 5>("vortex tube", &VortexTube::new(GAS), &points);
    check::<_, 2, 4>("entropy wave", &wave, &points);
    check::<_, 3, 5>("entropy wave", &wave, &points);
    let annulus: Vec<[f64; 3]> = (0..40)
        .map(f64::from)
        .map(|i| (1.0 + 0.384 * (i / 39.0), 0.04 * i))
        .map(|(r, a)| [r * a.cos(), r * a.sin(), 0.0])
        .collect();
    check::<_, 2, 4>("supersonic vortex", &SupersonicVortex::new(GAS), &annulus);
    let wide = SupersonicVortex { inner_radius: 0.8, mach: 1.7, density: 2.0, ..SupersonicVortex::new(GAS) };
    check::<_, 2, 4>("supersonic vortex, other parameters", &wide, &annulus);
}

#[test]
fn waves_and_pulses_satisfy_the_advection_equation() {
    let velocity = [0.7, -1.3, 0.4];
    let wave = SineWave { mean: 0.5, amplitude: 2.0, velocity, waves: [1.0, -2.0, 3.0], length: 1.5 };
    let pulse = GaussianPulse {
        mean: 0.1,
        amplitude: 1.5,
        width: 0.3,
        velocity,
        centre: [0.2, 0.1, -0.1],
        period: [1.0, 2.0, 3.0],
        dim: 3,
    };
    let law = Advection { velocity };
    for i in 0..40 {
        let s = f64::from(i);
        let x = [(1.7 * s).sin(), (2.3 * s).cos(), (0.9 * s).sin()];
        assert!(residual::<_, _, 3, 1>(&law, &wave, 0.1 * s, x) < 1e-13);
        assert!(residual::<_, _, 3, 1>(&law, &pulse, 0.1 * s, x) < 1e-13);
    }
    assert!(variation::<_, 1>(&pulse, 0.0, [0.4, 0.1, -0.1]) > 1.0);
}

#[test]
fn the_supersonic_vortex_has_the_published_values_at_the_outer_wall() {
    let w: [f64; 4] = SupersonicVortex::new(GAS).primitive(0.0, &[0.0, 1.384, 0.0]);
    let expected = [2.682_349_86, 1.625_722_54, 0.0, 2.843_109_30];
    for k in 0..4 {
        assert!((w[k] - expected[k]).abs() < 1e-8, "{w:?}");
    }
    let mach = w[1] / (GAS.gamma * w[3] / w[0]).sqrt();
    assert!((mach - 1.334_576_10).abs() < 1e-8);
}

#[test]
fn the_isentropic_vortex_has_the_published_extremes() {
    let vortex = IsentropicVortex::new(GAS);
    let [rho, u, _, p]: [f64; 4] = vortex.primitive(0.0, &[0.0, 0.0, 0.0]);
    let p_inf = 20.0 / 7.0;
    assert!((rho - 0.999_225_563).abs() < 1e-9 && (p / p_inf - 0.998_915_956).abs() < 1e-9);
    assert!((u - 0.5f64.sqrt()).abs() < 1e-15);
    // Largest swirl ε/2π at the core radius.
    let w: [f64; 4] = vortex.primitive(0.0, &[0.0, 1.0, 0.0]);
    assert!((0.5f64.sqrt() - w[1] - 0.3 / std::f64::consts::TAU).abs() < 1e-15);
}

#[test]
fn a_periodic_vortex_comes_back() {
    let vortex = IsentropicVortex { period: [10.0, 10.0, 0.0], ..IsentropicVortex::new(GAS) };
    for x in [[0.0, 0.0, 0.0], [4.9, -4.9, 0.0], [-1.0, 3.0, 0.0]] {
        let now: [f64; 4] = vortex.primitive(0.0, &x);
        let later: [f64; 4] = vortex.primitive(20.0 * 0.5f64.sqrt(), &x);
        let image: [f64; 4] = vortex.primitive(0.0, &[x[0] + 20.0, x[1] - 10.0, 0.0]);
        for k in 0..4 {
            assert!((now[k] - later[k]).abs() < 1e-14 && (now[k] - image[k]).abs() < 1e-14);
        }
    }
}

#[test]
fn a_uniform_state_is_the_same_everywhere() {
    let form = ClosedForm::<_, _, 2, 4>::new(GAS, Uniform { primitive: [1.2, 0.3, -0.4, 0.9] });
    assert!(form.is_steady());
    let mut out = vec![vec![9.0; 7]; 4];
    form.eval(3.0, &[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &mut out);
    let u = GAS.to_conserved(&[1.2, 0.3, -0.4, 0.9]);
    for k in 0..4 {
        assert_eq!(out[k], [u[k], u[k]], "and earlier contents are dropped");
    }
}

fn tube(left: [f64; 3], right: [f64; 3]) -> RiemannProblem {
    let state = |[density, u, pressure]: [f64; 3]| GasState { density, velocity: [u, 0.0, 0.0], pressure };
    RiemannProblem::new(GAS, state(left), state(right), [1.0, 0.0, 0.0], 0.0).unwrap()
}

#[test]
fn sod_has_the_known_star_region() {
    let sod = RiemannProblem::sod(GAS, 0.0).unwrap();
    let star = sod.star();
    assert!((star.pressure - 0.303_130_18).abs() < 1e-8 && (star.velocity - 0.927_452_62).abs() < 1e-8);
    let [l, r] = sod.star_densities();
    assert!((l - 0.426_319_43).abs() < 1e-8 && (r - 0.265_573_71).abs() < 1e-8);
    let positions = sod.speeds().map(|s| 0.2 * s);
    for (got, known) in positions.iter().zip([-0.236_643, -0.014_055, 0.185_491, 0.350_431, 0.350_431]) {
        assert!((got - known).abs() < 1e-6, "{positions:?}");
    }
    assert!((sod.speeds()[4] - 1.752_155_73).abs() < 1e-8);
}

/// Star values of the five test problems in Toro 2009, Tables 4.1 to 4.3.
#[test]
fn toros_problems_have_the_printed_star_regions() {
    for (left, right, p, u) in [
        ([1.0, 0.0, 1.0], [0.125, 0.0, 0.1], 0.30313, 0.92745),
        ([1.0, -2.0, 0.4], [1.0, 2.0, 0.4], 0.00189, 0.0),
        ([1.0, 0.0, 1000.0], [1.0, 0.0, 0.01], 460.894, 19.5975),
        ([1.0, 0.0, 0.01], [1.0, 0.0, 100.0], 46.0950, -6.19633),
        ([5.99924, 19.5975, 460.894], [5.99242, -6.19633, 46.0950], 1691.64, 8.68975),
    ] {
        let star = tube(left, right).star();
        assert!((star.pressure - p).abs() < 6e-6 * p.max(1.0), "{star:?} for p* = {p}");
        assert!((star.velocity - u).abs() < 6e-6 * u.abs().max(1.0), "{star:?} for u* = {u}");
    }
}

#[test]
fn at_time_zero_the_states_meet_at_the_diaphragm() {
    let sod = RiemannProblem::sod(GAS, 0.5).unwrap();
    let at = |t: f64, x: f64| -> [f64; 4] { sod.primitive(t, &[x, 0.3, 0.0]) };
    assert_eq!(at(0.0, 0.499_999), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(at(0.0, 0.5), [0.125, 0.0, 0.0, 0.1]);
    assert_eq!(at(0.2, 0.5 - 0.237), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(at(0.2, 0.5 + 0.351), [0.125, 0.0, 0.0, 0.1]);
}

fn random_state() -> impl Strategy<Value = [f64; 3]> {
    let log = || (-2.0f64..2.0).prop_map(|x| 10f64.powf(x));
    (log(), -3.0..3.0f64, log()).prop_map(|(rho, u, p)| [rho, u, p])
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn riemann_problems_satisfy_equations_and_jump_conditions(
        left in random_state(), right in random_state(), shear in [-1.0..1.0f64, -1.0..1.0], angle in 0.0..std::f64::consts::TAU,
    ) {
        let n = [angle.cos(), angle.sin(), 0.0];
        let state = |[density, u, pressure]: [f64; 3], s: f64| GasState {
            density,
            velocity: [u * n[0] - s * n[1], u * n[1] + s * n[0], 0.0],
            pressure,
        };
        let made = RiemannProblem::new(GAS, state(left, shear[0]), state(right, shear[1]), n, 0.25);
        prop_assume!(made.is_ok()); // no vacuum
        let problem = made.unwrap();
        // Nor nearly one: in a fan dρ/ds = 2/(γ + 1) ρ/c is steep, and p* is at least 1e-30 of the pressures.
        prop_assume!(problem.star().pressure > 1e-24 * left[2].min(right[2]));
        let speeds = problem.speeds();
        for i in 0..4 {
            prop_assert!(speeds[i] <= speeds[i + 1] + 1e-12 * speeds[i].abs(), "waves in order: {speeds:?}");
        }
        let t = 0.7;
        let at = |speed: f64| -> [f64; 3] { std::array::from_fn(|d| n[d] * (0.25 + speed * t)) };
        // Between the waves, at thirds of each interval; outside as well.
        let width = (speeds[4] - speeds[0]).max(1e-3);
        let mut samples = vec![speeds[0] - 0.1 * width, speeds[4] + 0.1 * width];
        for i in 0..4 {
            let gap = speeds[i + 1] - speeds[i];
            if gap > 1e-6 * width {
                samples.extend([speeds[i] + gap / 3.0, speeds[i] + gap / 1.5]);
            }
        }
        for s in samples {
            let r = residual::<_, _, 2, 4>(&GAS, &problem, t, at(s));
            prop_assert!(r < 1e-11, "residual {r:e} at speed {s} of {speeds:?}");
        }
        // Rankine–Hugoniot at shocks and the contact, continuity at rarefaction edges.
        let eps = 1e-9 * width;
        let state = |speed: f64| GAS.to_conserved(&Solution::<4>::primitive(&problem, t, &at(speed)));
        let normal = [n[0], n[1]];
        for (i, s) in speeds.into_iter().enumerate() {
            let shock = i != 2 && speeds[if i < 2 { 1 - i } else { 7 - i }] == s;
            let (a, b) = (state(s - eps), state(s + eps));
            let (fa, fb) = (GAS.normal_flux(&a, &normal), GAS.normal_flux(&b, &normal));
            for k in 0..4 {
                let size = fa[k].abs() + fb[k].abs() + s.abs() * (a[k].abs() + b[k].abs()) + left[2] + right[2];
                if shock || i == 2 {
                    let jump = fb[k] - fa[k] - s * (b[k] - a[k]);
                    prop_assert!(jump.abs() < 1e-6 * size, "jump {jump:e} of {k} at wave {i}: {speeds:?}");
                } else {
                    let change = (b[k] - a[k]).abs();
                    let size = a[k].abs() + b[k].abs() + a[0] + a[3];
                    prop_assert!(change < 1e-4 * size, "change {change:e} of {k} at wave {i}: {speeds:?}");
                }
            }
        }
    }
}

#[test]
fn states_that_leave_a_vacuum_are_refused() {
    let state = |u: f64| GasState { density: 1.0, velocity: [u, 0.0, 0.0], pressure: 1.0 };
    let apart = |u: f64| RiemannProblem::new(GAS, state(-u), state(u), [1.0, 0.0, 0.0], 0.0);
    let limit = 2.0 * GAS.gamma.sqrt() / (GAS.gamma - 1.0);
    assert!(apart(0.99 * limit).is_ok());
    assert!(apart(1.01 * limit).unwrap_err().to_string().contains("vacuum"));
}
