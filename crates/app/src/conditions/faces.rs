//! The faces of a boundary and their normals.

use dgsuite_mesh::{Across, Mesh, Side};

/// Returns the sides of elements on a boundary.
pub(crate) fn sides_of(mesh: &Mesh, name: &str) -> Vec<Side> {
    let named = |b: u32| mesh.boundaries.get(b as usize).is_some_and(|tag| tag.name == name);
    let faces = mesh.faces.iter().filter(|face| matches!(face.across, Across::Boundary(b) if named(b)));
    faces.map(|face| face.minus).collect()
}

/// Returns the unit normal of a side that points away from the centre of its element.
pub(crate) fn outward(side: Side, mesh: &Mesh) -> [f64; 3] {
    let n = normal(side, mesh);
    let (face, inside) = (mesh.side_centroid(side), mesh.centroid(side.element as usize));
    let away: f64 = (0..3).map(|d| n[d] * (face[d] - inside[d])).sum();
    if away < 0.0 { n.map(|c| -c) } else { n }
}

/// Returns the unit normal of the plane through a side's vertices, or of the line through two.
pub(crate) fn normal(side: Side, mesh: &Mesh) -> [f64; 3] {
    let n = area_vector(&mesh.side_vertices(side), mesh);
    let length = n.iter().map(|c| c * c).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    n.map(|c| c / length)
}

/// Returns a normal of a side with its area (of an edge its length) as length, into or out of the element.
pub(crate) fn area_vector(vertices: &[u32], mesh: &Mesh) -> [f64; 3] {
    let at = |i: usize| mesh.points[vertices[i % vertices.len()] as usize];
    let mut n = [0.0; 3];
    if vertices.len() == 2 {
        let (a, b) = (at(0), at(1));
        n = [b[1] - a[1], a[0] - b[0], 0.0];
    } else {
        for i in 0..vertices.len() {
            let (a, b) = (at(i), at(i + 1));
            for d in 0..3 {
                let (j, k) = ((d + 1) % 3, (d + 2) % 3);
                n[d] += 0.5 * (a[j] * b[k] - a[k] * b[j]);
            }
        }
    }
    n
}
