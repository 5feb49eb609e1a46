//! Periodic boundaries beyond plain translations of a file's pairs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, face_kinds};
use dgsuite_mesh::{
    Shape,
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
    // A box bent after it was made periodic is periodic by rotation then.
    let mut bent = Box { cells: [3, 4, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
    bent.make_periodic("ymin", "ymax").unwrap();
    assert!(bent.links[0].is_translation());
    bent.map(|[r, a, z]| [(1.0 + r) * a.cos(), (1.0 + r) * a.sin(), z]).unwrap();
    check(&bent);
    assert!(!bent.links[0].is_translation());
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
