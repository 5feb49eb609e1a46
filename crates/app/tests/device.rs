//! Whole runs on the emulated device agree with the CPU, and repeat bit by bit.
//!
//! The cases cover batches of steps on the device, boundary data that changes with time, viscous flow
//! between walls, monitors, and a run that fails.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::process::Command;

use dgsuite_gpu::shim::Emulator;
use serde_json::Value;
use support::{Case, emulator};

/// A density wave that enters and leaves through boundaries, one of them with a pressure that depends on the
/// flow.
const WAVE: &str = "\
title: A wave that enters and leaves
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [2, 2] } }
physics: { model: euler }
space: { order: 1 }
initial: { exact: { rho: 1 + 0.2*sin(2*pi*(x - t)), u: '1', v: '0.5', p: '1' } }
boundaries:
  xmin: { type: dirichlet, exact: { rho: 1 + 0.2*sin(2*pi*(x - t)), u: '1', v: '0.5', p: '1' } }
  ymin: { type: far-field, rho: 1, u: 1, v: 0.5, p: 1 }
  xmax: { type: outflow }
  ymax: { type: pressure-outlet, p: 1 + 0.2*(p - 1) + 0.01*v^2*sin(x + t) }
";

/// Gas at rest, into which a supersonic flow enters: the first step is too large and is repeated.
const JET: &str = "\
title: A jet
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [3, 2] } }
physics: { model: euler }
space: { order: 2, riemann: hllc, shock: entropy-filter }
initial: { rho: 0.1, u: 0, v: 0, p: 0.1 }
boundaries:
  xmin: { type: dirichlet, rho: 0.1, u: 20, v: 0, p: 0.1 }
  xmax: { type: outflow }
  ymin: { type: symmetry }
  ymax: { type: outflow }
";

/// Viscous flow along a warm wall and a moving one, with boundaries that depend on the flow, a source term, a
/// sponge and a body force.
const CHANNEL: &str = "\
title: A channel with a moving wall
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [2, 2] } }
physics:
  model: navier-stokes
  gas_constant: 1
  viscosity: { sutherland: { mu_ref: 0.05, t_ref: 1, s: 0.4 } }
  source: { rho_E: 0.3*y, rho_u: -0.2*rho*u*(1 + x) }
  sponge: { strength: 2*x, rho: 1, u: y, v: 0, p: 1 }
  body_force: [0.3, -0.2*x]
space: { order: 1 }
initial: { rho: 1 + 0.1*sin(2*pi*x), u: y, v: 0, p: 1 }
boundaries:
  ymin: { type: no-slip-wall, temperature: 1.1 + 0.1*(rho - 1) }
  ymax: { type: no-slip-wall, adiabatic: true, velocity: [1, 0] }
  xmin: { type: dirichlet, rho: 1 + 0.1*sin(2*pi*(x - t)), u: y, v: 0, p: 1 + 0.3*(p - 1) }
  xmax: { type: pressure-outlet, p: 1 - 0.2*Mach^2 }
";

/// A channel whose eddies are as viscous as the gas.
const CLOSED: &str = "\
title: A channel with a closure
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [2, 2] } }
physics:
  model: navier-stokes
  gas_constant: 1
  viscosity: { sutherland: { mu_ref: 0.05, t_ref: 1, s: 0.4 } }
  closure: { wale: { constant: 1, length: delta*(1 + y) } }
space: { order: 1 }
initial: { rho: 1 + 0.1*sin(2*pi*x), u: y, v: 0.1*x*y, p: 1 }
boundaries:
  ymin: { type: no-slip-wall, temperature: 1.1 }
  ymax: { type: no-slip-wall, adiabatic: true, velocity: [1, 0] }
  xmin: { type: dirichlet, rho: 1 + 0.1*sin(2*pi*x), u: y, v: 0, p: 1 }
  xmax: { type: pressure-outlet, p: 1 }
";

/// Viscous flow towards a steady state, through a sponge that limits the steps.
const STEADY: &str = "\
title: A steady channel
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [2, 2] } }
physics:
  model: navier-stokes
  gas_constant: 1
  viscosity: { sutherland: { mu_ref: 0.05, t_ref: 1, s: 0.4 } }
  sponge: { strength: 10*x, rho: 1, u: y, v: 0, p: 1 }
space: { order: 1 }
initial: { rho: 1 + 0.1*sin(2*pi*x), u: y, v: 0, p: 1 }
boundaries:
  ymin: { type: no-slip-wall, temperature: 1.1 }
  ymax: { type: no-slip-wall, adiabatic: true, velocity: [1, 0] }
  xmin: { type: dirichlet, rho: 1, u: y, v: 0, p: 1 }
  xmax: { type: pressure-outlet, p: 1 }
";

/// Flow along arcs whose faces are straight.
const ARCS: &str = "\
title: A bend with straight faces
mesh:
  generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [4, 2] }
  map: { order: 1, x: (1 + 0.384*y)*sin(pi/2*x), y: (1 + 0.384*y)*cos(pi/2*x) }
physics: { model: euler }
space: { order: 2, riemann: hllc }
initial: { exact: supersonic-vortex, mach: 2.25 }
boundaries:
  xmin: { type: dirichlet, exact: supersonic-vortex }
  xmax: { type: outflow }
  ymin: { type: curved-slip-wall }
  ymax: { type: curved-slip-wall, normal: [x, y] }
";

/// A shock tube, in the basis of the device, in which errors are measured.
const SHOCK: &str = "\
title: A shock tube
mesh: { generate: { shape: quad, min: [0, 0], max: [1, 0.1], cells: [12, 1] }, periodic: [[ymin, ymax]] }
physics: { model: euler }
space: { order: 2, basis: nodal, riemann: hllc, shock: entropy-filter }
initial: { rho: 'if(x < 0.5, 1, 0.125)', u: 0, v: 0, p: 'if(x < 0.5, 1, 0.1)' }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0, v: 0, p: 1 }
  xmax: { type: dirichlet, rho: 0.125, u: 0, v: 0, p: 0.1 }
";

/// Name, start and remaining lines of each case.
/// A gas of which the flow rate is prescribed.
const GAS_CHANNEL: &str = "\
title: A driven channel of gas
mesh: { generate: { shape: tri+quad, cells: [2, 2] }, periodic: [[xmin, xmax]] }
physics: { model: navier-stokes, viscosity: 0.1, flow_rate: { mean: 0.2, heat: balanced } }
space: { order: 1 }
initial: { rho: 1 + 0.1*y, u: y, v: 0, p: 1/1.4 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
";

const CASES: [(&str, &str, &str); 14] = [
    (
        "arcs",
        ARCS,
        "time: { steps: 12 }\noutput: { fields: none, checkpoint: none }\n\
         monitors:\n  - error: { exact: supersonic-vortex, norms: [l2], every_steps: 6 }\n",
    ),
    (
        "shock",
        JET,
        "time: { steps: 22 }\noutput: { fields: none, checkpoint: none }\n\
         monitors:\n  - limited: { every_steps: 11 }\n  - integral: { fields: [rho, p*x], every_steps: 11 }\n",
    ),
    (
        "adaptive",
        WAVE,
        "time: { cfl: 0.3, end: 0.5 }\n\
         output: { fields: { every: 0.2 }, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 19 }\n  - integral: { fields: [rho, p*x*t], every_steps: 19 }\n",
    ),
    (
        "fixed",
        WAVE,
        "time: { scheme: ssprk104, dt: 0.01, end: 0.405 }\n\
         output: { fields: { every: 0.3 }, checkpoint: none }\n\
         monitors:\n  - error: { exact: { rho: 1 + 0.2*sin(2*pi*(x - t)), u: '1', v: '0.5', p: '1' }, norms: [l1, l2, linf], every_steps: 13 }\n  \
         - probe: { points: [[0.3, 0.4]], fields: [rho, u], every_steps: 13 }\n  \
         - probe: { points: [[0.3, 0.4]], fields: [Mach], every_steps: 13, from: { when: step >= 7 } }\n",
    ),
    (
        "viscous",
        CHANNEL,
        "time: { cfl: 0.3, end: 0.08 }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 5 }\n  - forces:\n      boundary: [ymin, ymax]\n      \
         every_steps: 5\n      reference: { density: 1, velocity: 1, pressure: 1, length: 1 }\n",
    ),
    (
        "driven",
        GAS_CHANNEL,
        "time: { cfl: 0.3, steps: 6 }\noutput: { fields: none, checkpoint: none }\n\
         monitors:\n  - flow_rate: { every_steps: 2 }\n  - integral: { fields: [u*y, rho_E], every_steps: 2 }\n",
    ),
    (
        "closed",
        CLOSED,
        "time: { cfl: 0.3, end: 0.05 }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 5 }\n  - forces:\n      boundary: [ymin, ymax]\n      \
         every_steps: 5\n      reference: { density: 1, velocity: 1, pressure: 1, length: 1 }\n",
    ),
    (
        "local",
        STEADY,
        "time: { cfl: 0.3, steady: { tolerance: 0.4, max_steps: 200, local_steps: true, damping: 60 } }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 7 }\n  - integral: { fields: [rho_u], every: 12 }\n",
    ),
    (
        "newton",
        STEADY,
        "constants: { a: 1 }\n\
         time: { steady: { solver: newton, tolerance: 0.1, sensitivities: [a] } }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 1 }\n  - integral: { fields: [rho_u], every: 2 }\n  \
         - forces: { boundary: ymin, reference: { density: 1, velocity: 1, pressure: 1, length: 1 } }\n",
    ),
    (
        "implicit",
        CLOSED,
        "time: { scheme: esdirk43, dt: 0.05, newton: { tolerance: 1e-9 }, end: 0.12 }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 1 }\n  - forces:\n      boundary: [ymin, ymax]\n      \
         every_steps: 1\n      reference: { density: 1, velocity: 1, pressure: 1, length: 1 }\n",
    ),
    (
        "single",
        WAVE,
        "precision: single\ntime: { scheme: ssprk43, dt: 0.01, end: 0.1 }\noutput: { fields: none, checkpoint: none }\n\
         monitors:\n  - error: { exact: { rho: 1 + 0.2*sin(2*pi*(x - t)), u: '1', v: '0.5', p: '1' }, norms: [l2], every_steps: 5 }\n",
    ),
    (
        "by error",
        WAVE,
        "time: { adaptive: { tolerance: 1e-5 }, end: 0.5 }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - residual: { every_steps: 17 }\n  - integral: { fields: [rho, p*x*t], every_steps: 17 }\n",
    ),
    (
        "shock by error",
        SHOCK,
        "time: { adaptive: { tolerance: 1e-4 }, end: 0.05 }\n\
         output: { fields: none, checkpoint: none }\n\
         monitors:\n  - limited: { every_steps: 7 }\n  - integral: { fields: [rho, p*x*t], every_steps: 7 }\n",
    ),
    ("failing", WAVE, "time: { dt: 0.25, steps: 60 }\noutput: { fields: none, checkpoint: none }\n"),
];

struct Found {
    summary: Value,
    failure: String,
    tables: Vec<Vec<f64>>,
}

fn run(case: &Case, device: &str, command: Command) -> Found {
    run_on(case, ["--device", device], command)
}

fn run_on(case: &Case, on: [&str; 2], mut command: Command) -> Found {
    let device = on[1];
    let results = case.path(&format!("out-{}", device.replace([':', ','], "-")));
    let output = command
        .current_dir(case.directory.path())
        .args(["run", "--quiet", "case.yaml"])
        .args(on)
        .arg("--output")
        .arg(&results)
        .output()
        .unwrap();
    let failure = String::from_utf8(output.stderr).unwrap();
    let text = std::fs::read_to_string(results.join("summary.json"));
    let summary = text.unwrap_or_else(|e| panic!("{device}: {e}: {failure}"));
    let mut tables = Vec::new();
    let files = std::fs::read_dir(results.join("monitors")).into_iter().flatten();
    let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "csv"));
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        tables.extend(text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()));
    }
    Found { summary: serde_json::from_str(&summary).unwrap(), failure, tables }
}

/// Checks that two ranks that share the emulated device, by each plane, leave the numbers of one.
fn two_ranks_leave(of_one: &Found, case: &Case, emulator: &Emulator, keys: &[&str]) {
    let mut sent = Vec::new();
    for plane in ["peer", "staged"] {
        let mut command = emulator.command(env!("CARGO_BIN_EXE_dgsuite"));
        command.env("DGSUITE_DEVICE_PLANE", plane).env("DGSUITE_COMM_TIMEOUT", "60");
        let found = run_on(case, ["--devices", "0,0"], command);
        assert!(found.summary["status"] == "ok" && found.summary["ranks"] == 2, "{}", found.failure);
        for key in keys {
            let [one, two] = [of_one, &found].map(|found| found.summary.pointer(key));
            assert!(one == two && one.is_some(), "{plane} {key}: {one:?} and {two:?}");
        }
        assert_eq!(of_one.tables, found.tables, "{plane}");
        sent.push(["messages", "bytes"].map(|of| found.summary["communication"][of].as_u64().unwrap()));
    }
    // Those of graphs are counted as they are sent.
    assert!(sent[0] == sent[1] && sent[0][1] > 8 * sent[0][0] && sent[0][0] > 0, "{sent:?}");
    assert_eq!(of_one.summary["communication"]["messages"], 0);
}

/// Returns whether two numbers agree to rounding; with `single`, to rounding of 24 bits.
fn near(x: f64, y: f64, single: bool) -> bool {
    let (relative, absolute) = if single { (1e-5, 1e-5) } else { (1e-10, 1e-13) };
    (x - y).abs() <= relative * x.abs() + absolute
}

/// Checks that every number of `a` agrees with `b` to rounding.
fn same(what: &str, a: &Value, b: &Value, single: bool) {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            // The conservation defect is rounding itself.
            assert!(near(x, y, single), "{what}: {x:e} and {y:e}");
        }
        (Value::Object(x), Value::Object(y)) => {
            assert_eq!(x.len(), y.len(), "{what}");
            x.iter().for_each(|(key, x)| same(&format!("{what}.{key}"), x, &y[key], single));
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{what}");
            x.iter().zip(y).for_each(|(x, y)| same(what, x, y, single));
        }
        _ => assert_eq!(a, b, "{what}"),
    }
}

/// All kinds of conditions on two shapes.
const POISSON: &str = "\
title: Poisson's equation
mesh: { generate: { shape: tri, cells: [4, 4] } }
physics: { model: poisson, exact: sin(x + 2*y), kappa: 1 + x*y, lambda: x }
space: { order: 3 }
boundaries:
  xmin: { type: dirichlet, u: exact }
  xmax: { type: neumann, flux: exact }
  ymin: { type: robin, alpha: 2, g: exact }
  ymax: { type: dirichlet, u: exact }
output: { fields: none }
";

/// u is fixed only up to a constant.
const SINGULAR: &str = "\
title: A pure Neumann problem
mesh: { generate: { shape: quad, cells: [3, 3] } }
physics: { model: poisson, exact: cos(pi*x)*y + x }
space: { order: 2 }
boundaries:
  xmin: { type: neumann, flux: exact }
  xmax: { type: neumann, flux: exact }
  ymin: { type: neumann, flux: exact }
  ymax: { type: neumann, flux: exact }
output: { fields: none }
";

#[test]
fn poisson_on_an_emulated_device_is_that_of_the_cpu() {
    let Some(emulator) = emulator() else { return };
    let program = env!("CARGO_BIN_EXE_dgsuite");
    let thin = POISSON.replace("cells: [4, 4]", "cells: [4, 4], max: [1, 0.05]");
    let solvers = [
        (POISSON, "pmg-amg, coarsening: minus-one, coarse_space: continuous"),
        (&thin, "pmg-amg"),
        (
            SINGULAR,
            "pmg-amg, smoother: block-jacobi, inner_precision: double, coarse_space: discontinuous, cycle: k2",
        ),
    ];
    for (problem, solver) in solvers {
        let case = Case::new(&format!("{problem}solver: {{ tolerance: 1e-9, preconditioner: {solver} }}\n"));
        let cpu = run(&case, "cpu", Command::new(program));
        let gpu = run(&case, "cuda", emulator.command(program));
        assert!(cpu.summary["status"] == "ok" && gpu.summary["status"] == "ok", "{}", gpu.failure);
        let of = |found: &Found, path: &str| found.summary.pointer(path).and_then(Value::as_f64).unwrap();
        let iterations = [&cpu, &gpu].map(|found| of(found, "/linear/iterations"));
        assert!((iterations[0] - iterations[1]).abs() <= 1.0, "{solver}: {iterations:?}");
        // Both residuals are at most 1e-9 of the first, so the errors are larger by the condition number at
        // most.
        for path in ["/error/l2/u", "/error/energy/u", "/integral/u"] {
            let (x, y) = (of(&cpu, path), of(&gpu, path));
            assert!((x - y).abs() <= 1e-6 * x.abs() + 1e-7, "{solver} {path}: {x:e} and {y:e}");
        }
        let lines = [&cpu, &gpu].map(|found| &found.summary["linear"]["linelets"]);
        assert!(lines[0] == lines[1] && lines[0].is_null() == (problem != thin), "{lines:?}");
        assert!(of(&gpu, "/linear/device_bytes") > 0.0 && gpu.summary["device"] == "cuda:0");
        let keys = ["/error", "/integral", "/linear/iterations", "/linear/residual"];
        two_ranks_leave(&gpu, &case, &emulator, &keys);
    }
}

/// A flow with a wall, an inflow, an open boundary and sub-steps.
const INCOMPRESSIBLE: &str = "\
title: A channel
mesh: { generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [2, 2] } }
physics: { model: incompressible, viscosity: 0.05 }
space: { order: 2 }
initial: { u: y*(1 - y), v: 0 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall, velocity: [0.1, 0] }
  xmin: { type: dirichlet, u: y*(1 - y), v: 0.1*sin(t) }
  xmax: { type: outflow }
output: { fields: none, checkpoint: none }
monitors:
  - integral: { fields: [u*u + v*v, p], every_steps: 2 }
  - divergence: { every_steps: 2 }
  - forces: { boundary: ymin, every_steps: 2, reference: { density: 1, length: 1, velocity: 1 } }
";

/// A flow rate through a periodic channel with walls that are not parallel to it, with a viscosity that
/// varies and a closure.
const DRIVEN: &str = "\
title: A driven channel
mesh:
  generate: { shape: quad, cells: [3, 2] }
  periodic: [[xmin, xmax]]
  map: { order: 1, y: y + 0.1*(1 - y)*sin(2*pi*x) }
physics:
  model: incompressible
  viscosity: { constant: 0.5, formula: 0.5 + 0.1*shear/(1 + shear) }
  flow_rate: { mean: 0.1 }
  closure: { smagorinsky: { constant: 3 } }
space: { order: 2 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
output: { fields: none, checkpoint: none }
monitors:
  - flow_rate: { every_steps: 1 }
  - integral: { fields: [u*u + v*v, p*p], every_steps: 2 }
";

#[test]
fn incompressible_flow_on_an_emulated_device_is_that_of_the_cpu() {
    let Some(emulator) = emulator() else { return };
    let program = env!("CARGO_BIN_EXE_dgsuite");
    let lower = INCOMPRESSIBLE.replace("order: 2", "order: 2, pressure_order: lower");
    let lower = lower.replace("cells: [2, 2]", "cells: [2, 7]");
    let heated = INCOMPRESSIBLE
        .replace(
            "viscosity: 0.05 }",
            "viscosity: 0.05, temperature: { diffusivity: { constant: 0.05, formula: 0.05*(1 + T^2) } },
             buoyancy: { gravity: [0, -1] },
             forcing: { u: sin(T + t)/(1 + x), v: \"2*max(T, 0.1)\" } }",
        )
        .replace("v: 0 }", "v: 0, T: y }")
        .replace("v: 0.1*sin(t) }", "v: 0.1*sin(t), T: y }");
    let cases = [
        (heated.as_str(), "{ dt: 0.01, steps: 2 }"),
        (INCOMPRESSIBLE, "{ dt: 0.01, steps: 4 }"),
        (
            INCOMPRESSIBLE,
            "{ dt: 0.01, steps: 2, subcycles: auto, cfl: 0.02, splitting: pressure-correction }",
        ),
        (DRIVEN, "{ dt: 0.05, steps: 2 }"),
        (&lower, "{ dt: 0.01, steps: 2, splitting: pressure-correction }"),
    ];
    for (flow, time) in cases {
        let solver = "solver: { pressure: { tolerance: 1e-11 }, velocity: { tolerance: 1e-11 } }";
        let case = Case::new(&format!("{flow}time: {time}\n{solver}\n"));
        let cpu = run(&case, "cpu", Command::new(program));
        let gpu = run(&case, "cuda", emulator.command(program));
        assert!(
            cpu.summary["status"] == "ok" && gpu.summary["status"] == "ok",
            "{}{}",
            cpu.failure,
            gpu.failure
        );
        same(time, &cpu.summary["time"], &gpu.summary["time"], false);
        let lines = [&cpu, &gpu].map(|found| &found.summary["linear"]["pressure"]["linelets"]);
        assert!(lines[0] == lines[1] && lines[0].is_null() == (flow != lower), "{lines:?}");
        assert_eq!(cpu.summary["time"]["substeps"].is_null(), !time.contains("subcycles"), "{time}");
        assert!(cpu.tables.len() > 3 && cpu.tables.len() == gpu.tables.len(), "{time}");
        for (x, y) in cpu.tables.iter().flatten().zip(gpu.tables.iter().flatten()) {
            assert!((x - y).abs() <= 1e-8 * x.abs() + 1e-8, "{time}: {x:e} and {y:e}");
        }
        two_ranks_leave(&gpu, &case, &emulator, &["/time", "/integral"]);
    }
}

#[test]
fn runs_on_an_emulated_device_are_those_of_the_cpu() {
    let Some(emulator) = emulator() else { return };
    let program = env!("CARGO_BIN_EXE_dgsuite");
    for (name, beginning, rest) in CASES {
        let mut beginning = beginning.to_owned();
        if name == "by error" {
            // Errors are measured in the basis of the device, so both runs use the same basis.
            beginning = beginning.replace("order: 1", "order: 1, basis: nodal");
        } else if name == "newton" {
            // As are residuals. Order one would have no blocks.
            beginning = beginning.replace("order: 1", "order: 2, basis: nodal").replace("[2, 2]", "[2, 1]");
            beginning = beginning.replace("dirichlet, rho: 1, u: y", "dirichlet, rho: a, u: a*y");
            // Formulas of the state: a drag, and a valve at the outlet.
            let valve = "pressure-outlet, p: 1 + 0.2*rho*u*abs(u)";
            beginning = beginning.replace("pressure-outlet, p: 1", valve);
            let drag = "  source: { rho_u: -0.3*u*sqrt(u^2 + v^2) }\nspace:";
            beginning = beginning.replace("space:", drag);
        } else if name == "implicit" {
            // As are errors of stages. What enters depends on time; the form is a split one.
            beginning = beginning.replace("shape: tri", "shape: quad").replace("[2, 2]", "[2, 1]");
            let enters = ["dirichlet, rho: 1 + 0.1*sin(2*pi*x)", "dirichlet, rho: 1 + 0.1*sin(2*pi*(x - t))"];
            beginning = beginning.replace("order: 1", "order: 2, form: split").replace(enters[0], enters[1]);
        }
        let case = Case::new(&format!("{beginning}{rest}"));
        let mut cpu = run(&case, "cpu", Command::new(program));
        let mut gpu = run(&case, "cuda", emulator.command(program));
        let single = name == "single";
        if name == "newton" {
            // Differences over 2e-5 have the rounding errors of forces 50,000 times as large.
            let [a, b] =
                [&mut cpu, &mut gpu].map(|found| found.summary["forces"]["ymin"]["sensitivities"].take());
            for of in ["cd", "cl", "heat"] {
                let [a, b] = [&a, &b].map(|of_run| of_run["a"][of].as_f64().unwrap());
                assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()) && a != 0.0, "d{of}/da: {a} and {b}");
            }
        }
        for key in ["status", "time", "error", "conservation", "integral", "residual", "forces"] {
            same(&format!("{name}: {key}"), &cpu.summary[key], &gpu.summary[key], single);
        }
        if name == "viscous" {
            let again = run(&case, "cuda", emulator.command(program));
            assert!(!gpu.summary["forces"].is_null() && gpu.summary["forces"] == again.summary["forces"]);
            assert_eq!(gpu.tables, again.tables, "the same run has the same bits");
        }
        for count in ["steps", "linear_iterations", "setups"] {
            assert_eq!(cpu.summary["newton"][count], gpu.summary["newton"][count], "{name}: {count}");
        }
        assert_eq!(cpu.tables.len(), gpu.tables.len(), "{name}");
        for (a, b) in cpu.tables.iter().zip(&gpu.tables) {
            for (x, y) in a.iter().zip(b) {
                assert!(near(*x, *y, single), "{name}: {a:?} and {b:?}");
            }
        }
        if name == "failing" {
            // Time, step, element and place; the numbers of a failed state have no meaning.
            let said = |text: &str| {
                let line =
                    text.lines().find(|line| line.contains("no longer")).unwrap_or_default().to_owned();
                line.split("): ").next().unwrap_or_default().to_owned()
            };
            assert!(said(&cpu.failure).contains("in element"), "{}", cpu.failure);
            assert_eq!(said(&cpu.failure), said(&gpu.failure));
        } else {
            assert_eq!(cpu.summary["status"], "ok", "{name}: {}", cpu.failure);
        }
    }
}
