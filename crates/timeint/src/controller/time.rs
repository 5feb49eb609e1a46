//! A point in time, stored as two numbers so that sums of steps have no rounding error.

/// The present point of a run; a checkpoint must store it so that the steps continue as if uninterrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimePoint {
    /// Time.
    pub t: f64,
    /// The rounding error of `t`: the time is `t + low`.
    pub low: f64,
    /// Steps done.
    pub step: u64,
}

impl TimePoint {
    /// Time left to `target`.
    pub(super) fn until(&self, target: f64) -> f64 {
        (target - self.t) - self.low
    }

    /// The time after a step of `dt`, as two numbers (Dekker's two-sum).
    pub(super) fn after(&self, dt: f64) -> (f64, f64) {
        let dt = dt + self.low;
        let t = self.t + dt;
        let seen = t - self.t;
        (t, (self.t - (t - seen)) + (dt - seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_time_left_is_lost_after_many_steps() {
        for dt in [0.1, 1.0 / 3.0, 7e-9, 3.1e11] {
            let mut now = TimePoint { t: 0.0, low: 0.0, step: 0 };
            let end = 5000.0 * dt;
            for step in 1..5000_u64 {
                let (t, low) = now.after(dt);
                now = TimePoint { t, low, step };
                // n dt as two numbers; `t` alone has an error of up to half a unit in the last place of the
                // end, 500 times this bound.
                let (n, product) = (step as f64, step as f64 * dt);
                let left = (end - product) - n.mul_add(dt, -product);
                assert!((now.until(end) - left).abs() <= 1e-15 * dt, "{step} steps of {dt}");
            }
        }
    }
}
