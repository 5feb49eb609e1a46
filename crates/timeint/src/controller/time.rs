//! A point in time, kept in two numbers so that adding up steps loses nothing.

/// Where a run is: what a checkpoint must hold for the steps to go on as if uninterrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimePoint {
    /// Time.
    pub t: f64,
    /// What `t` lost by rounding: the time is `t + low`.
    pub low: f64,
    /// Steps done.
    pub step: u64,
}

impl TimePoint {
    /// Time left to `target`.
    pub(super) fn until(&self, target: f64) -> f64 {
        (target - self.t) - self.low
    }

    /// The time after a step of `dt`, in two numbers (Dekker's two-sum).
    pub(super) fn after(&self, dt: f64) -> (f64, f64) {
        let dt = dt + self.low;
        let t = self.t + dt;
        let seen = t - self.t;
        (t, (self.t - (t - seen)) + (dt - seen))
    }
}
