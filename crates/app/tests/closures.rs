//! Closures: what does not fit is refused, the plan tells the numbers, runs are stable and continue bit by
//! bit.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::f64::consts::PI;

use support::{CHANNEL, Case, PLATE, STREAM, number, refused, with};

/// Vortices in a periodic box, on tetrahedra.
const BOX: &str = "\
mesh:
  generate: { shape: tet, min: [0, 0, 0], max: [2*pi, 2*pi, 2*pi], cells: [2, 2, 2] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: { model: navier-stokes, viscosity: 1e-3, closure: wale }
space: { order: 2 }
initial: { exact: taylor-green, mach: 0.2 }
time: { steps: 6 }
output: { fields: none }
monitors:
  - integral: { fields: [{ energy: 0.5*rho*(u^2 + v^2 + w^2) }], every_steps: 1 }
  - probe: { points: [[1, 2, 3]], fields: [rho, u, v, w, p], every_steps: 1 }
";

#[test]
fn closures_that_do_not_fit_are_refused_by_name() {
    let case = with(STREAM, "model: euler", "model: euler, closure: wale");
    refused(&case, &[], &["`physics.closure` does not belong to the model euler", "the model navier-stokes"]);
    let case = with(CHANNEL, "viscosity: 0.1", "viscosity: 0.1, closure: sigma");
    refused(
        &case,
        &[],
        &["`physics.closure: sigma` is not supported", "zero in all flows of two dimensions"],
    );
    let case = Case::new(PLATE);
    let closed = |closure: &str, parts: &[&str]| {
        refused(&case, &["--set", &format!("physics.closure={closure}")], parts);
    };
    closed("sigma", &["`physics.closure: sigma` is not supported", "zero in all flows of two dimensions"]);
    closed(
        "smagorinski",
        &["`smagorinski` is not a value of `physics.closure`", "did you mean `smagorinsky`?"],
    );
    closed("{}", &["`physics.closure.vreman` is missing", "one of smagorinsky, wale, vreman, sigma"]);
    closed("{ wale: {}, vreman: {} }", &["`physics.closure.wale`", "`physics.closure.vreman`"]);
    closed("{ wale: { constant: 0 } }", &["`physics.closure.wale.constant` is 0", "greater than 0"]);
    closed(
        "{ wale: { length: delta - x } }",
        &[
            "`physics.closure.wale.length` is delta - x is",
            "in element",
            "a length, finite and greater than 0",
        ],
    );
    closed("{ wale: { length: 2*h } }", &["`physics.closure.wale.length`", "`h`", "delta"]);
    let case = with(BOX, "closure: wale", "closure: wale, source: manufactured");
    refused(
        &case,
        &[],
        &["`physics.closure: wale`", "a manufactured source does not know the eddy viscosity"],
    );
}

#[test]
fn the_plan_tells_the_closure_its_numbers_and_the_width() {
    // Elements are squares of edge ½, of order 2.
    let said = |closure: &str| {
        let set = format!("physics.closure={closure}");
        let outcome = Case::new(PLATE).dgsuite(&["check", "case.yaml", "--set", &set]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout.lines().find(|line| line.starts_with("closure")).unwrap_or_default().to_owned()
    };
    let width = "turbulent Prandtl number 0.9, filter width |E|^(1/2)/(p + 1) = 0.1667";
    assert_eq!(said("vreman"), format!("closure     vreman, constant 0.07, {width}"));
    assert_eq!(
        said("{ wale: { constant: 0.5, length: delta*(1 + y), turbulent_prandtl: 0.7 } }"),
        "closure     wale, constant 0.5, turbulent Prandtl number 0.7, filter width delta*(1 + y) = 0.2083 to 0.2917"
    );
    assert_eq!(said("none"), "");
    let case = Case::new(PLATE);
    case.run(&["--set", "physics.closure=vreman"]);
    let resolved = std::fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
    assert!(resolved.contains("constant: 0.07") && resolved.contains("length: delta"), "{resolved}");
}

/// With a constant fifty times the usual one ν_t is what bounds the step.
#[test]
fn steps_follow_the_eddy_viscosity() {
    let case = with(BOX, "steps: 6", "end: 1");
    let steps = |closure: &str| {
        let summary = case.run(&["--set", &format!("physics.closure={closure}")]);
        let rows = case.table("out/case/monitors/integral.csv");
        let energy: Vec<f64> = rows.iter().map(|row| *row.last().unwrap()).collect();
        assert!(energy.windows(2).all(|pair| pair[1] <= pair[0]), "{closure}: {energy:?}");
        number(&summary, "/time/steps")
    };
    let [usual, giant] = [steps("smagorinsky"), steps("{ smagorinsky: { constant: 8.5 } }")];
    assert!(giant > 10.0 * usual, "{usual} and {giant} steps");
}

#[test]
fn a_restart_continues_bit_by_bit_and_names_other_constants() {
    for precision in ["double", "single"] {
        let case = Case::new(BOX);
        let set = format!("precision={precision}");
        let all = |steps: &str, more: &[&str]| {
            case.run(&[&["--set", &set, "--set", steps], more].concat());
            std::fs::read_to_string(case.path("out/case/monitors/probe.csv")).unwrap()
        };
        let whole = all("time.steps=6", &[]);
        all("time.steps=3", &[]);
        let pieces = all("time.steps=6", &["--restart", "latest"]);
        assert_eq!(whole, pieces, "{precision}");
    }
    let case = Case::new(BOX);
    case.run(&["--set", "time.steps=1"]);
    let outcome =
        case.dgsuite(&["check", "case.yaml", "--restart", "latest", "--set", "physics.closure=sigma"]);
    let text = outcome.stdout + &outcome.stderr;
    assert!(text.contains("closure.wale.constant 0.325 (this run: none)"), "{text}");
}

/// A velocity that turns with the height, `u = A (sin y, 0, cos y)`, has `|S| = A` everywhere: with the
/// mixing length l the eddy viscosity is `l² A`, so that
///
/// ```text
/// A' = −(ν + l² A) A,   A = ν e^{−νt}/(ν + l² (1 − e^{−νt})) from A = 1,
/// B' = −(a + l² A/Pr_t) B,   B = e^{−at} (A e^{νt})^{1/Pr_t} for T = B cos y.
/// ```
///
/// It is a plane shear at each height: the other closures have no eddy viscosity, and do not change it.
const TURNING: &str = "\
mesh:
  generate: { shape: hex, cells: [1, 3, 1], min: [0, 0, 0], max: [2, 2*pi, 2] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics:
  model: incompressible
  viscosity: 0.2
  temperature: { diffusivity: 0.1 }
  closure: { smagorinsky: { constant: 0.5, length: 0.6, turbulent_prandtl: 0.5 } }
space: { order: 4 }
initial: { u: sin(y), v: 0, w: cos(y), T: cos(y) }
time: { dt: 0.002, end: 0.2 }
output: { fields: none }
monitors:
  - integral: { fields: [{ energy: (u^2 + v^2 + w^2)/(8*pi) }, { heat: T^2/(4*pi) }, u, w], every_steps: 10 }
";

#[test]
fn an_incompressible_shear_decays_by_the_eddy_viscosity() {
    let (nu, a, length, t) = (0.2, 0.1, 0.3_f64, 0.2_f64);
    let speed = nu * (-nu * t).exp() / (nu + length.powi(2) * (1.0 - (-nu * t).exp()));
    let warmth = (-a * t).exp() * (speed * (nu * t).exp()).powi(2);
    let case = Case::new(TURNING);
    let decayed = |more: &[&str], [speed, warmth]: [f64; 2]| {
        let set: Vec<&str> = more.iter().flat_map(|set| ["--set", set]).collect();
        let summary = case.run(&[&set[..], &["--overwrite"]].concat());
        let found = ["energy", "heat"].map(|name| number(&summary, &format!("/integral/{name}")).sqrt());
        // The error of the space is below 1e-5, that of the time 1e-6.
        for (found, exact) in found.into_iter().zip([speed, warmth]) {
            assert!((found - exact).abs() < 2e-5, "{more:?}: {found} {exact}");
        }
        for name in ["u", "w"] {
            assert!(number(&summary, &format!("/integral/{name}")).abs() < 1e-12, "{more:?}: {summary}");
        }
    };
    decayed(&[], [speed, warmth]);
    decayed(&["time.subcycles=2"], [speed, warmth]);
    decayed(&["time.splitting=pressure-correction", "mesh.generate.shape=prism"], [speed, warmth]);
    for closure in ["wale", "vreman", "sigma"] {
        decayed(&["time.dt=0.02", &format!("physics.closure={closure}")], [(-nu * t).exp(), (-a * t).exp()]);
    }
}

/// A spiral of the velocity `(sin y, 0, cos y)` with `|S| = 1` in layers of elements whose filter width
/// differs, `ν_t = (C Δ)²`.
#[test]
fn the_eddy_viscosity_is_a_field_with_the_width_of_each_element() {
    let width = |y: f64| 0.3 + 0.02 * y;
    let incompressible = TURNING
        .replace("length: 0.6", "length: 0.3 + 0.02*y")
        .replace("time: { dt: 0.002, end: 0.2 }", "time: { dt: 1e-6, steps: 1 }")
        .replace(
            "output: { fields: none }",
            "output: { fields: { names: [u, EddyViscosity, filter_width] } }",
        );
    let points = "points: [[0.1, 1, 0.2], [1.9, 3, 1], [1, 6, 0.3]]";
    let monitors = format!(
        "  - probe: {{ {points}, fields: [EddyViscosity, filter_width, 2*EddyViscosity + u] }}
  - sample: {{ {points}, fields: [EddyViscosity] }}
  - integral: {{ fields: [{{ mean: EddyViscosity/(8*pi) }}, {{ shear: u_y^2/(8*pi) }}] }}
  - profile: {{ line: {{ from: [0, 1, 0], to: [0, 5, 0], points: 3 }}, over: [x, z], samples: 2, fields: [EddyViscosity] }}
"
    );
    let head = incompressible.split("monitors:").next().unwrap_or_default();
    let incompressible = format!("{head}monitors:\n{monitors}");
    let gas = incompressible
        .replace("model: incompressible", "model: navier-stokes")
        .replace("  temperature: { diffusivity: 0.1 }\n", "")
        .replace("u: sin(y), v: 0, w: cos(y), T: cos(y)", "rho: 1, u: sin(y), v: 0, w: cos(y), p: 100");
    // The middle of each layer.
    let layer = |y: f64| ((y / (2.0 * PI) * 3.0).floor() + 0.5) / 3.0 * 2.0 * PI;
    let value = |y: f64| (0.5 * width(layer(y))).powi(2);
    for (model, yaml) in [("a liquid", &incompressible), ("a gas", &gas)] {
        let case = Case::new(yaml);
        let summary = case.run(&[]);
        // Gradients have the error of the space.
        let close = |found: f64, y: f64| {
            assert!((found / value(y) - 1.0).abs() < 0.01, "{model} {y}: {found} {}", value(y));
        };
        let rows = case.table("out/case/monitors/probe.csv");
        let last = &rows[rows.len() - 1][2..];
        for (i, y) in [1.0, 3.0, 6.0].into_iter().enumerate() {
            close(last[3 * i], y);
            assert!((last[3 * i + 1] - width(layer(y))).abs() < 1e-12, "{model}: {last:?}");
            assert!((last[3 * i + 2] - 2.0 * last[3 * i] - y.sin()).abs() < 1e-2, "{model}: {last:?}");
        }
        let mean = [1.0, 3.0, 5.0].map(value).iter().sum::<f64>() / 3.0;
        let found = number(&summary, "/integral/mean");
        assert!((found / mean - 1.0).abs() < 0.01, "{model}: {found} {mean}");
        assert!((number(&summary, "/integral/shear") - 0.5).abs() < 0.01, "{summary}");
        for (name, y) in [("min", 1.0), ("max", 5.0)] {
            close(number(&summary, &format!("/sample/EddyViscosity/{name}")), y);
            close(number(&summary, &format!("/profile/EddyViscosity/{name}")), y);
        }
    }
    refused(
        &with(TURNING, "  - integral: { fields: [", "  - integral: { fields: [EddyViscosity, "),
        &["--set", "physics.closure=none"],
        &["EddyViscosity"],
    );
}

/// A plane strain has the same stress everywhere, so that it stays as it is, with the pressure `−½ |x|²`,
/// whatever the eddy viscosity: between walls that move along, and planes of symmetry.
const STRAIN: &str = "\
mesh: { generate: { shape: quad, cells: [3, 2] } }
physics: { model: incompressible, viscosity: 0.05, closure: { smagorinsky: { constant: 1 } } }
space: { order: 2 }
initial: { exact: { u: x, v: -y, p: -(x^2 + y^2)/2 } }
boundaries:
  xmin: { type: symmetry }
  xmax: { type: dirichlet, u: x, v: -y }
  ymin: { type: symmetry }
  ymax: { type: dirichlet, u: x, v: -y }
time: { dt: 0.001, steps: 2 }
output: { fields: none }
";

#[test]
fn an_incompressible_strain_stays_as_it_is_on_all_shapes() {
    let case = Case::new(STRAIN);
    let solid = [
        "mesh.generate.min=[0, 0, 0]",
        "mesh.generate.max=[1, 1, 0.5]",
        "mesh.periodic=[[zmin, zmax]]",
        "initial.exact.w=0",
        "boundaries.xmax.w=0",
        "boundaries.ymax.w=0",
    ];
    // Blocks of lanes are not full.
    for (shape, cells) in [
        ("quad", "[3, 3]"),
        ("tri", "[3, 3]"),
        ("hex", "[3, 1, 1]"),
        ("tet", "[1, 1, 1]"),
        ("prism", "[1, 1, 1]"),
    ] {
        let own = [format!("mesh.generate.shape={shape}"), format!("mesh.generate.cells={cells}")];
        let more = if cells.len() > 6 { &solid[..] } else { &[] };
        let set: Vec<&str> = own
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .flat_map(|set| ["--set", set])
            .collect();
        let summary = case.run(&[&set[..], &["--overwrite"]].concat());
        for name in ["u", "v"] {
            let error = number(&summary, &format!("/error/linf/{name}"));
            assert!(error < 1e-12, "{shape}: {name} {error:e}");
        }
    }
}

/// Half a channel with the mixing length l, on curved elements, from an inlet to an outlet, between a plane
/// of symmetry and a wall: `(ν + l² |u'|) u' = −G y` with `l² = c` gives `u` below, without a pressure.
const MIXED: &str = "\
title: Half a channel
constants: { nu: 0.3, c: 0.04, G: 1 }
mesh:
  generate: { shape: mixed, cells: [3, 2] }
  map: { order: 3, x: x + 0.05*sin(pi*y)*x*(1 - x), y: y + 0.05*sin(2*pi*x)*y*(1 - y) }
physics:
  model: incompressible
  viscosity: nu
  forcing: { u: G }
  closure: { smagorinsky: { constant: 0.2, length: 1 } }
space: { order: 4 }
initial: { exact: { u: PROFILE, v: 0, p: 0 } }
boundaries:
  xmin: { type: dirichlet, u: PROFILE, v: 0 }
  xmax: { type: outflow }
  ymin: { type: symmetry }
  ymax: { type: no-slip-wall }
time: { dt: 0.0003, steps: 40 }
output: { fields: none }
monitors:
  - forces: { boundary: ymax, every_steps: 40, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
";

#[test]
fn a_mixing_length_has_its_profile_and_friction_on_curved_elements() {
    let profile = "(6*nu*c*G*(y - 1) + (nu^2 + 4*c*G)^1.5 - (nu^2 + 4*c*G*y)^1.5)/(12*c^2*G)";
    let case = Case::new(&MIXED.replace("PROFILE", profile));
    let summary = case.run(&[]);
    // Without the stress, or with a wrong condition anywhere, u changes by 1e-3 and more.
    let [u, v] = ["u", "v"].map(|name| number(&summary, &format!("/error/linf/{name}")));
    assert!(u < 1e-4 && v < 1e-4, "{u} {v}");
    // The wall carries all of the force G on the area 1.
    let drag = number(&summary, "/forces/ymax/force/0");
    assert!((drag - 1.0).abs() < 1e-3, "{drag}");
}

/// Waves along walls with a model, on curved quadrilaterals and triangles, with a scalar.
const WAVES: &str = "\
title: Waves
mesh:
  generate: { shape: mixed, cells: [6, 4], min: [0, -1], max: [2, 1] }
  map: { order: 2, x: x, y: y + 0.1*sin(pi*x)*(1 - y^2) }
  periodic: [[xmin, xmax]]
physics:
  model: incompressible
  viscosity: 1e-3
  closure: { smagorinsky: { constant: 0.4 } }
  temperature: { diffusivity: 1e-3 }
space: { order: 2 }
initial: { u: (1 - y)*(1 + 0.2*sin(pi*x)), v: 0.1*sin(pi*x)*(1 - y^2), T: y }
boundaries:
  ymin: { type: no-slip-wall, model: reichardt, exchange: 0.3 }
  ymax: { type: no-slip-wall, model: reichardt, exchange: 0.3 }
time: { dt: 0.002, end: 0.04 }
output: { fields: none, checkpoint: { every: 0.02 } }
monitors:
  - forces: { boundary: [ymin, ymax], every_steps: 1, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - integral: { fields: [u, T], every_steps: 1 }
";

#[test]
fn walls_take_the_momentum_that_an_incompressible_flow_with_a_closure_loses() {
    let case = Case::new(WAVES);
    case.run(&[]);
    let [forces, integrals] =
        ["forces", "integral"].map(|name| case.table(&format!("out/case/monitors/{name}.csv")));
    let mut lost = 0.0;
    for pair in forces.windows(2) {
        lost += 0.5 * (pair[1][1] - pair[0][1]) * 0.5 * (pair[0][2] + pair[1][2]);
    }
    let (first, last) = (integrals[0][2], integrals[integrals.len() - 1][2]);
    assert!(((first - last) / lost - 1.0).abs() < 1e-3, "{first} {last} {lost}");
}

#[test]
fn incompressible_flow_with_a_closure_continues_bit_by_bit_with_any_number_of_threads() {
    let walls = WAVES.replace("model: reichardt, exchange: 0.3", "temperature: y");
    let case = Case::new(&walls);
    for steps in ["time.subcycles=null", "time.subcycles=2"] {
        let forces = |more: &[&str], output: &str| {
            case.dgsuite(&[&["run", "case.yaml", "--set", steps, "--output", output], more].concat());
            std::fs::read_to_string(case.path(&format!("{output}/monitors/forces.csv"))).unwrap()
        };
        let expected = forces(&["--set", "threads=1", "--overwrite"], "one");
        assert!(expected.lines().count() > 20, "{expected}");
        assert!(forces(&["--set", "threads=2", "--overwrite"], "two") == expected, "threads, {steps}");
        forces(&["--set", "time.steps=10", "--overwrite"], "parts");
        assert!(forces(&["--restart", "latest"], "parts") == expected, "restart, {steps}");
    }
}

/// Where eddies diffuse faster than the flow moves, they bound the step.
#[test]
fn incompressible_steps_follow_the_eddy_viscosity() {
    let case = with(TURNING, "dt: 0.002, end: 0.2", "cfl: auto, end: 0.04");
    let steps = |constant: f64| {
        let set = format!("physics.closure.smagorinsky.constant={constant}");
        number(&case.run(&["--overwrite", "--set", &set]), "/time/steps")
    };
    let [usual, giant] = [steps(0.1), steps(1.5)];
    assert!(giant > 3.0 * usual, "{usual} and {giant} steps");
    let large = ["check", "case.yaml", "--set", "physics.closure.smagorinsky.constant=3"];
    let large = case.dgsuite(&[&large[..], &["--set", "time.cfl=null", "--set", "time.dt=0.01"]].concat());
    assert!(large.stdout.contains("the explicit stress of the eddy viscosity is stable"), "{}", large.stdout);
}

/// In the turning shear `ν_t = l² A` and `2 S:S = A²` everywhere: per volume `ν A²` are dissipated by the
/// viscosity and `l² A³` by the eddy viscosity, of the energy `½A²`.
#[test]
fn budgets_have_the_dissipation_of_a_closure() {
    let monitors = "monitors:
  - kinetic_energy: { every_steps: 1 }
  - profile: { line: { from: [0, 1, 0], to: [2, 1, 0], points: 6 }, over: [y, z], samples: 24, budget: true, every_steps: 1 }
";
    let shear = TURNING.split("monitors:").next().unwrap().to_owned() + monitors;
    let shear = shear.replace("order: 4", "order: 6").replace("dt: 0.002, end: 0.2", "dt: 0.005, end: 0.05");
    let volume = 8.0 * PI;
    let (nu, mixing) = (0.2, 0.09);
    let gas = shear
        .replace("incompressible\n", "navier-stokes\n")
        .replace("  temperature: { diffusivity: 0.1 }\n", "")
        .replace("T: cos(y)", "rho: 1, p: 1e4")
        .replace("dt: 0.005, end: 0.05", "end: 0.002");
    for (yaml, is_gas) in [(&shear, false), (&gas, true)] {
        let case = Case::new(yaml);
        let summary = case.run(&[]);
        let rows = case.table("out/case/monitors/kinetic_energy.csv");
        let (first, last) = (&rows[0], rows.last().unwrap());
        let eddies = if is_gas { 6 } else { 7 };
        assert_eq!(first.len(), eddies + 1);
        for row in [first, last] {
            let speed = (2.0 * row[2] / volume).sqrt();
            let expected = [nu * speed.powi(2) * volume, mixing * speed.powi(3) * volume];
            assert!((row[3] / expected[0] - 1.0).abs() < 1e-4, "{row:?} {expected:?}");
            assert!((row[eddies] / expected[1] - 1.0).abs() < 1e-4, "{row:?} {expected:?}");
        }
        // All that is lost is explained; without the closure's part a third would not be.
        let share = number(&summary, "/kinetic_energy/numerical_share").abs();
        assert!(share < 2e-3, "{share}");
        // Across all of the shear k = ½A² and nothing but dissipation changes it.
        let of = |name: &str| number(&summary, &format!("/profile/{name}"));
        let speed = 1.0 - 0.5 * (1.0 - (2.0 * last[2] / volume).sqrt());
        for (name, expected) in [
            ("dissipation", nu * speed.powi(2)),
            ("eddy_dissipation", mixing * speed.powi(3)),
            ("production", 0.0),
            ("eddy_diffusion", 0.0),
            ("residual", nu * speed.powi(2) + mixing * speed.powi(3)),
        ] {
            assert!((of(name) - expected).abs() < 3e-4, "{name}: {} {expected}", of(name));
        }
        let none = case.run(&["--set", "physics.closure=none", "--overwrite"]);
        assert!(
            none["kinetic_energy"]["eddy_dissipation"].is_null()
                && none["profile"]["eddy_dissipation"].is_null()
        );
    }
}

/// Isotropic turbulence on a mesh that cannot hold its small eddies: each closure leaves less energy, and a
/// smaller share in the shorter half of the waves, than the scheme alone.
#[test]
fn closures_take_energy_from_short_waves() {
    let case = Case::new(
        "\
mesh:
  generate: { shape: hex, cells: [3, 3, 3], max: [2*pi, 2*pi, 2*pi] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: { model: incompressible, viscosity: 1e-4 }
space: { order: 3 }
initial: { u: 0, v: 0, w: 0, turbulence: { spectrum: k^(-5/3), waves: 5 } }
time: { cfl: auto, end: 0.3 }
output: { fields: none, checkpoint: none }
monitors:
  - spectrum: { along: [x, y, z], waves: 6, from: 0.29, every_steps: 1 }
",
    );
    let found = |closure: &str| {
        let summary = case.run(&["--set", &format!("physics.closure={closure}"), "--overwrite"]);
        ["variance", "upper_half"].map(|what| number(&summary, &format!("/spectrum/energy/{what}")))
    };
    let none = found("none");
    for closure in ["smagorinsky", "wale", "vreman", "sigma"] {
        let with = found(closure);
        assert!(with[0] < 0.97 * none[0] && with[1] < 0.95 * none[1], "{closure}: {with:?} {none:?}");
    }
}
