//! The matrix of a coarser level: `A_c = Pᵀ A P`, with P piecewise constant on aggregates.

use dgsuite_gpu::Host;
use rayon::prelude::*;

use super::aggregates::{Aggregates, NONE};
use crate::sparse::{Sparse, View};

/// Pieces for each thread: enough to even out unequal rows.
const PIECES_PER_THREAD: usize = 4;
/// Coarse rows that are worth a piece.
const LEAST_ROWS: usize = 1024;

/// `a_KL = Σ_{i∈K} Σ_{j∈L} a_ij`, columns ascending. Each entry is summed in the order of rows and columns,
/// so that the bits do not depend on how rows are shared among threads.
pub(crate) fn product(host: &Host, a: View<'_, f64>, aggregates: &Aggregates) -> Sparse<f64> {
    let n = aggregates.len();
    let n_pieces = (PIECES_PER_THREAD * host.n_threads()).min(n.div_ceil(LEAST_ROWS)).max(1);
    let ends = |k: usize| k * n / n_pieces;
    let work = |k: usize| rows(a, aggregates, ends(k), ends(k + 1));
    let pieces: Vec<Sparse<f64>> = if n_pieces == 1 {
        return work(0);
    } else {
        host.install(|| (0..n_pieces).into_par_iter().map(work).collect())
    };
    let n_nonzeros = pieces.iter().map(|piece| piece.columns.len()).sum();
    let mut starts = Vec::with_capacity(n + 1);
    starts.push(0);
    let (mut columns, mut values) = (vec![0u32; n_nonzeros], vec![0.0; n_nonzeros]);
    let mut places = Vec::with_capacity(n_pieces);
    let (mut columns_left, mut values_left) = (columns.as_mut_slice(), values.as_mut_slice());
    for piece in &pieces {
        let first = starts[starts.len() - 1];
        starts.extend(piece.starts[1..].iter().map(|end| first + end));
        let (here, rest) = columns_left.split_at_mut(piece.columns.len());
        let (values_here, values_rest) = values_left.split_at_mut(piece.columns.len());
        places.push((here, values_here));
        (columns_left, values_left) = (rest, values_rest);
    }
    host.install(|| {
        pieces.par_iter().zip(places).for_each(|(piece, (columns, values))| {
            columns.copy_from_slice(&piece.columns);
            values.copy_from_slice(&piece.values);
        });
    });
    Sparse { starts, columns, values }
}

/// The coarse rows `first..end`.
fn rows(a: View<'_, f64>, aggregates: &Aggregates, first: usize, end: usize) -> Sparse<f64> {
    // Where the entry of a column lies in the row at hand, if it lies there.
    let mut place = vec![0u32; aggregates.len()];
    let mut sorted: Vec<(u32, f64)> = Vec::new();
    let mut coarse =
        Sparse { starts: Vec::with_capacity(end - first + 1), columns: Vec::new(), values: Vec::new() };
    coarse.starts.push(0);
    for k in first..end {
        sorted.clear();
        for &i in aggregates.rows(k) {
            let (columns, values) = a.row(i as usize);
            for (&j, &value) in columns.iter().zip(values) {
                let column = aggregates.of_row[j as usize];
                if column == NONE {
                    continue;
                }
                let at = &mut place[column as usize];
                match sorted.get_mut(*at as usize) {
                    Some((found, sum)) if *found == column => *sum += value,
                    _ => {
                        *at = sorted.len() as u32;
                        sorted.push((column, value));
                    }
                }
            }
        }
        sorted.sort_unstable_by_key(|&(column, _)| column);
        coarse.columns.extend(sorted.iter().map(|&(column, _)| column));
        coarse.values.extend(sorted.iter().map(|&(_, value)| value));
        coarse.starts.push(coarse.columns.len());
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    #[test]
    fn coarse_entries_are_sums_over_aggregates() {
        let a = gallery::poisson_2d(90, 70, 0.4).unwrap();
        let label: Vec<u32> =
            (0..6300).map(|i| if i % 11 == 0 { NONE } else { (i / 2 + (i * i) % 5) as u32 }).collect();
        let aggregates = Aggregates::from_labels(&label);
        let coarse = product(&Host::new(1).unwrap(), a.view(), &aggregates);
        assert_eq!(coarse, product(&Host::new(3).unwrap(), a.view(), &aggregates));
        let mut dense = std::collections::BTreeMap::new();
        for i in 0..6300 {
            for (j, value) in a.row(i) {
                let (k, l) = (aggregates.of_row[i], aggregates.of_row[j]);
                if k != NONE && l != NONE {
                    *dense.entry((k, l)).or_insert(0.0) += value;
                }
            }
        }
        assert_eq!(coarse.columns.len(), dense.len());
        let view = coarse.view();
        let entries =
            (0..view.n_rows()).flat_map(|k| view.entries(k).map(move |(l, v)| ((k as u32, l as u32), v)));
        assert!(entries.zip(dense).all(|((at, v), (place, sum))| at == place && (v - sum).abs() < 1e-14));
    }
}
