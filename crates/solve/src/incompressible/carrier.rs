//! The velocity that carries others in sub-steps of convection: an interpolation of past velocities.

use super::components::Components;
use dgsuite_gpu::Vector;
use dgsuite_timeint::Multistep;

/// The velocity ū that carries.
pub(super) struct Carrier<'a, V> {
    /// The time of the latest velocity.
    pub(super) start: f64,
    /// Velocities of past times, the latest first.
    pub(super) past: &'a [Components<V>],
    pub(super) times: &'a Multistep,
    /// ū at the time in `at`.
    pub(super) field: &'a mut Components<V>,
    pub(super) at: Option<f64>,
}

impl<'a, V: Vector<Scalar = f64>> Carrier<'a, V> {
    /// The factors of past velocities at time `t`, and these.
    pub(super) fn terms(&self, t: f64) -> Vec<(f64, &'a Components<V>)> {
        let weights = self.times.interpolation(t - self.start, self.times.available_order());
        self.past.iter().zip(&weights).filter(|(_, w)| **w != 0.0).map(|(u, w)| (*w, u)).collect()
    }

    /// Its components at time `t`.
    pub(super) fn at(&mut self, t: f64) -> &[V] {
        if self.at != Some(t) {
            let terms = self.terms(t);
            self.field.lincomb(0.0, &terms);
            self.at = Some(t);
        }
        &self.field.0
    }
}
