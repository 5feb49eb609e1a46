//! Checks: limits on values of the summary, evaluated at the end of a run.

use serde_json::{Value, json};

use super::log::Log;
use super::summary::number_at;
use crate::code::Code;
use crate::file::expression::Constants;
use crate::pipeline::checks::{CheckSpec, Limit, rounded};

/// A check with the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The path of the value.
    pub value: String,
    /// The limit.
    pub limit: Limit,
    /// The value; `None` if the run does not have it or it is not finite.
    pub measured: Option<f64>,
    /// Whether the value is within the limit.
    pub passed: bool,
}

/// Evaluates a check on a summary. `name` is the check's value, with the case that it refers to if there are
/// several.
pub fn measure(
    check: &CheckSpec,
    summary: &Value,
    constants: &Constants,
    name: String,
) -> Option<CheckResult> {
    let measured = number_at(summary, &check.value.value);
    // The limits were read with the same names when the plan was made, so this does not fail.
    let limit = check.limit(constants).ok()?;
    Some(CheckResult { value: name, limit, measured, passed: measured.is_some_and(|x| limit.holds(x)) })
}

/// Prints all checks, and behind them where to read more if one has failed; returns whether all have passed.
pub fn told(checks: &[CheckResult], log: &mut Log) -> bool {
    for check in checks {
        if check.passed { log.result(&check.to_string()) } else { log.warn(&check.to_string()) }
    }
    let passed = checks.iter().all(|check| check.passed);
    if !passed {
        log.warn(&Code::more_about(&[Code::CheckFailed]));
    }
    passed
}

impl CheckResult {
    /// Returns the check as an object of the summary.
    pub fn to_json(&self) -> Value {
        json!({
            "value": self.value,
            "limit": self.limit.to_string(),
            "measured": self.measured,
            "passed": self.passed,
        })
    }
}

impl std::fmt::Display for CheckResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.passed { "passed" } else { "FAILED" };
        let measured = match self.measured {
            None => "not known".to_owned(),
            Some(x) => rounded(x),
        };
        write!(f, "check {verdict}: {} = {measured}, {}", self.value, self.limit)
    }
}
