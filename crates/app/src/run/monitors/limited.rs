//! The monitor `limited`: elements that a limiter changed, and the smallest density and pressure.

use serde_json::{Map, Value, json};

use crate::plan::monitors::LIMITED_COLUMNS;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::Flow;

/// Returns one row.
pub(super) fn row(solver: &Flow) -> [f64; 4] {
    let (share, factor) = solver.limited().map_or((0.0, 1.0), |limited| (limited.share, limited.least));
    let [density, pressure] = solver.least().unwrap_or([f64::NAN; 2]);
    [share, factor, density, pressure]
}

/// Returns the mean and the largest share of changed elements over all rows, and the smallest values.
pub(super) fn summary(table: &Columns) -> Map<String, Value> {
    let column = |name: &str| table.column(name).unwrap_or_default();
    let share = column("share");
    let largest = share.iter().copied().fold(0.0, f64::max);
    let mut summary = Map::new();
    summary.insert("mean".to_owned(), json!(share.iter().sum::<f64>() / share.len().max(1) as f64));
    summary.insert("max".to_owned(), json!(largest));
    for name in &LIMITED_COLUMNS[1..] {
        let least = column(name).iter().copied().fold(f64::INFINITY, f64::min);
        summary.insert((*name).to_owned(), json!(least));
    }
    summary
}
