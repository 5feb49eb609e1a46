//! Errors of matrices, files, set-up and solves.

use std::path::PathBuf;

/// A matrix that is not valid.
///
/// Numbers of rows and columns in the fields count from 0, as in [`Csr`](crate::Csr); those in messages count
/// from 1, as in Matrix Market files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MatrixError {
    /// An entry outside the matrix.
    #[error("entry ({}, {}) lies outside a matrix of {n_rows} by {n_cols}", row + 1, col + 1)]
    OutsideMatrix {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        col: usize,
        /// Rows of the matrix.
        n_rows: usize,
        /// Columns of the matrix.
        n_cols: usize,
    },
    /// An entry that is infinite or not a number.
    #[error("entry ({}, {}) is {value}", row + 1, col + 1)]
    NotFinite {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        col: usize,
        /// Its value.
        value: f64,
    },
    /// More rows or columns than 32-bit indices can hold.
    #[error("a matrix of {n_rows} by {n_cols} is too large: at most {most} rows and columns are possible")]
    TooLarge {
        /// Rows requested.
        n_rows: usize,
        /// Columns requested.
        n_cols: usize,
        /// Largest number of rows or columns.
        most: usize,
    },
    /// A matrix with unequal numbers of rows and columns where a square one is needed.
    #[error("the matrix is {n_rows} by {n_cols}, not square")]
    NotSquare {
        /// Rows of the matrix.
        n_rows: usize,
        /// Columns of the matrix.
        n_cols: usize,
    },
    /// Two entries that should be equal.
    #[error("not symmetric: entry ({0}, {1}) is {value}, entry ({1}, {0}) is {mirrored}", row + 1, col + 1)]
    NotSymmetric {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        col: usize,
        /// Its value.
        value: f64,
        /// Value of the mirrored entry.
        mirrored: f64,
    },
    /// A diagonal entry that is not positive where it must be.
    #[error("the diagonal entry of row {} is {value}, not positive", row + 1)]
    DiagonalNotPositive {
        /// The row, from 0.
        row: usize,
        /// The diagonal entry (0 where none is stored).
        value: f64,
    },
    /// A row without an entry, or with zeros only.
    #[error("row {} is empty", row + 1)]
    EmptyRow {
        /// The row, from 0.
        row: usize,
    },
    /// Arrays that do not form a matrix in compressed rows.
    #[error("the arrays do not form a matrix in compressed rows: {reason}")]
    Structure {
        /// The reason, from sprs.
        reason: sprs::errors::StructureError,
    },
}

/// A Matrix Market file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MatrixMarketError {
    /// The file could not be opened.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is compressed with gzip.
    #[error("{} is compressed: decompress it first, with gunzip", path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// The first line is not a Matrix Market header.
    #[error("line 1: expected '%%MatrixMarket matrix coordinate real symmetric', found '{found}'")]
    Header {
        /// The line, shortened.
        found: String,
    },
    /// A kind of matrix that the reader does not support.
    #[error("line 1: '{word}' is not supported, expected {expected}")]
    Unsupported {
        /// The word in the header.
        word: String,
        /// The words that are supported.
        expected: &'static str,
    },
    /// A line that does not have the expected form.
    #[error("line {line}: expected {expected}, found '{found}'")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// The expected text.
        expected: &'static str,
        /// The line, shortened.
        found: String,
    },
    /// A number of entries other than the header announces.
    #[error("the header announces {expected} entries, but the file has {found}")]
    Count {
        /// Entries announced.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// More rows than the file has room for entries.
    #[error("the header announces {rows} rows, but with {entries} entries nearly all of them would be empty")]
    EmptyRows {
        /// Rows announced.
        rows: usize,
        /// Entries announced.
        entries: usize,
    },
    /// An entry above the diagonal in a symmetric file, which stores the lower half.
    #[error(
        "line {line}: entry ({row}, {col}) lies above the diagonal, but a symmetric file stores the lower half"
    )]
    UpperEntry {
        /// Number of the line, from 1.
        line: usize,
        /// Row of the entry, from 1 as in the file.
        row: usize,
        /// Column of the entry, from 1 as in the file.
        col: usize,
    },
    /// The entries do not form a valid matrix.
    #[error("the file does not contain a valid matrix")]
    Matrix {
        /// The reason.
        #[from]
        source: MatrixError,
    },
}

/// A solve that failed. Each variant holds the residual norms up to the failure, starting with the first.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// A search direction `p` with `pᵀ A p ≤ 0`.
    #[error("the matrix is not positive definite: pᵀAp / pᵀp = {curvature:.3e} in iteration {iteration}")]
    NotPositiveDefinite {
        /// The iteration, from 1.
        iteration: usize,
        /// `pᵀ A p / pᵀ p`.
        curvature: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// A residual `r` with `rᵀ M⁻¹ r ≤ 0`.
    #[error("the preconditioner is not positive definite: rᵀM⁻¹r = {product:.3e} in iteration {iteration}")]
    PreconditionerNotPositive {
        /// The iteration, from 0 (before the first).
        iteration: usize,
        /// `rᵀ M⁻¹ r`.
        product: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// A number that is infinite or not a number.
    #[error("{what} is not finite in iteration {iteration}")]
    NotFinite {
        /// Name of the number.
        what: &'static str,
        /// The iteration, from 0 (before the first).
        iteration: usize,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// A first residual whose squares overflow or underflow in double precision.
    #[error(
        "the largest entry of the first residual is {size:.1e}: its square is beyond the range of double precision"
    )]
    Range {
        /// The largest entry.
        size: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// The largest number of iterations was reached.
    #[error("no convergence in {iterations} iterations: residual {residual:.3e}, target {target:.3e}")]
    MaxIterations {
        /// Iterations done.
        iterations: usize,
        /// Norm of the last residual.
        residual: f64,
        /// The target norm.
        target: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// The residual has grown by more than rounding can explain.
    #[error("divergence: the residual has grown to {residual:.3e} from {first:.3e} in iteration {iteration}")]
    Diverged {
        /// The iteration, from 1.
        iteration: usize,
        /// Norm of the last residual.
        residual: f64,
        /// Norm of the first residual.
        first: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// Rounding keeps the true residual `b − A x` above the target.
    #[error(
        "stagnation after {iterations} iterations: the true residual stays at {residual:.3e}, target {target:.3e}"
    )]
    Stagnated {
        /// Iterations done.
        iterations: usize,
        /// Norm of the true residual.
        residual: f64,
        /// The target norm.
        target: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
}

impl SolveError {
    /// Norms of the residuals; the first one is from before the first iteration.
    pub fn history(&self) -> &[f64] {
        match self {
            Self::NotPositiveDefinite { history, .. }
            | Self::PreconditionerNotPositive { history, .. }
            | Self::NotFinite { history, .. }
            | Self::Range { history, .. }
            | Self::MaxIterations { history, .. }
            | Self::Diverged { history, .. }
            | Self::Stagnated { history, .. } => history,
        }
    }
}

/// Why a multigrid hierarchy could not be built.
#[derive(Debug, thiserror::Error)]
pub enum AmgError {
    /// A word that is not one of the choices.
    #[error("unknown {option} '{word}', expected {expected}")]
    UnknownOption {
        /// The name of the option.
        option: &'static str,
        /// The word, shortened.
        word: String,
        /// The valid words.
        expected: &'static str,
    },
    /// A number outside its valid range.
    #[error("{option} is {value}, but must lie between {least} and {most}")]
    OptionOutOfRange {
        /// The name of the option.
        option: &'static str,
        /// The number.
        value: f64,
        /// Smallest valid number.
        least: f64,
        /// Largest valid number.
        most: f64,
    },
    /// The matrix is not symmetric positive definite.
    #[error("the matrix is not symmetric positive definite")]
    Matrix {
        /// The entry at fault.
        #[from]
        source: MatrixError,
    },
    /// Constants on some connected rows are in the null space, although
    /// [`NullSpace::None`](crate::NullSpace::None) was chosen.
    #[error(
        "the matrix is singular: the rows connected with row {} (about {rows}) all sum to zero; \
         if this is meant, choose NullSpace::Constant", row + 1
    )]
    Singular {
        /// A row of the singular part, from 0.
        row: usize,
        /// Approximate number of rows of the part.
        rows: usize,
    },
    /// The Cholesky factorisation of the coarsest level fails.
    #[error("the matrix is not positive definite: its restriction to {rows} aggregates is not")]
    NotPositiveDefinite {
        /// Rows of the coarsest level.
        rows: usize,
    },
    /// A diagonal entry of a coarser level that is not positive.
    #[error(
        "the matrix is not positive definite: on the level with {rows} rows a diagonal entry is {value:.3e}"
    )]
    LevelNotPositive {
        /// Rows of the level.
        rows: usize,
        /// The row, from 0.
        row: usize,
        /// The diagonal entry.
        value: f64,
    },
    /// The largest eigenvalue of a level's operator with its smoother cannot be estimated.
    #[error(
        "level '{level}' with {rows} rows: the operator or its smoother's preconditioner is not positive definite, \
         or not finite"
    )]
    SmootherNotPositive {
        /// Name of the level.
        level: String,
        /// Rows of the level.
        rows: usize,
    },
    /// A cycle that is too long to be recorded for a device.
    #[error(
        "a W- or K-cycle over {doublings} levels visits the coarsest more than {most} times: \
         choose K-cycles on fewer levels"
    )]
    TooManyVisits {
        /// Number of levels that are visited twice for each visit of the next finer one.
        doublings: usize,
        /// Largest number of visits.
        most: usize,
    },
    /// Not enough memory for a vector, or a kernel that could not be compiled or loaded.
    #[error("the multigrid levels need memory or kernels that are not available")]
    Machine {
        /// The machine's error.
        #[from]
        source: dgsuite_gpu::GpuError,
    },
}
