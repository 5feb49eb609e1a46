//! Walls with a model on several ranks: the heights may lie in elements of any rank.

use std::path::PathBuf;

use crate::support::Case;
use crate::{alone, port, same_checkpoint, tables, without_mpi};

/// A wave along the walls of a curved channel in space with layers that are thin at the walls, made of
/// quadrilaterals and triangles. The heights lie in the second and third elements above the walls, and across
/// the periodic ends, where the normals are inclined.
const GAS: &str = "\
title: Waves at walls with a model
mesh:
  generate: { shape: mixed, cells: [5, 6], min: [0, -1], max: [2, 1] }
  map: { order: 2, x: x, y: 'y*(1.5 - 0.5*y^2)*(1 + 0.1*sin(pi*x))' }
  extrude: { length: 0.5, layers: 1 }
  periodic: [[xmin, xmax], [zmin, zmax]]
physics: { model: navier-stokes, viscosity: 1e-4, flow_rate: { mean: 1, direction: [1, 0, 0] } }
space: { order: 2, riemann: roe-low-mach }
initial: { rho: 1, u: 1 + 0.2*sin(pi*x)*y, v: 0.1*sin(pi*x)*(1 - y^2), w: 0.1*sin(4*pi*z), p: 18 }
boundaries:
  ymin: { type: no-slip-wall, model: reichardt, exchange: 0.6, temperature: 17 }
  ymax: { type: no-slip-wall, model: spalding, exchange: 0.25 }
time: { steps: 4 }
output: { fields: none, checkpoint: { every_steps: 2, keep: 3 } }
monitors:
  - forces: { boundary: [ymin, ymax], every_steps: 1, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - wall: { boundary: ymin, every_steps: 3, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - integral: { fields: [rho_u, rho_E], every_steps: 1 }
";

/// The same flow without compressibility.
fn incompressible() -> String {
    let text = GAS.replace("model: navier-stokes", "model: incompressible").replace(", temperature: 17", "");
    let text = text.replace(", riemann: roe-low-mach", "").replace("rho: 1, ", "").replace(", p: 18", "");
    text.replace("time: { steps: 4", "time: { dt: 0.002, steps: 4").replace("[rho_u, rho_E]", "[u, u*u]")
}

/// Runs the case on ranks of a launcher without MPI; whether all of them end well, and what they say.
fn launched(case: &Case, ranks: usize, of: u16, args: &[&str]) -> (bool, String) {
    let mut all = (true, String::new());
    for child in without_mpi(case, ranks, port(of), args) {
        let output = child.wait_with_output().unwrap();
        all.0 &= output.status.success();
        all.1 += &String::from_utf8_lossy(&output.stderr);
    }
    all
}

fn file(case: &Case, results: &str, step: usize) -> PathBuf {
    case.path(results).join(format!("checkpoints/step-{step:08}.dgs"))
}

/// Compares runs on several ranks, and restarts on other numbers of ranks, with a run on one.
fn same_bits(text: &str, of: u16, on: &[usize]) {
    let case = Case::new(text);
    alone(&case, &["--output", "one"]);
    assert_eq!(tables(&case, "one").len(), 4);
    for &ranks in on {
        let results = format!("ranks-{ranks}");
        let (passed, said) = launched(&case, ranks, of, &["--output", &results]);
        assert!(passed, "{ranks} ranks: {said}");
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        same_checkpoint(&file(&case, "one", 4), &file(&case, &results, 4), &format!("{ranks} ranks"));
    }
    let from = file(&case, "ranks-3", 2).display().to_string();
    let (passed, said) = launched(&case, 2, of, &["--restart", &from, "--output", "two"]);
    assert!(passed, "{said}");
    alone(&case, &["--restart", &from, "--output", "again"]);
    for results in ["two", "again"] {
        same_checkpoint(&file(&case, "one", 4), &file(&case, results, 4), &format!("restarted: {results}"));
    }
}

#[test]
fn heights_in_elements_of_other_ranks_have_the_bits_of_one_rank() {
    // Of six ranks, some have no wall, or no places.
    same_bits(GAS, 5, &[2, 3, 6]);
}

#[test]
fn heights_of_incompressible_flow_in_elements_of_other_ranks_have_the_bits_of_one_rank() {
    same_bits(&incompressible(), 6, &[2, 3]);
}

#[test]
fn ranks_refuse_a_height_that_leaves_the_mesh_as_one_rank_does() {
    for (text, of) in [(GAS.to_owned(), 0), (incompressible(), 1)] {
        let case = Case::new(&text);
        let args = ["--set", "boundaries.ymax.exchange=2.5"];
        let whole = case.dgsuite(&[&["run", "case.yaml", "--output", "one"], &args[..]].concat()).stderr;
        let at_most = |text: &str| {
            let (_, rest) = text.split_once("the height can be at most ")?;
            rest.lines().next().map(str::to_owned)
        };
        let largest = at_most(&whole).unwrap();
        assert!(whole.contains("at the height 2.5000 above boundary \"ymax\""), "{whole}");
        let (passed, said) = launched(&case, 3, of, &args);
        assert!(!passed && said.contains("at the height 2.5000 above boundary \"ymax\""), "{said}");
        assert_eq!(at_most(&said), Some(largest), "{said}");
    }
}
