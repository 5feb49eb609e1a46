//! Operators of `tensor.cu`: one matrix for the lines, the lifts at their ends, and which face is at which end.

use crate::scheme::Form;
use dgsuite_basis::{Matrix, ReferenceElement, Shape};

/// The operators of `tensor.cu` and the place of each face.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorTables {
    /// The 1-D matrix that fluxes along a line are multiplied by, `[node × node]`, then the lifts at −1 and at +1.
    pub(crate) entries: Vec<f64>,
    /// Nodes along a line.
    pub(crate) n_nodes: usize,
    /// Direction that each face is normal to.
    pub(crate) face_direction: Vec<usize>,
    /// The end of the lines where the face is: 0 at −1, 1 at +1.
    pub(crate) face_end: Vec<usize>,
}

impl TensorTables {
    /// The tables of a quadrilateral or hexahedron; `None` unless the element is collocated, in volume and on faces, at
    /// nodes with a diagonal mass matrix that include the ends.
    #[must_use]
    pub(crate) fn new(reference: &ReferenceElement, form: Form) -> Option<Self> {
        let tensor = reference.tensor.as_ref()?;
        let (shape, n) = (reference.spec.shape, tensor.n_basis_1d);
        let identity = Matrix::identity(n);
        let lumped = tensor.interp == identity
            && tensor.mass_project == identity
            && tensor.face_mass_project == identity;
        if !lumped
            || !matches!(shape, Shape::Quadrilateral | Shape::Hexahedron)
            || reference.face_nodes.is_none()
        {
            return None;
        }
        let ends = [0, n - 1];
        let only_end = |e: usize| (0..n).all(|i| i == ends[e] || tensor.lift[e][i] == 0.0);
        if !only_end(0) || !only_end(1) {
            return None;
        }
        let lift = [0, 1].map(|e| tensor.lift[e][ends[e]]);
        let line = match form {
            Form::Weak => tensor.project.clone(),
            // −D + L N̂ I_f along the line.
            Form::Strong => Matrix::from_fn(n, n, |i, m| {
                let at = |e: usize| if i == ends[e] && m == ends[e] { lift[e] } else { 0.0 };
                at(1) - at(0) - tensor.derivative[(i, m)]
            }),
        };
        let mut entries = line.as_slice().to_vec();
        entries.extend(lift);
        let (mut face_direction, mut face_end) = (Vec::new(), Vec::new());
        for face in 0..shape.n_faces() {
            // The coordinate that the face's vertices share.
            let vertices = shape.face_vertices(face);
            let shared = |d: &usize| {
                vertices.iter().all(|&v| shape.vertices()[v][*d] == shape.vertices()[vertices[0]][*d])
            };
            let d = (0..shape.dim()).find(shared)?;
            face_direction.push(d);
            face_end.push(usize::from(shape.vertices()[vertices[0]][d] > 0.0));
        }
        Some(Self { entries, n_nodes: n, face_direction, face_end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::volume_matrices;
    use dgsuite_basis::{ElementSpec, NodeSet};

    /// The matrices that the kernel applies, written out: sums along lines, lifts at their ends.
    #[test]
    fn lines_and_lifts_are_the_dense_matrices() {
        for (shape, order) in [(Shape::Quadrilateral, 1), (Shape::Quadrilateral, 4), (Shape::Hexahedron, 3)] {
            let spec = ElementSpec::collocated(shape, order, NodeSet::GaussLobatto);
            let r = ReferenceElement::new(&spec).unwrap();
            for form in [Form::Weak, Form::Strong] {
                let t = TensorTables::new(&r, form).unwrap();
                let (n, np) = (t.n_nodes, r.n_basis);
                let dense = volume_matrices(&r, form, shape.dim());
                for (d, dense) in dense.iter().enumerate() {
                    let stride = n.pow(d as u32);
                    let along = |i: usize| i / stride % n;
                    let line = Matrix::from_fn(np, np, |i, m| {
                        let same = i - along(i) * stride == m - along(m) * stride;
                        if same { t.entries[along(i) * n + along(m)] } else { 0.0 }
                    });
                    assert!(line.distance(dense) < 1e-11, "{shape:?} {order} {form:?} {d}");
                }
                for (f, nodes) in r.face_nodes.as_ref().unwrap().iter().enumerate() {
                    let end = if t.face_end[f] == 0 { 0 } else { n - 1 };
                    for (q, &node) in nodes.iter().enumerate() {
                        assert_eq!(node / n.pow(t.face_direction[f] as u32) % n, end);
                        for i in 0..np {
                            let lift = if i == node { t.entries[n * n + t.face_end[f]] } else { 0.0 };
                            assert!((r.lift[(i, r.face_offsets[f] + q)] - lift).abs() < 1e-12 * (1.0 + lift));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nodes_inside_the_lines_are_left_to_others() {
        let spec = ElementSpec::collocated(Shape::Hexahedron, 2, NodeSet::GaussLegendre);
        assert_eq!(TensorTables::new(&ReferenceElement::new(&spec).unwrap(), Form::Weak), None);
    }
}
