//! The levels of a hierarchy on the CPU, and the operations of a cycle on them.

use dgsuite_gpu::{Backend, Host, HostVector, Scalar, Vector};

use super::cycle::{ENOUGH, Levels};
use crate::dense::DenseInverse;
use crate::hierarchy::{Aggregates, NONE, RowSums};
use crate::preconditioner::Diagonal;
use crate::sliced::Sliced;
use crate::sparse::{Sparse, View};
use crate::{AmgError, Smoother, lanczos, smoother};

/// Steps of Lanczos's method on each level.
const LANCZOS_STEPS: usize = 8;

/// All levels and the inverse of the coarsest.
pub(crate) struct HostLevels<T: Scalar> {
    pub(crate) levels: Vec<Level<T>>,
    pub(crate) direct: Option<DenseInverse>,
}

/// The transfer between a level and the next coarser one.
pub(crate) enum Way<T> {
    /// The prolongation is constant on aggregates.
    Aggregates(Aggregates),
    /// The prolongation and its transpose are stored.
    Stored { p: Sliced<T>, transposed: Sliced<T> },
}

impl<T: Scalar> Way<T> {
    /// From a prolongation with `n_cols` columns.
    pub(super) fn stored(host: &Host, p: &Sparse<f64>, n_cols: usize) -> Self {
        let transposed = p.view().transposed(n_cols);
        Self::Stored {
            p: Sliced::new(host, p.view(), 1.0, n_cols),
            transposed: Sliced::new(host, transposed.view(), 1.0, p.view().n_rows()),
        }
    }

    /// Bytes of its arrays.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Aggregates(aggregates) => aggregates.bytes(),
            Self::Stored { p, transposed } => p.bytes() + transposed.bytes(),
        }
    }
}

/// A level: its matrix, its smoother, the transfer to the next coarser level, and the vectors of a cycle.
pub(crate) struct Level<T: Scalar> {
    pub(crate) matrix: Sliced<T>,
    pub(crate) inverse_diagonal: HostVector<T>,
    pub(crate) steps: Vec<f64>,
    /// The transfer to the next coarser level; `None` on the coarsest.
    pub(crate) way: Option<Way<T>>,
    /// Right-hand side; iterations of the K-cycle overwrite it with their residual.
    pub(crate) b: HostVector<T>,
    pub(crate) x: HostVector<T>,
    pub(crate) y: HostVector<T>,
    /// First direction of a K- or W-cycle and its product with A; empty where there is no such cycle.
    pub(crate) c: HostVector<T>,
    pub(crate) v: HostVector<T>,
    /// `cᵀ A c` and `cᵀ b` of the first direction.
    first: [f64; 2],
}

impl<T: Scalar> Level<T> {
    /// Builds a level. The smoother may come with the largest eigenvalue of `D⁻¹ A`, where it is known.
    pub(super) fn new(
        host: &Host,
        a: View<'_, f64>,
        scale: f64,
        way: Option<Way<T>>,
        (choice, known): (Smoother, Option<f64>),
        solved_directly: bool,
        twice: bool,
    ) -> Result<Self, AmgError> {
        let n = a.n_rows();
        let zeros = |n: usize| host.zeros::<T>(n);
        let (b, x, y) = (zeros(n)?, zeros(n)?, zeros(n)?);
        let extra = if twice { n } else { 0 };
        let (c, v) = (zeros(extra)?, zeros(extra)?);
        if solved_directly {
            let inverse_diagonal = zeros(0)?;
            return Ok(Self {
                matrix: Sliced::empty(),
                inverse_diagonal,
                steps: Vec::new(),
                way,
                b,
                x,
                y,
                c,
                v,
                first: [0.0; 2],
            });
        }
        let l1 = matches!(choice, Smoother::L1Jacobi { .. });
        let mut inverse_diagonal = zeros(n)?;
        let invert = |first: usize, inverse: &mut [T]| invert_diagonal(a, scale, l1, first, inverse);
        let (matrix, bounds) = Sliced::new_beside(host, a, scale, &mut inverse_diagonal, invert);
        let bound =
            bounds.into_iter().try_fold(0.0, |most: f64, bound| Ok::<_, AmgError>(most.max(bound?)))?;
        let largest = if l1 {
            1.0
        } else if let Some(largest) = known {
            largest
        } else {
            let mut start = zeros(n)?;
            start.for_each_piece(|first, start| {
                for (i, start) in (first..).zip(start) {
                    *start = lanczos::rough_entry(i);
                }
            });
            let found = lanczos::largest_eigenvalue(
                &matrix,
                &mut Diagonal(&inverse_diagonal),
                &start,
                LANCZOS_STEPS,
                bound,
            )?;
            found.unwrap_or(bound)
        };
        let steps = smoother::steps(choice, largest);
        Ok(Self { matrix, inverse_diagonal, steps, way, b, x, y, c, v, first: [0.0; 2] })
    }
}

/// Inverts the scaled diagonal, or the row sums of magnitudes, from row `first` on; returns Gershgorin's
/// bound on the eigenvalues of `D⁻¹ A` for these rows.
fn invert_diagonal<T: Scalar>(
    a: View<'_, f64>,
    scale: f64,
    l1: bool,
    first: usize,
    inverse: &mut [T],
) -> Result<f64, AmgError> {
    let mut bound = 0.0f64;
    for (i, inverse) in (first..).zip(inverse) {
        let row = RowSums::of(a, i);
        if row.diagonal <= 0.0 || row.diagonal.is_nan() {
            return Err(AmgError::LevelNotPositive { rows: a.n_rows(), row: i, value: row.diagonal });
        }
        *inverse = T::from_f64(1.0 / (scale * if l1 { row.l1() } else { row.diagonal }));
        bound = bound.max(row.l1() / row.diagonal);
    }
    Ok(bound)
}

impl<T: Scalar> Level<T> {
    /// One step of the smoother.
    fn step(&mut self, beta: f64) {
        self.matrix.relax(beta, &self.inverse_diagonal, &self.b, &self.x, &mut self.y);
        std::mem::swap(&mut self.x, &mut self.y);
    }
}

impl<T: Scalar> Levels for HostLevels<T> {
    fn count(&self) -> usize {
        self.levels.len()
    }

    fn has_direct_solve(&self) -> bool {
        self.direct.is_some()
    }

    fn solve_directly(&mut self) {
        if let (Some(inverse), Some(level)) = (&self.direct, self.levels.last_mut()) {
            inverse.apply(&level.b, &mut level.x);
        }
    }

    fn smooth_from_zero(&mut self, k: usize) {
        let level = &mut self.levels[k];
        for i in 0..level.steps.len() {
            let beta = level.steps[i];
            if i == 0 {
                level.x.add_product(beta, &level.inverse_diagonal, &level.b, 0.0);
            } else {
                level.step(beta);
            }
        }
    }

    fn smooth(&mut self, k: usize) {
        let level = &mut self.levels[k];
        for i in 0..level.steps.len() {
            level.step(level.steps[i]);
        }
    }

    fn restrict_residual(&mut self, k: usize) {
        let (level, coarse) = pair(&mut self.levels, k);
        // The former iterate is not read again.
        level.matrix.residual(&level.b, &level.x, &mut level.y);
        let aggregates = match &level.way {
            Some(Way::Aggregates(aggregates)) => aggregates,
            Some(Way::Stored { transposed, .. }) => return transposed.multiply(&level.y, &mut coarse.b),
            None => return,
        };
        let residual = level.y.as_slice();
        coarse.b.for_each_piece(|first, piece| {
            let starts = &aggregates.starts[first..=first + piece.len()];
            for (coarse, ends) in piece.iter_mut().zip(starts.windows(2)) {
                let mut sum = T::ZERO;
                for &i in &aggregates.rows[ends[0] as usize..ends[1] as usize] {
                    sum += residual[i as usize];
                }
                *coarse = sum;
            }
        });
    }

    fn prolongate(&mut self, k: usize) {
        let (level, coarse) = pair(&mut self.levels, k);
        let aggregates = match &level.way {
            Some(Way::Aggregates(aggregates)) => aggregates,
            Some(Way::Stored { p, .. }) => return p.add_product(&coarse.x, &mut level.x),
            None => return,
        };
        let (of_row, coarse) = (aggregates.of_row.as_slice(), coarse.x.as_slice());
        level.x.for_each_piece(|first, piece| {
            for (x, &k) in piece.iter_mut().zip(&of_row[first..]) {
                if k != NONE {
                    *x += coarse[k as usize];
                }
            }
        });
    }

    fn set_aside(&mut self, k: usize) {
        let level = &mut self.levels[k];
        std::mem::swap(&mut level.x, &mut level.c);
        level.matrix.subtract_product(&level.c, &mut level.b);
    }

    fn add_set_aside(&mut self, k: usize) {
        let level = &mut self.levels[k];
        level.x.axpby(1.0, &level.c, 1.0);
    }

    fn first_direction(&mut self, k: usize) -> bool {
        let level = &mut self.levels[k];
        std::mem::swap(&mut level.x, &mut level.c);
        level.matrix.multiply(&level.c, &mut level.v);
        let (rho, alpha, size) = (level.c.dot(&level.v), level.c.dot(&level.b), level.b.dot(&level.b));
        level.first = [rho, alpha];
        if !(rho > 0.0 && rho.is_finite()) {
            // Zero or not a direction: pass it on; the outer solver reports the error.
            std::mem::swap(&mut level.x, &mut level.c);
            return false;
        }
        let length = alpha / rho;
        level.b.axpby(-length, &level.v, 1.0);
        if level.b.dot(&level.b) <= ENOUGH * ENOUGH * size {
            level.x.axpby(length, &level.c, 0.0);
            return false;
        }
        true
    }

    fn second_direction(&mut self, k: usize) {
        let level = &mut self.levels[k];
        let [rho, alpha] = level.first;
        let length = alpha / rho;
        level.matrix.multiply(&level.x, &mut level.y);
        let (gamma, beta) = (level.x.dot(&level.v), level.x.dot(&level.y));
        let rest = level.x.dot(&level.b);
        let rho_two = beta - gamma * gamma / rho;
        if rho_two > 0.0 && rho_two.is_finite() {
            let second = rest / rho_two;
            level.x.axpby(length - gamma * second / rho, &level.c, second);
        } else {
            level.x.axpby(length, &level.c, 0.0);
        }
    }
}

/// A level and the next coarser one.
fn pair<T: Scalar>(levels: &mut [Level<T>], k: usize) -> (&mut Level<T>, &mut Level<T>) {
    let (finer, coarser) = levels.split_at_mut(k + 1);
    (&mut finer[k], &mut coarser[0])
}
