//! Newton steps, and implicit ones in time, on several ranks leave the files of one rank, and continue on any
//! number of them.

use std::sync::Arc;
use std::time::Duration;

use dgsuite::file::source::Source;
use dgsuite::job::Job;
use dgsuite::pipeline::Document;
use dgsuite::plan::Choices;
use dgsuite::run::log::Log;
use dgsuite_gpu::comm::{Communicator, on_each, threads};

use crate::support::Case;
use crate::{alone, emulator, on_ranks, same_checkpoint, tables, told_once};

/// A viscous stream over thin cells at a plate, of two shapes.
const PLATE: &str = "\
title: A plate by Newton steps
constants: { U: 0.4 }
mesh:
  generate: { shape: tri+quad, max: [2, 1], cells: [8, 6] }
  map: { order: 2, x: x, y: 0.1*y + 0.9*y^3 + 0.02*x*(1 - y) }
physics: { model: navier-stokes, viscosity: 0.002 }
space: { order: 2 }
initial: { rho: 1, u: 0.4, v: 0, p: 1/1.4 }
boundaries:
  xmin: { type: far-field, rho: 1, u: U, v: 0, p: 1/1.4 }
  xmax: { type: pressure-outlet, p: 1/1.4 }
  ymin: { type: no-slip-wall }
  ymax: { type: slip-wall }
time: { steady: { solver: newton, tolerance: 1e-10, sensitivities: [U] } }
output: { fields: none, checkpoint: { every_steps: 3, keep: 30 } }
monitors:
  - residual: { every_steps: 1 }
  - forces: { boundary: ymin, every_steps: 1, reference: { density: 1, velocity: 0.4, length: 2 } }
";

#[test]
fn newton_steps_from_lower_orders_on_ranks_leave_the_tables_of_one() {
    let case = Case::new(PLATE);
    let set = ["--set", "time.newton.from_order=0"];
    let whole = alone(&case, &[&set[..], &["--output", "one"]].concat());
    let arguments = [&["--output", "two", "--set", "threads=1"][..], &set].concat();
    let Some(output) = on_ranks(&case, 2, &arguments) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(tables(&case, "two"), tables(&case, "one"));
    let [one, two] = [&whole, &case.summary("two")].map(|summary| summary["newton"]["lower_orders"].clone());
    assert!(one == two && one.as_array().is_some_and(|orders| orders.len() == 2), "{one} {two}");
}

#[test]
fn newton_steps_on_ranks_leave_the_files_of_one_and_continue_on_any_number() {
    let case = Case::new(PLATE);
    let whole = alone(&case, &["--output", "one"]);
    let steps = whole["newton"]["steps"].as_u64().unwrap();
    let file = |results: &str, step: u64| case.path(results).join(format!("checkpoints/step-{step:08}.dgs"));
    for ranks in [2, 3] {
        let results = format!("ranks-{ranks}");
        let Some(output) = on_ranks(&case, ranks, &["--output", &results, "--set", "threads=1"]) else {
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        let newton = &case.summary(&results)["newton"];
        for count in ["steps", "linear_iterations", "jacobian_products", "setups"] {
            assert!(newton[count] == whole["newton"][count] && newton[count].is_u64(), "{ranks}: {count}");
        }
        same_checkpoint(&file("one", steps), &file(&results, steps), &format!("{ranks} ranks"));
        let derivative = &whole["forces"]["ymin"]["sensitivities"]["U"]["cd"];
        assert!(derivative.as_f64().is_some_and(|slope| slope.abs() > 0.01), "{derivative}");
        assert_eq!(case.summary(&results)["forces"], whole["forces"], "{ranks} ranks");
    }
    // From three ranks on two, and on one.
    let from = file("ranks-3", 6).display().to_string();
    let Some(output) = on_ranks(&case, 2, &["--restart", &from, "--output", "two", "--set", "threads=1"])
    else {
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    alone(&case, &["--restart", &from, "--output", "three"]);
    for results in ["two", "three"] {
        same_checkpoint(&file("one", steps), &file(results, steps), results);
    }
}

#[test]
fn newton_steps_of_two_processes_on_an_emulated_device_are_those_of_one() {
    let Some(emulator) = emulator() else { return };
    let small = PLATE.replace("cells: [8, 6]", "cells: [2, 1]").replace("order: 2", "order: 1");
    let case = Case::new(&small);
    for (devices, results) in [(["--device", "cuda"], "one"), (["--devices", "0,0"], "two")] {
        let output = emulator
            .command(env!("CARGO_BIN_EXE_dgsuite"))
            .env("DGSUITE_COMM_TIMEOUT", "60")
            .args(["run", "case.yaml", "--set", "time.steady.tolerance=0.3", "--output", results])
            .args(devices)
            .current_dir(case.directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(tables(&case, "one"), tables(&case, "two"));
    let [one, two] = ["one", "two"].map(|results| case.summary(results));
    assert_eq!(two["ranks"], 2);
    for count in ["steps", "linear_iterations", "jacobian_products"] {
        assert!(one["newton"][count] == two["newton"][count] && one["newton"][count].is_u64(), "{count}");
    }
    assert!(one["newton"]["linear_iterations"].as_u64() > Some(0));
}

#[test]
fn newton_steps_that_do_not_end_are_told_once_with_the_place() {
    told_once(
        &PLATE.replace("tolerance: 1e-10", "tolerance: 1e-10, max_steps: 3"),
        "the residual is largest in element",
    );
}

/// Implicit steps in time over the plate, whose stream swings; they land on output times.
fn swinging(time: &str) -> String {
    PLATE
        .replace("{ steady: { solver: newton, tolerance: 1e-10, sensitivities: [U] } }", time)
        .replace("far-field, rho: 1, u: U", "far-field, rho: 1, u: 0.4 + 0.05*sin(3*t)")
        .replace("checkpoint: { every_steps: 3, keep: 30 }", "checkpoint: { every: 0.35, keep: 30 }")
}

#[test]
fn implicit_steps_on_ranks_leave_the_files_of_one_and_continue_on_any_number() {
    let times = [
        "{ scheme: esdirk43, adaptive: { tolerance: 1e-4 }, end: 1 }",
        "{ scheme: esdirk32, dt: 0.13, end: 1 }",
    ];
    for time in times {
        let case = Case::new(&swinging(time));
        let whole = alone(&case, &["--output", "one"]);
        let end = whole["time"]["steps"].as_u64().unwrap();
        let files = |results: &str| {
            let files = std::fs::read_dir(case.path(results).join("checkpoints")).unwrap();
            let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
            files.retain(|file| file.extension().is_some_and(|of| of == "dgs"));
            files.sort();
            files
        };
        let last = |results: &str| files(results).pop().unwrap();
        for ranks in [2, 3] {
            let results = format!("ranks-{ranks}");
            let Some(output) = on_ranks(&case, ranks, &["--output", &results, "--set", "threads=1"]) else {
                return;
            };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(tables(&case, &results), tables(&case, "one"), "{time}, {ranks} ranks");
            let newton = &case.summary(&results)["newton"];
            for count in ["steps", "linear_iterations", "jacobian_products", "setups"] {
                assert!(
                    newton[count] == whole["newton"][count] && newton[count].is_u64(),
                    "{ranks}: {count}"
                );
            }
            same_checkpoint(&last("one"), &last(&results), &format!("{time}, {ranks} ranks"));
        }
        // From the middle of three ranks' run on two, and on one.
        let from = files("ranks-3")[1].display().to_string();
        assert!(!from.contains(&format!("{end:08}")), "{from}");
        let again = ["--restart", &from, "--output", "two", "--set", "threads=1"];
        let Some(output) = on_ranks(&case, 2, &again) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        alone(&case, &["--restart", &from, "--output", "three"]);
        for results in ["two", "three"] {
            same_checkpoint(&last("one"), &last(results), &format!("{time}, {results}"));
        }
    }
}

/// A rank that shows its progress asks the others for nothing: they show theirs at other times.
#[test]
fn one_of_several_ranks_shows_the_progress_of_implicit_steps() {
    let case = Case::new(&swinging("{ scheme: esdirk32, dt: 0.02, steps: 4 }"));
    let all = on_each(threads(2), |comm| {
        let mut log = match comm.rank() {
            0 => Log::new(false).with_lines_every(Duration::ZERO),
            _ => Log::new(true),
        };
        let source = Source::new("case.yaml", std::fs::read_to_string(case.path("case.yaml")).unwrap());
        let document = Document::parse(&source, case.directory.path(), "case", false, &[]).unwrap();
        let comm: Arc<dyn Communicator> = Arc::new(comm);
        let choices = Choices { comm: Some(comm), ..Choices::default() };
        Job::new(&document, &choices).unwrap().execute(&mut log).unwrap().failure
    });
    assert_eq!(all, [None, None]);
    let text = std::fs::read_to_string(case.path("out/case/log.txt")).unwrap();
    let lines = text.lines().filter(|line| line.contains("linear iterations a step"));
    assert_eq!(lines.count(), 4, "{text}");
}

#[test]
fn implicit_steps_of_two_processes_on_an_emulated_device_are_those_of_one() {
    let Some(emulator) = emulator() else { return };
    let small = swinging("{ scheme: esdirk32, adaptive: { tolerance: 1e-3 }, end: 0.4, steps: 3 }");
    let case = Case::new(&small.replace("cells: [8, 6]", "cells: [2, 1]").replace("order: 2", "order: 1"));
    for (devices, results) in [(["--device", "cuda"], "one"), (["--devices", "0,0"], "two")] {
        let output = emulator
            .command(env!("CARGO_BIN_EXE_dgsuite"))
            .env("DGSUITE_COMM_TIMEOUT", "60")
            .args(["run", "case.yaml", "--output", results])
            .args(devices)
            .current_dir(case.directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(tables(&case, "one"), tables(&case, "two"));
    let [one, two] = ["one", "two"].map(|results| case.summary(results));
    assert_eq!((&two["ranks"], &one["conservation"]), (&2.into(), &two["conservation"]));
    for count in ["steps", "linear_iterations", "jacobian_products"] {
        assert!(one["newton"][count] == two["newton"][count] && one["newton"][count].is_u64(), "{count}");
    }
    assert!(one["newton"]["linear_iterations"].as_u64() > Some(0));
}
