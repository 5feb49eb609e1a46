//! Counts over a whole run, also one that was continued: steps, repetitions, iterations of linear solvers.
//!
//! Checkpoints store them, so that the summary of a continued run is about all of its parts. Seconds are not
//! stored: they would make the bits of a checkpoint depend on the machine.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::communication::Communication;
use dgsuite_output::checkpoint::Section;
use dgsuite_solve::{Iterations, SolveStatistics};
use dgsuite_timeint::NewtonStep;

/// The section of a checkpoint with the counts.
pub const SECTION: &str = "counts";

/// Counters of the time loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Steps of this run (without those before a restart).
    pub steps: u64,
    /// The smallest step.
    pub dt_min: Option<f64>,
    /// The largest step.
    pub dt_max: Option<f64>,
    /// Attempts that were rejected because of their error.
    pub rejected: u64,
    /// Repetitions of failed steps with half the size.
    pub retries: u64,
    /// Time spent in steps.
    pub spent: Duration,
    /// Whether the run was stopped from outside, before the end.
    pub stopped: bool,
    /// The largest step of a run with implicit ones, in explicit steps of its last state.
    pub explicit_steps: Option<f64>,
    /// The Newton steps of a steady run, each with its number and the residual before it.
    pub newton: Vec<(u64, f64, NewtonStep)>,
    /// Residual of a steady run, relative to its largest value.
    pub ratio: Option<f64>,
    /// What the ranks have sent in steps, with what their monitors and results needed, if the run came to an
    /// end.
    pub communication: Communication,
}

/// Counts since a step, usually the first one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Counts {
    /// The step from which on they count: 0, or that of a checkpoint without counts.
    pub from_step: u64,
    /// The smallest step.
    pub dt_min: Option<f64>,
    /// The largest step.
    pub dt_max: Option<f64>,
    /// Attempts that were rejected because of their error.
    pub rejected: u64,
    /// Repetitions of failed steps.
    pub retries: u64,
    /// Counts of linear solvers, if the model has some.
    pub solves: Option<Solves>,
}

/// Counts of the linear solvers of incompressible flow: sums and largest numbers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Solves {
    /// Number of steps.
    pub steps: u64,
    /// Explicit sub-steps of convection.
    pub substeps: Iterations,
    /// Iterations for the pressure.
    pub pressure: Iterations,
    /// Iterations for each component of the velocity.
    pub velocity: Vec<Iterations>,
    /// Iterations for the problem with penalties.
    pub penalty: Iterations,
    /// Iterations for each scalar.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalars: Vec<Iterations>,
}

impl From<SolveStatistics> for Solves {
    fn from(all: SolveStatistics) -> Self {
        let SolveStatistics { steps, substeps, pressure, velocity, scalars, penalty, seconds: _ } = all;
        Self { steps, substeps, pressure, velocity, penalty, scalars }
    }
}

impl Counts {
    /// The counts with which a run continues at `step`: those of its checkpoint's section, if there is one.
    #[must_use]
    pub fn continued(section: Option<&Section<'_>>, step: u64) -> Self {
        section.and_then(Section::description).unwrap_or(Self { from_step: step, ..Self::default() })
    }

    /// Adds those of a part of the run.
    #[must_use]
    pub fn and(&self, tally: &Tally, solves: Option<SolveStatistics>) -> Self {
        let both = |a: Option<f64>, b: Option<f64>, of: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => Some(of(a, b)),
            (a, b) => a.or(b),
        };
        let before = self.solves.as_ref();
        Self {
            from_step: self.from_step,
            dt_min: both(self.dt_min, tally.dt_min, f64::min),
            dt_max: both(self.dt_max, tally.dt_max, f64::max),
            rejected: self.rejected + tally.rejected,
            retries: self.retries + tally.retries,
            solves: solves.map(|own| before.map_or_else(Solves::default, Clone::clone).and(&own.into())),
        }
    }

    /// The section of a checkpoint.
    #[must_use]
    pub fn section(&self) -> Section<'static> {
        Section::optional(SECTION, 1).about(self)
    }
}

impl Solves {
    fn and(&self, own: &Self) -> Self {
        let sum =
            |a: Iterations, b: Iterations| Iterations { total: a.total + b.total, most: a.most.max(b.most) };
        // The number of components is that of the model.
        let of = |all: &[Iterations], k: usize| all.get(k).copied().unwrap_or_default();
        let all = |before: &[Iterations], own: &[Iterations]| {
            (0..own.len()).map(|k| sum(of(before, k), of(own, k))).collect()
        };
        Self {
            steps: self.steps + own.steps,
            substeps: sum(self.substeps, own.substeps),
            pressure: sum(self.pressure, own.pressure),
            velocity: all(&self.velocity, &own.velocity),
            penalty: sum(self.penalty, own.penalty),
            scalars: all(&self.scalars, &own.scalars),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_a_section_keeps_them() {
        let tally = |dt_min, dt_max| Tally {
            dt_min: Some(dt_min),
            dt_max: Some(dt_max),
            rejected: 2,
            retries: 1,
            ..Tally::default()
        };
        let solves = |total, most| SolveStatistics {
            steps: 4,
            pressure: Iterations { total, most },
            velocity: vec![Iterations { total: 1, most }; 2],
            ..SolveStatistics::default()
        };
        let first = Counts::default().and(&tally(0.1, 0.3), Some(solves(10, 7)));
        let stored = first.section();
        let before = Counts::continued(Some(&stored), 4);
        assert_eq!(before, first, "bits are kept");
        let all = before.and(&tally(0.2, 0.4), Some(solves(5, 3)));
        assert_eq!((all.from_step, all.dt_min, all.dt_max), (0, Some(0.1), Some(0.4)));
        assert_eq!((all.rejected, all.retries), (4, 2));
        let solves = all.solves.unwrap();
        assert_eq!((solves.steps, solves.pressure), (8, Iterations { total: 15, most: 7 }));
        assert_eq!(solves.velocity, [Iterations { total: 2, most: 7 }; 2]);
        // A checkpoint without counts, as of an older program.
        let later = Counts::continued(None, 9).and(&tally(0.2, 0.4), None);
        assert_eq!((later.from_step, later.dt_min, later.solves), (9, Some(0.2), None));
    }
}
