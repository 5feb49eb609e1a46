//! Mesh files: `dgsuite mesh`, and meshes that can be read but are not valid, which are refused with the
//! reason and the place of `mesh.file`.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use serde_json::json;
use support::{Case, WAVE};

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
