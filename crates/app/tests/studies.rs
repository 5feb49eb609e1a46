//! Studies: the table of errors and rates, its checks, and the results of the cases.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use serde_json::json;
use support::{Case, Endless, WAVE, number, refused};

#[test]
fn a_study_prints_a_table_with_rates_and_keeps_every_case() {
    let case = Case::new(&format!("{WAVE}study: {{ order: [1, 2], refine: [0, 1, 2] }}\n"));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let rows: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains('e')).collect();
    assert!(rows[0].contains("L2 u") && rows[0].contains("rate"), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().count() >= 7);
    let picture = std::fs::read_to_string(case.path("out/case/convergence.svg")).unwrap();
    assert!(picture.matches("<circle").count() == 6 && picture.contains("order = 2"), "{picture}");
    let summary = case.summary("out/case");
    let table = summary["table"].as_array().unwrap();
    assert_eq!(table.len(), 6);
    for (i, row) in table.iter().enumerate() {
        let (order, refine) = (1 + i / 3, i % 3);
        assert_eq!((&row["order"], &row["refine"]), (&json!(order), &json!(refine)));
        assert_eq!(row["elements"], json!(16 << (2 * refine)));
        assert!((row["h"].as_f64().unwrap() - 0.25 / f64::from(1 << refine)).abs() < 1e-12);
        let results = format!("out/case/order-{order}_refine-{refine}");
        assert_eq!(case.summary(&results)["error"], row["error"]);
        if refine > 0 {
            let rate = number(row, "/rate/l2/u");
            assert!((order as f64 + 0.5..order as f64 + 2.0).contains(&rate), "row {i}: {rate}");
        }
    }
}

#[test]
fn checks_of_a_study_may_name_rates_rows_and_the_finest_case() {
    let study = "study: { order: [1, 2], refine: [0, 1, 2] }\n\
        checks:\n\
        - { value: rate.l2.u, above: order + 0.5 }\n\
        - { value: error.l2.u, below: 0.02 }\n\
        - { value: table.0.elements, near: 16, within: 0 }\n";
    let case = Case::new(&format!("{WAVE}{study}"));
    let summary = case.run(&[]);
    let names: Vec<&str> =
        summary["checks"].as_array().unwrap().iter().map(|c| c["value"].as_str().unwrap()).collect();
    let expected = ["rate.l2.u (order = 1)", "rate.l2.u (order = 2)", "error.l2.u (order = 1)"];
    assert_eq!(names[..3], expected);
    assert_eq!(names.len(), 5);
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "checks.0.above=order + 1.9"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(case.summary("out/case")["status"], json!("check-failed"));
}

#[test]
fn a_case_of_a_study_may_start_where_the_one_before_ended() {
    let case = Case::new(&format!("{WAVE}study: {{ order: [1, 2], continued: true }}\n"));
    let summary = case.run(&[]);
    assert_eq!(summary["table"].as_array().unwrap().len(), 2);
    let log = |order: usize| {
        std::fs::read_to_string(case.path(&format!("out/case/order-{order}/log.txt"))).unwrap()
    };
    assert!(!log(1).contains("continued from") && log(2).contains("continued from"), "{}", log(2));
    let refused = case.dgsuite(&["run", "case.yaml", "--set", "study.refine=[0, 1]"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("a state belongs to its mesh"),
        "{}",
        refused.stderr
    );
}

/// A uniform gas decays towards the reference state of a sponge as `exp(−σ t)`, to the order of the scheme in
/// time.
#[test]
fn a_sponge_damps_at_its_rate() {
    let case = Case::new(
        "mesh: { generate: { shape: mixed, cells: [2, 2] }, periodic: [[xmin, xmax], [ymin, ymax]] }\n\
         physics: { model: euler, sponge: { strength: 2, rho: 1, u: 0, v: 0, p: 1 } }\n\
         space: { order: 2 }\n\
         initial: { exact: { rho: 1 + 0.2*exp(-2*t), u: 0, v: 0, p: 1 + 0.3*exp(-2*t) } }\n\
         time: { scheme: rk4, end: 1 }\n\
         study: { time.dt: [1/20, 1/40], rate_in: time.dt }\n\
         checks:\n  - { value: rate.l2.rho, between: [3.9, 4.1] }\n  - { value: rate.l2.p, between: [3.9, 4.1] }\n  \
         - { value: error.l2.u, below: 1e-13 }\n",
    );
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn rates_may_be_measured_in_the_time_step() {
    let study = "study: { time.dt: [1/500, 1/1000, 1/2000], rate_in: time.dt }\n\
        checks: [ { value: rate.l2.u, between: [1.9, 2.2] } ]\n";
    // At order ten in space only the error of the second-order time scheme remains.
    let yaml = WAVE.replace("cells: [4, 4]", "cells: [2, 2]").replace("order: 2", "order: 10");
    let yaml = yaml.replace("{ end: 0.1 }", "{ scheme: ssprk22, end: 1/5 }");
    let summary = Case::new(&format!("{yaml}{study}")).run(&[]);
    let steps: Vec<f64> =
        summary["table"].as_array().unwrap().iter().map(|r| number(r, "/time.dt")).collect();
    assert_eq!(steps, [1.0 / 500.0, 1.0 / 1000.0, 1.0 / 2000.0]);
}

#[test]
fn a_case_that_fails_ends_the_study() {
    let study = "study: { time.dt: [1e-3, 0.5, 1e-2] }\n";
    let case = Case::new(&format!("{WAVE}{study}").replace("end: 0.1", "end: 500"));
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "study.\"time.dt\"=[0.5, 1e-2]"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("time.dt = 0.5"), "{}", outcome.stderr);
    let summary = case.summary("out/case");
    assert_eq!(summary["status"], json!("diverged"));
    assert_eq!(summary["table"], json!([]), "cases after the failed one are not run");
}

/// A mistake that only the solver finds: before the first case nothing is written, afterwards the cases done
/// stay.
#[test]
fn a_case_that_cannot_be_set_up_ends_a_study_that_has_begun_with_1() {
    let case = Case::new(
        "mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: poisson, forcing: 1 }
boundaries:
  xmin: { type: dirichlet, u: 0 }
  xmax: { type: dirichlet, u: 0 }
  ymin: { type: dirichlet, u: 0 }
  ymax: { type: dirichlet, u: 0 }
",
    );
    let run = |values: &str| {
        case.dgsuite(&["run", "case.yaml", "--set", &format!("study.\"physics.kappa\"={values}")])
    };
    let refused = run("[1e-300, 1]");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(!case.path("out").exists());
    let failed = run("[1, 1e-300, 2]");
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    let cause = "which underflow in double precision";
    assert_eq!(failed.stderr.matches(cause).count(), 1, "{}", failed.stderr);
    assert!(failed.stderr.contains("in the case physics.kappa = 1e-300 of the study"), "{}", failed.stderr);
    let summary = case.summary("out/case");
    assert_eq!(summary["status"], json!("failed"));
    assert_eq!(summary["failure"]["code"], json!("linear-system"));
    assert!(summary["failure"]["message"].as_str().unwrap().contains(cause), "{summary}");
    assert_eq!(summary["table"].as_array().unwrap().len(), 1, "the case before stays");
}

/// As a mistake of a case: its directory is found in use after others have run.
#[test]
fn a_case_whose_directory_is_in_use_ends_a_study_that_has_begun_with_1() {
    let endless = Case::new(&WAVE.replace("end: 0.1", "end: 1e6"));
    let one = ["--set", "space.order=2", "--output", "out/case/order-2"];
    let mut run = Endless::start_with(endless, &one, "out/case/order-2/fields.pvd");
    let study = ["run", "case.yaml", "--set", "time.end=0.1", "--set", "study.order=[1, 2]"];
    let outcome = run.case.dgsuite(&study);
    run.end_by("INT");
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("in the case order = 2 of the study"), "{}", outcome.stderr);
    let summary = run.case.summary("out/case");
    assert_eq!((&summary["status"], &summary["failure"]["code"]), (&json!("failed"), &json!("results")));
}

/// A table of published values with the columns `order`, `refine` and `e`.
const PUBLISHED: &str = "# A. Author (1999)\norder,refine,e\n1,0,0.5\n1,1,1e-1\n2,0,\n";

fn with_references(study: &str, entry: &str) -> Case {
    let case =
        Case::new(&format!("{WAVE}{study}references: [{{ source: 'Author (1999), Table 1', {entry} }}]\n"));
    std::fs::write(case.path("published.csv"), PUBLISHED).unwrap();
    case
}

#[test]
fn a_report_shows_published_values_beside_those_of_every_case() {
    let entry = "table: published.csv, value: error.l2.u, column: e, by: [order, refine], factor: 2";
    let case = with_references("study: { order: [1, 2], refine: [0, 1] }\n", entry);
    let summary = case.run(&[]);
    let report = std::fs::read_to_string(case.path("out/case/report.md")).unwrap();
    let rows: Vec<Vec<&str>> = report.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    let row = |order: &str, refine: &str| {
        let found = rows.iter().find(|row| row.len() == 7 && row[1] == order && row[2] == refine);
        found.unwrap_or_else(|| panic!("{report}")).clone()
    };
    // The factor makes 1 of 0.5.
    let own = number(&summary, "/table/0/error/l2/u");
    assert_eq!(row("1", "0")[3], "1");
    for cell in [4, 5] {
        let shown: f64 = row("1", "0")[cell].parse().unwrap();
        assert!((shown / own - 1.0).abs() < 1e-3, "{shown} is not {own}");
    }
    assert_eq!((row("2", "0")[3], row("2", "1")[5]), ("—", "—"), "there are no published values");
    for part in ["Author (1999), Table 1", "## Machine", "## Times", "dgsuite run case.yaml"] {
        assert!(report.contains(part), "no {part} in\n{report}");
    }
}

#[test]
fn a_single_run_is_compared_with_the_row_of_its_keys() {
    let case = with_references("", "table: published.csv, value: error.l2.u, column: e, by: [space.order]");
    let published = "space.order,e\n1,4\n2,8\n";
    std::fs::write(case.path("published.csv"), published).unwrap();
    case.run(&[]);
    let report = std::fs::read_to_string(case.path("out/case/report.md")).unwrap();
    assert!(report.contains("| 2 | 8 | "), "{report}");
    // A run without published values leaves none of the report before it.
    case.run(&["--set", "references=[]"]);
    assert!(!case.path("out/case/report.md").exists());
}

#[test]
fn wrong_columns_keys_and_values_of_a_reference_are_refused() {
    let good = "table: published.csv, value: error.l2.u, column: e, by: [order]";
    for (right, wrong, message) in [
        ("column: e", "column: f", "order, refine, e"),
        ("[order]", "[ordre]", "did you mean `order`?"),
        ("[order]", "[e]", "space.order"),
        ("error.l2.u", "error.l3.u", "error.l2.u"),
        ("published.csv", "nowhere.csv", "a table that can be read"),
    ] {
        let case = with_references("", &good.replace(right, wrong));
        refused(&case, &[], &[message, "case.yaml:"]);
    }
    let case = with_references("", good);
    std::fs::write(case.path("published.csv"), "order,e\n2,many\n").unwrap();
    refused(&case, &[], &["line 2 has \"many\""]);
}
