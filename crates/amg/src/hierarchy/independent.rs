//! Aggregation around maximal independent sets of the graph of strong connections.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use dgsuite_gpu::Host;

use super::aggregates::{Aggregates, NONE};
use super::rows::RowSums;
use crate::Strength;
use crate::sparse::{View, pieces, tabulate};

/// States of a row while the set grows, in the two highest bits of its rank.
const UNDECIDED: u64 = 1 << 62;
const IN_SET: u64 = 2 << 62;

/// An isolated row with a diagonal this dominant (κ in the rule of Napov and Notay) needs no coarser level.
const KAPPA: f64 = 8.0;

/// Strong connections of each row: columns and magnitudes, without the diagonal.
struct Graph {
    starts: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Graph {
    /// Each row applies the criterion to its own entries, so that a row of small entries is not strongly
    /// connected with a neighbour of large ones.
    fn new(host: &Host, a: View<'_, f64>, table: &[RowSums], strength: Strength) -> Self {
        let strong = |i: usize, j: usize, value: f64| match strength {
            Strength::Symmetric(theta) => {
                value * value > theta * theta * table[i].diagonal * table[j].diagonal
            }
            Strength::NegativeMaximum(theta) => -value > theta * table[i].most_negative,
        };
        let parts = pieces(host, a.n_rows(), |rows| {
            let (mut ends, mut columns, mut weights) =
                (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
            for i in rows {
                for (j, value) in a.entries(i) {
                    if j != i && strong(i, j, value) {
                        columns.push(j as u32);
                        weights.push(value.abs());
                    }
                }
                ends.push(columns.len());
            }
            (ends, columns, weights)
        });
        let mut graph = Self { starts: vec![0], columns: Vec::new(), weights: Vec::new() };
        for (ends, columns, weights) in parts {
            let first = graph.columns.len();
            graph.starts.extend(ends.iter().map(|end| first + end));
            graph.columns.extend(columns);
            graph.weights.extend(weights);
        }
        graph
    }

    fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn neighbours(&self, i: usize) -> &[u32] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }

    fn weighted(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let weights = &self.weights[self.starts[i]..self.starts[i + 1]];
        self.neighbours(i).iter().zip(weights).map(|(&j, &w)| (j as usize, w))
    }

    /// The largest rank of a row and its neighbours.
    fn largest(&self, i: usize, rank: &[AtomicU64]) -> u64 {
        let of = |j: usize| rank[j].load(Relaxed);
        self.neighbours(i).iter().fold(of(i), |most, &j| most.max(of(j as usize)))
    }
}

/// A fixed shuffle of the row numbers (the finaliser of SplitMix64, Steele, Lea and Flood 2014), 30 bits.
fn shuffled(i: usize) -> u64 {
    let mut z = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 34
}

/// Roots: rows at distance more than two from each other, so many that no row could be added (Bell, Dalton
/// and Olson 2012, algorithm 5). All rows decide at the same time in each round, so that the result does not
/// depend on threads; only undecided rows are visited again.
fn roots(host: &Host, graph: &Graph) -> Vec<bool> {
    let n = graph.n_rows();
    let number = |i: u32| UNDECIDED | shuffled(i as usize) << 32 | u64::from(i);
    let rank: Vec<AtomicU64> = (0..n as u32).map(|i| AtomicU64::new(number(i))).collect();
    let near: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
    let mut open: Vec<u32> = (0..n as u32).collect();
    let mut unsettled = open.clone();
    while !open.is_empty() {
        unsettled = kept(host, &unsettled, |i| {
            let most = graph.largest(i, &rank);
            near[i].store(most, Relaxed);
            // Otherwise a root is near, or all neighbours have decided against it; this does not change any
            // more.
            most & UNDECIDED != 0
        });
        open = kept(host, &open, |i| {
            let (own, most) = (rank[i].load(Relaxed), graph.largest(i, &near));
            let decided = most == own || most & IN_SET != 0;
            if decided {
                rank[i].store(if most == own { own ^ (UNDECIDED | IN_SET) } else { 0 }, Relaxed);
            }
            !decided
        });
    }
    rank.into_iter().map(|rank| rank.into_inner() & IN_SET != 0).collect()
}

/// The rows of a list for which `keep` returns true, in order; `keep` is evaluated in parallel.
fn kept(host: &Host, rows: &[u32], keep: impl Fn(usize) -> bool + Sync + Send) -> Vec<u32> {
    pieces(host, rows.len(), |range| {
        rows[range].iter().copied().filter(|&i| keep(i as usize)).collect::<Vec<_>>()
    })
    .concat()
}

/// Aggregates around the roots: each root with its neighbours; each remaining row joins its strongest
/// neighbour.
pub(crate) fn aggregate(host: &Host, a: View<'_, f64>, strength: Strength) -> Aggregates {
    let table = RowSums::table(host, a);
    let graph = Graph::new(host, a, &table, strength);
    let root = roots(host, &graph);
    let near = tabulate(host, a.n_rows(), |i| {
        if root[i] {
            let alone = graph.neighbours(i).is_empty();
            return if alone && table[i].dominated_by_diagonal(KAPPA) { NONE } else { i as u32 };
        }
        graph.neighbours(i).iter().copied().find(|&j| root[j as usize]).unwrap_or(NONE)
    });
    let label = tabulate(host, a.n_rows(), |i| {
        if near[i] != NONE || root[i] {
            return near[i];
        }
        let mut best = (0.0, NONE);
        for (j, weight) in graph.weighted(i) {
            if near[j] != NONE && weight > best.0 {
                best = (weight, near[j]);
            }
        }
        best.1
    });
    Aggregates::from_labels(&label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    fn graph_of(a: &crate::Csr<f64>, strength: Strength) -> (Graph, Vec<bool>) {
        let host = Host::new(2).unwrap();
        let graph = Graph::new(&host, a.view(), &RowSums::table(&host, a.view()), strength);
        let root = roots(&host, &graph);
        (graph, root)
    }

    #[test]
    fn roots_are_apart_and_every_row_is_near_one() {
        let a = gallery::poisson_2d(60, 41, 1.0).unwrap();
        let (graph, root) = graph_of(&a, Strength::Symmetric(0.08));
        let near = |i: usize| graph.neighbours(i).iter().map(|&j| j as usize);
        for i in 0..a.n_rows() {
            let within_two = near(i).flat_map(|j| near(j).chain([j])).filter(|&j| j != i);
            let others = within_two.filter(|&j| root[j]).count();
            assert!(if root[i] { others == 0 } else { others > 0 }, "row {i}");
        }
    }

    #[test]
    fn aggregates_follow_strong_connections() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(30, 30, 1e-2).unwrap();
        for strength in [Strength::Symmetric(0.08), Strength::NegativeMaximum(0.5)] {
            let aggregates = aggregate(&host, a.view(), strength);
            for k in 0..aggregates.len() {
                let rows = aggregates.rows(k);
                assert!(rows.iter().all(|row| row / 30 == rows[0] / 30), "{strength:?}");
            }
            assert!((200..=300).contains(&aggregates.len()), "{strength:?}: {}", aggregates.len());
            assert!(!aggregates.of_row.contains(&NONE));
        }
    }

    #[test]
    fn each_row_judges_its_connections_for_itself() {
        // Row 1 has −1 beside −10; row 0 has no other entry.
        let entries = [
            (0, 0, 1.0),
            (0, 1, -1.0),
            (1, 0, -1.0),
            (1, 1, 11.0),
            (1, 2, -10.0),
            (2, 1, -10.0),
            (2, 2, 10.0),
        ];
        let a = crate::Csr::from_triplets(3, 3, entries).unwrap();
        let (graph, _) = graph_of(&a, Strength::NegativeMaximum(0.5));
        assert_eq!((graph.neighbours(0), graph.neighbours(1)), (&[1][..], &[2][..]));
    }
}
