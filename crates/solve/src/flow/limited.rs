//! What a limiter did in the last stage, and the extremes that it is for.

use super::Flow;
use dgsuite_ops::Limited;

impl Flow {
    /// Returns what the limiter did in the last stage; `None` without a limiter.
    #[must_use]
    pub fn limited(&self) -> Option<Limited> {
        self.engine.limits()?.limited()
    }

    /// Returns the factor of the modes of each element of the mesh in the last stage: 1 if the limiter did
    /// not change it, 0 if only its mean was kept. `None` without a limiter.
    #[must_use]
    pub fn limiter_factors(&self) -> Option<Vec<f32>> {
        self.engine.gathered(self.own_limiter_factors()?)
    }

    /// Returns the sensor of the gate for each element of the mesh: the decimal logarithm of the share of the
    /// modes of the highest degree in the squares of the modes of `ρ p`, at least −32. `None` without a
    /// limiter.
    #[must_use]
    pub fn sensors(&self) -> Option<Vec<f32>> {
        self.engine.gathered(self.own_sensors()?)
    }

    /// As [`Self::limiter_factors`] on [this rank's elements](Self::own_elements).
    pub fn own_limiter_factors(&self) -> Option<Vec<f32>> {
        self.engine.limits()?.strengths()
    }

    /// As [`Self::sensors`] on [this rank's elements](Self::own_elements).
    pub fn own_sensors(&self) -> Option<Vec<f32>> {
        self.engine.limits()?.sensors()
    }

    /// Returns the elements of this rank, by their indices in the whole mesh.
    pub fn own_elements(&self) -> Vec<usize> {
        let all = || (0..self.setup.mesh.n_elements()).collect();
        self.engine.own_elements().map_or_else(all, |own| own.iter().map(|&e| e as usize).collect())
    }

    /// Returns the smallest density and the smallest pressure at the points at which the limiter bounds them;
    /// NaN if a value is not a number. `None` without a limiter.
    #[must_use]
    pub fn least(&self) -> Option<[f64; 2]> {
        self.engine.limits()?.least()
    }
}
