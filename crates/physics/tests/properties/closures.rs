//! Closures: exact values, behaviour at walls, invariance, derivatives, and their part of the viscous flux.

use crate::fields::*;
use crate::states::*;
use dgsuite_physics::closures::{EddyViscosity, VelocityGradient, in_space};
use dgsuite_physics::incompressible::{ScalarFormulas, VariableDiffusivity, VariableViscosity};
use dgsuite_physics::trace::StateRecording;
use dgsuite_physics::{
    Closure, Diffusion, DiffusiveBoundary, Dual, Euler, Law, NavierStokes, StressThere, VelocityThere,
};
use proptest::prelude::*;
use std::sync::Arc;

/// `g[d][i] = ∂v_i/∂x_d` of `v = (y, 0, 0)`.
const SHEAR: VelocityGradient<f64> = [[0.0; 3], [1.0, 0.0, 0.0], [0.0; 3]];
/// Of `v = (−y, x, 0)`.
const ROTATION: VelocityGradient<f64> = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0; 3]];
/// Of `v = (x, −y/2, −z/2)`.
const STRAIN: VelocityGradient<f64> = [[1.0, 0.0, 0.0], [0.0, -0.5, 0.0], [0.0, 0.0, -0.5]];

/// Values by hand. Solid rotation: `g² = diag(−1, −1, 0)`, `Sᵈ = diag(−1, −1, 2)/3`, so that `Sᵈ:Sᵈ = 2/3`,
/// `S = 0` and WALE's rate is `(2/3)^{1/4}`; Vreman's `B = 1`, `α:α = 2`. Strain: `S:S = 3/2`,
/// `g² = diag(1, ¼, ¼)`, `Sᵈ = diag(½, −¼, −¼)`, `Sᵈ:Sᵈ = 3/8`; the minors of Vreman's `B` are ½, ½ and ¼.
#[test]
fn rates_of_simple_flows_are_those_by_hand() {
    let (a, b): (f64, f64) = (0.375, 1.5);
    let wale = a.powf(1.5) / (b.powf(2.5) + a.powf(1.25));
    let expected = [
        (Closure::Smagorinsky, [1.0, 0.0, 3f64.sqrt()]),
        (Closure::Wale, [0.0, (2.0f64 / 3.0).powf(0.25), wale]),
        (Closure::Vreman, [0.0, 0.5f64.sqrt(), (0.5625f64 / 1.5).sqrt()]),
        (Closure::Sigma, [0.0, 0.0, 0.0]),
    ];
    for (closure, rates) in expected {
        for (flow, rate) in [SHEAR, ROTATION, STRAIN].iter().zip(rates) {
            let got = closure.rate(flow);
            // Equal singular values are found to √ε: sigma has the root of a difference that is zero.
            let tolerance = if closure == Closure::Sigma { 1e-8 } else { 1e-15 };
            assert!((got - rate).abs() <= tolerance, "{closure:?} of {flow:?}: {got} {rate}");
            let single = closure.rate(&flow.map(|row| row.map(|x| x as f32)));
            let tolerance = if closure == Closure::Sigma { 3e-4 } else { 4e-7 };
            assert!(
                (f64::from(single) - rate).abs() <= tolerance,
                "{closure:?} of {flow:?}: {single} {rate}"
            );
        }
    }
}

#[test]
fn eddy_viscosity_is_the_constant_times_the_width_squared_times_the_rate() {
    let width = 0.25;
    assert_eq!(Closure::Smagorinsky.mixing(0.17, width), (0.17f64 * 0.25).powi(2));
    assert_eq!(Closure::Vreman.mixing(0.07, width), 0.07 * 0.25 * 0.25);
    let closure = EddyViscosity::usual(Closure::Smagorinsky);
    let law = NavierStokes { closure: Some(closure), ..SUTHERLAND };
    let mixing = Diffusion::<3, 5>::coefficient(&law, width).unwrap();
    // ρ = 2 and v = (3 y, 0, 0): ν_t = (C Δ)² 3.
    let mut grad = [[0.0; 5]; 3];
    grad[1][1] = 6.0;
    let nu = law.eddy_viscosity(&[2.0, 0.0, 0.0, 0.0, 5.0], &grad, mixing);
    assert!((nu - 3.0 * (0.17f64 * 0.25).powi(2)).abs() < 1e-17, "{nu}");
    assert_eq!(Diffusion::<3, 5>::coefficient(&SUTHERLAND, width), None);
}

/// The gradient at height `y` above a wall at y = 0 of a flow whose velocities are `y a`, `y² b`, `y c` with
/// smooth functions of x and z and whose divergence is zero at the wall: what turbulence does there.
fn near_wall(y: f64) -> VelocityGradient<f64> {
    let (a, ax, az) = (1.3, 0.4, -0.7);
    let (c, cx, cz) = (-0.6, 0.9, 0.5);
    let (b, bx, bz) = (-0.5 * (ax + cz), 0.3, 0.8);
    [[y * ax, y * y * bx, y * cx], [a, 2.0 * y * b, c], [y * az, y * y * bz, y * cz]]
}

/// The order in y from two heights. Smagorinsky's is a constant there, Vreman's `∝ y`.
#[test]
fn eddy_viscosity_at_walls_has_the_order_of_the_closure() {
    let orders =
        [(Closure::Smagorinsky, 0.0), (Closure::Wale, 3.0), (Closure::Vreman, 1.0), (Closure::Sigma, 3.0)];
    for (closure, order) in orders {
        let [far, near] = [1e-3, 1e-4].map(|y| closure.rate(&near_wall(y)));
        let found = (far / near).log10();
        assert!(near > 0.0 && (found - order).abs() < 0.02, "{closure:?}: y^{found}");
    }
}

/// Numbers at which a wrong guard divides by zero or overflows, in both precisions.
#[test]
fn rates_are_finite_for_gradients_of_any_size() {
    for &closure in Closure::ALL {
        for size in [0.0, 1e-30, 1e-6, 1.0, 1e8] {
            for flow in [SHEAR, ROTATION, STRAIN, near_wall(0.3), [[1.0; 3]; 3]] {
                let double = closure.rate(&flow.map(|row| row.map(|x| x * size)));
                assert!(double.is_finite() && double >= 0.0, "{closure:?} {size} {flow:?}: {double}");
                let single = closure.rate(&flow.map(|row| row.map(|x| (x * size) as f32)));
                assert!(single.is_finite() && single >= 0.0, "{closure:?} {size} {flow:?}: {single}");
                let dual = flow.map(|row| row.map(|x| Dual::new(x * size, 0.3)));
                let slope = closure.rate(&dual).derivative;
                assert!(slope.is_finite(), "{closure:?} {size} {flow:?}: derivative {slope}");
            }
        }
    }
}

fn gradient() -> impl Strategy<Value = VelocityGradient<f64>> {
    prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64))
}

/// The singular values by their definition: the roots of the eigenvalues of `gᵀg`, by Jacobi's rotations.
fn singular_values(g: &VelocityGradient<f64>) -> [f64; 3] {
    let mut a: [[f64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| g[k][i] * g[k][j]).sum()));
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
            let (s, c) = angle.sin_cos();
            let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            (r[p][p], r[p][q], r[q][p], r[q][q]) = (c, s, -s, c);
            let times = |x: [[f64; 3]; 3], y: [[f64; 3]; 3]| -> [[f64; 3]; 3] {
                std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| x[i][k] * y[k][j]).sum()))
            };
            let transposed = std::array::from_fn(|i| std::array::from_fn(|j| r[j][i]));
            a = times(transposed, times(a, r));
        }
    }
    let mut values = [a[0][0], a[1][1], a[2][2]].map(|x| x.max(0.0).sqrt());
    values.sort_by(|x, y| y.total_cmp(x));
    values
}

/// Vreman's and WALE's formulas as they are printed, with matrices.
fn as_printed(closure: Closure, g: &VelocityGradient<f64>) -> f64 {
    let product = |x: &dyn Fn(usize, usize) -> f64, y: &dyn Fn(usize, usize) -> f64, i: usize, j: usize| {
        (0..3).map(|m| x(i, m) * y(m, j)).sum::<f64>()
    };
    let sum = |x: &dyn Fn(usize, usize) -> f64| -> f64 { (0..9).map(|i| x(i / 3, i % 3).powi(2)).sum() };
    let (entry, across) = (|i: usize, j: usize| g[i][j], |i: usize, j: usize| g[j][i]);
    let strain = |i: usize, j: usize| 0.5 * (g[i][j] + g[j][i]);
    match closure {
        Closure::Smagorinsky => (2.0 * sum(&strain)).sqrt(),
        Closure::Wale => {
            let square = |i: usize, j: usize| product(&entry, &entry, i, j);
            let third = (0..3).map(|i| square(i, i)).sum::<f64>() / 3.0;
            let part =
                |i: usize, j: usize| 0.5 * (square(i, j) + square(j, i)) - if i == j { third } else { 0.0 };
            sum(&part).powf(1.5) / (sum(&strain).powf(2.5) + sum(&part).powf(1.25))
        }
        Closure::Vreman => {
            let beta = |i: usize, j: usize| product(&across, &entry, i, j);
            let minor = |i: usize, j: usize| beta(i, i) * beta(j, j) - beta(i, j).powi(2);
            ((minor(0, 1) + minor(0, 2) + minor(1, 2)) / sum(&entry)).sqrt()
        }
        Closure::Sigma => {
            let [s1, s2, s3] = singular_values(g);
            s3 * (s1 - s2) * (s2 - s3) / (s1 * s1)
        }
    }
}

fn the_flux_has_the_sum_of_the_viscosities<const D: usize, const N: usize>(
    closure: Closure,
    field: Field,
    n: [f64; 3],
) where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let (u, grad) = field.conserved::<D, N>();
    let n: [f64; D] = std::array::from_fn(|d| 1.7 * n[d]);
    let mixing = 0.37;
    let g: [[f64; D]; D] = std::array::from_fn(|d| std::array::from_fn(|i| field.slopes[d][1 + i]));
    let nu = mixing * closure.rate(&in_space(&g));
    let law = NavierStokes {
        closure: Some(EddyViscosity { prandtl: 0.6, ..EddyViscosity::usual(closure) }),
        ..CONSTANT
    };
    // μ_t = ρ ν_t, with the turbulent Prandtl number: the flux of a gas with both viscosities, one by one.
    let viscosity = dgsuite_physics::navier_stokes::Viscosity::Constant { mu: u[0] * nu };
    let turbulent = NavierStokes { viscosity, prandtl: 0.6, ..CONSTANT };
    let size = field.scale::<D, N>(&CONSTANT);
    let size: [f64; N] = std::array::from_fn(|k| size[k] + field.scale::<D, N>(&turbulent)[k]);
    let both = |a: [f64; N], b: [f64; N]| -> [f64; N] { std::array::from_fn(|k| a[k] + b[k]) };
    let of_element = law.with_coefficient(mixing);
    let (flux, normal) =
        (law.diffusive_flux_with(&u, &grad, mixing), law.normal_diffusive_flux_with(&u, &grad, &n, mixing));
    assert_eq!(of_element.diffusive_flux(&u, &grad), flux);
    assert_eq!(of_element.normal_diffusive_flux(&u, &grad, &n), normal);
    let (a, b) = (CONSTANT.diffusive_flux(&u, &grad), turbulent.diffusive_flux(&u, &grad));
    for d in 0..D {
        assert_close("flux", &flux[d], &both(a[d], b[d]), &size, 1e-13);
    }
    let (a, b) =
        (CONSTANT.normal_diffusive_flux(&u, &grad, &n), turbulent.normal_diffusive_flux(&u, &grad, &n));
    assert_close("normal flux", &normal, &both(a, b), &size, 1e-13);
    let most = (4.0 / 3.0 * (MU / u[0] + 2.0 * nu)).max(GAS.gamma * (MU / u[0] / 0.72 + nu / 0.6));
    let found = law.diffusivity_with(&u, &grad, mixing);
    // The gradient of the velocity, ∇v = (∇(ρv) − v ∇ρ)/ρ, has the rounding of both terms.
    let terms = |d: usize, i: usize| grad[d][1 + i].abs() + (u[1 + i] / u[0] * grad[d][0]).abs();
    let size = (0..D).flat_map(|d| (0..D).map(move |i| (d, i))).map(|(d, i)| terms(d, i)).sum::<f64>() / u[0];
    let rounding = 1e-13 * mixing * size;
    assert!((found - most).abs() <= 1e-12 * most + 10.0 * rounding, "{found} {most}");
    let found = law.eddy_viscosity(&u, &grad, mixing);
    assert!((found - nu).abs() <= 1e-12 * nu + rounding, "{closure:?}: {found} {nu}, rounding {rounding}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rates_are_those_of_the_printed_formulas(g in gradient(), scale in 0.1..10.0f64) {
        let size = g.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        prop_assume!(size > 0.1);
        for &closure in Closure::ALL {
            let (got, expected) = (closure.rate(&g), as_printed(closure, &g));
            // Sigma has roots of differences, whose rounding is magnified where singular values meet.
            let tolerance = if closure == Closure::Sigma { 1e-6 } else { 1e-12 };
            prop_assert!((got - expected).abs() <= tolerance * size, "{closure:?}: {got} {expected}");
            let scaled = closure.rate(&g.map(|row| row.map(|x| x * scale)));
            prop_assert!((scaled - scale * got).abs() <= 1e-7 * scale * size, "{closure:?} is homogeneous");
        }
    }

    #[test]
    fn rates_do_not_change_when_the_flow_is_turned(g in gradient(), mirrors in prop::array::uniform2(direction())) {
        let rows = g.map(|row| rotate::<3>(&row, mirrors));
        let columns: [[f64; 3]; 3] =
            std::array::from_fn(|i| rotate::<3>(&std::array::from_fn(|d| rows[d][i]), mirrors));
        let turned = std::array::from_fn(|d| std::array::from_fn(|i| columns[i][d]));
        for &closure in Closure::ALL {
            let (a, b) = (closure.rate(&g), closure.rate(&turned));
            prop_assert!((a - b).abs() <= 1e-6, "{closure:?}: {a} {b}");
        }
    }

    /// Central differences of step 1e-6: errors of 1e-10, but for singular values that nearly meet.
    #[test]
    fn derivatives_are_those_of_differences(g in gradient(), v in gradient()) {
        let [s1, s2, s3] = singular_values(&g);
        prop_assume!(s1 - s2 > 0.1 && s2 - s3 > 0.1 && s3 > 0.1);
        let at = |h: f64| -> VelocityGradient<f64> {
            std::array::from_fn(|d| std::array::from_fn(|i| g[d][i] + h * v[d][i]))
        };
        for &closure in Closure::ALL {
            let dual = std::array::from_fn(|d| std::array::from_fn(|i| Dual::new(g[d][i], v[d][i])));
            let (exact, h) = (closure.rate(&dual).derivative, 1e-6);
            let difference = (closure.rate(&at(h)) - closure.rate(&at(-h))) / (2.0 * h);
            prop_assert!((exact - difference).abs() < 1e-6, "{closure:?}: {exact} {difference}");
            prop_assert_eq!(closure.rate(&dual).value.to_bits(), closure.rate(&g).to_bits());
        }
    }

    #[test]
    fn fluxes_have_the_sum_of_the_viscosities(field in field(), n in direction()) {
        for &closure in Closure::ALL {
            the_flux_has_the_sum_of_the_viscosities::<2, 4>(closure, field, n);
            the_flux_has_the_sum_of_the_viscosities::<3, 5>(closure, field, n);
        }
    }
}

/// Lanes give the bits of numbers.
#[test]
fn packs_have_the_bits_of_numbers() {
    use dgsuite_physics::Lanes;
    let flows = [SHEAR, ROTATION, STRAIN, near_wall(0.3)];
    for &closure in Closure::ALL {
        let pack: VelocityGradient<Lanes<f64, 4>> =
            std::array::from_fn(|d| std::array::from_fn(|i| Lanes(flows.map(|g| g[d][i]))));
        let rates = closure.rate(&pack);
        for (l, flow) in flows.iter().enumerate() {
            assert_eq!(rates.0[l].to_bits(), closure.rate(flow).to_bits(), "{closure:?} {flow:?}");
        }
    }
}

/// Along any direction the normal flux of incompressible flow is the flux, a coefficient replaces that of the
/// law, and the stress is symmetric; on a plane of symmetry its normal part remains, and a scalar that is not
/// given has no flux.
#[test]
fn the_stress_of_incompressible_eddies_and_its_conditions() {
    let closure = Some(EddyViscosity::usual(Closure::Vreman));
    let law = |coefficient: f64| VariableViscosity { closure, coefficient, ..VariableViscosity::of(1.0) };
    let grad = [[0.3, -0.7, 0.2, 1.1], [0.9, 0.1, -0.4, -0.6], [-0.2, 0.5, -0.4, 0.8]];
    let n = [0.6, 0.0, 0.8];
    let u = [0.0; 4];
    let f = Diffusion::<3, 4>::diffusive_flux(&law(0.1), &u, &grad);
    let normal = law(0.1).normal_diffusive_flux(&u, &grad, &n);
    let with = law(7.0).normal_diffusive_flux_with(&u, &grad, &n, 0.1);
    for k in 0..4 {
        let sum: f64 = (0..3).map(|d| f[d][k] * n[d]).sum();
        assert!((normal[k] - sum).abs() < 1e-15 && with[k] == normal[k], "{k}");
        (0..3).filter(|_| k < 3).for_each(|d| assert_eq!(f[d][k], f[k][d]));
    }
    let eddy = f[0][0] / (2.0 * grad[0][0]);
    assert!((f[1][3] - eddy / 0.9 * grad[1][3]).abs() < 1e-15);
    let bound = law(0.1).diffusivity_with(&u, &grad, 0.1);
    assert!((bound - 2.0 * eddy).abs() < 1e-15);
    let there = |velocity, given| StressThere { velocity, scalars: [given, false, false] };
    let data = [1.0, 2.0, 3.0, 4.0];
    let at = |condition: StressThere| {
        let ub = condition.face_state(&law(0.1), &[0.5, 0.1, -0.2, 9.0], &n, &data);
        (ub, condition.normal_flux(&law(0.1), &u, &ub, &grad, &n, &data))
    };
    let (ub, flux) = at(there(VelocityThere::Given, true));
    assert!(ub == data && flux == normal);
    let (ub, flux) = at(there(VelocityThere::Sliding, false));
    let stress: f64 = (0..3).map(|d| normal[d] * n[d]).sum();
    assert!((ub[0] * n[0] + ub[2] * n[2]).abs() < 1e-15 && ub[1] == 0.1 && ub[3] == 9.0);
    assert!((0..3).all(|d| (flux[d] - stress * n[d]).abs() < 1e-15) && flux[3] == 0.0);
    // Nothing changes along the normal.
    let (ub, flux) = at(there(VelocityThere::Open, false));
    let mut level = grad;
    for k in 0..3 {
        let slope: f64 = (0..3).map(|d| grad[d][k] * n[d]).sum();
        (0..3).for_each(|d| level[d][k] -= slope * n[d]);
    }
    let expected = law(0.1).normal_diffusive_flux(&u, &level, &n);
    assert!(ub == [0.5, 0.1, -0.2, 9.0] && (0..3).all(|d| (flux[d] - expected[d]).abs() < 1e-15));
}

/// The flux of a scalar has its own diffusivity beyond the constant one, and eddies beside it; where the
/// formula gives less than the constant, nothing.
#[test]
fn diffusivities_that_vary_add_to_those_of_eddies() {
    let recording = StateRecording::new(2, |w, _, _| vec![w[0] * w[1]]);
    let formula = ScalarFormulas::new(vec!["T*s".to_owned()], 2, Arc::new(recording));
    let of = |closure| VariableViscosity {
        closure,
        diffusivities: [None, Some(VariableDiffusivity { constant: 0.5, formula: formula.clone() }), None],
        coefficient: if closure.is_some() { 0.1 } else { 1.0 },
        ..VariableViscosity::of(1.0)
    };
    let grad = [[0.3, -0.7, 0.2, 1.1], [0.9, -0.3, -0.4, -0.6]];
    let n = [0.6, 0.8];
    let flux = |law: &VariableViscosity, u: &[f64; 4]| {
        let (f, c) = (law.diffusive_flux(u, &grad), Diffusion::<2, 4>::own_coefficient(law));
        let normal: [f64; 4] = law.normal_diffusive_flux(u, &grad, &n);
        (0..4).for_each(|k| assert!((normal[k] - f[0][k] * n[0] - f[1][k] * n[1]).abs() < 1e-15, "{k}"));
        let bound: f64 = law.diffusivity_with(u, &grad, c);
        (f, bound)
    };
    // α − α₀ = 3 · 0.4 − 0.5; the first scalar has a constant diffusivity.
    let (f, bound) = flux(&of(None), &[1.0, 2.0, 3.0, 0.4]);
    assert!(
        (f[0][3] - 0.7 * 1.1).abs() < 1e-15
            && (f[1][3] + 0.7 * 0.6).abs() < 1e-15
            && (bound - 0.7).abs() < 1e-15
    );
    assert!((0..2).all(|d| f[d][..3] == [0.0; 3]));
    let (f, bound) = flux(&of(None), &[1.0, 2.0, 3.0, 0.1]);
    assert!(f == [[0.0; 4]; 2] && bound == 0.0);
    let law = of(Some(EddyViscosity::usual(Closure::Smagorinsky)));
    let (f, bound) = flux(&law, &[1.0, 2.0, 3.0, 0.4]);
    let eddies = f[0][0] / (2.0 * grad[0][0]) / 0.9;
    assert!((f[0][2] - eddies * 0.2).abs() < 1e-15 && (f[0][3] - (eddies + 0.7) * 1.1).abs() < 1e-15);
    assert!((bound - (eddies + 0.7).max(1.8 * eddies)).abs() < 1e-15);
}
