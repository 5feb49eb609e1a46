//! Mistaken and doubtful set-ups, with what `check` says about each: a page to be read by people.
//!
//! The files in `data/setups` were written by people who know other codes and had read the README only.
//! `good-*` are the files from which the others were made; most others have one mistake, in the line that
//! their name tells. `DGSUITE_UPDATE_SNAPSHOTS=1` writes the page anew.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fmt::Write as _;
use std::path::Path;

use support::{Case, WAVE};

/// What a user reads: of a plan the warnings alone.
fn answer(case: &Case, name: &str) -> String {
    let outcome = case.dgsuite(&["check", name]);
    let directory = case.directory.path().display().to_string();
    let said =
        |line: &&str| outcome.code != 0 || line.starts_with("warning") || line.ends_with("is fit to run");
    let text = outcome.stdout.lines().chain(outcome.stderr.lines()).filter(said);
    let text: String = text.map(|line| format!("{}\n", line.replace(&directory, "DIRECTORY"))).collect();
    format!("{text}exit code {}\n", outcome.code)
}

#[test]
fn each_set_up_has_its_answer() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/setups");
    let mut names: Vec<String> = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    assert!(names.len() > 80);
    let case = Case::new("");
    for name in &names {
        std::fs::copy(data.join(name), case.path(name)).unwrap();
    }
    std::fs::write(case.path("prof.csv"), "y,u\n0,0\n0.5,1\n1,0\n").unwrap();
    let ring = "mesh generate annulus shape=quad cells=[8,24] inner=0.5 outer=8 growth=1.4 order=1 --text --msh 2.2 -o ring.msh";
    assert_eq!(case.dgsuite(&ring.split(' ').collect::<Vec<_>>()).code, 0);
    let mesh = std::fs::read_to_string(case.path("ring.msh")).unwrap();
    let mesh = mesh.replace("\"inner\"", "\"cylinder\"").replace("\"outer\"", "\"far\"");
    std::fs::write(case.path("lin.msh"), mesh).unwrap();

    let mut page = String::new();
    for name in &names {
        write!(page, "== {name}\n{}\n", answer(&case, name)).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/setups.txt");
    if std::env::var_os("DGSUITE_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    for (found, expected) in page.split("== ").zip(expected.split("== ")) {
        assert_eq!(found, expected);
    }
    assert_eq!(page.len(), expected.len());
    // Set-ups that are right, and those whose mistake is only doubtful.
    let fit = page.matches("exit code 0").count();
    assert!(fit < names.len() / 3, "{fit} of {} are fit to run", names.len());
}

/// A file for the user's own mesh has its boundaries by name, with conditions guessed from their names, and
/// is fit to run for every model.
#[test]
fn pipelines_for_a_mesh_have_its_boundaries() {
    let case = Case::new(WAVE);
    let ring = ["mesh", "generate", "annulus", "shape=tri", "cells=[3, 16]", "inner=0.5", "outer=4"];
    let made = case.dgsuite(&[&ring[..], &["--text", "--msh", "2.2", "-o", "ring.msh"]].concat());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let text = std::fs::read_to_string(case.path("ring.msh")).unwrap();
    let text = text.replace("\"inner\"", "\"Airfoil: upper\"").replace("\"outer\"", "\"far\"");
    std::fs::write(case.path("foil.msh"), text).unwrap();
    for model in ["euler", "shock", "navier-stokes", "incompressible", "poisson"] {
        let file = format!("{model}-foil.yaml");
        let made = case.dgsuite(&["init", model, "--mesh", "foil.msh", "-o", &file]);
        assert!(made.code == 0 && made.stdout.contains("look at the conditions"), "{model}: {}", made.stderr);
        let text = std::fs::read_to_string(case.path(&file)).unwrap();
        assert!(text.contains("  \"Airfoil: upper\": {") && text.contains("  far: {"), "{text}");
        let checked = case.dgsuite(&["check", &file]);
        assert!(checked.code == 0, "{model}: {}{text}", checked.stderr);
        assert!(!checked.stdout.contains("warning"), "{model}: {}", checked.stdout);
    }
    let text = std::fs::read_to_string(case.path("navier-stokes-foil.yaml")).unwrap();
    assert!(text.contains("type: no-slip-wall") && text.contains("type: far-field"), "{text}");
    let refused = case.dgsuite(&["run", "foil.msh"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("is a mesh, not a pipeline file"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("dgsuite init MODEL --mesh FILE"), "{}", refused.stderr);
}

/// Threads by an option, as by the key.
#[test]
fn threads_can_be_given_on_the_command_line() {
    let case = Case::new(WAVE);
    let checked = case.dgsuite(&["check", "case.yaml", "--threads", "1", "--device", "cpu"]);
    assert!(checked.stdout.contains("cpu, 1 thread"), "{}{}", checked.stdout, checked.stderr);
    let refused = case.dgsuite(&["check", "case.yaml", "--threads", "many"]);
    assert!(refused.code == 2 && refused.stderr.contains("command line:1:11"), "{}", refused.stderr);
}
