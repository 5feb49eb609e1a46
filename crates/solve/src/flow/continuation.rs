//! The state of a flow as the start of the same flow at another order.

use super::{Flow, SystemError};

impl Flow {
    /// Takes the state of the same flow at another order, on the same elements of this rank. A higher order
    /// has the same polynomials; of a lower one the highest modes are left out. Time, steps and sums stay.
    ///
    /// # Errors
    /// [`SystemError::Coefficients`] if the elements differ.
    pub fn continue_from(&mut self, other: &Self) -> Result<(), SystemError> {
        let from = other.engine.discretization().representation();
        let state = other.engine.own_canonical();
        match self.engine.set_own_canonical_of(from, other.setup.order, &state) {
            Some(()) => Ok(()),
            None => self.replace(&[]),
        }
    }
}
