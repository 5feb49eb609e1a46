//! Algebraic multigrid by unsmoothed aggregation, as a preconditioner for symmetric positive definite
//! matrices.

pub(crate) mod cycle;
pub(crate) mod host;
mod summary;

use std::iter;

use dgsuite_gpu::{Host, HostVector, Scalar, Vector};

pub use summary::{HierarchySummary, LevelSummary};

use crate::dense::DenseInverse;
use crate::hierarchy::{self, RowSums, Smoothed, Step};
use crate::sparse::Sparse;
use crate::{AmgError, AmgOptions, Csr, Cycle, NullSpace, Preconditioner};
use host::{HostLevels, Level, Way};

/// A multigrid hierarchy and its cycle: `z = M⁻¹ r` for any symmetric positive definite matrix.
///
/// Rows are grouped into aggregates by the entries of the matrix alone. The prolongation P is constant on
/// each aggregate, and the coarser matrix is `Pᵀ A P` (Notay 2010). Levels are computed in double precision
/// and stored in the precision of `T`: single precision halves the memory traffic of a cycle and does not
/// change the accuracy of a solver in double precision around it. Vectors are scaled on entry and on exit, so
/// that single precision neither overflows nor underflows.
///
/// With the K-cycle (the default) the map is not linear: use [`Pcg::flexible`](crate::Pcg::flexible).
///
/// ```
/// use dgsuite_amg::{Amg, AmgOptions, Backend, Host, Pcg, Stop, Vector, gallery};
/// let host = Host::new(0)?;
/// let a = gallery::poisson_2d(200, 200, 1.0)?;
/// let mut amg = Amg::new(&host, &a, &AmgOptions::default())?;
/// let b = host.upload(&vec![1.0; a.n_rows()])?;
/// let mut x = b.zeros_like()?;
/// let solution = Pcg::new(&b)?.flexible().solve(&a, &mut amg, &b, &mut x, &Stop::default())?;
/// assert!(solution.iterations < 25);
/// println!("{}", amg.summary());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Amg<T: Scalar = f32> {
    host: Host,
    pub(crate) levels: HostLevels<T>,
    pub(crate) cycle: Cycle,
    pub(crate) null_space: NullSpace,
    /// The finest level holds `scale · A`.
    pub(crate) scale: f64,
    summary: HierarchySummary,
}

impl Amg<f32> {
    /// Levels in single precision: the choice for solves in double precision.
    ///
    /// # Errors
    /// [`AmgError`]: options out of range, a matrix that is visibly not symmetric positive definite, or not
    /// enough memory.
    pub fn new(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Self, AmgError> {
        Self::build(host, a, options)
    }
}

impl Amg<f64> {
    /// Levels in double precision.
    ///
    /// # Errors
    /// As for [`Amg::new`].
    pub fn in_double(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Self, AmgError> {
        Self::build(host, a, options)
    }
}

impl<T: Scalar> Amg<T> {
    pub(crate) fn build(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Self, AmgError> {
        options.check()?;
        let largest = hierarchy::check(host, a)?;
        // A power of two: scaling then rounds nothing.
        let scale = if largest > 0.0 { (-largest.log2().round()).exp2() } else { 1.0 };
        let steps = hierarchy::coarsen(host, a.view(), scale, options);

        let coarsest = steps.last().map_or(a.view(), |step| step.matrix.view());
        let direct = if coarsest.n_rows() <= options.direct_rows {
            let scaled = Sparse::<f64>::scaled(host, coarsest, scale);
            let constant = options.null_space == NullSpace::Constant && !steps.is_empty();
            let terms = constant.then(|| terms(host, a, scale, &steps));
            let inverse = DenseInverse::new(scaled.view(), options.null_space, terms.as_deref());
            Some(inverse.map_err(|error| on_finest(error, &steps))?)
        } else {
            None
        };

        let n_levels = steps.len() + 1;
        let mut levels = Vec::with_capacity(n_levels);
        let mut ways = Vec::with_capacity(n_levels);
        let mut matrices = Vec::with_capacity(n_levels);
        for step in steps {
            ways.push(match step.smoothed {
                Some(Smoothed { prolongation, largest }) => {
                    (Some(Way::stored(host, &prolongation, step.aggregates.len())), Some(largest))
                }
                None => (Some(Way::Aggregates(step.aggregates)), None),
            });
            matrices.push(step.matrix);
        }
        ways.push((None, None));
        let sizes: Vec<_> = iter::once(a.view())
            .chain(matrices.iter().map(Sparse::view))
            .map(|a| (a.n_rows(), a.n_nonzeros()))
            .collect();
        let cycle = cycle::worthwhile(options.cycle, &sizes);
        for (k, (way, largest)) in ways.into_iter().enumerate() {
            let matrix = if k == 0 { a.view() } else { matrices[k - 1].view() };
            let solved_directly = k + 1 == n_levels && direct.is_some();
            let twice = cycle::visits_twice(cycle, k, n_levels, direct.is_some());
            let smoother = (options.smoother, largest);
            levels.push(Level::new(host, matrix, scale, way, smoother, solved_directly, twice)?);
            if k > 0 {
                // Freed early: the level has its own copy.
                matrices[k - 1] = Sparse::default();
            }
        }
        let summary = HierarchySummary::of(&levels, direct.as_ref(), cycle);
        let null_space = options.null_space;
        Ok(Self {
            host: host.clone(),
            levels: HostLevels { levels, direct },
            cycle,
            null_space,
            scale,
            summary,
        })
    }

    /// The levels with their rows, entries and bytes.
    pub fn summary(&self) -> &HierarchySummary {
        &self.summary
    }
}

/// The sums of the magnitudes of all entries of the finest level that belong to a row of the coarsest.
fn terms(host: &Host, a: &Csr<f64>, scale: f64, steps: &[Step]) -> Vec<f64> {
    let mut terms: Vec<f64> = RowSums::table(host, a.view()).iter().map(|row| scale * row.l1()).collect();
    for step in steps {
        let of = |k: usize| step.aggregates.rows(k).iter().map(|i| terms[*i as usize]).sum();
        terms = (0..step.aggregates.len()).map(of).collect();
    }
    terms
}

/// Translates the row number of an error on the coarsest level to the finest level.
fn on_finest(error: AmgError, steps: &[Step]) -> AmgError {
    let AmgError::Singular { row, rows } = error else { return error };
    let (mut row, mut rows) = (row, rows);
    for step in steps.iter().rev() {
        row = step.aggregates.rows(row)[0] as usize;
        rows = rows.max(1) * step.aggregates.of_row.len() / step.aggregates.len().max(1);
    }
    AmgError::Singular { row, rows }
}

/// Applies the cycle to `r`, which may be in either precision.
impl<T: Scalar, S: Scalar> Preconditioner<HostVector<S>> for Amg<T> {
    #[track_caller]
    fn apply(&mut self, r: &HostVector<S>, z: &mut HostVector<S>) {
        assert_eq!(
            r.len(),
            self.levels.levels[0].x.len(),
            "the residual has as many entries as the matrix has rows"
        );
        let host = self.host.clone();
        host.install(|| {
            let size = r.norm_max();
            if size == 0.0 {
                z.fill(0.0);
                return;
            }
            self.levels.levels[0].b.for_each_piece(|first, piece| {
                for (b, r) in piece.iter_mut().zip(&r[first..]) {
                    *b = T::from_f64(r.to_f64() / size);
                }
            });
            cycle::run(&mut self.levels, self.cycle);
            let (x, factor) = (&self.levels.levels[0].x, size * self.scale);
            z.for_each_piece(|first, piece| {
                for (z, x) in piece.iter_mut().zip(&x[first..]) {
                    *z = S::from_f64(factor * x.to_f64());
                }
            });
            if self.null_space == NullSpace::Constant && self.summary.floating {
                let mean = z.sum() / z.len() as f64;
                z.for_each_piece(|_, piece| {
                    for z in piece {
                        *z -= S::from_f64(mean);
                    }
                });
            }
        });
    }
}
