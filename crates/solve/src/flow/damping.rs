//! Damping of oscillations on the way to a steady state.

use super::{Flow, SystemError};

impl Flow {
    /// Draws the state towards its mean over past steps, and the mean towards the state (selective frequency
    /// damping). Between the steps of the scheme the two follow
    ///
    /// ```text
    /// du/ds = −(u − ū)/Δ,   dū/ds = (u − ū)/Δ
    /// ```
    ///
    /// over `steps` steps, with the width `Δ` of the mean in steps; this is solved exactly. A steady state is
    /// not changed, since `u = ū` there. A wave with the period `T` in steps decays by `e^{−π/T}` in each
    /// step for `Δ = T/π`. At the first call, with an empty `mean`, the state becomes the mean.
    ///
    /// # Source
    /// Åkervik, Brandt, Henningson, Hœpffner, Marxen, Schlatter, Phys. Fluids 18 (2006) 068102; exact
    /// splitting: Jordi, Cotter, Sherwin, Phys. Fluids 26 (2014) 034101. The gain is 1/Δ here.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn damp(&mut self, mean: &mut Vec<f64>, width: f64, steps: u64) -> Result<(), SystemError> {
        let mut state = self.engine.own_canonical();
        if mean.len() != state.len() {
            *mean = state;
            return Ok(());
        }
        let share = -0.5 * (-2.0 * steps as f64 / width).exp_m1();
        for (u, m) in state.iter_mut().zip(mean.iter_mut()) {
            let change = share * (*u - *m);
            *u -= change;
            *m += change;
        }
        self.replace(&state)
    }
}
