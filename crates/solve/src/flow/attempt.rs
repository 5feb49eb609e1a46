//! Attempted steps with an estimate of their error, which can be undone.

use super::drive::Driving;
use super::{Flow, Representation, SystemError};
use crate::engine::Adaptive;

impl Flow {
    /// Prepares estimates of errors. With `s_k` the mean of `|u_k|` over the domain at the start of the run
    /// (for momentum `(s_ρ s_ρE)^½`, because it may be at rest), and `e_k` the error of the field k in a
    /// step:
    ///
    /// ```text
    /// ε = (mean over elements and fields of ⟨e_k²⟩ / s_k²)^½
    /// ```
    ///
    /// `⟨ ⟩` is the mean over the reference element: for modes by their orthonormality, otherwise over the
    /// coefficients (nodes). Fields whose scale is zero are measured absolutely.
    ///
    /// # Errors
    /// The errors of the device and the threads.
    pub fn weigh_errors(&mut self) -> Result<(), SystemError> {
        let scales = self.scales();
        let mesh = &self.setup.mesh;
        let discretization = self.engine.discretization();
        let parts = discretization.summary();
        let modal = discretization.representation() == Representation::Modal;
        let mut weights = Vec::new();
        let shares = (mesh.n_elements() * scales.len()) as f64;
        let sets = mesh.set_sizes();
        let ends: Vec<usize> = sets
            .iter()
            .scan(0, |end, set| {
                *end += set.elements;
                Some(*end)
            })
            .collect();
        for element in self.own_elements() {
            let shape = sets[ends.partition_point(|&end| end <= element)].shape;
            let n = parts.iter().find(|part| part.shape == shape).map_or(0, |part| part.n_basis);
            let size = if modal { shape.measure() } else { n as f64 };
            for scale in &scales {
                weights.extend(std::iter::repeat_n(1.0 / (scale * (size * shares).sqrt()), n));
            }
        }
        self.adaptive()?.weigh_errors(&weights)?;
        Ok(())
    }

    fn adaptive(&mut self) -> Result<&mut dyn Adaptive, SystemError> {
        let what = || "in steps with an estimate of their error".to_owned();
        let unavailable = || SystemError::Unavailable { law: self.setup.law.name(), what: what() };
        self.engine.adaptive().ok_or_else(unavailable)
    }

    /// Weighs the errors of steps if the next one needs it.
    pub(super) fn weigh_errors_first(&mut self) -> Result<(), SystemError> {
        match self.engine.adaptive().is_some_and(|engine| engine.lacks_weights()) {
            true => self.weigh_errors(),
            false => Ok(()),
        }
    }

    /// Returns the scales of the errors, by conserved variable.
    fn scales(&self) -> Vec<f64> {
        let volume = self.engine.integrate(false, 1, &|_, _, out| out[0] = 1.0)[0];
        let mut scales: Vec<f64> = self.start_size.iter().map(|size| size / volume).collect();
        if let (Some(_), [rho, momentum @ .., energy]) = (self.setup.law.gas(), &mut scales[..]) {
            momentum.fill((*rho * *energy).sqrt());
        }
        scales.iter().map(|&scale| if scale > 0.0 { scale } else { 1.0 }).collect()
    }

    /// Takes one step of size `dt` and returns the estimate ε of its error; NaN if the new state is invalid.
    /// See [`step`](Self::step); [`undo_step`](Self::undo_step) undoes it.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn try_step(&mut self, dt: f64) -> Result<f64, SystemError> {
        self.weigh_errors_first()?;
        let time = self.time;
        let outcome = self.adaptive()?.try_step(time, dt);
        let outcome = outcome.and_then(|error| self.engine.connected().map(|()| error));
        let error = outcome.map_err(|e| self.located(e))?;
        self.time += dt;
        self.steps += 1;
        Ok(error)
    }

    /// Returns whether the states at the points of faces, from which the numerical fluxes are computed, are
    /// finite and admissible; [`stable_dt`](Self::stable_dt) looks at the points inside elements alone. On a
    /// device the answer is always yes. Collective.
    #[must_use]
    pub fn admissible_at_faces(&self) -> bool {
        self.engine.admissible_at_faces()
    }

    /// Undoes the last attempted step, which began at `time`.
    pub fn undo_step(&mut self, time: f64) {
        if let Some(engine) = self.engine.adaptive() {
            engine.undo_step();
        }
        self.driving.iter_mut().for_each(Driving::undo);
        self.time = time;
        self.steps -= 1;
    }
}
