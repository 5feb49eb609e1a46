//! The mass of closed flows under steps of different size in each element.

use super::{Flow, SystemError};
use crate::implicit::is_closed;
use crate::state::basis_name;

impl Flow {
    /// Scales the state of a gas to the mass with which the run began, if no mass comes in or goes out. Steps
    /// of different size in each element change it, and the steady state depends on it: elements on the two
    /// sides of a face take `Δt f*` with steps of their own. Returns whether the state has changed.
    /// Collective.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn keep_mass(&mut self) -> Result<bool, SystemError> {
        if self.setup.law.gas().is_none() || !is_closed(&self.setup) {
            return Ok(false);
        }
        let by = self.start[0] / self.engine.totals()[0];
        if !by.is_finite() || by == 1.0 {
            return Ok(false);
        }
        let state: Vec<f64> = self.engine.own_canonical().iter().map(|u| by * u).collect();
        self.replace(&state).map(|()| true)
    }

    /// Replaces the coefficients of this rank's elements, in canonical order.
    pub(super) fn replace(&mut self, state: &[f64]) -> Result<(), SystemError> {
        self.engine.set_own_canonical(state).ok_or_else(|| SystemError::Coefficients {
            found: state.len(),
            order: self.setup.order,
            basis: basis_name(self.engine.discretization().representation()),
            wanted: Some(self.engine.discretization().dofs()),
        })
    }
}
