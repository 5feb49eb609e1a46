//! A gas whose flow rate is prescribed, from the command line. Incompressible flow: `incompressible.rs`.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use serde_json::Value;
use std::fs;
use support::{Case, number};

/// A channel of half height 1 at Mach 0.1, whose walls have the temperature of the gas. The profile is that
/// of Poiseuille flow with its friction, `u = 3/2 U (1 − y²)`, force per mass `3 ν U`.
const CHANNEL: &str = "\
title: A driven channel of gas
mesh: { generate: { shape: tri, cells: [2, 2], min: [0, -1], max: [1, 1] }, periodic: [[xmin, xmax]] }
physics: { model: navier-stokes, viscosity: 0.5, flow_rate: { mean: 0.1 } }
space: { order: 3 }
initial: { rho: 1, u: 0.1, v: 0, p: 1/1.4 }
boundaries:
  ymin: { type: no-slip-wall, temperature: 1/1.4 }
  ymax: { type: no-slip-wall, temperature: 1/1.4 }
time: { end: 4 }
output: { fields: none }
monitors:
  - flow_rate: { every_steps: 1 }
  - integral: { fields: [rho_E, u*y^2], every_steps: 1 }
";

/// The means of the table, which has a row for each step.
fn means(case: &Case) -> Vec<f64> {
    case.table("out/case/monitors/flow_rate.csv").iter().map(|row| row[2]).collect()
}

#[test]
fn a_gas_in_a_channel_has_the_force_of_poiseuille_and_its_flow_rate_in_each_step() {
    let case = Case::new(CHANNEL);
    let summary = case.run(&[]);
    let force = number(&summary, "/flow_rate/force");
    assert!((force - 0.15).abs() < 1e-3, "{force}");
    // ∫ u y² over a length of 1 is 2 U/5.
    let moment = number(&summary, "/integral/u*y^2");
    assert!((moment - 0.04).abs() < 1e-4, "{moment}");
    let means = means(&case);
    assert!(means.len() > 100 && means.iter().all(|mean| (mean - 0.1).abs() < 1e-15), "{means:?}");
    // What the force gives is in the balance of momentum and energy.
    for variable in ["rho", "rho_u", "rho_v", "rho_E"] {
        let defect = number(&summary, &format!("/conservation/{variable}"));
        assert!(defect < 1e-12, "{variable}: {defect:e}");
    }
}

#[test]
fn balanced_heat_keeps_the_energy_between_adiabatic_walls() {
    let insulated = CHANNEL.replace(", temperature: 1/1.4", "");
    let case = Case::new(&insulated.replace("mean: 0.1", "mean: 0.1, heat: balanced"));
    let energies = |case: &Case| {
        let table = case.table("out/case/monitors/integral.csv");
        table.iter().map(|row| row[2]).collect::<Vec<_>>()
    };
    let summary = case.run(&[]);
    let kept = energies(&case);
    let moved = kept.iter().map(|e| (e - kept[0]).abs()).fold(0.0, f64::max);
    assert!(kept.len() > 100 && moved < 1e-12, "{moved:e}");
    assert!(number(&summary, "/conservation/rho_E") < 1e-12);
    // Friction turns the work of the force to heat: 3 ν U² in each unit of time and mass, more at the start.
    let warm = Case::new(&insulated);
    let outcome = warm.dgsuite(&["run", "case.yaml", "--set", "time.end=2"]);
    let said = outcome.stderr + &outcome.stdout;
    assert!(outcome.code == 0 && said.contains("no boundary takes up the heat of friction"), "{said}");
    let energies = energies(&warm);
    let gained = energies.last().unwrap() - energies[0];
    assert!((0.06..0.066).contains(&gained), "{gained}");
}

#[test]
fn a_driven_gas_continues_bit_by_bit() {
    let numbers = |time: &str, threads: &str| {
        let yaml = CHANNEL.replace("time: { end: 4 }", time);
        let set = ["--set", threads];
        let case = Case::new(&yaml);
        case.run(&[&set[..], &["--set", "time.end=0.05"]].concat());
        let more = case.run(&[&set[..], &["--set", "time.end=0.1", "--restart", "latest"]].concat());
        let straight = Case::new(&yaml);
        let other = straight.run(
            &[&set[..], &["--set", "time.end=0.1", "--set", "output.checkpoint={ every: 0.05 }"]].concat(),
        );
        assert_eq!(more["flow_rate"], other["flow_rate"]);
        assert_eq!(more["conservation"], other["conservation"]);
        let newest = |case: &Case, summary: &Value| {
            let step = number(summary, "/time/steps");
            fs::read(case.path(&format!("out/case/checkpoints/step-{step:08}.dgs"))).unwrap()
        };
        let (first, second) = (newest(&case, &more), newest(&straight, &other));
        assert!(first == second, "{time}: the states differ");
        assert!(means(&straight).iter().all(|mean| (mean - 0.1).abs() < 1e-15));
        first
    };
    for time in ["time: { end: 1 }", "time: { adaptive: { tolerance: 1e-6 }, end: 1 }"] {
        assert!(numbers(time, "threads=1") == numbers(time, "threads=2"), "{time}: threads");
    }
}

#[test]
fn what_does_not_go_together_with_a_flow_rate_is_refused() {
    let case = Case::new(CHANNEL);
    for (set, said) in [
        ("time={ steady: { tolerance: 1e-8 } }", "the force of a flow rate belongs to steps in time"),
        ("time={ scheme: esdirk32, dt: 0.1, end: 1 }", "the force acts between the steps"),
        ("physics.flow_rate={ mean: 1, direction: [0, 1] }", "the mesh has no period along the flow"),
        ("physics.flow_rate={ mean: 1, direction: [0, 0] }", "a vector that is not zero"),
        ("physics.flow_rate={ direction: [1, 0] }", "`physics.flow_rate.mean` is missing"),
        ("physics.flow_rate={ mean: 1, heat: cold }", "free, balanced"),
    ] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{set}: {}", outcome.stderr);
    }
}

/// The means along a line across the channel, and the fluctuations of a wave along it.
#[test]
fn profiles_have_the_means_stresses_and_wall_units_of_the_flow() {
    let monitor = "  - profile: { line: { from: [0, -1], to: [0, 1], points: 5 }, over: [x], wall: ymin, \
                   every_steps: 5, from: 3.9 }\n";
    let case = Case::new(&(CHANNEL.to_owned() + monitor));
    let summary = case.run(&[]);
    let names =
        ["s", "x", "y", "u", "v", "uu", "vv", "uv", "error of u", "error of v", "s+", "u+", "v+", "uu+"];
    let text = fs::read_to_string(case.path("out/case/monitors/profile-mean.csv")).unwrap();
    assert!(text.starts_with(&names.join(",")), "{text}");
    let rows = case.table("out/case/monitors/profile-mean.csv");
    // u = 3/2 U (1 − y²), u_τ² = 3 ν U, at an exact number of rows.
    let [u_tau, nu] = ["/profile/u_tau", "/profile/nu"].map(|path| number(&summary, path));
    assert!((u_tau - 0.15_f64.sqrt()).abs() < 3e-3 && (nu - 0.5).abs() < 5e-3, "{u_tau} {nu}");
    assert!((number(&summary, "/profile/u/max") - 0.15).abs() < 1e-4);
    assert_eq!(rows.len(), 5);
    for row in &rows {
        let expected = 0.15 * (1.0 - row[2] * row[2]);
        assert!((row[3] - expected).abs() < 1e-4 && row[5].abs() < 1e-10, "{row:?}");
        let in_wall_units = [row[0] * u_tau / nu, row[3] / u_tau, row[5] / (u_tau * u_tau)];
        let found = [row[10], row[11], row[13]];
        assert!(found.iter().zip(in_wall_units).all(|(a, b)| (a - b).abs() < 1e-9), "{row:?}");
    }
    assert!(case.path("out/case/monitors/profile-mean.svg").exists());

    let wave = CHANNEL.replace("u: 0.1, v: 0", "u: 0.1 + 0.01*sin(2*pi*x), v: 0.02*sin(2*pi*x)");
    let wave = wave
        .replace("cells: [2, 2]", "cells: [4, 2]")
        .replace("time: { end: 4 }", "time: { dt: 1e-9, steps: 1 }");
    let case = Case::new(&(wave + &monitor.replace(", from: 3.9", "").replace("wall: ymin, ", "")));
    case.run(&["--set", "space.order=6"]);
    for row in case.table("out/case/monitors/profile-mean.csv") {
        for (k, expected) in [(3, 0.1), (4, 0.0), (5, 5e-5), (6, 2e-4), (7, 1e-4)] {
            assert!(
                (row[k] - expected).abs() < 1e-5 * (1.0 + 100.0 * expected) && row.len() == 10,
                "{k}: {row:?}"
            );
        }
    }
    for (set, said) in [
        (
            "monitors=[{ profile: { line: { from: [0, 0], to: [0, 1] }, over: [y] } }]",
            "opposite sides of the mesh",
        ),
        ("monitors=[{ profile: { line: { from: [0, 0], to: [0, 1] }, over: [x, x] } }]", "twice"),
        ("monitors=[{ profile: { line: { from: [0, 0], to: [0, 1] }, over: [x], wall: floor } }]", "ymin"),
        ("monitors=[{ profile: { over: [x] } }]", "the ends of a line"),
        ("monitors=[{ profile: { line: { from: [0, 0], to: [0, 1] } } }]", "homogeneous directions"),
    ] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{set}: {}", outcome.stderr);
    }
}
