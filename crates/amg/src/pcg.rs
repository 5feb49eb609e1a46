//! Preconditioned conjugate gradients for symmetric positive definite systems, plain and flexible.

pub(crate) mod scalars;

use dgsuite_gpu::{GpuError, Vector};

use self::scalars::{CURVATURE, CgScalars, KrylovPart, KrylovVector, Progress, Status};
use crate::{LinearOperator, Preconditioner, SolveError};

/// What the relative tolerance refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `‖b − A x₀‖`, with `x₀` the initial guess.
    InitialResidual,
    /// `‖b‖`.
    RightHandSide,
}

/// Stopping criterion: `‖b − A x‖₂ ≤ max(relative · reference, absolute)`, or a number of iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Relative tolerance.
    pub relative: f64,
    /// What the relative tolerance refers to.
    pub reference: Reference,
    /// Absolute tolerance.
    pub absolute: f64,
    /// Largest number of iterations.
    pub max_iterations: usize,
}

impl Default for Stop {
    /// 10⁻⁸ of the initial residual, 500 iterations.
    fn default() -> Self {
        Self { relative: 1e-8, reference: Reference::InitialResidual, absolute: 0.0, max_iterations: 500 }
    }
}

/// The result of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Iterations done.
    pub iterations: usize,
    /// Norms of the residuals that the iteration updates; the first is from before the first iteration.
    pub residuals: Vec<f64>,
    /// Norm of `b − A x`, computed at the end.
    pub true_residual: f64,
    /// The target norm.
    pub target: f64,
}

/// The preconditioned conjugate gradient method (Hestenes and Stiefel 1952) and its vectors.
///
/// The residual that the iteration updates drifts away from `b − A x` by rounding. When it meets the target
/// the true residual is computed. If that does not meet the target, the iteration restarts from there; if a
/// restart does not help, the solve has [stagnated](SolveError::Stagnated). So a returned solution always
/// meets the target.
///
/// ```
/// use dgsuite_amg::{Backend, Host, Identity, Pcg, Stop, Vector, gallery};
/// let host = Host::new(1)?;
/// let a = gallery::poisson_1d(100)?;
/// let b = host.upload(&[1.0; 100])?;
/// let mut x = b.zeros_like()?;
/// let solution = Pcg::new(&b)?.solve(&a, &mut Identity, &b, &mut x, &Stop::default())?;
/// assert_eq!(solution.iterations, 50);                    // as many as symmetric eigenvectors
/// assert!((x[0] - 50.0).abs() < 1e-6);                    // x_i = i (101 − i) / 2 for i = 1 … 100
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pcg<V: KrylovVector> {
    r: V,
    z: V,
    p: V,
    q: V,
    scalars: <V::Part as KrylovPart>::Scalars,
    flexible: bool,
    /// The unit vector of the null space, if there is one.
    null: Option<V>,
    /// The iterations of the last solve, which the next one may need on an asynchronous machine.
    expected: usize,
    /// The iterate of recorded iterations, and one of them, of the operators with these numbers.
    iterate: Option<V>,
    recorded: Option<([u64; 2], <V::Part as KrylovPart>::Recording)>,
}

/// A growth of the residual by this factor is divergence. The 2-norm may grow for a while, but by no more
/// than the square root of the condition number.
pub(crate) const DIVERGENCE: f64 = 1e12;

/// A restart from the true residual must reduce it below this fraction of its former value.
const RESTART_GAIN: f64 = 0.5;

/// On an asynchronous machine, systems of at most this many unknowns run several iterations between two
/// waits; for larger ones a wait costs little, and an iteration too many costs more.
const LOOK_AHEAD: usize = 1 << 21;

/// The first batch of iterations, if no solve came before, and the largest.
const BATCH: (usize, usize) = (4, 128);

impl<V: KrylovVector> Pcg<V> {
    /// Allocates a solver for vectors like `prototype`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if its four vectors do not fit; on a device the errors of its compiler.
    pub fn new(prototype: &V) -> Result<Self, GpuError> {
        let zeros = || prototype.zeros_like();
        Ok(Self {
            r: zeros()?,
            z: zeros()?,
            p: zeros()?,
            q: zeros()?,
            scalars: CgScalars::new(prototype.parts())?,
            flexible: false,
            null: None,
            expected: BATCH.0,
            iterate: None,
            recorded: None,
        })
    }

    /// Selects the flexible method (Notay 2000), for preconditioners that are not linear, such as a K-cycle.
    /// Each direction is made conjugate to the one before explicitly, at the cost of one more reduction.
    #[must_use]
    pub fn flexible(mut self) -> Self {
        self.flexible = true;
        self
    }

    /// For singular matrices with `A 1 = 0` (pure Neumann problems): removes the mean of the right-hand side,
    /// for which there is no solution, and of the residuals. The mean of the solution stays the mean of the
    /// guess if the preconditioner preserves it, as [`Amg`](crate::Amg) does.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if one more vector does not fit.
    pub fn without_mean(self) -> Result<Self, GpuError> {
        let mut ones = self.r.zeros_like()?;
        ones.fill(1.0);
        self.without(&ones)
    }

    /// For singular matrices with `A n = 0`, where `n` is not constant: removes the component along `n` from
    /// the right-hand side and the residuals. The component of the solution along `n` is not determined; it
    /// depends on the guess and the preconditioner.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if one more vector does not fit.
    pub fn without(mut self, n: &V) -> Result<Self, GpuError> {
        let size = n.norm2();
        if size > 0.0 {
            let mut unit = n.zeros_like()?;
            unit.axpby(1.0 / size, n, 0.0);
            self.null = Some(unit);
        }
        Ok(self)
    }

    /// Solves `A x = b` from the guess in `x`. Sums are computed in the same order on every run.
    ///
    /// On an asynchronous machine small systems run as many iterations as the solve before without waiting,
    /// so that `m` may be applied more often than the solve needs; the iterate does not change after its last
    /// iteration.
    ///
    /// # Errors
    /// [`SolveError`], with `x` at the last iterate.
    ///
    /// # Panics
    /// If lengths do not fit.
    #[track_caller]
    pub fn solve(
        &mut self,
        a: &impl LinearOperator<V>,
        m: &mut impl Preconditioner<V>,
        b: &V,
        x: &mut V,
        stop: &Stop,
    ) -> Result<Solution, SolveError> {
        assert_eq!(a.n_rows(), b.len(), "A x = b needs as many entries in b as A has rows");
        self.true_residual(a, b, x);
        self.r.copy_from(&self.z);
        let mut of_rhs = None;
        if stop.reference == Reference::RightHandSide {
            self.q.copy_from(b);
            remove(&mut self.scalars, self.null.as_ref(), &mut self.q);
            of_rhs = Some(self.q.parts());
        }
        self.scalars.begin(self.r.parts(), of_rhs, stop);
        let small = self.scalars.looks_ahead(LOOK_AHEAD);
        let mut history = Vec::new();
        let mut last_true = f64::INFINITY;
        let mut batch = if small { self.expected } else { 0 };
        let (mut first, mut started) = (true, false);
        loop {
            let goes_on = self.scalars.over() != Some(true);
            if goes_on && !started && (batch > 0 || !first) {
                m.apply(&self.r, &mut self.z);
                self.scalars.start(self.r.parts(), self.z.parts());
                self.p.copy_from(&self.z);
                started = true;
            }
            let left = stop.max_iterations - history.len().saturating_sub(1);
            self.iterations(a, m, x, batch.min(left));
            // A residual from the iterate itself, if this may have been the end.
            let mut confirmed = started && (small || self.scalars.over() == Some(true));
            if confirmed {
                self.true_residual(a, b, x);
                self.scalars.confirm(self.z.parts());
            }
            let progress = self.scalars.read();
            if first {
                history.push(progress.first);
                first = false;
            }
            history.extend(&progress.residuals);
            let mut revive = false;
            match progress.status {
                Status::Alive => {}
                Status::FirstRefused => {
                    check_first(&self.r, progress.first, progress.target, &mut history)?;
                    return Ok(Solution {
                        iterations: 0,
                        true_residual: progress.first,
                        residuals: history,
                        target: progress.target,
                    });
                }
                Status::Converged if history.len() == 1 => {
                    self.expected = 0;
                    return Ok(Solution {
                        iterations: 0,
                        true_residual: progress.first,
                        residuals: history,
                        target: progress.target,
                    });
                }
                Status::Converged => {
                    let mut residual = progress.true_residual;
                    if !confirmed {
                        self.true_residual(a, b, x);
                        self.scalars.confirm(self.z.parts());
                        residual = self.scalars.read().true_residual;
                        confirmed = true;
                    }
                    let iterations = history.len() - 1;
                    let target = progress.target;
                    if residual <= target {
                        self.expected = iterations.min(BATCH.1);
                        return Ok(Solution {
                            iterations,
                            residuals: history,
                            true_residual: residual,
                            target,
                        });
                    }
                    if residual.is_nan() || residual > RESTART_GAIN * last_true {
                        return Err(SolveError::Stagnated { iterations, residual, target, history });
                    }
                    last_true = residual;
                    self.r.copy_from(&self.z);
                    (started, revive) = (false, true);
                }
                failed => return Err(self.failure(failed, &progress, history)),
            }
            let (iterations, residual) = (history.len() - 1, history[history.len() - 1]);
            if iterations >= stop.max_iterations {
                let target = progress.target;
                return Err(SolveError::MaxIterations { iterations, residual, target, history });
            }
            batch = match self.scalars.over() {
                Some(_) => usize::MAX,
                None if small => further(&history, progress.target),
                None => 1,
            };
            self.scalars.rewind(revive);
        }
    }

    /// Up to `n` iterations.
    fn iterations(
        &mut self,
        a: &impl LinearOperator<V>,
        m: &mut impl Preconditioner<V>,
        x: &mut V,
        n: usize,
    ) {
        if self.scalars.over().is_none() && n > 1 && self.replay(a, m, x, n) {
            return;
        }
        for _ in 0..n {
            if self.scalars.over() == Some(true) {
                break;
            }
            self.iterate(a, m, x);
        }
    }

    /// Replays an iteration `n` times, if it can be recorded.
    fn replay(
        &mut self,
        a: &impl LinearOperator<V>,
        m: &mut impl Preconditioner<V>,
        x: &mut V,
        n: usize,
    ) -> bool {
        let (Some(of_a), Some(of_m)) = (a.recordable(), m.recordable()) else { return false };
        // A recording has the addresses of its vectors, and `x` may be another one in every solve.
        let own = self.iterate.take().map_or_else(|| x.zeros_like(), Ok);
        let Ok(mut own) = own else { return false };
        own.copy_from(x);
        let key = [of_a, of_m];
        if self.recorded.as_ref().is_none_or(|(known, _)| *known != key) {
            self.recorded = None;
            let machine = x.parts().first();
            let recorded = machine.and_then(|machine| machine.record(&mut || self.iterate(a, m, &mut own)));
            self.recorded = recorded.map(|recording| (key, recording));
        }
        let replayed = match (&self.recorded, x.parts().first()) {
            (Some((_, recording)), Some(machine)) => {
                (0..n).for_each(|_| machine.replay(recording));
                true
            }
            _ => false,
        };
        if replayed {
            x.copy_from(&own);
        }
        self.iterate = Some(own);
        replayed
    }

    /// One iteration.
    fn iterate(&mut self, a: &impl LinearOperator<V>, m: &mut impl Preconditioner<V>, x: &mut V) {
        let scalars = &mut self.scalars;
        a.apply(&self.p, &mut self.q);
        scalars.step(self.p.parts(), self.q.parts());
        if scalars.over() == Some(true) {
            return;
        }
        scalars.step_residual(self.r.parts_mut(), self.q.parts(), self.null.as_ref().map(V::parts));
        if scalars.over() == Some(true) {
            scalars.finish(x.parts_mut(), self.p.parts());
            return;
        }
        m.apply(&self.r, &mut self.z);
        let (p, z, r, q) = (self.p.parts_mut(), self.z.parts(), self.r.parts(), self.q.parts());
        scalars.turn(x.parts_mut(), p, z, r, q, self.flexible);
    }

    /// `z ← b − A x`, without the component along the null space.
    fn true_residual(&mut self, a: &impl LinearOperator<V>, b: &V, x: &V) {
        a.apply(x, &mut self.q);
        self.z.lincomb(0.0, &[(1.0, b), (-1.0, &self.q)]);
        remove(&mut self.scalars, self.null.as_ref(), &mut self.z);
    }

    fn failure(&self, status: Status, progress: &Progress, history: Vec<f64>) -> SolveError {
        let (iterations, value) = (history.len() - 1, progress.value);
        match status {
            // The residual of an iteration with such a product is not computed.
            Status::NotPositive => {
                let curvature = value / self.p.dot(&self.p);
                SolveError::NotPositiveDefinite { iteration: iterations + 1, curvature, history }
            }
            Status::NotFinite(what @ CURVATURE) => {
                SolveError::NotFinite { what, iteration: iterations + 1, history }
            }
            Status::NotFinite(what) => SolveError::NotFinite { what, iteration: iterations, history },
            Status::Diverged => SolveError::Diverged {
                iteration: iterations,
                residual: value,
                first: progress.first,
                history,
            },
            _ => SolveError::PreconditionerNotPositive { iteration: iterations, product: value, history },
        }
    }
}

/// How many further iterations a solve may need, from the rate of the last ones.
fn further(history: &[f64], target: f64) -> usize {
    let last = history[history.len() - 1];
    let back = (history.len() - 1).min(6);
    let rate = (last / history[history.len() - 1 - back]).powf(1.0 / back.max(1) as f64);
    let needed = (target / last).ln() / rate.ln();
    match needed.is_finite() && needed > 0.0 {
        true => (needed.ceil() as usize).clamp(1, BATCH.1),
        false => BATCH.0,
    }
}

/// `x ← x − (nᵀ x) n`, if there is an `n`.
fn remove<V: KrylovVector>(scalars: &mut impl CgScalars<V::Part>, null: Option<&V>, x: &mut V) {
    if let Some(n) = null {
        scalars.remove(n.parts(), x.parts_mut());
    }
}

/// The squares of a first residual below this underflow before the solve ends.
pub(crate) const SMALLEST: f64 = 1e-130;

/// Checks that the first residual `r` and the squares of its entries are finite and do not underflow. A
/// residual that is already small enough passes.
pub(crate) fn check_first<V: Vector>(
    r: &V,
    residual: f64,
    target: f64,
    history: &mut Vec<f64>,
) -> Result<(), SolveError> {
    if residual.is_finite() && residual.max(target) >= SMALLEST {
        return Ok(());
    }
    let size = r.norm_max();
    if size == 0.0 {
        return Ok(());
    }
    let history = std::mem::take(history);
    Err(match size.is_finite() {
        true => SolveError::Range { size, history },
        false => SolveError::NotFinite { what: "the first residual", iteration: 0, history },
    })
}
