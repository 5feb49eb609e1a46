//! Synthetic eddies on the state that a boundary prescribes, from the command line.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;

use dgsuite_physics::exact::SyntheticEddies;
use support::{Case, emulator, number};

/// Incompressible flow between walls; the stresses vanish at these.
const CHANNEL: &str = "\
title: Turbulence enters a channel
mesh:
  generate: { shape: quad, cells: [6, 4], max: [3, 1] }
  map: { order: 2, x: x + 0.3*y*(1 - y), y: y }
physics: { model: incompressible, viscosity: 1e-3 }
space: { order: 4 }
initial: { u: 6*y*(1 - y), v: 0 }
boundaries:
  xmin:
    type: dirichlet
    u: 6*y*(1 - y)
    v: 0
    turbulence: { stress: { uu: \"(y*(1 - y))^2\", vv: \"0.25*(y*(1 - y))^2\" }, length: 0.4, velocity: [1, 0] }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.005, end: 0.2 }
output: { fields: none, checkpoint: { every: 0.1 } }
monitors:
  - probe: { points: [[0.068251, 0.35], [0.063001, 0.7]], fields: [u, v], every: 0.05 }
";

/// A gas without walls, in a mesh of triangles with a period.
const GAS: &str = "\
title: Turbulence enters a gas
mesh: { generate: { shape: tri, cells: [4, 3], max: [3, 2] }, periodic: [[ymin, ymax]] }
physics: { model: navier-stokes, viscosity: 1e-3 }
space: { order: 3 }
initial: { rho: 1, u: 1, v: 0, p: 4 }
boundaries:
  xmin:
    type: far-field
    rho: 1
    u: 1
    v: 0
    p: 4
    turbulence: { intensity: 0.1, length: 0.5, velocity: [1, 0], seed: 3 }
  xmax: { type: far-field, rho: 1, u: 1, v: 0, p: 4 }
time: { dt: 0.005, end: 0.2 }
output: { fields: none, checkpoint: { every: 0.1 } }
monitors:
  - probe: { points: [[0.01, 0.35], [0.5, 0.7]], fields: [u, v, p], every: 0.01 }
";

fn probes(case: &Case, folder: &str) -> String {
    fs::read_to_string(case.path(&format!("{folder}/monitors/probe.csv"))).unwrap()
}

fn done(case: &Case, args: &[&str]) {
    let outcome = case.dgsuite(&[&["run", "case.yaml"], args].concat());
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn what_enters_are_the_eddies_on_the_mean() {
    let case = Case::new(CHANNEL);
    done(&case, &[]);
    let rows = case.table("out/case/monitors/probe.csv");
    assert_eq!(rows.len(), 5);
    let eddies = SyntheticEddies::new(2, SyntheticEddies::radius(2, 0.4), [1.0, 0.0, 0.0], [0.0; 3], 0);
    let (mut size, mut off) = (0.0_f64, 0.0_f64);
    // At first the flow has no eddies; conditions hold in the weak sense.
    for row in &rows[2..] {
        // On the boundary x = 0.3 y (1 − y).
        for (point, y) in [(0, 0.35_f64), (1, 0.7)] {
            let x = 0.3 * y * (1.0 - y);
            let mut unit = <[Vec<f64>; 3]>::default();
            eddies.eval(row[1], &[[x, y, 0.0]], &mut unit);
            let root = y * (1.0 - y);
            let expected = [6.0 * root + root * unit[0][0], 0.5 * root * unit[1][0]];
            for d in 0..2 {
                size = size.max((expected[d] - [6.0 * root, 0.0][d]).abs());
                off = off.max((row[2 + 2 * point + d] - expected[d]).abs());
            }
        }
    }
    assert!(size > 0.1 && off < 0.08 * size, "{off} of {size}");
}

#[test]
fn threads_and_restarts_have_the_bits_of_one_run() {
    for yaml in [CHANNEL, GAS] {
        let case = Case::new(yaml);
        let rows = ["--set", "monitors.0.probe.every=null", "--set", "monitors.0.probe.every_steps=4"];
        let done = |args: &[&str]| done(&case, &[&rows, args].concat());
        done(&["--set", "threads=1", "--output", "one"]);
        done(&["--set", "threads=2", "--set", "time.steps=12", "--output", "parts"]);
        done(&["--set", "threads=2", "--restart", "latest", "--output", "parts"]);
        assert!(probes(&case, "one") == probes(&case, "parts"));
        done(&["--set", "boundaries.xmin.turbulence.seed=4", "--output", "other"]);
        assert!(probes(&case, "one") != probes(&case, "other"));
    }
}

#[test]
fn an_emulated_device_has_the_numbers_of_the_host() {
    let Some(emulator) = emulator() else { return };
    let case = Case::new(GAS);
    let short = ["--set", "time.end=0.02", "--output"];
    done(&case, &[&short[..], &["host"]].concat());
    let output = emulator
        .command(env!("CARGO_BIN_EXE_dgsuite"))
        .args(["run", "case.yaml", "--device", "cuda"])
        .args([&short[..], &["device"]].concat())
        .current_dir(case.directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [host, device] = ["host", "device"].map(|folder| case.table(&format!("{folder}/monitors/probe.csv")));
    assert_eq!((host.len(), device.len()), (3, 3));
    assert!((host[1][2] - 1.0).abs() > 1e-3, "{host:?}");
    for (host, device) in host.iter().flatten().zip(device.iter().flatten()) {
        assert!((host - device).abs() < 1e-12, "{host} {device}");
    }
}

/// Eddies that pass with the gas are no sound: the pressure changes by their dynamic pressure, not by ρ c u'.
#[test]
fn eddies_of_a_gas_are_quiet() {
    let summary = Case::new(GAS).run(&[]);
    let p = number(&summary, "/probe/p/0");
    assert!((p - 4.0).abs() < 0.1, "{p}");
}

#[test]
fn turbulence_that_there_cannot_be_is_refused() {
    let case = Case::new(CHANNEL);
    for (set, said) in [
        ("boundaries.xmin.turbulence.velocity=[1, 0, 0]", "a list of 2 numbers"),
        ("boundaries.xmin.turbulence.velocity=[0, 0]", "a velocity that is not 0"),
        ("boundaries.xmin.turbulence.stress.uv=0.1", "uv² ≤ uu vv"),
        ("boundaries.xmin.turbulence.intensity=0.1", "exclude each other"),
        ("boundaries.xmin.turbulence={ length: 1, velocity: [1, 0] }", "turbulence.intensity` is missing"),
        ("boundaries.xmin.turbulence={ intensity: 0.1, velocity: [1, 0] }", "turbulence.length` is missing"),
        ("boundaries.xmax={ type: outflow, turbulence: { intensity: 0.1 } }", "`turbulence`"),
    ] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code != 0 && outcome.stderr.contains(said), "{set}: {}", outcome.stderr);
    }
    let outcome =
        Case::new(GAS).dgsuite(&["check", "case.yaml", "--set", "time={ steady: { tolerance: 1e-6 } }"]);
    assert!(outcome.code != 0 && outcome.stderr.contains("eddies pass in time"), "{}", outcome.stderr);
    let gas = Case::new(&GAS.replace("    u: 1\n", "    u: 0.5*u + 0.5\n"));
    let outcome = gas.dgsuite(&["check", "case.yaml"]);
    assert!(outcome.code != 0 && outcome.stderr.contains("the state inside"), "{}", outcome.stderr);
}
