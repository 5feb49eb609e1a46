//! Files written by Gmsh 4.15: names, counts, periodicity, node order, every variant of the format.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use std::f64::consts::PI;

use checks::{check, data, euler_characteristic, face_kinds, faces_on, volume};
use dgsuite_basis::{LagrangeBasis, lattice::lattice};
use dgsuite_mesh::{
    Mesh, MeshError, Shape,
    gmsh::{self, ReadOptions, Report, Version, Warning},
};

fn read(name: &str) -> (Mesh, Report) {
    let (mesh, report) = gmsh::read(&data(name), &ReadOptions::default()).unwrap();
    check(&mesh);
    (mesh, report)
}

fn uncut(name: &str) -> Mesh {
    let (mesh, _) = gmsh::read(&data(name), &ReadOptions { periodic: false }).unwrap();
    check(&mesh);
    mesh
}

fn counts(mesh: &Mesh) -> Vec<(Shape, usize, usize)> {
    mesh.sets.iter().map(|s| (s.shape, s.order, s.len())).collect()
}

fn refusal(name: &str) -> MeshError {
    Mesh::read(data(name)).err().unwrap()
}

#[test]
fn periodic_squares() {
    for (name, elements) in [
        ("square-tri.msh", vec![(Shape::Triangle, 1, 344)]),
        ("square-quad.msh", vec![(Shape::Quadrilateral, 1, 180)]),
        ("square-mixed.msh", vec![(Shape::Triangle, 1, 344), (Shape::Quadrilateral, 1, 72)]),
    ] {
        let (mesh, report) = read(name);
        assert_eq!(counts(&mesh), elements);
        assert_eq!(report.warnings, []);
        assert!((volume(&mesh) - 100.0).abs() < 1e-11, "{name}");
        assert!(mesh.boundary_names().is_empty(), "{name}: everything is periodic");
        assert_eq!(mesh.links.len(), 2);
        for link in &mesh.links {
            assert!(link.is_translation());
            assert!(link.offset == [10.0, 0.0, 0.0] || link.offset == [0.0, 10.0, 0.0]);
        }
        let open = uncut(name);
        assert_eq!(euler_characteristic(&open), 1);
        let mut names = open.boundary_names();
        names.sort_unstable();
        assert_eq!(names, ["bottom", "left", "right", "top"]);
        assert_eq!(faces_on(&open, "left"), faces_on(&open, "right"));
        // Matching by coordinates finds the same pairs as the file.
        let mut matched = open.clone();
        matched.make_periodic("left", "right").unwrap();
        matched.make_periodic("top", "bottom").unwrap();
        check(&matched);
        assert_eq!(matched.faces, mesh.faces);
        // Joining again what the file has joined changes nothing.
        let mut again = mesh.clone();
        again.make_periodic("right", "left").unwrap();
        assert_eq!(again, mesh);
        // Cutting restores the boundaries.
        again.cut_periodic();
        check(&again);
        assert_eq!(again.faces, open.faces);
    }
    let mixed = read("square-mixed.msh").0;
    let names: Vec<&str> = mixed.region_names.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["outer part", "core"]);
}

#[test]
fn a_sector_is_periodic_by_rotation() {
    for name in ["sector-tri.msh", "sector-tri-22.msh"] {
        let (mesh, report) = read(name);
        assert_eq!(mesh.boundary_names(), ["outer", "inner"]);
        // The surface is in its group with a negative number; in MSH 2.2 its elements are reversed.
        let turned: Vec<usize> = report
            .warnings
            .iter()
            .map(|w| if let Warning::Reoriented { count, .. } = w { *count } else { 0 })
            .collect();
        assert_eq!(turned, if name.ends_with("22.msh") { vec![57] } else { vec![] }, "{name}");
        assert_eq!(mesh.region_names[0].name, "fluid");
        assert_eq!(mesh.links.len(), 1);
        let [x, y, _] = mesh.links[0].apply([2.0, 0.0, 0.0]);
        assert!((x - 1.0).abs() < 1e-12 && (y - 3.0_f64.sqrt()).abs() < 1e-12, "{x} {y}");
        let mut open = uncut(name);
        open.make_periodic("lower", "upper").unwrap();
        check(&open);
        assert_eq!(open.faces, mesh.faces);
    }
}

#[test]
fn periodic_cubes() {
    for (name, elements) in [
        ("cube-tet.msh", vec![(Shape::Tetrahedron, 1, 385)]),
        ("cube-prism.msh", vec![(Shape::Prism, 1, 176)]),
        ("cube-hex.msh", vec![(Shape::Hexahedron, 1, 72)]),
    ] {
        let (mesh, report) = read(name);
        assert_eq!(counts(&mesh), elements);
        assert_eq!(report.warnings, []);
        assert!((volume(&mesh) - 8.0).abs() < 1e-12, "{name}");
        assert_eq!(face_kinds(&mesh)[2], 0, "{name}: everything is periodic");
        let mut open = uncut(name);
        assert_eq!(euler_characteristic(&open), 1);
        for axis in ["x", "y", "z"] {
            open.make_periodic(&format!("{axis}max"), &format!("{axis}min")).unwrap();
        }
        check(&open);
        assert_eq!(open.faces, mesh.faces, "{name}");
    }
}

#[test]
fn blocks_with_pyramids() {
    let (mesh, report) = read("blocks-pyramid.msh");
    assert_eq!(
        counts(&mesh),
        [(Shape::Tetrahedron, 1, 202), (Shape::Hexahedron, 1, 27), (Shape::Pyramid, 1, 9)]
    );
    assert_eq!(report.warnings, []);
    assert_eq!(euler_characteristic(&mesh), 1);
    assert_eq!(mesh.boundary_names(), ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]);
    assert!((volume(&mesh) - 2.0).abs() < 1e-12);
    let (curved, _) = read("blocks-pyramid-o2.msh");
    assert_eq!(curved.max_order(), 2);
    assert!((volume(&curved) - 2.0).abs() < 1e-12);
    let region = |m: &Mesh, name: &str| m.region_names.iter().find(|r| r.name == name).unwrap().region;
    let block = region(&mesh, "block");
    let volumes = mesh.volumes();
    let in_block = mesh.sets.iter().flat_map(|s| s.regions.iter()).zip(&volumes);
    let sum: f64 = in_block.filter(|(r, _)| **r == block).map(|(_, v)| v).sum();
    assert!((sum - 1.0).abs() < 1e-12);
}

#[test]
fn curved_annuli() {
    let exact = 0.25 * PI * (1.384_f64.powi(2) - 1.0);
    for shape in ["tri", "quad"] {
        for order in 2..=4 {
            let (mesh, report) = read(&format!("annulus-{shape}-o{order}.msh"));
            assert_eq!(mesh.max_order(), order);
            // The centre of the circles is a point of the geometry, not of the mesh.
            assert!(report.warnings.is_empty(), "{:?}", report.warnings);
            let mut names = mesh.boundary_names();
            names.sort_unstable();
            assert_eq!(names, ["inlet", "inner", "outer", "outlet"]);
            for (name, faces) in [("inner", 12), ("outer", 12), ("inlet", 3), ("outlet", 3)] {
                assert_eq!(faces_on(&mesh, name), faces);
            }
            let error = (volume(&mesh) - exact).abs();
            let bound = [1e-5, 1e-5, 1e-9][order - 2];
            assert!(error < bound, "{shape} {order}: {error:e}");
            let inlet = mesh.boundary_index("inlet").unwrap();
            let on = mesh.faces.iter().filter(|f| f.across == dgsuite_mesh::Across::Boundary(inlet));
            assert!(
                on.flat_map(|f| mesh.side_nodes(f.minus)).all(|n| mesh.points[n as usize][0].abs() < 1e-14)
            );
        }
    }
}

#[test]
fn node_orders_of_every_shape_order_and_format() {
    for order in 1..=4_usize {
        for (what, dim) in [("plane", 2), ("solid", 3)] {
            let mut meshes = Vec::new();
            for form in ["22", "22-binary", "41", "41-binary"] {
                let (mesh, report) = read(&format!("orders/{what}-o{order}-{form}.msh"));
                assert_eq!(report.binary, form.ends_with("binary"));
                assert_eq!(report.version, if form.starts_with("22") { Version::V22 } else { Version::V41 });
                // One outer side in the plane and in space is a wall; the rest has no name.
                // Elements stand alone, so that some of their outer sides are straight and others curved, and
                // one has a sharp corner.
                let usual = |w: &Warning| {
                    matches!(
                        w,
                        Warning::UnnamedFaces { .. }
                            | Warning::StraightFaces { .. }
                            | Warning::PoorElements { .. }
                    )
                };
                assert!(report.warnings.iter().all(usual), "{:?}", report.warnings);
                assert_eq!((faces_on(&mesh, "wall 1"), faces_on(&mesh, "wall 2")), (1, 1));
                straight_again(&mesh, dim, order);
                meshes.push(mesh);
            }
            // All four files contain the same mesh; text has 16 digits.
            for mesh in &meshes[1..] {
                assert_eq!(counts(mesh), counts(&meshes[0]));
                for (set, other) in mesh.sets.iter().zip(&meshes[0].sets) {
                    for (a, b) in set.nodes.iter().zip(&other.nodes) {
                        let (a, b) = (mesh.points[*a as usize], meshes[0].points[*b as usize]);
                        assert!((0..3).all(|d| (a[d] - b[d]).abs() < 1e-14));
                    }
                }
            }
        }
    }
}

/// Undoes the bending `x += yⁿ/8`, `z += yⁿ/16`: each element is an affine image of its lattice again, and
/// the bent geometry is also reproduced between the nodes.
fn straight_again(mesh: &Mesh, dim: usize, order: usize) {
    let n = order as i32;
    let undo =
        |[x, y, z]: [f64; 3]| [x - y.powi(n) / 8.0, y, if dim == 3 { z - y.powi(n) / 16.0 } else { 0.0 }];
    let bend =
        |[x, y, z]: [f64; 3]| [x + y.powi(n) / 8.0, y, if dim == 3 { z + y.powi(n) / 16.0 } else { 0.0 }];
    let expected = if dim == 2 { 1.5 } else { 1.0 + 0.5 + 1.0 / 3.0 + 1.0 / 6.0 };
    let shapes: Vec<(Shape, usize)> = mesh.sets.iter().map(|s| (s.shape, s.order)).collect();
    assert!(shapes.iter().all(|s| s.1 == order), "{shapes:?}");
    for (s, set) in mesh.sets.iter().enumerate() {
        let straight: Vec<[f64; 3]> = mesh.element_points(s, 0).map(undo).collect();
        let vertices: Vec<[f64; 3]> = dgsuite_basis::lattice::lattice_vertices(set.shape, order)
            .into_iter()
            .map(|v| straight[v])
            .collect();
        // The multilinear map of the vertices maps the lattice to the nodes.
        let linear = LagrangeBasis::new(set.shape, 1);
        let place = dgsuite_basis::lattice::lattice_vertices(set.shape, 1);
        let mut corners = vec![[0.0; 3]; vertices.len()];
        place.iter().zip(&vertices).for_each(|(&l, &x)| corners[l] = x);
        let combine = |weights: &dgsuite_basis::Matrix, q: usize, nodes: &[[f64; 3]]| -> [f64; 3] {
            std::array::from_fn(|d| weights.row(q).iter().zip(nodes).map(|(w, x)| w * x[d]).sum())
        };
        let weights = linear.eval(&lattice(set.shape, order));
        for (q, x) in straight.iter().enumerate() {
            let y = combine(&weights, q, &corners);
            assert!((0..3).all(|d| (x[d] - y[d]).abs() < 1e-14), "{} {order}: node {q}", set.shape);
        }
        let nodes: Vec<[f64; 3]> = mesh.element_points(s, 0).collect();
        let between = lattice(set.shape, 5);
        let (fine, coarse) = (LagrangeBasis::new(set.shape, order).eval(&between), linear.eval(&between));
        for q in 0..between.len() {
            let (x, y) = (combine(&fine, q, &nodes), bend(combine(&coarse, q, &corners)));
            assert!((0..3).all(|d| (x[d] - y[d]).abs() < 1e-13), "{} {order}: {x:?} {y:?}", set.shape);
        }
    }
    let sum = volume(mesh);
    let expected = if dim == 3 && order > 2 { expected - 1.0 / 3.0 } else { expected };
    assert!((sum - expected).abs() < 1e-13, "{dim} {order}: {sum} {expected}");
}

#[test]
fn every_variant_of_one_mesh() {
    let reference = read("square-tri.msh").0;
    for (name, version, binary) in [
        ("square-tri-22.msh", Version::V22, false),
        ("square-tri-22-binary.msh", Version::V22, true),
        ("square-tri-41.msh", Version::V41, false),
    ] {
        let (mesh, report) = read(name);
        assert_eq!((report.version, report.binary, report.big_endian), (version, binary, false));
        assert_eq!(report.warnings, []);
        assert_eq!(mesh.sets[0].nodes, reference.sets[0].nodes);
        assert_eq!(mesh.faces, reference.faces);
        assert_eq!(mesh.boundaries, reference.boundaries);
    }
}

#[test]
fn partitioned_meshes_read_as_whole_ones() {
    let reference = read("square-tri.msh").0;
    for name in ["square-tri-partitioned.msh", "square-tri-partitioned-22.msh"] {
        let (mesh, report) = read(name);
        assert_eq!(mesh.n_elements(), reference.n_elements(), "{name}");
        assert_eq!(face_kinds(&mesh), face_kinds(&reference), "{name}");
        assert_eq!(mesh.boundaries, reference.boundaries);
        assert_eq!(mesh.region_names, reference.region_names);
        assert_eq!(report.warnings, [], "{name}");
    }
}

#[test]
fn entities_name_boundaries_where_physical_groups_are_missing() {
    let (mesh, report) = read("square-tri-unnamed.msh");
    let names: Vec<&str> = mesh.boundaries.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["#1", "#2", "#3", "#4"]);
    let unused: Vec<&Warning> =
        report.warnings.iter().filter(|w| matches!(w, Warning::UnusedName { .. })).collect();
    assert_eq!(unused.len(), 4);
    assert_eq!(mesh.sets[0].regions[0], 0);
    let mut open = uncut("square-tri-unnamed.msh");
    assert_eq!(open.boundary_names(), names);
    open.make_periodic("#4", "#2").unwrap();
    check(&open);
}

#[test]
fn unreadable_files_are_refused_by_name_with_the_fix() {
    let error = refusal("square-tri-40.msh");
    assert!(matches!(error.without_path(), MeshError::Version { found, .. } if found == "4"));
    let text = error.to_string();
    assert!(text.contains("square-tri-40.msh") && text.contains("-format msh41"), "{text}");

    let error = refusal("square-quad-serendipity.msh");
    assert!(matches!(error.without_path(), MeshError::UnsupportedElement { kind: 16, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("serendipity quadrilateral") && text.contains("SecondOrderIncomplete"), "{text}");

    let error = refusal("orders/pyramid-o3-41.msh");
    assert!(matches!(
        error.without_path(),
        MeshError::GeometryOrder { shape: Shape::Pyramid, order: 3, max: 2 }
    ));

    let error = refusal("no-such-file.msh");
    assert!(matches!(error.without_path(), MeshError::NotFound));
    assert!(error.to_string().contains("no-such-file.msh"));
}
