//! Where a solution failed first, found from where it is no longer finite: a step takes bad values some elements further in
//! every direction, so that they began in the middle.

use super::Hyperbolic;
use dgsuite_mesh::{Across, Mesh};

/// The middle of the elements whose state is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    /// The element's number in the mesh file.
    pub(crate) element: u64,
    /// The mean of its vertices.
    pub(crate) at: [f64; 3],
    /// How many elements are not finite.
    pub(crate) bad: usize,
}

impl Hyperbolic {
    /// The middle of the elements that are not finite; `None` if there are none, or no others.
    pub(crate) fn origin_of_failure(&self) -> Option<Origin> {
        let (mesh, fields) = (&self.setup.mesh, self.n_fields());
        let parts = self.engine.discretization().summary();
        let state = self.engine.to_canonical();
        let mut end = 0;
        let bad: Vec<bool> = (0..mesh.n_elements())
            .map(|element| {
                let part = parts.iter().find(|part| part.shape == mesh.shape(element));
                let begin = end;
                end += part.map_or(0, |part| part.n_basis * fields);
                state.get(begin..end).is_some_and(|values| values.iter().any(|x| !x.is_finite()))
            })
            .collect();
        let element = middle(mesh, &bad)?;
        let count = bad.iter().filter(|&&bad| bad).count();
        Some(Origin { element: mesh.tag(element), at: mesh.centroid(element), bad: count })
    }
}

/// The bad element with most faces between it and a good one; `None` if all are good, or all bad.
fn middle(mesh: &Mesh, bad: &[bool]) -> Option<usize> {
    let pairs: Vec<[usize; 2]> = mesh
        .faces
        .iter()
        .filter_map(|face| match face.across {
            Across::Interior { plus, .. } | Across::Periodic { plus, .. } => {
                Some([face.minus.element as usize, plus.element as usize])
            }
            Across::Boundary(_) => None,
        })
        .collect();
    let mut depth: Vec<Option<usize>> = bad.iter().map(|&bad| (!bad).then_some(0)).collect();
    let mut deepest = None;
    for ring in 1.. {
        let mut found = Vec::new();
        for &[a, b] in &pairs {
            for (inner, outer) in [(a, b), (b, a)] {
                if depth[inner].is_none() && depth[outer] == Some(ring - 1) {
                    found.push(inner);
                }
            }
        }
        let Some(&first) = found.first() else { break };
        deepest = Some(first);
        found.iter().for_each(|&element| depth[element] = Some(ring));
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::Shape;
    use dgsuite_mesh::generate::Box;

    #[test]
    fn what_spread_from_an_element_began_there() {
        let max = [7.0, 7.0, 0.0];
        let mesh = Box { max, ..Box::unit(Shape::Quadrilateral, 7) }.build().expect("a mesh");
        let near = |element: usize| {
            let [x, y, _] = mesh.centroid(element);
            (x - 4.5).abs() + (y - 2.5).abs() < 2.5
        };
        let bad: Vec<bool> = (0..mesh.n_elements()).map(near).collect();
        let found = middle(&mesh, &bad).map(|element| mesh.centroid(element));
        assert_eq!(found, Some([4.5, 2.5, 0.0]));
        assert_eq!(middle(&mesh, &vec![false; bad.len()]), None);
        assert_eq!(middle(&mesh, &vec![true; bad.len()]), None);
    }
}
