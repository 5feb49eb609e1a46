//! How well the parts of preconditioners agree with products with the Jacobian.

use std::sync::Arc;

use dgsuite_gpu::Host;
use dgsuite_ops::OpsError;

use super::blocks::Blocks;
use super::colours::Coloured;
use super::factors::{Factors, blocks_below, blocks_of, restricted};
use super::jacobian::Jacobian;
use super::whole::Whole;
use super::{between, dense, tangent};
use crate::SystemError;
use crate::setup::Setup;

/// Differences between parts of preconditioners and products with the Jacobian, relative to the largest entry
/// of what is compared: rounding, if all is right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consistency {
    /// Of the diagonal blocks of the first element and one in the middle.
    pub blocks: f64,
    /// The largest entry of products with directions in these elements, outside of them and their neighbours;
    /// not relative: nothing depends on elements beyond the neighbours.
    pub beyond: f64,
    /// Between the matrix of order one and that of the space, restricted.
    pub below: f64,
    /// Of the matrices of order one and of the space, multiplied by a vector.
    pub matrices: [f64; 2],
}

/// Compares the parts of preconditioners on the CPU with products at a state, which is in the order of
/// [`State::fields`](crate::flow::State::fields); `direction(n)` supplies vectors of `n` entries, whose size
/// is one. `None` if the space has no order below.
///
/// # Errors
/// [`SystemError::Unavailable`] for set-ups without Newton steps, and those of the discretisation.
///
/// # Panics
/// If the state does not have its length.
pub fn consistency(
    setup: &Setup,
    u: &[f64],
    mut direction: impl FnMut(usize) -> Vec<f64>,
) -> Result<Option<Consistency>, SystemError> {
    let host = Arc::new(Host::new(setup.threads)?);
    let fields = setup.mesh.dim() + 2;
    let mut jacobian = Jacobian::new(setup, &host, None, fields)?;
    assert!(u.len() == jacobian.len(), "the state has {} scalars", jacobian.len());
    jacobian.linearise(0.0, u);
    let tangent = tangent::discretization(setup, &host, None)?;
    let whole = Whole::new(&setup.mesh, &tangent, fields)?;
    let Some(between) = between(&tangent, &whole)? else { return Ok(None) };
    let coloured = Coloured::new(&whole.neighbours);
    let mut found = Consistency::default();
    of_blocks(&jacobian, &whole, &coloured, &mut direction, &mut found);
    // All blocks of order one at once, and all of the space itself.
    let fine = blocks_of(&jacobian, &whole, &coloured).map_err(OpsError::from)?;
    let same = restricted(&host, &fine, &between, jacobian.fields());
    let below = blocks_below(&jacobian, &whole, &between, &coloured).map_err(OpsError::from)?;
    for (a, b) in below.rows.iter().flatten().zip(same.rows.iter().flatten()) {
        let error =
            if a.0 == b.0 { largest(a.1.iter().zip(&b.1).map(|(a, b)| a - b)) } else { f64::INFINITY };
        found.below = found.below.max(error / (largest(a.1.iter().copied()) + 1e-3));
    }
    let order: Vec<u32> = (0..jacobian.offsets.len() as u32 - 1).rev().collect();
    found.matrices = [(below, Some(between)), (fine, None)].map(|(matrix, between)| {
        of_matrix(&jacobian, &Factors::new(matrix, &order, between), &mut direction)
    });
    Ok(Some(found))
}

/// The largest absolute value; that of NaN is infinite.
fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

/// The error relative to a size, which is not zero where there is something to compare.
fn ratio(error: f64, size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { error / size } else { f64::INFINITY }
}

/// Blocks of two elements, and what depends on them.
fn of_blocks(
    jacobian: &Jacobian,
    whole: &Whole,
    coloured: &Coloured,
    direction: &mut impl FnMut(usize) -> Vec<f64>,
    found: &mut Consistency,
) {
    let offsets = &jacobian.offsets;
    let n = offsets.len() - 1;
    let blocks = Blocks::new(jacobian, whole, &coloured.near);
    let mut y = vec![0.0; jacobian.len()];
    for e in [0, n / 2] {
        let range = offsets[e]..offsets[e + 1];
        let v = direction(range.len());
        let mut spread = vec![0.0; y.len()];
        spread[range.clone()].copy_from_slice(&v);
        jacobian.multiply(&spread, &mut y);
        let mut rest = y[range].to_vec();
        dense::add_product(blocks.of(e), &v, 1.0, &mut rest);
        found.blocks = found.blocks.max(ratio(largest(rest), largest(y.iter().copied())));
        for far in (0..n).filter(|o| *o != e && !whole.neighbours[e].contains(&(*o as u32))) {
            found.beyond = found.beyond.max(largest(y[offsets[far]..offsets[far + 1]].iter().copied()));
        }
    }
}

/// `R R′(u) P w`, by products and by the matrix.
fn of_matrix(jacobian: &Jacobian, parts: &Factors, direction: &mut impl FnMut(usize) -> Vec<f64>) -> f64 {
    let offsets = &jacobian.offsets;
    let w = direction(parts.len());
    let (mut fine, mut y) = (vec![0.0; jacobian.len()], vec![0.0; jacobian.len()]);
    parts.prolongate(offsets, &w, &mut fine);
    jacobian.multiply(&fine, &mut y);
    let mut restricted = vec![0.0; w.len()];
    parts.restrict(offsets, &y, &mut restricted);
    let size = largest(restricted.iter().copied());
    parts.add_product(&w, &mut restricted);
    ratio(largest(restricted), size)
}
