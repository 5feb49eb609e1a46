//! The largest eigenvalue of the diffusion operator of one element, which bounds the time step.

use super::{LiftFactors, point_normals};
use crate::lanes::panel::Rows;
use dgsuite_basis::{Cubature, ReferenceElement};

/// `∇r_d · ∇r_e` of an affine element.
pub(crate) type Metric = [[f64; 3]; 3];

/// Largest and smallest number of iterations of the power method.
const MOST: usize = 300;
const FEWEST: usize = 30;

/// The iteration ends when the relative change of the eigenvalue is less than this.
const CHANGE: f64 = 2e-5;

/// Computes the largest eigenvalue of `−Δ` on the affine element with this metric and the value 0 outside.
/// This is the worst case of a neighbour: its state is the mirror image with opposite sign. The power method
/// starts from a state without symmetry. States are measured by their values at the volume points, so that
/// the step does not depend on the basis.
pub(crate) fn largest_eigenvalue(reference: &ReferenceElement, eta: f64, metric: &Metric) -> f64 {
    let factors = LiftFactors::new(reference, eta);
    let normals = point_normals(reference);
    let dim = reference.spec.shape.dim();
    let (nq, nf) = (reference.volume.points.len(), reference.face_points.len());
    let skip = if reference.spec.volume == Cubature::Collocated { 0 } else { nq };
    let values: Vec<f64> = (0..nq).map(|q| 1.0 + ((q * 7919 + 13) % 101) as f64 / 50.0).collect();
    let mut u = reference.project_volume.mul_vec(&values);
    let size = |u: &[f64]| reference.interp_volume.mul_vec(u).iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut eigenvalue = 0.0;
    for i in 0..MOST {
        let norm = size(&u);
        u.iter_mut().for_each(|v| *v /= norm);
        let mut joined = u.clone();
        joined.extend(reference.interp_face.mul_vec(&u).into_iter().map(|v| -v));
        let volume = apply(&factors.gradient, &joined);
        let face = apply(&factors.face_gradient, &joined);
        // Contravariant: Σ_e (∇r_d · ∇r_e) g_e.
        let flux = |g: &[f64], n: usize, d: usize, q: usize| -> f64 {
            (0..dim).map(|e| metric[d][e] * g[e * n + q]).sum()
        };
        let normal: Vec<f64> =
            (0..nf).map(|q| (0..dim).map(|d| normals[q][d] * flux(&face, nf, d, q)).sum()).collect();
        let mut next = reference.lift.mul_vec(&normal);
        for d in 0..dim {
            let gradient: Vec<f64> = (0..nq).map(|q| flux(&volume[skip..], nq, d, q)).collect();
            for (next, v) in next.iter_mut().zip(reference.project[d].mul_vec(&gradient)) {
                *next -= v;
            }
        }
        let found = size(&next);
        u = next;
        let change = (found - eigenvalue).abs();
        eigenvalue = found;
        if i >= FEWEST && change < CHANGE * found {
            break;
        }
    }
    eigenvalue
}

/// The product of sparse factors and a vector.
fn apply(factors: &[(Rows, usize)], v: &[f64]) -> Vec<f64> {
    factors.iter().fold(v.to_vec(), |v, (a, _)| {
        a.rows.iter().map(|row| row.iter().map(|&(c, a)| a * v[c]).sum()).collect()
    })
}
