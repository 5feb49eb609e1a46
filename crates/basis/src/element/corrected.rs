//! The lift of flux reconstruction, `(M + K)⁻¹ M` applied to the lift of the exact mass matrix across each
//! face.

use super::factor::Factor;
use super::tensor::TensorFactors;
use crate::correction::{Parameter, filter};
use crate::{BasisError, Matrix, Shape};

/// Entries below this fraction of the face's largest are rounding errors of the mass matrix times its
/// inverse.
const NEGLIGIBLE: f64 = 1e-13;

/// Turns `L = M⁻¹ I_fᵀ W_f` into `(M + K)⁻¹ I_fᵀ W_f`, in the factor across each face.
///
/// # Errors
/// [`BasisError::NoCorrection`], [`BasisError::UnstableCorrection`].
pub(super) fn correct(
    shape: Shape,
    order: usize,
    parameter: Parameter,
    factors: &[Factor],
    offsets: &[usize],
    lift: &mut Matrix,
    tensor: Option<&mut TensorFactors>,
) -> Result<(), BasisError> {
    let filters: Vec<Option<Matrix>> =
        factors.iter().map(|f| of_factor(f, order, parameter)).collect::<Result<_, _>>()?;
    let sizes: Vec<usize> = factors.iter().map(|f| f.functions.len()).collect();
    for f in 0..shape.n_faces() {
        let own = closed_by(shape, f, factors);
        let range = offsets[f]..offsets[f + 1];
        if let Some(q) = &filters[own] {
            let before: usize = sizes[..own].iter().product();
            along(q, before, lift, range.clone());
        }
        if factors.len() > 1 {
            clean(lift, range);
        }
    }
    if let Some(tensor) = tensor {
        for end in &mut tensor.lift {
            if let Some(q) = &filters[0] {
                *end = q.mul_vec(end);
            }
            let largest = end.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            end.iter_mut().filter(|x| x.abs() <= NEGLIGIBLE * largest).for_each(|x| *x = 0.0);
        }
    }
    Ok(())
}

/// `(1 + M⁻¹ K)⁻¹` in the functions of a factor; `None` if that is the identity.
fn of_factor(factor: &Factor, order: usize, parameter: Parameter) -> Result<Option<Matrix>, BasisError> {
    let functions = &factor.functions;
    let filter = filter(functions.shape(), order, parameter)?;
    Ok(filter.map(|q| functions.of_modes().mul(&q).mul(&functions.to_modes())))
}

/// The factor across which a face lies: the line on which the face's vertices coincide, or otherwise the
/// factor that is not a line.
fn closed_by(shape: Shape, face: usize, factors: &[Factor]) -> usize {
    let vertices = shape.face_vertices(face);
    let agree = |d: usize| {
        let of = |v: usize| shape.vertices()[v][d];
        vertices.iter().all(|&v| of(v) == of(vertices[0]))
    };
    let mut first = 0;
    for (g, factor) in factors.iter().enumerate() {
        let dim = factor.functions.shape().dim();
        if dim == 1 && agree(first) {
            return g;
        }
        first += dim;
    }
    0
}

/// Applies `q` to the factor with `before` functions of faster factors, in the given columns.
fn along(q: &Matrix, before: usize, lift: &mut Matrix, columns: std::ops::Range<usize>) {
    let n = q.rows();
    for k in columns {
        for outer in (0..lift.rows()).step_by(before * n) {
            for inner in outer..outer + before {
                let line: Vec<f64> = (0..n).map(|j| lift[(inner + j * before, k)]).collect();
                for (j, v) in q.mul_vec(&line).into_iter().enumerate() {
                    lift[(inner + j * before, k)] = v;
                }
            }
        }
    }
}

/// Sets rounding errors to zero.
fn clean(lift: &mut Matrix, columns: std::ops::Range<usize>) {
    let entries = |i: usize| columns.clone().map(move |k| (i, k));
    let largest = (0..lift.rows()).flat_map(entries).fold(0.0_f64, |m, at| m.max(lift[at].abs()));
    for i in 0..lift.rows() {
        for x in &mut lift.row_mut(i)[columns.clone()] {
            if x.abs() <= NEGLIGIBLE * largest {
                *x = 0.0;
            }
        }
    }
}
