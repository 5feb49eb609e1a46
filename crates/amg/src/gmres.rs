//! Restarted GMRES for nonsymmetric systems, with a preconditioner that may vary.

use dgsuite_gpu::{GpuError, Vector};

use crate::pcg::check_first;
use crate::{LinearOperator, Preconditioner, Reference, Solution, SolveError, Stop};

/// Generalised minimal residuals (Saad and Schultz 1986), restarted after a given number of directions, and
/// flexible: the preconditioner is applied from the right and may differ from one application to the next
/// (Saad 1993). The matrix only has to be regular.
///
/// The residual of the recurrence is compared with `b − A x` at every restart and at the end, so that a
/// solution is returned only if its true residual meets the target. A cycle without progress ends with
/// [`SolveError::Stagnated`]: allow more directions before a restart, or use a better preconditioner; or the
/// matrix is singular.
///
/// ```
/// use dgsuite_amg::{Backend, Csr, Gmres, Host, Identity, Stop, Vector};
/// let host = Host::new(1)?;
/// // Upwind differences: not symmetric.
/// let a = Csr::from_triplets(20, 20, (0..20).flat_map(|i| [(i, i, 1.5), (i, usize::max(i, 1) - 1, -1.0)]))?;
/// let b = host.upload(&[1.0; 20])?;
/// let mut x = b.zeros_like()?;
/// let solution = Gmres::new(&b, 30)?.solve(&a, &mut Identity, &b, &mut x, &Stop::default())?;
/// assert!(solution.iterations <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Gmres<V: Vector> {
    /// Orthonormal directions, one more than in `z`.
    v: Vec<V>,
    /// The directions after the preconditioner.
    z: Vec<V>,
}

/// A cycle must reduce the true residual below this fraction of its value before.
const CYCLE_GAIN: f64 = 0.999;
/// Orthogonalisation is repeated if it leaves less than this fraction of a vector: once is enough for a
/// backward stable iteration (Paige, Rozložník and Strakoš 2006), but not for directions that are orthogonal
/// themselves.
const CANCELLED: f64 = 0.1;
/// A direction adds nothing if less than this fraction of its length lies outside of the space of the former
/// ones.
const ROUNDING: f64 = 1e-14;

impl<V: Vector> Gmres<V> {
    /// Allocates a solver for vectors like `prototype`, restarted after `restart` directions (at least 1).
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if `2 restart + 1` vectors do not fit.
    pub fn new(prototype: &V, restart: usize) -> Result<Self, GpuError> {
        let restart = restart.max(1);
        let vectors = |n: usize| (0..n).map(|_| prototype.zeros_like()).collect::<Result<Vec<_>, _>>();
        Ok(Self { v: vectors(restart + 1)?, z: vectors(restart)? })
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
            Reference::RightHandSide => b.norm2(),
        };
        let target = (stop.relative * reference).max(stop.absolute);
        check_first(&self.v[0], residual, target, &mut history)?;
        while residual > target {
            let before = residual;
            let iterations = history.len() - 1;
            if iterations == stop.max_iterations {
                return Err(SolveError::MaxIterations { iterations, residual, target, history });
            }
            self.cycle(a, m, x, residual, target, stop.max_iterations, &mut history)?;
            residual = self.true_residual(a, b, x);
            let iterations = history.len() - 1;
            if !residual.is_finite() {
                return Err(SolveError::NotFinite { what: "the residual", iteration: iterations, history });
            }
            // A cycle that the limit of iterations interrupted does not count as stagnation.
            if residual > target && residual > CYCLE_GAIN * before && iterations < stop.max_iterations {
                return Err(SolveError::Stagnated { iterations, residual, target, history });
            }
        }
        Ok(Solution { iterations: history.len() - 1, residuals: history, true_residual: residual, target })
    }

    /// Replaces `x` by the combination of preconditioned directions with the least residual of `A x = b`,
    /// from zero, with as many directions as there are before a restart: an approximate inverse of a few
    /// products, as a preconditioner of [flexible](Gmres) iterations. Numbers that are not finite leave `x`
    /// at zero.
    ///
    /// # Panics
    /// If lengths do not fit.
    #[track_caller]
    pub fn approximate(
        &mut self,
        a: &impl LinearOperator<V>,
        m: &mut impl Preconditioner<V>,
        b: &V,
        x: &mut V,
    ) {
        assert_eq!(a.n_rows(), b.len(), "A x = b needs as many entries in b as A has rows");
        x.fill(0.0);
        self.v[0].copy_from(b);
        let residual = self.v[0].norm2();
        if !residual.is_finite() || residual == 0.0 {
            return;
        }
        let (most, mut history) = (self.z.len(), vec![residual]);
        if self.cycle(a, m, x, residual, 0.0, most, &mut history).is_err() {
            x.fill(0.0);
        }
    }

    /// One cycle: computes the `x` of least residual in the space of the directions; `v[0]` holds the
    /// residual.
    fn cycle(
        &mut self,
        a: &impl LinearOperator<V>,
        m: &mut impl Preconditioner<V>,
        x: &mut V,
        residual: f64,
        target: f64,
        most: usize,
        history: &mut Vec<f64>,
    ) -> Result<(), SolveError> {
        let mut least = LeastSquares::new(residual);
        self.v[0].lincomb(1.0 / residual, &[]);
        for j in 0..self.z.len() {
            if history.len() > most {
                break;
            }
            m.apply(&self.v[j], &mut self.z[j]);
            let (basis, rest) = self.v.split_at_mut(j + 1);
            let w = &mut rest[0];
            a.apply(&self.z[j], w);
            let size = w.norm2();
            if !size.is_finite() {
                let (iteration, history) = (history.len(), std::mem::take(history));
                return Err(SolveError::NotFinite { what: "A M⁻¹ v", iteration, history });
            }
            let mut column = vec![0.0; j + 2];
            let mut left = size;
            for _ in 0..2 {
                let start = left;
                // All shares at once (classical Gram–Schmidt): one wait on devices, one pass over `w`.
                let shares = V::dots(&basis.iter().map(|v| (&*w, v)).collect::<Vec<_>>());
                column.iter_mut().zip(&shares).for_each(|(h, share)| *h += share);
                w.lincomb(1.0, &shares.iter().map(|share| -share).zip(basis.iter()).collect::<Vec<_>>());
                left = w.norm2();
                if left > CANCELLED * start {
                    break;
                }
            }
            let invariant = left <= ROUNDING * size;
            column[j + 1] = if invariant { 0.0 } else { left };
            let regular = least.add(column, size);
            history.push(least.residual());
            if invariant || !regular || least.residual() <= target {
                break;
            }
            w.lincomb(1.0 / left, &[]);
        }
        for (weight, z) in least.solution().into_iter().zip(&self.z) {
            x.axpby(weight, z, 1.0);
        }
        Ok(())
    }

    /// `v[0] ← b − A x`, and its norm.
    fn true_residual(&mut self, a: &impl LinearOperator<V>, b: &V, x: &V) -> f64 {
        a.apply(x, &mut self.v[0]);
        self.v[0].axpby(1.0, b, -1.0);
        self.v[0].norm2()
    }
}

/// `min ‖β e₁ − H y‖` for a Hessenberg matrix that grows by columns, made triangular by Givens rotations.
struct LeastSquares {
    /// Columns of the triangular factor.
    columns: Vec<Vec<f64>>,
    /// Cosines and sines.
    rotations: Vec<(f64, f64)>,
    /// The right-hand side, rotated; its last entry is the residual.
    right: Vec<f64>,
}

impl LeastSquares {
    fn new(beta: f64) -> Self {
        Self { columns: Vec::new(), rotations: Vec::new(), right: vec![beta] }
    }

    /// Adds column j with its j + 2 entries. Returns `false`, without adding it, if the column depends on the
    /// former ones up to rounding; `size` is its length.
    fn add(&mut self, mut column: Vec<f64>, size: f64) -> bool {
        for (k, &(c, s)) in self.rotations.iter().enumerate() {
            let (upper, lower) = (column[k], column[k + 1]);
            column[k] = c * upper + s * lower;
            column[k + 1] = c * lower - s * upper;
        }
        let j = self.rotations.len();
        let pivot = column[j].hypot(column[j + 1]);
        if pivot <= ROUNDING * size {
            return false;
        }
        let (c, s) = (column[j] / pivot, column[j + 1] / pivot);
        column[j] = pivot;
        column.truncate(j + 1);
        let rest = self.right[j];
        self.right[j] = c * rest;
        self.right.push(-s * rest);
        self.columns.push(column);
        self.rotations.push((c, s));
        true
    }

    fn residual(&self) -> f64 {
        self.right[self.right.len() - 1].abs()
    }

    fn solution(&self) -> Vec<f64> {
        let n = self.columns.len();
        let mut y = self.right[..n].to_vec();
        for j in (0..n).rev() {
            y[j] /= self.columns[j][j];
            for i in 0..j {
                y[i] -= self.columns[j][i] * y[j];
            }
        }
        y
    }
}
