//! The program runs its pipeline on the CPU and on an emulated GPU, and knows its own words.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dgsuite_gpu::shim::{Emulator, ShimError};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_own-flux");

fn pipeline() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("pulse.yaml")
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// Runs the short form, with more arguments, and returns its summary.
fn run(mut command: Command, directory: &Path, more: &[&str]) -> Value {
    let output = command.arg("run").arg(pipeline()).arg("--ci").args(more).arg("--output").arg(directory);
    let output = output.output().expect("the program can be started");
    assert!(output.status.success(), "{}", said(&output));
    let text = std::fs::read_to_string(directory.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn flux_condition_and_monitor_run_on_cpu_and_device() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let own = run(Command::new(PROGRAM), &at("cpu"), &[]);
    let number = |summary: &Value, key: &str| summary[key].as_f64().expect("a number");
    // What passes the porous wall is lost; the same walls without pores keep it.
    let open = number(&own["conservation"], "rho");
    let wall = ["--set", "boundaries.xmin.porosity=0"];
    let closed = number(&run(Command::new(PROGRAM), &at("closed"), &wall)["conservation"], "rho");
    assert!(closed.abs() < 1e-12 && open.abs() < 1e-12, "{closed:e} {open:e}");
    let other =
        number(&run(Command::new(PROGRAM), &at("hllc"), &["--set", "space.riemann=hllc"]), "mean_mach");
    let mean = number(&own, "mean_mach");
    assert!(other != mean && (other / mean - 1.0).abs() < 0.01, "{other:e} {mean:e}");

    // Implicit steps have the derivatives of both.
    let implicit = ["--set", "time={ scheme: esdirk43, dt: 0.1, end: 1 }"];
    let implicit = run(Command::new(PROGRAM), &at("implicit"), &implicit);
    let difference = number(&implicit, "mean_mach") / mean - 1.0;
    assert!(difference.abs() < 1e-2 && implicit["newton"]["linear_iterations"].is_u64(), "{difference:e}");

    let emulator = match Emulator::plain() {
        Ok(emulator) => emulator,
        Err(e @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{e}");
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let device = run(emulator.command(PROGRAM), &at("device"), &["--device", "cuda"]);
    let difference = number(&device, "mean_mach") / mean - 1.0;
    assert!(difference.abs() < 1e-10, "{difference:e}");
}

#[test]
fn words_and_keys_are_known() {
    let output =
        Command::new(PROGRAM).args(["keys", "boundaries.wall.porosity"]).output().expect("a program");
    assert!(said(&output).contains("porous-wall") || said(&output).contains("porosity"), "{}", said(&output));
    let wrong = |set: &str| {
        let check = Command::new(PROGRAM).arg("check").arg(pipeline()).args(["--set", set]).output();
        let check = check.expect("a program");
        assert_eq!(check.status.code(), Some(2), "{}", said(&check));
        said(&check)
    };
    assert!(wrong("space.riemann=davies").contains("did you mean `davis`"));
    assert!(wrong("boundaries.xmin.type=porous-wal").contains("did you mean `porous-wall`"));
    assert!(wrong("boundaries.xmin.porosity=2").contains("from 0 to 1"));
    assert!(wrong("checks.0.value=mean_mack").contains("mean_mach"));
}
