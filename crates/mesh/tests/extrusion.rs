//! Extruded meshes: what they have from the mesh of the plane, whatever it is.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, data, face_kinds, faces_on, volume};
use dgsuite_mesh::{
    Across, Mesh, MeshError, Shape, SpaceFillingCurve,
    generate::{Annulus, Box, MixedBox, Stack},
    gmsh::{self, Format, ReadOptions, Version},
    quality::{boundary_measures, statistics},
};
use proptest::prelude::*;

/// A mesh of the plane of triangles, quadrilaterals or both, bent at random, with its elements in any order
/// and, if `periodic`, with its left and right sides joined.
fn plane(kind: usize, order: usize, cells: [usize; 2], bend: [f64; 3], periodic: bool) -> Mesh {
    let [nx, ny] = cells;
    let (min, max, cells) = ([0.0; 3], [1.0; 3], [nx, ny, 1]);
    let mut mesh = match kind {
        0 => Box { cells, ..Box::unit(Shape::Triangle, 1) }.build(),
        1 => Box { cells, ..Box::unit(Shape::Quadrilateral, 1) }.build(),
        2 => MixedBox { dim: 2, min, max, cells }.build(),
        _ => {
            let shapes = [Shape::Triangle, Shape::Quadrilateral];
            Stack { shapes, min, max, cells, lower: ny.div_ceil(2) }.build()
        }
    }
    .unwrap();
    if periodic {
        mesh.make_periodic("xmin", "xmax").unwrap();
    }
    mesh.elevate(order).unwrap();
    // The displacement has the period 1 in x; its derivatives are less than 0.6.
    let [a, b, c] = bend.map(|b| 0.03 * b);
    let tau = std::f64::consts::TAU;
    mesh.map(|[x, y, _]| {
        let (wx, wy) = ((tau * x + 3.0 * y).sin(), (tau * x - 2.0 * y).cos());
        [x + a * wx + c * wy, y + b * wy - c * wx, 0.0]
    })
    .unwrap();
    mesh.renumber(SpaceFillingCurve::Hilbert);
    mesh
}

/// All that an extruded mesh must be.
fn extruded(plane: &Mesh, z: [f64; 2], layers: usize) -> Mesh {
    let mut mesh = plane.extrude(z, layers).unwrap();
    check(&mesh);
    let length = z[1] - z[0];
    let area = volume(plane);
    assert!((volume(&mesh) - area * length).abs() < 1e-12 * area * length);
    assert_eq!((mesh.dim, mesh.max_order()), (3, plane.max_order()));
    assert_eq!(mesh.n_elements(), layers * plane.n_elements());
    assert_eq!((mesh.bounding_box()[0][2], mesh.bounding_box()[1][2]), (z[0], z[1]));
    for set in &plane.sets {
        let shape = if set.shape == Shape::Triangle { Shape::Prism } else { Shape::Hexahedron };
        let over = mesh.sets.iter().find(|s| s.shape == shape && s.order == set.order).unwrap();
        assert_eq!(over.len(), layers * set.len());
        assert!(over.regions.chunks_exact(layers).zip(&set.regions).all(|(a, b)| a.iter().all(|r| r == b)));
    }
    assert!((0..mesh.n_elements()).all(|e| mesh.tag(e) == e as u64 + 1));
    // No point is left over, and none is twice between neighbours, which would change Euler's number.
    let mut used = vec![false; mesh.points.len()];
    mesh.sets.iter().flat_map(|set| &set.nodes).for_each(|&n| used[n as usize] = true);
    assert!(used.iter().all(|&used| used));
    assert_eq!(checks::euler_characteristic(&mesh), checks::euler_characteristic(plane));
    // Boundaries have their names and are as long as before.
    let [inner, periodic, boundary] = face_kinds(plane);
    let ends = plane.n_elements();
    assert_eq!(
        face_kinds(&mesh),
        [inner * layers + ends * (layers - 1), periodic * layers, boundary * layers + 2 * ends]
    );
    let (lengths, areas) = (boundary_measures(plane), boundary_measures(&mesh));
    for (b, tag) in plane.boundaries.iter().enumerate() {
        assert_eq!(mesh.boundaries[b], *tag);
        // Both are sums over the points of rules, which differ by rounding.
        assert!((areas[b] - lengths[b] * length).abs() < 1e-11 * (1.0 + lengths[b]) * length, "{}", tag.name);
    }
    for (name, z) in ["zmin", "zmax"].into_iter().zip(z) {
        let b = mesh.boundary_index(name).unwrap();
        let on = mesh.faces.iter().filter(|face| face.across == Across::Boundary(b));
        // The mean of equal numbers may round.
        assert!(on.into_iter().all(|face| (mesh.side_centroid(face.minus)[2] - z).abs() < 1e-14));
        assert_eq!(faces_on(&mesh, name), plane.n_elements());
        assert!((areas[b as usize] - area).abs() < 1e-12 * area);
        let number = mesh.boundaries[b as usize].tag;
        assert_eq!(mesh.boundaries.iter().filter(|b| b.tag == number).count(), 1);
    }
    // Pairs of the plane stay pairs, and the ends can become one.
    assert_eq!(mesh.links, plane.links);
    mesh.make_periodic("zmin", "zmax").unwrap();
    check(&mesh);
    assert_eq!(
        face_kinds(&mesh),
        [inner * layers + ends * (layers - 1), periodic * layers + ends, boundary * layers]
    );
    let offset = mesh.links.last().unwrap().offset;
    assert_eq!((offset[0], offset[1]), (0.0, 0.0));
    assert!((offset[2] - length).abs() < 1e-15 * (z[0].abs() + z[1].abs()));
    assert_eq!(mesh.boundary_names(), plane.boundary_names());
    mesh
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn extruded_meshes_have_all_of_the_plane_at_every_height(
        kind in 0_usize..4,
        order in 1_usize..5,
        cells in [2_usize..5, 2_usize..4],
        bend in prop::array::uniform3(-1.0..1.0),
        start in -2.0..2.0,
        length in 0.01..3.0,
        layers in 1_usize..5,
        periodic in any::<bool>(),
    ) {
        let plane = plane(kind, order, cells, bend, periodic);
        let mesh = extruded(&plane, [start, start + length], layers);
        // The mesh can be refined as any other, and written.
        if layers == 1 && order < 3 {
            let mut fine = mesh;
            fine.refine_uniform().unwrap();
            check(&fine);
        }
    }
}

#[test]
fn rings_and_files_are_extruded_with_their_curves() {
    for shape in [Shape::Triangle, Shape::Quadrilateral] {
        let ring = Annulus {
            shape,
            centre: [0.2, -0.1],
            inner: 1.0,
            outer: 2.0,
            cells: [2, 9],
            growth: 1.2,
            order: 3,
        };
        extruded(&ring.build().unwrap(), [0.0, 0.7], 2);
    }
    // Two shapes of two orders, with layers at a wall.
    for name in ["annulus-tri-o3.msh", "annulus-quad-o3.msh", "cylinder.msh"] {
        let (plane, _) = gmsh::read(&data(name), &ReadOptions::default()).unwrap();
        let mesh = extruded(&plane, [0.0, 1.0], 2);
        let worst = statistics(&mesh).scaled_jacobian.min;
        assert!(worst > 0.0, "{name}: {worst}");
    }
}

#[test]
fn neighbours_of_different_geometry_order_share_the_levels_between_layers() {
    let mut plane = MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [4, 2, 1] }.build().unwrap();
    plane.elevate(2).unwrap();
    // Straight triangles beside quadrilaterals of order 2.
    let linear = MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [4, 2, 1] }.build().unwrap();
    let at = |x: [f64; 3]| plane.points.iter().position(|y| *y == x).unwrap() as u32;
    let nodes: Vec<u32> = linear.sets[0].nodes.iter().map(|&n| at(linear.points[n as usize])).collect();
    (plane.sets[0].order, plane.sets[0].nodes) = (1, nodes);
    let mut used = vec![false; plane.points.len()];
    plane.sets.iter().flat_map(|set| &set.nodes).for_each(|&n| used[n as usize] = true);
    let mesh = plane.extrude([0.0, 1.0], 3).unwrap();
    check(&mesh);
    assert_eq!(
        mesh.sets.iter().map(|s| (s.shape, s.order)).collect::<Vec<_>>(),
        [(Shape::Hexahedron, 2), (Shape::Prism, 1)]
    );
    assert_eq!(checks::euler_characteristic(&mesh), 1);
}

#[test]
fn extruded_meshes_are_written_and_read_back() {
    let plane = plane(2, 2, [3, 2], [0.5, -0.5, 0.3], true);
    let mut mesh = plane.extrude([0.0, 0.5], 2).unwrap();
    mesh.make_periodic("zmin", "zmax").unwrap();
    let format = Format { version: Version::V41, binary: true, big_endian: false };
    let (back, _) = gmsh::read_bytes(&gmsh::to_bytes(&mesh, &format), &ReadOptions::default()).unwrap();
    assert_eq!((back.sets, back.faces, back.periodic_faces), (mesh.sets, mesh.faces, mesh.periodic_faces));
}

#[test]
fn what_cannot_be_extruded_is_refused_with_its_numbers() {
    let square = Box::unit(Shape::Triangle, 2).build().unwrap();
    let solid = square.extrude([0.0, 1.0], 1).unwrap();
    assert!(matches!(solid.extrude([0.0, 1.0], 1), Err(MeshError::NotPlane { dim: 3 })));
    for z in [[1.0, 1.0], [1.0, 0.0], [0.0, f64::NAN], [0.0, f64::INFINITY], [-f64::MAX, f64::MAX]] {
        let error = square.extrude(z, 1).unwrap_err();
        assert!(matches!(error, MeshError::Extent { from, .. } if from == z[0]), "{z:?}: {error}");
    }
    let none = square.extrude([0.0, 1.0], 0);
    assert!(matches!(none, Err(MeshError::TooFewCells { axis: 'z', cells: 0, least: 1 })));
    let many = [1 << 30, usize::MAX / 2, usize::MAX];
    for layers in many {
        assert!(matches!(square.extrude([0.0, 1.0], layers), Err(MeshError::TooLarge { .. })), "{layers}");
    }
    // Layers below the distance of numbers near 1e16.
    assert!(matches!(square.extrude([1e16, 1e16 + 4.0], 64), Err(MeshError::Degenerate { .. })));
    let mut named = square;
    named.boundaries[2].name = "zmax".to_owned();
    let error = named.extrude([0.0, 1.0], 1).unwrap_err();
    assert!(matches!(&error, MeshError::EndTaken { name } if name == "zmax"), "{error}");
}
