//! Heat in incompressible flow by the program: forces and diffusivities by formulas of its scalars.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

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
