//! `summary.json`: one object with the properties and the results of a run.

use serde_json::{Value, json};

use super::RunError;
use dgsuite_solve::SystemError;

/// Returns the summary of a run that has begun at `date` and is in progress or was killed; it replaces the
/// summary of a former run.
pub fn running(title: &str, date: &str) -> Value {
    json!({ "title": title, "version": env!("CARGO_PKG_VERSION"), "date": date, "status": "running" })
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
