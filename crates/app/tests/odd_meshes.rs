//! Mesh files: `dgsuite mesh`, extruded meshes, and meshes that can be read but are not valid, which are
//! refused with the reason and the place of `mesh.file`.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use dgsuite_mesh::generate::{Annulus, CylinderInChannel};
use dgsuite_mesh::gmsh::Format;
use dgsuite_mesh::{Mesh, Shape};
use dgsuite_output::writer::Values;
use serde_json::json;
use support::{Case, STREAM, WAVE, number};

/// A square of two triangles in MSH 2.2, with additional elements and with z given by a formula.
fn square(elements: &[&str], z: impl Fn(f64) -> f64) -> String {
    let mut text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 7 \"wall\"\n1 8 \"inlet\"\n\
                    $EndPhysicalNames\n$Nodes\n4\n"
        .to_owned();
    for (i, (x, y)) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].into_iter().enumerate() {
        text += &format!("{} {x} {y} {}\n", i + 1, z(x));
    }
    text += &format!("$EndNodes\n$Elements\n{}\n1 2 2 1 1 1 2 3\n2 2 2 1 1 1 3 4\n", 2 + elements.len());
    for (i, element) in elements.iter().enumerate() {
        text += &format!("{} 1 2 {element}\n", i + 3);
    }
    text + "$EndElements\n"
}

#[test]
fn meshes_that_would_be_changed_without_a_word() {
    let case = Case::new(&WAVE.replace("generate: { shape: quad, cells: [4, 4] }", "file: square.msh"));
    let refused = |parts: &[&str]| {
        for command in ["check", "run"] {
            let outcome = case.dgsuite(&[command, "case.yaml"]);
            assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
            for part in parts {
                assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
            }
        }
        assert!(!case.path("out").exists());
    };
    std::fs::write(case.path("square.msh"), square(&[], |x| 0.1 * x)).unwrap();
    refused(&["square.msh", "its z ranges from 0 to 0.1", "case.yaml:3:9"]);
    let both = ["7 1 1 2", "8 1 1 2", "8 2 2 3", "8 2 3 4", "8 2 4 1"];
    std::fs::write(case.path("square.msh"), square(&both, |_| 0.0)).unwrap();
    let parts =
        ["1 faces belong to both boundaries `wall` and `inlet`", "case.yaml:3:9", "one physical group only"];
    refused(&parts);
}

/// A rectangle of 2 by 1 with a hot wall, in two regions of one triangle each, of which the second is
/// unnamed.
const TWO: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 7 \"hot wall\"\n2 3 \"solid\"\n\
    $EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 2 0 0\n3 2 1 0\n4 0 1 0\n$EndNodes\n\
    $Elements\n3\n1 1 2 7 1 1 2\n12 2 2 3 1 1 2 3\n13 2 2 5 2 1 3 4\n$EndElements\n";

#[test]
fn mesh_info_lists_what_a_file_holds() {
    let case = Case::new(WAVE);
    std::fs::write(case.path("two.msh"), TWO).unwrap();
    let outcome = case.dgsuite(&["mesh", "info", "two.msh"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    // The least angle has the tangent 1/2, so that the scaled Jacobian is 2/√3 · 1/√5.
    for part in [
        "2 (2 tri)",
        "MSH 2.2 text",
        "region      solid (1 elements, area 1)",
        "region      #5 (1 elements, area 1)",
        "hot wall (1 face, length 2), unnamed (3 faces, length 4)",
        "area        2.000000",
        "x from 0 to 2",
        "            0.5 to 0.6            2 ########################################\n",
        "worst       element 12 (tri) at (1.3333, 0.3333): scaled Jacobian 0.5164",
        "warning     3 outer faces are in no physical group",
    ] {
        assert!(outcome.stdout.contains(part), "`{part}` is not in:\n{}", outcome.stdout);
    }
    let outcome = case.dgsuite(&["mesh", "info", "two.msh", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(info["regions"][1], json!({ "name": null, "number": 5, "elements": 1, "volume": 1.0 }));
    assert_eq!(info["boundaries"][0]["number"], 7);
    assert!((info["boundaries"][1]["measure"].as_f64().unwrap() - 4.0).abs() < 1e-14);
    assert_eq!(info["histogram"], json!([0, 0, 0, 0, 0, 2, 0, 0, 0, 0]));
    assert_eq!(info["worst"][1]["element"], 13);
    assert_eq!(info["worst"][1]["region"], 5);
    assert!((info["scaled_jacobian"]["min"].as_f64().unwrap() - 2.0 / 15.0_f64.sqrt()).abs() < 1e-14);
}

/// A ring of 5 layers of 40 quadrilaterals; the two layers inside are thin, and the one beyond them is
/// coupled strongly with them.
#[test]
fn mesh_lines_shows_the_lines_across_thin_layers() {
    let case = Case::new(WAVE);
    let ring =
        "mesh generate annulus shape=quad cells=[5,40] inner=0.5 outer=0.9 growth=2 order=2 -o ring.msh";
    succeeds(&case, ring);
    let told = succeeds(&case, "mesh lines ring.msh");
    for part in [
        "mesh        ring.msh: 200 elements\n",
        "thin        80 with an aspect ratio above 3, at most 6.",
        "smoother    linelets is the default at order 3\n",
        "lines       40 with 120 elements, 3 on average, 3 at most\n                 40 of 3 elements\n",
        "without     0 thin elements in no line\n",
        "cells       ring.lines.vtu\n",
    ] {
        assert!(told.contains(part), "`{part}` is not in:\n{told}");
    }
    for field in ["line", "place", "aspect_ratio", "element_id"] {
        succeeds(&case, &format!("picture ring.lines.vtu --field {field} --mesh -o {field}.png"));
        assert!(case.path(&format!("{field}.png")).exists());
    }
    let cells = dgsuite_output::picture::read(&case.path("ring.lines.vtu")).unwrap();
    let of = |name: &str| -> Vec<f64> {
        let found =
            cells.pieces.iter().flat_map(|piece| piece.cell_data.iter().find(|field| field.name == name));
        found
            .flat_map(|field| match &field.values {
                Values::Real(all) => all.clone(),
                Values::Integer(all) => all.iter().map(|&n| n as f64).collect(),
            })
            .collect()
    };
    let [line, place, ratio] = ["line", "place", "aspect_ratio"].map(of);
    let mut places: Vec<(i64, i64)> = line.iter().zip(&place).map(|(l, p)| (*l as i64, *p as i64)).collect();
    places.sort_unstable();
    let expected = [(-1, -1); 80].into_iter().chain((0..40).flat_map(|l| (0..3).map(move |p| (l, p))));
    assert_eq!(places, expected.collect::<Vec<_>>());
    assert!(line.iter().zip(&ratio).all(|(line, ratio)| *line >= 0.0 || *ratio < 3.0));
    let square = "mesh generate annulus shape=tri cells=[3,36] inner=0.5 outer=0.8 order=2 -o ring.msh";
    succeeds(&case, square);
    let told = succeeds(&case, "mesh lines ring.msh -o none.vtu");
    assert!(told.contains("thin        0 with") && told.contains("lines       none\n"), "{told}");
    refused(&case, "mesh lines ring.msh -o lines.msh", &["lines.msh", ".vtu"]);
    refused(&case, "mesh lines none.msh", &["none.msh"]);
}

/// Runs a command that fails with exit code 2 and a message with these parts.
fn refused(case: &Case, command: &str, parts: &[&str]) {
    let outcome = case.dgsuite(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(outcome.code, 2, "{command}: {}{}", outcome.stdout, outcome.stderr);
    for part in parts {
        assert!(outcome.stderr.contains(part), "{command}: `{part}` is not in:\n{}", outcome.stderr);
    }
}

fn succeeds(case: &Case, command: &str) -> String {
    let outcome = case.dgsuite(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(outcome.code, 0, "{command}: {}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

#[test]
fn generated_files_hold_what_pipelines_generate() {
    let ring = "kind: annulus, shape: quad, cells: [2, 12], inner: 0.5, outer: 2*0.5, growth: 1.5, order: 2";
    let case = Case::new(&format!(
        "mesh: {{ generate: {{ {ring} }} }}\nphysics: {{ model: advection, velocity: [1, 0] }}\n\
         space: {{ order: 1 }}\ninitial: {{ u: 1 }}\ntime: {{ steps: 1 }}\n\
         boundaries: {{ inner: {{ type: dirichlet, u: 1 }}, outer: {{ type: dirichlet, u: 1 }} }}\n"
    ));
    let plan = succeeds(&case, "check case.yaml");
    assert!(plan.contains("generated annulus, 2 layers of 12 cells around"), "{plan}");
    let settings = ring.split_once(", ").unwrap().1.replace(": ", "=").replace("[2, 12]", "[2,12]");
    let command = format!("mesh generate annulus {} -o ring.msh --msh 2.2", settings.replace(", ", " "));
    let printed = succeeds(&case, &command);
    assert!(printed.starts_with("ring.msh: MSH 2.2 binary, 24 quad, geometry of order 2\n"), "{printed}");
    assert!(printed.contains("boundaries  inner (1), outer (2)"), "{printed}");
    let (shape, centre) = (Shape::Quadrilateral, [0.0; 2]);
    let built = Annulus { shape, centre, inner: 0.5, outer: 1.0, cells: [2, 12], growth: 1.5, order: 2 };
    assert_eq!(Mesh::read(case.path("ring.msh")).unwrap(), built.build().unwrap());

    let channel = "mesh generate channel-cylinder shape=quad cells=[4,32] growth=1.3 -o dfg.msh";
    succeeds(&case, channel);
    assert_eq!(Mesh::read(case.path("dfg.msh")).unwrap(), CylinderInChannel::dfg().build().unwrap());
    let boxed = "mesh generate box shape=prism cells=[2,1,1] periodic=[[ymin,ymax]] refine=1 scale=2 map.order=2 \
                 map.z=z+0.1*x^2 -o box.msh";
    assert!(succeeds(&case, boxed).contains("periodic    ymin - ymax"));
    let mesh = Mesh::read(case.path("box.msh")).unwrap();
    assert_eq!((mesh.n_elements(), mesh.max_order(), mesh.links.len()), (32, 2, 1));
    assert!(mesh.bounding_box()[1].iter().zip([2.0, 2.0, 2.4]).all(|(x, y)| (x - y).abs() < 1e-15));
}

#[test]
fn impossible_meshes_are_refused_with_a_hint() {
    let case = Case::new(WAVE);
    let annulus = "mesh generate annulus shape=quad cells=[2,12] -o a.msh";
    for (command, parts) in [
        ("mesh generate anulus -o a.msh", &["kind=anulus", "`annulus`", "channel-cylinder"][..]),
        (annulus, &["mesh.generate.inner"]),
        (
            &format!("{annulus} inner=1 outer=0.5"),
            &["`outer` is 0.5, where a number above `inner`, 1, is needed", "| outer=0.5"],
        ),
        (&format!("{annulus} inner=1 outer=2 radius=3"), &["radius=3", "the kind channel-cylinder"]),
        (&format!("{annulus} inner=1 outer=2 order=5"), &["from 1 to 4"]),
        (&format!("{annulus} inner=1 outer=2 sides=4"), &["unknown key `sides`", "centre"]),
        (&format!("{annulus} inner"), &["`inner` is not of the form KEY=VALUE"]),
        ("mesh generate annulus shape=hex cells=[2,12] -o a.msh", &["shape=hex", "tri or quad"]),
        ("mesh generate box shape=quad cells=[2,2] radius=1 -o a.msh", &["radius", "channel-cylinder"]),
        ("mesh generate channel-cylinder shape=tri cells=[2,9] -o a.msh", &["a multiple of 4"]),
        ("mesh generate box shape=quad cells=[2,2] -o a.stl", &["a.stl", ".msh (Gmsh) or .vtu"]),
        ("mesh generate box shape=quad cells=[2,2] -o a.vtu --text", &["--text", "belong to Gmsh files"]),
        ("mesh info case.yaml --vtu case.yaml", &["case.yaml cannot be written", "ends in .vtu"]),
        ("mesh convert case.yaml a.msh", &["case.yaml: not a Gmsh mesh"]),
        ("mesh convert none.msh a.msh", &["none.msh: there is no such mesh file"]),
    ] {
        refused(&case, command, parts);
        assert!(!case.path("a.msh").exists());
    }
    let mut mesh = CylinderInChannel::dfg().build().unwrap();
    mesh.sets[0].tags[7] = 1 << 32;
    mesh.write(case.path("far.msh"), &Format::default()).unwrap();
    refused(&case, "mesh convert far.msh a.msh --msh 2.2", &["4294967", "hint: write MSH 4.1"]);
}

#[test]
fn converted_files_keep_groups_curves_and_pairs() {
    let case = Case::new(WAVE);
    let meshes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/meshes");
    for (file, line) in [
        ("sector-tri.msh", "periodic"),
        ("blocks-pyramid-o2.msh", "free (8)"),
        ("square-tri-22-binary.msh", "regions"),
    ] {
        let file = format!("{meshes}/{file}");
        let printed = succeeds(&case, &format!("mesh convert {file} a.msh --text"));
        assert!(printed.contains("MSH 4.1 text") && printed.contains(line), "{printed}");
        succeeds(&case, "mesh convert a.msh b.msh --msh 2.2");
        succeeds(&case, "mesh convert b.msh b.msh --msh 2.2 --text");
        assert_eq!(Mesh::read(case.path("b.msh")).unwrap(), Mesh::read(file).unwrap());
    }
}

/// A flow around a hole between two walls, and its distance from another state.
const RING: &str = "\
title: A ring
mesh: { generate: { kind: annulus, shape: quad, cells: [1, 12], inner: 1, outer: 1.384, order: 2 } }
physics: { model: euler }
space: { order: 1, riemann: roe, cubature: { volume: 6, face: 6 } }
initial: { exact: { rho: 1 + 0.1*x, u: 2*y/(x^2 + y^2), v: -2*x/(x^2 + y^2), p: 1 + 0.2*(x^2 + y^2) } }
boundaries:
  inner: { type: slip-wall }
  outer: { type: slip-wall }
time: { scheme: rk4, dt: 0.01, steps: 10 }
output: { fields: none, checkpoint: none }
monitors: [ { error: { exact: { rho: 1, u: y, v: -x, p: 1 }, norms: [l2, linf], every_steps: 10 } } ]
";

#[test]
fn an_extruded_flow_is_that_of_the_plane() {
    for shape in ["quad", "tri"] {
        let ring = RING.replace("quad", shape);
        let plane = Case::new(&ring).run(&[]);
        let case = Case::new(&ring);
        // The plane is scaled before: a length of 0.3 stays.
        let extrude = "mesh.extrude={length: 0.3, layers: 2, start: -1}";
        let small = ["mesh.scale=2", "mesh.generate.inner=0.5", "mesh.generate.outer=0.692"];
        let still = ["initial.exact.w=0", "monitors.0.error.exact.w=0"];
        let set: Vec<&str> =
            [&[extrude][..], &small, &still].concat().iter().flat_map(|&s| ["--set", s]).collect();
        let space = case.run(&set);
        for unknown in ["rho", "rho_u", "rho_v", "rho_E"] {
            let error = |summary| number(summary, &format!("/error/l2/{unknown}"));
            let expected = error(&plane) * 0.3_f64.sqrt();
            assert!((error(&space) - expected).abs() < 1e-10 * expected, "{shape} {unknown}");
        }
        assert!(number(&space, "/error/linf/rho_w") < 1e-13, "{space}");
        assert_eq!(space["mesh"]["faces"].as_u64().unwrap() % 2, 0);
        let resolved = std::fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
        assert!(resolved.contains("periodic: true"), "{resolved}");
        let plan = case.dgsuite(&[&["check", "case.yaml"][..], &set].concat());
        let line = "extruded from z = -1 to -0.7 over 2 layers: ";
        assert!(plan.stdout.contains(line) && plan.stdout.contains("periodic zmin-zmax"), "{}", plan.stdout);
    }
}

#[test]
fn a_uniform_flow_crosses_an_extruded_curved_mesh_of_two_shapes_unchanged() {
    let state = "rho: 1, u: 0.5, v: 0.2, w: -0.3, p: 1";
    let file = STREAM
        .replace("shape: tri,", "shape: tri+quad,")
        .replace("\nphysics", "\n  extrude: { length: 0.8, layers: 1, periodic: false }\n  refine: 1\n  \
                  map: { order: 2, x: x + 0.05*sin(3*y + 2*z), y: y + 0.05*cos(2*x), z: z + 0.04*sin(2*x*y) }\nphysics")
        .replace("rho: 1, u: 0.5, v: 0, p: 1", state)
        .replace("{ type: outflow }", &format!("{{ type: far-field, {state} }}"))
        .replace("{ type: slip-wall }", "{ type: outflow }")
        .replace("{ type: symmetry }", &format!("{{ type: dirichlet, {state} }}\n  zmin: {{ type: far-field, {state} }}\n  zmax: {{ type: dirichlet, {state} }}"))
        .replace("{ end: 0.05 }", "{ steps: 3 }");
    let exact = "monitors: [ { error: { exact: { rho: 1, u: 0.5, v: 0.2, w: -0.3, p: 1 }, norms: [linf], every_steps: 3 } } ]\n";
    let summary = Case::new(&format!("{file}{exact}")).run(&[]);
    assert_eq!(summary["mesh"]["elements"], json!({ "hex": 32, "prism": 64 }));
    for unknown in ["rho", "rho_u", "rho_w", "rho_E"] {
        assert!(number(&summary, &format!("/error/linf/{unknown}")) < 1e-13, "{summary}");
    }
}

#[test]
fn what_cannot_be_extruded_is_refused_at_its_place() {
    let refused = |set: &[&str], parts: &[&str]| {
        let case = Case::new(&STREAM.replace("\nphysics", "\n  extrude: { length: 1, layers: 2 }\nphysics"));
        let set: Vec<&str> = set.iter().flat_map(|&s| ["--set", s]).collect();
        let outcome = case.dgsuite(&[&["check", "case.yaml"][..], &set].concat());
        assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
    };
    let solid = "mesh.generate={shape: hex, cells: [2, 2, 2]}";
    refused(&[solid], &["the mesh already has 3 dimensions", "case.yaml:4:12", "remove `mesh.extrude`, or"]);
    refused(&["mesh.extrude={layers: 2}"], &["`mesh.extrude.length` is missing"]);
    refused(&["mesh.extrude={length: 1}"], &["`mesh.extrude.layers` is missing"]);
    refused(&["mesh.extrude.length=0"], &["`mesh.extrude.length` is 0, but must be greater than 0"]);
    refused(&["mesh.extrude.layers=0"], &["`mesh.extrude.layers`", "must be from 1"]);
    refused(&["mesh.extrude.layers=1e9"], &["`mesh.extrude.layers`", "from 1 to 10000000"]);
    refused(&["mesh.extrude.start=1e20"], &["cannot be extruded from z = 1", "case.yaml:4:12"]);
    refused(&["mesh.extrude.layers=1e7", "mesh.refine=3"], &["elements", "mesh.refine"]);
    let end = "boundaries.zmin.type=slip-wall";
    refused(&[end], &["`zmin` is periodic and can have no condition", "`mesh.extrude.periodic: false`"]);
    refused(&["mesh.extrude.periodic=false"], &["no condition is given for", "`zmin`"]);

    let case = Case::new(&WAVE.replace(
        "generate: { shape: quad, cells: [4, 4] }",
        "file: a.msh\n  extrude: { length: 1, layers: 1 }",
    ));
    std::fs::write(case.path("a.msh"), square(&["7 1 1 2"], |_| 0.0).replace("wall", "zmax")).unwrap();
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
    for part in ["already has a boundary `zmax`", "case.yaml:4:12", "another name in the mesh file"] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
}

#[test]
fn generated_meshes_are_written_extruded() {
    let case = Case::new("");
    let command = "mesh generate annulus shape=tri cells=[1,8] inner=1 outer=2 order=2 extrude.length=0.5 extrude.layers=3 -o tube.msh";
    let outcome = case.dgsuite(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let mesh = Mesh::read(case.path("tube.msh")).unwrap();
    assert_eq!((mesh.sets[0].shape, mesh.n_elements(), mesh.max_order()), (Shape::Prism, 48, 2));
    assert_eq!(mesh.boundary_names(), ["inner", "outer"]);
    let plane = Annulus {
        shape: Shape::Triangle,
        centre: [0.0; 2],
        inner: 1.0,
        outer: 2.0,
        cells: [1, 8],
        growth: 1.0,
        order: 2,
    };
    let area: f64 = plane.build().unwrap().volumes().iter().sum();
    assert!((mesh.volumes().iter().sum::<f64>() - 0.5 * area).abs() < 1e-12);
}
