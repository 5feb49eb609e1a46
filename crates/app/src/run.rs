//! A run: carries out a plan and writes its results and the summary.
//!
//! [`Run`] is what the program asks of a run of any model. It has the frame of all runs: the directory, the
//! log, checks and the summary. A model in time ([`flow`]) fills it with the march through time, an elliptic
//! problem ([`elliptic`]) with a linear solve.

pub mod answer;
pub mod checks;
pub mod counts;
pub mod elliptic;
pub mod error;
pub mod flow;
pub mod log;
pub mod march;
pub mod monitors;
pub mod outputs;
mod projection;
pub mod sections;
pub mod shared;
pub mod stored;
pub mod summary;
pub mod triggers;

use serde_json::{Map, Value, json};

use self::checks::CheckResult;
pub use self::error::RunError;
use self::log::Log;
pub use self::summary::Status;
use crate::directory::{Directory, Former};
use crate::machine;
use crate::plan::Outline;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::flow::KernelChoice;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The summary, as written to `summary.json`.
    pub summary: Value,
    /// Why it stopped, in words.
    pub failure: Option<String>,
    /// The results of the checks.
    pub checks: Vec<CheckResult>,
}

/// The end of a computation, before its checks.
pub struct Ending {
    /// How it ended.
    pub status: Status,
    /// Why it stopped, in words.
    pub failure: Option<String>,
    /// The summary without `error`, `checks` and `status`.
    pub summary: Map<String, Value>,
    /// The norms of the error, for the summary and as a table.
    pub errors: Option<(Value, String)>,
    /// The last line of a run that has reached its end.
    pub closing: String,
    /// Whether the last values of the monitors are printed.
    pub answers: bool,
    /// Messages that follow all others.
    pub last: Vec<String>,
}

/// A run that is ready to start: the plan is made and the solver is set up, so that the input is known to be
/// valid.
pub trait Run {
    /// What its plan has in common with those of other models.
    fn outline(&self) -> &Outline;

    /// Describes the plan in words.
    fn describe(&mut self) -> String;

    /// The kernels that a GPU runs or, for a run on the CPU, would run; these are added to the plan's `text`.
    fn forecast(&mut self, _text: &mut String) -> Vec<KernelChoice> {
        Vec::new()
    }

    /// Whether this process writes the results; of several ranks, one does.
    fn writes(&self) -> bool {
        true
    }

    /// Computes the solution and writes all results except the summary.
    fn compute(&mut self, directory: &Directory, log: &mut Log) -> Ending;

    /// Runs, writes results and the summary.
    ///
    /// # Errors
    /// Only if the summary cannot be written; every other failure is in the report.
    fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        let date = machine::now();
        let outline = self.outline();
        let directory = match self.writes() {
            true => Directory::prepare(&outline.directory, outline.former)?,
            false => Directory::temporary()?,
        };
        log.open(&directory.log(), outline.former == Former::Continue)?;
        directory.warning().iter().for_each(|warning| log.warn(warning));
        directory.write_summary(&summary::running(&outline.title, &date))?;
        directory.write_pipeline(&outline.resolved)?;
        if let Some(reason) = &outline.device_note {
            log.note(&format!("running on the CPU: {reason}"));
        }
        log.note(&self.describe());
        let mut ending = self.compute(&directory, log);
        ending.summary.insert("date".into(), json!(date));
        ending.summary.insert("machine".into(), machine::names());
        let report = ending.concluded(self.outline(), log);
        directory.write_summary(&report.summary)?;
        Ok(report)
    }
}

impl Ending {
    /// Adds errors, checks and status, and prints how the run ended.
    fn concluded(self, outline: &Outline, log: &mut Log) -> Report {
        let Self { mut status, failure, mut summary, errors, closing, answers, last } = self;
        let table = errors.map(|(norms, table)| {
            summary.insert("error".into(), norms);
            table
        });
        let so_far = Value::Object(summary.clone());
        let measured = outline
            .checks
            .iter()
            .filter_map(|c| checks::measure(c, &so_far, &outline.constants, c.value.value.clone()));
        let checks: Vec<CheckResult> = if status == Status::Ok { measured.collect() } else { Vec::new() };
        // The results are printed last, after the line about work and speed.
        let completed = status == Status::Ok;
        if completed {
            log.result(&closing);
        }
        if answers {
            answer::lines(&summary).iter().for_each(|line| log.result(line));
        }
        table.iter().for_each(|table| log.result(table));
        if !checks::told(&checks, log) {
            status = Status::CheckFailed;
        }
        summary.insert("checks".into(), checks.iter().map(CheckResult::to_json).collect());
        summary.insert("status".into(), json!(status.word()));
        // The closing line says it otherwise.
        if !completed {
            log.result(&format!("results in {}", outline.directory.display()));
        }
        last.iter().for_each(|message| log.warn(message));
        Report { status, summary: Value::Object(summary), failure, checks }
    }
}
