//! Continuous functions of order 1: interpolation from values at vertices to nodal values of elements.
//!
//! Below the lowest polynomial order, a multigrid method can continue on the continuous functions with one
//! unknown for each vertex. This file computes their nodal values, with periodic vertices identified.

use super::Sipdg;
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{LagrangeBasis, Matrix};
use dgsuite_mesh::{Across, Mesh};

/// The matrix P that interpolates values at vertices to the entries of an operator's vectors, in compressed
/// rows. Its columns are the continuous functions that are linear on simplices and bilinear or trilinear on
/// other shapes. Vertices that are identified by periodicity are one. Vertices are numbered in the order in
/// which elements use them.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexInterpolation {
    /// Number of columns.
    pub n_vertices: usize,
    /// Start of each row, then the end of the last; rows of padding are empty.
    pub starts: Vec<usize>,
    /// Column of each stored entry, ascending in a row.
    pub columns: Vec<u32>,
    /// Value of each stored entry.
    pub values: Vec<f64>,
}

/// Smaller values of a vertex's function are treated as zero.
const ZERO: f64 = 1e-12;

/// Marks a vertex that no element has used yet.
const NEW: u32 = u32::MAX;

/// The number of each vertex of each element, element after element, and the number of vertices.
pub(super) fn vertices(mesh: &Mesh) -> (Vec<Vec<u32>>, usize) {
    let mut parent: Vec<u32> = (0..mesh.points.len() as u32).collect();
    for face in &mesh.faces {
        let Across::Periodic { plus, orientation } = face.across else { continue };
        let (minus, plus) = (mesh.side_vertices(face.minus), mesh.side_vertices(plus));
        let n = plus.len();
        for (i, &v) in minus.iter().enumerate() {
            let met = plus[(usize::from(orientation) + n - i) % n];
            let (a, b) = (root(&mut parent, v), root(&mut parent, met));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let (mut number, mut count) = (vec![NEW; mesh.points.len()], 0);
    let mut of_element = Vec::with_capacity(mesh.n_elements());
    for element in 0..mesh.n_elements() {
        let mut own = mesh.element_vertices(element);
        for v in &mut own {
            let number = &mut number[root(&mut parent, *v) as usize];
            if *number == NEW {
                *number = count;
                count += 1;
            }
            *v = *number;
        }
        of_element.push(own);
    }
    (of_element, count as usize)
}

/// The representative of all points that are identified with `v`.
fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        parent[v as usize] = parent[parent[v as usize] as usize];
        v = parent[v as usize];
    }
    v
}

impl<T: PackScalar> Sipdg<T> {
    /// The continuous functions of order 1 in the space of this operator, which a multigrid method can use as
    /// its next coarser level. `Pᵀ A P` is the matrix of continuous finite elements, except that boundary
    /// conditions stay weak.
    #[must_use]
    pub fn vertex_interpolation(&self) -> VertexInterpolation {
        let space = &self.space;
        let (vertices, n_vertices) = vertices(self.mesh());
        // By group: the vertices' functions at the nodes.
        let tables: Vec<Matrix> = space
            .groups
            .iter()
            .map(|group| {
                let nodes = group.parts[0].reference.nodes.as_deref().unwrap_or_default();
                let lattice = LagrangeBasis::new(group.shape, 1);
                let values = lattice.eval(nodes);
                // The lattice has its own order.
                let at = |corner: &[f64; 3]| {
                    let apart = |node: &[f64; 3]| (0..3).map(|d| (node[d] - corner[d]).abs()).sum::<f64>();
                    lattice.nodes().iter().position(|node| apart(node) < ZERO).unwrap_or(0)
                };
                let order: Vec<usize> = group.shape.vertices().iter().map(at).collect();
                Matrix::from_fn(nodes.len(), order.len(), |q, v| values[(q, order[v])])
            })
            .collect();
        let mut rows: Vec<(u32, u32)> = vec![(u32::MAX, 0); self.len()];
        for element in 0..vertices.len() {
            let (first, stride) = space.rows(element);
            for i in 0..tables[usize::from(space.place[element].0)].rows() {
                rows[first + i * stride] = (element as u32, i as u32);
            }
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (element, i) in rows {
            if let Some(own) = vertices.get(element as usize) {
                let table = &tables[usize::from(space.place[element as usize].0)];
                row.clear();
                for (&vertex, &value) in own.iter().zip(table.row(i as usize)) {
                    if value.abs() < ZERO {
                        continue;
                    }
                    // On a periodic mesh with few elements, an element may contain a vertex twice.
                    match row.iter_mut().find(|(v, _)| *v == vertex) {
                        Some((_, sum)) => *sum += value,
                        None => row.push((vertex, value)),
                    }
                }
                row.sort_unstable_by_key(|(vertex, _)| *vertex);
                columns.extend(row.iter().map(|(vertex, _)| *vertex));
                values.extend(row.iter().map(|(_, value)| *value));
            }
            starts.push(columns.len());
        }
        VertexInterpolation { n_vertices, starts, columns, values }
    }
}
