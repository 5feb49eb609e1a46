//! Runs that are stopped by signals or killed, and the run that follows.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use std::process::Command;

use dgsuite_output::writer::{pvd, vtkhdf};
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

/// Writing takes much longer than a step.
const BUSY: &str = "\
mesh: { generate: { shape: tri, cells: [40, 40] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: euler }
space: { order: 3 }
initial: { rho: 1 + 0.1*sin(2*pi*x), u: 0.5, v: 0.2, p: 1 }
time: { steps: 100000 }
threads: 1
";

const WALLS: &str = "\
boundaries:
  xmin: { type: slip-wall }
  xmax: { type: slip-wall }
  ymin: { type: slip-wall }
  ymax: { type: slip-wall }
";

/// A continued run does not write again what was due before its checkpoint: it must be there.
#[test]
fn the_fields_of_a_killed_run_are_as_old_as_its_checkpoint() {
    for output in [
        "{ fields: { every_steps: 1, NAMES }, checkpoint: { every_steps: 4 } }\n",
        "{ fields: { every_steps: 1, format: vtkhdf, NAMES }, checkpoint: { every_steps: 4 } }\n",
        "{ fields: { every_steps: 9 }, checkpoint: { every_steps: 4 }, \
           surfaces: { boundaries: [xmin, ymin], every_steps: 1, NAMES } }\n",
    ] {
        let case = match output.contains("surfaces") {
            true => BUSY.replace(", periodic: [[xmin, xmax], [ymin, ymax]]", "") + WALLS,
            false => BUSY.to_owned(),
        };
        let names = "names: [Density, Velocity, Pressure, Mach, Momentum, Energy, Temperature, Entropy]";
        let yaml = format!("{case}output: {}", output.replace("NAMES", names));
        let mut run = Endless::start(&yaml, "out/case/checkpoints/step-00000004.dgs");
        run.end_by("KILL");
        let step = checkpoints(&run.case).into_iter().max().unwrap();
        let results = run.case.path("out/case");
        let times = match fs::read_dir(&results).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            (path.extension()? == "vtkhdf").then_some(path)
        }) {
            Some(path) => vtkhdf::Series::create(path).times().unwrap().len(),
            None => {
                let pvd = if output.contains("surfaces") { "surfaces.pvd" } else { "fields.pvd" };
                pvd::Series::read(&results.join(pvd)).unwrap().entries().len()
            }
        };
        assert!(times > step, "{times} times of steps 0 to {step}: {output}");
    }
}

/// Tables, fields and surfaces of a run that was killed and continued are those of one that was not.
#[test]
fn a_continued_run_adds_nothing_that_is_not_due() {
    let yaml = format!(
        "{}output:\n  fields: {{ every_steps: 4 }}\n  checkpoint: {{ every_steps: 3, keep: 9 }}\n\
         monitors:\n  - probe: {{ points: [[0.5, 0.5]], fields: [u], every_steps: 2 }}\n  \
         - residual: {{ every_steps: 4 }}\n  - integral: {{ fields: [u], every: 0.03 }}\n  \
         - sample: {{ line: {{ from: [0, 0], to: [1, 1], points: 3 }}, fields: [u], every_steps: 5 }}\n",
        WAVE.replace("time: { end: 0.1 }", "time: { end: 0.1, dt: 0.01 }")
    );
    let whole = Case::new(&yaml);
    whole.run(&[]);
    let read = |case: &Case, file: &str| fs::read_to_string(case.path("out/case").join(file)).unwrap();
    for step in [3, 6, 9] {
        let parts = Case::new(&yaml);
        parts.run(&[]);
        // What a killed run leaves goes up to any later step.
        parts.run(&["--restart", &format!("out/case/checkpoints/step-{step:08}.dgs")]);
        let tables = ["probe", "residual", "integral", "sample"].map(|name| format!("monitors/{name}.csv"));
        for file in tables.iter().map(String::as_str).chain(["fields.pvd"]) {
            assert_eq!(read(&parts, file), read(&whole, file), "{file} after a restart from step {step}");
        }
    }
}

/// The steps of the checkpoints of a run.
fn checkpoints(case: &Case) -> Vec<usize> {
    let names = fs::read_dir(case.path("out/case/checkpoints")).unwrap();
    let step = |name: &str| name.strip_prefix("step-")?.strip_suffix(".dgs")?.parse().ok();
    names.filter_map(|name| step(&name.unwrap().file_name().to_string_lossy())).collect()
}

/// The run goes on without the checkpoints that a user removes.
#[test]
fn an_old_checkpoint_may_be_removed_while_the_run_goes_on() {
    let yaml = format!("{}output: {{ checkpoint: {{ every_steps: 5, keep: 3 }} }}\n", endless());
    let mut run = Endless::start(&yaml, "out/case/checkpoints/step-00000015.dgs");
    let there = checkpoints(&run.case);
    for step in &there {
        // The run may be faster.
        let _ = fs::remove_file(run.case.path(&format!("out/case/checkpoints/step-{step:08}.dgs")));
    }
    let until = there.iter().max().unwrap() + 25;
    while checkpoints(&run.case).into_iter().max() < Some(until) {
        assert_eq!(run.run.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(run.end_by("TERM"), Some(0));
}
