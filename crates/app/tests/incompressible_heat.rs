//! Heat in incompressible flow by the program: forces and diffusivities by formulas of its scalars, and the
//! stability of a fluid that is heated from below.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::f64::consts::PI;

use dgsuite_basis::Matrix;
use support::{Case, number, refused};

/// Convection in a box with inclined walls, with a temperature and another scalar that make it lighter.
const LIFTED: &str = "\
constants: { beta: 0.7, below: 0.3 }
mesh:
  generate: { shape: quad, cells: [3, 3] }
  map: { order: 2, x: x + 0.1*sin(3*y), y: y - 0.1*sin(2*pi*y) }
physics:
  model: incompressible
  viscosity: 0.01
  temperature: { diffusivity: 0.02 }
  scalars: { salt: { diffusivity: 0.01 } }
  buoyancy: { gravity: [1, -9], expansion: beta, reference: below }
space: { order: 3 }
initial: { u: 0, v: 0, T: 1 - x, salt: y^2 }
boundaries:
  xmin: { type: no-slip-wall, temperature: 1 }
  xmax: { type: no-slip-wall, transfer: 0.5, ambient: 0 }
  ymin: { type: no-slip-wall, salt: 0 }
  ymax: { type: no-slip-wall }
time: { dt: 0.02, steps: 12 }
output: { fields: none }
monitors:
  - integral: { fields: [{ energy: u*u + v*v }, { moved: T*u + salt*v }, { pressure: p*p }], every_steps: 4 }
";

#[test]
fn buoyancy_as_a_formula_of_the_force_is_buoyancy() {
    let buoyancy = "buoyancy: { gravity: [1, -9], expansion: beta, reference: below }";
    let forcing = "forcing: { u: -beta*(T - below), v: 9*beta*(T - below) }";
    let case = Case::new(LIFTED);
    for time in [
        "{ dt: 0.02, steps: 12 }",
        "{ dt: 0.02, steps: 12, splitting: pressure-correction }",
        "{ dt: 0.02, steps: 12, subcycles: 2 }",
    ] {
        let of = |force: &str| {
            let text = LIFTED.replace(buoyancy, force).replace("{ dt: 0.02, steps: 12 }", time);
            std::fs::write(case.path("case.yaml"), text).unwrap();
            case.run(&["--overwrite"]);
            case.table("out/case/monitors/integral.csv").concat()
        };
        let (lifted, pushed) = (of(buoyancy), of(forcing));
        assert!(lifted.last().is_some_and(|p| *p > 0.1) && lifted.len() == pushed.len());
        for (a, b) in lifted.iter().zip(&pushed) {
            assert!((a - b).abs() <= 1e-10 * a.abs(), "{time}: {a:e} and {b:e}");
        }
        // Both together are twice the force.
        let double = of(&format!("{}\n  {forcing}", buoyancy.replace("beta", "-beta")));
        assert!(double[2].abs() < 1e-20, "{time}: {:e}", double[2]);
        assert!(double.iter().skip(7).step_by(5).all(|energy| *energy < 1e-16), "{time}: {double:?}");
    }
}

/// A flow along x that is exact for a force that depends on a scalar: `u_t = ν u_yy + f` with
/// `f = (ν − k)(T − 1)`.
const PUSHED: &str = "\
constants: { nu: 0.1, k: 2 }
mesh:
  generate: { shape: quad, cells: [2, 2] }
  map: { order: 1, y: y + 0.1*sin(3*x)*y*(1 - y) }
physics:
  model: incompressible
  viscosity: nu
  temperature: { diffusivity: 0.3, source: (0.3 - k)*exp(-k*t)*sin(y + 0.5) }
  forcing: { u: (nu - k)*(T^2 - 1)/(T + 1) }
space: { order: 3 }
initial: { exact: { u: exp(-k*t)*sin(y + 0.5), v: 0, p: 0, T: 1 + exp(-k*t)*sin(y + 0.5) } }
boundaries:
  xmin: &exact { type: dirichlet, u: exp(-k*t)*sin(y + 0.5), v: 0, T: 1 + exp(-k*t)*sin(y + 0.5) }
  xmax: *exact
  ymin: *exact
  ymax: *exact
time: { scheme: bdf3, dt: 0.02, end: 0.2 }
output: { fields: none }
";

#[test]
fn flow_with_a_force_that_depends_on_a_scalar_keeps_its_orders() {
    let case = Case::new(PUSHED);
    let error = |shape: &str, cells: usize, order: usize, time: &str| {
        let set = [
            format!("mesh.generate={{ shape: {shape}, cells: [{cells}, {cells}] }}"),
            format!("space.order={order}"),
            format!("time={{ {time}, end: 0.2 }}"),
        ];
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        number(&case.run(&[&["--overwrite"], &set[..]].concat()), "/error/l2/u")
    };
    for (shape, order) in [("quad", 3), ("tri", 2)] {
        let fine = "scheme: bdf3, dt: 0.004";
        let rate = (error(shape, 2, order, fine) / error(shape, 4, order, fine)).log2();
        assert!(rate > order as f64 + 0.7, "{shape}, order {order}: {rate:.2}");
    }
    for time in ["", ", splitting: pressure-correction"] {
        let at = |dt: f64| error("quad", 2, 7, &format!("scheme: bdf2, dt: {dt}{time}"));
        let rate = (at(0.02) / at(0.01)).log2();
        assert!(rate > 1.8, "{time}: {rate:.2}");
    }
}

/// Walls that move in their plane carry nothing through the boundary.
#[test]
fn the_heat_of_a_cavity_with_a_moving_lid_does_not_change() {
    let lid = "[16*x^2*(1 - x)^2*cos(t), 0]";
    for (velocity, steps, kept) in
        [(lid, "2", true), (lid, "null", true), ("[x^2*(1 - x)^2, 0.1*(x - 0.5)]", "2", false)]
    {
        let yaml = format!(
            "mesh: {{ generate: {{ shape: mixed, cells: [4, 3] }} }}
physics: {{ model: incompressible, viscosity: 0.01, temperature: {{ diffusivity: 0.01 }} }}
space: {{ order: 2 }}
initial: {{ u: 0, v: 0, T: y + x }}
boundaries:
  ymax: {{ type: no-slip-wall, velocity: \"{velocity}\" }}
  xmin: {{ type: no-slip-wall }}
  xmax: {{ type: symmetry }}
  ymin: {{ type: no-slip-wall }}
time: {{ dt: 0.02, subcycles: {steps}, steps: 10 }}
solver: {{ velocity: {{ tolerance: 1e-13 }} }}
output: {{ fields: none }}
monitors: [ {{ integral: {{ fields: [T], every_steps: 1 }} }} ]
"
        )
        .replace('"', "");
        let case = Case::new(&yaml);
        case.run(&[]);
        let rows = case.table("out/case/monitors/integral.csv");
        let change = rows.iter().map(|row| (row[2] - rows[0][2]).abs()).fold(0.0, f64::max);
        assert!((change < 1e-13) == kept, "{velocity}, {steps} sub-steps: {change:.1e}");
    }
}

#[test]
fn forces_by_formulas_of_what_the_fluid_does_not_have_are_refused() {
    let case = Case::new(LIFTED);
    let refuses = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    refuses(
        "physics.forcing={ u: salz }",
        &["`physics.forcing.u`", "unknown name `salz`", "did you mean `salt`?"],
    );
    refuses("physics.forcing={ v: T + u }", &["unknown name `u`", "not velocity or pressure: T, salt, x"]);
    refuses("physics.forcing={ w: T }", &["unknown key `w` in `physics.forcing`", "known keys: u, v"]);
    let cold = Case::new(
        &LIFTED
            .replace("  temperature: { diffusivity: 0.02 }\n", "")
            .replace("  buoyancy: { gravity: [1, -9], expansion: beta, reference: below }\n", "")
            .replace("T: 1 - x, ", "")
            .replace(", temperature: 1", "")
            .replace(", transfer: 0.5, ambient: 0", "")
            .replace("T*u + ", ""),
    );
    let hint = "add `physics.temperature: { diffusivity: 0.01 }`";
    refused(&cold, &["--set", "physics.forcing={ v: T }"], &["unknown name `T`", hint]);
}

/// Conduction between walls at x = 0 and x = 1 through a fluid with the diffusivity `k (1 + b T)`, of heat
/// and of salt: `T + b T²/2 = (1 + b/2) x`, and the salt is 1 − T.
const CONDUCTION: &str = "\
constants: { k: 0.1, b: 1 }
mesh:
  generate: { shape: quad, cells: [3, 2] }
  map: { order: 2, x: x - 0.05*sin(2*pi*x) + 0.03*sin(pi*x)*cos(3*y), y: y + 0.1*sin(pi*y) }
physics:
  model: incompressible
  viscosity: 0.1
  temperature: { diffusivity: { constant: k, formula: k*(1 + b*T) } }
  scalars: { salt: { diffusivity: { constant: 0.8*k, formula: k*(1 + b*T) } } }
space: { order: 3 }
initial:
  exact: { u: 0, v: 0, p: 0, T: (sqrt(1 + (2*b + b^2)*x) - 1)/b, salt: 1 - (sqrt(1 + (2*b + b^2)*x) - 1)/b }
boundaries:
  xmin: { type: no-slip-wall, temperature: 0, salt: 1 }
  xmax: { type: no-slip-wall, temperature: 1, salt: 0 }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { cfl: auto, end: 0.05 }
output: { fields: none }
monitors:
  - nusselt: { boundary: xmax, every_steps: 10000 }
  - nusselt: { boundary: xmin, difference: -1, every_steps: 10000 }
";

#[test]
fn conduction_with_a_diffusivity_of_the_temperature_has_the_orders_of_the_space() {
    for (shape, order) in [("quad", 3), ("tri", 2)] {
        let case = Case::new(&CONDUCTION.replace("shape: quad", &format!("shape: {shape}")));
        let errors = |cells: usize| {
            let cells = format!("mesh.generate.cells=[{cells}, {}]", cells - 1);
            let set = ["--overwrite", "--set", &cells, "--set", &format!("space.order={order}")];
            let summary = case.run(&set);
            // The flux `k (1 + b/2)` passes both walls.
            for wall in ["xmin", "xmax"] {
                let mean = number(&summary, &format!("/nusselt/{wall}/mean"));
                assert!((mean - 1.5).abs() < 0.03, "{shape}, {cells}: {mean}");
            }
            ["T", "salt"].map(|field| number(&summary, &format!("/error/l2/{field}")))
        };
        let (coarse, fine) = (errors(3), errors(6));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let rate = (coarse / fine).log2();
            assert!(rate > f64::from(order) + 0.6, "{shape}, order {order}: {coarse:e} {fine:e}, {rate:.2}");
        }
    }
}

/// Nothing but the flux of a wall changes the heat, which is the whole flux.
#[test]
fn a_flux_heats_a_fluid_with_a_diffusivity_that_varies() {
    let insulated = CONDUCTION
        .replace("temperature: 0, salt: 1", "heat_flux: -0.5*cos(y)")
        .replace("temperature: 1, salt: 0", "adiabatic: true")
        .replace("  - nusselt: { boundary: xmin, difference: -1, every_steps: 10000 }\n", "")
        .replace("exact: {", "u: 0, v: 0, T: x + y^2, salt: x }\n#")
        .replace("initial:\n  u: 0", "initial: { u: 0")
        + "  - integral: { fields: [{ heat: T }, { salt: salt }], every_steps: 1 }\n";
    let case = Case::new(&insulated);
    for time in ["{ dt: 0.002, steps: 40 }", "{ dt: 0.002, steps: 40, subcycles: 2 }"] {
        case.run(&["--overwrite", "--set", &format!("time={time}")]);
        let rows = case.table("out/case/monitors/integral.csv");
        let (first, last) = (&rows[0], rows.last().unwrap());
        let (heat, salt) = (last[2] - first[2], last[3] - first[3]);
        let given = 0.5 * 1f64.sin() * (last[1] - first[1]);
        assert!(last[1] > 0.01 && (heat - given).abs() < 1e-6 * given, "{time}: {heat:e} {given:e}");
        assert!(salt.abs() < 1e-8, "{time}: {salt:e}");
    }
}

#[test]
fn diffusivities_that_do_not_fit_are_refused() {
    let case = Case::new(CONDUCTION);
    let refuses = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    let key = "physics.temperature.diffusivity";
    refuses(
        &format!("{key}={{ formula: 1 + T }}"),
        &["`physics.temperature.diffusivity.constant` is missing"],
    );
    refuses(&format!("{key}.formula=k*shear"), &["unknown name `shear`", "T, salt"]);
    refuses(&format!("{key}.constant=0"), &["is 0, but must be greater than 0"]);
    refuses("physics.scalars.salt.diffusivity={ constant: 1, form: T }", &["unknown key `form`"]);
}

/// What a flow from rest has of energy is the work of its forces less what viscosity dissipates.
#[test]
fn the_budget_of_kinetic_energy_has_the_work_of_forces() {
    let monitor = "monitors:\n  - kinetic_energy: { every_steps: 1 }\n";
    let (flow, _) = LIFTED.split_once("monitors:").unwrap();
    let place = format!("{flow}{monitor}");
    let scalar = place.replace("buoyancy: {", "forcing: { u: salt*cos(t), v: T }\n  buoyancy: {");
    let place = place.replace("buoyancy: {", "forcing: { u: y*cos(t), v: x }\n  buoyancy: {");
    for text in [place, scalar] {
        let case = Case::new(&text);
        let set = ["--set", "space.order=7", "--set", "time={ dt: 0.005, steps: 30 }"];
        let summary = case.run(&set);
        let of = |name: &str| number(&summary, &format!("/kinetic_energy/{name}"));
        let (lost, numerical) = (of("lost"), of("numerical"));
        assert!(of("work") > 0.1 && numerical.abs() < 2e-3 * lost.abs(), "{lost:e} {numerical:e}");
    }
    // Poiseuille's flow at the mean velocity 2 has the force 12 ν U and the work 12 ν U².
    let channel = format!(
        "mesh: {{ generate: {{ shape: quad, cells: [2, 2] }}, periodic: [[xmin, xmax]] }}\n\
         physics: {{ model: incompressible, viscosity: 0.1, flow_rate: {{ mean: 2 }} }}\n\
         space: {{ order: 3 }}\ninitial: {{ u: 12*y*(1 - y), v: 0 }}\n\
         boundaries: {{ ymin: {{ type: no-slip-wall }}, ymax: {{ type: no-slip-wall }} }}\n\
         time: {{ dt: 0.02, steps: 20 }}\noutput: {{ fields: none }}\n{monitor}"
    );
    let summary = Case::new(&channel).run(&[]);
    for name in ["work", "dissipation"] {
        let found = number(&summary, &format!("/kinetic_energy/{name}"));
        assert!((found - 4.8).abs() < 1e-5, "{name}: {found}");
    }
}

/// The bound is that of explicit convection: with sub-steps the same steps are stable.
#[test]
fn a_fluid_that_is_at_rest_at_the_start_and_becomes_too_fast_has_a_hint_at_the_step() {
    let text = LIFTED
        .replace("viscosity: 0.01", "viscosity: 3e-3")
        .replace("diffusivity: 0.02", "diffusivity: 3e-3");
    let text = text.replace("dt: 0.02, steps: 12", "dt: 0.2, steps: 30");
    let case = Case::new(&text);
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_ne!(outcome.code, 0);
    let said = "hint: at the start, where the fluid was at rest, the stable step of explicit convection was not known";
    assert!(
        outcome.stderr.contains(said) && outcome.stderr.contains("about 0.003678/U^2"),
        "{}",
        outcome.stderr
    );
    case.run(&["--overwrite", "--set", "time={ dt: 0.2, steps: 30, subcycles: auto }"]);
}

/// The derivative at Chebyshev's points `cos(jπ/n)` (Trefethen, *Spectral Methods in MATLAB*, SIAM 2000, ch.
/// 6).
fn chebyshev(n: usize) -> (Vec<f64>, Matrix) {
    let s: Vec<f64> = (0..=n).map(|j| (PI * j as f64 / n as f64).cos()).collect();
    let weight =
        |j: usize| if j == 0 || j == n { 2.0 } else { 1.0 } * if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    let apart = |i: usize, j: usize| weight(i) / weight(j) / (s[i] - s[j]);
    let entry = |i: usize, j: usize| match i == j {
        true => -(0..=n).filter(|m| *m != i).map(|m| apart(i, m)).sum::<f64>(),
        false => apart(i, j),
    };
    let derivative = Matrix::from_fn(n + 1, n + 1, entry);
    (s, derivative)
}

/// The rate at which the slowest mode of a fluid heated from below grows in units of free fall, by
/// collocation and inverse iteration. For `w(y)` and `θ(y)` times `e^{σt + ikx}`, with `L = ∂²/∂y² − k²`,
///
/// ```text
/// σ L w = ν L² w − k² θ,   σ θ = κ L θ + w,   w = ∂w/∂y = θ = 0 on both walls
/// ```
///
/// (Chandrasekhar 1961, ch. II). As in Trefethen's chapter 14, `w = (1 − s²) q` has the fourth derivative.
fn rate_of_growth(rayleigh: f64, prandtl: f64, k: f64) -> f64 {
    const N: usize = 24;
    let (nu, kappa) = ((prandtl / rayleigh).sqrt(), 1.0 / (rayleigh * prandtl).sqrt());
    let (s, d) = chebyshev(N);
    let d2 = d.mul(&d);
    let (d3, d4) = (d2.mul(&d), d2.mul(&d2));
    let n = N - 1;
    // s = 2 y − 1 on inner points.
    let second = Matrix::from_fn(n, n, |i, j| 4.0 * d2[(i + 1, j + 1)]);
    let fourth = Matrix::from_fn(n, n, |i, j| {
        let (i, j) = (i + 1, j + 1);
        let of = (1.0 - s[i] * s[i]) * d4[(i, j)] - 8.0 * s[i] * d3[(i, j)] - 12.0 * d2[(i, j)];
        16.0 * of / (1.0 - s[j] * s[j])
    });
    let one = Matrix::identity(n);
    let l = second.add_scaled(-k * k, &one);
    let l2 = fourth.add_scaled(-2.0 * k * k, &second).add_scaled(k.powi(4), &one);
    let part = |i: usize, j: usize, parts: [(f64, &Matrix); 4]| {
        let (factor, of) = parts[2 * (i / n) + j / n];
        factor * of[(i % n, j % n)]
    };
    let zero = Matrix::zeros(n, n);
    let a = Matrix::from_fn(2 * n, 2 * n, |i, j| {
        part(i, j, [(nu, &l2), (-k * k, &one), (1.0, &one), (kappa, &l)])
    });
    let b = Matrix::from_fn(2 * n, 2 * n, |i, j| {
        part(i, j, [(1.0, &l), (1.0, &zero), (1.0, &zero), (1.0, &one)])
    });
    // All rates are real, and this one is the largest.
    let shift = 1.0;
    let step = a.add_scaled(-shift, &b).inverse().unwrap().mul(&b);
    let mut x = vec![1.0; 2 * n];
    let mut growth = 0.0;
    for _ in 0..400 {
        let next = step.mul_vec(&x);
        let largest =
            next.iter().copied().fold(0.0, |most: f64, v| if v.abs() > most.abs() { v } else { most });
        let at = next.iter().position(|v| *v == largest).unwrap();
        growth = shift + x[at] / largest;
        x = next.iter().map(|v| v / largest).collect();
    }
    growth
}

/// The fluid is heated as in the example.
#[test]
fn rolls_of_a_fluid_that_is_heated_from_below_grow_at_the_rate_of_the_linear_theory() {
    let critical = rate_of_growth(1707.762, 0.71, 3.1163);
    assert!(critical.abs() < 1e-7, "{critical:e}");
    let case = Case::new(include_str!("../../../examples/incompressible/rayleigh-benard.yaml"));
    let rate = |rayleigh: f64| {
        let set = [
            format!("constants.Ra={rayleigh}"),
            "constants.amplitude=1e-3".to_owned(),
            "mesh.generate.cells=[3, 2]".to_owned(),
            "space.order=5".to_owned(),
            "time={ scheme: bdf2, dt: 0.1, end: 20 }".to_owned(),
            "output={ fields: none, checkpoint: none }".to_owned(),
            "monitors=[{ integral: { fields: [u*u + v*v], every_steps: 1 } }]".to_owned(),
            "checks=".to_owned(),
            "solver={ pressure: { tolerance: 1e-10 }, velocity: { tolerance: 1e-11 } }".to_owned(),
        ];
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        case.run(&[&["--overwrite"], &set[..]].concat());
        let rows = case.table("out/case/monitors/integral.csv");
        let at = |t: f64| rows.iter().find(|row| row[1] > t - 1e-9).unwrap();
        let (first, last) = (at(15.0), at(20.0));
        (last[2] / first[2]).ln() / (2.0 * (last[1] - first[1]))
    };
    for (rayleigh, tolerance) in [(1690.0, 1e-5), (1725.0, 1e-5), (3000.0, 4e-4)] {
        let (found, expected) = (rate(rayleigh), rate_of_growth(rayleigh, 0.71, 3.1163));
        println!("Ra = {rayleigh}: rate of growth {found:.8}, of the linear theory {expected:.8}");
        assert_eq!(found > 0.0, rayleigh > 1707.762, "{rayleigh}: {found:e}");
        assert!((found - expected).abs() < tolerance, "{rayleigh}: {found:e} and {expected:e}");
    }
}
