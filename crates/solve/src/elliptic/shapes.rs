//! Properties of a mesh from which defaults of the linear solver are chosen.

use dgsuite_basis::Shape;
use dgsuite_mesh::Mesh;

/// Whether all elements are simplices.
pub(super) fn is_simplicial(mesh: &Mesh) -> bool {
    mesh.sets.iter().all(|set| matches!(set.shape, Shape::Triangle | Shape::Tetrahedron))
}

/// An element is stretched if the lengths of its edges differ by more than this factor. There, the extra
/// iterations of point smoothers and continuous functions outweigh their lower cost per iteration.
const STRETCHED: f64 = 30.0;

/// Returns whether more than a hundredth of the elements are stretched; simplices do not count.
pub(super) fn is_stretched(mesh: &Mesh) -> bool {
    let mut stretched = 0;
    for set in &mesh.sets {
        if matches!(set.shape, Shape::Triangle | Shape::Tetrahedron) {
            continue;
        }
        let faces: Vec<&[usize]> = (0..set.shape.n_faces()).map(|f| set.shape.face_vertices(f)).collect();
        for element in set.first..set.first + set.len() {
            let vertices = mesh.element_vertices(element);
            let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
            for face in &faces {
                for (k, &v) in face.iter().enumerate() {
                    let [a, b] = [v, face[(k + 1) % face.len()]].map(|v| mesh.points[vertices[v] as usize]);
                    let square: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
                    (shortest, longest) = (shortest.min(square), longest.max(square));
                }
            }
            stretched += usize::from(longest > STRETCHED * STRETCHED * shortest);
        }
    }
    100 * stretched > mesh.n_elements()
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
}
