//! How good an aggregate is: the condition number that two-grid theory assigns to it (Napov and Notay 2012).

use super::rows::RowSums;
use crate::sparse::View;

/// Most rows of an aggregate that is judged.
pub(crate) const MOST_ROWS: usize = 8;

/// `1 / (1/a + 1/b)`, zero if one of them is not positive.
#[inline(always)]
fn parallel_sum(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 { a * b / (a + b) } else { 0.0 }
}

/// μ of the pair {i, j} with entry `a = a_ij`, for the smoother `½ D⁻¹` (the quality of Notay 2012, derived for
/// symmetric matrices):
/// `2 (1/a_ii + 1/a_jj)⁻¹ / (−a_ij + (1/σ_i + 1/σ_j)⁻¹)`, σ the row sums. Infinite if it is no pair to make.
#[inline(always)]
pub(crate) fn pair(i: &RowSums, j: &RowSums, a: f64) -> f64 {
    let below = -a + parallel_sum(i.excess, j.excess);
    if below > 0.0 { 2.0 * parallel_sum(i.diagonal, j.diagonal) / below } else { f64::INFINITY }
}

/// Whether μ ≤ κ for the aggregate of some rows: whether `κ A_G − M_G + M_G 1 (M_G 1)ᵀ / (1ᵀ M_G 1)` is
/// positive semi-definite, with `A_G` the rows' own part of A (couplings to others lumped to the diagonal)
/// and `M_G = 2 D_G` its smoother.
pub(crate) fn admits(a: View<'_, f64>, table: &[RowSums], rows: &[u32], kappa: f64) -> bool {
    let n = rows.len();
    if n > MOST_ROWS {
        return false;
    }
    let mut z = [[0.0; MOST_ROWS]; MOST_ROWS];
    let mut weight = [0.0; MOST_ROWS];
    for k in 0..n {
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
    }
    let total: f64 = weight[..n].iter().sum();
    if total > 0.0 {
        for k in 0..n {
            for l in 0..n {
                z[k][l] += weight[k] * weight[l] / total;
            }
        }
    }
    // Weights within one aggregate may differ by many decades: each row is judged on its own scale.
    let mut root = [1.0; MOST_ROWS];
    for (root, &row) in root.iter_mut().zip(rows) {
        let row = &table[row as usize];
        *root = (kappa * (row.diagonal + row.magnitude)).sqrt();
    }
    for k in 0..n {
        for l in 0..n {
            z[k][l] /= root[k] * root[l];
        }
    }
    semi_definite(&mut z, n)
}

/// What rounding leaves of a null pivot.
const ROUNDING: f64 = 1e-12;

/// Cholesky's elimination on entries of size one: all pivots positive, the last one perhaps zero (constants
/// are a null vector where no row has an excess).
fn semi_definite(z: &mut [[f64; MOST_ROWS]; MOST_ROWS], n: usize) -> bool {
    for k in 0..n {
        let pivot = z[k][k];
        if k + 1 == n {
            return pivot >= -ROUNDING;
        }
        if pivot.is_nan() || pivot <= ROUNDING {
            return false;
        }
        for l in k + 1..n {
            let factor = z[l][k] / pivot;
            for m in k + 1..n {
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

    /// Inside the five-point grid a pair has μ = 4 (by hand: above 2 · 2, below 1).
    #[test]
    fn a_pair_of_the_five_point_grid_has_quality_four() {
        let a = gallery::poisson_2d(9, 9, 1.0).unwrap();
        let table = RowSums::table(&Host::new(1).unwrap(), a.view());
        assert!((pair(&table[40], &table[41], -1.0) - 4.0).abs() < 1e-14);
        assert!(admits(a.view(), &table, &[40, 41], 4.001) && !admits(a.view(), &table, &[40, 41], 3.999));
        // Rows that are not coupled make no aggregate, at no κ.
        assert!(!admits(a.view(), &table, &[20, 60], 1e6));
        assert_eq!(pair(&table[20], &table[60], 0.0), f64::INFINITY);
    }

    /// For pairs the closed formula and the matrix test are one.
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

    /// A strong pair that hangs by a thread of 10⁻⁸ on another is no aggregate with it.
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
