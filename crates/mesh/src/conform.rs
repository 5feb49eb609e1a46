//! Conformity checks: outer faces that should meet another element, and curved faces that should coincide.

use std::collections::HashMap;

use crate::{
    Across, Mesh, MeshError, Side,
    connect::{Draft, Join},
    geometry::{cross, norm},
    mesh::mean,
    nearby::{Nearby, distance},
    periodic::TOLERANCE,
    side_nodes::SideNodes,
    sides::{Corners, face_corners},
};

/// Two points coincide if their distance is less than this fraction of the shortest edge nearby.
const SAME: f64 = 1e-6;

/// Check the sides without neighbour and without name for those that should meet another element.
///
/// # Errors
/// [`MeshError::UnmergedNodes`] for two faces at one place, [`MeshError::MixedFace`] for triangles
/// on a quadrilateral, [`MeshError::HangingNode`] for a node in the middle of a face.
pub(crate) fn check_hull(draft: &Draft, sides: &[Side]) -> Result<(), MeshError> {
    if sides.is_empty() {
        return Ok(());
    }
    let table = face_corners(&draft.sets);
    let set_of = |s: Side| {
        let e = s.element as usize;
        let at = draft.sets.iter().position(|set| e < set.first + set.len()).unwrap_or(0);
        (at, e - draft.sets[at].first)
    };
    let corners = |s: Side| {
        let (at, i) = set_of(s);
        let nodes = draft.sets[at].element(i);
        Corners::new(table[at][s.face as usize].iter().map(|&l| nodes[l]))
    };
    let tag = |s: Side| {
        let (at, i) = set_of(s);
        draft.sets[at].tags[i]
    };
    let faces: Vec<Corners> = sides.iter().map(|&s| corners(s)).collect();
    let point = |v: u32| draft.points[v as usize];
    let shortest = |c: &Corners| {
        let edge = |i: usize| distance(point(c.node[i]), point(c.node[(i + 1) % c.n]));
        (0..c.n).map(edge).fold(f64::INFINITY, f64::min)
    };
    let mut vertices: Vec<(u32, usize)> =
        faces.iter().enumerate().flat_map(|(f, c)| c.as_slice().iter().map(move |&v| (v, f))).collect();
    vertices.sort_unstable();
    vertices.dedup_by_key(|v| v.0);
    let ids: Vec<u32> = vertices.iter().map(|v| v.0).collect();
    let owner = |v: u32| sides[vertices[vertices.partition_point(|x| x.0 < v)].1];
    let mean_edge = faces.iter().map(&shortest).sum::<f64>() / faces.len() as f64;
    let near = Nearby::new(&draft.points, &ids, 2.0 * mean_edge);

    // The lowest vertex at each place represents all vertices at that place.
    let mut canonical: HashMap<u32, u32> = HashMap::with_capacity(ids.len());
    let mut reach: HashMap<u32, f64> = HashMap::with_capacity(ids.len());
    for c in &faces {
        let tolerance = SAME * shortest(c);
        for &v in c.as_slice() {
            let r = reach.entry(v).or_insert(tolerance);
            *r = r.min(tolerance);
        }
    }
    for &v in &ids {
        let mut lowest = v;
        near.within(point(v), point(v), reach[&v], |u| {
            if u < lowest && distance(point(u), point(v)) <= reach[&v] {
                lowest = u;
            }
        });
        canonical.insert(v, lowest);
    }
    let places = |c: &Corners| Corners::new(c.as_slice().iter().map(|v| canonical[v]));

    let mut at_place: HashMap<[u32; 4], usize> = HashMap::with_capacity(faces.len());
    for (f, c) in faces.iter().enumerate() {
        if let Some(other) = at_place.insert(places(c).key(), f) {
            let centroid = mean(&draft.points, c.as_slice());
            return Err(MeshError::UnmergedNodes {
                first: tag(sides[other]),
                second: tag(sides[f]),
                centroid,
            });
        }
    }
    for (f, c) in faces.iter().enumerate().filter(|(_, c)| c.n == 4) {
        let p = places(c).node;
        for skip in 0..4 {
            let triangle = Corners::new((0..4).filter(|&i| i != skip).map(|i| p[i]));
            if let Some(&other) = at_place.get(&triangle.key()) {
                let centroid = mean(&draft.points, c.as_slice());
                let (element, neighbour) = (tag(sides[f]), tag(sides[other]));
                return Err(MeshError::MixedFace { element, neighbour, centroid });
            }
        }
    }
    for (f, c) in faces.iter().enumerate() {
        let x: Vec<[f64; 3]> = c.as_slice().iter().map(|&v| point(v)).collect();
        let own = places(c);
        let tolerance = SAME * shortest(c);
        let bound = |least: f64, pick: fn(f64, f64) -> f64| -> [f64; 3] {
            std::array::from_fn(|d| x.iter().map(|x| x[d]).fold(least, pick))
        };
        let (lower, upper) = (bound(f64::INFINITY, f64::min), bound(f64::NEG_INFINITY, f64::max));
        let mut hanging: Option<u32> = None;
        near.within(lower, upper, tolerance, |v| {
            let new = !own.as_slice().contains(&canonical[&v]) && hanging.is_none_or(|h| v < h);
            if new && inside(&x, point(v), tolerance) {
                hanging = Some(v);
            }
        });
        if let Some(v) = hanging {
            let (element, neighbour) = (tag(sides[f]), tag(owner(v)));
            return Err(MeshError::HangingNode { element, neighbour, point: point(v) });
        }
    }
    Ok(())
}

/// True if `y` lies in the segment or (plane, convex) polygon `x`, or on its border.
fn inside(x: &[[f64; 3]], y: [f64; 3], tolerance: f64) -> bool {
    let minus = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|d| a[d] - b[d]) };
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|d| a[d] * b[d]).sum::<f64>();
    if let [a, b] = x {
        let (t, r) = (minus(*b, *a), minus(y, *a));
        let length = norm(t);
        let s = dot(t, r) / length;
        return s > 0.0 && s < length && norm(cross(t, r)) / length <= tolerance;
    }
    let mut normal = [0.0; 3];
    for i in 1..x.len() - 1 {
        let n = cross(minus(x[i], x[0]), minus(x[i + 1], x[0]));
        (0..3).for_each(|d| normal[d] += n[d]);
    }
    let size = norm(normal);
    dot(normal, minus(y, x[0])).abs() <= tolerance * size
        && (0..x.len()).all(|i| {
            let edge = minus(x[(i + 1) % x.len()], x[i]);
            dot(cross(edge, minus(y, x[i])), normal) >= -tolerance * norm(edge) * size
        })
}

/// Check that the curved nodes of the two sides of each inner face coincide.
///
/// Sides of different geometry order are not compared.
///
/// # Errors
/// [`MeshError::CurvedFace`] for the first face where they do not.
pub(crate) fn check_curved_faces(mesh: &Mesh) -> Result<(), MeshError> {
    if mesh.max_order() == 1 {
        return Ok(());
    }
    let mut sides = SideNodes::new(mesh);
    for face in &mesh.faces {
        if let Across::Interior { plus, orientation } = face.across {
            let tolerance = TOLERANCE * sides.shortest_edge(face.minus);
            let join = Join { first: face.minus, second: plus, orientation, link: 0 };
            sides.check_curve(&join, |x| x, tolerance)?;
        }
    }
    for join in mesh.joins() {
        let tolerance = TOLERANCE * sides.shortest_edge(join.first);
        sides.check_curve(&join, |x| mesh.links[join.link as usize].apply(x), tolerance)?;
    }
    Ok(())
}
