//! Incompressible flow on several ranks leaves the files of one rank, and continues on any number of them.

use crate::support::Case;
use crate::{alone, on_ranks, same_checkpoint, tables, told_once};

/// A channel with a step between walls, an inflow and an open end, thin cells at a wall, and every monitor.
const CHANNEL: &str = "\
title: A channel with thin cells
mesh:
  generate: { shape: tri+quad, max: [3, 1], cells: [8, 6] }
  map: { order: 1, x: x, y: 0.05*y + 0.95*y^3 }
physics: { model: incompressible, viscosity: 0.02 }
space: { order: 3 }
initial: { u: y*(2 - y), v: 0.02*sin(3*x)*y }
boundaries:
  xmin: { type: dirichlet, u: y*(2 - y), v: 0 }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall }
  ymax: { type: symmetry }
time: { dt: 0.01, steps: 6 }
output:
  fields: { every_steps: 3, names: [Velocity, Pressure, Vorticity] }
  averages: { every_steps: 2 }
  checkpoint: { every_steps: 3, keep: 3 }
monitors:
  - residual: { every_steps: 2 }
  - integral: { fields: [u*u + v*v, p, Vorticity], every_steps: 2 }
  - probe: { points: [[0.4, 0.3], [2.9, 0.9]], fields: [u, p, Vorticity], every_steps: 2 }
  - probe: { points: [[0.4, 0.3], [2.9, 0.9]], fields: [u, p, Vorticity], every: 0.0137 }
  - sample: { line: { from: [0.1, 0], to: [2.9, 1], points: 9 }, fields: [u, p], every: 0.0137 }
  - forces: { boundary: ymin, every_steps: 2, reference: { density: 1, length: 1, velocity: 1 } }
";

/// The same with other parts of a step.
fn variants() -> Vec<(&'static str, String)> {
    let with = |more: &str| CHANNEL.replace("time: { dt: 0.01, steps: 6 }", more);
    let scalars = CHANNEL
        .replace(
            "viscosity: 0.02 }",
            "viscosity: 0.02, temperature: { diffusivity: { constant: 0.03, formula: 0.03 + 0.01*T } },
             buoyancy: { gravity: [0, -2] },
             forcing: { v: T*sin(x + t) }, closure: { smagorinsky: { length: delta + 0.01*y } } }",
        )
        .replace("p, Vorticity]", "p, Vorticity, EddyViscosity, filter_width]")
        .replace("y*(2 - y), v: 0 }", "y*(2 - y), v: 0, T: y }")
        .replace("sin(3*x)*y }", "sin(3*x)*y, T: y }")
        .replace("ymin: { type: no-slip-wall }", "ymin: { type: no-slip-wall, transfer: 0.5, ambient: 2 }")
        .replace("fields: [u, p]", "fields: [u, p, T]");
    let corrected = with("time: { scheme: bdf2, splitting: pressure-correction, dt: 0.01, steps: 6 }");
    let substeps = with("time: { dt: 0.01, steps: 6, subcycles: 2 }");
    // The levels of multigrid end with the pressure's own order.
    let lower = corrected.replace("order: 3", "order: 2, pressure_order: lower");
    vec![
        ("dual splitting, a temperature and a closure", scalars),
        ("pressure correction", corrected),
        ("sub-steps", substeps),
        ("a pressure of order 1", lower),
    ]
}

#[test]
fn a_channel_on_ranks_leaves_the_files_of_one_and_continues_on_any_number() {
    for (name, text) in variants() {
        let case = Case::new(&text);
        let whole = alone(&case, &["--output", "one"]);
        let file =
            |results: &str, step: usize| case.path(results).join(format!("checkpoints/step-{step:08}.dgs"));
        for ranks in [2, 3] {
            let results = format!("ranks-{ranks}");
            let Some(output) = on_ranks(&case, ranks, &["--output", &results, "--set", "threads=1"]) else {
                return;
            };
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(tables(&case, &results), tables(&case, "one"), "{name}: {ranks} ranks");
            let summary = case.summary(&results);
            assert_eq!(summary["ranks"], ranks);
            for key in ["residual", "integral", "probe", "forces", "time", "space", "mesh"] {
                assert!(summary[key] == whole[key] && !whole[key].is_null(), "{name}: {key}");
            }
            for step in [3, 6] {
                same_checkpoint(&file("one", step), &file(&results, step), &format!("{name}: {ranks} ranks"));
            }
        }
        // From three ranks on two, and on one.
        let from = file("ranks-3", 3).display().to_string();
        let Some(output) = on_ranks(&case, 2, &["--restart", &from, "--output", "two", "--set", "threads=1"])
        else {
            return;
        };
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        alone(&case, &["--restart", &from, "--output", "three"]);
        for results in ["two", "three"] {
            same_checkpoint(&file("one", 6), &file(results, 6), &format!("{name}, restarted: {results}"));
        }
    }
}

/// Curved cells in space between walls, driven by a force that keeps the flow rate.
const DUCT: &str = "\
title: A bent duct
mesh:
  generate: { shape: hex+prism, cells: [4, 3, 3] }
  map: { order: 2, x: x, y: y + 0.05*sin(6.283185307179586*x)*y*(1 - y), z: z }
  periodic: [[xmin, xmax]]
physics: { model: incompressible, viscosity: 0.05, flow_rate: { direction: [1, 0, 0], mean: 1 } }
space: { order: 2 }
initial: { u: 1, v: 0, w: 0 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
  zmin: { type: no-slip-wall }
  zmax: { type: symmetry }
time: { dt: 0.005, steps: 3 }
output: { fields: none }
monitors:
  - flow_rate: { every_steps: 1 }
  - integral: { fields: [u*u + v*v + w*w], every_steps: 1 }
";

#[test]
fn a_driven_duct_of_curved_cells_on_ranks_leaves_the_files_of_one() {
    let case = Case::new(DUCT);
    let whole = alone(&case, &["--output", "one"]);
    for ranks in [2, 4] {
        let results = format!("ranks-{ranks}");
        let Some(output) = on_ranks(&case, ranks, &["--output", &results, "--set", "threads=1"]) else {
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        assert_eq!(case.summary(&results)["integral"], whole["integral"]);
        let file = |results: &str| case.path(results).join("checkpoints/step-00000003.dgs");
        same_checkpoint(&file("one"), &file(&results), &format!("{ranks} ranks"));
    }
}

#[test]
fn failures_of_incompressible_flow_on_ranks_are_told_once() {
    // Walls of which more comes in than goes out; the ranks see different walls.
    let blowing = CHANNEL
        .replace("xmax: { type: outflow }", "xmax: { type: no-slip-wall }")
        .replace("ymax: { type: symmetry }", "ymax: { type: no-slip-wall }");
    if told_once(&blowing, "error[").is_none() {
        return;
    }
    told_once(&CHANNEL.replace("dt: 0.01, steps: 6", "dt: 10, steps: 60"), "error[");
    told_once(&CHANNEL.replace("cells: [8, 6]", "cells: [1, 6]"), "lines of thin elements are not cut");
}
