//! A look at the flow at a time before the end of the last step, for outputs between steps.

use super::{Flow, Machine};
use crate::incompressible::components::Components;
use dgsuite_gpu::{GpuError, Vector};

/// The fields at an earlier time.
pub(super) struct Before<V> {
    /// The velocity.
    pub(super) u: Components<V>,
    /// The pressure and the scalars.
    pub(super) rest: Vec<V>,
}

impl<M: Machine> Flow<M> {
    /// Lets the flow be read at the time `tⁿ − ago` within the last step, by the polynomial in time through
    /// the fields of past steps ([`Multistep::before`](dgsuite_timeint::Multistep::before)); `None` returns
    /// to the time `tⁿ`. Later steps do not depend on it.
    pub(in crate::incompressible) fn look_back(&mut self, ago: Option<f64>) -> Result<(), GpuError> {
        self.before = None;
        let Some(ago) = ago else { return Ok(()) };
        let weights = self.steps.before(ago);
        let mut u = self.u[0].zeros_like()?;
        u.lincomb(0.0, &used(&weights, &self.u));
        let mut rest = Vec::new();
        for past in [&self.p].into_iter().chain(self.scalars.iter().map(|scalar| &scalar.values)) {
            let mut field = past[0].zeros_like()?;
            field.lincomb(0.0, &used(&weights, past));
            rest.push(field);
        }
        self.before = Some(Before { u, rest });
        Ok(())
    }
}

/// The terms of a sum over past fields.
fn used<'a, V>(weights: &[f64], past: &'a [V]) -> Vec<(f64, &'a V)> {
    weights.iter().copied().zip(past).filter(|(weight, _)| *weight != 0.0).collect()
}
