//! The largest eigenvalue of the diffusion operator of one element, which bounds steps.

use super::{LiftFactors, point_normals};
use crate::panel::Rows;
use dgsuite_basis::{Cubature, ReferenceElement};

/// Iterations of the power method; its estimate is then some per cent below the eigenvalue.
const ITERATIONS: usize = 60;

/// What that leaves out.
const MARGIN: f64 = 1.05;

/// The largest eigenvalue of `−Δ` on the reference element with the value 0 outside: what an element sees whose neighbours
/// mirror it with the other sign, the worst that they can do. The power method, from a state without symmetry; states are
/// measured by their values at the volume's points, so that steps are those of the space whatever its basis.
pub(super) fn largest_eigenvalue(reference: &ReferenceElement, eta: f64) -> f64 {
    let factors = LiftFactors::new(reference, eta);
    let normals = point_normals(reference);
    let dim = reference.spec.shape.dim();
    let (nq, nf) = (reference.volume.points.len(), reference.face_points.len());
    let skip = if reference.spec.volume == Cubature::Collocated { 0 } else { nq };
    let values: Vec<f64> = (0..nq).map(|q| 1.0 + ((q * 7919 + 13) % 101) as f64 / 50.0).collect();
    let mut u = reference.project_volume.mul_vec(&values);
    let size = |u: &[f64]| reference.interp_volume.mul_vec(u).iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut eigenvalue = 0.0;
    for _ in 0..ITERATIONS {
        let norm = size(&u);
        u.iter_mut().for_each(|v| *v /= norm);
        let mut joined = u.clone();
        joined.extend(reference.interp_face.mul_vec(&u).into_iter().map(|v| -v));
        let volume = apply(&factors.gradient, &joined);
        let face = apply(&factors.face_gradient, &joined);
        let normal: Vec<f64> =
            (0..nf).map(|q| (0..dim).map(|d| normals[q][d] * face[d * nf + q]).sum()).collect();
        let mut next = reference.lift.mul_vec(&normal);
        for d in 0..dim {
            let gradient = &volume[skip + d * nq..skip + (d + 1) * nq];
            for (next, v) in next.iter_mut().zip(reference.project[d].mul_vec(gradient)) {
                *next -= v;
            }
        }
        eigenvalue = size(&next);
        u = next;
    }
    eigenvalue * MARGIN
}

/// The product of sparse factors and a vector.
fn apply(factors: &[(Rows, usize)], v: &[f64]) -> Vec<f64> {
    factors.iter().fold(v.to_vec(), |v, (a, _)| {
        a.rows.iter().map(|row| row.iter().map(|&(c, a)| a * v[c]).sum()).collect()
    })
}

/// `h = d |E| / (largest face measure)` of the reference element.
pub(super) fn reference_size(reference: &ReferenceElement) -> f64 {
    let shape = reference.spec.shape;
    let dim = shape.dim();
    let largest = (0..shape.n_faces())
        .map(|f| {
            let n = crate::geometry::reference_normal(shape, f);
            let measure = shape.face_shape(f).map_or(1.0, dgsuite_basis::Shape::measure);
            measure * n.iter().map(|c| c * c).sum::<f64>().sqrt()
        })
        .fold(0.0, f64::max);
    dim as f64 * shape.measure() / largest
}
