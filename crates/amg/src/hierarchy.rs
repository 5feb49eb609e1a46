//! Coarsening of a matrix: aggregation and Galerkin products until a level is small enough.

mod aggregates;
mod galerkin;
mod independent;
mod pairwise;
mod quality;
mod rows;
mod smoothed;

use dgsuite_gpu::Host;

pub(crate) use aggregates::{Aggregates, NONE};
pub(crate) use rows::RowSums;
pub(crate) use smoothed::Smoothed;

use crate::sparse::{Sparse, View, pieces};
use crate::{AmgOptions, Coarsening, Csr, MatrixError, Strength};

/// One step of coarsening: the aggregates of a level's rows, and the matrix of the aggregates.
pub(crate) struct Step {
    pub(crate) aggregates: Aggregates,
    /// The prolongation, where it is not constant on aggregates.
    pub(crate) smoothed: Option<Smoothed>,
    pub(crate) matrix: Sparse<f64>,
}

/// A level must have fewer rows than this fraction of the next finer one.
const STAGNATION: f64 = 0.8;

/// How often the criteria of a coarsening that stagnates are relaxed.
const LOOSENINGS: usize = 6;

/// Computes all coarser levels of a matrix, finest first. The list is empty if the matrix is small enough, or
/// if no coarsening helps. `scale` brings entries to the order of one.
pub(crate) fn coarsen(host: &Host, a: View<'_, f64>, scale: f64, options: &AmgOptions) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    while steps.len() + 1 < options.max_levels {
        let finest = steps.last().map_or(a, |step| step.matrix.view());
        if finest.n_rows() <= options.direct_rows {
            break;
        }
        let Some(aggregates) = aggregate(host, finest, options.coarsening) else { break };
        let (matrix, smoothed) = match options.coarsening {
            Coarsening::SmoothedAggregation { .. } => {
                let smoothed = smoothed::prolongation(host, finest, scale, &aggregates);
                let p = smoothed.prolongation.view();
                (galerkin::triple_product(host, finest, p, aggregates.len()), Some(smoothed))
            }
            _ => (galerkin::product(host, finest, &aggregates), None),
        };
        steps.push(Step { aggregates, smoothed, matrix });
    }
    steps
}

/// Aggregates of a level. If there are too many of them the criteria are relaxed: the quality threshold is
/// squared, the threshold of strength is divided by four. Returns `None` if that does not help, or if no row
/// needs a coarser level.
fn aggregate(host: &Host, a: View<'_, f64>, coarsening: Coarsening) -> Option<Aggregates> {
    let mut coarsening = coarsening;
    for _ in 0..=LOOSENINGS {
        let aggregates = match coarsening {
            Coarsening::Pairwise { passes, quality } => pairwise::aggregate(host, a, passes, quality),
            Coarsening::IndependentSets { strength } | Coarsening::SmoothedAggregation { strength } => {
                independent::aggregate(host, a, strength)
            }
        };
        if aggregates.len() == 0 {
            return None;
        }
        if (aggregates.len() as f64) < STAGNATION * a.n_rows() as f64 {
            return Some(aggregates);
        }
        coarsening = match coarsening {
            Coarsening::Pairwise { passes, quality } => {
                Coarsening::Pairwise { passes, quality: (quality * quality).min(1e300) }
            }
            Coarsening::IndependentSets { strength } => {
                Coarsening::IndependentSets { strength: strength.loosened() }
            }
            Coarsening::SmoothedAggregation { strength } => {
                Coarsening::SmoothedAggregation { strength: strength.loosened() }
            }
        };
    }
    None
}

impl Strength {
    fn loosened(self) -> Self {
        match self {
            Self::Symmetric(theta) => Self::Symmetric(0.25 * theta),
            Self::NegativeMaximum(theta) => Self::NegativeMaximum(0.25 * theta),
        }
    }
}

/// Mirrored entries may differ by this fraction of `(a_ii a_jj)^½`.
const ASYMMETRY: f64 = 1e-9;

/// Checks whether a matrix can be symmetric positive (semi-)definite, as far as its entries show; returns its
/// largest diagonal entry.
///
/// # Errors
/// [`MatrixError::NotSquare`], [`MatrixError::EmptyRow`], [`MatrixError::DiagonalNotPositive`] or
/// [`MatrixError::NotSymmetric`], each with its first row.
pub(crate) fn check(host: &Host, a: &Csr<f64>) -> Result<f64, MatrixError> {
    let (n_rows, n_cols) = (a.n_rows(), a.n_cols());
    if n_rows != n_cols {
        return Err(MatrixError::NotSquare { n_rows, n_cols });
    }
    match largest_if_mirrored(host, a.view()) {
        Some(largest) => Ok(largest),
        None => judge(host, a.view()),
    }
}

/// The largest diagonal entry of a matrix that is symmetric to the last bit and has a positive diagonal;
/// `None` for other matrices.
fn largest_if_mirrored(host: &Host, view: View<'_, f64>) -> Option<f64> {
    let found = pieces(host, view.n_rows(), |rows| {
        let (mut largest, mut above, mut below) = (0.0f64, 0, 0);
        for row in rows {
            let (columns, values) = view.row(row);
            let place = columns.partition_point(|&col| (col as usize) < row);
            if columns.get(place) != Some(&(row as u32)) || values[place] <= 0.0 {
                return None;
            }
            largest = largest.max(values[place]);
            for (&col, value) in columns.iter().zip(values).skip(place + 1) {
                let (others, mirrors) = view.row(col as usize);
                let mirror = others.binary_search(&(row as u32)).ok()?;
                if mirrors[mirror] != *value {
                    return None;
                }
            }
            (above, below) = (above + columns.len() - place - 1, below + place);
        }
        Some((largest, above, below))
    });
    let (mut largest, mut above, mut below) = (0.0f64, 0, 0);
    for piece in found {
        let piece = piece?;
        (largest, above, below) = (largest.max(piece.0), above + piece.1, below + piece.2);
    }
    // Each entry above the diagonal has its mirror: if there are as many below, these are all.
    (above == below).then_some(largest)
}

/// Finds the error of a matrix that is not symmetric to the last bit; differences within rounding are
/// accepted.
fn judge(host: &Host, view: View<'_, f64>) -> Result<f64, MatrixError> {
    let diagonal = |i: usize| {
        let (columns, values) = view.row(i);
        columns.binary_search(&(i as u32)).map_or(0.0, |k| values[k])
    };
    let good = pieces(host, view.n_rows(), |rows| {
        let mut largest = 0.0f64;
        for row in rows {
            let (columns, values) = view.row(row);
            if values.iter().all(|&value| value == 0.0) {
                return Err(MatrixError::EmptyRow { row });
            }
            let here = diagonal(row);
            if here <= 0.0 {
                return Err(MatrixError::DiagonalNotPositive { row, value: here });
            }
            largest = largest.max(here);
            for (&col, &value) in columns.iter().zip(values) {
                let col = col as usize;
                // The upper half is enough, except for entries whose mirror is missing.
                let (others, mirrors) = view.row(col);
                let mirrored = others.binary_search(&(row as u32)).map_or(0.0, |k| mirrors[k]);
                if value != mirrored {
                    let scale = (here * diagonal(col).max(0.0)).sqrt();
                    if (value - mirrored).abs() > ASYMMETRY * scale {
                        return Err(MatrixError::NotSymmetric { row, col, value, mirrored });
                    }
                }
            }
        }
        Ok(largest)
    });
    good.into_iter().try_fold(0.0, |most: f64, largest| Ok(most.max(largest?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    #[test]
    fn a_27_point_stencil_needs_looser_strength_and_gets_it() {
        let host = Host::new(2).unwrap();
        let a = gallery::poisson_27(20).unwrap();
        let coarsening = Coarsening::IndependentSets { strength: Strength::Symmetric(0.08) };
        let steps = coarsen(&host, a.view(), 1.0, &AmgOptions { coarsening, ..AmgOptions::default() });
        let rows = steps.last().unwrap().matrix.view().n_rows();
        assert!(rows <= 300, "{rows}");
    }

    #[test]
    fn entries_without_a_mirror_are_seen_on_either_side() {
        let host = Host::new(2).unwrap();
        let with = |extra: &[(usize, usize, f64)]| {
            let entries = [(0, 0, 2.0), (1, 1, 5.0), (2, 2, 3.0), (0, 1, -1.0), (1, 0, -1.0)];
            let a = Csr::from_triplets(3, 3, entries.into_iter().chain(extra.iter().copied())).unwrap();
            check(&host, &a)
        };
        assert_eq!(with(&[]), Ok(5.0));
        for (row, col) in [(0, 2), (2, 0)] {
            assert_eq!(with(&[(row, col, 1e-12)]), Ok(5.0));
            let error = MatrixError::NotSymmetric { row, col, value: 0.5, mirrored: 0.0 };
            assert_eq!(with(&[(row, col, 0.5)]), Err(error));
        }
        // As many entries above the diagonal as below, but not mirrored.
        assert!(with(&[(2, 0, 0.5), (1, 2, 0.5)]).is_err());
    }

    #[test]
    fn a_diagonal_matrix_has_one_level() {
        let host = Host::new(1).unwrap();
        let a = Csr::from_triplets(900, 900, (0..900).map(|i| (i, i, 1.0 + i as f64))).unwrap();
        for coarsening in ["pairwise", "independent-sets", "independent-sets-negative"] {
            let coarsening = coarsening.parse().unwrap();
            assert!(
                coarsen(&host, a.view(), 1.0, &AmgOptions { coarsening, ..AmgOptions::default() }).is_empty()
            );
        }
    }
}
