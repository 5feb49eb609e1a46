//! Meshes that can be read but are not valid: refused with the reason and the place of `mesh.file`.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

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
