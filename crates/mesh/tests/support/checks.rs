//! Checks of the invariants that every valid mesh satisfies.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use dgsuite_basis::{LagrangeBasis, Matrix};
use dgsuite_mesh::{Across, Mesh, Shape, Side};

/// Path of a mesh in `data/meshes`.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data/meshes").join(name)
}

/// Sample points of a face frame, without symmetry.
fn samples(shape: Shape) -> Vec<[f64; 3]> {
    match shape {
        Shape::Line => vec![[-0.83, 0.0, 0.0], [0.11, 0.0, 0.0], [0.7, 0.0, 0.0]],
        Shape::Triangle => vec![[-0.8, -0.5, 0.0], [0.3, -0.9, 0.0], [-0.6, 0.45, 0.0]],
        _ => vec![[-0.8, -0.5, 0.0], [0.3, -0.9, 0.0], [-0.6, 0.45, 0.0], [0.75, 0.85, 0.0]],
    }
}

fn at(points: &[[f64; 3]], weights: &Matrix, nodes: &[u32], q: usize) -> [f64; 3] {
    let mut x = [0.0; 3];
    for (&w, &n) in weights.row(q).iter().zip(nodes) {
        (0..3).for_each(|d| x[d] += w * points[n as usize][d]);
    }
    x
}

/// Check the invariants of a mesh: sets and faces in order, every side in one face, positive
/// Jacobians, and the two sides of every face at the same physical points.
pub(crate) fn check(mesh: &Mesh) {
    structure(mesh);
    sides_meet(mesh);
}

/// The invariants without the comparison of physical points.
pub(crate) fn structure(mesh: &Mesh) {
    mesh.check_orientation().unwrap();
    let mut first = 0;
    for set in &mesh.sets {
        assert_eq!(set.first, first);
        assert!(!set.is_empty());
        assert_eq!(set.nodes.len(), set.len() * set.nodes_per_element());
        assert_eq!(set.regions.len(), set.len());
        first += set.len();
    }
    assert!(mesh.sets.windows(2).all(|w| (w[0].shape, w[0].order) < (w[1].shape, w[1].order)));
    assert!(mesh.faces.windows(2).all(|w| w[0].minus < w[1].minus), "faces are out of order");
    let mut seen = HashSet::new();
    for face in &mesh.faces {
        assert!(seen.insert(face.minus));
        match face.across {
            Across::Interior { plus, .. } | Across::Periodic { plus, .. } => {
                assert!(face.minus < plus);
                assert!(seen.insert(plus));
            }
            Across::Boundary(b) => assert!((b as usize) < mesh.boundaries.len()),
        }
    }
    let sides: usize = mesh.sets.iter().map(|s| s.len() * s.shape.n_faces()).sum();
    assert_eq!(seen.len(), sides);
}

/// The two sides of every face have the same points in their frames.
fn sides_meet(mesh: &Mesh) {
    let bases: Vec<LagrangeBasis> = mesh.sets.iter().map(|s| LagrangeBasis::new(s.shape, s.order)).collect();
    let mut cache: HashMap<(usize, u8, Option<u8>), Matrix> = HashMap::new();
    // Points of a side: of its own frame, or the points that meet the minus side's with orientation k.
    let mut points = |side: Side, k: Option<u8>| -> Vec<[f64; 3]> {
        let (set, i) = mesh.locate(side.element as usize);
        let shape = mesh.sets[set].shape;
        let face_shape = mesh.side_shape(side);
        let weights = cache.entry((set, side.face, k)).or_insert_with(|| {
            let frame = |xi: [f64; 3]| k.map_or(xi, |k| face_shape.meet(k as usize, xi));
            let r: Vec<[f64; 3]> = samples(face_shape)
                .into_iter()
                .map(|xi| shape.face_point(side.face as usize, frame(xi)))
                .collect();
            bases[set].eval(&r)
        });
        let nodes = mesh.element_nodes(set, i);
        (0..weights.rows).map(|q| at(&mesh.points, weights, nodes, q)).collect()
    };
    let bounds = mesh.bounding_box();
    let size = (0..3).map(|d| bounds[1][d] - bounds[0][d]).fold(0.0, f64::max);
    let mut origin = mesh.periodic_faces.iter();
    for face in &mesh.faces {
        let (plus, k, link) = match face.across {
            Across::Boundary(_) => continue,
            Across::Interior { plus, orientation } => (plus, orientation, None),
            Across::Periodic { plus, orientation } => {
                let p = origin.next().unwrap();
                assert_eq!(p.minus, face.minus);
                (plus, orientation, Some((&mesh.links[p.link as usize], p.reversed)))
            }
        };
        assert_eq!(mesh.side_shape(face.minus), mesh.side_shape(plus));
        let (m, q) = (points(face.minus, None), points(plus, Some(k)));
        for (m, q) in m.into_iter().zip(q) {
            let (m, q) = match link {
                None => (m, q),
                Some((link, false)) => (link.apply(m), q),
                Some((link, true)) => (m, link.apply(q)),
            };
            for d in 0..3 {
                assert!((m[d] - q[d]).abs() < 1e-11 * size, "{face:?}: {m:?} {q:?}");
            }
        }
    }
    assert!(origin.next().is_none());
}

/// V − E + F − C (in the plane V − E + F) with every entity counted once.
pub(crate) fn euler_characteristic(mesh: &Mesh) -> i64 {
    let mut vertices = HashSet::new();
    let mut edges = HashSet::new();
    for e in 0..mesh.n_elements() {
        let v = mesh.element_vertices(e);
        vertices.extend(v.iter().copied());
        for [a, b] in mesh.shape(e).edges() {
            edges.insert((v[*a].min(v[*b]), v[*a].max(v[*b])));
        }
    }
    let cells = mesh.n_elements() as i64;
    let (v, e) = (vertices.len() as i64, edges.len() as i64);
    // A periodic face has its own vertices on each side.
    let faces = (mesh.faces.len() + mesh.periodic_faces.len()) as i64;
    if mesh.dim == 2 { v - e + cells } else { v - e + faces - cells }
}

/// Number of faces of each kind: inner, periodic, boundary.
pub(crate) fn face_kinds(mesh: &Mesh) -> [usize; 3] {
    let mut n = [0; 3];
    for face in &mesh.faces {
        n[match face.across {
            Across::Interior { .. } => 0,
            Across::Periodic { .. } => 1,
            Across::Boundary(_) => 2,
        }] += 1;
    }
    n
}

/// Number of faces on the boundary with this name.
pub(crate) fn faces_on(mesh: &Mesh, name: &str) -> usize {
    mesh.boundary_counts()[mesh.boundary_index(name).unwrap() as usize]
}

/// Volume of the mesh.
pub(crate) fn volume(mesh: &Mesh) -> f64 {
    mesh.volumes().iter().sum()
}

/// A smooth map that preserves the box [0, 1]^d and its periodicity and bends everything inside.
pub(crate) fn swirl([x, y, z]: [f64; 3]) -> [f64; 3] {
    use std::f64::consts::TAU;
    let bump = 0.04 * ((TAU * x).sin() * (TAU * y).sin() + (TAU * z).sin() * (TAU * x).cos());
    [x + bump, y - 0.7 * bump, z + 0.5 * bump * (TAU * z).sin()]
}
