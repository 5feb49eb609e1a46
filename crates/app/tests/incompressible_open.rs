//! Open boundaries of incompressible flow, by the program.

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
