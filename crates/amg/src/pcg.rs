//! Preconditioned conjugate gradients for symmetric positive definite systems, plain and flexible.

use dgsuite_gpu::{GpuError, Vector};

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
pub struct Pcg<V: Vector> {
    r: V,
    z: V,
    p: V,
    q: V,
    flexible: bool,
    /// The unit vector of the null space, if there is one.
    null: Option<V>,
}

/// A growth of the residual by this factor is divergence. The 2-norm may grow for a while, but by no more
/// than the square root of the condition number.
const DIVERGENCE: f64 = 1e12;

/// A restart from the true residual must reduce it below this fraction of its former value.
const RESTART_GAIN: f64 = 0.5;

impl<V: Vector> Pcg<V> {
    /// Allocates a solver for vectors like `prototype`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if its four vectors do not fit.
    pub fn new(prototype: &V) -> Result<Self, GpuError> {
        let zeros = || prototype.zeros_like();
        Ok(Self { r: zeros()?, z: zeros()?, p: zeros()?, q: zeros()?, flexible: false, null: None })
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
        let mut residual = self.true_residual(a, b, x);
        let mut history = vec![residual];
        let reference = match stop.reference {
            Reference::InitialResidual => residual,
            Reference::RightHandSide => {
                self.z.copy_from(b);
                remove(self.null.as_ref(), &mut self.z);
                self.z.norm2()
            }
        };
        let first = residual;
        let target = (stop.relative * reference).max(stop.absolute);
        check_first(&self.r, residual, target, &mut history)?;
        if residual <= target {
            return Ok(Solution { iterations: 0, residuals: history, true_residual: residual, target });
        }

        let mut iteration = 0;
        let mut last_true = f64::INFINITY;
        'restart: loop {
            m.apply(&self.r, &mut self.z);
            let mut rho = self.r.dot(&self.z);
            check_product(rho, iteration, &mut history)?;
            self.p.copy_from(&self.z);
            loop {
                if iteration == stop.max_iterations {
                    return Err(SolveError::MaxIterations {
                        iterations: iteration,
                        residual,
                        target,
                        history,
                    });
                }
                iteration += 1;
                a.apply(&self.p, &mut self.q);
                let curvature = self.p.dot(&self.q);
                if !curvature.is_finite() {
                    return Err(SolveError::NotFinite { what: "pᵀAp", iteration, history });
                }
                if curvature <= 0.0 {
                    let curvature = curvature / self.p.dot(&self.p);
                    return Err(SolveError::NotPositiveDefinite { iteration, curvature, history });
                }
                // ρ = rᵀz is rᵀp, in the flexible method too: r is orthogonal to the last p.
                let alpha = rho / curvature;
                residual = self.step_residual(alpha);
                history.push(residual);
                if !(residual.is_finite() && residual > target && residual <= DIVERGENCE * first) {
                    // The last step along p, or the last one before a restart.
                    x.axpby(alpha, &self.p, 1.0);
                }
                if !residual.is_finite() {
                    return Err(SolveError::NotFinite { what: "the residual", iteration, history });
                }
                if residual > DIVERGENCE * first {
                    return Err(SolveError::Diverged { iteration, residual, first, history });
                }
                if residual <= target {
                    residual = self.true_residual(a, b, x);
                    if residual <= target {
                        return Ok(Solution {
                            iterations: iteration,
                            residuals: history,
                            true_residual: residual,
                            target,
                        });
                    }
                    if residual.is_nan() || residual > RESTART_GAIN * last_true {
                        return Err(SolveError::Stagnated {
                            iterations: iteration,
                            residual,
                            target,
                            history,
                        });
                    }
                    last_true = residual;
                    continue 'restart;
                }
                m.apply(&self.r, &mut self.z);
                // −zᵀq / pᵀq makes the next direction conjugate to this one; with a fixed preconditioner it
                // equals next / rho.
                let (next, beta) = if self.flexible {
                    let [next, overlap] = self.z.dot_two(&self.r, &self.q);
                    (next, -overlap / curvature)
                } else {
                    let next = self.r.dot(&self.z);
                    (next, next / rho)
                };
                if let Err(refused) = check_product(next, iteration, &mut history) {
                    x.axpby(alpha, &self.p, 1.0);
                    return Err(refused);
                }
                // The step of x along p is done here, in the same pass over p.
                self.p.step_and_turn(alpha, x, beta, &self.z);
                rho = next;
            }
        }
    }

    /// `r ← r − α q`, and its norm.
    fn step_residual(&mut self, alpha: f64) -> f64 {
        if self.null.is_none() {
            return self.r.add_and_square(-alpha, &self.q).sqrt();
        }
        self.r.axpby(-alpha, &self.q, 1.0);
        remove(self.null.as_ref(), &mut self.r);
        self.r.norm2()
    }

    /// `r ← b − A x`, and its norm.
    fn true_residual(&mut self, a: &impl LinearOperator<V>, b: &V, x: &V) -> f64 {
        a.apply(x, &mut self.q);
        self.r.lincomb(0.0, &[(1.0, b), (-1.0, &self.q)]);
        remove(self.null.as_ref(), &mut self.r);
        self.r.norm2()
    }
}

/// `x ← x − (nᵀ x) n`, if there is an `n`.
fn remove<V: Vector>(null: Option<&V>, x: &mut V) {
    if let Some(n) = null {
        x.axpby(-x.dot(n), n, 1.0);
    }
}

/// The squares of a first residual below this underflow before the solve ends.
const SMALLEST: f64 = 1e-130;

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

/// Checks that `rᵀ M⁻¹ r` is positive and finite; if not, moves the history into the error.
fn check_product(product: f64, iteration: usize, history: &mut Vec<f64>) -> Result<(), SolveError> {
    if !product.is_finite() {
        let history = std::mem::take(history);
        return Err(SolveError::NotFinite { what: "rᵀM⁻¹r", iteration, history });
    }
    if product <= 0.0 {
        let history = std::mem::take(history);
        return Err(SolveError::PreconditionerNotPositive { iteration, product, history });
    }
    Ok(())
}
