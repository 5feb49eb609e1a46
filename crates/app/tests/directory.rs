//! The directory of results: one run at a time, former results moved aside, files of the user untouched.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;

use serde_json::json;
use support::{Case, Endless, STREAM, WAVE, number};

#[test]
fn a_second_run_in_a_directory_is_refused_and_the_first_goes_on() {
    let mut first = Endless::start(&WAVE.replace("end: 0.1", "end: 1e6"), "out/case/fields.pvd");
    fs::write(first.case.path("second.yaml"), WAVE).unwrap();
    let second = first.case.dgsuite(&["run", "second.yaml", "--output", "out/case"]);
    assert_eq!(second.code, 2, "{}", second.stderr);
    let by = format!("another run (process {}", first.run.id());
    assert!(second.stderr.contains(&by) && second.stderr.contains("--output"), "{}", second.stderr);
    assert_eq!(first.end_by("TERM"), Some(0));
    let summary = first.case.summary("out/case");
    assert_eq!(summary["status"], json!("stopped"));
    assert!(first.case.path("out/case/fields/fields_000001.vtu").exists());
    // The lock ends with the process.
    first.case.run(&["--set", "time.end=0.1"]);
}

#[test]
fn a_run_moves_the_one_before_aside_or_deletes_it_where_it_is_told_to() {
    let case = Case::new(WAVE);
    let first = case.run(&[]);
    fs::write(case.path("out/case/fields/mine.vtu"), "mine").unwrap();
    fs::write(case.path("out/case/monitors.csv"), "mine").unwrap();
    let end = |end: &str| format!("time.end={end}");
    case.run(&["--set", &end("0.05")]);
    assert_eq!(case.summary("out/case/previous"), first);
    for file in ["fields/mine.vtu", "monitors.csv", "previous/fields/fields_000001.vtu"] {
        assert!(case.path("out/case").join(file).exists(), "{file}");
    }
    case.run(&["--set", &end("0.02"), "--overwrite"]);
    assert_eq!(case.summary("out/case/previous"), first);
    assert!(case.path("out/case/fields/mine.vtu").exists());

    // A run in another directory can continue former results, but not one that would replace them.
    let restart = ["run", "case.yaml", "--restart", "out/case/previous", "--set", "time.end=0.2"];
    let refused = case.dgsuite(&restart);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("where this run would move the results"), "{}", refused.stderr);
    assert_eq!(case.summary("out/case/previous"), first);
    let elsewhere = case.dgsuite(&[&restart[..], &["--output", "elsewhere"]].concat());
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stderr);
    assert_eq!(number(&case.summary("elsewhere"), "/time/end"), 0.2);
}

/// Tables and lists of fields of a former run belong to another run, although both start from a checkpoint.
#[test]
fn a_run_from_a_checkpoint_of_another_directory_does_not_continue_what_is_there() {
    let monitors = "monitors: [ { integral: { fields: [rho], every_steps: 1 } } ]\n";
    let case = Case::new(&format!("{STREAM}{monitors}"));
    case.run(&[]);
    let other = ["run", "case.yaml", "--restart", "out/case", "--output", "other"];
    for _ in 0..2 {
        let outcome = case.dgsuite(&[&other[..], &["--set", "time.end=0.1"]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
    let rows = case.table("other/monitors/integral.csv");
    assert_eq!(rows, case.table("other/previous/monitors/integral.csv"));
    assert_eq!(rows[0][1], 0.05, "it begins where the run does");
}

/// A restart of a finished run writes its last checkpoint again, which must not push out the one before.
#[test]
fn a_restart_of_a_finished_run_keeps_as_many_checkpoints() {
    let case = Case::new(&format!(
        "{}output: {{ fields: none, checkpoint: {{ every_steps: 3, keep: 2 }} }}\n",
        WAVE.replace("end: 0.1", "dt: 0.01, end: 0.1")
    ));
    let left = |arguments: &[&str]| {
        case.run(arguments);
        let files = std::fs::read_dir(case.path("out/case/checkpoints")).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let steps =
        |a: u32, b: u32| ["latest".to_owned(), format!("step-{a:08}.dgs"), format!("step-{b:08}.dgs")];
    assert_eq!(left(&[]), steps(9, 10));
    for restart in ["auto", "latest", "auto"] {
        assert_eq!(left(&["--restart", restart]), steps(9, 10), "{restart}");
    }
    assert_eq!(left(&["--restart", "latest", "--set", "time.end=0.2"]), steps(18, 20));
    assert_eq!(left(&["--restart", "auto", "--set", "time.end=0.2"]), steps(18, 20));
}
