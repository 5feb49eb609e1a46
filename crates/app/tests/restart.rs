//! Runs that continue from checkpoints: the first format, other parameters of the law, impossible numbers.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use std::path::Path;

use dgsuite::checkpoint;
use support::{Case, number};

/// The run that wrote `data/first-format.dgs`.
const TWO_CELLS: &str = "\
mesh:
  generate: { shape: quad, cells: [2, 1] }
physics: { model: euler, gamma: 1.3 }
space: { order: 1 }
initial: { rho: 1 + 0.1*x, u: 0.5, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.5, v: 0, p: 1 }
  xmax: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: symmetry }
time: { end: 0.05, dt: 0.025 }
output: { averages: { every_steps: 1, names: [rho] } }
";

#[test]
fn a_checkpoint_of_the_first_format_is_continued_as_one_of_today() {
    let case = Case::new(TWO_CELLS);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/first-format.dgs");
    fs::copy(old, case.path("old.dgs")).unwrap();
    case.run(&[]);
    let more = ["--set", "time.end=0.1", "--set", "monitors=[{ integral: { fields: [rho, rho_E] } }]"];
    let today = case.run(&[&["--restart", "latest"], &more[..]].concat());
    let outcome = case
        .dgsuite(&[&["run", "case.yaml", "--restart", "old.dgs", "--output", "out/old"], &more[..]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("warning"), "its parameters are not known: {}", outcome.stderr);
    let old = case.summary("out/old");
    // Another machine may round differently.
    for key in ["/integral/rho", "/integral/rho_E", "/time/end", "/time/steps"] {
        let (a, b) = (number(&old, key), number(&today, key));
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{key}: {a} and {b}");
    }
}

/// The jobs of a chain are started by one command line.
#[test]
fn an_automatic_restart_begins_and_then_continues() {
    let case = Case::new(TWO_CELLS);
    let steps = |set: &[&str]| number(&case.run(&[&["--restart", "auto"], set].concat()), "/time/steps");
    assert_eq!(steps(&["--set", "time.end=0.025"]), 1.0);
    assert_eq!(steps(&[]), 2.0);
    assert!(!case.path("out/case/previous").exists(), "the second run continues the results of the first");
}

/// The coefficients of reactions are not in checkpoints: a restart evaluates them again, to the same bits.
#[test]
fn a_run_with_a_sponge_and_a_force_continues_bit_by_bit() {
    let physics = "physics: { model: euler, gamma: 1.3, body_force: [0.2, -x], \
                   sponge: { strength: 3*x^2, rho: 1, u: 0.5, v: 0, p: 1 } }";
    let yaml = TWO_CELLS.replace("physics: { model: euler, gamma: 1.3 }", physics);
    let yaml = yaml.replace("cells: [2, 1]", "cells: [6, 4]").replace("averages", "fields");
    let numbers = |set: &[&str]| {
        let case = Case::new(&yaml);
        case.run(&[set, &["--set", "time.end=0.05"]].concat());
        let more = ["--restart", "latest", "--set", "time.end=0.1"];
        let summary = case.run(&[&more[..], set].concat());
        let straight = Case::new(&yaml);
        let other = straight.run(&[&["--set", "time.end=0.1"], set].concat());
        assert_eq!(number(&summary, "/time/steps"), 4.0);
        let newest = |case: &Case| fs::read(case.path("out/case/checkpoints/step-00000004.dgs")).unwrap();
        let (first, second) = (newest(&case), newest(&straight));
        assert!(first == second, "the states differ");
        assert_eq!(summary["conservation"], other["conservation"]);
        first
    };
    let one = numbers(&["--set", "threads=1"]);
    assert!(one == numbers(&["--set", "threads=2"]), "the states of one thread and of two differ");
}

#[test]
fn a_restart_with_another_law_warns_and_names_both_values() {
    let case = Case::new(TWO_CELLS);
    case.run(&[]);
    let restart = |set: &str| {
        let arguments = ["run", "case.yaml", "--restart", "latest", "--output", "other", "--set", set];
        let latest = case.path("out/case/checkpoints/latest").display().to_string();
        let arguments = arguments.map(|a| if a == "latest" { latest.as_str() } else { a });
        let outcome = case.dgsuite(&[&arguments[..], &["--set", "time.end=0.075"]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let said = restart("physics.gamma=1.4");
    let warning = said.lines().find(|line| line.starts_with("warning")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        warning.contains("gamma 1.3 (this run: 1.4)") && warning.contains("step-00000002.dgs"),
        "{warning}"
    );
    let said = restart("physics.gamma=1.3");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn coefficients_that_do_not_fit_their_order_are_refused_with_both_named() {
    let case = Case::new(TWO_CELLS);
    case.run(&[]);
    let file = checkpoint::find(&case.path("out/case")).unwrap();
    let bytes = fs::read(&file).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let mesh = text.split("\"mesh\":\"").nth(1).unwrap().split('"').next().unwrap();
    let mesh = u64::from_str_radix(mesh, 16).unwrap();
    let refused = |change: &dyn Fn(&mut checkpoint::Checkpoint), part: &str| {
        let mut saved = checkpoint::read(&file, "euler", mesh).unwrap();
        change(&mut saved);
        checkpoint::write(&case.path("changed"), &saved, mesh).unwrap();
        let outcome = case.dgsuite(&["run", "case.yaml", "--restart", "changed"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    };
    refused(&|c| c.state.order = 2, "has 32 coefficients, which do not fit order 2 with a modal basis");
    refused(
        &|c| c.state.fields.truncate(31),
        "has 31 coefficients, which do not fit order 1 with a modal basis on this mesh: these have 32",
    );
    refused(
        &|c| c.state.tally.truncate(9),
        "euler with 9 sums for conservation, this solver is of euler with 12",
    );
    refused(&|c| c.state.basis = "wavelets".into(), "has a wavelets basis");
    refused(&|c| c.state.order = 1000, "has order 1000, which is not from 0 to 10");
}
