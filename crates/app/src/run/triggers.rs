//! Triggers during a run: conditions on time, step and the rows of monitors, and when they first held.
//!
//! A condition on monitors is evaluated whenever one of its monitors has recorded a row of its schedule, one
//! on time and step alone after every step. Rows at the end of a run do not count, so that a run that was
//! stopped and continued begins everything at the same step as one that was not. For the same reason the rows
//! are stored in checkpoints, beside the steps at which conditions held.

use dgsuite_timeint::{TimePoint, same_time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::plan::triggers::{Begin, Conditions, TriggerPlan};
use dgsuite_output::checkpoint::Section;

/// The section of a checkpoint with the state of the triggers.
pub const SECTION: &str = "triggers";

/// The triggers of a run.
pub struct Triggers<'a> {
    plan: &'a Conditions,
    /// When each first held.
    held: Vec<Option<Held>>,
    /// The values of conditions: time, step, and the last scheduled values of monitors.
    values: Vec<f64>,
    /// The monitors that have recorded since the last evaluation.
    recorded: Vec<usize>,
    /// Sentences for the log.
    news: Vec<String>,
}

/// The moment at which a condition first held.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    time: f64,
    step: u64,
}

/// The description of the section: the numbers are time and step of each trigger (NaN before it held), then
/// the values of the columns.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct About {
    /// Key and condition of each trigger.
    triggers: Vec<(String, String)>,
    /// Monitor and number of each column.
    columns: Vec<(usize, usize)>,
}

impl<'a> Triggers<'a> {
    /// The triggers before the run, or as a checkpoint has them. Of a checkpoint of a file with other
    /// triggers those that are the same are kept.
    pub fn new(plan: &'a Conditions, saved: Option<&Section<'_>>) -> Self {
        let mut new = Self {
            plan,
            held: vec![None; plan.triggers.len()],
            values: vec![f64::NAN; 2 + plan.columns.len()],
            recorded: Vec::new(),
            news: Vec::new(),
        };
        let Some((about, numbers)) = saved.and_then(|s| Some((s.description::<About>()?, s.values()))) else {
            return new;
        };
        if numbers.len() != 2 * about.triggers.len() + about.columns.len() {
            return new;
        }
        let (moments, values) = numbers.split_at(2 * about.triggers.len());
        for (trigger, held) in plan.triggers.iter().zip(&mut new.held) {
            let same = |(key, text): &(String, String)| *key == trigger.key && *text == trigger.text;
            if let Some(i) = about.triggers.iter().position(same).filter(|&i| !moments[2 * i].is_nan()) {
                // The cast saturates.
                *held = Some(Held { time: moments[2 * i], step: moments[2 * i + 1] as u64 });
            }
        }
        if about.columns == plan.columns {
            new.values[2..].copy_from_slice(values);
        }
        new
    }

    /// Returns the state for a checkpoint; `None` without triggers.
    pub fn section(&self) -> Option<Section<'static>> {
        if self.held.is_empty() {
            return None;
        }
        let name = |trigger: &TriggerPlan| (trigger.key.clone(), trigger.text.clone());
        let triggers = self.plan.triggers.iter().map(name).collect();
        let about = About { triggers, columns: self.plan.columns.clone() };
        let moment = |held: &Option<Held>| held.map_or([f64::NAN; 2], |held| [held.time, held.step as f64]);
        let moments = self.held.iter().flat_map(moment);
        let numbers: Vec<f64> = moments.chain(self.values[2..].iter().copied()).collect();
        Some(Section::optional(SECTION, 1).about(&about).numbers(numbers))
    }

    /// Takes the values of a scheduled row of a monitor, without step and time.
    pub fn note(&mut self, monitor: usize, row: &[f64]) {
        for (value, &(_, column)) in
            self.values[2..].iter_mut().zip(&self.plan.columns).filter(|(_, (of, _))| *of == monitor)
        {
            *value = row.get(column).copied().unwrap_or(f64::NAN);
        }
        self.recorded.push(monitor);
    }

    /// Evaluates the conditions that have not held yet and that can have changed. `agreed` says whether a
    /// condition holds on the rank that has the values of monitors; all ranks ask in the same order.
    ///
    /// # Errors
    /// Those of `agreed`.
    pub fn evaluate<E>(&mut self, now: TimePoint, agreed: impl Fn(bool) -> Result<bool, E>) -> Result<(), E> {
        (self.values[0], self.values[1]) = (now.t, now.step as f64);
        for (trigger, held) in self.plan.triggers.iter().zip(&mut self.held) {
            let used = &trigger.columns;
            let recorded = |&column: &usize| self.recorded.contains(&self.plan.columns[column].0);
            if held.is_some() || !(used.is_empty() || used.iter().any(recorded)) {
                continue;
            }
            let value = trigger.condition.eval(&self.values);
            // No condition holds before its monitors have rows.
            let known = used.iter().all(|column| !self.values[2 + column].is_nan());
            if agreed(known && value != 0.0 && !value.is_nan())? {
                *held = Some(Held { time: now.t, step: now.step });
                self.news.push(format!(
                    "{}: `{}` holds at t = {}, step {}: it begins",
                    trigger.key, trigger.text, now.t, now.step
                ));
            }
        }
        self.recorded.clear();
        Ok(())
    }

    /// Returns whether something has begun.
    pub fn begun(&self, begin: Begin, now: TimePoint) -> bool {
        match begin {
            Begin::At(time) => now.t >= time || same_time(now.t, time),
            Begin::Trigger(i) => self.held[i].is_some(),
        }
    }

    /// Returns whether something begins with a trigger that held just now.
    pub fn begins(&self, begin: Begin, now: TimePoint) -> bool {
        match begin {
            Begin::At(_) => false,
            Begin::Trigger(i) => self.held[i].is_some_and(|held| held.time == now.t),
        }
    }

    /// Returns the time at which something began, if it has.
    pub fn time(&self, begin: Begin) -> Option<f64> {
        match begin {
            Begin::At(time) => Some(time),
            Begin::Trigger(i) => self.held[i].map(|held| held.time),
        }
    }

    /// Returns the number of steps that can be done before a condition must be evaluated; monitors have their
    /// own.
    pub fn steps_left(&self) -> u64 {
        let pending =
            |(trigger, held): (&TriggerPlan, &Option<Held>)| held.is_none() && trigger.columns.is_empty();
        if self.plan.triggers.iter().zip(&self.held).any(pending) { 1 } else { u64::MAX }
    }

    /// Returns the sentences about conditions that hold since the last call.
    pub fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    /// Returns sentences about conditions that never held.
    pub fn never(&self) -> Vec<String> {
        let pending = self.plan.triggers.iter().zip(&self.held).filter(|(_, held)| held.is_none());
        pending
            .map(|(trigger, _)| format!("warning: {}: `{}` never held", trigger.key, trigger.text))
            .collect()
    }

    /// Returns the entries of the summary: for each trigger its key, its condition, and the time and step at
    /// which it held.
    pub fn summary(&self) -> Vec<Value> {
        let entry = |(trigger, held): (&TriggerPlan, &Option<Held>)| {
            json!({
                "key": trigger.key,
                "when": trigger.text,
                "time": held.map(|held| held.time),
                "step": held.map(|held| held.step),
            })
        };
        self.plan.triggers.iter().zip(&self.held).map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_physics::formula::{Formula, Names};

    /// Two triggers: one on the values of two monitors, one on the step.
    fn conditions() -> Conditions {
        let names = Names::new(["t", "step", "forces_cd", "integral_e"]);
        let trigger = |key: &str, text: &str, columns: &[usize]| TriggerPlan {
            key: key.to_owned(),
            text: text.to_owned(),
            condition: Formula::parse(text, &names).unwrap(),
            columns: columns.to_vec(),
        };
        Conditions {
            triggers: vec![
                trigger("output.averages.from", "!(forces_cd + integral_e <= 2)", &[0, 1]),
                trigger("output.fields.from", "step >= 3", &[]),
            ],
            columns: vec![(0, 1), (1, 0)],
        }
    }

    /// The answer of one rank.
    const fn known(holds: bool) -> Result<bool, std::convert::Infallible> {
        Ok(holds)
    }

    fn at(step: u64) -> TimePoint {
        TimePoint { t: 0.5 * step as f64, low: 0.0, step }
    }

    /// Notes rows and evaluates, as a run does: monitor 0 records every step, monitor 1 every second one.
    fn step(triggers: &mut Triggers<'_>, step: u64) {
        triggers.note(0, &[9.0, 0.25 * step as f64]);
        if step.is_multiple_of(2) {
            triggers.note(1, &[0.1 * step as f64]);
        }
        triggers.evaluate(at(step), known).unwrap();
    }

    #[test]
    fn a_restart_between_rows_changes_nothing() {
        let plan = conditions();
        let whole = {
            let mut triggers = Triggers::new(&plan, None);
            (0..12).for_each(|n| step(&mut triggers, n));
            triggers.summary()
        };
        // 0.25 n + 0.1 (n or n − 1) > 2 first holds at n = 6.
        assert_eq!((whole[0]["step"].as_u64(), whole[0]["time"].as_f64()), (Some(6), Some(3.0)));
        assert_eq!(whole[1]["step"], 3);
        for stop in 0..11 {
            let mut first = Triggers::new(&plan, None);
            (0..=stop).for_each(|n| step(&mut first, n));
            let saved = first.section().unwrap();
            let mut second = Triggers::new(&plan, Some(&saved));
            assert_eq!(second.begun(Begin::Trigger(0), at(stop)), stop >= 6);
            (stop + 1..12).for_each(|n| step(&mut second, n));
            assert_eq!(second.summary(), whole, "stopped at {stop}");
        }
    }

    #[test]
    fn conditions_are_asked_until_they_hold_and_only_when_something_new_is_known() {
        let plan = conditions();
        let mut triggers = Triggers::new(&plan, None);
        assert_eq!(triggers.steps_left(), 1);
        let asked = std::cell::Cell::new(0);
        let ask = |holds| {
            asked.set(asked.get() + 1);
            known(holds)
        };
        triggers.evaluate(at(1), ask).unwrap();
        triggers.note(0, &[0.0, 5.0]);
        // The other monitor has no row yet.
        triggers.evaluate(at(2), ask).unwrap();
        triggers.evaluate(at(3), ask).unwrap();
        assert_eq!(asked.get(), 1 + 2 + 1);
        assert!(triggers.begins(Begin::Trigger(1), at(3)) && !triggers.begins(Begin::Trigger(1), at(4)));
        assert!(!triggers.begun(Begin::Trigger(0), at(3)) && triggers.steps_left() == u64::MAX);
        triggers.evaluate(at(4), ask).unwrap();
        assert_eq!(asked.get(), 4);
        assert_eq!(triggers.news(), ["output.fields.from: `step >= 3` holds at t = 1.5, step 3: it begins"]);
        let never = "warning: output.averages.from: `!(forces_cd + integral_e <= 2)` never held";
        assert!(triggers.news().is_empty() && triggers.never() == [never]);
    }
}
