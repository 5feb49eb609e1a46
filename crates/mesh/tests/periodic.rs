//! Periodic boundaries beyond translations from a file's pairs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, face_kinds};
use dgsuite_mesh::{
    MeshError, Shape,
    generate::Box,
    gmsh::{self, Format, ReadOptions, Version},
};

#[test]
fn rotations_are_found_and_said_to_be_rotations() {
    let mut sector = Box { cells: [3, 4, 2], ..Box::unit(Shape::Hexahedron, 1) }.build().unwrap();
    sector.elevate(3).unwrap();
    sector.map(|[r, a, z]| [(1.0 + r) * a.cos(), (1.0 + r) * a.sin(), z]).unwrap();
    sector.make_periodic("ymin", "ymax").unwrap();
    sector.make_periodic("zmin", "zmax").unwrap();
    check(&sector);
    assert!(!sector.links[0].is_translation());
    assert!(sector.links[1].is_translation());
    let [x, y, z] = sector.links[0].apply([2.0, 0.0, 0.25]);
    let expected = [2.0 * 1.0_f64.cos(), 2.0 * 1.0_f64.sin(), 0.25];
    assert!([x, y, z].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14));
    // A box bent after it was made periodic has a periodic rotation.
    let mut bent = Box { cells: [3, 4, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
    bent.make_periodic("ymin", "ymax").unwrap();
    assert!(bent.links[0].is_translation());
    bent.map(|[r, a, z]| [(1.0 + r) * a.cos(), (1.0 + r) * a.sin(), z]).unwrap();
    check(&bent);
    assert!(!bent.links[0].is_translation());
}

#[test]
fn rotations_are_found_about_every_axis() {
    for axis in 0..3 {
        // The plane of the sector is spanned by the next two axes, so that angles are positive about the
        // axis.
        let turned = |[r, a, h]: [f64; 3]| {
            let mut x = [0.0; 3];
            x[axis] = h;
            x[(axis + 1) % 3] = (1.0 + r) * f64::cos(a);
            x[(axis + 2) % 3] = (1.0 + r) * f64::sin(a);
            x
        };
        for shape in [Shape::Hexahedron, Shape::Tetrahedron] {
            let mut sector = Box { cells: [2, 3, 2], ..Box::unit(shape, 1) }.build().unwrap();
            sector.map(turned).unwrap();
            sector.make_periodic("ymin", "ymax").unwrap();
            check(&sector);
            let [link] = &sector.links[..] else { panic!("{:?}", sector.links) };
            let (found, expected) = (link.apply(turned([0.5, 0.0, 0.25])), turned([0.5, 1.0, 0.25]));
            assert!((0..3).all(|d| (found[d] - expected[d]).abs() < 1e-14), "about axis {axis}: {found:?}");
        }
    }
}

#[test]
fn pairs_called_l_and_r_are_periodic() {
    let mesh = Box::unit(Shape::Quadrilateral, 3).build().unwrap();
    let format = Format { version: Version::V41, binary: false, big_endian: false };
    let text = String::from_utf8(gmsh::to_bytes(&mesh, &format)).unwrap();
    let text = text.replace("\"xmin\"", "\"periodic-x-l\"").replace("\"xmax\"", "\"periodic-x-r\"");
    let text = text.replace("\"ymin\"", "\"periodic_y_l\"").replace("\"ymax\"", "\"periodic_y_r\"");
    let (mesh, _) = gmsh::read_bytes(text.as_bytes(), &ReadOptions::default()).unwrap();
    check(&mesh);
    assert!(mesh.boundary_names().is_empty());
    let (open, _) = gmsh::read_bytes(text.as_bytes(), &ReadOptions { periodic: false }).unwrap();
    assert_eq!(open.boundary_names().len(), 4);
}

/// Two quadrilaterals, one above the other. `left` is periodic with `low` and with `high`, and `ends` with
/// itself.
const SEVERAL: &str = r#"$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
4
1 1 "left"
1 2 "low"
1 3 "high"
1 4 "ends"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 1 3 0
6 0 3 0
$EndNodes
$Elements
8
1 3 2 0 1 1 2 3 4
2 3 2 0 1 4 3 5 6
3 1 2 1 1 1 4
4 1 2 1 2 4 6
5 1 2 2 3 2 3
6 1 2 3 4 3 5
7 1 2 4 5 1 2
8 1 2 4 6 6 5
$EndElements
$Periodic
3
1 3 1
2
2 1
3 4
1 4 2
2
3 4
5 6
1 6 5
2
6 1
5 2
$EndPeriodic
"#;

#[test]
fn a_boundary_may_have_several_partners_and_is_written_so_that_it_can_be_read() {
    let (mesh, _) = gmsh::read_bytes(SEVERAL.as_bytes(), &ReadOptions::default()).unwrap();
    check(&mesh);
    assert!(mesh.boundary_names().is_empty());
    assert_eq!((mesh.links.len(), face_kinds(&mesh)), (3, [1, 3, 0]));
    for version in [Version::V22, Version::V41] {
        for binary in [false, true] {
            let format = Format { version, binary, big_endian: false };
            let bytes = gmsh::to_bytes(&mesh, &format);
            let (again, _) = gmsh::read_bytes(&bytes, &ReadOptions::default()).unwrap();
            assert_eq!(again, mesh, "{format:?}");
        }
    }
    // Joining boundaries again does nothing, whichever partner is named; another partner is refused.
    let mut same = mesh.clone();
    for (first, second) in [("left", "low"), ("high", "left")] {
        same.make_periodic(first, second).unwrap();
    }
    assert_eq!(same, mesh);
    assert!(matches!(same.make_periodic("low", "high"), Err(MeshError::AlreadyPeriodic { .. })));
}

#[test]
fn cutting_gives_the_boundaries_back() {
    for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
        let whole = Box { cells: [3, 2, 2], ..Box::unit(shape, 1) }.build().unwrap();
        let mut mesh = whole.clone();
        mesh.make_periodic("xmax", "xmin").unwrap();
        mesh.make_periodic("ymin", "ymax").unwrap();
        check(&mesh);
        let [inner, periodic, boundary] = face_kinds(&mesh);
        assert_eq!(inner, face_kinds(&whole)[0]);
        assert_eq!(2 * periodic + boundary, face_kinds(&whole)[2]);
        mesh.cut_periodic();
        assert_eq!(mesh, whole, "{shape}");
    }
}
