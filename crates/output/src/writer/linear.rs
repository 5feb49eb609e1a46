//! Divides a cell into linear cells between the points of its lattice.
//!
//! Lines, triangles, quadrilaterals and hexahedra are divided along their rows and layers into `n^d` smaller
//! ones. The tetrahedron of order `n` is divided into small tetrahedra of the same orientation, octahedra
//! (each divided into four along one diagonal) and inverted tetrahedra: `n³` in all. The prism is divided
//! into `n³` prisms, each of them into three tetrahedra. The pyramid is divided into upright pyramids on each
//! square of a level, inverted pyramids below each square of the level above, and tetrahedra between two
//! neighbouring upright pyramids:
//!
//! ```text
//!   order 2, seen from the side:      /\
//!                                    /__\        1 standing
//!                                   /\  /\       4 standing, 1 hanging, 4 tetrahedra
//!                                  /__\/__\
//! ```
//!
//! `VTK_WEDGE` is not used, because versions of VTK differ in which of its two orientations has a positive
//! volume: up to 9.6 the one whose base 0-1-2 points outward, in 9.7 the other one.

use std::collections::HashMap;

use dgsuite_basis::{
    Shape,
    lattice::{lattice, lattice_indices},
};
use vtkio::model::CellType;

/// Returns the linear cells that fill the shape: VTK type and lattice nodes of each.
pub(super) fn linear_cells(shape: Shape, n: usize) -> Vec<(CellType, Vec<usize>)> {
    let indices = lattice_indices(shape, n);
    let position: HashMap<[usize; 3], usize> =
        indices.iter().enumerate().map(|(at, &index)| (index, at)).collect();
    let points = lattice(shape, n);
    let mut out = Vec::new();
    for &corner in &indices {
        for (kind, nodes) in cells_at(shape, n, corner) {
            let mut nodes: Vec<usize> = nodes.iter().map(|index| position[index]).collect();
            if kind == CellType::Tetra && volume(&points, &nodes) < 0.0 {
                nodes.swap(2, 3);
            }
            out.push((kind, nodes));
        }
    }
    out
}

/// Returns tetrahedra that fill a solid, by lattice nodes: the linear cells, of which a hexahedron is six
/// around a diagonal and a pyramid is two.
pub fn tetrahedra(shape: Shape, n: usize) -> Vec<Vec<usize>> {
    let corners = |kind| -> &[[usize; 4]] {
        match kind {
            CellType::Hexahedron => {
                &[[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
            }
            CellType::Pyramid => &[[0, 1, 2, 4], [0, 2, 3, 4]],
            CellType::Tetra => &[[0, 1, 2, 3]],
            _ => &[],
        }
    };
    let cells = linear_cells(shape, n);
    cells
        .iter()
        .flat_map(|(kind, nodes)| corners(*kind).iter().map(|t| t.map(|v| nodes[v]).to_vec()))
        .collect()
}

type Cell = (CellType, Vec<[usize; 3]>);

/// Returns the cells that belong to the lattice point `[i, j, k]`; each cell belongs to one point.
fn cells_at(shape: Shape, n: usize, [i, j, k]: [usize; 3]) -> Vec<Cell> {
    // The nodes of a list of vertices given relative to the point.
    let cell =
        |kind, steps: &[[usize; 3]]| (kind, steps.iter().map(|s| [i + s[0], j + s[1], k + s[2]]).collect());
    let mut out = Vec::new();
    match shape {
        Shape::Line if i < n => out.push(cell(CellType::Line, &SQUARE[..2])),
        Shape::Triangle => {
            out.extend((i + j < n).then(|| cell(CellType::Triangle, &UPRIGHT)));
            out.extend((i + j + 1 < n).then(|| cell(CellType::Triangle, &TURNED)));
        }
        Shape::Quadrilateral if i < n && j < n => out.push(cell(CellType::Quad, &SQUARE)),
        Shape::Hexahedron if i < n && j < n && k < n => {
            out.push(cell(CellType::Hexahedron, &[SQUARE, raised(SQUARE)].concat()));
        }
        Shape::Prism if k < n => {
            // The base in lattice order gives each quadrilateral side the same diagonal in both prisms.
            let mut prism = |[a, b, c]: [[usize; 3]; 3]| {
                let [d, e, f] = raised([a, b, c]);
                out.extend([[a, b, c, d], [b, c, d, e], [c, d, e, f]].map(|t| cell(CellType::Tetra, &t)));
            };
            let [a, b, c] = TURNED;
            if i + j < n {
                prism(UPRIGHT);
            }
            if i + j + 1 < n {
                prism([a, c, b]);
            }
        }
        Shape::Tetrahedron => {
            let sum = i + j + k;
            let tetra = |steps: &[[usize; 3]]| cell(CellType::Tetra, steps);
            out.extend((sum < n).then(|| tetra(&[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])));
            if sum + 1 < n {
                // The octahedron: its diagonal and the four vertices around it.
                let (a, b) = ([1, 0, 0], [0, 1, 1]);
                let ring = [[0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 0]];
                out.extend((0..4).map(|r| tetra(&[a, b, ring[r], ring[(r + 1) % 4]])));
            }
            out.extend((sum + 2 < n).then(|| tetra(&[[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])));
        }
        Shape::Pyramid => pyramid_cells(n, [i, j, k], &mut out),
        _ => {}
    }
    out
}

/// A square, and the two triangles of a row, in the plane of a level.
const SQUARE: [[usize; 3]; 4] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]];
const UPRIGHT: [[usize; 3]; 3] = [[0, 0, 0], [1, 0, 0], [0, 1, 0]];
const TURNED: [[usize; 3]; 3] = [[1, 0, 0], [1, 1, 0], [0, 1, 0]];

fn raised<const N: usize>(steps: [[usize; 3]; N]) -> [[usize; 3]; N] {
    steps.map(|[i, j, k]| [i, j, k + 1])
}

/// Pyramids and tetrahedra of the point `[i, j, k]` of a pyramid's lattice.
///
/// Level `k` has `m = n − k` squares a side. Point `(i, j)` of level `k + 1` is above the middle of
/// square `(i, j)` of level `k`, and inner point `(i, j)` of level `k` is below the middle of square
/// `(i − 1, j − 1)` of level `k + 1`.
fn pyramid_cells(n: usize, [i, j, k]: [usize; 3], out: &mut Vec<Cell>) {
    let m = n - k;
    if m == 0 {
        return;
    }
    if i < m && j < m {
        let base = [[i, j, k], [i + 1, j, k], [i + 1, j + 1, k], [i, j + 1, k], [i, j, k + 1]];
        out.push((CellType::Pyramid, base.to_vec()));
    }
    let inner = |i: usize| i > 0 && i < m;
    if inner(i) && inner(j) {
        // Seen from the apex below it, the base is listed clockwise.
        let k1 = k + 1;
        let hanging = [[i - 1, j - 1, k1], [i - 1, j, k1], [i, j, k1], [i, j - 1, k1], [i, j, k]];
        out.push((CellType::Pyramid, hanging.to_vec()));
    }
    // An inner edge of level k and the tips of the upright pyramids on both sides of it.
    if i < m && inner(j) {
        let tetra = [[i, j, k], [i + 1, j, k], [i, j - 1, k + 1], [i, j, k + 1]];
        out.push((CellType::Tetra, tetra.to_vec()));
    }
    if inner(i) && j < m {
        let tetra = [[i, j, k], [i, j + 1, k], [i - 1, j, k + 1], [i, j, k + 1]];
        out.push((CellType::Tetra, tetra.to_vec()));
    }
}

/// Six times the signed volume of the tetrahedron of the given points.
fn volume(points: &[[f64; 3]], nodes: &[usize]) -> f64 {
    let side = |v: usize| -> [f64; 3] { std::array::from_fn(|d| points[nodes[v]][d] - points[nodes[0]][d]) };
    let [a, b, c] = [side(1), side(2), side(3)];
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Signed length, area or volume of a linear cell with plane faces, as a sum over simplices from its
    /// first vertex.
    fn measure(kind: CellType, x: &[[f64; 3]]) -> f64 {
        let tetra = |a: usize, b: usize, c: usize, d: usize| volume(x, &[a, b, c, d]) / 6.0;
        let area = |a: usize, b: usize, c: usize| {
            let [p, q] = [b, c].map(|v| [x[v][0] - x[a][0], x[v][1] - x[a][1]]);
            0.5 * (p[0] * q[1] - p[1] * q[0])
        };
        match kind {
            CellType::Line => x[1][0] - x[0][0],
            CellType::Triangle => area(0, 1, 2),
            CellType::Quad => area(0, 1, 2) + area(0, 2, 3),
            CellType::Tetra => tetra(0, 1, 2, 3),
            CellType::Pyramid => tetra(0, 1, 2, 4) + tetra(0, 2, 3, 4),
            CellType::Hexahedron => {
                let base = |a, b, c, d| tetra(a, b, c, 6) + tetra(a, c, d, 6);
                base(0, 1, 2, 3) + base(0, 4, 5, 1) + base(0, 3, 7, 4)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn cells_are_positive_and_fill_the_shape() {
        for shape in Shape::ALL {
            for n in 1..=6 {
                let points = lattice(shape, n);
                let mut total = 0.0;
                for (kind, nodes) in linear_cells(shape, n) {
                    let x: Vec<_> = nodes.iter().map(|&at| points[at]).collect();
                    let size = measure(kind, &x);
                    assert!(size > 1e-6, "{shape} {n}: {kind:?} {nodes:?} has size {size}");
                    total += size;
                }
                assert!((total - shape.measure()).abs() < 1e-13, "{shape} {n}: {total}");
            }
        }
    }

    #[test]
    fn tetrahedra_fill_the_shape() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() == 3) {
            for n in 1..=4 {
                let points = lattice(shape, n);
                let sizes: Vec<f64> = tetrahedra(shape, n).iter().map(|t| volume(&points, t) / 6.0).collect();
                assert!(sizes.iter().all(|&v| v > 1e-6), "{shape} {n}");
                assert!((sizes.iter().sum::<f64>() - shape.measure()).abs() < 1e-13, "{shape} {n}");
            }
        }
    }

    #[test]
    fn counts_are_those_promised() {
        for n in 1..=6 {
            for shape in Shape::ALL {
                let cells = linear_cells(shape, n);
                let tetrahedra = cells.iter().filter(|(kind, _)| *kind == CellType::Tetra).count();
                let others = cells.len() - tetrahedra;
                let expected = match shape {
                    Shape::Pyramid => (2 * n * (n * n - 1) / 3, n * (2 * n * n + 1) / 3),
                    Shape::Prism => (3 * n.pow(3), 0),
                    Shape::Tetrahedron => (n.pow(3), 0),
                    _ => (0, n.pow(shape.dim() as u32)),
                };
                assert_eq!((tetrahedra, others), expected, "{shape} {n}");
            }
        }
    }

    /// Faces of a linear solid, in VTK's order of vertices.
    fn solid_faces(kind: CellType) -> &'static [&'static [usize]] {
        match kind {
            CellType::Tetra => Shape::Tetrahedron.faces(),
            CellType::Pyramid => Shape::Pyramid.faces(),
            CellType::Hexahedron => Shape::Hexahedron.faces(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn neighbouring_cells_share_whole_faces() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() == 3) {
            let n = 4;
            let points = lattice(shape, n);
            let mut open: HashSet<Vec<usize>> = HashSet::new();
            for (kind, nodes) in linear_cells(shape, n) {
                for face in solid_faces(kind) {
                    let mut face: Vec<usize> = face.iter().map(|&v| nodes[v]).collect();
                    face.sort_unstable();
                    if !open.remove(&face) {
                        open.insert(face);
                    }
                }
            }
            // Faces without a partner lie on the boundary of the shape.
            for face in open {
                let centre: [f64; 3] = std::array::from_fn(|d| {
                    face.iter().map(|&at| points[at][d]).sum::<f64>() / face.len() as f64
                });
                assert!(!shape.contains(centre, -1e-9), "{shape}: {face:?} inside");
            }
        }
    }
}
