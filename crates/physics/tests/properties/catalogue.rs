//! Exact solutions by name: defaults, parameters, messages.

use dgsuite_physics::exact::{Context, Entry, Exact, Model, by_name, catalogue};
use std::collections::BTreeMap;

use crate::fields::{SUTHERLAND, VISCOUS as CONSTANT};

fn context(dim: usize, model: Model) -> Context {
    Context { dim, model, period: [0.0; 3] }
}

fn model(entry: &Entry) -> Model {
    match entry.model {
        "euler" => Model::Euler { gamma: 1.4 },
        "navier-stokes" => Model::NavierStokes(CONSTANT),
        "incompressible" => Model::Incompressible { viscosity: 0.1 },
        _ => Model::Advection { velocity: [1.0, -0.5, 0.25] },
    }
}

fn given(list: &[(&str, f64)]) -> BTreeMap<String, f64> {
    list.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
}

#[test]
fn every_entry_builds_with_its_defaults_given_and_not() {
    for entry in catalogue() {
        for &dim in entry.dims {
            let context = context(dim, model(entry));
            let plain = by_name(entry.name, &BTreeMap::new(), &context).unwrap();
            let third = ["w", "z0", "kz", "nz", "period_z", "w_left", "w_right"];
            let all = entry
                .parameters
                .iter()
                .filter(|p| dim == 3 || !third.contains(&p.name))
                .map(|p| (p.name, p.default));
            let spelt = by_name(entry.name, &given(&all.collect::<Vec<_>>()), &context).unwrap();
            let x = [[0.9, 0.8, 0.7], [1.0, 0.5, 0.2]];
            let mut a = vec![Vec::new(); plain.n_fields()];
            let mut b = a.clone();
            plain.eval(0.1, &x, &mut a);
            spelt.eval(0.1, &x, &mut b);
            assert_eq!(a, b, "{} in {dim}D", entry.name);
            assert!(a.iter().flatten().all(|v| v.is_finite()), "{} in {dim}D: {a:?}", entry.name);
        }
    }
}

#[test]
fn every_parameter_matters() {
    for entry in catalogue() {
        for parameter in entry.parameters {
            let dim = *entry.dims.last().unwrap();
            let context = context(dim, model(entry));
            if entry.name == "vortex-tube" && parameter.name.starts_with("period") {
                continue; // needs an axis along a coordinate: tested below
            }
            let value = match parameter.name {
                name if name.starts_with("period") => 0.7,
                // A direction: scaling does not change the solution, reversal does.
                "nx" => -1.0,
                _ => parameter.default + 0.125,
            };
            let plain = by_name(entry.name, &BTreeMap::new(), &context).unwrap();
            let other = by_name(entry.name, &given(&[(parameter.name, value)]), &context).unwrap();
            let x: Vec<[f64; 3]> = (0..50)
                .map(|i| f64::from(i) / 24.5 - 0.4)
                // The shock tube of Le Blanc has its diaphragm at 3.
                .chain((0..10).map(|i| 2.8 + 0.05 * f64::from(i)))
                .map(|s| [s, 1.1 - 0.3 * s, 0.2 + 0.4 * s])
                .collect();
            let mut a = vec![Vec::new(); plain.n_fields()];
            let mut b = a.clone();
            plain.eval(0.3, &x, &mut a);
            other.eval(0.3, &x, &mut b);
            assert!(a != b, "`{}` of {} has no effect", parameter.name, entry.name);
        }
    }
}

#[test]
fn wrong_requests_say_what_is_wrong() {
    let euler = context(2, Model::Euler { gamma: 1.4 });
    let message = |name: &str, list: &[(&str, f64)], c: &Context| {
        by_name(name, &given(list), c).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(message("sodd", &[], &euler).contains("did you mean `sod`?"));
    assert!(message("sine-wave", &[], &euler).contains("is for advection in 2D and 3D, not for euler in 2D"));
    assert!(message("vortex-tube", &[], &euler).contains("euler in 3D"));
    assert!(message("sod", &[("diafragm", 0.1)], &euler).contains("did you mean `diaphragm`?"));
    assert!(message("entropy-wave", &[("w", 0.1)], &euler).contains("no parameter `w`"));
    assert!(
        message("entropy-wave", &[("rho", -1.0)], &euler).contains("`rho` is -1, expected a number above 0")
    );
    assert!(message("isentropic-vortex", &[("u", f64::NAN)], &euler).contains("finite"));
    assert!(
        message("isentropic-vortex", &[("u", 0.0), ("v", 0.0)], &euler).contains("free stream that moves")
    );
    assert!(message("isentropic-vortex-beta", &[("beta", 9.0)], &euler).contains("temperature"));
    assert!(message("riemann-problem", &[("u_left", -20.0)], &euler).contains("vacuum"));
    assert!(message("sod", &[("nx", 0.0)], &euler).contains("direction"));
    let periodic = Context { period: [1.0; 3], ..context(3, Model::Euler { gamma: 1.4 }) };
    assert!(message("vortex-tube", &[], &periodic).contains("oblique"));
    assert_eq!(message("vortex-tube", &[("axis_x", 0.0), ("axis_y", 0.0)], &periodic), "");
    // Inviscid solutions may be initial states of viscous flow, but not the other way round.
    let viscous = |dim, gas| context(dim, Model::NavierStokes(gas));
    assert_eq!(message("entropy-wave", &[], &viscous(2, SUTHERLAND)), "");
    assert!(message("sine-wave", &[], &viscous(3, CONSTANT)).contains("not for navier-stokes in 3D"));
    assert!(message("couette", &[], &euler).contains("is for navier-stokes"));
    assert!(message("couette", &[], &viscous(2, SUTHERLAND)).contains("constant viscosity"));
    assert_eq!(message("couette", &[], &viscous(3, CONSTANT)), "");
    assert!(message("couet", &[], &viscous(2, CONSTANT)).contains("did you mean `couette`?"));
}

#[test]
fn periods_come_from_the_domain_unless_given() {
    let domain = Context { period: [10.0, 10.0, 0.0], ..context(2, Model::Euler { gamma: 1.4 }) };
    let vortex = by_name("isentropic-vortex", &BTreeMap::new(), &domain).unwrap();
    let free =
        by_name("isentropic-vortex", &given(&[("period_x", 0.0), ("period_y", 0.0)]), &domain).unwrap();
    let at = |e: &dyn Exact, t: f64, x: [f64; 3]| {
        let mut out = vec![Vec::new(); 4];
        e.eval(t, &[x], &mut out);
        out[0][0]
    };
    // After one period along the diagonal the vortex has returned.
    let period = 10.0 * 2f64.sqrt();
    let x = [0.3, -0.2, 0.0];
    assert!((at(vortex.as_ref(), period, x) - at(vortex.as_ref(), 0.0, x)).abs() < 1e-14);
    assert!((at(free.as_ref(), period, x) - at(free.as_ref(), 0.0, x)).abs() > 1e-4);
}
