//! Actions that a run repeats at intervals, and checks that it can land on their times.

use dgsuite_timeint::{StepSize, TimeError, check_multiples};

use super::Plan;
use crate::pipeline::node::{Node, Value};
use crate::pipeline::output::Every;
use crate::pipeline::problem::{InputError, Problem};

/// Where an interval is written in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Owner {
    /// A section of `output`.
    Output(&'static str),
    /// A monitor, by its number in the list.
    Monitor(usize),
}

impl Owner {
    /// Returns the key of the interval, with its value if it was written.
    fn find(self, root: &Node) -> (String, Option<&Node>) {
        match self {
            Self::Output(name) => {
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
        let output = [
            ("fields", self.fields.every),
            ("surfaces", self.surfaces.as_ref().map(|surfaces| surfaces.every)),
            ("averages", self.averages.as_ref().map(|averages| averages.every)),
            ("checkpoint", self.checkpoint.map(|checkpoint| checkpoint.every)),
        ];
        let output = output.into_iter().filter_map(|(name, every)| Some((Owner::Output(name), every?)));
        let monitors = self.monitors.iter().enumerate().map(|(i, m)| (Owner::Monitor(i), m.every));
        output.chain(monitors).collect()
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
