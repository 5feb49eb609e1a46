//! What can go wrong with matrices and in solves.

use std::path::PathBuf;

/// A matrix that is not what it should be.
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
    /// More rows or columns than 32-bit indices can number.
    #[error("a matrix of {n_rows} by {n_cols} is too large: at most {most} rows and columns are possible")]
    TooLarge {
        /// Rows wanted.
        n_rows: usize,
        /// Columns wanted.
        n_cols: usize,
        /// Most rows and columns.
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
    /// Arrays that do not make a compressed matrix.
    #[error("the arrays are no compressed matrix: {reason}")]
    Structure {
        /// What sprs found.
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
        /// The system's own error.
        source: std::io::Error,
    },
    /// The file is packed by gzip.
    #[error("{} is compressed: unpack it first, by gunzip", path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// The first line is not a Matrix Market header.
    #[error("line 1: expected '%%MatrixMarket matrix coordinate real symmetric', found '{found}'")]
    Header {
        /// The line as it is, shortened.
        found: String,
    },
    /// A kind of matrix that is not read.
    #[error("line 1: '{word}' is not supported, expected {expected}")]
    Unsupported {
        /// The word of the header.
        word: String,
        /// What is read in its place.
        expected: &'static str,
    },
    /// A line that is not what it should be.
    #[error("line {line}: expected {expected}, found '{found}'")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What belongs there.
        expected: &'static str,
        /// The line as it is, shortened.
        found: String,
    },
    /// Fewer or more entries than announced.
    #[error("{expected} entries were announced, {found} are there")]
    Count {
        /// Entries announced.
        expected: usize,
        /// Entries there.
        found: usize,
    },
    /// More rows than the file can have entries for.
    #[error("{rows} rows were announced, but with {entries} entries nearly all of them would be empty")]
    EmptyRows {
        /// Rows announced.
        rows: usize,
        /// Entries announced.
        entries: usize,
    },
    /// An entry above the diagonal of a matrix that stores its lower half.
    #[error(
        "line {line}: entry ({row}, {col}) lies above the diagonal, but a symmetric file holds the lower half"
    )]
    UpperEntry {
        /// Number of the line, from 1.
        line: usize,
        /// Row of the entry, from 1 as in the file.
        row: usize,
        /// Column of the entry, from 1 as in the file.
        col: usize,
    },
    /// The entries do not make a matrix.
    #[error("the entries make no matrix")]
    Matrix {
        /// Why not.
        #[from]
        source: MatrixError,
    },
}

/// A solve that did not succeed. Each kind holds the residual norms so far, from the first on.
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
        /// What the number is.
        what: &'static str,
        /// The iteration, from 0 (before the first).
        iteration: usize,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// A first residual whose squares double precision does not hold.
    #[error(
        "entries of the first residual are as large as {size:.1e}, and their squares are beyond the range of double precision"
    )]
    Range {
        /// The largest entry.
        size: f64,
        /// Residual norms, useless here.
        history: Vec<f64>,
    },
    /// All iterations were spent.
    #[error("no convergence in {iterations} iterations: residual {residual:.3e}, target {target:.3e}")]
    MaxIterations {
        /// Iterations done.
        iterations: usize,
        /// Norm of the last residual.
        residual: f64,
        /// Norm that was to be reached.
        target: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
    /// The residual has grown beyond all that rounding explains.
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
        /// Norm that was to be reached.
        target: f64,
        /// Residual norms.
        history: Vec<f64>,
    },
}

impl SolveError {
    /// Norms of the residuals, the first one before any iteration.
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

/// Why there is no multigrid hierarchy.
#[derive(Debug, thiserror::Error)]
pub enum AmgError {
    /// A word that names no choice.
    #[error("unknown {option} '{word}', expected {expected}")]
    UnknownOption {
        /// What was to be chosen.
        option: &'static str,
        /// The word, shortened.
        word: String,
        /// The words there are.
        expected: &'static str,
    },
    /// A number outside the range in which it has a meaning.
    #[error("{option} is {value}, possible are {least} to {most}")]
    OptionOutOfRange {
        /// What was to be chosen.
        option: &'static str,
        /// The number.
        value: f64,
        /// Least number possible.
        least: f64,
        /// Largest number possible.
        most: f64,
    },
    /// The matrix is not that of a symmetric positive definite operator.
    #[error("the matrix is not symmetric positive definite")]
    Matrix {
        /// The entry.
        #[from]
        source: MatrixError,
    },
    /// Constants on some connected rows are in the null space, and this was not announced.
    #[error(
        "the matrix is singular: the rows connected with row {} (about {rows}) all sum to zero; \
         if this is meant, choose NullSpace::Constant", row + 1
    )]
    Singular {
        /// A row of the singular part, from 0.
        row: usize,
        /// How many rows the part has, about.
        rows: usize,
    },
    /// Cholesky's factorisation of the coarsest level breaks down.
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
    /// A level's operator or smoother of which the largest eigenvalue cannot be estimated.
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
    /// A cycle that cannot be recorded for a device.
    #[error(
        "a W- or K-cycle over {doublings} levels visits the coarsest more than {most} times: \
         choose K-cycles on fewer levels"
    )]
    TooManyVisits {
        /// Levels that are visited twice for each visit of the one above.
        doublings: usize,
        /// Most visits.
        most: usize,
    },
    /// The machine refused a vector or a kernel.
    #[error("no room for the levels, or no kernels for them")]
    Machine {
        /// The machine's error.
        #[from]
        source: dgsuite_gpu::GpuError,
    },
}
