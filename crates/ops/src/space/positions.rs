//! One element at a time: its coefficients, the places of its points, the geometry of its faces.

use crate::lanes::simd::PackScalar;
use crate::space::geometry::combine;
use crate::space::group::{Group, element_points};
use crate::space::scheme::MetricRule;
use dgsuite_basis::{LagrangeBasis, Matrix, Shape};
use dgsuite_mesh::Mesh;

/// Coefficients of one element, `[field][basis function]`.
pub(crate) fn coefficients<T: PackScalar>(group: &Group<T>, state: &[T], slot: usize) -> Vec<Vec<f64>> {
    let l = group.state;
    (0..l.fields).map(|k| (0..l.rows).map(|i| state[l.index(slot, i, k)].to_f64()).collect()).collect()
}

/// Moves points slightly away from the apex of a pyramid, where the derivatives of its rational functions are
/// undefined.
pub(crate) fn inside(shape: Shape, mut points: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    const AWAY: f64 = 1e-6;
    if shape == Shape::Pyramid {
        for x in points.iter_mut().filter(|x| x[2] > 1.0 - AWAY) {
            *x = [0.0, 0.0, 1.0 - AWAY];
        }
    }
    points
}

/// Physical coordinates of reference points of an element.
pub(crate) fn positions(mesh: &Mesh, element: usize, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let (set, local) = mesh.locate(element);
    let s = &mesh.sets[set];
    let weights = LagrangeBasis::new(s.shape, s.order).eval(points);
    image(&weights, &element_points(mesh, set, local))
}

/// Physical coordinates from values of the geometry basis, `[point × node]`, and nodes.
pub(crate) fn image(weights: &Matrix, nodes: &[[f64; 3]]) -> Vec<[f64; 3]> {
    (0..weights.rows()).map(|q| combine(weights, q, nodes)).collect()
}

/// Unit normals and surface Jacobians at the points of one face, as the scheme stores them.
pub(crate) fn face_geometry<T: PackScalar>(
    group: &Group<T>,
    slot: usize,
    face: usize,
    dim: usize,
) -> (Vec<[f64; 3]>, Vec<f64>) {
    let lanes = group.state.lanes;
    let (block, lane) = (slot / lanes, slot % lanes);
    let part = group.part_of(block);
    let b = block - part.first_block;
    let range = group.face_offsets[face]..group.face_offsets[face + 1];
    let rows = part.face.len() / part.n_blocks / ((dim + 1) * lanes);
    let curved = part.spec.rule != MetricRule::Affine;
    let read = |row: usize, c: usize| part.face[((b * rows + row) * (dim + 1) + c) * lanes + lane].to_f64();
    // Affine elements store sJ/J; J follows from the determinant of the metric, det(∇r) = 1/J.
    let jacobian = if curved { 1.0 } else { 1.0 / metric_determinant(&part.metric, b, lanes, lane, dim) };
    range
        .map(|q| {
            let row = if curved { q } else { face };
            let n = std::array::from_fn(|c| if c < dim { read(row, c) } else { 0.0 });
            (n, read(row, dim) * jacobian)
        })
        .unzip()
}

/// The determinant of the metric of an affine element, `1/J`.
pub(crate) fn metric_determinant<T: PackScalar>(
    metric: &[T],
    b: usize,
    lanes: usize,
    lane: usize,
    dim: usize,
) -> f64 {
    let m = |d: usize, x: usize| metric[((b * dim + d) * dim + x) * lanes + lane].to_f64();
    if dim == 2 {
        m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0)
    } else {
        let minor = |a: usize, b: usize| m(1, a) * m(2, b) - m(1, b) * m(2, a);
        m(0, 0) * minor(1, 2) - m(0, 1) * minor(0, 2) + m(0, 2) * minor(0, 1)
    }
}
