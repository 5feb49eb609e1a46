//! Steps by an estimate of their error: rejected steps leave no trace, tolerances hold, runs repeat.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use serde_json::Value;
use support::{Case, WAVE, number};

/// Gas flows through a box; a front enters so suddenly that steps fail.
const FRONT: &str = "\
title: A front that enters
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [3, 3] } }
physics: { model: euler }
space: { order: 2 }
initial: { rho: 1, u: 1, v: 0.5, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1 + 0.2*exp(-((t - 0.15)/0.004)^2), u: 1, v: 0.5, p: 1 }
  ymin: { type: far-field, rho: 1, u: 1, v: 0.5, p: 1 }
  xmax: { type: outflow }
  ymax: { type: pressure-outlet, p: 1 }
time: { adaptive: { tolerance: 1e-5 }, end: 0.3 }
output: { fields: none, checkpoint: { every: 0.1, keep: 9 } }
monitors:
  - integral: { fields: [rho, rho_E, p*x*t], every_steps: 1 }
";

/// The results of a run without its times.
fn outcome(summary: &Value) -> [Value; 3] {
    ["time", "integral", "error"].map(|key| summary.get(key).cloned().unwrap_or_default())
}

#[test]
fn rejected_steps_leave_the_tally_and_the_monitors_untouched() {
    let case = Case::new(FRONT);
    let summary = case.run(&[]);
    assert!(number(&summary, "/time/rejected") >= 1.0, "nothing was rejected: {}", summary["time"]);
    for name in ["rho", "rho_u", "rho_v", "rho_E"] {
        // What has flowed through the boundaries agrees to rounding, so rejected steps do not count.
        let defect = number(&summary, &format!("/conservation/{name}"));
        assert!(defect < 1e-14, "{name}: {defect:e}");
    }
    assert_eq!(number(&summary, "/time/end"), 0.3);
    let rows = case.table("out/case/monitors/integral.csv");
    assert_eq!(rows.len() as f64, 1.0 + number(&summary, "/time/steps"), "a row for each step that counts");
    assert!(rows.windows(2).all(|pair| pair[0][1] < pair[1][1]), "time increases");
    assert!(rows.iter().any(|row| row[1] == 0.1), "steps land on events");
}

#[test]
fn a_continued_run_makes_the_steps_of_one_that_was_not_interrupted() {
    let case = Case::new(FRONT);
    let whole = case.run(&[]);
    let at = |t: f64| case.table("out/case/monitors/integral.csv").iter().position(|row| row[1] == t);
    for t in [0.1, 0.2] {
        let checkpoint = format!("out/case/checkpoints/step-{:08}.dgs", at(t).unwrap());
        let args = ["run", "case.yaml", "--restart", &checkpoint, "--output", "again"];
        let continued = case.dgsuite(&args);
        assert_eq!(continued.code, 0, "{}", continued.stderr);
        let again = case.summary("again");
        assert_eq!(again["integral"], whole["integral"], "from t = {t}");
        assert_eq!(again["time"]["steps"], whole["time"]["steps"], "from t = {t}");
    }
}

#[test]
fn steps_do_not_depend_on_the_number_of_threads() {
    // Long enough for reductions on several threads.
    let many = FRONT.replace("cells: [3, 3]", "cells: [30, 30]").replace("end: 0.3", "end: 1, steps: 6");
    let case = Case::new(&many.replace("checkpoint: { every: 0.1, keep: 9 }", "checkpoint: none"));
    let [one, two] = ["threads=1", "threads=2"].map(|threads| outcome(&case.run(&["--set", threads])));
    assert_eq!(one, two);
}

#[test]
fn steps_follow_the_tolerance_and_a_cfl_number_bounds_them() {
    let case =
        Case::new(&WAVE.replace("time: { end: 0.1 }", "time: { adaptive: { tolerance: 1e-6 }, end: 1 }"));
    let largest = |args: &[&str]| number(&case.run(args), "/time/dt_max");
    let (coarse, fine) = (largest(&[]), largest(&["--set", "time.adaptive.tolerance=1e-9"]));
    assert!((coarse / fine / 10.0 - 1.0).abs() < 0.2, "the cube root of the tolerance: {coarse} and {fine}");
    let bound = largest(&["--set", "time={ scheme: rdpk35, cfl: 0.05, end: 0.1 }"]);
    assert!(bound < coarse, "or the bound is none: {bound}");
    let bounded = largest(&["--set", "time.cfl=0.05"]);
    // The last two steps before the end are halves of the remaining time.
    assert!((bounded / bound - 1.0).abs() < 1e-5, "{bounded} and {bound}");
}

/// Incomplete blocks are filled with copies of elements, more of them in single precision: these must not
/// count.
#[test]
fn errors_do_not_depend_on_how_elements_are_packed() {
    let case =
        Case::new(&WAVE.replace("time: { end: 0.1 }", "time: { adaptive: { tolerance: 1e-4 }, steps: 4 }"));
    for cells in ["[2, 2]", "[3, 1]"] {
        let [double, single] = ["double", "single"].map(|precision| {
            let args = [format!("mesh.generate.cells={cells}"), format!("precision={precision}")];
            number(&case.run(&["--set", &args[0], "--set", &args[1]]), "/time/dt_max")
        });
        // Errors of 1e-4 differ from rounding errors of 6e-8 in the first three digits.
        assert!((double / single - 1.0).abs() < 1e-3, "{cells}: {double} and {single}");
    }
}

/// However loose the tolerance is, no step is larger than the default one: an estimate sees an instability
/// only when it has grown.
#[test]
fn no_step_is_larger_than_the_stable_one() {
    let case =
        Case::new(&WAVE.replace("time: { end: 0.1 }", "time: { adaptive: { tolerance: 1e-2 }, end: 20 }"));
    let summary = case.run(&[]);
    assert!(number(&summary, "/error/linf/u") < 1.5, "{}", summary["error"]);
    let stable = number(&case.run(&["--set", "time={ scheme: rdpk35, end: 1 }"]), "/time/dt_max");
    let largest = number(&summary, "/time/dt_max");
    // The speed is constant; the step may be stretched to land on the end.
    assert!((largest / stable - 1.0).abs() < 1e-5, "{largest} and {stable}");
}

/// A vortex for which steps by error alone, with this tolerance, became unstable: they accepted a pressure of
/// −2.1 in a corner of an element, and ended at t = 2.54 with what is no number.
const VORTEX: &str = "\
title: A vortex
mesh:
  generate: { shape: quad, min: [-5, -5], max: [5, 5], cells: [10, 10] }
  periodic: [[xmin, xmax], [ymin, ymax]]
physics: { model: euler }
space: { order: 4 }
initial: { exact: isentropic-vortex-beta, x0: 0, y0: 0, u: 1, v: 0.5 }
time: { adaptive: { tolerance: 1e-3 }, end: 5 }
output: { fields: none, checkpoint: none }
monitors: [ error: { exact: isentropic-vortex-beta, norms: [l2] } ]
";

/// On this mesh the error in space is 5.0e-3 in the density, whatever the step is.
#[test]
fn loose_tolerances_take_no_more_steps_than_tight_ones_and_no_bad_states() {
    let case = Case::new(VORTEX);
    let mut before = 0.0;
    for tolerance in ["1e-2", "1e-3", "1e-5", "1e-7"] {
        let summary = case.run(&["--set", &format!("time.adaptive.tolerance={tolerance}")]);
        let (steps, error) = (number(&summary, "/time/steps"), number(&summary, "/error/l2/rho"));
        assert!(steps >= before && error < 6e-3, "{tolerance}: {steps} after {before} steps, {error}");
        before = steps;
    }
}

/// Sod's shock tube with the entropy filter. The estimate contained what the filter does to the stages, which
/// does not vanish with the step: runs ended after 20 attempts, or stalled with steps of 1e-14.
const SHOCK: &str = "\
title: A shock tube
mesh: { generate: { shape: quad, min: [0, 0], max: [1, 0.1], cells: [40, 1] }, periodic: [[ymin, ymax]] }
physics: { model: euler }
space: { order: 2, riemann: hllc, shock: entropy-filter }
initial: { exact: sod }
boundaries: { xmin: { type: dirichlet, exact: sod }, xmax: { type: dirichlet, exact: sod } }
time: { adaptive: { tolerance: 1e-6 }, end: 0.2 }
output: { fields: none, checkpoint: none }
monitors: [ error: { exact: sod, norms: [l1] } ]
";

#[test]
fn steps_by_error_pass_shocks_with_a_filter_or_a_limiter() {
    let case = Case::new(SHOCK);
    let mut before = 0.0;
    for tolerance in ["1e-3", "1e-4", "1e-5", "1e-6", "1e-7"] {
        let summary = case.run(&["--set", &format!("time.adaptive.tolerance={tolerance}")]);
        let (steps, error) = (number(&summary, "/time/steps"), number(&summary, "/error/l1/rho"));
        assert!(steps >= before && steps < 2000.0, "{tolerance}: {steps} after {before} steps");
        assert!(error < 6e-4, "{tolerance}: {error}");
        before = steps;
    }
    for (space, mesh) in [
        (
            "{ order: 1, riemann: hllc, limiter: barth-jespersen }",
            "{ shape: tri, min: [0, 0], max: [1, 0.1], cells: [20, 2] }",
        ),
        ("{ order: 3, shock: entropy-filter }", "{ shape: tri, min: [0, 0], max: [1, 0.1], cells: [20, 2] }"),
    ] {
        let args = [format!("space={space}"), format!("mesh.generate={mesh}")];
        let summary =
            case.run(&["--set", &args[0], "--set", &args[1], "--set", "time.adaptive.tolerance=1e-5"]);
        assert!(number(&summary, "/time/steps") < 1000.0, "{space}: {}", summary["time"]);
    }
}

#[test]
fn a_tolerance_that_cannot_be_reached_is_said() {
    // Numbers of 24 bits have rounding of 6e-8.
    let case = Case::new(&format!(
        "precision: single\n{}",
        WAVE.replace("time: { end: 0.1 }", "time: { adaptive: { tolerance: 1e-14 }, end: 1 }")
    ));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("time.adaptive.tolerance allows"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: allow a larger time.adaptive.tolerance"), "{}", outcome.stderr);
}

#[test]
fn what_does_not_go_with_steps_by_error_is_refused() {
    for (time, expected) in [
        ("{ scheme: lserk54, adaptive: { tolerance: 1e-5 }, end: 1 }", "the scheme rdpk35"),
        ("{ dt: 0.1, adaptive: { tolerance: 1e-5 }, end: 1 }", "exclude each other"),
        ("{ steady: { tolerance: 1e-5 }, adaptive: { tolerance: 1e-5 } }", "exclude each other"),
        ("{ adaptive: { tolerance: 2 }, end: 1 }", "must be below 1"),
        ("{ adaptive: {}, end: 1 }", "tolerance"),
    ] {
        let case = Case::new(&WAVE.replace("{ end: 0.1 }", time));
        let outcome = case.dgsuite(&["check", "case.yaml"]);
        assert_eq!(outcome.code, 2, "{time}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(expected), "{time}: {}", outcome.stderr);
    }
}

/// The same front, with implicit steps.
fn implicit(scheme: &str) -> Case {
    let case = FRONT.replace("adaptive: {", &format!("scheme: {scheme}, adaptive: {{"));
    Case::new(&case.replace("1e-5", "1e-4"))
}

#[test]
fn implicit_steps_by_error_are_kept_and_continued_with_the_same_bits() {
    for scheme in ["esdirk32", "esdirk43"] {
        let case = implicit(scheme);
        let whole = case.run(&["--set", "threads=2"]);
        let of = |key: &str| number(&whole, key);
        assert!(of("/time/rejected") >= 1.0 && of("/time/steps") < 80.0, "{}", whole["time"]);
        assert!(of("/newton/explicit_steps") > 1.5, "{}", whole["newton"]);
        for name in ["rho", "rho_u", "rho_v", "rho_E"] {
            let defect = of(&format!("/conservation/{name}"));
            assert!(defect < 1e-13, "{name}: {defect:e}");
        }
        let rows = case.table("out/case/monitors/integral.csv");
        let at = rows.iter().position(|row| row[1] == 0.2).unwrap();
        let checkpoint = format!("out/case/checkpoints/step-{at:08}.dgs");
        let args = ["run", "case.yaml", "--restart", &checkpoint, "--output", "again"];
        let continued = case.dgsuite(&[&args[..], &["--set", "threads=1"]].concat());
        assert_eq!(continued.code, 0, "{}", continued.stderr);
        let again = case.summary("again");
        assert_eq!(
            (&again["integral"], &again["time"]["steps"]),
            (&whole["integral"], &whole["time"]["steps"])
        );
    }
}

#[test]
fn implicit_steps_of_a_given_size_end_with_a_reason_or_are_repeated() {
    let case = implicit("esdirk43");
    let check = case.dgsuite(&["check", "case.yaml", "--set", "time={ scheme: esdirk32, cfl: 40, end: 1 }"]);
    assert!(check.code == 0 && check.stdout.contains("times the explicit one)"), "{}", check.stdout);
    let start = "initial={ rho: 1, u: 1 + 0.5*sin(2*pi*x), v: 0.5*cos(2*pi*y), p: 1 }";
    let steps = "time={ scheme: esdirk43, dt: 1e4, end: 1e5, steps: 1 }";
    let hard = ["run", "case.yaml", "--set", start, "--set", steps, "--set", "output.checkpoint.every=1e4"];
    let outcome = case.dgsuite(&hard);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for words in
        ["error[step-size]: no solution is found for a step of size 1.0000e4", "hint: try a smaller time.dt"]
    {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    // A formula that is no number in a stage is the reason.
    let formula = "boundaries.xmin={ type: dirichlet, rho: 1 + sqrt(0.25 - t), u: 1, v: 0.5, p: 1 }";
    let outcome = case
        .dgsuite(&[&hard[..3], &[formula, "--set", "time={ scheme: esdirk32, dt: 0.1, end: 1 }"]].concat());
    assert!(
        outcome.code == 1 && outcome.stderr.contains("`boundaries.xmin.rho` is NaN"),
        "{}",
        outcome.stderr
    );
    let repeated = case.dgsuite(&[&hard[..], &["--set", "time.retries=30"]].concat());
    assert_eq!(repeated.code, 0, "{}", repeated.stderr);
    let summary = case.summary("out/case");
    let (retries, dt) = (number(&summary, "/time/retries"), number(&summary, "/time/dt_max"));
    assert!(retries >= 1.0 && (dt * 2f64.powf(retries) / 1e4 - 1.0).abs() < 1e-9, "{}", summary["time"]);
}

/// With Rusanov's flux a far field has a jump where the flow along it turns from entering to leaving.
#[test]
fn a_jump_at_a_boundary_is_hinted_at_where_stages_have_no_solution() {
    let far =
        "{ type: far-field, rho: 1 + 0.03*sin(3*t), u: (0.4 + 0.1*sin(3*t))*y*(2 - y), v: 0, p: 1/1.4 }";
    let case = Case::new(&format!(
        "\
mesh: {{ generate: {{ shape: tri, min: [0, 0], max: [1, 1], cells: [3, 3] }} }}
physics: {{ model: euler }}
space: {{ order: 2, riemann: rusanov }}
initial: {{ rho: 1, u: 0.4*y*(2 - y), v: 0, p: 1/1.4 }}
boundaries: {{ xmin: {far}, xmax: {far}, ymin: {far}, ymax: {far} }}
time: {{ scheme: esdirk43, dt: 0.025, end: 0.2 }}
output: {{ fields: none, checkpoint: none }}
"
    ));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert!(outcome.code == 1 && outcome.stderr.contains("may have a jump here"), "{}", outcome.stderr);
    case.run(&["--set", "time.newton.tolerance=1e-4"]);
    case.run(&["--set", "space.riemann=hllc"]);
}

#[test]
fn implicit_steps_are_refused_by_name_where_they_do_not_work() {
    let euler = implicit("esdirk43");
    let refused = |case: &Case, sets: &[&str], words: &str| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let args: Vec<&str> = ["check", "case.yaml"].into_iter().chain(sets).collect();
        let outcome = case.dgsuite(&args);
        assert!(outcome.code == 2 && outcome.stderr.contains(words), "{}", outcome.stderr);
    };
    refused(&euler, &["space.shock=entropy-filter"], "implicit steps have no limiter");
    refused(&euler, &["precision=single"], "`precision: double`");
    refused(&euler, &["time={ scheme: esdirk43, end: 1 }"], "`cfl: 50`");
    refused(&euler, &["time={ scheme: esdirk43, steady: {} }"], "exclude each other");
    refused(&euler, &["time.newton={ start: 3 }"], "does not belong to implicit steps in time");
    refused(
        &euler,
        &["time={ scheme: rk4, newton: { tolerance: 1e-6 }, end: 1 }"],
        "an implicit `time.scheme`",
    );
    refused(&euler, &["time.scheme=bdf2"], "implicit: esdirk32, esdirk43");
    refused(&Case::new(WAVE), &["time={ scheme: esdirk32, dt: 0.1, end: 1 }"], "not for advection");
    // Boundary data may be formulas of the state.
    let valve = "boundaries.ymax={ type: pressure-outlet, p: 1 + 0.1*(rho - 1) }";
    euler.run(&["--set", valve, "--set", "time.steps=2"]);
}
