//! Rows, entries and bytes of a hierarchy's levels, as numbers and as a table.

use std::fmt;

use dgsuite_gpu::{Scalar, Vector};

use super::host::{Level, Way};
use crate::Cycle;
use crate::dense::DenseInverse;

/// One level of a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelSummary {
    /// Rows of the matrix.
    pub rows: usize,
    /// Stored entries of the matrix, or of its inverse where the level is solved directly.
    pub nonzeros: usize,
    /// Bytes of the matrix or inverse, the smoother, the transfer to the next level and the vectors.
    pub bytes: usize,
}

/// The levels of a hierarchy, the finest first. `Display` prints them as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchySummary {
    /// The levels.
    pub levels: Vec<LevelSummary>,
    /// Whether the coarsest level is solved directly; if not, coarsening stagnated and the level is smoothed.
    pub direct: bool,
    /// Whether constants are in the null space of some part of the matrix.
    pub floating: bool,
    /// The cycle; a K-cycle with the number of its levels.
    pub cycle: Cycle,
}

impl HierarchySummary {
    pub(super) fn of<T: Scalar>(levels: &[Level<T>], direct: Option<&DenseInverse>, cycle: Cycle) -> Self {
        let summary = |(k, level): (usize, &Level<T>)| {
            let vectors = [&level.b, &level.x, &level.y, &level.c, &level.v, &level.inverse_diagonal];
            let vectors: usize = vectors.iter().map(|vector| vector.len() * T::BYTES).sum();
            let inverse = direct.filter(|_| k + 1 == levels.len());
            let matrix = inverse.map_or(level.matrix.bytes(), DenseInverse::bytes);
            let way = level.way.as_ref().map_or(0, Way::bytes);
            LevelSummary {
                rows: level.x.len(),
                nonzeros: inverse.map_or(level.matrix.n_nonzeros(), DenseInverse::n_nonzeros),
                bytes: matrix + vectors + way,
            }
        };
        Self {
            levels: levels.iter().enumerate().map(summary).collect(),
            direct: direct.is_some(),
            floating: direct.is_some_and(DenseInverse::is_singular),
            cycle,
        }
    }

    /// Stored entries of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        self.total(|level| level.nonzeros)
    }

    /// Rows of all levels over those of the finest.
    pub fn grid_complexity(&self) -> f64 {
        self.total(|level| level.rows)
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bytes).sum()
    }

    fn total(&self, size: impl Fn(&LevelSummary) -> usize) -> f64 {
        let finest = self.levels.first().map_or(1, &size).max(1);
        self.levels.iter().map(&size).sum::<usize>() as f64 / finest as f64
    }
}

impl fmt::Display for HierarchySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "level        rows      entries  per row       MB")?;
        for (k, level) in self.levels.iter().enumerate() {
            let LevelSummary { rows, nonzeros, bytes } = *level;
            let (per_row, megabytes) = (nonzeros as f64 / rows.max(1) as f64, bytes as f64 / 1e6);
            let how = match (k + 1 == self.levels.len(), self.direct) {
                (true, true) => "  direct",
                (true, false) => "  smoothed only",
                _ => "",
            };
            writeln!(f, "{k:>5} {rows:>11} {nonzeros:>12} {per_row:>8.1} {megabytes:>8.2}{how}")?;
        }
        let (operator, grid) = (self.operator_complexity(), self.grid_complexity());
        write!(f, "operator complexity {operator:.3}, grid complexity {grid:.3}")
    }
}
