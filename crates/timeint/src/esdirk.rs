//! Implicit Runge–Kutta steps: stages that Newton's method solves.

mod tableau;

use std::cmp::Ordering;
use std::mem::swap;

use dgsuite_gpu::{GpuError, Vector};

use crate::Tableau;
use crate::integrals::Integrals;
pub use tableau::Esdirk;

/// A problem `du/dt = R(t, u)` whose stages can be solved.
///
/// With `h` the step times `γ`, a stage is `u = w + h R(t, u)`, and Newton's method solves
/// `(1 − h R′(t, u)) δ = w + h R(t, u) − u`.
pub trait StageProblem {
    /// The state.
    type Vector: Vector;
    /// The error of the problem.
    type Error;

    /// Begins a stage: of its rates, the last one counts with this weight in what a problem integrates in
    /// time beside the state by itself.
    ///
    /// # Errors
    /// Those of the problem.
    fn begin_stage(&mut self, _weight: f64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// `du ← R(t, u)`. Returns `false` if `u` is not admissible.
    ///
    /// # Errors
    /// Those of the problem.
    fn rate(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<bool, Self::Error>;

    /// Rates that are integrated in time with the state, as found by the last [`rate`](Self::rate).
    fn tally(&self) -> &[f64] {
        &[]
    }

    /// The size of a change of the state, relative to that of the solution.
    fn size(&mut self, change: &Self::Vector) -> f64;

    /// `delta ← (1 − h R′(t, u))⁻¹ r`, with a residual of the size `tolerance` relative to that of `r`. The
    /// state is that of the last [`rate`](Self::rate).
    ///
    /// # Errors
    /// Those of the problem.
    fn correct(
        &mut self,
        t: f64,
        h: f64,
        u: &Self::Vector,
        r: &Self::Vector,
        tolerance: f64,
        delta: &mut Self::Vector,
    ) -> Result<Correction, Self::Error>;

    /// Changes `u`, by no more than the size of the residual `r = w + h R(t, u) − u` that is left, so that
    /// its totals are those of `w + h R(t, u)`.
    ///
    /// # Errors
    /// Those of the problem.
    fn conserve(&mut self, _r: &Self::Vector, _u: &mut Self::Vector) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// What is known of a correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// Whether it has met its tolerance.
    pub solved: bool,
}

/// What a step took, and whether it has reached its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Newton's corrections of all stages.
    pub corrections: u64,
    /// Iterations of the linear solver.
    pub iterations: u64,
    /// The stage that could not be solved. The state is then that of the start of the step.
    pub failure: Option<StageFailure>,
}

/// A stage that could not be solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageFailure {
    /// The stage, from 1.
    pub stage: usize,
    /// The time of the stage.
    pub t: f64,
    /// The residual relative to the size of the solution.
    pub residual: f64,
    /// The one that was wanted.
    pub tolerance: f64,
    /// Corrections of this stage.
    pub corrections: usize,
    /// The reason.
    pub reason: Unsolved,
}

/// Why a stage could not be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// Every share of a correction leads to states that are not admissible.
    Inadmissible,
    /// No share of a correction makes the residual smaller.
    Stalled,
    /// The linear solver does not reach its tolerance, and what it finds makes the residual no smaller.
    Linear,
    /// The largest number of corrections is not enough.
    Slow,
}

/// The largest number of corrections of a stage.
const MOST: usize = 12;
/// The smallest share of a correction that is taken.
const LEAST_SHARE: f64 = 0.06;
/// The largest tolerance of a linear problem, and the smallest.
const LINEAR: [f64; 2] = [0.1, 1e-4];
/// The part of Newton's tolerance that the linear problem aims at.
const AIM: f64 = 0.3;
/// A residual of this size that corrections do not make smaller is one of rounding.
const ROUNDING: f64 = 1e-10;
/// The number of stages from which the next one is predicted.
const POINTS: usize = 3;

/// An implicit scheme with its vectors.
///
/// Stage i solves `u_i = w_i + γ dt R(t_i, u_i)` with `w_i = u₀ + dt Σ_{j<i} a_ij k_j`. The rates of later
/// stages are `k_i = (u_i − w_i) / (γ dt)` and not `R(t_i, u_i)`: the two differ by the residual that
/// Newton's method leaves over `γ dt`, but `R` multiplies the error that is left in stiff directions by their
/// eigenvalues (Hairer & Wanner, Solving Ordinary Differential Equations II, IV.8). So the result is the last
/// stage itself. Side integrals have the weights of the stages; [`StageProblem::conserve`] makes the totals
/// of a stage agree with them.
///
/// A stage begins with a rate that a polynomial through those of up to three stages before has, so that a
/// step depends on its start alone. It is corrected at least once, and solved if its residual
/// `w + γ dt R(u) − u` is smaller than the tolerance: the error of `u` is smaller still where `R` is
/// dissipative. The tolerance of the linear problem is the size of the residual, or what Newton's method
/// still needs.
pub struct ImplicitStepper<V: Vector> {
    scheme: Esdirk,
    tableau: Tableau,
    /// Weights of the rates in the estimate of the error.
    error: Vec<f64>,
    /// The tolerance of the stages.
    tolerance: f64,
    rates: Vec<V>,
    start: V,
    w: V,
    residual: V,
    delta: V,
    trial: V,
    integrals: Integrals,
}

impl<V: Vector> ImplicitStepper<V> {
    /// Creates a stepper for states like `prototype`, of which stages are solved to a residual of the size
    /// `tolerance`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if its vectors do not fit.
    pub fn new(scheme: Esdirk, tolerance: f64, prototype: &V) -> Result<Self, GpuError> {
        let tableau = scheme.tableau();
        let error = scheme.embedded().iter().zip(&tableau.b).map(|(e, b)| e - b).collect();
        let zeros = || prototype.zeros_like();
        Ok(Self {
            scheme,
            error,
            tolerance,
            rates: (0..scheme.n_stages()).map(|_| zeros()).collect::<Result<_, _>>()?,
            start: zeros()?,
            w: zeros()?,
            residual: zeros()?,
            delta: zeros()?,
            trial: zeros()?,
            integrals: Integrals::default(),
            tableau,
        })
    }

    /// Number of vectors of a scheme, without the state.
    #[must_use]
    pub fn n_vectors(scheme: Esdirk) -> usize {
        scheme.n_stages() + 5
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> Esdirk {
        self.scheme
    }

    /// The side integrals over the last finished step, for the rates of [`StageProblem::tally`].
    #[must_use]
    pub fn increments(&self) -> &[f64] {
        self.integrals.increments()
    }

    /// Takes a step `u(t) → u(t + dt)`. If a stage cannot be solved, the result has a
    /// [failure](Effort::failure), and `u` is the state at `t`.
    ///
    /// # Errors
    /// Those of the problem.
    pub fn step<P: StageProblem<Vector = V>>(
        &mut self,
        problem: &mut P,
        t: f64,
        dt: f64,
        u: &mut V,
    ) -> Result<Effort, P::Error> {
        let mut effort = Effort::default();
        self.integrals.begin();
        self.start.copy_from(u);
        let outcome = self.stages(problem, t, dt, u, &mut effort);
        if outcome.is_err() || effort.failure.is_some() {
            u.copy_from(&self.start);
        } else {
            self.integrals.finish(dt);
        }
        outcome.map(|()| effort)
    }

    fn stages<P: StageProblem<Vector = V>>(
        &mut self,
        problem: &mut P,
        t: f64,
        dt: f64,
        u: &mut V,
        effort: &mut Effort,
    ) -> Result<(), P::Error> {
        let failure = |t: f64, reason| StageFailure {
            stage: 1,
            t,
            residual: f64::NAN,
            tolerance: self.tolerance,
            corrections: 0,
            reason,
        };
        problem.begin_stage(self.tableau.b[0])?;
        if !problem.rate(t, u, &mut self.rates[0])? {
            effort.failure = Some(failure(t, Unsolved::Inadmissible));
            return Ok(());
        }
        self.integrals.add(self.tableau.b[0], problem.tally());
        for i in 1..self.scheme.n_stages() {
            let (time, h) = (t + self.tableau.c[i] * dt, self.scheme.gamma() * dt);
            let (known, rest) = self.rates.split_at_mut(i);
            let terms = known.iter().zip(&self.tableau.a[i]).map(|(k, a)| (dt * a, k));
            let terms: Vec<(f64, &V)> = terms.collect();
            self.w.copy_from(&self.start);
            self.w.lincomb(1.0, &terms);
            // The state of the rate that is extrapolated, or that of the start.
            u.copy_from(&self.w);
            let first = i.saturating_sub(POINTS);
            let weights = through(&self.tableau.c[first..i], self.tableau.c[i]);
            let terms = known[first..].iter().zip(weights).map(|(k, weight)| (h * weight, k));
            u.lincomb(1.0, &terms.collect::<Vec<_>>());
            let rate = &mut rest[0];
            problem.begin_stage(self.tableau.b[i])?;
            let mut admissible = problem.rate(time, u, rate)?;
            if !admissible {
                u.copy_from(&self.start);
                admissible = problem.rate(time, u, rate)?;
            }
            let tolerance = self.tolerance;
            let failed = |residual, corrections, reason| {
                Some(StageFailure { stage: i + 1, t: time, residual, tolerance, corrections, reason })
            };
            if !admissible {
                effort.failure = failed(f64::NAN, 0, Unsolved::Inadmissible);
                return Ok(());
            }
            self.residual.lincomb(0.0, &[(1.0, &self.w), (h, rate), (-1.0, u)]);
            let mut size = problem.size(&self.residual);
            let mut corrections = 0;
            // Once at least, as rates that are extrapolated have no error and no damping; and also if the
            // size is not a number.
            while !matches!(size.partial_cmp(&tolerance), Some(Ordering::Less)) || corrections == 0 {
                if size == 0.0 {
                    break;
                }
                if corrections == MOST {
                    effort.failure = failed(size, corrections, Unsolved::Slow);
                    return Ok(());
                }
                let wanted = size.max(AIM * tolerance / size).clamp(LINEAR[1], LINEAR[0]);
                let found = problem.correct(time, h, u, &self.residual, wanted, &mut self.delta)?;
                corrections += 1;
                effort.corrections += 1;
                effort.iterations += found.iterations as u64;
                let (mut share, mut possible) = (1.0, false);
                let after = loop {
                    self.trial.lincomb(0.0, &[(1.0, u), (share, &self.delta)]);
                    let admissible = problem.rate(time, &self.trial, rate)?;
                    if admissible {
                        possible = true;
                        self.residual.lincomb(0.0, &[(1.0, &self.w), (h, rate), (-1.0, &self.trial)]);
                        let after = problem.size(&self.residual);
                        if after < tolerance || after < (1.0 - 0.1 * share) * size {
                            break Some(after);
                        }
                    }
                    share *= 0.5;
                    if share < LEAST_SHARE {
                        break None;
                    }
                };
                let Some(after) = after else {
                    if size < ROUNDING {
                        // The rate of the state itself.
                        problem.rate(time, u, rate)?;
                        self.residual.lincomb(0.0, &[(1.0, &self.w), (h, rate), (-1.0, u)]);
                        break;
                    }
                    let reason = match (found.solved, possible) {
                        (false, _) => Unsolved::Linear,
                        (true, false) => Unsolved::Inadmissible,
                        (true, true) => Unsolved::Stalled,
                    };
                    effort.failure = failed(size, corrections, reason);
                    return Ok(());
                };
                swap(u, &mut self.trial);
                size = after;
            }
            self.integrals.add(self.tableau.b[i], problem.tally());
            problem.conserve(&self.residual, u)?;
            rate.lincomb(0.0, &[(1.0 / h, u), (-1.0 / h, &self.w)]);
        }
        Ok(())
    }

    /// The estimated error of the last finished step, `û − u = dt Σ_i (b̂_i − b_i) k_i`, for a step of size
    /// `dt`. It overwrites vectors of the stages.
    pub fn error(&mut self, dt: f64) -> &V {
        let terms: Vec<(f64, &V)> = self.error.iter().map(|e| dt * e).zip(&self.rates).collect();
        self.residual.lincomb(0.0, &terms);
        &self.residual
    }

    /// Undoes the last step, finished or not: restores `u` and, if it was finished, the side integrals of its
    /// start.
    pub fn undo(&mut self, u: &mut V) {
        u.copy_from(&self.start);
        self.integrals.undo();
    }
}

/// The weights of values at the points `at` in the polynomial through them, at `x` (Lagrange).
fn through(at: &[f64], x: f64) -> Vec<f64> {
    let factor = |i: usize, j: usize| (x - at[j]) / (at[i] - at[j]);
    (0..at.len()).map(|i| (0..at.len()).filter(|&j| j != i).map(|j| factor(i, j)).product()).collect()
}
