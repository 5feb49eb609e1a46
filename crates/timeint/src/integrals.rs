//! Scalar time integrals in addition to the state, with the weights of the Runge–Kutta scheme.

/// `I_k ← I_k + dt Σ_i b_i r_k(t_i)`, summed over the steps with compensation of rounding errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Integrals {
    /// Σ b_i r_k of the current step; times its size once it is finished.
    step: Vec<f64>,
    /// Totals over the finished steps.
    total: Vec<f64>,
    /// Rounding errors of the totals.
    carry: Vec<f64>,
    /// Totals and their rounding errors before the last step.
    before: [Vec<f64>; 2],
}

impl Integrals {
    /// Discards the current step.
    pub(crate) fn begin(&mut self) {
        self.step.fill(0.0);
        self.before[0].copy_from_slice(&self.total);
        self.before[1].copy_from_slice(&self.carry);
    }

    /// Discards the last finished step.
    pub(crate) fn undo(&mut self) {
        self.total.copy_from_slice(&self.before[0]);
        self.carry.copy_from_slice(&self.before[1]);
    }

    /// Adds the rates of one stage.
    #[track_caller]
    pub(crate) fn add(&mut self, weight: f64, rates: &[f64]) {
        if self.total.is_empty() {
            self.step = vec![0.0; rates.len()];
            self.total = vec![0.0; rates.len()];
            self.carry = vec![0.0; rates.len()];
            self.before = [self.total.clone(), self.carry.clone()];
        }
        assert_eq!(self.total.len(), rates.len(), "the number of side integrals must not change");
        for (sum, rate) in self.step.iter_mut().zip(rates) {
            *sum += weight * rate;
        }
    }

    /// Adds the finished step to the totals (Kahan summation).
    pub(crate) fn finish(&mut self, dt: f64) {
        for ((total, carry), sum) in self.total.iter_mut().zip(&mut self.carry).zip(&mut self.step) {
            *sum *= dt;
            let increment = *sum - *carry;
            let next = *total + increment;
            *carry = (next - *total) - increment;
            *total = next;
        }
    }

    /// What the last finished step has added.
    pub(crate) fn increments(&self) -> &[f64] {
        &self.step
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.total
    }

    /// Sets the totals, as after a restart.
    pub(crate) fn set(&mut self, values: &[f64]) {
        self.total = values.to_vec();
        self.carry = vec![0.0; values.len()];
        self.step = vec![0.0; values.len()];
        self.before = [self.total.clone(), self.carry.clone()];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_small_steps_lose_nothing() {
        let mut integrals = Integrals::default();
        for _ in 0..1_000_000 {
            integrals.begin();
            integrals.add(1.0, &[0.1, -0.3]);
            integrals.finish(1e-3);
        }
        assert!((integrals.values()[0] - 100.0).abs() < 1e-13);
        assert!((integrals.values()[1] + 300.0).abs() < 1e-13);
    }

    #[test]
    fn an_abandoned_step_leaves_no_trace() {
        let mut integrals = Integrals::default();
        integrals.begin();
        integrals.add(1.0, &[5.0]);
        integrals.begin();
        integrals.add(1.0, &[2.0]);
        integrals.finish(0.5);
        assert_eq!(integrals.values(), &[1.0]);
    }

    #[test]
    fn a_step_that_is_taken_back_leaves_no_trace() {
        let mut integrals = Integrals::default();
        for rate in [0.1, 0.7, 0.3] {
            integrals.begin();
            integrals.add(1.0, &[rate]);
            integrals.finish(0.3);
        }
        let kept = integrals.clone();
        integrals.begin();
        integrals.add(1.0, &[1e9]);
        integrals.finish(1.0);
        integrals.undo();
        assert_eq!((&integrals.total, &integrals.carry), (&kept.total, &kept.carry));
    }

    #[test]
    #[should_panic(expected = "must not change")]
    fn the_number_of_rates_is_fixed() {
        let mut integrals = Integrals::default();
        integrals.add(1.0, &[5.0]);
        integrals.add(1.0, &[5.0, 6.0]);
    }
}
