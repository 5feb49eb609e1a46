//! Quantities of incompressible flow, which other laws do not have.

use super::{Flow, SolveStatistics, SystemError};
use crate::setup::Law;

impl Flow {
    /// Counts and times of the linear solvers; `None` if the law has none.
    #[must_use]
    pub fn solves(&self) -> Option<SolveStatistics> {
        Some(self.engine.of_incompressible()?.solves())
    }

    /// Returns the size of the next step where a step of the size `wanted` would be stable: the steps of a
    /// multistep scheme with a graded start begin small and grow.
    #[must_use]
    pub fn next_size(&self, wanted: f64) -> f64 {
        self.engine.of_incompressible().map_or(wanted, |engine| engine.next_size(wanted))
    }

    /// Calls `look` with the flow at the time `t` within the last step: the polynomial in time through the
    /// last states that the scheme keeps, as many as its order, two at least. Afterwards the flow is again
    /// that at the end of the step, with the same bits.
    ///
    /// # Errors
    /// [`SystemError::Unavailable`] if the scheme is not a multistep scheme; no memory on a device.
    pub fn at_earlier<R>(&mut self, t: f64, look: impl FnOnce(&mut Self) -> R) -> Result<R, SystemError> {
        let end = self.time;
        self.look_back(Some(end - t))?;
        self.time = t;
        let seen = look(self);
        self.time = end;
        self.look_back(None)?;
        Ok(seen)
    }

    fn look_back(&mut self, ago: Option<f64>) -> Result<(), SystemError> {
        let law = self.setup.law.name();
        let unavailable = || SystemError::Unavailable { law, what: "at times between steps".to_owned() };
        self.engine.of_incompressible_mut().ok_or_else(unavailable)?.look_back(ago)
    }

    /// Returns the number of explicit sub-steps of convection in a step of size `dt`; 0 if there are none.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt); [`SystemError::SubSteps`].
    pub fn substeps(&mut self, dt: f64) -> Result<usize, SystemError> {
        let Some(engine) = self.engine.of_incompressible_mut() else { return Ok(0) };
        engine.substeps(dt).map_err(|e| self.with_place(e))
    }

    /// Returns the largest stable step of the explicit stress of a closure in incompressible flow, for the
    /// current state; infinite without a closure.
    ///
    /// # Errors
    /// As [`stable_dt`](Self::stable_dt).
    pub fn largest_step_of_stress(&mut self) -> Result<f64, SystemError> {
        let Some(engine) = self.engine.of_incompressible_mut() else { return Ok(f64::INFINITY) };
        let largest = engine.largest_step_of_stress();
        let largest = largest.and_then(|dt| self.engine.connected().map(|()| dt));
        largest.map_err(|e| self.located(e))
    }

    /// Returns the work per time and density of all forces on incompressible flow, `∫ f·u`: of buoyancy, of
    /// formulas, and of that which keeps a flow rate; `None` if the law is another one. Collective.
    ///
    /// # Errors
    /// A force that cannot be derived from its exact solution.
    pub fn work_of_forces(&self) -> Result<Option<f64>, SystemError> {
        let Law::Incompressible(law) = &self.setup.law else { return Ok(None) };
        let (dim, t) = (self.dim(), self.time);
        let (given, of_scalars) = (self.setup.given_source()?, law.force_of_scalars(dim));
        let driven = self.driven();
        if given.is_none() && of_scalars.is_none() && driven.is_none() {
            return Ok(Some(0.0));
        }
        let sums = self.engine.integrate(false, 2, &|x, state, out| {
            let mut force = [0.0; 3];
            if let Some(given) = &given {
                let mut values = vec![Vec::new(); given.n_fields()];
                given.eval(t, &[x], &mut values);
                force.iter_mut().zip(&values).for_each(|(f, values)| *f += values[0]);
            }
            if let Some(of_scalars) = &of_scalars {
                let values = of_scalars.eval(&state[dim + 1..], &x, t);
                force.iter_mut().zip(&values).for_each(|(f, value)| *f += value);
            }
            out[0] = (0..dim).map(|d| force[d] * state[d]).sum();
            out[1] = 1.0;
        });
        // The volume times the uniform force times the mean velocity along it.
        let driving = driven.map_or(0.0, |driven| driven.force * driven.mean * sums[1]);
        Ok(Some(sums[0] + driving))
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
        let Some(engine) = self.engine.of_incompressible_mut() else { return Ok(None) };
        let jumps = engine.normal_jumps();
        let jumps = jumps.and_then(|jumps| self.engine.connected().map(|()| jumps));
        jumps.map(Some).map_err(|e| self.located(e))
    }
}
