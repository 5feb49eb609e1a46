//! `summary.json`: one object with the properties and the results of a run.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::RunError;
use crate::code::Code;
use dgsuite_output::writer::atomic;
use dgsuite_solve::SystemError;

/// Returns the summary of a run that has begun at `date` and is in progress or was killed; it replaces the
/// summary of a former run.
pub fn running(title: &str, date: &str) -> Value {
    json!({ "title": title, "version": env!("CARGO_PKG_VERSION"), "date": date, "status": "running" })
}

/// Says in the summary in a directory that its run has failed, if it is in progress there: for processes that
/// end without the run's own end. What cannot be read or written stays as it is.
pub fn conclude(directory: &Path, code: Code, message: &str) {
    let path = directory.join("summary.json");
    let read = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    if let Some(mut summary) = read.filter(|summary| summary["status"] == "running") {
        summary["status"] = json!(Status::Failed.word());
        summary["failure"] = json!({ "code": code.word(), "message": message });
        let _ = atomic::write(&path, format!("{summary:#}\n").as_bytes());
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It finished as planned.
    Ok,
    /// It was stopped from outside, before its end, without an error.
    Stopped,
    /// An error that does not concern the solution: a full disk, no convergence.
    Failed,
    /// The solution is no longer finite.
    Diverged,
    /// It finished as planned, but a check does not hold.
    CheckFailed,
}

impl Status {
    /// Returns the word in the summary.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Diverged => "diverged",
            Self::CheckFailed => "check-failed",
        }
    }

    /// Returns the status of a run with this error.
    pub fn of(error: &RunError) -> Self {
        match error {
            RunError::System(SystemError::NotFinite { .. })
            | RunError::Time(_)
            | RunError::TooFast { .. }
            | RunError::TooFastAtBoundary { .. }
            | RunError::Stalled { .. }
            | RunError::StepsFail { .. } => Self::Diverged,
            _ => Self::Failed,
        }
    }
}

/// Returns the number at a path of the summary, such as `error.l2.rho`. Keys may contain dots
/// (`integral.0.5*rho`).
pub fn number_at(summary: &Value, path: &str) -> Option<f64> {
    if let Some(x) = child(summary, path).and_then(Value::as_f64) {
        return Some(x);
    }
    path.match_indices('.').find_map(|(dot, _)| number_at(child(summary, &path[..dot])?, &path[dot + 1..]))
}

fn child<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_numbers_also_below_keys_with_dots() {
        let summary = json!({
            "error": { "l2": { "rho": 1.5 } },
            "integral": { "0.5*rho": 2.0 },
            "table": [{ "h": 3.0 }],
            "nothing": null,
        });
        assert_eq!(number_at(&summary, "error.l2.rho"), Some(1.5));
        assert_eq!(number_at(&summary, "integral.0.5*rho"), Some(2.0));
        assert_eq!(number_at(&summary, "table.0.h"), Some(3.0));
        assert_eq!(number_at(&summary, "error.l2"), None);
        assert_eq!(number_at(&summary, "nothing"), None);
    }
}
