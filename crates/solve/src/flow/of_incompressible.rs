//! Quantities of incompressible flow, which other laws do not have.

use super::{Flow, SolveStatistics, SystemError};

impl Flow {
    /// Counts and times of the linear solvers; `None` if the law has none.
    #[must_use]
    pub fn solves(&self) -> Option<SolveStatistics> {
        self.engine.solves()
    }

    /// Returns the size of the next step where a step of the size `wanted` would be stable: the steps of a
    /// multistep scheme with a graded start begin small and grow.
    #[must_use]
    pub fn next_size(&self, wanted: f64) -> f64 {
        self.engine.next_size(wanted)
    }

    /// Returns the number of explicit sub-steps of convection in a step of size `dt`; 0 if there are none.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt); [`SystemError::SubSteps`].
    pub fn substeps(&mut self, dt: f64) -> Result<usize, SystemError> {
        self.engine.substeps(dt).map_err(|e| self.with_place(e))
    }

    /// Returns the largest stable step of the explicit stress of a closure in incompressible flow, for the
    /// current state; infinite without a closure.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn largest_step_of_stress(&mut self) -> Result<f64, SystemError> {
        self.engine.largest_step_of_stress().map_err(|e| self.located(e))
    }

    /// Returns the norm of the jumps of the normal velocity across inner faces,
    ///
    /// ```text
    /// (Σ_f ∫_f ([u]·n)²)^½,   [u] = u⁻ − u⁺
    /// ```
    ///
    /// or `None` if the law is not that of incompressible flow. Boundary faces have no part in it.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn normal_jumps(&mut self) -> Result<Option<f64>, SystemError> {
        self.engine.normal_jumps().map_err(|e| self.located(e))
    }
}
