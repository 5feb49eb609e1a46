//! Stopping criteria for steady states: converged, at the level of rounding, stagnated, or diverged.

/// The reference for residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// `r ≤ τ`.
    Absolute(f64),
    /// `r ≤ τ r₀`, with `r₀` the first residual.
    First(f64),
    /// `r ≤ τ max r`, over the residuals so far.
    Largest(f64),
}

/// When lack of progress counts as stagnation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// Steps without progress.
    pub steps: u64,
    /// Progress is a new residual below `factor` times the best one.
    pub factor: f64,
}

impl Default for Patience {
    /// 5,000 steps without an improvement by one percent.
    fn default() -> Self {
        Self { steps: 5_000, factor: 0.99 }
    }
}

/// The state of a steady run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Not converged; `ratio` is the largest `r_k / reference_k` (the residual itself if absolute).
    Continue {
        /// The present ratio.
        ratio: f64,
    },
    /// Every residual is below its tolerance.
    Converged {
        /// The present ratio.
        ratio: f64,
    },
    /// All residuals are at the level of rounding and no longer decrease, although not all are below their
    /// tolerance.
    Rounding {
        /// The present ratio.
        ratio: f64,
    },
    /// No progress for longer than the patience.
    Stagnated {
        /// The best ratio so far.
        best: f64,
        /// The step at which it was reached.
        since: u64,
    },
    /// A residual is not finite.
    Diverged {
        /// Its index.
        variable: usize,
    },
}

/// What a run needs to continue: residuals are relative to those of the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The residuals to which others are relative.
    pub reference: Vec<f64>,
    /// The best ratio so far.
    pub best: f64,
    /// The step at which it was reached.
    pub since: u64,
}

/// Monitors the residuals of a steady run, one for each conserved variable.
///
/// ```
/// use dgsuite_timeint::{Patience, Steady, Tolerance, Verdict};
/// let mut steady = Steady::new(Tolerance::First(1e-3), Patience::default());
/// assert!(matches!(steady.observe(1, &[2.0, 8.0]), Verdict::Continue { .. }));
/// assert!(matches!(steady.observe(2, &[1e-3, 9e-3]), Verdict::Continue { .. }));
/// assert!(matches!(steady.observe(3, &[1e-3, 8e-3]), Verdict::Converged { .. }));
/// ```
///
/// A run that starts from a steady state has no large residual as a reference; [`Steady::rounding`] detects
/// it:
///
/// ```
/// use dgsuite_timeint::{Patience, Steady, Tolerance, Verdict};
/// let mut steady = Steady::new(Tolerance::Largest(1e-10), Patience::default()).rounding(vec![1e-14]);
/// assert_eq!(steady.observe(0, &[7e-15]), Verdict::Converged { ratio: 0.0 });
/// ```
#[derive(Clone, Debug)]
pub struct Steady {
    tolerance: Tolerance,
    patience: Patience,
    /// Residuals at the level of rounding; empty if unknown.
    floor: Vec<f64>,
    reference: Vec<f64>,
    /// Best ratio, and the step of the last sufficient improvement.
    best: f64,
    since: u64,
}

/// A variable whose reference never exceeds this fraction of the largest one is zero up to rounding (for
/// example a velocity that is zero by symmetry): it is compared with the largest reference instead.
const NOISE: f64 = 1e-8;

/// Fraction of the patience that is enough if rounding alone could cause the residuals.
const HASTE: u64 = 10;

impl Steady {
    /// A monitor without residuals.
    pub fn new(tolerance: Tolerance, patience: Patience) -> Self {
        Self { tolerance, patience, floor: Vec::new(), reference: Vec::new(), best: f64::INFINITY, since: 0 }
    }

    /// Sets, for each variable, the residual at the level of rounding.
    ///
    /// A variable that has never exceeded its level has a ratio of zero. A run with no variable above its
    /// level ends as soon as the residuals have not decreased for a tenth of the patience, for any tolerance.
    #[must_use]
    pub fn rounding(mut self, floor: Vec<f64>) -> Self {
        self.floor = floor;
        self
    }

    /// Continues with what [`progress`](Self::progress) returned in an earlier part of the run.
    #[must_use]
    pub fn resume(mut self, Progress { reference, best, since }: Progress) -> Self {
        (self.reference, self.best, self.since) = (reference, best, since);
        self
    }

    /// What a later part of the run continues with; `None` before the first residual.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        let (reference, best, since) = (self.reference.clone(), self.best, self.since);
        (!reference.is_empty()).then_some(Progress { reference, best, since })
    }

    /// From now on waits at least `steps` steps without progress, for example the duration of the slowest
    /// process.
    pub fn wait(&mut self, steps: u64) {
        self.patience.steps = self.patience.steps.max(steps);
    }

    /// Evaluates the residuals after `step` steps.
    ///
    /// # Panics
    /// If the number of residuals changes, or differs from that of [`rounding`](Self::rounding).
    #[track_caller]
    pub fn observe(&mut self, step: u64, residuals: &[f64]) -> Verdict {
        if let Some(variable) = residuals.iter().position(|r| !r.is_finite()) {
            return Verdict::Diverged { variable };
        }
        let tolerance = match self.tolerance {
            Tolerance::Absolute(tau) | Tolerance::First(tau) | Tolerance::Largest(tau) => tau,
        };
        if self.reference.is_empty() {
            self.reference = residuals.to_vec();
            self.since = step;
        }
        if self.floor.is_empty() {
            self.floor = vec![0.0; residuals.len()];
        }
        let n = residuals.len();
        assert!(
            self.reference.len() == n && self.floor.len() == n,
            "the number of residuals must not change"
        );
        if matches!(self.tolerance, Tolerance::Largest(_)) {
            for (reference, &r) in self.reference.iter_mut().zip(residuals) {
                *reference = reference.max(r);
            }
        }
        let ratio = match self.tolerance {
            Tolerance::Absolute(_) => residuals.iter().fold(0.0, |m: f64, &r| m.max(r)),
            _ => self.ratio(residuals),
        };
        if ratio <= tolerance {
            return Verdict::Converged { ratio };
        }
        if ratio < self.patience.factor * self.best {
            self.best = ratio;
            self.since = step;
            return Verdict::Continue { ratio };
        }
        let (waited, most) = (step.saturating_sub(self.since), self.patience.steps);
        let rounding = residuals.iter().zip(&self.floor).all(|(r, floor)| r <= floor);
        if rounding && waited >= most / HASTE {
            return Verdict::Rounding { ratio };
        }
        if waited >= most {
            return Verdict::Stagnated { best: self.best, since: self.since };
        }
        Verdict::Continue { ratio }
    }

    fn ratio(&self, residuals: &[f64]) -> f64 {
        let largest = self.reference.iter().fold(0.0, |m: f64, &r| m.max(r));
        let ratios =
            residuals.iter().zip(&self.reference).zip(&self.floor).map(|((&r, &reference), &floor)| {
                let reference = if reference <= NOISE * largest { largest } else { reference };
                // A first residual at the level of rounding is not a reference; the residual itself may have
                // grown since.
                if r.max(reference) <= floor || r == 0.0 { 0.0 } else { r / reference }
            });
        ratios.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEF: Patience = Patience { steps: 10, factor: 0.99 };

    #[test]
    fn a_geometric_decay_converges_at_the_first_step_below() {
        let mut steady = Steady::new(Tolerance::First(1e-6), BRIEF);
        let stop = (0..).find(|&n| {
            matches!(steady.observe(n, &[3.0 * 0.5f64.powi(n as i32)]), Verdict::Converged { .. })
        });
        assert_eq!(stop, Some(20)); // 2^-20 < 1e-6 < 2^-19
    }

    #[test]
    fn a_plateau_is_stagnation_and_says_since_when() {
        let mut steady = Steady::new(Tolerance::Absolute(1e-6), BRIEF);
        for n in 0..=5 {
            let verdict = steady.observe(n, &[f64::powi(0.5, n as i32)]);
            assert!(matches!(verdict, Verdict::Continue { .. }));
        }
        for n in 6..15 {
            assert!(matches!(steady.observe(n, &[0.0312]), Verdict::Continue { .. }), "step {n}");
        }
        assert_eq!(steady.observe(15, &[0.0312]), Verdict::Stagnated { best: 0.03125, since: 5 });
    }

    #[test]
    fn a_longer_wait_outlasts_a_plateau() {
        let mut steady = Steady::new(Tolerance::Absolute(1e-6), BRIEF);
        steady.observe(0, &[1.0]);
        assert_eq!(steady.observe(10, &[1.0]), Verdict::Stagnated { best: 1.0, since: 0 });
        steady.wait(50);
        steady.wait(20);
        assert_eq!(steady.observe(49, &[1.0]), Verdict::Continue { ratio: 1.0 });
        assert_eq!(steady.observe(50, &[1.0]), Verdict::Stagnated { best: 1.0, since: 0 });
    }

    #[test]
    fn a_run_in_two_parts_ends_as_one() {
        let residual = |n: u64| [3.0 * 0.7_f64.powi(n as i32), 0.2 * 0.7_f64.powi(n as i32)];
        let new = || Steady::new(Tolerance::Largest(1e-6), BRIEF);
        // A function: rustc before 1.97 lets calls of a closure with equal arguments share one of them,
        // although the closure owns and drops it (issue 155241 of rust-lang/rust).
        fn end(mut steady: Steady, residual: impl Fn(u64) -> [f64; 2], from: u64) -> Option<u64> {
            (from..).find(|&n| matches!(steady.observe(n, &residual(n)), Verdict::Converged { .. }))
        }
        let mut first = new();
        assert_eq!(first.progress(), None);
        for n in 0..9 {
            first.observe(n, &residual(n));
        }
        let progress = first.progress().unwrap();
        assert_eq!(end(new().resume(progress), residual, 9), end(new(), residual, 0));
        // Without it the second part has a lower reference, and needs more steps.
        assert!(end(new(), residual, 9) > end(new(), residual, 0));
    }

    #[test]
    fn bad_numbers_end_the_run_with_their_variable() {
        let mut steady = Steady::new(Tolerance::Largest(1e-6), BRIEF);
        assert_eq!(steady.observe(0, &[1.0, f64::NAN]), Verdict::Diverged { variable: 1 });
        assert_eq!(steady.observe(0, &[f64::INFINITY, 1.0]), Verdict::Diverged { variable: 0 });
    }

    #[test]
    fn a_growing_residual_raises_the_largest_reference_only() {
        let mut first = Steady::new(Tolerance::First(0.1), BRIEF);
        let mut largest = Steady::new(Tolerance::Largest(0.1), BRIEF);
        for (n, r) in [1.0, 50.0, 4.0].into_iter().enumerate() {
            let verdicts = (first.observe(n as u64, &[r]), largest.observe(n as u64, &[r]));
            assert!(matches!(verdicts.0, Verdict::Continue { .. }));
            assert_eq!(matches!(verdicts.1, Verdict::Converged { .. }), n == 2);
        }
    }

    #[test]
    fn noise_of_a_vanishing_variable_does_not_hold_up_a_run() {
        let mut steady = Steady::new(Tolerance::First(1e-3), BRIEF);
        steady.observe(0, &[1.0, 1e-17]);
        assert!(matches!(steady.observe(1, &[1e-4, 2e-17]), Verdict::Converged { .. }));
        // Far below its own level of rounding, with a tolerance far below the fraction that counts as noise.
        let mut strict = Steady::new(Tolerance::Largest(1e-11), BRIEF);
        strict.observe(0, &[0.5, 1e-15]);
        assert_eq!(strict.observe(1, &[1e-12, 2e-15]), Verdict::Converged { ratio: 2e-12 });
        assert_eq!(strict.observe(2, &[1e-12, 1e-3]), Verdict::Continue { ratio: 1.0 });
    }

    #[test]
    fn a_residual_at_rounding_ends_a_run_that_asks_for_less() {
        let mut steady = Steady::new(Tolerance::Largest(1e-20), BRIEF).rounding(vec![1e-14, 1e-13]);
        let mut verdicts = (0..60).map(|n| {
            let r = 0.5f64.powi(n);
            steady.observe(n as u64, &[r + 9e-15, r + 9e-14])
        });
        let end = verdicts.find(|v| !matches!(v, Verdict::Continue { .. }));
        assert!(matches!(end, Some(Verdict::Rounding { ratio }) if ratio < 2e-13), "{end:?}");
    }

    #[test]
    fn a_run_that_starts_steady_is_converged_at_once() {
        let mut steady = Steady::new(Tolerance::First(1e-10), BRIEF).rounding(vec![1e-14, 1e-14]);
        assert_eq!(steady.observe(0, &[9e-15, 1e-15]), Verdict::Converged { ratio: 0.0 });
        assert!(matches!(steady.observe(1, &[9e-15, 1e-12]), Verdict::Continue { .. }));
    }
}
