//! Exact solutions of incompressible flow: momentum and continuity, body forces, names.

use dgsuite_physics::exact::incompressible::{Beltrami, GuermondShen, Kovasznay, Poiseuille, TaylorVortex};
use dgsuite_physics::exact::{ClosedForm, Context, Model, Solution, by_name, catalogue};
use dgsuite_physics::source::{Manufactured, Source, SourceError};
use dgsuite_physics::trace::Parameters;
use dgsuite_physics::{Euler, Incompressible};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const NU: f64 = 0.05;

fn points(n: usize) -> Vec<[f64; 3]> {
    (0..n).map(|i| i as f64 / n as f64).map(|s| [0.9 - s, 0.3 + 1.1 * s, 0.7 * s * s - 0.2]).collect()
}

fn context(dim: usize, viscosity: f64) -> Context {
    Context { dim, model: Model::Incompressible { viscosity }, period: [0.0; 3] }
}

/// The body force and the divergence of a named solution, largest over some points.
fn defect(name: &str, given: &[(&str, f64)], dim: usize, viscosity: f64, of: f64) -> Vec<f64> {
    let given: BTreeMap<String, f64> = given.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    let solution = by_name(name, &given, &context(dim, of)).unwrap();
    let source = Manufactured::for_model(&context(dim, viscosity), solution.as_ref()).unwrap();
    source.size_at(0.3, &points(40))
}

fn largest(sizes: &[f64]) -> f64 {
    sizes.iter().copied().fold(0.0, f64::max)
}

#[test]
fn every_named_flow_satisfies_momentum_and_continuity() {
    let mut found = 0;
    for entry in catalogue().iter().filter(|e| e.model == "incompressible") {
        for &dim in entry.dims {
            let sizes = defect(entry.name, &[], dim, NU, NU);
            assert!(sizes[dim] < 1e-12, "{} in {dim}D: divergence {:e}", entry.name, sizes[dim]);
            let force = largest(&sizes[..dim]);
            // Those that the catalogue describes otherwise.
            let driven = entry.name == "guermond-shen" || (entry.name == "taylor-green" && dim == 3);
            assert_eq!(force < 1e-11, !driven, "{} in {dim}D: {force:e}", entry.name);
            found += 1;
        }
    }
    assert_eq!(found, 15);
}

#[test]
fn flows_carried_along_satisfy_momentum_with_any_parameters() {
    let moved = [("u", 0.7), ("v", -0.4), ("w", 0.3)];
    let mut vortex = moved.to_vec();
    vortex.extend([("speed", 1.5), ("length", 2.0)]);
    let mut eddies = moved.to_vec();
    eddies.push(("strength", 0.5));
    let cases: [(&str, Vec<(&str, f64)>); 6] = [
        ("taylor-vortex", vortex),
        ("walsh-eddies", eddies),
        ("beltrami", vec![("a", 0.5), ("d", -1.25)]),
        ("kovasznay", vec![("speed", 2.0), ("length", 0.5)]),
        ("poiseuille", vec![("u", 1.5), ("height", 0.41), ("y0", -0.2), ("x0", 2.2)]),
        ("uniform", vec![("u", 1.0), ("v", 2.0), ("p", 3.0)]),
    ];
    for (name, given) in cases {
        let force = largest(&defect(name, &given, 3, NU, NU));
        assert!(force < 1e-11, "{name}: {force:e}");
        // A viscosity that is not that of the solution needs a force.
        let other = largest(&defect(name, &given, 3, 2.0 * NU, NU));
        assert!(other > 1e-2 || name == "uniform", "{name} does not feel friction: {other:e}");
    }
}

#[test]
fn kovasznay_flow_has_its_exponent_at_small_and_large_reynolds_numbers() {
    // λ = −0.963740544 at Re = 40.
    let u = |viscosity: f64, x: f64| -> f64 {
        let w: [f64; 3] = Kovasznay { viscosity, speed: 1.0, length: 1.0 }.primitive(0.0, &[x, 0.0, 0.0]);
        (1.0 - w[0]).ln()
    };
    let lambda = 20.0 - (400.0 + 4.0 * PI * PI).sqrt();
    assert!((lambda + 0.963_740_544).abs() < 1e-9);
    assert!((u(0.025, 1.0) - lambda).abs() < 1e-14);
    // Large Reynolds numbers: λ → −4π² ν, without cancellation.
    assert!((u(1e-9, 1.0) / (-4.0 * PI * PI * 1e-9) - 1.0).abs() < 1e-7);
}

#[test]
fn the_taylor_vortex_is_that_of_the_literature() {
    let vortex = TaylorVortex { viscosity: 0.01, speed: 1.0, length: 1.0, velocity: [0.0; 3] };
    let (x, y, t) = (0.13, -0.31, 0.7);
    let w: [f64; 3] = vortex.primitive(t, &[x, y, 0.0]);
    let decay = (-4.0 * PI * PI * 0.01 * t).exp();
    let wave = 2.0 * PI;
    let expected = [
        -(wave * y).sin() * decay,
        (wave * x).sin() * decay,
        -(wave * x).cos() * (wave * y).cos() * decay * decay,
    ];
    for k in 0..3 {
        assert!((w[k] - expected[k]).abs() < 1e-15, "{w:?} {expected:?}");
    }
}

#[test]
fn velocity_and_vorticity_of_the_beltrami_flow_are_parallel() {
    use dgsuite_physics::Dual;
    let flow = Beltrami { viscosity: 0.1, a: FRAC_PI_4, d: FRAC_PI_2 };
    for x in points(20) {
        let slopes: [[f64; 4]; 3] = std::array::from_fn(|d| {
            let mut seeded = x.map(Dual::constant);
            seeded[d] = Dual::variable(x[d]);
            flow.primitive(Dual::constant(0.2), &seeded).map(|w| w.derivative)
        });
        let w = flow.primitive(0.2, &x);
        let omega: [f64; 3] = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            slopes[j][k] - slopes[k][j]
        });
        let factor = omega[0] / w[0];
        for i in 0..3 {
            assert!((omega[i] - factor * w[i]).abs() < 1e-12, "{omega:?} {w:?}");
        }
        assert!((factor.abs() - FRAC_PI_2).abs() < 1e-10, "∇×u = ±d u, found {factor}");
    }
}

#[test]
fn the_channel_has_its_flow_rate_and_pressure_drop() {
    let flow = Poiseuille { viscosity: 0.1, speed: 1.5, height: 0.41, bottom: -0.2, start: 2.2 };
    let at = |x: f64, y: f64| -> [f64; 3] { flow.primitive(0.0, &[x, y, 0.0]) };
    assert_eq!((at(0.0, -0.2)[0], at(2.2, 0.0)[2]), (0.0, 0.0));
    assert!(at(0.0, 0.21)[0].abs() < 1e-14 && (at(0.0, 0.005)[0] - 1.5).abs() < 1e-14);
    // The drop balances the friction of both walls: Δp H = 2 ν (4 U/H) Δx.
    let drop = at(0.0, 0.0)[2] - at(1.0, 0.0)[2];
    assert!((drop * 0.41 - 2.0 * 0.1 * 4.0 * 1.5 / 0.41).abs() < 1e-13);
}

/// `∂u/∂t + (u·∇)u + ∇p − ν Δu` of `u = sin x sin φ`, `v = cos x cos φ`, `p = cos x sin φ`, `φ = y + ω t`, by
/// hand.
#[test]
fn the_body_force_of_a_manufactured_flow_is_that_by_hand() {
    let omega = 1.3;
    let form =
        ClosedForm::<_, _, 2, 3>::new(Incompressible { viscosity: NU }, GuermondShen { frequency: omega });
    let source = Manufactured::incompressible::<2, 3>(NU, &form).unwrap();
    let (x, t) = (points(30), 0.4);
    let mut out = vec![Vec::new(); 3];
    source.eval(t, &x, &mut out);
    for (i, at) in x.iter().enumerate() {
        let (s, c) = (at[1] + omega * t).sin_cos();
        let (sx, cx) = at[0].sin_cos();
        let u = omega * sx * c + sx * cx - sx * s + 2.0 * NU * sx * s;
        let v = -omega * cx * s - s * c + cx * c + 2.0 * NU * cx * c;
        assert!((out[0][i] - u).abs() < 1e-14 && (out[1][i] - v).abs() < 1e-14, "at {at:?}");
        assert!(out[2][i].abs() < 1e-15);
    }
    let text = source.device_source(&mut Parameters::new()).unwrap();
    assert!(text.contains("parameters.viscosity") && text.contains("parameters.flow_frequency"), "{text}");
    // A gas has another number of unknowns.
    let gas = by_name(
        "uniform",
        &BTreeMap::new(),
        &Context { model: Model::Euler { gamma: 1.4 }, ..context(2, NU) },
    );
    let error = Manufactured::for_model(&context(2, NU), gas.unwrap().as_ref()).unwrap_err();
    assert_eq!(error, SourceError::WrongFields { expected: 3, found: 4 });
}

#[test]
fn one_name_may_belong_to_several_models() {
    for dim in [2, 3] {
        for name in ["uniform", "taylor-green"] {
            let fields = |model| {
                let context = Context { model, ..context(dim, NU) };
                by_name(name, &BTreeMap::new(), &context).unwrap().n_fields()
            };
            assert_eq!(fields(Model::Incompressible { viscosity: NU }), dim + 1);
            assert_eq!(fields(Model::Euler { gamma: Euler { gamma: 1.4 }.gamma }), dim + 2);
        }
    }
    let mut keys: Vec<_> = catalogue().iter().map(|e| (e.name, e.model)).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), catalogue().len(), "name and model identify an entry");
    let message = |name: &str, dim: usize, model: Model| {
        let context = Context { model, ..context(dim, NU) };
        by_name(name, &BTreeMap::new(), &context).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let flow = Model::Incompressible { viscosity: NU };
    assert!(
        message("beltrami", 2, flow).contains("is for incompressible in 3D, not for incompressible in 2D")
    );
    assert!(message("kovaznay", 2, flow).contains("did you mean `kovasznay`?"));
    assert!(message("sod", 2, flow).contains("is for euler in 2D and 3D, not for incompressible in 2D"));
    let gas = Model::Euler { gamma: 1.4 };
    assert!(message("kovasznay", 2, gas).contains("is for incompressible"));
    let scalar = Model::Advection { velocity: [1.0; 3] };
    assert!(message("uniform", 2, scalar).contains("is for euler in 2D and 3D, not for advection in 2D"));
}

#[test]
fn decaying_flows_move_and_steady_ones_do_not() {
    let steady = |name: &str, dim: usize, viscosity: f64| {
        by_name(name, &BTreeMap::new(), &context(dim, viscosity)).unwrap().is_steady()
    };
    assert!(!steady("taylor-vortex", 2, NU) && steady("taylor-vortex", 2, 0.0));
    assert!(!steady("walsh-eddies", 2, 0.0), "the mean velocity carries them along");
    assert!(!steady("taylor-green", 2, NU) && steady("taylor-green", 3, NU));
    assert!(steady("kovasznay", 2, NU) && steady("poiseuille", 3, NU) && steady("uniform", 2, NU));
    assert!(!steady("beltrami", 3, NU) && !steady("guermond-shen", 2, NU));
}
