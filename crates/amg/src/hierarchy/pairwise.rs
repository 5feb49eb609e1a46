//! Aggregation by repeated pairing; each pair is chosen and accepted by its quality.

use dgsuite_gpu::Host;
use rayon::prelude::*;

use super::aggregates::{Aggregates, NONE};
use super::galerkin;
use super::quality::{self, MOST_ROWS};
use super::rows::RowSums;
use crate::sparse::View;

/// Rows are paired within chunks of this size, whatever the number of threads: pairing is sequential.
const CHUNK: usize = 32 * 1024;
/// Number of partners examined in a second or third pairing, best first.
const CANDIDATES: usize = 6;

/// In the first pairing a row accepts no partner whose μ exceeds this multiple of the best μ among all of its
/// neighbours, paired ones included; it waits for the second pairing instead. A weak pair, made because the
/// strong partners are already paired, forces its surroundings into a worse pattern. (In matrices of interior
/// penalty methods the strong partners are the values of neighbouring elements at the same place.)
const NEARLY: f64 = 1.25;

/// Aggregates of up to `2^passes` rows (Napov and Notay 2012, algorithms 4.2 and 4.3). Rows that need no
/// coarser level belong to no aggregate.
pub(crate) fn aggregate(host: &Host, a: View<'_, f64>, passes: usize, kappa: f64) -> Aggregates {
    let table = RowSums::table(host, a);
    let mut aggregates = first_pass(host, a, &table, kappa);
    for _ in 1..passes {
        let coarse = galerkin::product(host, a, &aggregates);
        let coarse_table = RowSums::table(host, coarse.view());
        let pairs = next_pass(host, a, &table, &aggregates, coarse.view(), &coarse_table, kappa);
        aggregates = aggregates.then(host, &pairs);
    }
    aggregates
}

fn first_pass(host: &Host, a: View<'_, f64>, table: &[RowSums], kappa: f64) -> Aggregates {
    match_chunks(host, a.n_rows(), |i, label, first| {
        if label[i - first] != NONE {
            return;
        }
        if table[i].dominated_by_diagonal(kappa) {
            return;
        }
        let (mut best, mut possible) = ((kappa, i), kappa);
        for (j, value) in a.entries(i) {
            if j == i || table[j].dominated_by_diagonal(kappa) {
                continue;
            }
            let mu = quality::pair(&table[i], &table[j], value);
            possible = possible.min(mu);
            let free = j > i && j - first < label.len() && label[j - first] == NONE;
            if free && mu < best.0 {
                best = (mu, j);
            }
        }
        if best.0 > NEARLY * possible {
            best.1 = i;
        }
        label[i - first] = i as u32;
        label[best.1 - first] = i as u32;
    })
}

/// Pairs of aggregates.
fn next_pass(
    host: &Host,
    a: View<'_, f64>,
    table: &[RowSums],
    aggregates: &Aggregates,
    coarse: View<'_, f64>,
    coarse_table: &[RowSums],
    kappa: f64,
) -> Aggregates {
    match_chunks(host, coarse.n_rows(), |i, label, first| {
        if label[i - first] != NONE {
            return;
        }
        label[i - first] = i as u32;
        // The best few, in order; equal ones in the order of their columns.
        let mut best = [(f64::INFINITY, i); CANDIDATES];
        for (j, value) in coarse.entries(i) {
            if j > i && j - first < label.len() && label[j - first] == NONE {
                let mut candidate = (quality::pair(&coarse_table[i], &coarse_table[j], value), j);
                for slot in &mut best {
                    if candidate.0 < slot.0 {
                        std::mem::swap(slot, &mut candidate);
                    }
                }
            }
        }
        for (mu, j) in best {
            if mu == f64::INFINITY {
                break;
            }
            let (ours, theirs) = (aggregates.rows(i), aggregates.rows(j));
            let n = ours.len() + theirs.len();
            if n > MOST_ROWS {
                continue;
            }
            let mut rows = [0; MOST_ROWS];
            rows[..ours.len()].copy_from_slice(ours);
            rows[ours.len()..n].copy_from_slice(theirs);
            if quality::admits(a, table, &rows[..n], kappa) {
                label[j - first] = i as u32;
                break;
            }
        }
    })
}

/// Visits each row in order with the labels of its chunk and the chunk's first row; chunks run in parallel.
fn match_chunks(host: &Host, n: usize, visit: impl Fn(usize, &mut [u32], usize) + Sync + Send) -> Aggregates {
    let mut label = vec![NONE; n];
    let chunk = |(k, label): (usize, &mut [u32])| {
        let first = k * CHUNK;
        for i in first..first + label.len() {
            visit(i, label, first);
        }
    };
    host.install(|| label.par_chunks_mut(CHUNK).enumerate().for_each(chunk));
    Aggregates::within_chunks(host, &label, CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    #[test]
    fn double_pairwise_makes_squares_of_a_grid_and_lines_of_a_stretched_one() {
        let host = Host::new(1).unwrap();
        let square = gallery::poisson_2d(16, 16, 1.0).unwrap();
        let aggregates = aggregate(&host, square.view(), 2, 10.0);
        let is_square = |rows: &[u32]| {
            rows.len() == 4 && rows[1] == rows[0] + 1 && rows[2] == rows[0] + 16 && rows[3] == rows[2] + 1
        };
        let squares = (0..aggregates.len()).filter(|&k| is_square(aggregates.rows(k))).count();
        assert!(squares >= 40 && aggregates.len() <= 76, "{squares} of {}", aggregates.len());
        let stretched = gallery::poisson_2d(16, 16, 1e-3).unwrap();
        let aggregates = aggregate(&host, stretched.view(), 2, 10.0);
        assert!((0..aggregates.len()).all(|k| {
            let rows = aggregates.rows(k);
            rows.iter().all(|row| row / 16 == rows[0] / 16)
        }));
        assert!(aggregates.len() <= 100, "{}", aggregates.len());
    }

    #[test]
    fn every_aggregate_meets_the_threshold() {
        let host = Host::new(2).unwrap();
        let a = gallery::poisson_2d(40, 37, 0.2).unwrap();
        let table = RowSums::table(&host, a.view());
        for (passes, kappa) in [(1, 3.5), (2, 5.0), (3, 12.0)] {
            let aggregates = aggregate(&host, a.view(), passes, kappa);
            assert!((0..aggregates.len()).all(|k| quality::admits(
                a.view(),
                &table,
                aggregates.rows(k),
                kappa * (1.0 + 1e-9)
            )));
        }
    }

    #[test]
    fn a_row_whose_strong_partner_is_taken_waits_rather_than_take_a_weak_one() {
        // Couplings along a line. Row 1, the strong partner of row 2, is paired with row 0. κ accepts row 3
        // as partner, but its μ is 2.6 times larger.
        let couplings = [10.0, 10.0, 0.5, 0.5];
        let mut entries = Vec::new();
        for (i, &c) in couplings.iter().enumerate() {
            entries.extend([(i, i, c), (i + 1, i + 1, c), (i, i + 1, -c), (i + 1, i, -c)]);
        }
        let a = crate::Csr::from_triplets(5, 5, entries).unwrap();
        let aggregates = aggregate(&Host::new(1).unwrap(), a.view(), 1, 8.0);
        let rows: Vec<&[u32]> = (0..aggregates.len()).map(|k| aggregates.rows(k)).collect();
        assert_eq!(rows, [&[0, 1][..], &[2], &[3, 4]]);
    }

    #[test]
    fn rows_that_smoothing_solves_are_left_out() {
        let host = Host::new(1).unwrap();
        let mut entries: Vec<_> = (0..8).map(|i| (i, i, 100.0)).collect();
        entries.extend((1..8).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
        let a = crate::Csr::from_triplets(8, 8, entries).unwrap();
        assert_eq!(aggregate(&host, a.view(), 2, 8.0).len(), 0);
    }
}
