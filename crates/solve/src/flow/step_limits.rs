//! Limits of the step beside the stable one: positive means, and states that enter through boundaries.

use super::{BoundaryKind, Flow, StepMeasure, SystemError};

/// Boundaries limit the step if their states are faster than the elements by this factor: smaller differences
/// are within the margin of the default step.
pub const FASTER: f64 = 2.0;

impl Flow {
    /// Returns [`stable_dt`](Self::stable_dt), or that of the states at a boundary if they are much faster.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn first_dt(&mut self) -> Result<f64, SystemError> {
        let limit = self.stable_dt()?;
        let fastest =
            self.fastest_boundary(self.time).filter(|(_, at_boundary)| FASTER * at_boundary < limit);
        Ok(fastest.map_or(limit, |(_, at_boundary)| at_boundary))
    }

    /// Returns the largest stable explicit step of the current state, with the margin of the default step.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn explicit_dt(&mut self) -> Result<f64, SystemError> {
        Ok(self.setup.stable_radius() * self.measured(StepMeasure::Radius)?)
    }

    /// Returns the smallest step that counts as one in another measure.
    pub(super) fn measured(&mut self, measure: StepMeasure) -> Result<f64, SystemError> {
        let own = self.setup.step_measure;
        let found = self.engine.measure_steps_by(measure).and_then(|()| self.engine.stable_dt());
        let restored = self.engine.measure_steps_by(own);
        found.and_then(|dt| restored.map(|()| dt)).map_err(|e| self.located(e))
    }

    /// Returns the largest step for which density and pressure of all means stay positive in theory: the SSP
    /// coefficient of the scheme in time times the smallest [`StepMeasure::Positivity`] of the elements. 0
    /// for schemes that do not preserve strong stability. It holds for limited states, the fluxes of Rusanov,
    /// HLL and HLLC, and boundaries whose states are not faster than the elements.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn positive_dt(&mut self) -> Result<f64, SystemError> {
        let coefficient = self.setup.scheme.ssp_coefficient().unwrap_or(0.0);
        Ok(coefficient * self.measured(StepMeasure::Positivity)?)
    }

    /// Returns the boundary with prescribed states or a far field whose states at time `t` are the fastest
    /// ones, and [`stable_dt`](Self::stable_dt) of its elements if they had these states.
    #[must_use]
    pub fn fastest_boundary(&self, t: f64) -> Option<(String, f64)> {
        let given =
            |kind: &BoundaryKind| matches!(kind, BoundaryKind::Prescribed(_) | BoundaryKind::FarField(_));
        let names = self.setup.boundaries.iter().filter(|(_, kind)| given(kind));
        let steps = names.map(|(name, _)| (name.clone(), self.engine.stable_dt_at(name, t)));
        steps.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether the prescribed states at boundaries and far fields do not depend on time.
    #[must_use]
    pub fn has_steady_boundaries(&self) -> bool {
        self.setup.boundaries.values().all(|kind| match kind {
            BoundaryKind::Prescribed(exact) | BoundaryKind::FarField(exact) => exact.is_steady(),
            _ => true,
        })
    }
}
