//! Curved walls on straight faces: accuracy, given and estimated normals, and what is refused.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{Case, STREAM, number};

/// A bend between two arcs of which the faces are chords, in a steady flow along circles.
const BEND: &str = "\
title: A bend
mesh:
  generate: { shape: tri, min: [0, 0], max: [1, 1], cells: [8, 2] }
  map: { order: 1, x: (1 + 0.384*y)*sin(pi/2*x), y: (1 + 0.384*y)*cos(pi/2*x) }
physics: { model: euler }
space: { order: 2, riemann: roe }
initial: { exact: supersonic-vortex, mach: 2.25 }
boundaries:
  xmin: { type: dirichlet, exact: supersonic-vortex }
  xmax: { type: outflow }
  ymin: { type: curved-slip-wall }
  ymax: { type: curved-slip-wall }
time: { steady: { tolerance: 1e-6, max_steps: 4000, local_steps: true } }
output: { fields: none, checkpoint: none }
monitors:
  - error: { exact: supersonic-vortex, norms: [l2], every_steps: 4000 }
";

fn error(args: &[&str]) -> f64 {
    let set: Vec<&str> = args.iter().flat_map(|&arg| ["--set", arg]).collect();
    number(&Case::new(BEND).run(&set), "/error/l2/rho")
}

#[test]
fn a_flow_along_circles_keeps_its_order_on_straight_faces() {
    let (coarse, fine) = (error(&[]), error(&["mesh.generate.cells=[16, 4]"]));
    assert!(coarse < 2e-3 && coarse / fine > 6.0, "{coarse:e} {fine:e}");
    // With the normals of the faces the corners between them disturb the flow.
    let walls = ["boundaries.ymin.type=slip-wall", "boundaries.ymax.type=slip-wall"];
    let faceted = error(&[&walls[..], &["mesh.generate.cells=[16, 4]"]].concat());
    assert!(faceted > 20.0 * fine, "{faceted:e} {fine:e}");
}

#[test]
fn estimated_normals_of_a_circle_are_the_given_ones() {
    let given = error(&["boundaries.ymin.normal=[x, y]", "boundaries.ymax.normal={x: -2*x, y: -2*y}"]);
    let estimated = error(&[]);
    assert!((given - estimated).abs() < 1e-9 * given, "{given:e} {estimated:e}");
    // The corners between the faces are 11.25 degrees.
    let corners = error(&["boundaries.ymin.corner=11*deg", "boundaries.ymax.corner=11*deg"]);
    assert!(corners > 5.0 * given, "{given:e} {corners:e}");
}

#[test]
fn in_space_normals_are_given() {
    let ball = STREAM
        .replace("shape: tri, min: [0, 0], max: [2, 1], cells: [4, 2]", "shape: tet, cells: [2, 2, 2]")
        .replace("v: 0,", "v: 0, w: 0,")
        .replace("type: slip-wall", "type: curved-slip-wall, normal: [0.2*(x - 0.5), 1, 0.2*(z - 0.5)]")
        .replace("  ymax:", "  zmin: { type: symmetry }\n  zmax: { type: symmetry }\n  ymax:");
    let summary = Case::new(&ball).run(&[]);
    assert_eq!(summary["status"], "ok", "{summary}");
    let unknown = ball.replace(", normal: [0.2*(x - 0.5), 1, 0.2*(z - 0.5)]", "");
    refused(&unknown, &[], &["`boundaries.ymin.normal` is missing", "two dimensions only", "case.yaml:10:"]);
}

fn refused(yaml: &str, set: &[&str], parts: &[&str]) {
    let case = Case::new(yaml);
    let set: Vec<&str> = set.iter().flat_map(|&arg| ["--set", arg]).collect();
    let outcome = case.dgsuite(&[&["check", "case.yaml"], &set[..]].concat());
    assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
    for part in parts {
        assert!(outcome.stderr.contains(part), "no `{part}` in\n{}", outcome.stderr);
    }
}

#[test]
fn walls_that_cannot_work_are_refused() {
    refused(BEND, &["mesh.map.order=2"], &["straight-sided elements; use slip-wall", "case.yaml:"]);
    let far = ["boundaries.ymin.normal=[-y, x]"];
    refused(BEND, &far, &["90 degrees off the normal of the face", "the normal of the wall"]);
    let both = ["boundaries.ymin={type: curved-slip-wall, normal: [x, y], corner: 0.5}"];
    refused(BEND, &both, &["`boundaries.ymin.normal`", "`boundaries.ymin.corner`"]);
    refused(BEND, &["boundaries.ymin.normal=[x, y, 0]"], &["a list of 2 numbers"]);
    refused(BEND, &["boundaries.ymin.corner=4"], &["an angle from 0 to pi"]);
    refused(BEND, &["boundaries.ymin.normal=[0, 0]"], &["boundaries.ymin.normal"]);
    let viscous =
        BEND.replace("model: euler", "model: navier-stokes, gas_constant: 1, viscosity: { constant: 1 }");
    refused(&viscous, &[], &["curved-slip-wall", "use slip-wall on curved elements"]);
}

#[test]
fn points_on_straight_faces_show_no_curve() {
    let case = Case::new(BEND);
    // A quarter of a disc's rim: two quadrilaterals.
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n1 1 \"xmin\"\n1 2 \"xmax\"\n1 3 \"ymin\"\n\
                1 4 \"ymax\"\n$EndPhysicalNames\n$Nodes\n6\n1 0 1 0\n2 0.7071 0.7071 0\n3 1 0 0\n4 0 2 0\n\
                5 1.4142 1.4142 0\n6 2 0 0\n$EndNodes\n$Elements\n8\n1 3 2 5 1 1 2 5 4\n2 3 2 5 1 2 3 6 5\n\
                3 1 2 1 1 1 4\n4 1 2 2 2 3 6\n5 1 2 3 3 1 2\n6 1 2 3 3 2 3\n7 1 2 4 4 4 5\n8 1 2 4 4 5 6\n\
                $EndElements\n";
    std::fs::write(case.path("rim.msh"), mesh).unwrap();
    let start = BEND.find("mesh:").unwrap();
    let end = BEND.find("physics:").unwrap();
    let yaml = format!("{}mesh: {{ file: rim.msh, refine: 1 }}\n{}", &BEND[..start], &BEND[end..]);
    std::fs::write(case.path("case.yaml"), &yaml).unwrap();
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("unrefined faces: mesh.refine puts points"), "{}", outcome.stderr);
    std::fs::write(
        case.path("case.yaml"),
        yaml.replace("curved-slip-wall", "curved-slip-wall, normal: [x, y]"),
    )
    .unwrap();
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains("puts points on the straight faces of the file"), "{said}");
}
