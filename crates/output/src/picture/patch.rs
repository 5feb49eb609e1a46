//! Elements as fine triangles: positions, values and outlines, ready to be painted.
//!
//! The position and the fields of an element are polynomials, known at the lattice of their order. They are
//! evaluated at the lattice of a finer order, between whose points they are drawn linearly. The finer order
//! follows from the size of the element on the page, so that curves and colours look smooth.

use std::collections::HashMap;

use dgsuite_basis::{
    LagrangeBasis, Matrix, Shape,
    lattice::{lattice, lattice_indices, lattice_len},
};

use super::quantity::{Numbers, Quantity};
use crate::writer::CellBlock;

/// Fine triangles of one element, or of a cut through it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Patch {
    /// Points in space.
    pub(super) points: Vec<[f64; 3]>,
    /// The value of the quantity at each.
    pub(super) values: Vec<f64>,
    /// Triangles, by points.
    pub(super) triangles: Vec<[usize; 3]>,
    /// The outline of the element.
    pub(super) outline: Vec<Vec<[f64; 3]>>,
}

/// A shape divided finely: triangles of a plane shape, tetrahedra of a solid.
pub(super) struct Fine {
    /// Values of the element's basis at the fine points, `[point][node]`.
    matrix: Matrix,
    /// Fine simplices: three or four points each.
    pub(super) simplices: Vec<Vec<usize>>,
    /// The edges of a plane shape, as runs of fine points.
    edges: Vec<Vec<usize>>,
    /// The triangles of each face of a solid, in the order of [`Shape::faces`].
    pub(super) faces: Vec<Vec<[usize; 3]>>,
    /// The edges of each face of a solid, as runs of fine points.
    pub(super) face_edges: Vec<Vec<Vec<usize>>>,
}

/// The orders to which elements are divided.
const LEVELS: [usize; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// Divided shapes, made when they are first needed.
#[derive(Default)]
pub(super) struct Division {
    known: HashMap<(Shape, usize, usize), Fine>,
}

impl Division {
    /// The shape of an order divided at least to `wanted` and at most to `most`.
    pub(super) fn of(&mut self, shape: Shape, order: usize, wanted: usize, most: usize) -> &Fine {
        let level = LEVELS.into_iter().find(|&m| m >= wanted).unwrap_or(48).min(most);
        self.known.entry((shape, order, level)).or_insert_with(|| Fine::new(shape, order, level))
    }
}

impl Fine {
    fn new(shape: Shape, order: usize, level: usize) -> Self {
        let matrix = LagrangeBasis::new(shape, order).eval(&lattice(shape, level));
        let at: HashMap<[usize; 3], usize> =
            lattice_indices(shape, level).into_iter().enumerate().map(|(at, index)| (index, at)).collect();
        let simplices = simplices(shape, level, &at);
        let corner = |v: usize| corner(shape, level, v);
        let (mut edges, mut faces, mut face_edges) = (Vec::new(), Vec::new(), Vec::new());
        let run = |a: [usize; 3], b: [usize; 3]| -> Vec<usize> {
            (0..=level).map(|m| at[&between(level, a, &[(b, m)])]).collect()
        };
        let around = |corners: &[usize]| -> Vec<Vec<usize>> {
            let n = corners.len();
            (0..n).map(|k| run(corner(corners[k]), corner(corners[(k + 1) % n]))).collect()
        };
        if shape.dim() == 2 {
            edges = around(&(0..shape.n_vertices()).collect::<Vec<_>>());
        }
        if shape.dim() == 3 {
            for corners in shape.faces() {
                let kind = if corners.len() == 3 { Shape::Triangle } else { Shape::Quadrilateral };
                let (origin, fast, slow) =
                    (corner(corners[0]), corner(corners[1]), corner(corners[corners.len() - 1]));
                let place = |[i, j, _]: [usize; 3]| at[&between(level, origin, &[(fast, i), (slow, j)])];
                let on_face: HashMap<[usize; 3], usize> =
                    lattice_indices(kind, level).into_iter().map(|index| (index, place(index))).collect();
                let triangles = simplices_of_plane(kind, level, &on_face);
                faces.push(triangles.iter().map(|t| [t[0], t[1], t[2]]).collect());
                face_edges.push(around(corners));
            }
        }
        Self { matrix, simplices, edges, faces, face_edges }
    }

    /// Positions and values of a cell at the fine points.
    pub(super) fn evaluate(
        &self,
        block: &CellBlock,
        numbers: &Numbers<'_>,
        quantity: &Quantity,
        cell: usize,
    ) -> (Vec<[f64; 3]>, Vec<f64>) {
        let per_cell = lattice_len(block.shape, block.order);
        let nodes = &block.points[cell * per_cell..(cell + 1) * per_cell];
        let coarse: Vec<Vec<f64>> = (0..numbers.len())
            .map(|k| (0..per_cell).map(|node| numbers.at(k, cell, node, per_cell)).collect())
            .collect();
        let n = self.matrix.rows();
        let mut points = Vec::with_capacity(n);
        let mut values = Vec::with_capacity(n);
        let mut here = vec![0.0; numbers.len()];
        for q in 0..n {
            let row = self.matrix.row(q);
            let mut x = [0.0; 3];
            for (l, node) in row.iter().zip(nodes) {
                for d in 0..3 {
                    x[d] += l * node[d];
                }
            }
            points.push(x);
            for (number, coarse) in here.iter_mut().zip(&coarse) {
                *number = row.iter().zip(coarse).map(|(l, v)| l * v).sum();
            }
            values.push(quantity.value(&here));
        }
        (points, values)
    }

    /// A plane element as a patch.
    pub(super) fn plane(
        &self,
        block: &CellBlock,
        numbers: &Numbers<'_>,
        quantity: &Quantity,
        cell: usize,
    ) -> Patch {
        let (points, values) = self.evaluate(block, numbers, quantity, cell);
        let outline = self.edges.iter().map(|edge| edge.iter().map(|&k| points[k]).collect()).collect();
        let triangles = self.simplices.iter().map(|s| [s[0], s[1], s[2]]).collect();
        Patch { points, values, triangles, outline }
    }
}

/// The integer coordinates of a vertex in the lattice.
fn corner(shape: Shape, n: usize, v: usize) -> [usize; 3] {
    if shape == Shape::Pyramid && v == 4 {
        return [0, 0, n];
    }
    let x = shape.vertices()[v];
    std::array::from_fn(|d| if d < shape.dim() && x[d] > 0.0 { n } else { 0 })
}

/// The node `m/n` of the way from `origin` towards each of the ends, with the displacements added.
fn between(n: usize, origin: [usize; 3], ends: &[([usize; 3], usize)]) -> [usize; 3] {
    std::array::from_fn(|d| {
        let forward: usize = ends.iter().map(|(end, m)| end[d] * m / n).sum();
        let backward: usize = ends.iter().map(|(_, m)| origin[d] * m / n).sum();
        origin[d] + forward - backward
    })
}

fn simplices(shape: Shape, n: usize, at: &HashMap<[usize; 3], usize>) -> Vec<Vec<usize>> {
    if shape.dim() == 2 {
        return simplices_of_plane(shape, n, at);
    }
    crate::writer::tetrahedra(shape, n)
}

/// Triangles between the points of the lattice of a triangle or a quadrilateral.
fn simplices_of_plane(shape: Shape, n: usize, at: &HashMap<[usize; 3], usize>) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    let mut push = |corners: [[usize; 2]; 3]| out.push(corners.map(|[i, j]| at[&[i, j, 0]]).to_vec());
    for j in 0..n {
        for i in 0..n {
            match shape {
                Shape::Triangle if i + j >= n => {}
                Shape::Triangle => {
                    push([[i, j], [i + 1, j], [i, j + 1]]);
                    if i + j + 1 < n {
                        push([[i + 1, j], [i + 1, j + 1], [i, j + 1]]);
                    }
                }
                // Diagonals alternate, so that no direction is preferred.
                _ if (i + j) % 2 == 0 => {
                    push([[i, j], [i + 1, j], [i + 1, j + 1]]);
                    push([[i, j], [i + 1, j + 1], [i, j + 1]]);
                }
                _ => {
                    push([[i, j], [i + 1, j], [i, j + 1]]);
                    push([[i + 1, j], [i + 1, j + 1], [i, j + 1]]);
                }
            }
        }
    }
    out
}
