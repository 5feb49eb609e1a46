//! The quality of an aggregate: its local two-grid condition number (Napov and Notay 2012).

use super::rows::RowSums;
use crate::sparse::View;

/// Largest number of rows of an aggregate.
pub(crate) const MOST_ROWS: usize = 8;

/// `1 / (1/a + 1/b)`, zero if one of them is not positive.
#[inline(always)]
fn parallel_sum(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 { a * b / (a + b) } else { 0.0 }
}

/// μ of the pair {i, j} with entry `a = a_ij`, for the smoother `½ D⁻¹` (the quality of Notay 2012, derived
/// for symmetric matrices): `2 (1/a_ii + 1/a_jj)⁻¹ / (−a_ij + (1/σ_i + 1/σ_j)⁻¹)`, with σ the row sums.
/// Infinite if the rows should not be paired.
#[inline(always)]
pub(crate) fn pair(i: &RowSums, j: &RowSums, a: f64) -> f64 {
    let below = -a + parallel_sum(i.excess, j.excess);
    if below > 0.0 { 2.0 * parallel_sum(i.diagonal, j.diagonal) / below } else { f64::INFINITY }
}

/// Whether μ ≤ κ for an aggregate: whether `κ A_G − M_G + M_G 1 (M_G 1)ᵀ / (1ᵀ M_G 1)` is positive
/// semi-definite, where `A_G` is the aggregate's part of A (couplings to other rows are lumped to the
/// diagonal) and `M_G = 2 D_G` its smoother.
pub(crate) fn admits(a: View<'_, f64>, table: &[RowSums], rows: &[u32], kappa: f64) -> bool {
    // Loops of a length known at compile time take half the time.
    fn of<const N: usize>(a: View<'_, f64>, table: &[RowSums], rows: &[u32], kappa: f64) -> bool {
        rows.first_chunk::<N>().is_some_and(|rows| semi_definite(matrix_of(a, table, rows, kappa)))
    }
    match rows.len() {
        1 => of::<1>(a, table, rows, kappa),
        2 => of::<2>(a, table, rows, kappa),
        3 => of::<3>(a, table, rows, kappa),
        4 => of::<4>(a, table, rows, kappa),
        5 => of::<5>(a, table, rows, kappa),
        6 => of::<6>(a, table, rows, kappa),
        7 => of::<7>(a, table, rows, kappa),
        MOST_ROWS => of::<MOST_ROWS>(a, table, rows, kappa),
        n => n == 0,
    }
}

/// The matrix of [`admits`], with each row and column scaled.
#[inline(always)]
fn matrix_of<const N: usize>(
    a: View<'_, f64>,
    table: &[RowSums],
    rows: &[u32; N],
    kappa: f64,
) -> [[f64; N]; N] {
    let mut z = [[0.0; N]; N];
    let (mut weight, mut root) = ([0.0; N], [0.0; N]);
    for k in 0..N {
        let row = &table[rows[k] as usize];
        let mut inside = 0.0;
        for (j, value) in a.entries(rows[k] as usize) {
            if let Some(l) = rows.iter().position(|&row| row as usize == j).filter(|&l| l != k) {
                z[k][l] = kappa * value;
                inside += value;
            }
        }
        weight[k] = 2.0 * row.diagonal;
        z[k][k] = kappa * (row.excess - inside) - weight[k];
        // Weights within one aggregate may differ by many decades: each row has its own scale.
        root[k] = (kappa * (row.diagonal + row.magnitude)).sqrt();
    }
    let total: f64 = weight.iter().sum();
    for k in 0..N {
        for l in 0..N {
            if total > 0.0 {
                z[k][l] += weight[k] * weight[l] / total;
            }
            z[k][l] /= root[k] * root[l];
        }
    }
    z
}

/// Size of a zero pivot after rounding.
const ROUNDING: f64 = 1e-12;

/// Cholesky elimination of a matrix with entries of order one: true if all pivots are positive, where the
/// last one may be zero (constants are a null vector where no row has an excess).
#[inline(always)]
fn semi_definite<const N: usize>(mut z: [[f64; N]; N]) -> bool {
    for k in 0..N {
        let pivot = z[k][k];
        if k + 1 == N {
            return pivot >= -ROUNDING;
        }
        if pivot.is_nan() || pivot <= ROUNDING {
            return false;
        }
        for l in k + 1..N {
            let factor = z[l][k] / pivot;
            for m in k + 1..N {
                z[l][m] -= factor * z[k][m];
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::Host;

    use super::*;
    use crate::{Csr, gallery};

    /// Inside the five-point grid a pair has μ = 4 (by hand: numerator 2 · 2, denominator 1).
    #[test]
    fn a_pair_of_the_five_point_grid_has_quality_four() {
        let a = gallery::poisson_2d(9, 9, 1.0).unwrap();
        let table = RowSums::table(&Host::new(1).unwrap(), a.view());
        assert!((pair(&table[40], &table[41], -1.0) - 4.0).abs() < 1e-14);
        assert!(admits(a.view(), &table, &[40, 41], 4.001) && !admits(a.view(), &table, &[40, 41], 3.999));
        // Rows without a coupling do not form an aggregate, for any κ.
        assert!(!admits(a.view(), &table, &[20, 60], 1e6));
        assert_eq!(pair(&table[20], &table[60], 0.0), f64::INFINITY);
    }

    /// For pairs the closed formula and the matrix test agree.
    #[test]
    fn the_two_judgements_of_a_pair_agree() {
        for (c, d) in [(0.0, 0.0), (0.3, 0.0), (0.1, 2.0), (5.0, 4.0)] {
            for coupling in [-0.01, -0.5, -1.0, -3.0] {
                let outside = 0.7;
                let entries = [
                    (0, 0, c + outside - coupling),
                    (1, 1, d - coupling),
                    (0, 1, coupling),
                    (1, 0, coupling),
                    (0, 2, -outside),
                    (2, 0, -outside),
                    (2, 2, outside),
                ];
                let a = Csr::from_triplets(3, 3, entries).unwrap();
                let table = RowSums::table(&Host::new(1).unwrap(), a.view());
                let mu = pair(&table[0], &table[1], coupling);
                assert!(admits(a.view(), &table, &[0, 1], 1.001 * mu), "{c} {d} {coupling} {mu}");
                assert!(!admits(a.view(), &table, &[0, 1], 0.999 * mu), "{c} {d} {coupling} {mu}");
            }
        }
    }

    /// Two strong pairs coupled by 10⁻⁸ do not form an aggregate.
    #[test]
    fn weak_bonds_are_seen_beside_strong_ones() {
        let (strong, thread, outside) = (1e4, 1e-4, 1.0);
        let bonds = [(0, 1, strong), (1, 2, thread), (2, 3, strong), (0, 4, outside), (3, 4, outside)];
        let entries = bonds.iter().flat_map(|&(i, j, w)| [(i, j, -w), (j, i, -w), (i, i, w), (j, j, w)]);
        let a = Csr::from_triplets(5, 5, entries.collect::<Vec<_>>()).unwrap();
        let table = RowSums::table(&Host::new(1).unwrap(), a.view());
        assert!(admits(a.view(), &table, &[0, 1], 8.0) && admits(a.view(), &table, &[2, 3], 8.0));
        assert!(
            !admits(a.view(), &table, &[0, 1, 2, 3], 8.0) && !admits(a.view(), &table, &[0, 1, 2, 3], 1e3)
        );
    }
}
