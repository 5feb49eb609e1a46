//! Positions of the unknowns of a first-order law in vectors of the elliptic operator with the same nodes.
//!
//! With [`Scheme::on_elliptic_nodes`](crate::Scheme::on_elliptic_nodes) the coefficients of each unknown of a
//! law are those of a vector of [`Sipdg`], in another order. Conversion is a permutation.

use super::Sipdg;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::group::Group;
use std::sync::Arc;

/// For each unknown of the law and each entry of a vector of `sipdg`, the index in states of
/// `discretization`, or `u32::MAX` for entries that only fill up a block.
///
/// Both must be set up on the same mesh, with the same order and the nodes of
/// [`Scheme::on_elliptic_nodes`](crate::Scheme::on_elliptic_nodes). On several ranks, `discretization` has
/// the rank's own elements, and entries of elements of other ranks have no index.
///
/// # Errors
/// [`OpsError::Elliptic`] if meshes, orders or nodes differ, or a state has 2³² or more entries.
pub fn elliptic_places<T: PackScalar, U: PackScalar>(
    discretization: &Discretization<T>,
    sipdg: &Sipdg<U>,
) -> Result<Vec<Vec<u32>>, OpsError> {
    let refuse = |reason: String| Err(OpsError::Elliptic { reason });
    let space = &sipdg.space;
    let (mesh, other) = (&space.problem.mesh, &discretization.mesh);
    let different = || refuse("a state and a vector belong to different meshes".to_owned());
    // The element of the operator for each element of the state.
    let elements: Option<Vec<usize>> = match (sipdg.ranks(), discretization.ranks()) {
        (None, None) if Arc::ptr_eq(mesh, other) || mesh.sets == other.sets => {
            Some((0..mesh.n_elements()).collect())
        }
        (Some(of), Some(own)) => {
            let local = |element: &u32| of.elements().binary_search(element).ok();
            own.elements().iter().map(local).collect()
        }
        _ => None,
    };
    let Some(elements) = elements else { return different() };
    if u32::try_from(discretization.len()).is_err() {
        return refuse(format!(
            "a state has {} entries, and at most 2³² − 1 are possible",
            discretization.len()
        ));
    }
    let pair =
        |b: &&Group<T>| space.groups.iter().find(|a| a.shape == b.shape).is_none_or(|a| !same_nodes(a, b));
    if let Some(a) = discretization.groups.iter().find(pair) {
        return refuse(format!(
            "the nodes of a state on {} elements are not those of the operator of order {}: use \
             Scheme::on_elliptic_nodes",
            a.shape, space.order
        ));
    }
    // Group and slot in states of each element of the operator.
    let mut place = vec![None; mesh.n_elements()];
    for (g, group) in discretization.groups.iter().enumerate() {
        for slot in group.real_slots() {
            place[elements[group.elements[slot] as usize]] = Some((g, slot));
        }
    }
    let of_field = |k: usize| {
        space.vector(u32::MAX, |element| {
            let (g, slot) = place[element]?;
            let group = &discretization.groups[g];
            Some((0..group.state.rows).map(move |i| (group.offset + group.state.index(slot, i, k)) as u32))
        })
    };
    Ok((0..discretization.physics.n_fields()).map(of_field).collect())
}

/// Whether two groups have the same functions in the same order.
fn same_nodes<T: PackScalar, U: PackScalar>(a: &Group<T>, b: &Group<U>) -> bool {
    let spec = |e: &dgsuite_basis::ElementSpec| (e.shape, e.order, e.polynomials, e.representation);
    spec(&a.parts[0].reference.spec) == spec(&b.parts[0].reference.spec)
}
