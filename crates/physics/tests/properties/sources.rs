//! Manufactured source terms: zero for exact solutions, differences of the fluxes for others.

use crate::fields::*;
use crate::states::GAS;
use dgsuite_physics::exact::{
    ClosedForm, Context, Couette, EntropyWave, Exact, ManufacturedGas, Model, Solution, TaylorGreen, by_name,
};
use dgsuite_physics::formula::{FormulaExact, Names};
use dgsuite_physics::source::{Manufactured, Source, SourceError, source_of};
use dgsuite_physics::trace::Parameters;
use dgsuite_physics::{Diffusion, Dual, Euler, Law, NavierStokes, NoDiffusion, derived};
use std::collections::BTreeMap;

fn points(n: usize) -> Vec<[f64; 3]> {
    (0..n).map(|i| i as f64 / n as f64).map(|s| [0.9 - s, 0.3 + 1.1 * s, 0.7 * s * s]).collect()
}

fn couette(prandtl: f64) -> Couette {
    Couette {
        gas: NavierStokes { prandtl, ..VISCOUS },
        speed: 2.0,
        height: 2.0,
        bottom: -0.5,
        t_bottom: 0.8,
        t_top: 0.85,
        density: 1.0,
    }
}

#[test]
fn couette_flow_needs_no_source() {
    let largest = |solution: Couette| {
        let plane = ClosedForm::<_, _, 2, 4>::new(GAS, solution);
        let space = ClosedForm::<_, _, 3, 5>::new(GAS, solution);
        let plane = Manufactured::new::<_, _, 2, 4>(&GAS, &VISCOUS, &plane).unwrap();
        let space = Manufactured::new::<_, _, 3, 5>(&GAS, &VISCOUS, &space).unwrap();
        assert!(plane.is_steady() && space.is_steady());
        let both = [plane.size_at(0.0, &points(40)), space.size_at(0.0, &points(40))].concat();
        both.into_iter().fold(0.0, f64::max)
    };
    let exact = largest(couette(VISCOUS.prandtl));
    assert!(exact < 1e-12, "{exact:e}");
    // This includes the heat of friction: with another Prandtl number the profile is wrong.
    assert!(largest(couette(1.0)) > 1e-3);
    // Temperatures and velocities of the walls, and Gao et al.'s Mach number at the upper one.
    let at = |y: f64| -> [f64; 4] { couette(0.72).primitive(0.0, &[0.0, y, 0.0]) };
    let temperature = |w: [f64; 4]| w[3] / (w[0] * VISCOUS.gas_constant);
    let (low, high) = (at(-0.5), at(1.5));
    assert!((temperature(low) - 0.8).abs() < 1e-14 && (temperature(high) - 0.85).abs() < 1e-14);
    assert!(low[1] == 0.0 && high[1] == 2.0 && (high[0] - 1.0).abs() < 1e-14);
    assert!((derived::mach::<_, 2, 4>(&GAS, &GAS.to_conserved(&high)) - 0.2).abs() < 1e-13);
}

#[test]
fn exact_solutions_without_viscosity_need_no_source() {
    let gas = Model::Euler { gamma: 1.4 };
    let scalar = Model::Advection { velocity: [1.0, -0.5, 0.25] };
    let cases = [("isentropic-vortex", gas, 2), ("isentropic-vortex", gas, 3), ("vortex-tube", gas, 3)];
    let more = [("supersonic-vortex", gas, 2), ("entropy-wave", gas, 2), ("entropy-wave", gas, 3)];
    let scalars = [("sine-wave", scalar, 2), ("gaussian-pulse", scalar, 3)];
    for (name, model, dim) in cases.into_iter().chain(more).chain(scalars) {
        let context = Context { dim, model, period: [0.0; 3] };
        let solution = by_name(name, &BTreeMap::new(), &context).unwrap();
        let source = Manufactured::for_model(&context, solution.as_ref()).unwrap();
        let size = source.size_at(0.3, &points(40));
        assert!(size.iter().all(|s| *s < 1e-11), "{name} in {dim}D: {size:?}");
    }
}

/// `∂u/∂t + Σ_d ∂(F − F_v)_d/∂x_d` by differences of fourth order of the fluxes.
fn by_differences<S: Solution<N>, const D: usize, const N: usize>(
    ns: &NavierStokes,
    solution: S,
    t: f64,
    x: [f64; 3],
) -> [f64; N]
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    let form = ClosedForm::<_, _, D, N>::new(GAS, solution);
    let slope = |f: &dyn Fn(f64) -> [f64; N]| -> [f64; N] {
        let h = 1e-3;
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|s| f(s * h));
        std::array::from_fn(|k| (a[k] - 8.0 * b[k] + 8.0 * c[k] - d[k]) / (12.0 * h))
    };
    let mut sum = slope(&|s| form.state(t + s, &x));
    for d in 0..D {
        let flux = |s: f64| -> [f64; N] {
            let mut at = x;
            at[d] += s;
            let u = form.state(t, &at);
            let grad: [[f64; N]; D] = std::array::from_fn(|j| {
                let mut seeded = at.map(Dual::constant);
                seeded[j] = Dual::variable(at[j]);
                form.state(Dual::constant(t), &seeded).map(|u| u.derivative)
            });
            let (f, v) = (GAS.flux(&u), ns.diffusive_flux(&u, &grad));
            std::array::from_fn(|k| f[d][k] - v[d][k])
        };
        let part = slope(&flux);
        for k in 0..N {
            sum[k] += part[k];
        }
    }
    sum
}

fn the_source_is_what_differences_give<const D: usize, const N: usize>(ns: NavierStokes)
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
    ManufacturedGas: Solution<N>,
{
    let solution = ManufacturedGas { length: 2.0, ..ManufacturedGas::new() };
    let form = ClosedForm::<_, _, D, N>::new(GAS, solution);
    let source = Manufactured::new::<_, _, D, N>(&GAS, &ns, &form).unwrap();
    assert!(!source.is_steady());
    let (x, t) = (points(20), 0.37);
    let mut out = vec![Vec::new(); N];
    source.eval(t, &x, &mut out);
    let mut largest = [0f64; N];
    for (i, at) in x.iter().enumerate() {
        let expected = by_differences::<_, D, N>(&ns, solution, t, *at);
        for k in 0..N {
            let error = (out[k][i] - expected[k]).abs();
            assert!(error < 1e-8 * (1.0 + expected[k].abs()), "field {k} at {at:?}: {error:e}");
            largest[k] = largest[k].max(expected[k].abs());
        }
    }
    assert!(largest.iter().all(|s| *s > 0.05), "every equation has a source: {largest:?}");
    // Without viscosity the source term differs.
    let inviscid = Manufactured::new::<_, _, D, N>(&GAS, &NoDiffusion, &form).unwrap();
    let mut other = vec![Vec::new(); N];
    inviscid.eval(t, &x, &mut other);
    assert!(other[0].iter().zip(&out[0]).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(other[N - 1].iter().zip(&out[N - 1]).any(|(a, b)| (a - b).abs() > 0.01));
}

#[test]
fn sources_of_a_viscous_gas_are_the_differences_of_its_fluxes() {
    for ns in [SUTHERLAND, POWER, CONSTANT] {
        the_source_is_what_differences_give::<2, 4>(ns);
        the_source_is_what_differences_give::<3, 5>(ns);
    }
}

#[test]
fn formulas_have_the_source_of_the_solution_that_they_spell() {
    let texts = [("rho", "1 + 0.2*sin(2*pi*(x - t + y - t))"), ("u", "1"), ("v", "1"), ("p", "1")];
    let texts = texts.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let spelt = FormulaExact::<_, 2, 4>::parse(GAS, &texts, &Names::space_time()).unwrap();
    let built = ClosedForm::<_, _, 2, 4>::new(GAS, EntropyWave::new(2));
    let of = |exact: &dyn Exact| {
        let source = Manufactured::new::<_, _, 2, 4>(&GAS, &SUTHERLAND, exact).unwrap();
        let mut out = vec![Vec::new(); 4];
        source.eval(0.2, &points(30), &mut out);
        out
    };
    let (a, b) = (of(&spelt), of(&built));
    let mut largest = 0f64;
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).abs() < 1e-11 * (1.0 + b.abs()), "{a} {b}");
        largest = largest.max(b.abs());
    }
    assert!(largest > 0.1);
}

#[test]
fn batches_points_and_devices_run_the_same_operations() {
    let form = ClosedForm::<_, _, 2, 4>::new(GAS, ManufacturedGas::new());
    let source = Manufactured::new::<_, _, 2, 4>(&GAS, &SUTHERLAND, &form).unwrap();
    // More points than one block or one chunk.
    let x = points(700);
    let mut out = vec![vec![f64::NAN; 3]; 4];
    source.eval(0.1, &x, &mut out);
    let state = form.recorded().unwrap();
    for (i, at) in x.iter().enumerate() {
        let one: [f64; 4] = source_of(&GAS, &SUTHERLAND, &state, 0.1, at);
        for k in 0..4 {
            assert!((one[k] - out[k][i]).abs() < 1e-12 * (1.0 + one[k].abs()));
        }
    }
    let mut parameters = Parameters::new();
    let text = source.device_source(&mut parameters).unwrap();
    let head = "__device__ __forceinline__ void source(const Parameters& parameters, const real (&x)[3], \
                const real t, real (&out)[4]) {";
    assert!(text.starts_with(head), "{text}");
    assert!(
        ["gamma", "gamma_over_prandtl", "sutherland", "manufactured_wave"]
            .iter()
            .all(|p| parameters.names().contains(p))
    );
    assert!(!text.contains("x[2]"), "two-dimensional solutions do not depend on z");
}

#[test]
fn what_is_no_formula_for_the_law_is_refused() {
    struct Table;
    impl Exact for Table {
        fn n_fields(&self) -> usize {
            4
        }
        fn eval(&self, _t: f64, _x: &[[f64; 3]], _out: &mut [Vec<f64>]) {}
    }
    let error = Manufactured::new::<_, _, 2, 4>(&GAS, &NoDiffusion, &Table).unwrap_err();
    assert_eq!(error, SourceError::NotAFormula);
    let error = Manufactured::new::<_, _, 3, 5>(&GAS, &NoDiffusion, &Table).unwrap_err();
    assert_eq!(error, SourceError::WrongFields { expected: 5, found: 4 });
}

#[test]
fn taylor_green_vortices_decay_with_their_viscosity_in_two_dimensions() {
    // Mass and momentum balance up to terms of order M²; without the decay they do not.
    let ns = NavierStokes { gas_constant: 1.0, ..VISCOUS };
    let size = |viscosity: f64| {
        let vortices = TaylorGreen { mach: 1e-3, viscosity, ..TaylorGreen::new(GAS) };
        let form = ClosedForm::<_, _, 2, 4>::new(GAS, vortices);
        let source = Manufactured::new::<_, _, 2, 4>(&GAS, &ns, &form).unwrap();
        source.size_at(0.4, &points(50))[..3].iter().copied().fold(0.0, f64::max)
    };
    assert!(size(0.02) < 1e-5, "{:e}", size(0.02));
    assert!(size(0.0) > 1e-2);
}

#[test]
fn taylor_green_vortices_start_with_their_energy_and_enstrophy() {
    // ½ <|v|²> = 1/8 and ½ <|ω|²> = 3/8, exact on a grid that resolves the waves; no divergence.
    let form = ClosedForm::<_, _, 3, 5>::new(GAS, TaylorGreen::new(GAS));
    let (n, step) = (8, std::f64::consts::TAU / 8.0);
    let (mut energy, mut enstrophy, mut most) = (0.0, 0.0, 0f64);
    for i in 0..n * n * n {
        let x = [i % n, i / n % n, i / n / n].map(|i| (i as f64 + 0.3) * step);
        let u = form.state(0.0, &x);
        let grad: [[f64; 5]; 3] = std::array::from_fn(|d| {
            let mut seeded = x.map(Dual::constant);
            seeded[d] = Dual::variable(x[d]);
            form.state(Dual::constant(0.0), &seeded).map(|u| u.derivative)
        });
        let v: [f64; 3] = derived::velocity(&u);
        let w = derived::vorticity(&u, &grad);
        energy += 0.5 * v.iter().map(|v| v * v).sum::<f64>() / 512.0;
        enstrophy += 0.5 * w.iter().map(|w| w * w).sum::<f64>() / 512.0;
        let g = derived::velocity_gradient(&u, &grad);
        assert!((g[0][0] + g[1][1] + g[2][2]).abs() < 1e-13);
        // The temperature is that of c = V/M everywhere.
        let w = GAS.to_primitive(&u);
        assert!((w[4] / w[0] - 1.0 / (1.4 * 0.01)).abs() < 1e-10);
        most = most.max((w[0] - 1.0).abs());
    }
    assert!((energy - 0.125).abs() < 1e-13 && (enstrophy - 0.375).abs() < 1e-13, "{energy} {enstrophy}");
    assert!(most > 1e-3, "the density follows the pressure");
}
