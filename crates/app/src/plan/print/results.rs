//! What a run records and writes, as lines of the plan.

use std::fmt::Write as _;

use crate::file::beginning::Begin;
use crate::file::every::Every;
use crate::file::number::grouped;
use crate::monitors::MonitorPlan;
use crate::outputs::OutputPlan;
use crate::pipeline::checks::CheckSpec;
use crate::plan::{Outline, Plan};

/// The directory, and what is written there.
pub(super) fn output(plan: &Plan) -> String {
    let mut text = plan.outline.directory.display().to_string();
    for OutputPlan { kind, output, from: begin, .. } in &plan.outputs {
        let often = match (kind.writes_files, output.every) {
            (true, every) => often(plan, every, *begin),
            (false, every) => {
                let sampled = if every == Every::Steps(1) { "in each step".to_owned() } else { words(every) };
                sampled + &from(plan, *begin).unwrap_or_default()
            }
        };
        let _ = write!(text, "; {} {often}", output.about);
    }
    text
}

/// Each monitor.
pub(super) fn monitors(plan: &Plan) -> Vec<String> {
    let line = |monitor: &MonitorPlan| {
        let [what, more] = monitor.monitor.about();
        let from = from(plan, monitor.from).unwrap_or_default();
        format!("{}{what} {}{from}{more}", monitor.kind.name, words(monitor.every))
    };
    plan.monitors.iter().map(line).collect()
}

/// The checks, if there are any.
pub(crate) fn checks(outline: &Outline) -> Option<String> {
    let check = |check: &CheckSpec| match check.limit(&outline.constants) {
        Ok(limit) => format!("{} {limit}", check.value.value),
        Err(_) => check.value.value.clone(),
    };
    let checks: Vec<String> = outline.checks.iter().map(check).collect();
    (!checks.is_empty()).then(|| checks.join("; "))
}

/// How often, with the number of times if that is known, and from when on.
fn often(plan: &Plan, every: Every, from_when: Begin) -> String {
    let mut text = words(every);
    match (from(plan, from_when), plan.times(every)) {
        (Some(from), _) => text.push_str(&from),
        (None, Some(times)) => {
            let _ = write!(text, " ({} times)", grouped(times));
        }
        (None, None) => {}
    }
    text
}

fn words(every: Every) -> String {
    match every {
        Every::Time(t) => format!("every {t}"),
        Every::Steps(1) => "every step".to_owned(),
        Every::Steps(n) => format!("every {} steps", grouped(n)),
        Every::Growing(most) => format!("every step at first, later up to {} steps apart", grouped(most)),
        Every::End => "at the end".into(),
    }
}

/// From when on, if not from the start.
fn from(plan: &Plan, begin: Begin) -> Option<String> {
    match begin {
        Begin::At(time) if time.is_finite() => Some(format!(" from t = {time}")),
        Begin::At(_) => None,
        Begin::Trigger(i) => {
            let trigger = plan.conditions.triggers.get(i);
            Some(trigger.map_or_else(String::new, |trigger| format!(" from when {}", trigger.text)))
        }
    }
}
