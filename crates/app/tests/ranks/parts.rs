//! Rank 0 alone reads the mesh: the other ranks run without its file, and leave the same results.

use std::path::Path;
use std::process::Command;

use dgsuite_mesh::{Shape, SpaceFillingCurve, generate::Box as Square, gmsh::Format};

use crate::support::Case;
use crate::{alone, launched_by, port, same_checkpoint, tables, vtk_finds_the_same};

/// A bend between two arcs of which the faces are chords. All of this needs the whole mesh: the normals of
/// the walls, the places of the monitors' points, the stiffness of the source, the names of boundaries.
const BEND: &str = "\
title: A bend
mesh: { file: bend.msh }
physics: { model: euler, source: { rho_u: -40*x*u } }
space: { order: 2, riemann: roe, shock: entropy-filter }
initial: { exact: supersonic-vortex, mach: 2.25 }
boundaries:
  xmin: { type: dirichlet, exact: supersonic-vortex }
  xmax: { type: outflow }
  ymin: { type: curved-slip-wall }
  ymax: { type: curved-slip-wall }
time: { steps: 6 }
output:
  fields: { names: [Density, Sensor, Filter] }
  surfaces: { boundaries: [ymin], names: [Pressure] }
monitors:
  - residual: { every_steps: 2 }
  - limited: { every_steps: 2 }
  - probe: { points: [[0.1, 1.1], [1.1, 0.1]], fields: [rho, Mach], every_steps: 2 }
  - sample: { line: { from: [0.6, 0.6], to: [1.2, 1.2], points: 20 }, fields: [p], every_steps: 3 }
  - recirculation: { from: [0.5, 0.9], to: [0.9, 0.9], every_steps: 3 }
  - forces: { boundary: ymin, every_steps: 3, reference: { density: 1, length: 1, velocity: 1 } }
";

fn write_mesh(file: &Path) {
    let mut mesh = Square { cells: [16, 4, 1], ..Square::unit(Shape::Triangle, 1) }.build().unwrap();
    let arc = |x: f64, y: f64| [(1.0 + 0.384 * y) * x.sin(), (1.0 + 0.384 * y) * x.cos(), 0.0];
    // The cells are smallest where the source is weakest.
    mesh.map(|[x, y, _]| arc(std::f64::consts::FRAC_PI_2 * x * (0.4 + 0.6 * x), y)).unwrap();
    mesh.renumber(SpaceFillingCurve::Hilbert);
    mesh.write(file, &Format::default()).unwrap();
}

/// Runs the case on ranks of which rank 0 works in the directory of one case, and the others in that of
/// another; returns what each of them prints.
fn on_ranks(first: &Case, others: &Case, ranks: usize, of: u16, results: &str) -> Vec<(bool, String)> {
    let directory = |rank: usize| if rank == 0 { first.directory.path() } else { others.directory.path() };
    let results = first.path(results);
    let args = ["--output", results.to_str().unwrap()];
    let program = || Command::new(env!("CARGO_BIN_EXE_dgsuite"));
    let children = launched_by(program, directory, ranks, port(of), &args);
    let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
    ended.map(|end| (end.status.success(), String::from_utf8_lossy(&end.stderr).into_owned())).collect()
}

#[test]
fn ranks_run_without_the_file_of_the_mesh_that_rank_0_reads() {
    let (case, without) = (Case::new(BEND), Case::new(BEND));
    write_mesh(&case.path("bend.msh"));
    let whole = alone(&case, &["--output", "one"]);
    for (ranks, of) in [(2, 4), (5, 5)] {
        let results = format!("ranks-{ranks}");
        for (success, text) in on_ranks(&case, &without, ranks, of, &results) {
            assert!(success, "{text}");
        }
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        let summary = case.summary(&results);
        for key in ["mesh", "space", "residual", "limited", "probe", "recirculation", "forces", "time"] {
            assert!(summary[key] == whole[key] && !whole[key].is_null(), "{key} on {ranks} ranks");
        }
        let file = |results: &str| case.path(results).join("checkpoints/step-00000006.dgs");
        same_checkpoint(&file("one"), &file(&results), &results);
        let fields =
            |results: &str, end: &str| case.path(results).join("fields/fields_000001").with_extension(end);
        vtk_finds_the_same(&fields("one", "vtu"), &fields(&results, "pvtu"));
        let surface =
            |results: &str| std::fs::read(case.path(results).join("surfaces/surfaces_000001.vtu")).unwrap();
        assert!(surface("one") == surface(&results), "the fields on a boundary of {ranks} ranks");
    }
    // Where rank 0 has no file, it says so for all.
    let ended = on_ranks(&without, &case, 2, 6, "none");
    assert!(ended.iter().all(|(success, _)| !success), "{ended:?}");
    let told: Vec<usize> = ended.iter().map(|(_, text)| text.matches("bend.msh").count().min(1)).collect();
    assert_eq!(told, [1, 0], "{ended:?}");
}
