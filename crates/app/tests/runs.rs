//! The results of a run: summary, tables, field files, checkpoints; overrides, checks, restart, failure.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;

use dgsuite_output::draw::{Colour, ColourMap};
use dgsuite_output::picture::{Moment, Picture, Run, Slice};
use serde_json::json;
use support::{Case, STREAM, WAVE, number};

#[test]
fn a_run_leaves_a_summary_fields_a_log_and_the_file_as_it_was_run() {
    let case = Case::new(WAVE);
    let summary = case.run(&[]);
    assert_eq!(summary["status"], json!("ok"));
    assert_eq!(summary["mesh"]["elements"], json!({ "quad": 16 }));
    assert_eq!(summary["mesh"]["faces"], json!(32));
    assert_eq!(summary["space"], json!({ "order": 2, "dofs": 16 * 9 }));
    assert_eq!(number(&summary, "/time/end"), 0.1, "the end is landed on to the last bit");
    assert!(number(&summary, "/error/l2/u") < 0.02, "{summary}");
    assert!(number(&summary, "/conservation/u") < 1e-14, "{summary}");
    let evaluations = number(&summary, "/timing/rhs_evaluations");
    assert_eq!(evaluations, 5.0 * number(&summary, "/time/steps"));
    for file in ["fields.pvd", "log.txt", "fields/fields_000000.vtu", "fields/fields_000001.vtu"] {
        assert!(case.path("out/case").join(file).exists(), "{file}");
    }

    // The resolved file repeats the run from its own place.
    let again = support::dgsuite(&case.path("out/case"), &["run", "pipeline.yaml", "--output", "../again"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(case.summary("out/again")["error"], summary["error"]);
}

#[test]
fn overrides_reach_any_key_and_the_command_line_wins_over_the_ci_block() {
    let case = Case::new(&format!("{WAVE}ci: {{ set: {{ space.order: 1, time.steps: 1 }} }}\n"));
    let summary = case.run(&["--ci"]);
    assert_eq!((&summary["space"]["order"], &summary["time"]["steps"]), (&json!(1), &json!(1)));
    let args =
        ["--ci", "--set", "space.order=1+2", "--set", "mesh.generate.cells.0=5", "--output", "elsewhere"];
    let outcome = case.dgsuite(&[&["run", "case.yaml"][..], &args].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let summary = case.summary("elsewhere");
    assert_eq!(summary["space"], json!({ "order": 3, "dofs": 20 * 16 }));
    assert_eq!(summary["time"]["steps"], json!(1));
    // A fixed step replaces the CFL number, and a number of steps replaces the end.
    let summary = case.run(&["--set", "time.dt=0.01", "--set", "time.steps=4"]);
    assert_eq!((number(&summary, "/time/dt_min"), number(&summary, "/time/end")), (0.01, 0.04));
}

#[test]
fn times_of_output_are_landed_on_at_any_scale() {
    let monitors = "monitors: [ { probe: { points: [[0.3, 0.4]], fields: [u], every: end/10 } } ]\n";
    for end in ["1e-12", "1e-250"] {
        let case =
            Case::new(&format!("constants: {{ end: {end} }}\n{WAVE}{monitors}").replace("0.1 }", "end }"));
        case.run(&[]);
        let times: Vec<f64> = case.table("out/case/monitors/probe.csv").iter().map(|row| row[1]).collect();
        let end: f64 = end.parse().unwrap();
        let expected: Vec<f64> =
            (0..=10).map(|k| if k == 10 { end } else { f64::from(k) * (end / 10.0) }).collect();
        assert_eq!(times, expected);
    }
}

#[test]
fn a_run_that_would_only_land_on_times_of_output_says_so() {
    let wave = WAVE.replace("{ end: 0.1 }", "{ steps: 3 }");
    let case = Case::new(&format!("{wave}output: {{ fields: {{ every: 1e-300 }} }}\n"));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("every 1e-300 up to"), "{}", outcome.stderr);
}

#[test]
fn monitors_record_at_their_times_and_at_start_and_end() {
    let monitors = "monitors:\n\
        - error: { exact: { u: sin(2*pi*(x - t))*cos(2*pi*(y - t/2)) }, norms: [l2], every: 0.03 }\n\
        - integral: { fields: [u, { square: u^2 }, x + t], every_steps: 2, reference: { file: t.txt, columns: { x + t: 2 } } }\n\
        - residual: { every_steps: 1 }\n\
        - probe: { points: [[0.3, 0.4], [1, 1]], fields: [u], every: 0.05 }\n";
    let case = Case::new(&format!("{WAVE}{monitors}"));
    // Half of it at the start, a tenth too much at the end.
    fs::write(case.path("t.txt"), "# time, value\n0 1\n0.05 0.55\n0.1 0.66\n").unwrap();
    let summary = case.run(&[]);
    let times: Vec<f64> = case.table("out/case/monitors/error.csv").iter().map(|row| row[1]).collect();
    assert_eq!(times, [0.0, 0.03, 0.06, 0.09, 0.1]);
    let integral = case.table("out/case/monitors/integral.csv");
    for row in &integral {
        assert!(row[2].abs() < 1e-13, "the mean of the wave stays zero: {row:?}");
        assert!((row[3] - 0.25).abs() < 1e-3, "its energy is nearly kept: {row:?}");
        assert!((row[4] - 0.5 - row[1]).abs() < 1e-13, "x + t over the unit square: {row:?}");
    }
    // Reading JSON may change the last bit.
    let (last, square) = (integral.last().unwrap()[3], number(&summary, "/integral/square"));
    assert!((last - square).abs() < 1e-15, "{last} and {square}");
    let as_run = fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
    assert!(as_run.contains(&case.path("t.txt").display().to_string()), "{as_run}");
    let history = &summary["history"];
    assert!((number(history, "/x + t/decay") + 1.0).abs() < 1e-9, "it grows: {history}");
    assert!((number(history, "/x + t/deviation") - 0.5).abs() < 1e-9, "{history}");
    assert!(number(history, "/square/decay") < 1e-2 && history["square"].get("deviation").is_none());
    let residual = case.table("out/case/monitors/residual.csv");
    assert_eq!(residual.len() as f64, number(&summary, "/time/steps") + 1.0);
    assert_eq!(number(&summary, "/residual/u"), residual.last().unwrap()[2]);
    let probe = case.table("out/case/monitors/probe.csv");
    let exact = |t: f64| {
        let turn = 2.0 * std::f64::consts::PI;
        (turn * (0.3 - t)).sin() * (turn * (0.4 - t / 2.0)).cos()
    };
    for row in &probe {
        assert!((row[2] - exact(row[1])).abs() < 0.1, "{row:?}");
        assert!(row[3].is_finite(), "a corner belongs to the mesh");
    }
    let picture = fs::read_to_string(case.path("out/case/monitors/residual.svg")).unwrap();
    assert!(picture.contains("step") && picture.matches("<circle").count() == residual.len());
}

#[test]
fn columns_of_a_table_are_drawn() {
    let case = Case::new(WAVE);
    fs::write(case.path("m.csv"), "step,time,cd,cl\n0,0,1.5,-0.1\n1,0.5,1.25,0\n2,1,1,0.1\n").unwrap();
    let drawn = case.dgsuite(&["plot", "m.csv"]);
    assert_eq!((drawn.code, drawn.stdout.trim()), (0, "m.svg"), "{}", drawn.stderr);
    let circles = |file: &str| fs::read_to_string(case.path(file)).unwrap().matches("<circle").count();
    assert_eq!(circles("m.svg"), 6);
    let drawn = case.dgsuite(&["plot", "m.csv", "--x", "cd", "--y", "cl", "--log", "xy", "-o", "log.svg"]);
    assert_eq!((drawn.code, circles("log.svg")), (0, 1), "only one point is positive: {}", drawn.stderr);
    let refused = case.dgsuite(&["plot", "m.csv", "--y", "cdd"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("did you mean `cd`?"), "{}", refused.stderr);
    let refused = case.dgsuite(&["plot", "none.csv"]);
    assert!(refused.code == 2 && refused.stderr.contains("none.csv"), "{}", refused.stderr);
}

#[test]
fn checks_decide_the_exit_code() {
    let check = |text: &str| {
        let case = Case::new(&format!("{WAVE}checks: [ {text} ]\n"));
        let outcome = case.dgsuite(&["run", "case.yaml", "--quiet"]);
        let summary = case.summary("out/case");
        assert_eq!(summary["checks"].as_array().unwrap().len(), 1);
        assert_eq!(summary["status"] == json!("ok"), outcome.code == 0);
        assert_eq!(summary["checks"][0]["passed"], json!(outcome.code == 0));
        assert_eq!(outcome.stderr.contains("check FAILED"), outcome.code == 1);
        assert_eq!(outcome.stderr.contains("`dgsuite explain check-failed` tells more"), outcome.code == 1);
        outcome.code
    };
    assert_eq!(check("{ value: error.l2.u, below: 1 }"), 0);
    assert_eq!(check("{ value: error.l2.u, below: 1e-9 }"), 1);
    assert_eq!(check("{ value: error.l2.u, above: 1e-9 }"), 0);
    assert_eq!(check("{ value: space.dofs, between: [100, 12*12] }"), 0);
    assert_eq!(check("{ value: space.dofs, between: [145, 200] }"), 1);
    assert_eq!(check("{ value: time.end, near: 0.1, within: 0 }"), 0);
    assert_eq!(check("{ value: space.dofs, near: 150, within: 5% }"), 0);
    assert_eq!(check("{ value: space.dofs, near: 150, within: 1% }"), 1);
    assert_eq!(check("{ value: mesh.elements.quad, near: 8*order, within: 0 }"), 0);
}

#[test]
fn a_stopped_and_continued_run_equals_an_uninterrupted_one() {
    let more = "output: { fields: { every: 0.02, precision: double }, checkpoint: { every: 0.02, keep: 2 } }\n\
        monitors: [ { integral: { fields: [rho, rho_E], every_steps: 1 } } ]\n";
    let yaml = format!("{STREAM}{more}").replace("initial: { rho: 1,", "initial: { rho: 1 + 0.1*sin(3*x),");
    let case = Case::new(&yaml);
    let uninterrupted = case.dgsuite(&["run", "case.yaml", "--output", "out/whole", "--set", "threads=1"]);
    assert_eq!(uninterrupted.code, 0, "{}", uninterrupted.stderr);
    let whole = case.summary("out/whole");
    let first = case.dgsuite(&["run", "case.yaml", "--set", "time.steps=5", "--set", "threads=2"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let rest = case.run(&["--restart", "latest"]);
    for key in ["error", "integral", "conservation"] {
        assert_eq!(rest[key], whole[key], "{key} differs in the last bit");
    }
    assert_eq!(
        (&rest["time"]["steps"], &rest["time"]["end"]),
        (&whole["time"]["steps"], &whole["time"]["end"])
    );
    let table =
        |run: &str| fs::read_to_string(case.path(&format!("out/{run}/monitors/integral.csv"))).unwrap();
    assert_eq!(table("case"), table("whole"), "the continued table has each row once");
    let series = |run: &str| {
        let text = fs::read_to_string(case.path(&format!("out/{run}/fields.pvd"))).unwrap();
        text.lines().filter(|line| line.contains("<DataSet")).count()
    };
    assert_eq!(series("whole"), 4, "0, 0.02, 0.04, 0.05");
    assert!(series("case") >= 4);
    let kept = fs::read_dir(case.path("out/whole/checkpoints")).unwrap().count();
    assert_eq!(kept, 3, "two checkpoints and `latest`");

    // A checkpoint named in the file, found beside it.
    let from = "initial: { restart: out/whole/checkpoints/latest }\n";
    let start = yaml.find("initial:").unwrap();
    let end = start + yaml[start..].find('\n').unwrap() + 1;
    fs::write(case.path("again.yaml"), format!("{}{from}{}", &yaml[..start], &yaml[end..])).unwrap();
    let outcome = case.dgsuite(&["run", "again.yaml", "--set", "time.end=0.06"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(number(&case.summary("out/again"), "/time/end"), 0.06);
}

/// Nodal values, modes and Taylor coefficients of one state are converted into each other, and a higher order
/// contains the functions of a lower one.
#[test]
fn a_run_goes_on_in_another_basis_and_order() {
    let case = Case::new(&WAVE.replace("shape: quad", "shape: tri"));
    let end = |basis: &str| {
        let output = format!("out/{basis}");
        let run = |more: &[&str]| {
            let outcome = case.dgsuite(&[&["run", "case.yaml", "--output", &output], more].concat());
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        };
        run(&["--set", "time.end=0.05"]);
        run(&["--restart", "latest", "--set", &format!("space.basis={basis}")]);
        number(&case.summary(&output), "/error/l2/u")
    };
    let modal = end("modal");
    for basis in ["nodal", "taylor"] {
        let other = end(basis);
        assert!((other / modal - 1.0).abs() < 1e-8, "{basis}: {other:e} and {modal:e}");
    }
    let run = |more: &[&str]| {
        let outcome = case.dgsuite(&[&["run", "case.yaml", "--output", "out/higher"], more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        number(&case.summary("out/higher"), "/error/l2/u")
    };
    let lower = run(&["--set", "time.end=0.05"]);
    let raised = run(&["--restart", "latest", "--set", "space.order=5", "--set", "time.end=0.05"]);
    assert!(
        (raised / lower - 1.0).abs() < 1e-3,
        "the same function, by finer cubature: {raised:e} and {lower:e}"
    );
}

#[test]
fn checkpoints_of_another_mesh_or_kind_are_refused() {
    let case = Case::new(STREAM);
    case.run(&[]);
    let refused = |args: &[&str], part: &str| {
        let outcome = case.dgsuite(&[&["run", "case.yaml", "--restart", "latest"], args].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    };
    refused(&["--set", "mesh.refine=1"], "has a mesh with digest");
    refused(&["--output", "nowhere"], "cannot restart");
    fs::write(case.path("no.dgs"), "not a checkpoint at all").unwrap();
    let outcome = case.dgsuite(&["run", "case.yaml", "--restart", "no.dgs"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("no.dgs is not a checkpoint of dgsuite"), "{}", outcome.stderr);
    assert_eq!(case.summary("out/case")["status"], json!("ok"), "the results are untouched");
}

#[test]
fn default_steps_follow_the_correction() {
    // On the line c_− = −2/45 at order 2.
    let case = Case::new(&WAVE.replace("order: 2", "order: 2, scheme: fr, vcjh: 0"));
    let cfl = |c: &str| -> f64 {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", &format!("space.vcjh={c}")]);
        let text =
            outcome.stdout.split_once("cfl auto (now ").unwrap_or_else(|| panic!("{}", outcome.stderr)).1;
        text.split(')').next().unwrap().parse().unwrap()
    };
    let share = |c: &str| cfl(c) / cfl("0");
    // Half way to c_− and three quarters of the way, the highest modes of the correction are 2 and 4 times as
    // large.
    assert!((0.5..0.6).contains(&share("-1/45")) && (0.25..0.35).contains(&share("-1.5/45")));
    assert!(share("sd") > 1.3 && share("hu") > share("sd"));
    // With the steps of c = 0 the error would be 1e7 by then.
    let sets = ["--set", "space.vcjh=-1/45", "--set", "time.end=10", "--set", "output.fields=none"];
    let outcome = case.dgsuite(&[&["run", "case.yaml"][..], &sets].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(number(&case.summary("out/case"), "/error/l2/u") < 1.0);
}

#[test]
fn a_failure_that_spreads_is_traced_to_where_it_began() {
    let yaml = STREAM.replace("cells: [4, 2]", "cells: [40, 20]").replace("end: 0.05", "end: 5, dt: 0.015");
    let case = Case::new(&yaml.replace(
        "u: 0.5, v: 0, p: 1 }\nb",
        "u: 0.5 + 3*exp(-40*((x - 1.3)^2 + (y - 0.6)^2)), v: 0, p: 1 }\nb",
    ));
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "output.fields=none"]);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    let line = outcome.stderr.lines().find(|line| line.contains("began near the middle of them")).unwrap();
    let place = line.split_once(" at (").unwrap().1;
    let [x, y] = [0, 1].map(|i| place.split(',').nth(i).unwrap().trim().parse::<f64>().unwrap());
    // The distance to the first element that is not finite is 0.16.
    assert!((x - 1.3).hypot(y - 0.6) < 0.12, "{line}");
}

#[test]
fn a_run_that_blows_up_says_where_and_keeps_its_last_checkpoint() {
    let yaml = STREAM.replace("initial: { rho: 1,", "initial: { rho: 1 + 0.3*sin(20*x*y),");
    let case = Case::new(&format!("{yaml}output: {{ checkpoint: {{ every_steps: 1, keep: 1 }} }}\n"));
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "time.dt=0.2", "--set", "time.end=100"]);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    for part in [
        "error[not-finite]: at time",
        "step",
        "element",
        "near (",
        "failed.vtu",
        "hint: try a smaller time.dt",
    ] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    let summary = case.summary("out/case");
    assert_eq!(summary["status"], json!("diverged"));
    assert!(number(&summary, "/failure/time") > 0.0 && number(&summary, "/failure/element") >= 1.0);
    let place = summary["failure"]["coordinates"].as_array().unwrap();
    let inside = |i: usize, high: f64| (0.0..=high).contains(&place[i].as_f64().unwrap());
    assert!(inside(0, 2.0) && inside(1, 1.0), "{place:?}");
    assert!(summary["failure"]["state"].is_object() && summary["failure"]["code"] == "not-finite");
    assert!(case.path("out/case/fields/failed.vtu").exists());
    assert!(case.path("out/case/checkpoints/latest").exists());
    // The checkpoint is good: a run with smaller steps continues from it.
    let steps = number(&summary, "/failure/step");
    let more = format!("time.steps={}", steps + 3.0);
    let sets = ["--set", "time.dt=1e-4", "--set", "time.end=100", "--set", &more];
    let outcome = case.dgsuite(&[&["run", "case.yaml", "--restart", "latest"][..], &sets].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(number(&case.summary("out/case"), "/time/steps"), steps + 3.0);
}

#[test]
fn a_steady_run_stops_at_its_tolerance_or_says_that_it_did_not() {
    let yaml = STREAM.replace("initial: { rho: 1,", "initial: { rho: 1 + 0.01*sin(3*x),");
    // Supersonic flow: the wave leaves and does not return.
    let yaml = yaml.replace("u: 0.5", "u: 2");
    let steady =
        "time: { scheme: ssprk33, steady: { tolerance: 1e-6, max_steps: 4000, local_steps: true } }\n";
    let case = Case::new(&yaml.replace("time: { end: 0.05 }\n", steady));
    let summary = case.run(&[]);
    assert!(number(&summary, "/steady/residual") <= 1e-6);
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "time.steady.max_steps=20"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("no steady state: the residual is"), "{}", outcome.stderr);
    let summary = case.summary("out/case");
    assert_eq!(summary["status"], json!("failed"));
    // The run continues from the point where it ended.
    case.run(&["--restart", "latest"]);
    // The run does not wait for a residual below rounding, and recognises a steady state at its first step.
    let summary = case.run(&["--set", "time.steady.tolerance=1e-30"]);
    assert!(number(&summary, "/steady/residual") < 1e-11, "{}", summary["steady"]);
    assert!(number(&summary, "/time/steps") < 2000.0, "{}", summary["time"]);
    let steps = number(&summary, "/time/steps");
    let summary = case.run(&["--restart", "latest"]);
    assert_eq!(number(&summary, "/time/steps"), steps);
    // It is relative to the largest one of the whole run.
    let left = number(&summary, "/steady/residual");
    assert!(left > 0.0 && left < 1e-11, "{left:e}");
}

/// A bump crosses the box in more steps than the default patience, and its rate of change keeps the same
/// norm.
#[test]
fn a_steady_run_waits_for_what_crosses_the_domain_slowly() {
    let case = Case::new(
        "mesh: { generate: { shape: quad, cells: [8, 1] }, periodic: [[ymin, ymax]] }\n\
         physics: { model: advection, velocity: [1, 0] }\n\
         space: { order: 5 }\n\
         initial: { u: exp(-((x - 0.2)/0.06)^2) }\n\
         boundaries: { xmin: { type: dirichlet, u: 0 }, xmax: { type: outflow } }\n\
         time: { scheme: heun, dt: 8e-5, steady: { tolerance: 1e-3, max_steps: 19000 } }\n\
         output: { fields: none, checkpoint: none }\n",
    );
    let summary = case.run(&[]);
    assert!(number(&summary, "/time/steps") > 5000.0 + 2000.0, "{summary}");
    assert!(number(&summary, "/steady/residual") <= 1e-3, "{summary}");
}

#[test]
fn a_taylor_basis_gives_the_solution_of_the_modes_of_its_degree() {
    for shape in ["tri", "quad"] {
        let case = Case::new(&WAVE.replace("shape: quad", &format!("shape: {shape}")));
        let errors = ["modal", "taylor"].map(|basis| {
            let space = format!("space={{ order: 3, basis: {basis}, polynomials: total }}");
            number(&case.run(&["--set", &space, "--set", "time.dt=2e-3"]), "/error/l2/u")
        });
        // Both spaces have the same polynomials, so only rounding differs.
        assert!((errors[0] - errors[1]).abs() < 1e-11, "{shape}: {errors:?}");
        let tensor = "space={ order: 2, basis: taylor, polynomials: tensor }";
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", tensor]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("must be total, as a Taylor basis"), "{}", outcome.stderr);
    }
}

#[test]
fn check_prints_the_plan_and_writes_nothing() {
    let case = Case::new(STREAM);
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for part in
        ["16 tri", "euler in 2D", "order 1", "unknowns    192", "xmax: outflow", "about", "is fit to run"]
    {
        assert!(outcome.stdout.contains(part), "`{part}` is not in:\n{}", outcome.stdout);
    }
    assert_eq!(fs::read_dir(case.directory.path()).unwrap().count(), 1);
}

#[test]
fn quiet_runs_say_nothing_and_no_bar_is_drawn_off_a_terminal() {
    let case = Case::new(WAVE);
    let outcome = case.dgsuite(&["run", "case.yaml", "--quiet"]);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert!(!outcome.stderr.contains('\r') && !outcome.stderr.contains('\u{1b}'), "{}", outcome.stderr);
    assert!(fs::read_to_string(case.path("out/case/log.txt")).unwrap().contains("MDOF/s"));
}

/// The reservoir of a free stream gives this free stream: its temperature is that of the reference.
#[test]
fn temperatures_of_inviscid_flow_are_those_of_its_reference() {
    let case = Case::new(
        "\
constants: { M: 0.2, f: 1 + 0.2*M^2 }
mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: euler, reference: { mach: M } }
space: { order: 2 }
initial: { rho: rho_ref, u: u_ref, v: 0, p: p_ref }
boundaries:
  xmin: { type: subsonic-inflow, total_pressure: p_ref*f^3.5, total_temperature: T_ref*f, direction: [1, 0] }
  xmax: { type: pressure-outlet, p: p_ref }
  ymin: { type: slip-wall }
  ymax: { type: slip-wall }
time: { steps: 20 }
monitors:
  - integral: { fields: [{ change: (u - u_ref)^2 + (rho - rho_ref)^2 }] }
",
    );
    let change = number(&case.run(&[]), "/integral/change");
    assert!(change < 1e-20, "{change:e}");
}

/// A case whose first file of fields has the given `u`, which its elements can represent exactly.
fn given(shape: &str, mesh: &str, map: &str, order: usize, u: &str) -> Case {
    let velocity = if ["tri", "quad"].contains(&shape) { "[1, 0]" } else { "[1, 0, 0]" };
    let names = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let boundaries: String = names[..if velocity.len() > 7 { 6 } else { 4 }]
        .iter()
        .map(|n| format!("  {n}: {{ type: outflow }}\n"))
        .collect();
    Case::new(&format!(
        "mesh:\n  generate: {{ shape: {shape}, {mesh} }}\n{map}physics: {{ model: advection, velocity: {velocity} }}\n\
         space: {{ order: {order} }}\ninitial: {{ u: \"{u}\" }}\nboundaries:\n{boundaries}time: {{ dt: 1e-9, steps: 1 }}\n\
         output: {{ fields: {{ every_steps: 1 }} }}\n"
    ))
}

/// Colours of the picture of a case at points of its window, each given as a part of width and height from
/// the lower left corner.
fn colours(case: &Case, picture: &Picture, places: &[[f64; 2]]) -> Vec<Colour> {
    case.run(&[]);
    let run = Run::open(&case.path("out/case")).unwrap();
    let page = Picture { moment: Moment::Number(0), ..picture.clone() }.draw(&[run]).unwrap();
    let (corner, size, _) = page.images().next().unwrap();
    let file = page.image(1.0).png();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let width = reader.next_frame(&mut bytes).unwrap().width as usize;
    let pixel = |[x, y]: [f64; 2]| {
        let [column, row] = [corner[0] + x * size[0], corner[1] + (1.0 - y) * size[1]].map(|x| x as usize);
        let at = 3 * (row * width + column);
        Colour::rgb(bytes[at], bytes[at + 1], bytes[at + 2])
    };
    places.iter().map(|&place| pixel(place)).collect()
}

#[track_caller]
fn same_colour(found: Colour, expected: Colour) {
    // A pixel is the mean of four samples, which may have neighbouring colours of the table.
    let off = (0..3).map(|k| found.0[k].abs_diff(expected.0[k])).max().unwrap();
    assert!(off <= 4, "{found:?} is not {expected:?}");
}

#[test]
fn pictures_show_the_values_of_a_run() {
    let picture = Picture { range: Some([0.0, 1.0]), ..Picture::default() };
    let viridis = |x: f64| ColourMap::Viridis.colour(x);

    // A linear function on quadrilaterals: the window is the square [0, 1]².
    let places = [[0.1, 0.9], [0.33, 0.5], [0.52, 0.1], [0.97, 0.75]];
    let found = colours(&given("quad", "cells: [3, 2]", "", 1, "x"), &picture, &places);
    for (found, [x, _]) in found.into_iter().zip(places) {
        same_colour(found, viridis(x));
    }

    // A quadratic one on triangles below the arc y = 1 − 4 (x − ½)²/5, whose sides are curved.
    let map = "  map: { order: 2, y: y*(1 - 0.8*(x - 0.5)^2) }\n";
    let case = given("tri", "cells: [3, 3]", map, 2, "x");
    let found = colours(&case, &picture, &[[0.25, 0.5], [0.5, 0.99], [0.05, 0.9], [0.05, 0.77]]);
    same_colour(found[0], viridis(0.25));
    same_colour(found[1], viridis(0.5));
    assert_eq!(found[2], Colour::WHITE, "above the arc, which is at y = 0.838 there");
    same_colour(found[3], viridis(0.05));

    // Cuts through a solid, of a function that is linear in z on tetrahedra.
    let case = given("tet", "cells: [2, 2, 2]", "", 1, "(x + z)/2");
    let cut = |axis, at| Picture { slices: vec![Slice { axis, at }], ..picture.clone() };
    same_colour(colours(&case, &cut(2, 0.3), &[[0.4, 0.7]])[0], viridis(0.35));
    same_colour(colours(&case, &cut(1, 0.9), &[[0.4, 0.7]])[0], viridis(0.55));
    // Planes at the ends of the domain and through the faces of elements.
    for at in [0.0, 0.5, 1.0] {
        same_colour(colours(&case, &cut(2, at), &[[0.4, 0.7]])[0], viridis(0.2 + 0.5 * at));
    }
}

#[test]
fn pictures_say_what_is_missing() {
    let case = Case::new(WAVE);
    case.run(&[]);
    let drawn = case.dgsuite(&["picture", "out/case", "--contours", "4", "--mesh", "--size", "300"]);
    assert_eq!((drawn.code, drawn.stdout.trim()), (0, "out/case/picture-u.png"), "{}", drawn.stderr);
    let frames =
        case.dgsuite(&["picture", "out/case", "out/case", "--time", "all", "--size", "400", "-o", "frames"]);
    assert_eq!(
        (frames.code, fs::read_dir(case.path("frames")).unwrap().count()),
        (0, 2),
        "{}",
        frames.stderr
    );
    let svg = case.dgsuite(&["picture", "out/case", "-o", "a.svg", "--time", "0", "--range", "-1:1"]);
    assert_eq!(svg.code, 0, "{}", svg.stderr);
    let text = fs::read_to_string(case.path("a.svg")).unwrap();
    assert!(text.contains("A wave") && text.contains("t = 0") && text.contains("data:image/png;base64,"));

    let file = case.path("out/case/fields/fields_000001.vtu");
    let bytes = fs::read(&file).unwrap();
    fs::write(case.path("broken.vtu"), &bytes[..bytes.len() - 200]).unwrap();
    for (args, parts) in [
        (&["nowhere"][..], &["error[no-results]", "nowhere", "no such folder", "out/vortex"][..]),
        (&["out"], &["out has no fields", "out/case"]),
        (&["out/case", "--field", "U2"], &["error[unknown-field]", "no field `U2`", "there is: u"]),
        (&["out/case", "--time", "7"], &["error[unknown-field]", "at time 7", "at times 0 to 0.1"]),
        (&["out/case", "--slice", "z=0"], &["plane domain"]),
        (&["out/case", "--zoom", "5:6,5:6"], &["error[", "--zoom"]),
        (&["out/case", "-o", "a.pgn"], &["error[bad-option]", "a.pgn", "did you mean .png?"]),
        (&["broken.vtu"], &["error[damaged-results]", "broken.vtu", "cut short", "again"]),
        (&["out/case", "--size", "0x0"], &["--size", "1200x800"]),
    ] {
        let outcome = case.dgsuite(&[&["picture"], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    }
}

/// The exact solution of [`WAVE`], for the monitor of errors.
const EXACT: &str = "exact: { u: sin(2*pi*(x - t))*cos(2*pi*(y - t/2)) }";

#[test]
fn tables_of_several_runs_and_reference_values_are_one_picture() {
    let case =
        Case::new(&format!("{WAVE}monitors: [{{ error: {{ {EXACT}, norms: [l2], every_steps: 1 }} }}]\n"));
    for (order, folder) in [("1", "out/p1"), ("2", "out/p2")] {
        let order = format!("space.order={order}");
        let outcome = case.dgsuite(&["run", "case.yaml", "--quiet", "--set", &order, "--output", folder]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
    let tables = ["out/p1/monitors/error.csv", "out/p2/monitors/error.csv"];
    let header = fs::read_to_string(case.path(tables[0])).unwrap();
    let column = header.lines().next().unwrap().split(',').next_back().unwrap();
    fs::write(case.path("paper.csv"), "# a source\n0.02, 1e-3\n0.05, 2e-3\n0.09, 3e-3\n").unwrap();
    let drawn =
        |more: &[&str]| case.dgsuite(&[&["plot", tables[0], tables[1], "--y", column][..], more].concat());
    let outcome = drawn(&["--points", "paper.csv", "-o", "e.svg"]);
    assert_eq!((outcome.code, outcome.stdout.trim()), (0, "e.svg"), "{}", outcome.stderr);
    let svg = fs::read_to_string(case.path("e.svg")).unwrap();
    for name in [">p1<", ">p2<", ">paper<", ">time<"] {
        assert!(svg.contains(name), "{name}");
    }
    assert_eq!(drawn(&["-o", "e.png"]).code, 0);
    assert_eq!(&fs::read(case.path("e.png")).unwrap()[1..4], b"PNG");
    for (args, parts) in [
        (&["plot", "out/p1"][..], &["error[no-results]", "is a folder", "out/p1/monitors/error.csv"][..]),
        (&["plot", tables[0], "--y", "nothing"], &["error[unknown-field]", "no column `nothing`", column]),
        (&["plot", tables[0], "-o", "e.pdf"], &["error[bad-option]", "e.pdf", ".svg or .png"]),
        (&["plot", tables[0], "--points", "none.csv"], &["none.csv"]),
    ] {
        let outcome = case.dgsuite(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(parts.iter().all(|part| outcome.stderr.contains(part)), "{parts:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_report_is_one_page_without_a_request() {
    let case = Case::new(&format!(
        "{WAVE}monitors: [{{ error: {{ {EXACT}, every_steps: 1 }} }}]\nchecks: [{{ value: error.l2.u, below: 0.1 }}]\n"
    ));
    case.run(&[]);
    let outcome = case.dgsuite(&["report", "out/case"]);
    assert_eq!((outcome.code, outcome.stdout.trim()), (0, "out/case/report.html"), "{}", outcome.stderr);
    let page = fs::read_to_string(case.path("out/case/report.html")).unwrap();
    for part in ["<h1>A wave</h1>", "✓ passed", "error.l2.u", "<svg", "16 quad", "set-up", "velocity:"] {
        assert!(page.contains(part), "`{part}` is not in the page");
    }
    assert!(page.matches("data:image/png;base64,").count() >= 1, "there is no picture");
    for attribute in ["src=", "href=", "url("] {
        for (at, _) in page.match_indices(attribute) {
            let value = page[at + attribute.len()..].trim_start_matches('"');
            let value: String = value.chars().take(40).collect();
            assert!(value.starts_with("data:") || value.starts_with('#'), "{attribute}{value}");
        }
    }
    for (tag, end) in
        [("<table", "</table>"), ("<svg", "</svg>"), ("<details", "</details>"), ("<pre", "</pre>")]
    {
        assert_eq!(page.matches(tag).count(), page.matches(end).count(), "{tag}");
    }
    let outcome = case.dgsuite(&["report", "nowhere"]);
    assert!(
        outcome.code == 2 && outcome.stderr.contains("error[no-results]: nowhere has"),
        "{}",
        outcome.stderr
    );
}

/// A table is a function of the file's formulas: the state that enters through a boundary, linear between the
/// rows, is that of the same function in words.
#[test]
fn tables_are_functions_that_formulas_call() {
    let table = "tables: { inflow: { file: inflow.csv, column: 3 } }\n";
    let run = |formula: &str, table: &str| {
        let boundaries = format!(
            "boundaries: {{ xmin: {{ type: dirichlet, u: \"{formula}\" }}, xmax: {{ type: outflow }}, \
             ymin: {{ type: outflow }}, ymax: {{ type: outflow }} }}\n"
        );
        let wave = WAVE.replace("  periodic: [[xmin, xmax], [ymin, ymax]]\n", "");
        let wave = wave.replace("{ exact: { u: sin(2*pi*(x - t))*cos(2*pi*(y - t/2)) } }", "{ u: 0 }");
        let case =
            Case::new(&format!("{table}{wave}{boundaries}monitors: [ {{ integral: {{ fields: [u] }} }} ]\n"));
        fs::write(case.path("inflow.csv"), "y, other, u\n# measured\n0, 7, 1\n0.25 7 3\n0.75 7 3\n1, 7, 0\n")
            .unwrap();
        case
    };
    let case = run("2*inflow(y) + t", table);
    let summary = case.run(&[]);
    let words = "2*(1 + 8*(min(y, 0.25)) - 12*(max(y, 0.75) - 0.75)) + t";
    let (found, expected) =
        (number(&summary, "/integral/u"), number(&run(words, "").run(&[]), "/integral/u"));
    assert!(expected > 0.1 && (found - expected).abs() < 1e-13, "{found} and {expected}");
    // The file as it was run finds the table from its own place.
    let again = support::dgsuite(&case.path("out/case"), &["run", "pipeline.yaml", "--output", "../again"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(case.summary("out/again")["integral"], summary["integral"]);

    let refused = |case: &Case, words: &[&str]| {
        let outcome = case.dgsuite(&["check", "case.yaml"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        words.iter().for_each(|word| assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr));
    };
    refused(&run("inflo(y)", table), &["inflow", "case.yaml"]);
    refused(&run("inflow", table), &["`inflow` takes one argument in parentheses"]);
    refused(&run("0", &table.replace("column: 3", "column: 4")), &["line 3 has no number in column 4"]);
    refused(&run("0", &table.replace("inflow.csv", "none.csv")), &["`tables.inflow.file`", "none.csv"]);
    refused(&run("0", &table.replace("inflow:", "sin:")), &["`sin` is already a function"]);
}

/// Formulas of a source may use the state: `u' = −3 u` in a uniform flow, and a gas that relaxes to `p = 1`.
#[test]
fn sources_by_formulas_of_the_state_act() {
    let decay = |source: &str| {
        let wave =
            WAVE.replace("velocity: [1, 0.5] }", &format!("velocity: [1, 0.5], source: {{ {source} }} }}"));
        let wave = wave.replace("{ exact: { u: sin(2*pi*(x - t))*cos(2*pi*(y - t/2)) } }", "{ u: 2 }");
        Case::new(&format!("{wave}monitors: [ {{ integral: {{ fields: [u] }} }} ]\n"))
    };
    let found = number(&decay("u: -3*u").run(&[]), "/integral/u");
    assert!((found - 2.0 * (-0.3_f64).exp()).abs() < 1e-6, "{found}");
    // A fast decay limits the step.
    let steps = |source: &str| number(&decay(source).run(&[]), "/time/steps");
    assert!(steps("u: -3000*u") > 10.0 * steps("u: -3*u"));
    let gas = STREAM
        .replace("{ model: euler }", "{ model: euler, source: { rho_E: -40*(rho*SoundSpeed^2/gamma - 1) } }");
    let gas =
        gas.replace("initial: { rho: 1, u: 0.5, v: 0, p: 1 }", "initial: { rho: 1, u: 0.5, v: 0, p: 2 }");
    let monitors = "monitors: [ { probe: { points: [[1, 0.5]], fields: [p] } } ]\n";
    let pressure = number(&Case::new(&format!("{gas}{monitors}")).run(&[]), "/probe/p/0");
    // p' = −40 (γ − 1)(p − 1), away from the boundaries.
    assert!((pressure - 1.0 - (-0.8_f64).exp()).abs() < 1e-2, "{pressure}");

    let refused = |source: &str, word: &str| {
        let outcome = decay(source).dgsuite(&["check", "case.yaml"]);
        assert!(outcome.code == 2 && outcome.stderr.contains(word), "{}", outcome.stderr);
    };
    refused("u: u*t", "one of the state and x, y, z, without t");
    refused("u: 3*q", "unknown name `q`");
}
