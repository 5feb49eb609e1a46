//! Common code of the tests of the program: a directory with a case, and the outcome of a command.
#![allow(dead_code, reason = "each test file uses a part")]

#[path = "snapshots.rs"]
pub(crate) mod snapshots;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use dgsuite_gpu::shim::{Emulator, ShimError};
use serde_json::Value;

/// A small advection case on a generated, periodic mesh: runs in milliseconds.
pub(crate) const WAVE: &str = "\
title: A wave
mesh:
  generate: { shape: quad, cells: [4, 4] }
  periodic: [[xmin, xmax], [ymin, ymax]]
physics: { model: advection, velocity: [1, 0.5] }
space: { order: 2 }
initial: { exact: { u: sin(2*pi*(x - t))*cos(2*pi*(y - t/2)) } }
time: { end: 0.1 }
";

/// A small Euler case with boundaries: a uniform flow through a box.
pub(crate) const STREAM: &str = "\
title: A stream
mesh:
  generate: { shape: tri, min: [0, 0], max: [2, 1], cells: [4, 2] }
physics: { model: euler }
space: { order: 1 }
initial: { rho: 1, u: 0.5, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.5, v: 0, p: 1 }
  xmax: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: symmetry }
time: { end: 0.05 }
";

/// A viscous flow over a heated plate.
pub(crate) const PLATE: &str = "title: A plate
mesh:
  generate: { shape: quad, cells: [4, 2], max: [2, 1] }
physics: { model: navier-stokes, reference: { mach: 0.2, reynolds: 100, length: 1 } }
space: { order: 2, riemann: roe }
initial: { rho: rho_ref, u: u_ref, v: 0, p: p_ref }
boundaries:
  xmin: { type: far-field, rho: rho_ref, u: u_ref, v: 0, p: p_ref }
  xmax: { type: pressure-outlet, p: p_ref }
  ymin: { type: no-slip-wall, temperature: 1.1*T_ref }
  ymax: { type: symmetry }
time: { steps: 1 }
";

/// Incompressible flow through a channel with a moving wall.
pub(crate) const CHANNEL: &str = "\
title: A channel
mesh: { generate: { shape: quad, cells: [4, 2], max: [2, 1] } }
physics: { model: incompressible, viscosity: 0.1 }
space: { order: 2 }
initial: { u: y, v: 0 }
boundaries:
  xmin: { type: dirichlet, u: y, v: 0 }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall, velocity: [1, 0] }
time: { dt: 0.01, steps: 1 }
";

/// The output and exit code of a command.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A temporary directory with a pipeline file in it.
pub(crate) struct Case {
    pub(crate) directory: tempfile::TempDir,
}

impl Case {
    pub(crate) fn new(yaml: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("case.yaml"), yaml).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs `dgsuite ARGS` in the directory.
    pub(crate) fn dgsuite(&self, args: &[&str]) -> Outcome {
        dgsuite(self.directory.path(), args)
    }

    /// Runs the case with further arguments and expects success.
    pub(crate) fn run(&self, args: &[&str]) -> Value {
        let outcome = self.dgsuite(&[&["run", "case.yaml"], args].concat());
        assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
        self.summary("out/case")
    }

    /// The summary in a directory of results.
    pub(crate) fn summary(&self, results: &str) -> Value {
        let text = std::fs::read_to_string(self.path(results).join("summary.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The rows of a monitor's table, without its header.
    pub(crate) fn table(&self, file: &str) -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    }
}

/// Runs the binary in a directory.
pub(crate) fn dgsuite(directory: &Path, args: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_dgsuite"))
        .args(args)
        .current_dir(directory)
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The number at a pointer such as `/error/l2/u`.
pub(crate) fn number(summary: &Value, pointer: &str) -> f64 {
    summary
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {pointer}: {summary}"))
}

/// A case that runs until a signal ends it.
pub(crate) struct Endless {
    pub(crate) case: Case,
    pub(crate) run: Child,
}

impl Endless {
    /// Starts the run and waits until there is a file.
    pub(crate) fn start(yaml: &str, file: &str) -> Self {
        Self::start_with(Case::new(yaml), &[], file)
    }

    /// As [`Self::start`], in the directory of a case and with further arguments.
    pub(crate) fn start_with(case: Case, args: &[&str], file: &str) -> Self {
        let mut run = Command::new(env!("CARGO_BIN_EXE_dgsuite"))
            .args(["run", "case.yaml", "--quiet"])
            .args(args)
            .current_dir(case.directory.path())
            .spawn()
            .unwrap();
        while !case.path(file).exists() {
            assert_eq!(run.try_wait().unwrap(), None);
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { case, run }
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.run.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Sends a signal and waits for the end; the exit code, if there is one.
    pub(crate) fn end_by(&mut self, name: &str) -> Option<i32> {
        self.signal(name);
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.run.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < patience, "the run does not end by {name}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

/// `run` and `check` of the case end with 2, and the message contains all given parts.
#[track_caller]
pub(crate) fn refused(case: &Case, args: &[&str], parts: &[&str]) {
    for said in refused_among_others(case, args, parts) {
        assert!(!said.contains("mistakes in the file"), "{said}");
    }
}

/// As [`refused`], for files with further mistakes; returns what `check` and `run` say. The former is
/// compared with its snapshot.
#[track_caller]
pub(crate) fn refused_among_others(case: &Case, args: &[&str], parts: &[&str]) -> [String; 2] {
    std::fs::create_dir_all(case.path("out/case")).unwrap();
    std::fs::write(case.path("out/case/summary.json"), "precious").unwrap();
    let said = ["check", "run"].map(|command| {
        let outcome = case.dgsuite(&[&[command, "case.yaml"], args].concat());
        assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
        outcome.stderr
    });
    assert_eq!(std::fs::read_to_string(case.path("out/case/summary.json")).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(case.path("out/case")).unwrap().count(), 1);
    snapshots::compare(case.directory.path(), &said[0]);
    said
}

/// The case with one piece of text replaced by another.
#[track_caller]
pub(crate) fn with(yaml: &str, old: &str, new: &str) -> Case {
    assert!(yaml.contains(old), "`{old}` is not in the case");
    Case::new(&yaml.replace(old, new))
}

/// An emulated device, with sanitizers if `DGSUITE_SANITIZE=1` (tests of `ops` and `amg` have them always);
/// `None` without a C++ compiler, which `DGSUITE_REQUIRE_TOOLS=1` turns into a failure.
pub(crate) fn emulator() -> Option<Emulator> {
    let sanitized = std::env::var_os("DGSUITE_SANITIZE").is_some_and(|v| v == "1");
    match if sanitized { Emulator::new() } else { Emulator::plain() } {
        Ok(emulator) => Some(emulator),
        Err(e @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
