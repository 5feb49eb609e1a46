//! Connectivity of generated meshes: counts, topology, independence of the numbering of elements.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, euler_characteristic, face_kinds, faces_on, swirl, volume};
use dgsuite_mesh::{
    Mesh, MeshError, Shape, SpaceFillingCurve,
    generate::{Box, Diagonal, MixedBox, Stack},
    gmsh::{self, Format, ReadOptions},
    quality,
};
use proptest::prelude::*;

const SOLID: [Shape; 4] = [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism, Shape::Pyramid];
const PLANE: [Shape; 2] = [Shape::Triangle, Shape::Quadrilateral];

fn sheared(shape: Shape, cells: [usize; 3]) -> Mesh {
    let mut mesh = Box { cells, ..Box::unit(shape, 1) }.build().unwrap();
    mesh.map(|[x, y, z]| [x + 0.2 * y - 0.1 * z, y + 0.3 * z, z]).unwrap();
    mesh
}

#[test]
fn boxes_have_the_counts_and_the_topology_of_a_ball() {
    let [nx, ny, nz] = [4, 3, 2];
    let cells = nx * ny * nz;
    for (shape, elements, faces) in [
        (Shape::Tetrahedron, 6 * cells, 12 * cells + 2 * (nx * ny + ny * nz + nx * nz)),
        (Shape::Hexahedron, cells, 3 * cells + nx * ny + ny * nz + nx * nz),
        (Shape::Prism, 2 * cells, 2 * nx * ny * (nz + 1) + nz * (3 * nx * ny + nx + ny)),
        (Shape::Pyramid, 6 * cells, 12 * cells + 3 * cells + nx * ny + ny * nz + nx * nz),
    ] {
        let mesh = Box { cells: [nx, ny, nz], ..Box::unit(shape, 1) }.build().unwrap();
        check(&mesh);
        assert_eq!(mesh.n_elements(), elements, "{shape}");
        assert_eq!(mesh.faces.len(), faces, "{shape}");
        assert_eq!(euler_characteristic(&mesh), 1, "{shape}");
        assert!((volume(&mesh) - 1.0).abs() < 1e-13, "{shape}");
        assert_eq!(mesh.boundary_names(), ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]);
        let per_cell = |side: bool| match shape {
            Shape::Tetrahedron => 2,
            Shape::Prism if side => 2,
            _ => 1,
        };
        assert_eq!(faces_on(&mesh, "xmin"), per_cell(false) * ny * nz, "{shape}");
        assert_eq!(faces_on(&mesh, "zmax"), per_cell(true) * nx * ny, "{shape}");
    }
    for (shape, elements, edges) in [
        (Shape::Triangle, 2 * nx * ny, 3 * nx * ny + nx + ny),
        (Shape::Quadrilateral, nx * ny, 2 * nx * ny + nx + ny),
    ] {
        for diagonal in [Diagonal::Anti, Diagonal::Main, Diagonal::Alternate] {
            let mesh = Box { cells: [nx, ny, 0], diagonal, ..Box::unit(shape, 1) }.build().unwrap();
            check(&mesh);
            assert_eq!((mesh.n_elements(), mesh.faces.len()), (elements, edges));
            assert_eq!(euler_characteristic(&mesh), 1);
            assert_eq!(mesh.boundary_names(), ["xmin", "xmax", "ymin", "ymax"]);
            assert!((volume(&mesh) - 1.0).abs() < 1e-14);
        }
    }
}

#[test]
fn diagonals_run_as_they_are_called() {
    let cut = |diagonal| {
        let mesh = Box { diagonal, ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
        let inner = mesh.faces.iter().find(|f| matches!(f.across, dgsuite_mesh::Across::Interior { .. }));
        let mut ends: Vec<[f64; 3]> =
            mesh.side_vertices(inner.unwrap().minus).iter().map(|&v| mesh.points[v as usize]).collect();
        ends.sort_by(|a, b| a[0].total_cmp(&b[0]));
        ends
    };
    assert_eq!(cut(Diagonal::Anti), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
    assert_eq!(cut(Diagonal::Main), [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
}

#[test]
fn mixed_boxes_hold_all_shapes_and_fit_together() {
    for cells in [[5, 1, 1], [5, 2, 3], [8, 2, 2], [10, 3, 2]] {
        let mut mesh = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells }.build().unwrap();
        check(&mesh);
        let shapes: Vec<Shape> = mesh.sets.iter().map(|s| s.shape).collect();
        assert_eq!(shapes, SOLID);
        assert_eq!(euler_characteristic(&mesh), 1);
        assert!((volume(&mesh) - 1.0).abs() < 1e-13);
        for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")] {
            mesh.make_periodic(a, b).unwrap();
        }
        check(&mesh);
        assert!(mesh.boundary_names().is_empty());
        assert_eq!(face_kinds(&mesh)[2], 0);
    }
    let mesh = MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [5, 4, 0] }.build().unwrap();
    check(&mesh);
    assert_eq!(mesh.sets.iter().map(|s| s.len()).collect::<Vec<_>>(), [2 * 2 * 4, 3 * 4]);
    let few = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [4, 2, 2] }.build();
    assert!(matches!(few, Err(MeshError::TooFewCells { axis: 'x', cells: 4, least: 5 })));
}

#[test]
fn stacks_of_two_shapes_fit_together() {
    let [tri, quad] = PLANE;
    let [tet, hex, prism, pyramid] = SOLID;
    let stack = |shapes| Stack { shapes, min: [0.0; 3], max: [1.0; 3], cells: [3, 2, 4], lower: 1 };
    for shapes in
        [[tri, quad], [quad, tri], [prism, tet], [tet, prism], [hex, pyramid], [hex, prism], [prism, hex]]
    {
        let mut mesh = stack(shapes).build().unwrap();
        check(&mesh);
        assert_eq!(mesh.sets.len(), 2);
        assert!((volume(&mesh) - 1.0).abs() < 1e-13);
        for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")].into_iter().take(mesh.dim) {
            mesh.make_periodic(a, b).unwrap();
        }
        check(&mesh);
        assert!(mesh.boundary_names().is_empty());
    }
    for shapes in [[hex, tet], [prism, pyramid], [tri, tet], [Shape::Line, Shape::Line]] {
        assert!(matches!(stack(shapes).build(), Err(MeshError::BoxShape { .. })));
    }
}

#[test]
fn boxes_that_cannot_be_are_refused() {
    let unit = Box::unit(Shape::Triangle, 2);
    assert!(matches!(Box { shape: Shape::Line, ..unit }.build(), Err(MeshError::BoxShape { .. })));
    assert!(matches!(
        Box { cells: [2, 0, 1], ..unit }.build(),
        Err(MeshError::TooFewCells { axis: 'y', cells: 0, least: 1 })
    ));
    for max in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let empty = Box { max: [max, 1.0, 1.0], ..unit };
        assert!(matches!(empty.build(), Err(MeshError::EmptyBox { axis: 'x', .. })));
    }
    let huge = Box { cells: [usize::MAX, 3, 1], ..unit };
    assert!(matches!(huge.build(), Err(MeshError::TooLarge { .. })));
}

#[test]
fn curved_elements_meet_at_every_geometry_order() {
    for shape in PLANE.into_iter().chain(SOLID) {
        for order in 1..=gmsh::max_order(shape) {
            let mut mesh = Box { cells: [3, 2, 2], ..Box::unit(shape, 1) }.build().unwrap();
            for (a, b) in [("xmin", "xmax"), ("ymin", "ymax")] {
                mesh.make_periodic(a, b).unwrap();
            }
            mesh.elevate(order).unwrap();
            assert_eq!(mesh.max_order(), order);
            check(&mesh);
            mesh.map(swirl).unwrap();
            check(&mesh);
            mesh.renumber(SpaceFillingCurve::Hilbert);
            check(&mesh);
        }
    }
    let mut mixed = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 2, 2] }.build().unwrap();
    mixed.elevate(2).unwrap();
    mixed.map(swirl).unwrap();
    check(&mixed);
    assert!(matches!(
        mixed.elevate(3),
        Err(MeshError::GeometryOrder { shape: Shape::Pyramid, order: 3, max: 2 })
    ));
}

#[test]
fn elevation_reproduces_polynomial_geometry() {
    // A quadratic shear of volume one: order 2 represents it exactly, and order 4 the same after it.
    for shape in PLANE.into_iter().chain(SOLID) {
        let mut mesh = sheared(shape, [2, 2, 2]);
        let before = volume(&mesh);
        mesh.elevate(2).unwrap();
        mesh.map(|[x, y, z]| [x + 0.3 * y * y, y, z - 0.2 * y * y]).unwrap();
        assert!((volume(&mesh) - before).abs() < 1e-13, "{shape}");
        let (digest, points) = (mesh.digest(), mesh.points.clone());
        mesh.elevate(2).unwrap();
        assert_eq!((mesh.digest(), &mesh.points), (digest, &points), "{shape}: nothing to do");
        if gmsh::max_order(shape) == 4 {
            mesh.elevate(4).unwrap();
            check(&mesh);
            for [x, y, z] in &mesh.points {
                let x0 = x - 0.3 * y * y;
                let z0 = if mesh.dim == 3 { z + 0.2 * y * y } else { 0.0 };
                // With the map undone, the nodes are multiples of 1/8 in the sheared box again.
                let (y0, x0) = (y - 0.3 * z0, x0 - 0.2 * (y - 0.3 * z0) + 0.1 * z0);
                for c in [x0, y0, z0] {
                    assert!((8.0 * c - (8.0 * c).round()).abs() < 1e-11, "{shape}: {x} {y} {z}");
                }
            }
        }
    }
}

#[test]
fn maps_that_spoil_the_mesh_are_refused_and_undone() {
    let mut mesh = Box::unit(Shape::Triangle, 3).build().unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    let before = mesh.clone();
    assert!(matches!(mesh.map(|[x, y, z]| [y, x, z]), Err(MeshError::Inverted { element: 1, .. })));
    assert_eq!(mesh, before);
    assert!(matches!(mesh.map(|[x, y, z]| [x, y / (x - x), z]), Err(MeshError::NotFinite { node: 1 })));
    assert_eq!(mesh, before);
    assert!(matches!(mesh.map(|[x, y, z]| [x, y + x * y, z]), Err(MeshError::PeriodicMismatch { .. })));
    assert_eq!(mesh, before);
    assert!(matches!(mesh.map(|[x, _, z]| [x, 0.0, z]), Err(MeshError::Degenerate { element: 1, .. })));
    assert_eq!(mesh, before);
    for factor in [0.0, -2.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(mesh.scale(factor), Err(MeshError::Scale { .. })));
    }
    mesh.scale(2.0).unwrap();
    check(&mesh);
    assert!((volume(&mesh) - 4.0).abs() < 1e-14);
}

/// All rotations of a shape onto itself, as vertex permutations.
fn rotations(shape: Shape) -> Vec<Vec<usize>> {
    fn place(shape: Shape, taken: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        let v = shape.vertices();
        if taken.len() == v.len() {
            // A rotation maps faces to faces and keeps their direction.
            let plain = |f: &[usize]| {
                // Two vertices have a direction only in the given order.
                let lowest = if f.len() == 2 { 0 } else { (0..f.len()).min_by_key(|&i| f[i]).unwrap() };
                (0..f.len()).map(|i| f[(lowest + i) % f.len()]).collect::<Vec<_>>()
            };
            let cycle = |f: &[usize]| plain(&f.iter().map(|&i| taken[i]).collect::<Vec<_>>());
            let faces: Vec<Vec<usize>> = shape.faces().iter().map(|f| plain(f)).collect();
            if shape.faces().iter().all(|f| faces.contains(&cycle(f))) {
                out.push(taken.clone());
            }
            return;
        }
        for i in 0..v.len() {
            if !taken.contains(&i) {
                taken.push(i);
                // Prune: edges must be mapped to edges.
                let edge = |a: usize, b: usize| shape.edges().iter().any(|e| *e == [a.min(b), a.max(b)]);
                let n = taken.len() - 1;
                if (0..n).all(|j| edge(j, n) == edge(taken[j], taken[n])) {
                    place(shape, taken, out);
                }
                taken.pop();
            }
        }
    }
    let mut out = Vec::new();
    place(shape, &mut Vec::new(), &mut out);
    out
}

#[test]
fn shapes_have_their_rotations() {
    for (shape, n) in [
        (Shape::Triangle, 3),
        (Shape::Quadrilateral, 4),
        (Shape::Tetrahedron, 12),
        (Shape::Hexahedron, 24),
        (Shape::Prism, 6),
        (Shape::Pyramid, 4),
    ] {
        assert_eq!(rotations(shape).len(), n, "{shape}");
    }
}

/// The mesh as text, with elements rotated and shuffled according to `choices`.
fn turned(mesh: &Mesh, choices: &[usize]) -> Vec<u8> {
    let text = String::from_utf8(gmsh::to_bytes(
        mesh,
        &Format { version: gmsh::Version::V22, binary: false, big_endian: false },
    ))
    .unwrap();
    let kinds = [
        (2, Shape::Triangle),
        (3, Shape::Quadrilateral),
        (4, Shape::Tetrahedron),
        (5, Shape::Hexahedron),
        (6, Shape::Prism),
        (7, Shape::Pyramid),
    ];
    let (head, rest) = text.split_once("$Elements\n").unwrap();
    let (body, tail) = rest.split_once("$EndElements").unwrap();
    let mut lines: Vec<String> = body.lines().map(str::to_owned).collect();
    let count = lines.remove(0);
    let mut next = choices.iter().cycle();
    for line in &mut lines {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let Some((_, shape)) = kinds.iter().find(|(k, _)| words[1] == k.to_string()) else { continue };
        if shape.dim() < mesh.dim {
            continue;
        }
        let all = rotations(*shape);
        let turn = &all[next.next().unwrap() % all.len()];
        let nodes = words[5..].to_vec();
        for (i, &t) in turn.iter().enumerate() {
            words[5 + i].clone_from(&nodes[t]);
        }
        *line = words.join(" ");
    }
    for i in (1..lines.len()).rev() {
        lines.swap(i, next.next().unwrap() % (i + 1));
    }
    format!("{head}$Elements\n{count}\n{}\n$EndElements{tail}", lines.join("\n")).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn faces_meet_however_elements_are_turned_and_numbered(
        choices in prop::collection::vec(0_usize..1000, 40..80),
        which in 0_usize..8,
        periodic in any::<bool>(),
    ) {
        let mut mesh = match which {
            6 => MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 2, 1] }.build().unwrap(),
            7 => MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [4, 3, 0] }.build().unwrap(),
            i => sheared([PLANE[0], PLANE[1], SOLID[0], SOLID[1], SOLID[2], SOLID[3]][i], [2, 2, 2]),
        };
        if periodic {
            mesh.make_periodic("xmin", "xmax").unwrap();
            mesh.make_periodic("ymin", "ymax").unwrap();
        }
        let (again, report) = gmsh::read_bytes(&turned(&mesh, &choices), &ReadOptions::default()).unwrap();
        prop_assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        check(&again);
        prop_assert_eq!(face_kinds(&again), face_kinds(&mesh));
        prop_assert_eq!(again.boundary_names(), mesh.boundary_names());
        for name in mesh.boundary_names() {
            prop_assert_eq!(faces_on(&again, name), faces_on(&mesh, name));
        }
        prop_assert_eq!(euler_characteristic(&again), euler_characteristic(&mesh));
        prop_assert!((volume(&again) - volume(&mesh)).abs() < 1e-13);
    }

    #[test]
    fn renumbering_keeps_the_mesh(
        which in 0_usize..6,
        n in 1_usize..5,
        curve in prop::sample::select(vec![SpaceFillingCurve::Hilbert, SpaceFillingCurve::Morton]),
        periodic in any::<bool>(),
    ) {
        let shape = [PLANE[0], PLANE[1], SOLID[0], SOLID[1], SOLID[2], SOLID[3]][which];
        let mut mesh = sheared(shape, [n + 1, n, 2]);
        if periodic {
            mesh.make_periodic("ymax", "ymin").unwrap();
        }
        let before = mesh.clone();
        let new = mesh.renumber(curve);
        check(&mesh);
        prop_assert_eq!(face_kinds(&mesh), face_kinds(&before));
        for old in 0..before.n_elements() {
            let now = new[old] as usize;
            prop_assert_eq!(before.tag(old), mesh.tag(now));
            let (a, b) = (before.centroid(old), mesh.centroid(now));
            prop_assert!((0..3).all(|d| (a[d] - b[d]).abs() < 1e-14));
        }
        let (a, b) = (quality::statistics(&before), quality::statistics(&mesh));
        prop_assert!((a.volume - b.volume).abs() < 1e-13);
        // A second call changes nothing.
        let digest = mesh.digest();
        mesh.renumber(curve);
        prop_assert_eq!(mesh.digest(), digest);
    }
}

#[test]
fn hilbert_numbering_brings_neighbours_together() {
    let mut mesh = Box::unit(Shape::Triangle, 32).build().unwrap();
    let spread = |mesh: &Mesh| {
        let apart = |f: &dgsuite_mesh::Face| match f.across {
            dgsuite_mesh::Across::Interior { plus, .. } => Some((plus.element - f.minus.element) as f64),
            _ => None,
        };
        let all: Vec<f64> = mesh.faces.iter().filter_map(apart).collect();
        all.iter().map(|d| d.ln()).sum::<f64>() / all.len() as f64
    };
    let before = spread(&mesh);
    mesh.renumber(SpaceFillingCurve::Hilbert);
    assert!(spread(&mesh) < before, "{} {before}", spread(&mesh));
}

#[test]
fn the_digest_tells_meshes_apart() {
    let base = Box::unit(Shape::Triangle, 4).build().unwrap();
    let mut digests = vec![base.digest()];
    assert_eq!(Box::unit(Shape::Triangle, 4).build().unwrap().digest(), digests[0]);
    let mut change = |f: &dyn Fn(&mut Mesh)| {
        let mut mesh = base.clone();
        f(&mut mesh);
        assert!(!digests.contains(&mesh.digest()));
        digests.push(mesh.digest());
    };
    change(&|m| m.points[7][1] = f64::from_bits(m.points[7][1].to_bits() + 1));
    change(&|m| m.sets[0].nodes.swap(0, 1));
    change(&|m| m.sets[0].regions[3] = 2);
    change(&|m| m.boundaries[0].name.push('x'));
    change(&|m| m.boundaries.swap(0, 1));
    change(&|m| m.make_periodic("xmin", "xmax").unwrap());
    change(&|m| m.elevate(2).unwrap());
    change(&|m| m.refine_uniform().unwrap());
}
