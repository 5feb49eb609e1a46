//! Runs that are stopped by signals or killed, and the run that follows.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use std::process::Command;

use serde_json::json;
use support::{Case, Endless, WAVE, number};

fn endless() -> String {
    WAVE.replace("end: 0.1", "end: 1e6")
}

/// The first fields are written before the first step.
const STARTED: &str = "out/case/fields.pvd";

#[test]
fn signals_stop_a_run_after_a_checkpoint() {
    for signal in ["INT", "TERM", "HUP", "USR1", "USR2"] {
        let mut run = Endless::start(&endless(), STARTED);
        assert_eq!(run.case.summary("out/case")["status"], json!("running"));
        if ["HUP", "TERM"].contains(&signal) {
            // The shell and the kernel both send SIGHUP; `timeout` sends SIGTERM to the process and to its
            // group.
            run.signal(signal);
        }
        assert_eq!(run.end_by(signal), Some(0), "{signal}");
        let summary = run.case.summary("out/case");
        assert_eq!(summary["status"], json!("stopped"), "{signal}");
        let (steps, end) = (number(&summary, "/time/steps"), number(&summary, "/time/end"));
        let (more, till) = (format!("time.steps={}", steps + 3.0), format!("time.end={}", end + 1.0));
        let summary = run.case.run(&["--restart", "latest", "--set", &more, "--set", &till]);
        assert_eq!(number(&summary, "/time/steps"), steps + 3.0);
    }
}

/// Whether a process has set up its handler of SIGTERM.
#[cfg(target_os = "linux")]
fn listens(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> 14 & 1 == 1
}

#[cfg(target_os = "linux")]
#[test]
fn signals_during_preparation_end_the_program_at_once() {
    for (signal, code) in [("TERM", 128 + 15), ("USR1", 128 + 10)] {
        // Making its mesh takes seconds.
        let mut run = Endless::start_with(Case::new(&endless()), &["--set", "mesh.refine=8"], "case.yaml");
        while !listens(run.run.id()) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        // The flag is set after the last handler is set up.
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(run.end_by(signal), Some(code));
        assert!(!run.case.path("out").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let case = Case::new(&endless());
    let script = format!("trap '' HUP; exec {} run case.yaml --quiet", env!("CARGO_BIN_EXE_dgsuite"));
    let run = Command::new("sh").args(["-c", &script]).current_dir(case.directory.path()).spawn().unwrap();
    let mut run = Endless { case, run };
    while !run.case.path(STARTED).exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    run.signal("HUP");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(run.run.try_wait().unwrap(), None, "the run continues");
    assert_eq!(run.end_by("TERM"), Some(0));
}

#[test]
fn a_continued_run_that_is_killed_does_not_leave_the_summary_of_the_run_before() {
    let case = Case::new(WAVE);
    assert_eq!(case.run(&[])["status"], json!("ok"));
    let stale = case.path("out/case/checkpoints/.step-00000099.dgs.aB3xYz.tmp");
    fs::write(&stale, "half").unwrap();
    fs::write(case.path("out/case/checkpoints/mine.tmp"), "mine").unwrap();
    let more =
        ["--restart", "latest", "--set", "time.end=1e6", "--set", "output.checkpoint={ every_steps: 1 }"];
    let mut run = Endless::start_with(case, &more, "out/case/log.txt");
    let newest = |case: &Case| fs::read_to_string(case.path("out/case/checkpoints/latest")).unwrap();
    let first = newest(&run.case);
    while newest(&run.case) == first {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(run.end_by("KILL"), None);
    assert_eq!(run.case.summary("out/case")["status"], json!("running"));
    assert!(!stale.exists() && run.case.path("out/case/checkpoints/mine.tmp").exists());
    // The checkpoint is complete nevertheless.
    let steps = newest(&run.case)[5..13].parse::<u64>().unwrap() + 2;
    let more = ["--restart", "latest", "--set", "time.end=1e6", "--set", &format!("time.steps={steps}")];
    assert_eq!(number(&run.case.run(&more), "/time/steps"), steps as f64);
}

#[test]
fn as_many_checkpoints_are_kept_over_restarts() {
    let case = Case::new(&format!("{}output: {{ checkpoint: {{ every_steps: 1, keep: 2 }} }}\n", endless()));
    let kept = || {
        let entries = fs::read_dir(case.path("out/case/checkpoints")).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let expected = |steps: [u64; 2]| {
        vec!["latest".to_owned(), format!("step-{:08}.dgs", steps[0]), format!("step-{:08}.dgs", steps[1])]
    };
    case.run(&["--set", "time.steps=4"]);
    assert_eq!(kept(), expected([3, 4]));
    case.run(&["--restart", "latest", "--set", "time.steps=6"]);
    assert_eq!(kept(), expected([5, 6]));
    // From an older checkpoint: later states belong to the former run.
    case.run(&[
        "--restart",
        "out/case/checkpoints/step-00000005.dgs",
        "--set",
        "time.steps=6",
        "--set",
        "time.dt=1e-3",
    ]);
    assert_eq!(kept(), expected([5, 6]));
}
