//! `A x = b` in one call: conjugate gradients preconditioned by algebraic multigrid.

use dgsuite_gpu::{Backend, Host, Vector};

use crate::{Amg, AmgError, AmgOptions, Csr, Pcg, SolveError, Stop};

/// A solution of `A x = b`, as [`solve`] returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// Number of iterations.
    pub iterations: usize,
    /// `‖b − A x‖₂`, computed from `x`; at most `10⁻⁸ ‖b‖₂`.
    pub residual: f64,
}

/// Why [`solve`] returns no solution.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// The right-hand side has the wrong length.
    #[error("the right-hand side has {entries} entries, but the matrix has {rows} rows")]
    Length {
        /// Entries of the right-hand side.
        entries: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// The multigrid hierarchy cannot be built, for example because the matrix is not symmetric positive
    /// definite; or there is not enough memory.
    #[error("cannot set up multigrid")]
    Setup {
        /// The reason.
        #[from]
        source: AmgError,
    },
    /// The iteration failed, for example because the matrix is not positive definite.
    #[error("cannot solve the system")]
    Solve {
        /// The reason, with the residual norms of all iterations.
        #[from]
        source: SolveError,
    },
}

/// Solves `A x = b` for a symmetric positive definite matrix, on all CPU threads, from a zero guess.
///
/// The method is [`Pcg::flexible`] with [`Amg`] and their defaults: at most 500 iterations, until
/// `‖b − A x‖₂ ≤ 10⁻⁸ ‖b‖₂`. Every call builds the hierarchy again. To solve for several right-hand sides, to
/// start from a guess, to choose another tolerance, preconditioner or machine, or for a singular matrix (pure
/// Neumann problem), call [`Amg::new`] and [`Pcg::solve`] yourself; their pages have examples.
///
/// ```
/// use dgsuite_amg::{gallery, solve};
/// let a = gallery::poisson_2d(300, 200, 1.0)?;
/// let b = vec![1.0; a.n_rows()];
/// let solved = solve(&a, &b)?;
/// assert_eq!(solved.x.len(), 60_000);
/// assert!(solved.iterations < 20 && solved.residual <= 1e-8 * (60_000f64).sqrt());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SystemError`]: a length that does not fit, a matrix that is not symmetric positive definite, no
/// convergence, or not enough memory.
pub fn solve(a: &Csr<f64>, b: &[f64]) -> Result<Solved, SystemError> {
    if b.len() != a.n_rows() {
        return Err(SystemError::Length { entries: b.len(), rows: a.n_rows() });
    }
    let host = Host::new(0).map_err(AmgError::from)?;
    let mut amg = Amg::new(&host, a, &AmgOptions::default())?;
    let b = host.upload(b).map_err(AmgError::from)?;
    let mut x = b.zeros_like().map_err(AmgError::from)?;
    let mut pcg = Pcg::new(&b).map_err(AmgError::from)?.flexible();
    let solution = pcg.solve(a, &mut amg, &b, &mut x, &Stop::default())?;
    Ok(Solved { x: x.to_vec(), iterations: solution.iterations, residual: solution.true_residual })
}
