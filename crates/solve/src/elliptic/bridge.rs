//! Operators of `ops` behind the traits of `amg`.

use std::sync::{Arc, Mutex};

use dgsuite_amg::{LinearOperator, Preconditioner, Transfer};
use dgsuite_gpu::HostVector;
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::{BlockInverse, BoundaryField, Field, LineletInverse, PTransfer, Sipdg};

use super::{BadDatum, EllipticCondition};

/// The discrete operator as a linear map of vectors.
pub(crate) struct Operator<T: PackScalar>(pub(crate) Arc<Sipdg<T>>);

impl<T: PackScalar> Clone for Operator<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: PackScalar> LinearOperator<HostVector<T>> for Operator<T> {
    fn n_rows(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: &HostVector<T>, y: &mut HostVector<T>) {
        self.0.apply(x, y);
    }
}

/// The inverse mass matrix as a preconditioner.
pub(crate) struct InverseMass(pub(crate) Arc<Sipdg<f64>>);

impl Preconditioner<HostVector<f64>> for InverseMass {
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        self.0.inverse_mass(r, z);
    }
}

/// The inverses of the element blocks as a preconditioner.
pub(crate) struct Blocks<T: PackScalar>(pub(crate) BlockInverse<T>, pub(crate) Arc<Sipdg<T>>);

impl<T: PackScalar> Preconditioner<HostVector<T>> for Blocks<T> {
    fn apply(&mut self, r: &HostVector<T>, z: &mut HostVector<T>) {
        self.0.apply(r, z);
        self.1.refresh(z);
    }
}

/// Point Jacobi with linelets as a preconditioner.
pub(crate) struct Linelets<T: PackScalar>(pub(crate) LineletInverse<T>, pub(crate) Arc<Sipdg<T>>);

impl<T: PackScalar> Preconditioner<HostVector<T>> for Linelets<T> {
    fn apply(&mut self, r: &HostVector<T>, z: &mut HostVector<T>) {
        self.0.apply(r, z);
        self.1.refresh(z);
    }
}

/// The transfer between two levels of different order.
pub(crate) struct BetweenOrders<T: PackScalar>(pub(crate) PTransfer<T>);

impl<T: PackScalar> Transfer<HostVector<T>> for BetweenOrders<T> {
    fn restrict(&self, fine: &HostVector<T>, coarse: &mut HostVector<T>) {
        self.0.restrict(fine, coarse);
    }

    fn prolong_add(&self, coarse: &HostVector<T>, fine: &mut HostVector<T>) {
        self.0.prolong(coarse, fine);
    }
}

/// Computes the load vector of forcing and boundary data.
pub(crate) fn right_hand_side(
    operator: &Sipdg<f64>,
    forcing: &Field<'_>,
    conditions: &[EllipticCondition],
) -> Vec<f64> {
    let data: Vec<_> = conditions
        .iter()
        .map(|condition| {
            let data = &condition.data;
            move |element: usize, x: [f64; 3], normal: [f64; 3]| data(element, x, normal)
        })
        .collect();
    let data: Vec<&BoundaryField<'_>> = data.iter().map(|data| data as &BoundaryField<'_>).collect();
    operator.right_hand_side_with_normals(forcing, &data)
}

/// Returns the first element whose data is not finite: its right-hand side, or the datum of one of its
/// boundaries.
pub(crate) fn bad_datum(
    operator: &Sipdg<f64>,
    forcing: &Field<'_>,
    conditions: &[EllipticCondition],
) -> Option<BadDatum> {
    let found: Mutex<Option<(usize, Option<usize>, [f64; 3], f64)>> = Mutex::new(None);
    let note = |element: usize, boundary: Option<usize>, x: [f64; 3], value: f64| {
        if !value.is_finite() {
            let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if found.is_none_or(|(first, ..)| element < first) {
                *found = Some((element, boundary, x, value));
            }
        }
        value
    };
    let watched: Vec<_> = conditions
        .iter()
        .enumerate()
        .map(|(k, condition)| {
            let data = &condition.data;
            let note = &note;
            move |element: usize, x: [f64; 3], normal: [f64; 3]| {
                note(element, Some(k), x, data(element, x, normal))
            }
        })
        .collect();
    let watched: Vec<&BoundaryField<'_>> = watched.iter().map(|data| data as &BoundaryField<'_>).collect();
    let forcing = |element: usize, x: [f64; 3]| note(element, None, x, forcing(element, x));
    drop(operator.right_hand_side_with_normals(&forcing, &watched));
    let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.map(|(element, boundary, at, value)| BadDatum {
        boundary: boundary.map(|k| conditions[k].name.clone()),
        element: operator.mesh().tag(element),
        at,
        value,
    })
}
