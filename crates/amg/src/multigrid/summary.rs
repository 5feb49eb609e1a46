//! Rows, bytes and operator applications of given levels, as numbers and as a table.

use std::fmt;

/// One of the levels of a multigrid method.
#[derive(Clone, Debug, PartialEq)]
pub struct MultigridLevel {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// Bytes of operator, smoother and transfer, or of the coarse solver, where they were given.
    pub bytes: Option<usize>,
    /// Bytes of the cycle's vectors.
    pub vectors: usize,
    /// The largest eigenvalue that the smoother uses; `None` on the coarsest level.
    pub largest: Option<f64>,
    /// Applications of the operator in a cycle; applications inside the coarse solver are not counted.
    pub applications: usize,
}

/// The levels of a [`Multigrid`](super::Multigrid), the finest first. `Display` prints them as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct MultigridSummary {
    /// The levels, the coarsest with its solver last.
    pub levels: Vec<MultigridLevel>,
}

impl MultigridSummary {
    /// Operator applications of a cycle in units of the finest level: an application on a coarser level
    /// counts by its number of rows. The coarse solver is not counted.
    pub fn work(&self) -> f64 {
        let finest = self.levels.first().map_or(1, |level| level.rows).max(1) as f64;
        self.levels.iter().map(|level| (level.applications * level.rows) as f64 / finest).sum()
    }

    /// Bytes of all levels, where they were given, and of the vectors.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bytes.unwrap_or(0) + level.vectors).sum()
    }
}

impl fmt::Display for MultigridSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.levels.iter().map(|level| level.name.chars().count()).fold(5, usize::max);
        writeln!(
            f,
            "{:<width$} {:>11} {:>9} {:>12} {:>12}",
            "level", "rows", "MB", "eigenvalue", "applications"
        )?;
        for level in &self.levels {
            let megabytes = level.bytes.map_or_else(
                || "-".to_owned(),
                |bytes| format!("{:.2}", (bytes + level.vectors) as f64 / 1e6),
            );
            let eigenvalue = level.largest.map_or_else(|| "-".to_owned(), |largest| format!("{largest:.3}"));
            let applications =
                level.largest.map_or_else(|| "solved".to_owned(), |_| level.applications.to_string());
            let MultigridLevel { name, rows, .. } = level;
            writeln!(f, "{name:<width$} {rows:>11} {megabytes:>9} {eigenvalue:>12} {applications:>12}")?;
        }
        write!(f, "a cycle is {:.2} applications of the finest operator", self.work())
    }
}
