//! Actions that a run repeats at intervals, and checks that it can land on their times.

use std::fmt;

use dgsuite_timeint::{StepSize, TimeError, check_multiples};

use super::Plan;
use crate::file::every::Every;
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::outputs::Kind;
use dgsuite_solve::flow::Law;

/// Where an interval is written in the file.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// A section of `output`.
    Output(&'static Kind),
    /// A monitor, by its number in the list.
    Monitor(usize),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(kind) => write!(f, "output.{}.every is", kind.name),
            Self::Monitor(i) => write!(f, "the interval of monitors.{i} is"),
        }
    }
}

impl Owner {
    /// Whether each of its times leaves a file.
    pub fn writes_files(self) -> bool {
        matches!(self, Self::Output(kind) if kind.writes_files)
    }

    /// Returns the key of the interval, with its value if it was written.
    fn find(self, root: &Node) -> (String, Option<&Node>) {
        match self {
            Self::Output(&Kind { name, .. }) => {
                let section = root.get("output").and_then(|output| output.get(name));
                (format!("output.{name}.every"), section.and_then(|section| section.get("every")))
            }
            Self::Monitor(i) => {
                let item = match root.get("monitors").map(|list| &list.value) {
                    Some(Value::List(items)) => items.get(i),
                    _ => None,
                };
                match item.map(|item| &item.value) {
                    Some(Value::Map(entries)) if entries.len() == 1 => {
                        (format!("monitors.{i}.{}.every", entries[0].key), entries[0].node.get("every"))
                    }
                    _ => (format!("monitors.{i}"), None),
                }
            }
        }
    }
}

impl Plan {
    /// Returns all repeated actions with their intervals.
    pub fn intervals(&self) -> Vec<(Owner, Every)> {
        let output = self.outputs.iter().map(|plan| (Owner::Output(plan.kind), plan.output.every));
        let monitors = self.monitors.iter().enumerate().map(|(i, m)| (Owner::Monitor(i), m.every));
        output.chain(monitors).collect()
    }

    /// The time from the start, or the checkpoint, to the final time, if there is one.
    fn span(&self) -> Option<f64> {
        let start = self.restart.as_ref().map_or(0.0, |(_, saved)| saved.now.t);
        self.time.end.map(|end| end - start)
    }

    /// The number of steps of size `dt` to the final time, if there is one.
    pub fn steps_without_landings(&self, dt: f64) -> Option<usize> {
        Some((self.span()? / dt).ceil() as usize)
    }

    /// Whether the scheme combines several past times: outputs between its steps are interpolated, so that it
    /// need not land on their times.
    pub fn is_multistep(&self) -> bool {
        matches!(self.setup.law, Law::Incompressible(_))
    }

    /// About the number of steps to the final time, of sizes up to `dt` and such that they land on the times
    /// of all intervals.
    pub fn steps_to_end(&self, dt: f64) -> Option<usize> {
        let span = self.span()?;
        let whole = |x: f64| (x - x.round()).abs() < 1e-6 * x;
        let up = |x: f64| if whole(x) { x.round() } else { x.ceil() };
        if self.is_multistep() {
            return Some(up(span / dt) as usize);
        }
        let time = |every| match every {
            Every::Time(interval) if interval < span => Some(interval),
            _ => None,
        };
        let intervals: Vec<f64> = self.intervals().into_iter().filter_map(|(_, every)| time(every)).collect();
        let shortest = intervals.iter().copied().fold(span, f64::min);
        // Times of other intervals are times of the shortest one, or additional ones.
        let additional = |interval: &f64| if whole(interval / shortest) { 0.0 } else { span / interval };
        let others: f64 = intervals.iter().map(additional).sum();
        Some((span / shortest * up(shortest / dt) + others).round() as usize)
    }

    /// The number of times of an interval, start and end included, if it is known.
    pub fn times(&self, every: Every) -> Option<usize> {
        match every {
            Every::Time(interval) => {
                let times = self.span()? / interval;
                Some(1 + (times - 1e-6).ceil() as usize)
            }
            _ => None,
        }
    }

    /// Rejects intervals with too many times for a run that begins at `start`: within the run, or, if its end
    /// is a number of steps, within one step.
    pub(super) fn times_are_possible(&self, start: f64, root: &Node) -> Result<(), InputError> {
        for (owner, every) in self.intervals() {
            let checked = match (every, self.time.end) {
                (Every::Time(interval), Some(end)) => check_multiples(interval, start, end),
                (every, None) => self.fits(every, start, 0.0),
                _ => Ok(()),
            };
            if let Err(error) = checked {
                let (key, node) = owner.find(root);
                let problem = Problem::Times { key, error };
                return Err(match node {
                    Some(node) => InputError::at(&node.place, problem),
                    None => InputError::nowhere(problem),
                });
            }
        }
        Ok(())
    }

    /// Rejects intervals with too many times within the first step, where `limit` is the stable step at CFL
    /// number one: a run without a final time would only land on them.
    ///
    /// # Errors
    /// [`TimeError::TooManyTimes`].
    pub fn fits_a_step(&self, start: f64, limit: f64) -> Result<(), TimeError> {
        self.intervals().into_iter().try_for_each(|(_, every)| self.fits(every, start, limit))
    }

    fn fits(&self, every: Every, start: f64, limit: f64) -> Result<(), TimeError> {
        let step = match self.time.step {
            StepSize::Fixed(dt) => dt,
            StepSize::Cfl(cfl) => cfl * limit,
        };
        match every {
            // With local steps, each step counts as one unit of time.
            Every::Time(interval)
                if self.time.end.is_none()
                    && !self.time.steady.is_some_and(|steady| steady.local_steps)
                    && step.is_finite() =>
            {
                check_multiples(interval, start, start + step)
            }
            _ => Ok(()),
        }
    }
}
