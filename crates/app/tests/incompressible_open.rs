//! Open boundaries and the balance of prescribed velocities of incompressible flow, by the program.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{Case, number};

/// A channel of the velocity S without a prescribed velocity, whose outflow an eddy crosses.
const SCALED: &str = "\
constants: { S: 1, G: 24*S }
mesh: { generate: { shape: quad, max: [2, 1], cells: [4, 2] } }
physics: { model: incompressible, viscosity: 1e-3*S }
space: { order: 3 }
initial:
  u: 6*S*y*(1-y) - G*(y-0.5)*exp(-20*((x-2)^2+(y-0.5)^2))
  v: G*(x-2)*exp(-20*((x-2)^2+(y-0.5)^2))
boundaries:
  xmin: { type: pressure-outlet, p: 0.02*S^2 }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.01/S, steps: 5 }
output: { fields: none, checkpoint: none }
monitors: [{ integral: { fields: [{ Q: u/S }, { E: (u^2+v^2)/S^2 }] } }]
";

/// The velocity of the step between inflow and outflow has the units of the flow: with U₀ = 1 in all units
/// the slow flow differed by some percent.
#[test]
fn an_outflow_does_not_depend_on_units() {
    let at = |sets: &[&str]| {
        let args: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let summary = Case::new(SCALED).run(&args);
        ["/integral/Q", "/integral/E"].map(|value| number(&summary, value))
    };
    let apart = |a: [f64; 2], b: [f64; 2]| (0..2).fold(0.0, |m: f64, k| m.max((a[k] / b[k] - 1.0).abs()));
    let fast = at(&[]);
    // The solvers stop at 1e-8 of the right-hand side.
    let slow = at(&["constants.S=1e-3"]);
    assert!(apart(fast, slow) < 1e-6, "{fast:?} {slow:?}");
    // A velocity of its own changes the flow, and doing nothing does.
    let own = at(&["boundaries.xmax.velocity=20", "boundaries.xmax.delta=0.1"]);
    let nothing = at(&["boundaries.xmax.kind=do-nothing"]);
    assert!(apart(fast, own) > 1e-5 && apart(fast, nothing) > 1e-5, "{fast:?} {own:?} {nothing:?}");
    for (set, part) in [
        ("boundaries.xmax={ type: outflow, velocity: 0 }", "must be greater than 0"),
        ("boundaries.xmax={ type: outflow, kind: do-nothing, delta: 1 }", "unknown key `delta`"),
    ] {
        let outcome = Case::new(SCALED).dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code == 2 && outcome.stderr.contains(part), "{}", outcome.stderr);
    }
}

/// A strong eddy at a boundary with a given pressure: the kinetic energy that enters grows without bound.
#[test]
fn a_failure_names_the_boundary_through_which_fluid_comes_back() {
    let case = "
mesh: { generate: { shape: quad, min: [-3, -2], max: [3, 2], cells: [6, 4] } }
physics: { model: incompressible, viscosity: 1e-4 }
space: { order: 2 }
initial: { u: 1 - 40*y*exp(-2*((x-2.5)^2+y^2)), v: 40*(x-2.5)*exp(-2*((x-2.5)^2+y^2)) }
boundaries:
  xmin: { type: dirichlet, u: 1, v: 0 }
  xmax: { type: pressure-outlet, p: 0 }
  ymin: { type: symmetry }
  ymax: { type: symmetry }
time: { dt: 0.1, steps: 400, graded_start: false }
output: { fields: none, checkpoint: none }
";
    let run = |case: &str| Case::new(case).dgsuite(&["run", "case.yaml"]);
    let outcome = run(case);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for part in ["comes back through boundary \"xmax\" (pressure-outlet)", "boundaries.xmax.type: outflow"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let nothing = "{ type: outflow, kind: do-nothing }";
    let nothing = run(&case.replace("{ type: pressure-outlet, p: 0 }", nothing));
    assert!(nothing.stderr.contains("\"xmax\" (do-nothing)"), "{}", nothing.stderr);
}

/// A closed box with a lid and an inlet.
const BOX: &str = "
mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: incompressible, viscosity: 0.05 }
space: { order: 3 }
boundaries:
  xmin: { type: dirichlet, u: y*(1-y), v: 0 }
  xmax: { type: dirichlet, u: y*(1-y), v: 0 }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall, velocity: [1, 0] }
time: { dt: 0.005, steps: 4, graded_start: false }
output: { fields: none, checkpoint: none }
";

#[test]
fn prescribed_velocities_balance_at_all_times() {
    let balanced = Case::new(BOX).dgsuite(&["run", "case.yaml"]);
    assert_eq!(balanced.code, 0, "{}", balanced.stderr);
    // Ten percent more than enters; a flow that begins later; a lid that moves out of the box.
    for (set, parts) in [
        ("boundaries.xmax.u=1.1*y*(1-y)", ["let in -1.6667e-2 more", "no boundary is open"]),
        ("boundaries.xmin.u=(1+sin(10*t))*y*(1-y)", ["they let out at time", "no boundary is open"]),
        ("boundaries.ymax.velocity=[1, 0.2]", ["let in -2.0000e-1 more", "no boundary is open"]),
    ] {
        let outcome = Case::new(BOX).dgsuite(&["check", "case.yaml", "--set", set]);
        assert_eq!(outcome.code, 2, "{set}: {}", outcome.stderr);
        parts.iter().for_each(|part| assert!(outcome.stderr.contains(part), "{set}: {}", outcome.stderr));
    }
    // What the looks of the plan miss, a step finds: 1 % of the flow, and a pulse.
    let pulse = "boundaries.xmax.u=(1+0.1*exp(-((t-0.0101)/0.001)^2))*y*(1-y)";
    for (set, code) in [("boundaries.xmax.u=1.02*y*(1-y)", 2), (pulse, 1)] {
        let outcome = Case::new(BOX).dgsuite(&["run", "case.yaml", "--set", set]);
        assert_eq!(outcome.code, code, "{set}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("more than they let out"), "{set}: {}", outcome.stderr);
    }
    // The message of a wall that moves across itself says what happens.
    let open = BOX.replace("{ type: dirichlet, u: y*(1-y), v: 0 }\n  ymin", "{ type: outflow }\n  ymin");
    let lid = "boundaries.ymax.velocity=[1, 0.2]";
    let warned = Case::new(&open).dgsuite(&["check", "case.yaml", "--set", lid]);
    let text = format!("{}{}", warned.stdout, warned.stderr);
    assert!(text.contains("fluid passes through it with this velocity"), "{text}");
}

#[test]
fn errors_of_a_pressure_without_a_level_compare_the_same_means() {
    let summary = Case::new(
        "
mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: incompressible, viscosity: 0.05, forcing: { u: 3*x^2 } }
space: { order: 3 }
initial: { exact: { u: 0, v: 0, p: 7 + x^3 } }
boundaries:
  xmin: { type: no-slip-wall }
  xmax: { type: no-slip-wall }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.01, steps: 3 }
solver: { pressure: { tolerance: 1e-12 } }
output: { fields: none, checkpoint: none }
monitors: [{ error: { exact: { u: 0, v: 0, p: 7 + x^3 } } }]
",
    )
    .run(&[]);
    assert!(number(&summary, "/error/l2/p") < 1e-8 && number(&summary, "/error/linf/u") < 1e-9, "{summary}");
}
