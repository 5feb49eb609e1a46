//! The prolongation of smoothed aggregation.

use dgsuite_gpu::{Backend, Host};

use super::aggregates::{Aggregates, NONE};
use super::galerkin;
use super::rows::RowSums;
use crate::lanczos;
use crate::preconditioner::Diagonal;
use crate::sparse::{Sparse, View, tabulate};

/// Steps of Lanczos's method.
const LANCZOS_STEPS: usize = 8;

/// `P = (I − ω D⁻¹ A) P₀` with `P₀` constant on aggregates and ω = 4/3 of the inverse largest eigenvalue of `D⁻¹ A` (Vaněk,
/// Mandel and Brezina 1996).
pub(super) fn prolongation(host: &Host, a: View<'_, f64>, aggregates: &Aggregates) -> Sparse<f64> {
    let n = a.n_rows();
    let rows = RowSums::table(host, a);
    let inverse = tabulate(host, n, |i| 1.0 / rows[i].diagonal);
    let damping = 4.0 / (3.0 * largest_eigenvalue(host, a, &rows, &inverse));
    let mut starts = Vec::with_capacity(n + 1);
    starts.push(0);
    let mut columns = Vec::with_capacity(n);
    for &k in &aggregates.of_row {
        if k != NONE {
            columns.push(k);
        }
        starts.push(columns.len());
    }
    let values = vec![1.0; columns.len()];
    let constant = Sparse { starts, columns, values };
    // A row that belongs to no aggregate, but has a neighbour in one, gets its share by A.
    let mut p = galerkin::multiply(host, a, constant.view(), aggregates.len());
    for (i, inverse) in inverse.into_iter().enumerate() {
        let own = aggregates.of_row[i];
        for at in p.starts[i]..p.starts[i + 1] {
            p.values[at] *= -damping * inverse;
            if p.columns[at] == own {
                p.values[at] += 1.0;
            }
        }
    }
    p
}

/// The largest eigenvalue of `D⁻¹ A`, or Gershgorin's bound.
fn largest_eigenvalue(host: &Host, a: View<'_, f64>, rows: &[RowSums], inverse: &[f64]) -> f64 {
    let bound = rows.iter().map(|row| row.l1() / row.diagonal).fold(0.0, f64::max);
    let found = || {
        let matrix = Sparse::<f64>::scaled(host, a, 1.0);
        let inverse = host.upload(inverse).ok()?;
        let start = host.upload(&lanczos::rough::<f64>(a.n_rows())).ok()?;
        lanczos::largest_eigenvalue(&matrix, &mut Diagonal(&inverse), &start, LANCZOS_STEPS).ok()?
    };
    found().map_or(bound, |found| found.min(bound))
}
