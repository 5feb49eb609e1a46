//! The prolongation of smoothed aggregation.

use dgsuite_gpu::{Backend, Host};

use super::aggregates::{Aggregates, NONE};
use super::galerkin;
use super::rows::RowSums;
use crate::lanczos;
use crate::preconditioner::Diagonal;
use crate::sliced::Sliced;
use crate::sparse::{Sparse, View, tabulate};

/// Steps of Lanczos's method.
const LANCZOS_STEPS: usize = 8;

/// A prolongation, and the eigenvalue used to smooth it.
pub(crate) struct Smoothed {
    /// `P = (I − ω D⁻¹ A) P₀`.
    pub(crate) prolongation: Sparse<f64>,
    /// The largest eigenvalue of `D⁻¹ A` on the finer level, with a margin.
    pub(crate) largest: f64,
}

/// `P = (I − ω D⁻¹ A) P₀` with `P₀` constant on aggregates and ω = 4/3 of the inverse largest eigenvalue of
/// `D⁻¹ A` (Vaněk, Mandel and Brezina 1996).
pub(super) fn prolongation(host: &Host, a: View<'_, f64>, scale: f64, aggregates: &Aggregates) -> Smoothed {
    let n = a.n_rows();
    let rows = RowSums::table(host, a);
    let largest = largest_eigenvalue(host, a, scale, &rows);
    let damping = 4.0 / (3.0 * largest);
    // A row without an aggregate whose neighbour is in one gets its entry from A.
    let prolongation = galerkin::collect(
        host,
        [n, aggregates.len()],
        |i| a.length(i) + 1,
        |i, row| {
            let factor = -damping / rows[i].diagonal;
            if aggregates.of_row[i] != NONE {
                row.add(aggregates.of_row[i], 1.0);
            }
            for (j, value) in a.entries(i) {
                if aggregates.of_row[j] != NONE {
                    row.add(aggregates.of_row[j], factor * value);
                }
            }
        },
    );
    Smoothed { prolongation, largest }
}

/// The largest eigenvalue of `D⁻¹ A`, or Gershgorin's bound; computed in single precision, whose error is far
/// below the margin.
fn largest_eigenvalue(host: &Host, a: View<'_, f64>, scale: f64, rows: &[RowSums]) -> f64 {
    let bound = rows.iter().map(|row| row.l1() / row.diagonal).fold(0.0, f64::max);
    let found = || {
        let matrix = Sliced::<f32>::new(host, a, scale, a.n_rows());
        let inverse = tabulate(host, a.n_rows(), |i| (1.0 / (scale * rows[i].diagonal)) as f32);
        let inverse = host.upload(&inverse).ok()?;
        let start = host.upload(&lanczos::rough::<f32>(a.n_rows())).ok()?;
        lanczos::largest_eigenvalue(&matrix, &mut Diagonal(&inverse), &start, LANCZOS_STEPS, bound).ok()?
    };
    found().unwrap_or(bound)
}
