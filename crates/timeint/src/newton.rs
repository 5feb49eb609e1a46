//! Newton's method with pseudo-time for steady states: steps of growing size, and shares of them.

/// A problem `R(u) = 0` that is solved by steps `(1/Δτ − R′(u)) δ = R(u)`, with `Δτ` a multiple of the step
/// that each element could take explicitly.
pub trait SteadyProblem {
    /// The error of the problem.
    type Error;

    /// Computes the direction `δ` at the present state for the multiple `cfl`, and keeps the state as the
    /// start of the step.
    ///
    /// # Errors
    /// Those of the problem.
    fn direction(&mut self, cfl: f64) -> Result<Direction, Self::Error>;

    /// Returns the largest share `α ≤ 1` of the direction with which the state remains admissible.
    ///
    /// # Errors
    /// Those of the problem.
    fn admissible(&mut self) -> Result<f64, Self::Error>;

    /// Moves to `u + α δ`, and returns the norms of `R(u + α δ)` and of `R(u + α δ) − α δ/Δτ`; numbers that
    /// are not finite if the state is not admissible.
    ///
    /// # Errors
    /// Those of the problem.
    fn try_share(&mut self, share: f64) -> Result<[f64; 2], Self::Error>;

    /// Returns to the start of the step.
    ///
    /// # Errors
    /// Those of the problem.
    fn go_back(&mut self) -> Result<(), Self::Error>;
}

/// What is known of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// The norm of `R(u)` before the step.
    pub residual: f64,
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// Whether the linear solver has met its tolerance.
    pub solved: bool,
}

/// What a Newton step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonStep {
    /// The multiple of the explicit step.
    pub cfl: f64,
    /// The share of the direction that was taken; 0 for a step that was rejected.
    pub share: f64,
    /// Iterations of the linear solver, and whether it has met its tolerance.
    pub iterations: usize,
    /// See [`Direction::solved`].
    pub solved: bool,
    /// The norm of the residual afterwards.
    pub residual: f64,
}

impl NewtonStep {
    /// No step at all, where there is nothing to solve.
    #[must_use]
    pub const fn none() -> Self {
        Self { cfl: 0.0, share: 0.0, iterations: 0, solved: false, residual: f64::NAN }
    }
}

/// The size of pseudo-time steps.
///
/// The multiple begins at `start`. After a whole step, if its linear problem was solved, it grows by the
/// ratio of the residuals before and after, but at least by `growth` and at most tenfold that; after a step
/// by a share it stays, or falls where less than a tenth was possible; after a rejected step it falls to a
/// tenth. A share is halved until the residual grows by less than a fifth, or the residual with the
/// pseudo-time term does not grow.
///
/// # Source
/// Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508–523 (switched evolution relaxation); Ceze & Fidkowski,
/// Int. J. Numer. Meth. Fluids 78 (2015) 93–114 (shares by admissibility).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudoTime {
    /// The multiple of the next step.
    pub cfl: f64,
    /// The least growth after a whole step.
    pub growth: f64,
}

/// The smallest share of a step that is taken.
const LEAST_SHARE: f64 = 0.01;
/// Shares below this one make the next step smaller.
const SMALL_SHARE: f64 = 0.1;
/// The growth of the residual that a step may cause.
const ALLOWED: f64 = 1.2;
/// Largest growth of the multiple, relative to the least one.
const MOST_GROWTH: f64 = 10.0;

impl PseudoTime {
    /// Steps that begin with a multiple.
    #[must_use]
    pub const fn new(start: f64, growth: f64) -> Self {
        Self { cfl: start, growth }
    }

    /// Takes a step.
    ///
    /// # Errors
    /// Those of the problem.
    pub fn step<P: SteadyProblem>(&mut self, problem: &mut P) -> Result<NewtonStep, P::Error> {
        let cfl = self.cfl;
        let Direction { residual: before, iterations, solved } = problem.direction(cfl)?;
        let mut share = problem.admissible()?;
        let step = |share, residual| NewtonStep { cfl, share, iterations, solved, residual };
        while share >= LEAST_SHARE {
            let [residual, with_time] = problem.try_share(share)?;
            if residual.is_finite() && (residual < ALLOWED * before || with_time < before) {
                if !solved {
                    // A larger step would be harder to solve.
                    self.cfl *= if residual < before { 1.0 } else { 0.2 };
                } else if share >= 1.0 {
                    let ratio = if residual > 0.0 { before / residual } else { f64::INFINITY };
                    self.cfl *= ratio.clamp(self.growth, MOST_GROWTH * self.growth);
                } else if share <= SMALL_SHARE {
                    self.cfl *= 0.2;
                }
                return Ok(step(share, residual));
            }
            share *= 0.5;
        }
        problem.go_back()?;
        self.cfl *= 0.1;
        Ok(step(0.0, before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `du/dt = r(u)` with one unknown, a bound from below, and a unit explicit step.
    struct One<R: Fn(f64) -> f64> {
        rate: R,
        least: f64,
        u: f64,
        start: f64,
        delta: f64,
        cfl: f64,
    }

    impl<R: Fn(f64) -> f64> One<R> {
        fn at(u: f64, rate: R) -> Self {
            Self { rate, least: f64::NEG_INFINITY, u, start: u, delta: 0.0, cfl: 1.0 }
        }
    }

    impl<R: Fn(f64) -> f64> SteadyProblem for One<R> {
        type Error = std::convert::Infallible;

        fn direction(&mut self, cfl: f64) -> Result<Direction, Self::Error> {
            (self.start, self.cfl) = (self.u, cfl);
            let slope = ((self.rate)(self.u + 1e-6) - (self.rate)(self.u - 1e-6)) / 2e-6;
            self.delta = (self.rate)(self.u) / (1.0 / cfl - slope);
            Ok(Direction { residual: (self.rate)(self.u).abs(), iterations: 1, solved: true })
        }

        fn admissible(&mut self) -> Result<f64, Self::Error> {
            let most = 0.9 * (self.least - self.u) / self.delta;
            Ok(if self.u + self.delta >= self.least { 1.0 } else { most })
        }

        fn try_share(&mut self, share: f64) -> Result<[f64; 2], Self::Error> {
            self.u = self.start + share * self.delta;
            let rate = (self.rate)(self.u);
            Ok([rate.abs(), (rate - share * self.delta / self.cfl).abs()])
        }

        fn go_back(&mut self) -> Result<(), Self::Error> {
            self.u = self.start;
            Ok(())
        }
    }

    fn steps(problem: &mut One<impl Fn(f64) -> f64>, most: usize) -> Vec<NewtonStep> {
        let mut control = PseudoTime::new(10.0, 4.0);
        let mut all = Vec::new();
        while all.len() < most && all.last().is_none_or(|step: &NewtonStep| step.residual > 1e-12) {
            let Ok(step) = control.step(problem);
            all.push(step);
        }
        all
    }

    #[test]
    fn a_smooth_problem_converges_in_a_few_steps_of_growing_size() {
        let mut problem = One::at(0.8, |u: f64| 2.0 - u - u * u * u);
        let all = steps(&mut problem, 30);
        assert!(all.len() <= 9 && (problem.u - 1.0).abs() < 1e-12, "{all:?}");
        assert!(all.iter().all(|step| step.share == 1.0 || step.residual < 1e-12), "{all:?}");
        assert!(all.windows(2).all(|pair| pair[1].cfl >= 4.0 * pair[0].cfl));
        // At the end the multiple grows tenfold faster.
        assert!(all.windows(2).any(|pair| pair[1].cfl == 40.0 * pair[0].cfl), "{all:?}");
    }

    #[test]
    fn a_step_stays_within_its_bound() {
        // The root of √u − 1/2, from where a whole step would leave u > 0.
        let mut problem = One::at(4.0, |u: f64| 0.5 - u.sqrt());
        problem.least = 0.0;
        let all = steps(&mut problem, 40);
        assert!((problem.u - 0.25).abs() < 1e-10, "{all:?}");
        assert!(all.iter().any(|step| step.share < 1.0), "{all:?}");
    }

    #[test]
    fn a_step_that_fails_is_rejected_and_the_next_one_is_smaller() {
        // Rates grow away from where it begins.
        let mut problem = One::at(0.0, |u: f64| if u == 0.0 { 1.0 } else { f64::NAN });
        let all = steps(&mut problem, 3);
        assert_eq!(problem.u, 0.0);
        assert!(all.iter().all(|step| step.share == 0.0 && step.residual == 1.0));
        assert!((all[2].cfl - 0.1).abs() < 1e-12, "{all:?}");
    }
}
