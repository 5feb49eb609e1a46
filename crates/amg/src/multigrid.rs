//! A V-cycle over given levels: operators, stored or matrix-free, and the transfers between them.

mod summary;
mod transfer;

use dgsuite_gpu::{Backend, Scalar, Vector};

pub use summary::{MultigridLevel, MultigridSummary};
pub use transfer::{Interpolation, Transfer};

use crate::{AmgError, LinearOperator, Preconditioner, Smoother, lanczos, smoother};

/// The smoother of a level: a polynomial in `M⁻¹ A`, applied by the steps that all smoothers share.
pub struct LevelSmoother<V> {
    /// The polynomial. Its interval comes from the largest eigenvalue of `M⁻¹ A` (Lanczos's method, in the
    /// inner product of `M⁻¹`); for [`Smoother::L1Jacobi`] that eigenvalue is assumed to be at most 1.
    pub polynomial: Smoother,
    /// `z = M⁻¹ r`, symmetric positive definite: point Jacobi, block Jacobi or another preconditioner.
    pub inverse: Box<dyn Preconditioner<V> + Send>,
}

/// A level without its vectors.
pub struct LevelSpec<V> {
    /// Name of the level in the table and in errors.
    pub name: String,
    /// `y = A x`, symmetric positive (semi-)definite.
    pub operator: Box<dyn LinearOperator<V> + Send + Sync>,
    /// The smoother, the same before and after the correction.
    pub smoother: LevelSmoother<V>,
    /// The transfer to the next coarser level.
    pub transfer: Box<dyn Transfer<V> + Send + Sync>,
    /// Bytes of operator, smoother and transfer, if they are known; for the table.
    pub bytes: Option<usize>,
    /// The first vector of Lanczos's method, such as [`rough_entry`](crate::rough_entry) of each entry:
    /// results that do not depend on the order of entries need one that does not. Default: by the place of
    /// the entries.
    pub start: Option<V>,
}

/// The coarsest level: its exact or approximate solver.
pub struct CoarseSpec<V> {
    /// Name of the level in the table.
    pub name: String,
    /// Number of rows.
    pub n_rows: usize,
    /// `x ≈ A⁻¹ b`, such as [`Amg`](crate::Amg).
    pub solver: Box<dyn Preconditioner<V> + Send>,
    /// Bytes, if they are known; for the table.
    pub bytes: Option<usize>,
}

/// A V-cycle over given levels, the finest first: `z = M⁻¹ r`.
///
/// On each level the smoother runs on a zero guess, the residual is restricted, the correction of the next
/// coarser level is prolongated and added, and the smoother runs again. With `R = Pᵀ` and a symmetric coarse
/// solver the map is linear, symmetric and, as long as no smoother overshoots, positive definite. With a
/// K-cycle as coarse solver the map is not linear: use [`Pcg::flexible`](crate::Pcg::flexible).
///
/// ```
/// use dgsuite_amg::{
///     Amg, AmgOptions, Backend, CoarseSpec, Csr, Host, Interpolation, Jacobi, LevelSmoother, LevelSpec,
///     Multigrid, Pcg, Smoother, Stop, Vector, gallery,
/// };
/// let host = Host::new(1)?;
/// let (fine, n) = (255, 127);
/// let a = gallery::poisson_1d(fine)?;
/// // Linear interpolation: 1 at every second point, ½ beside it.
/// let column = |k: usize| [(2 * k, k, 0.5), (2 * k + 1, k, 1.0), (2 * k + 2, k, 0.5)];
/// let p = Csr::from_triplets(fine, n, (0..n).flat_map(column))?;
/// // PᵀAP is half of the second difference.
/// let double = gallery::poisson_1d(n)?;
/// let halves = |i: usize| double.row(i).map(move |(j, v)| (i, j, 0.5 * v));
/// let coarse = Csr::from_triplets(n, n, (0..n).flat_map(halves))?;
/// let inverse = Box::new(Jacobi::new(&host, &a)?);
/// let level = LevelSpec {
///     name: "h".into(),
///     smoother: LevelSmoother { polynomial: Smoother::CHEBYSHEV, inverse },
///     operator: Box::new(a.clone()),
///     transfer: Box::new(Interpolation::new(p)),
///     bytes: None,
///     start: None,
/// };
/// let solver = Box::new(Amg::in_double(&host, &coarse, &AmgOptions::default())?);
/// let coarse = CoarseSpec { name: "2h".into(), n_rows: n, solver, bytes: None };
/// let mut multigrid = Multigrid::new(&host, vec![level], coarse)?;
/// println!("{}", multigrid.summary());
/// let b = host.upload(&[1.0; 255])?;
/// let mut x = b.zeros_like()?;
/// let solution = Pcg::new(&b)?.solve(&a, &mut multigrid, &b, &mut x, &Stop::default())?;
/// assert!(solution.iterations <= 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Multigrid<V: Vector> {
    levels: Vec<Level<V>>,
    coarse: Box<dyn Preconditioner<V> + Send>,
    n_rows: usize,
    summary: MultigridSummary,
}

/// A level: the given parts, the steps of its smoother, and the vectors of a cycle.
struct Level<V> {
    operator: Box<dyn LinearOperator<V> + Send + Sync>,
    inverse: Box<dyn Preconditioner<V> + Send>,
    /// The β of the smoother's steps.
    steps: Vec<f64>,
    transfer: Box<dyn Transfer<V> + Send + Sync>,
    /// The next iterate, the residual, and the residual times `M⁻¹`.
    y: V,
    r: V,
    z: V,
    /// Right-hand side and solution of the next coarser level.
    coarse_b: V,
    coarse_x: V,
}

/// Steps of Lanczos's method on each level. More than for stored matrices of low order, since the spectra of
/// high orders are sparse near their upper end.
const LANCZOS_STEPS: usize = 12;

impl<V: Vector> Multigrid<V> {
    /// Sets up the levels, the finest first: vectors on `machine` and the intervals of the smoothers. Without
    /// levels only the coarse solver is applied.
    ///
    /// # Errors
    /// [`AmgError::OptionOutOfRange`], [`AmgError::SmootherNotPositive`], or not enough memory.
    ///
    /// # Panics
    /// If an operator, a preconditioner or a transfer expects vectors of another length than its level has.
    pub fn new<T: Scalar, B: Backend<Vector<T> = V>>(
        machine: &B,
        levels: Vec<LevelSpec<V>>,
        coarse: CoarseSpec<V>,
    ) -> Result<Self, AmgError> {
        let rows: Vec<usize> =
            levels.iter().map(|level| level.operator.n_rows()).chain([coarse.n_rows]).collect();
        let mut set_up = Vec::with_capacity(levels.len());
        let mut table = Vec::with_capacity(rows.len());
        for (k, mut level) in levels.into_iter().enumerate() {
            let (here, next, polynomial) = (rows[k], rows[k + 1], level.smoother.polynomial);
            polynomial.check()?;
            let start = match level.start.take() {
                Some(start) => start,
                None => machine.upload(&lanczos::rough::<T>(here))?,
            };
            let largest = if let Smoother::L1Jacobi { .. } = polynomial {
                1.0
            } else {
                let inverse = level.smoother.inverse.as_mut();
                let operator = level.operator.as_ref();
                match lanczos::largest_eigenvalue(operator, inverse, &start, LANCZOS_STEPS, f64::INFINITY)? {
                    Some(largest) => largest,
                    None => return Err(AmgError::SmootherNotPositive { level: level.name, rows: here }),
                }
            };
            let steps = smoother::steps(polynomial, largest);
            table.push(MultigridLevel {
                name: level.name,
                rows: here,
                bytes: level.bytes,
                vectors: (3 * here + 2 * next) * T::BYTES,
                largest: Some(largest),
                // The first step on a zero guess needs no application; the residual needs one.
                applications: 2 * steps.len(),
            });
            set_up.push(Level {
                operator: level.operator,
                inverse: level.smoother.inverse,
                steps,
                transfer: level.transfer,
                y: start.zeros_like()?,
                r: start.zeros_like()?,
                z: start.zeros_like()?,
                coarse_b: machine.zeros::<T>(next)?,
                coarse_x: machine.zeros::<T>(next)?,
            });
        }
        table.push(MultigridLevel {
            name: coarse.name,
            rows: coarse.n_rows,
            bytes: coarse.bytes,
            vectors: 0,
            largest: None,
            applications: 0,
        });
        let summary = MultigridSummary { levels: table };
        Ok(Self { levels: set_up, coarse: coarse.solver, n_rows: rows[0], summary })
    }

    /// The levels with their rows, bytes and operator applications per cycle.
    pub fn summary(&self) -> &MultigridSummary {
        &self.summary
    }
}

impl<V: Vector> Preconditioner<V> for Multigrid<V> {
    #[track_caller]
    fn apply(&mut self, r: &V, z: &mut V) {
        assert_eq!(r.len(), self.n_rows, "the residual has as many entries as the finest level has rows");
        self.descend(r, z);
        self.solve_coarse(r, z);
        self.ascend(r, z);
    }
}

/// The three parts of a cycle `x ← M⁻¹ b`.
impl<V: Vector> Multigrid<V> {
    /// Smooths and restricts, level by level.
    pub(crate) fn descend(&mut self, b: &V, x: &mut V) {
        descend(&mut self.levels, b, x);
    }

    /// Solves on the coarsest level.
    pub(crate) fn solve_coarse(&mut self, b: &V, x: &mut V) {
        match self.levels.last_mut() {
            Some(level) => self.coarse.apply(&level.coarse_b, &mut level.coarse_x),
            None => self.coarse.apply(b, x),
        }
    }

    /// Prolongates and smooths, level by level.
    pub(crate) fn ascend(&mut self, b: &V, x: &mut V) {
        ascend(&mut self.levels, b, x);
    }

    /// Rows of the finest level.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }
}

fn descend<V: Vector>(levels: &mut [Level<V>], b: &V, x: &mut V) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    level.smooth_from_zero(b, x);
    level.operator.residual(b, x, &mut level.r);
    level.transfer.restrict(&level.r, &mut level.coarse_b);
    descend(coarser, &level.coarse_b, &mut level.coarse_x);
}

fn ascend<V: Vector>(levels: &mut [Level<V>], b: &V, x: &mut V) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    ascend(coarser, &level.coarse_b, &mut level.coarse_x);
    level.transfer.prolong_add(&level.coarse_x, x);
    for k in 0..level.steps.len() {
        level.step(level.steps[k], b, x);
    }
}

impl<V: Vector> Level<V> {
    /// The smoother's steps on `x = 0`.
    fn smooth_from_zero(&mut self, b: &V, x: &mut V) {
        for k in 0..self.steps.len() {
            match k {
                0 => self.inverse.relax_from_zero(self.steps[k], b, x, &mut self.z),
                _ => self.step(self.steps[k], b, x),
            }
        }
    }

    /// A step on `x`; leaves the former `x` in `y`.
    fn step(&mut self, beta: f64, b: &V, x: &mut V) {
        let Self { operator, inverse, y, .. } = self;
        if !inverse.inverse_diagonal().is_some_and(|diagonal| operator.relax(beta, diagonal, b, x, y)) {
            self.operator.apply(x, &mut self.r);
            self.inverse.relax(beta, b, &mut self.r, &mut self.z, x, &mut self.y);
        }
        std::mem::swap(x, &mut self.y);
    }
}
