//! Straight faces on a boundary that other faces round: chords that were left when the geometry was curved.

use std::collections::HashMap;

use dgsuite_basis::{LagrangeBasis, Shape, lattice::lattice};

use crate::{
    Across, Mesh, Side,
    geometry::{cross, norm},
    side_nodes::SideNodes,
};

/// A face is straight if its normal turns by less than this, in radians, and curved if by more than the
/// second.
const STRAIGHT: f64 = 1e-6;
const CURVED: f64 = 1e-3;
/// Share of the turn of a curved face from which on an angle between faces is that of a chord. Where a
/// straight part touches a round one, the angle is smaller by the order of the geometry.
const SHARE: f64 = 0.25;
/// Angles above this are corners of the boundary.
const CORNER: f64 = 0.7;

/// The straight faces of a boundary that meet their neighbours at an angle, where other faces are curved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chords {
    /// Index of the boundary.
    pub(crate) boundary: u32,
    /// Number of these faces, and the first of them.
    pub(crate) count: usize,
    pub(crate) first: Side,
    /// Number of curved faces of the boundary.
    pub(crate) curved: usize,
}

/// A boundary face.
struct Bend {
    side: Side,
    /// The largest angle between normals of the face.
    turn: f64,
    /// Vertices that each joint has (in the plane twice the same), and the normal there.
    joints: Vec<([u32; 2], [f64; 3])>,
}

/// The chords of all boundaries.
pub(crate) fn chords(mesh: &Mesh) -> Vec<Chords> {
    if mesh.max_order() == 1 {
        return Vec::new();
    }
    let faces = bends(mesh);
    faces.iter().zip(0..).filter_map(|(faces, boundary)| of_boundary(faces, boundary)).collect()
}

/// The faces of each boundary.
fn bends(mesh: &Mesh) -> Vec<Vec<Bend>> {
    let mut faces: Vec<Vec<Bend>> = mesh.boundaries.iter().map(|_| Vec::new()).collect();
    let nodes = SideNodes::new(mesh);
    let mut tables = HashMap::new();
    for face in &mesh.faces {
        if let Across::Boundary(b) = face.across {
            let order = mesh.sets[mesh.locate(face.minus.element as usize).0].order;
            let shape = mesh.side_shape(face.minus);
            let table = tables.entry((shape, order)).or_insert_with(|| Table::new(shape, order));
            let vertices = mesh.side_vertices(face.minus);
            faces[b as usize].push(table.bend(mesh, face.minus, &nodes.nodes(face.minus), &vertices));
        }
    }
    faces
}

/// Angles below this, in radians, are those of faces in one plane.
const PLANE: f64 = 0.02;
/// Share of the joints of a boundary, and their number, from which on its faces are those of a round body.
const ROUND: (f64, usize) = (0.25, 4);

impl Mesh {
    /// Returns the boundaries of a mesh of straight elements whose faces meet at many small angles, as chords
    /// of a round body do, with the median of these angles in radians.
    #[must_use]
    pub fn polygons(&self) -> Vec<(u32, f64)> {
        if self.max_order() > 1 {
            return Vec::new();
        }
        let of_boundary = |(faces, boundary): (&Vec<Bend>, u32)| {
            let mut first: HashMap<[u32; 2], [f64; 3]> = HashMap::new();
            let (mut joints, mut kinks) = (0, Vec::new());
            for &(key, normal) in faces.iter().flat_map(|face| &face.joints) {
                if let Some(other) = first.insert(key, normal) {
                    joints += 1;
                    let kink = angle(normal, other);
                    if kink > PLANE && kink < CORNER {
                        kinks.push(kink);
                    }
                }
            }
            kinks.sort_unstable_by(f64::total_cmp);
            let round = kinks.len() >= ROUND.1 && kinks.len() as f64 >= ROUND.0 * f64::from(joints);
            round.then(|| (boundary, kinks[kinks.len() / 2]))
        };
        bends(self).iter().zip(0..).filter_map(of_boundary).collect()
    }
}

fn of_boundary(faces: &[Bend], boundary: u32) -> Option<Chords> {
    let mut turns: Vec<f64> = faces.iter().map(|f| f.turn).filter(|&turn| turn > CURVED).collect();
    turns.sort_unstable_by(f64::total_cmp);
    let typical = *turns.get(turns.len() / 2)?;
    let mut at: HashMap<[u32; 2], Vec<(usize, [f64; 3])>> = HashMap::new();
    for (i, face) in faces.iter().enumerate() {
        face.joints.iter().for_each(|&(key, normal)| at.entry(key).or_default().push((i, normal)));
    }
    let is_chord = |(i, face): (usize, &Bend)| {
        let kinked = |(key, normal): &([u32; 2], [f64; 3])| {
            at.get(key).into_iter().flatten().any(|&(j, other)| {
                let turn = if faces[j].turn > CURVED { faces[j].turn } else { typical };
                let kink = angle(*normal, other);
                j != i && kink > SHARE * turn && kink < CORNER
            })
        };
        face.turn < STRAIGHT && face.joints.iter().any(kinked)
    };
    let found: Vec<Side> =
        faces.iter().enumerate().filter(|&(i, face)| is_chord((i, face))).map(|(_, f)| f.side).collect();
    let first = *found.first()?;
    Some(Chords { boundary, count: found.len(), first, curved: turns.len() })
}

/// The derivatives of the faces of one shape and order at their nodes, then at their joints.
struct Table {
    grad: [dgsuite_basis::Matrix; 3],
    n_nodes: usize,
    /// Vertices of the face at each joint.
    joints: Vec<[usize; 2]>,
}

impl Table {
    fn new(shape: Shape, order: usize) -> Self {
        let mut points = lattice(shape, order);
        let n_nodes = points.len();
        let v = shape.vertices();
        let joints: Vec<[usize; 2]> = match shape {
            Shape::Line => vec![[0, 0], [1, 1]],
            _ => (0..v.len()).map(|i| [i, (i + 1) % v.len()]).collect(),
        };
        let middle = |&[a, b]: &[usize; 2]| std::array::from_fn(|d| 0.5 * (v[a][d] + v[b][d]));
        points.extend(joints.iter().map(middle));
        Self { grad: LagrangeBasis::new(shape, order).grad(&points), n_nodes, joints }
    }

    fn bend(&self, mesh: &Mesh, side: Side, nodes: &[u32], vertices: &[u32]) -> Bend {
        let tangent = |q: usize, d: usize| {
            let mut t = [0.0; 3];
            for (&w, &n) in self.grad[d].row(q).iter().zip(nodes) {
                (0..3).for_each(|j| t[j] += w * mesh.points[n as usize][j]);
            }
            t
        };
        let normal = |q: usize| {
            let t = tangent(q, 0);
            if mesh.dim == 2 { [t[1], -t[0], 0.0] } else { cross(t, tangent(q, 1)) }
        };
        let normals: Vec<[f64; 3]> = (0..self.n_nodes).map(normal).collect();
        let mut turn = 0.0_f64;
        for (i, &a) in normals.iter().enumerate() {
            turn = normals[..i].iter().fold(turn, |turn, &b| turn.max(angle(a, b)));
        }
        let joint = |(k, &[a, b]): (usize, &[usize; 2])| {
            let (a, b) = (vertices[a], vertices[b]);
            ([a.min(b), a.max(b)], normal(self.n_nodes + k))
        };
        Bend { side, turn, joints: self.joints.iter().enumerate().map(joint).collect() }
    }
}

/// The angle between two vectors.
fn angle(a: [f64; 3], b: [f64; 3]) -> f64 {
    norm(cross(a, b)).atan2(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Box;

    /// A box whose lower x side becomes an arc of radius 1 (in space a part of a cylinder).
    fn arc(shape: Shape, order: usize) -> Mesh {
        let mut mesh = Box { cells: [1, 8, 2], ..Box::unit(shape, 1) }.build().unwrap();
        mesh.elevate(order).unwrap();
        mesh.map(|[x, y, z]| [(1.0 + x) * y.cos(), (1.0 + x) * y.sin(), z]).unwrap();
        mesh
    }

    /// Moves the nodes of some faces of a boundary to places between their vertices.
    fn straighten(mesh: &mut Mesh, name: &str, which: &[usize]) {
        let boundary = mesh.boundary_index(name).unwrap();
        let sides: Vec<Side> =
            mesh.faces.iter().filter(|f| f.across == Across::Boundary(boundary)).map(|f| f.minus).collect();
        for &i in which {
            let (nodes, vertices) = (mesh.side_nodes(sides[i]), mesh.side_vertices(sides[i]));
            let shape = mesh.side_shape(sides[i]);
            let order = mesh.max_order();
            let weights = LagrangeBasis::new(shape, 1).eval(&lattice(shape, order));
            // Bilinear: the lattice of order 1 has its own order.
            let corners = crate::topology::Lattice::new(shape, 1).vertices;
            for (q, &n) in nodes.iter().enumerate() {
                let mut x = [0.0; 3];
                for (&c, &v) in corners.iter().zip(&vertices) {
                    (0..3).for_each(|d| x[d] += weights.row(q)[c] * mesh.points[v as usize][d]);
                }
                mesh.points[n as usize] = x;
            }
        }
    }

    #[test]
    fn chords_of_an_arc_are_found_and_arcs_are_not() {
        for (shape, order) in [
            (Shape::Triangle, 2),
            (Shape::Quadrilateral, 3),
            (Shape::Hexahedron, 2),
            (Shape::Tetrahedron, 2),
            (Shape::Prism, 2),
        ] {
            let mut mesh = arc(shape, order);
            assert_eq!(chords(&mesh), [], "{shape}");
            straighten(&mut mesh, "xmin", &[3]);
            let found = chords(&mesh);
            let name = mesh.boundary_index("xmin").unwrap();
            assert!(
                matches!(found[..], [Chords { boundary, count: 1, curved, .. }] if boundary == name && curved > 4),
                "{shape}: {found:?}"
            );
        }
    }

    #[test]
    fn a_flat_part_beside_a_round_one_is_no_chord() {
        for (shape, order) in [(Shape::Triangle, 2), (Shape::Quadrilateral, 4)] {
            let mut mesh = Box { cells: [12, 1, 1], ..Box::unit(shape, 1) }.build().unwrap();
            mesh.elevate(order).unwrap();
            // A bump from 1/3 to 2/3 that begins with slope zero, and a ramp with a corner at the end.
            let bump = |x: f64| {
                if (1.0 / 3.0..2.0 / 3.0).contains(&x) {
                    (3.0 * std::f64::consts::PI * x).sin().powi(2)
                } else {
                    0.0
                }
            };
            mesh.map(|[x, y, _]| [x, y + 0.03 * (1.0 - y) * bump(x), 0.0]).unwrap();
            assert_eq!(chords(&mesh), [], "{shape}");
            // Between curved faces, one of the bump's own is a chord.
            straighten(&mut mesh, "ymin", &[5]);
            assert_eq!(chords(&mesh).len(), 1, "{shape}");
        }
    }

    #[test]
    fn straight_meshes_have_none() {
        assert_eq!(chords(&arc(Shape::Quadrilateral, 1)), []);
    }

    #[test]
    fn straight_faces_around_a_round_body_are_polygons() {
        for shape in
            [Shape::Triangle, Shape::Quadrilateral, Shape::Hexahedron, Shape::Tetrahedron, Shape::Prism]
        {
            let mesh = arc(shape, 1);
            let name = |boundary: u32| mesh.boundaries[boundary as usize].name.as_str();
            let mut found: Vec<_> = mesh.polygons().into_iter().map(|(b, angle)| (name(b), angle)).collect();
            found.sort_by(|a, b| a.0.cmp(b.0));
            assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), ["xmax", "xmin"], "{shape}");
            // An angle of one radian in eight faces.
            assert!(found.iter().all(|f| (f.1 - 0.125).abs() < 1e-3), "{shape}: {found:?}");
            assert_eq!(arc(shape, 2).polygons(), []);
        }
        // A ramp has one corner.
        let mut ramp = Box { cells: [12, 2, 1], ..Box::unit(Shape::Quadrilateral, 1) }.build().unwrap();
        ramp.map(|[x, y, _]| [x, y + 0.3 * (1.0 - y) * (x - 0.5).max(0.0), 0.0]).unwrap();
        assert_eq!(ramp.polygons(), []);
    }
}
