//! What derivatives of a steady state with respect to a parameter need: rates, changes, states in between.

use super::{Flow, SystemError};
use crate::implicit::Response;

impl Flow {
    /// The coefficients of this rank's elements, in canonical order.
    #[must_use]
    pub fn own_coefficients(&self) -> Vec<f64> {
        self.engine.own_canonical()
    }

    /// Sets them.
    ///
    /// # Errors
    /// [`SystemError::Coefficients`] if their number differs.
    pub fn set_own_coefficients(&mut self, values: &[f64]) -> Result<(), SystemError> {
        self.replace(values)
    }

    /// The rate `R(t, u)` of the coefficients of this rank's elements, in canonical order. Collective.
    ///
    /// # Errors
    /// As [`step`](Self::step); [`SystemError::Unavailable`] for incompressible flow.
    pub fn own_rate(&mut self) -> Result<Vec<f64>, SystemError> {
        let (time, law) = (self.time, self.setup.law.name());
        let Some(engine) = self.engine.one_step() else {
            return Err(SystemError::Unavailable { law, what: "by rates of coefficients".to_owned() });
        };
        let rate = engine.own_rate(time).and_then(|rate| self.engine.connected().map(|()| rate));
        rate.map_err(|e| self.located(e))
    }

    /// The change `du/dα` of the present steady state with a parameter, of which `r = ∂R/∂α`: the solution
    /// `w` of `−R′(u) w = r`. Collective.
    ///
    /// # Errors
    /// As [`newton_step`](Self::newton_step).
    pub fn response(&mut self, r: &[f64]) -> Result<Response, SystemError> {
        let (t, law) = (self.time, self.setup.law.name());
        let found = match self.engine.newton() {
            Some(newton) => newton.response(t, r).map_err(|e| self.located(e))?,
            None => None,
        };
        found.ok_or_else(|| SystemError::Unavailable { law, what: "by Newton steps".to_owned() })
    }
}
