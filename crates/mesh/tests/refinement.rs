//! Uniform refinement: what it preserves and what it multiplies.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, data, euler_characteristic, face_kinds, faces_on, swirl, volume};
use dgsuite_mesh::{
    Mesh, Shape,
    generate::{Box, MixedBox},
    gmsh, quality,
};

const SHAPES: [Shape; 6] = [
    Shape::Triangle,
    Shape::Quadrilateral,
    Shape::Tetrahedron,
    Shape::Hexahedron,
    Shape::Prism,
    Shape::Pyramid,
];

fn children(shape: Shape) -> usize {
    match shape {
        Shape::Pyramid => 10,
        s if s.dim() == 2 => 4,
        _ => 8,
    }
}

/// Refine once and check all that must hold.
fn refined(mesh: &Mesh) -> Mesh {
    let mut fine = mesh.clone();
    fine.refine_uniform().unwrap();
    check(&fine);
    let expected: usize = mesh.sets.iter().map(|s| children(s.shape) * s.len()).sum();
    assert_eq!(fine.n_elements(), expected);
    let each = if mesh.dim == 2 { 2 } else { 4 };
    assert_eq!(face_kinds(&fine)[1..], face_kinds(mesh)[1..].iter().map(|n| each * n).collect::<Vec<_>>());
    assert_eq!(fine.boundary_names(), mesh.boundary_names());
    for name in mesh.boundary_names() {
        assert_eq!(faces_on(&fine, name), each * faces_on(mesh, name));
    }
    assert!((volume(&fine) - volume(mesh)).abs() < 1e-12 * volume(mesh));
    assert_eq!(euler_characteristic(&fine), euler_characteristic(mesh));
    fine
}

#[test]
fn straight_boxes_of_every_shape() {
    for shape in SHAPES {
        let mesh = Box { cells: [2, 3, 1], ..Box::unit(shape, 1) }.build().unwrap();
        let fine = refined(&refined(&mesh));
        // A pyramid in a box is an affine image, and so are its children.
        assert_eq!(quality::statistics(&fine).volume, volume(&fine));
        let sizes = |m: &Mesh| quality::statistics(m).size.min;
        assert!(sizes(&fine) > 0.2 * sizes(&mesh), "{shape}: elements get flat");
    }
}

#[test]
fn curved_periodic_boxes_keep_geometry_and_periodicity() {
    for shape in SHAPES {
        for order in 1..=gmsh::max_order(shape).min(3) {
            let mut mesh = Box { cells: [2, 2, 2], ..Box::unit(shape, 1) }.build().unwrap();
            mesh.make_periodic("xmin", "xmax").unwrap();
            mesh.make_periodic("ymax", "ymin").unwrap();
            mesh.elevate(order).unwrap();
            mesh.map(swirl).unwrap();
            let fine = refined(&mesh);
            // The nodes of the coarse mesh are nodes of the fine one, bit by bit.
            let bits = |m: &Mesh| {
                m.points.iter().map(|x| x.map(f64::to_bits)).collect::<std::collections::HashSet<_>>()
            };
            assert!(bits(&mesh).is_subset(&bits(&fine)), "{shape} {order}");
        }
    }
}

#[test]
fn one_cell_wide_periodic_boxes_keep_their_pairs() {
    for shape in SHAPES {
        let mut mesh = Box::unit(shape, 1).build().unwrap();
        for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")].iter().take(mesh.dim) {
            mesh.make_periodic(a, b).unwrap();
        }
        check(&mesh);
        let fine = refined(&mesh);
        assert_eq!(fine.periodic_faces.len(), if mesh.dim == 2 { 2 } else { 4 } * mesh.periodic_faces.len());
    }
}

#[test]
fn mixed_meshes_stay_conforming() {
    let mut mesh = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 2, 2] }.build().unwrap();
    mesh.make_periodic("zmin", "zmax").unwrap();
    let fine = refined(&mesh);
    assert_eq!(fine.sets.len(), 4);
    assert!((0..fine.n_elements()).all(|e| fine.tag(e) == e as u64 + 1), "children are numbered from 1 on");
    mesh.elevate(2).unwrap();
    mesh.map(swirl).unwrap();
    refined(&mesh);
    refined(&MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [3, 2, 0] }.build().unwrap());
}

#[test]
fn children_of_a_curved_gmsh_mesh_lie_on_the_parents_curves() {
    for name in ["annulus-tri-o4.msh", "annulus-quad-o3.msh"] {
        let mesh = Mesh::read(data(name)).unwrap();
        let fine = refined(&mesh);
        let order: i32 = mesh.max_order() as i32;
        // The coarse curve deviates from the circle by O(h^(n+1)); refined nodes lie on the curve, not on the
        // circle.
        let miss = |m: &Mesh, name: &str, radius: f64| {
            let b = m.boundary_index(name).unwrap();
            let on = m.faces.iter().filter(|f| f.across == dgsuite_mesh::Across::Boundary(b));
            on.flat_map(|f| m.side_nodes(f.minus))
                .map(|n| {
                    let [x, y, _] = m.points[n as usize];
                    (x.hypot(y) - radius).abs()
                })
                .fold(0.0, f64::max)
        };
        for (boundary, radius) in [("inner", 1.0), ("outer", 1.384)] {
            assert!(miss(&mesh, boundary, radius) < 1e-14, "{name}: nodes of the file are on the circle");
            let h: f64 = std::f64::consts::FRAC_PI_2 / 12.0;
            let bound = radius * h.powi(order + 1);
            let m = miss(&fine, boundary, radius);
            assert!(m > 0.0 && m < bound, "{name} {boundary}: {m:e} {bound:e}");
        }
    }
}

#[test]
fn pyramids_of_gmsh_split_into_pyramids_and_tetrahedra() {
    let mesh = Mesh::read(data("blocks-pyramid-o2.msh")).unwrap();
    let count = |m: &Mesh, shape| m.sets.iter().filter(|s| s.shape == shape).map(|s| s.len()).sum::<usize>();
    let fine = refined(&mesh);
    assert_eq!(count(&fine, Shape::Pyramid), 6 * count(&mesh, Shape::Pyramid));
    let tets = 8 * count(&mesh, Shape::Tetrahedron) + 4 * count(&mesh, Shape::Pyramid);
    assert_eq!(count(&fine, Shape::Tetrahedron), tets);
}
