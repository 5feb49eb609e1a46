//! A few elements of each kind of a mesh: enough to find out how the whole would be treated.

use crate::space::group::{Entry, element_points, shapes_of, split_kinds};
use dgsuite_basis::lattice::lattice;
use dgsuite_mesh::{ElementSet, Mesh};

/// Number of affine and of curved elements of each shape that are kept.
const KEPT: usize = 16;

/// The first elements of each shape, affine and curved ones, without faces and boundaries. Whether their
/// numbers are even or odd is as in `mesh`. With `straight`, the curved ones are replaced by affine elements.
pub(crate) fn sample(mesh: &Mesh, straight: bool) -> Mesh {
    let mut points = Vec::new();
    let mut sets: Vec<ElementSet> = mesh
        .sets
        .iter()
        .map(|set| ElementSet { nodes: Vec::new(), tags: Vec::new(), regions: Vec::new(), ..*set })
        .collect();
    for shape in shapes_of(mesh) {
        let (affine, curved, _) = split_kinds(mesh, shape);
        for (kind, is_curved) in [(affine, false), (curved, true)] {
            let kept = kind.len().min(KEPT + kind.len() % 2);
            for &Entry { set, local, .. } in &kind[..kept] {
                let mut x = element_points(mesh, set, local);
                if straight && is_curved {
                    straighten(&lattice(shape, sets[set].order), &mut x);
                }
                let first = points.len() as u32;
                sets[set].nodes.extend(first..first + x.len() as u32);
                sets[set].tags.push(mesh.sets[set].tags[local]);
                sets[set].regions.push(mesh.sets[set].regions[local]);
                points.extend(x);
            }
        }
    }
    sets.retain(|set| !set.tags.is_empty());
    let mut first = 0;
    for set in &mut sets {
        set.first = first;
        first += set.tags.len();
    }
    let (faces, boundaries) = (Vec::new(), Vec::new());
    let (region_names, links, periodic_faces) = (Vec::new(), Vec::new(), Vec::new());
    Mesh { dim: mesh.dim, points, sets, faces, boundaries, region_names, links, periodic_faces }
}

/// Moves the nodes of an element to those of the affine element with the same edges at the first vertex.
fn straighten(lattice: &[[f64; 3]], x: &mut [[f64; 3]]) {
    let origin = x[0];
    // The end of the edge along direction `d`, if the shape has this direction.
    let end = |d: usize| {
        lattice.iter().position(|r| {
            (0..3).all(|e| (r[e] - lattice[0][e]).abs() < 1e-12 || e == d) && (r[d] - 1.0).abs() < 1e-12
        })
    };
    let edges: Vec<Option<[f64; 3]>> = (0..3).map(|d| end(d).map(|i| x[i])).collect();
    for (r, x) in lattice.iter().zip(x) {
        for c in 0..3 {
            let along =
                |d: usize| edges[d].map_or(0.0, |e| 0.5 * (r[d] - lattice[0][d]) * (e[c] - origin[c]));
            x[c] = origin[c] + (0..3).map(along).sum::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::group::needs;
    use dgsuite_basis::Shape;
    use dgsuite_mesh::generate::{Box as Cells, Diagonal};

    /// A box of cells of which the second half is curved.
    fn half_curved(shape: Shape, cells: [usize; 3]) -> Mesh {
        let (min, max, diagonal) = ([0.0; 3], [1.0; 3], Diagonal::Alternate);
        let mut mesh = Cells { shape, min, max, cells, diagonal }.build().expect("a mesh");
        mesh.elevate(2).expect("the order is raised");
        let bend = |x: f64| 0.2 * (x - 0.5).max(0.0) * (1.0 - x);
        mesh.map(|[x, y, z]| [x, y + bend(x) * (1.0 - y), z]).expect("the mesh is moved");
        mesh
    }

    #[test]
    fn samples_are_small_and_have_every_kind() {
        for shape in
            [Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism]
        {
            let mesh = half_curved(shape, [10, 5, 3]);
            let few = sample(&mesh, false);
            let (all, own) = (needs(&mesh), needs(&few));
            assert_eq!((all[0].affine, all[0].curved), (true, Some(2)), "{shape:?}");
            assert_eq!((own[0].affine, own[0].curved), (true, Some(2)), "{shape:?}");
            assert!(few.n_elements() <= 2 * (KEPT + 1), "{shape:?}");
            let counts = |mesh: &Mesh| {
                let (affine, curved, _) = split_kinds(mesh, shape);
                [affine.len() % 2, curved.len() % 2]
            };
            assert_eq!(counts(&few), counts(&mesh), "{shape:?}");
            let straight = needs(&sample(&mesh, true));
            assert_eq!((straight[0].affine, straight[0].curved), (true, None), "{shape:?}");
        }
    }
}
