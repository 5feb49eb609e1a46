//! Properties of a mesh from which defaults of the linear solver are chosen.

use dgsuite_basis::Shape;
use dgsuite_mesh::Mesh;

/// Whether all elements are simplices.
pub(super) fn is_simplicial(mesh: &Mesh) -> bool {
    mesh.sets.iter().all(|set| matches!(set.shape, Shape::Triangle | Shape::Tetrahedron))
}

/// Whether all elements are quadrilaterals or hexahedra.
pub(crate) fn is_of_tensors(mesh: &Mesh) -> bool {
    mesh.sets.iter().all(|set| matches!(set.shape, Shape::Quadrilateral | Shape::Hexahedron))
}

/// Where the aspect ratio of elements other than simplices exceeds this, continuous functions take more
/// iterations than point smoothers of the matrix of order 1 cost.
const STRETCHED: f64 = 30.0;

/// Elements above this aspect ratio are thin: point smoothers take twice as many iterations.
pub const THIN: f64 = 3.0;

/// Returns whether more than a hundredth of the elements are stretched; simplices do not count.
pub(super) fn is_stretched(mesh: &Mesh) -> bool {
    let simplex = |e: usize| matches!(mesh.shape(e), Shape::Triangle | Shape::Tetrahedron);
    many(mesh, |e| !simplex(e) && aspect_ratio(mesh, e) > STRETCHED)
}

/// Returns whether more than a hundredth of the elements are thin: whether linelets are the default.
#[must_use]
pub fn is_thin(mesh: &Mesh) -> bool {
    many(mesh, |e| aspect_ratio(mesh, e) > THIN)
}

fn many(mesh: &Mesh, counts: impl Fn(usize) -> bool) -> bool {
    let allowed = mesh.n_elements() / 100;
    (0..mesh.n_elements()).filter(|e| counts(*e)).nth(allowed).is_some()
}

/// The longest edge of an element divided by its shortest; on a simplex by its height above the largest face.
/// Of the curved ones, that of the vertices.
#[must_use]
pub fn aspect_ratio(mesh: &Mesh, element: usize) -> f64 {
    let shape = mesh.shape(element);
    let vertices = mesh.element_vertices(element);
    let point = |v: usize| mesh.points[vertices[v] as usize];
    let minus = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|d| a[d] - b[d]) };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let squares = shape.edges().iter().map(|&[a, b]| {
        let edge = minus(point(b), point(a));
        dot(edge, edge)
    });
    let (shortest, longest) = squares.fold((f64::INFINITY, 0.0_f64), |(s, l), x| (s.min(x), l.max(x)));
    if !matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
        return (longest / shortest).sqrt();
    }
    let sides =
        [1, 2, 3].map(|v| if v < vertices.len() { minus(point(v), point(0)) } else { [0.0, 0.0, 1.0] });
    let volume = dot(cross(sides[0], sides[1]), sides[2]).abs();
    let area = |face: usize| {
        let corners = shape.face_vertices(face);
        let first = point(corners[0]);
        let along = minus(point(corners[1]), first);
        let across = corners.get(2).map_or([0.0, 0.0, 1.0], |c| minus(point(*c), first));
        let normal = cross(along, across);
        dot(normal, normal).sqrt()
    };
    let largest = (0..shape.n_faces()).map(area).fold(0.0, f64::max);
    // Triangulations of thin boxes have about the ratio of the boxes.
    let of_boxes = if shape == Shape::Triangle { 1.0 } else { 1.5 };
    longest.sqrt() * largest / volume / of_boxes
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::generate::Box as Rectangle;

    #[test]
    fn elements_are_stretched_by_their_edges() {
        for (shape, height, stretched) in [
            (Shape::Quadrilateral, 1.0 / 29.0, false),
            (Shape::Quadrilateral, 1.0 / 31.0, true),
            (Shape::Hexahedron, 1.0 / 31.0, true),
            (Shape::Triangle, 1.0 / 100.0, false),
        ] {
            let mut mesh = Rectangle::unit(shape, 3).build().unwrap();
            mesh.map(|[x, y, z]| [x, height * y, z]).unwrap();
            assert_eq!(is_stretched(&mesh), stretched, "{shape:?} {height}");
        }
    }

    #[test]
    fn aspect_ratios_are_those_of_the_boxes_that_are_cut() {
        for shape in [Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Hexahedron] {
            for aspect in [1.0, 2.0, 10.0, 1000.0] {
                let mut mesh = Rectangle::unit(shape, 2).build().unwrap();
                let last = shape.dim() - 1;
                mesh.map(|mut x| {
                    x[last] /= aspect;
                    x
                })
                .unwrap();
                for e in 0..mesh.n_elements() {
                    let found = aspect_ratio(&mesh, e);
                    assert!(
                        (0.6 * aspect..1.5 * aspect + 0.51).contains(&found),
                        "{shape:?} {aspect} {found}"
                    );
                }
                assert_eq!(is_thin(&mesh), aspect > 3.0, "{shape:?} {aspect}");
            }
        }
    }
}
