//! Walls with a model, from the command line.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use dgsuite_gpu::shim::Emulator;
use dgsuite_physics::WallModel;
use std::fs;
use support::{Case, emulator, number};

/// Uniform flow between two walls; ν = 10⁻⁴.
const FLOW: &str = "\
title: Walls with a model
mesh: { generate: { shape: quad, cells: [3, 4], min: [0, -1], max: [1.5, 1] }, periodic: [[xmin, xmax]] }
physics: { model: navier-stokes, viscosity: 1e-4, prandtl: 0.71 }
space: { order: 2, riemann: roe-low-mach }
initial: { rho: 1, u: 1, v: 0, p: 18 }
boundaries:
  ymin: { type: no-slip-wall, model: reichardt, exchange: 0.3 }
  ymax: { type: no-slip-wall, model: reichardt, exchange: 0.3 }
time: { steps: 0 }
output: { fields: none }
monitors:
  - forces: { boundary: [ymin, ymax], every_steps: 1, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - wall: { boundary: ymin, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - integral: { fields: [rho_u], every_steps: 1 }
";

/// The friction of uniform flow of speed 1 on both walls.
fn friction(model: WallModel, height: f64, area: f64) -> f64 {
    let (y, u): (f64, f64) = model.at(height / 1e-4);
    area * 1e-4 / height * y / u
}

#[test]
fn uniform_flow_has_the_friction_of_the_model_on_all_shapes() {
    let case = Case::new(FLOW);
    let box_of = |shape: &str| {
        format!("mesh.generate={{ shape: {shape}, cells: [3, 4, 2], min: [0, -1, 0], max: [1.5, 1, 1] }}")
    };
    for (shape, auto) in [("tri", 0.2), ("quad", 0.4), ("tet", 0.4 / 3.0), ("hex", 0.4), ("prism", 0.4)] {
        let mut set: Vec<String> = Vec::new();
        if ["tet", "hex", "prism"].contains(&shape) {
            set.push(box_of(shape));
            set.push("mesh.periodic=[[xmin, xmax], [zmin, zmax]]".to_owned());
            set.push("initial.w=0".to_owned());
        } else {
            set.push(format!("mesh.generate.shape={shape}"));
        }
        let run = |more: &[&str]| {
            let all = set.iter().map(String::as_str).chain(more.iter().copied());
            let args: Vec<&str> = all.flat_map(|set| ["--set", set]).collect();
            let summary = case.run(&[&args[..], &["--overwrite"]].concat());
            number(&summary, "/forces/ymin+ymax/force/0")
        };
        for model in WallModel::ALL {
            let word = model.name();
            let walls = ["ymin", "ymax"].map(|name| format!("boundaries.{name}.model={word}"));
            // The height may lie beyond the elements at the wall.
            let [found, expected] = [run(&[&walls[0], &walls[1]]), friction(model, 0.3, 3.0)];
            assert!((found / expected - 1.0).abs() < 1e-11, "{shape}, {word}: {found} {expected}");
        }
        if shape != "prism" {
            let found = run(&["boundaries.ymin.exchange=auto", "boundaries.ymax.exchange=auto"]);
            let expected = friction(WallModel::Reichardt, auto, 3.0);
            assert!((found / expected - 1.0).abs() < 1e-11, "{shape}, auto: {found} {expected}");
        }
    }
}

#[test]
fn momentum_falls_by_the_friction_and_the_wall_curve_shows_it() {
    let case = Case::new(&FLOW.replace("steps: 0", "steps: 40"));
    let summary = case.run(&[]);
    let (forces, integrals) =
        (case.table("out/case/monitors/forces.csv"), case.table("out/case/monitors/integral.csv"));
    assert!(number(&summary, "/conservation/rho_u") < 1e-13);
    let mut lost = 0.0;
    for pair in forces.windows(2) {
        lost += 0.5 * (pair[1][1] - pair[0][1]) * 0.5 * (pair[0][2] + pair[1][2]);
    }
    let (first, last) = (integrals[0][2], integrals[integrals.len() - 1][2]);
    assert!(((first - last) / lost - 1.0).abs() < 1e-4, "{first} {last} {lost}");
    let curve = case.table("out/case/monitors/wall-curve.csv");
    assert!(curve.iter().all(|row| row[7] > 0.0 && row[10] == 0.0), "{curve:?}");
    // The height in wall units, and the friction velocity; the density is nearly 1.
    for row in &curve {
        assert!((row[11].powi(2) / row[7] - 1.0).abs() < 0.02, "{row:?}");
        assert!((row[12] / (0.3 * row[11] / 1e-4) - 1.0).abs() < 0.02, "{row:?}");
    }
}

/// Heat passes an isothermal wall, as the wall curve says; the energy falls by it.
#[test]
fn heat_leaves_through_a_colder_wall() {
    let walls = "model: spalding, exchange: 0.3, temperature: 17";
    let case =
        Case::new(&FLOW.replace("model: reichardt, exchange: 0.3", walls).replace("steps: 0", "steps: 5"));
    let summary = case.run(&["--set", "monitors.2.integral={ fields: [rho_E], every_steps: 1 }"]);
    let heat = number(&summary, "/forces/ymin+ymax/heat");
    let integrals = case.table("out/case/monitors/integral.csv");
    let [before, after] = [&integrals[integrals.len() - 2], &integrals[integrals.len() - 1]];
    let rate = (before[2] - after[2]) / (after[1] - before[1]);
    assert!(heat > 1e-3 && (rate / heat - 1.0).abs() < 0.05, "{heat} {rate}");
}

/// The same flow without compressibility.
fn incompressible(yaml: &str) -> String {
    let model = "model: incompressible, viscosity: 1e-4";
    let steps = yaml
        .replace("time: { steps", "time: { dt: 0.005, steps")
        .replace("time: { end", "time: { dt: 0.002, end");
    let yaml = steps.replace("model: navier-stokes, viscosity: 1e-4, prandtl: 0.71", model);
    let yaml = yaml.replace(
        "model: navier-stokes, viscosity: 1e-4, flow_rate: { mean: 1 }",
        &format!("{model}, flow_rate: {{ mean: 1, direction: [1, 0] }}"),
    );
    let yaml = yaml.replace(", riemann: roe-low-mach", "").replace("rho: 1, ", "").replace(", p: 18", "");
    yaml.replace(", temperature: 17", "").replace("[rho_u]", "[u]")
}

#[test]
fn incompressible_flow_has_the_friction_of_the_model() {
    let case = Case::new(&incompressible(FLOW));
    for (shape, auto) in [("tri", 0.2), ("quad", 0.4), ("hex", 0.4)] {
        let space = "{ shape: hex, cells: [3, 4, 2], min: [0, -1, 0], max: [1.5, 1, 1] }";
        let generate = format!("mesh.generate={space}");
        let set = match shape {
            "hex" => vec![&*generate, "mesh.periodic=[[xmin, xmax], [zmin, zmax]]", "initial.w=0"],
            "tri" => vec!["mesh.generate.shape=tri"],
            _ => vec![],
        };
        let run = |more: &[&str]| {
            let args: Vec<&str> = set.iter().chain(more).flat_map(|set| ["--set", set]).collect();
            number(&case.run(&[&args[..], &["--overwrite"]].concat()), "/forces/ymin+ymax/force/0")
        };
        let [found, expected] = [run(&[]), friction(WallModel::Reichardt, 0.3, 3.0)];
        assert!((found / expected - 1.0).abs() < 1e-11, "{shape}: {found} {expected}");
        let found = run(&["boundaries.ymin.exchange=auto", "boundaries.ymax.exchange=auto"]);
        let expected = friction(WallModel::Reichardt, auto, 3.0);
        assert!((found / expected - 1.0).abs() < 1e-11, "{shape}, auto: {found} {expected}");
    }
}

#[test]
fn momentum_of_incompressible_flow_falls_by_the_friction() {
    let case = Case::new(&incompressible(&FLOW.replace("steps: 0", "steps: 40")));
    case.run(&[]);
    let (forces, integrals) =
        (case.table("out/case/monitors/forces.csv"), case.table("out/case/monitors/integral.csv"));
    let mut lost = 0.0;
    for pair in forces.windows(2) {
        lost += 0.5 * (pair[1][1] - pair[0][1]) * 0.5 * (pair[0][2] + pair[1][2]);
    }
    let (first, last) = (integrals[0][2], integrals[integrals.len() - 1][2]);
    assert!(((first - last) / lost - 1.0).abs() < 1e-3, "{first} {last} {lost}");
}

/// A wave runs along the walls of a curved channel with quadrilaterals and triangles.
const WAVES: &str = "\
title: Waves at walls with a model
mesh:
  generate: { shape: mixed, cells: [6, 4], min: [0, -1], max: [2, 1] }
  map: { order: 2, x: x, y: y*(1 + 0.1*sin(pi*x)) }
  periodic: [[xmin, xmax]]
physics: { model: navier-stokes, viscosity: 1e-4, flow_rate: { mean: 1 } }
space: { order: 2, riemann: roe-low-mach }
initial: { rho: 1, u: 1 + 0.2*sin(pi*x)*y, v: 0.1*sin(pi*x)*(1 - y^2), p: 18 }
boundaries:
  ymin: { type: no-slip-wall, model: reichardt, exchange: 0.7, temperature: 17, velocity: [0.1, 0] }
  ymax: { type: no-slip-wall, model: spalding, exchange: 0.05 }
time: { end: 0.04 }
output: { fields: none, checkpoint: { every: 0.02 } }
monitors:
  - forces: { boundary: [ymin, ymax], every_steps: 1, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
";

/// Runs the case with these arguments.
fn done(case: &Case, args: &[&str]) {
    let outcome = case.dgsuite(&[&["run", "case.yaml"], args].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

fn forces(case: &Case, folder: &str) -> String {
    fs::read_to_string(case.path(&format!("{folder}/monitors/forces.csv"))).unwrap()
}

#[test]
fn threads_and_restarts_have_the_bits_of_one_run() {
    // A wall without a model makes dual splitting need the stress at the start of a step.
    let one = incompressible(WAVES).replace(", model: spalding, exchange: 0.05", "");
    for yaml in [WAVES.to_owned(), incompressible(WAVES), one] {
        same_bits(&Case::new(&yaml));
    }
}

fn same_bits(case: &Case) {
    done(case, &["--set", "threads=1", "--output", "one"]);
    done(case, &["--set", "threads=2", "--output", "two"]);
    let expected = forces(case, "one");
    assert!(expected.lines().count() > 5, "{expected}");
    assert!(forces(case, "two") == expected, "threads");
    done(case, &["--set", "time.steps=2", "--output", "parts"]);
    done(case, &["--restart", "latest", "--output", "parts"]);
    assert!(forces(case, "parts") == expected, "restart");
}

#[test]
fn an_emulated_device_has_the_numbers_of_the_host() {
    let Some(emulator) = emulator() else { return };
    let short = WAVES.replace("end: 0.04", "steps: 2");
    // Linear systems are solved to a tolerance.
    for (yaml, within) in [(incompressible(&short), 1e-6), (short, 1e-11)] {
        same_numbers(&Case::new(&yaml), &emulator, within);
    }
}

fn same_numbers(case: &Case, emulator: &Emulator, within: f64) {
    done(case, &["--output", "host"]);
    let output = emulator
        .command(env!("CARGO_BIN_EXE_dgsuite"))
        .args(["run", "case.yaml", "--device", "cuda", "--output", "device"])
        .current_dir(case.directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [host, device] =
        ["host", "device"].map(|folder| case.table(&format!("{folder}/monitors/forces.csv")));
    assert_eq!(host.len(), 3);
    for (host, device) in host.iter().flatten().zip(device.iter().flatten()) {
        assert!((host - device).abs() < within * host.abs().max(1.0), "{host} {device}");
    }
}

/// Some heights lie in elements of other devices. Of three devices, one has no face of a wall above which it
/// has places.
#[test]
fn several_emulated_devices_have_the_bits_of_one() {
    let Some(emulator) = emulator() else { return };
    let far = WAVES.replace("exchange: 0.7", "exchange: 1.2").replace("end: 0.04", "steps: 1");
    let far = far.replace("cells: [6, 4]", "cells: [3, 2]");
    for (yaml, devices) in [(incompressible(&far), "0,0"), (far, "0,0,0")] {
        same_on_several(&Case::new(&yaml), &emulator, devices);
    }
}

fn same_on_several(case: &Case, emulator: &Emulator, devices: &str) {
    let run = |output: &str, device: [&str; 2]| {
        let output = emulator
            .command(env!("CARGO_BIN_EXE_dgsuite"))
            .env("DGSUITE_COMM_TIMEOUT", "60")
            .args(["run", "case.yaml", "--output", output, "--set", "threads=1"])
            .args(device)
            .current_dir(case.directory.path())
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (output, device) in [("one", ["--device", "cuda"]), ("several", ["--devices", devices])] {
        let (passed, said) = run(output, device);
        assert!(passed, "{output}: {said}");
    }
    assert_eq!(forces(case, "one"), forces(case, "several"));
}

/// A wall that moves with the flow has no friction; one that is twice as fast pulls as one at rest brakes,
/// and its work is no heat.
#[test]
fn friction_is_that_of_the_velocity_relative_to_the_wall() {
    for yaml in [FLOW.to_owned(), incompressible(FLOW)] {
        let case = Case::new(&yaml);
        let expected = friction(WallModel::Reichardt, 0.3, 1.5);
        for (velocity, factor) in [("[1, 0]", 1.0), ("[2, 0.1]", 0.0), ("{ u: -1 }", 0.0)] {
            let set = format!("boundaries.ymin.velocity={velocity}");
            let summary = case.run(&["--overwrite", "--set", &set]);
            let (force, heat) = ("/forces/ymin+ymax/force/0", "/forces/ymin+ymax/heat");
            let faster: (f64, f64) = WallModel::Reichardt.at(2.0 * 0.3 / 1e-4);
            let braked = 1.5 * 2.0 * 1e-4 / 0.3 * faster.0 / faster.1;
            let factor = if velocity.contains("-1") { 1.0 + braked / expected } else { factor };
            let found = number(&summary, force);
            assert!((found - factor * expected).abs() < 1e-11 * expected.max(1e-3), "{velocity}: {found}");
            if yaml == FLOW {
                assert!(number(&summary, heat).abs() < 1e-14, "{velocity}");
            }
        }
    }
}

#[test]
fn a_driven_gas_between_adiabatic_walls_with_a_model_gets_warmer() {
    let case = Case::new(WAVES);
    let adiabatic = "boundaries.ymin={ type: no-slip-wall, model: reichardt }";
    let slippery = "boundaries.ymin={ type: slip-length-wall, slip_length: 0.1 }";
    for (set, warns) in [("threads=1", false), (adiabatic, true), (slippery, true)] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code == 0, "{set}: {}", outcome.stderr);
        let said = outcome.stdout.contains("no boundary takes up the heat of friction");
        assert_eq!(said, warns, "{set}: {}", outcome.stdout);
    }
}

#[test]
fn what_a_wall_with_a_model_does_not_have_is_refused() {
    let case = Case::new(FLOW);
    for (set, said) in [
        ("boundaries.ymin.exchange=2.5", "the height can be at most 2.0000"),
        ("boundaries.ymin={ type: no-slip-wall, exchange: 0.1 }", "`boundaries.ymin.model` is missing"),
        ("boundaries.ymin.velocity=[1, 0, 0]", "a list of 2 numbers"),
        ("boundaries.ymin.velocity=[x, 0]", "a number on a wall with a model"),
        ("boundaries.ymin.rotation={ omega: 1 }", "one with a model has a `velocity` of numbers"),
        ("boundaries.ymin.temperature=17 + x", "a number on a wall with a model"),
        ("boundaries.ymin.model=log-law", "expected one of: reichardt, spalding"),
    ] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        let text = outcome.stderr + &outcome.stdout;
        assert!(outcome.code != 0 && text.contains(said), "{set}: {text}");
    }
    let outcome = case.dgsuite(&["check", "case.yaml", "--set", "boundaries.ymin.exchange=1e-3"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("below the first nodes"), "{}", outcome.stdout);
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert!(outcome.stdout.contains("reichardt at the height 0.3"), "{}", outcome.stdout);
}
