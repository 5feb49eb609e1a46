//! Triggers: conditions on time, step and monitors, at which outputs, means and monitors begin.

use std::collections::BTreeSet;

use dgsuite_physics::formula::Formula;

pub use crate::file::beginning::Begin;
use crate::file::beginning::Beginning;
use crate::file::every::Every;
use crate::file::expression::Constants;
use crate::file::problem::InputError;
use crate::models::variables::Variables;
use crate::monitors::{MonitorPlan, MonitorSpec, tables};

/// A condition, resolved.
#[derive(Clone, Debug)]
pub struct TriggerPlan {
    /// The key of what it begins, such as `output.averages.from`.
    pub key: String,
    /// The condition as written.
    pub text: String,
    /// The condition: its arguments are `t`, `step` and the [`columns`](Conditions::columns).
    pub condition: Formula,
    /// The columns that it uses, by their numbers in [`Conditions::columns`].
    pub columns: Vec<usize>,
}

/// The conditions of a run.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// The triggers.
    pub triggers: Vec<TriggerPlan>,
    /// The arguments of conditions after `t` and `step`: a monitor, and the number of a value in its rows
    /// after step and time.
    pub columns: Vec<(usize, usize)>,
}

/// Reads conditions.
pub struct Reader<'a> {
    constants: &'a Constants,
    names: Vec<String>,
    /// Whether the monitors record at intervals.
    repeated: Vec<bool>,
    conditions: Conditions,
}

impl<'a> Reader<'a> {
    /// The names of conditions: `t`, `step`, and the columns of monitors, as `integral_energy`. Columns whose
    /// names are formulas have no name here.
    pub fn new(monitors: &[MonitorPlan], variables: &Variables, constants: &'a Constants) -> Self {
        let mut names = vec!["t".to_owned(), "step".to_owned()];
        let mut known: BTreeSet<String> = names.iter().cloned().collect();
        let mut columns = Vec::new();
        for (monitor, (table, found)) in tables(monitors, variables).into_iter().enumerate() {
            for (column, name) in found.iter().enumerate() {
                let name = format!("{table}_{name}").replace('-', "_").replace(" at ", "_");
                let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if word && known.insert(name.clone()) {
                    names.push(name);
                    columns.push((monitor, column));
                }
            }
        }
        let repeated = monitors.iter().map(|monitor| monitor.every != Every::End).collect();
        Self { constants, names, repeated, conditions: Conditions { triggers: Vec::new(), columns } }
    }

    /// Resolves a beginning; without one it is the start of the run.
    ///
    /// # Errors
    /// A condition that is no formula in its names.
    pub fn read(&mut self, spec: Option<&Beginning>) -> Result<Begin, InputError> {
        let text = match spec {
            None => return Ok(Begin::START),
            Some(Beginning::Time(time)) => return Ok(Begin::At(*time)),
            Some(Beginning::When(text)) => text,
        };
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let condition = self.constants.located_formula(text, &names)?;
        let used = (0..self.conditions.columns.len()).filter(|&i| condition.depends_on(&self.names[2 + i]));
        let columns: Vec<usize> = used.collect();
        if columns.iter().any(|&i| !self.repeated[self.conditions.columns[i].0]) {
            let expected =
                "a condition on monitors with `every` or `every_steps`, as it is evaluated with their rows";
            return Err(InputError::range(text, expected));
        }
        self.conditions.triggers.push(TriggerPlan {
            key: text.key.strip_suffix(".when").unwrap_or(&text.key).to_owned(),
            text: text.value.clone(),
            condition,
            columns,
        });
        Ok(Begin::Trigger(self.conditions.triggers.len() - 1))
    }

    /// Returns all conditions.
    pub fn finish(self) -> Conditions {
        self.conditions
    }
}

/// Resolves from when on monitors record, and forces have means, once all monitors have names.
///
/// # Errors
/// Conditions that are no formulas in their names.
pub fn of_monitors(
    specs: &[MonitorSpec],
    monitors: &mut [MonitorPlan],
    reader: &mut Reader<'_>,
) -> Result<(), InputError> {
    for (spec, monitor) in specs.iter().zip(monitors) {
        monitor.from = reader.read(spec.from.as_ref())?;
        if let (Some(from), Some(means)) = (spec.spec.means(), monitor.monitor.means_mut()) {
            *means = Some(reader.read(Some(from))?);
        }
    }
    Ok(())
}
