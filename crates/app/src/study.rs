//! Studies: runs one file for a matrix of values and tabulates errors and convergence rates.

mod table;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dgsuite_gpu::comm::{Alone, CommError, Communicator, one_works};
use dgsuite_ops::{OpsError, agree};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use self::table::{Label, Row, Table};
use crate::code::Code;
use crate::directory::{Directory, Former};
use crate::file::expression::Constants;
use crate::file::node::Node;
use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::job::Job;
use crate::kind::Kind;
use crate::machine;
use crate::pipeline::checks::CheckSpec;
use crate::pipeline::overrides::Override;
use crate::pipeline::study::StudySpec;
use crate::pipeline::{Document, Sections};
use crate::plan::Choices;
use crate::plan::comparison::{Comparison, words};
use crate::plan::print;
use crate::report::{self, Frame};
use crate::run::checks::{self, CheckResult};
use crate::run::log::Log;
use crate::run::{Report, Status, summary};
use dgsuite_output::writer::{WriterError, atomic};
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::KernelChoice;

/// Axes that change the number of elements alone.
const REFINING: [&str; 3] = ["refine", "mesh.refine", "mesh.generate.cells"];

/// What rank 0 has found for the other ranks of a study.
#[derive(Default, Deserialize, Serialize)]
struct Told {
    directory: String,
    device: String,
    cases: Vec<ToldCase>,
}

#[derive(Clone, Default, Deserialize, Serialize)]
struct ToldCase {
    output: String,
    order: usize,
    elements: usize,
}

/// A study that is checked and ready to run.
pub struct Study {
    title: String,
    spec: StudySpec,
    checks: Vec<CheckSpec>,
    constants: Constants,
    directory: PathBuf,
    former: Former,
    resolved: Node,
    command: String,
    comparisons: Vec<Comparison>,
    cases: Vec<Case>,
    device: String,
    comm: Arc<dyn Communicator>,
}

struct Case {
    document: Document,
    choices: Choices,
    label: Vec<Label>,
    order: usize,
    elements: usize,
    /// The file with defaults; empty without published values.
    resolved: Option<Node>,
}

/// Elements times squared nodes along an edge from which a solver takes a second or more to set up.
const LARGE: usize = 20_000;

/// The values of a case, in words.
fn words_of<'a>(label: impl IntoIterator<Item = &'a Label>) -> String {
    label.into_iter().map(Label::to_string).collect::<Vec<_>>().join(", ")
}

impl Study {
    /// Checks every case of a study: reads meshes and makes plans, so that no case is rejected after others
    /// have run. Of several ranks, rank 0 does this for all.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn new(
        document: &Document,
        sections: &Sections,
        spec: &StudySpec,
        choices: &Choices,
    ) -> Result<Self, InputError> {
        let planned = |told: Option<&Told>| Self::planned(document, sections, spec, choices, told);
        let Some(comm) = &choices.comm else { return planned(None) };
        let lost = |error: CommError| InputError::from(OpsError::from(error));
        let study = one_works(comm.as_ref(), ROOT, || planned(None)).map_err(lost)?;
        let study = agree(comm.as_ref(), study.transpose())?;
        let told = study.as_ref().map(Self::told).unwrap_or_default();
        let mut told = serde_json::to_vec(&told).unwrap_or_default();
        comm.broadcast(ROOT, &mut told).map_err(lost)?;
        let told = serde_json::from_slice(&told).unwrap_or_default();
        agree(comm.as_ref(), study.map_or_else(|| planned(Some(&told)), Ok))
    }

    /// What rank 0 tells the others.
    fn told(&self) -> Told {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let case = |case: &Case| ToldCase {
            output: case.choices.output.as_deref().map(text).unwrap_or_default(),
            order: case.order,
            elements: case.elements,
        };
        let cases = self.cases.iter().map(case).collect();
        Told { directory: text(&self.directory), device: self.device.clone(), cases }
    }

    fn planned(
        document: &Document,
        sections: &Sections,
        spec: &StudySpec,
        choices: &Choices,
        told: Option<&Told>,
    ) -> Result<Self, InputError> {
        if let Some(key) = choices.restart_option() {
            let problem = Problem::Misplaced { key, owner: "a study".into(), belongs: "a single run".into() };
            return Err(InputError::nowhere(problem));
        }
        choices.preparing.store(true, Ordering::SeqCst);
        let mut cases = Vec::new();
        let mut first = told.map(|told| (told.device.clone(), PathBuf::from(&told.directory)));
        let mut comparisons = Vec::new();
        let references = sections.references();
        for overrides in spec.cases()? {
            let case = document.case(&overrides)?;
            let label = label(spec, &overrides, sections.constants());
            let choices = Choices { case_of_study: true, continued: spec.continued, ..choices.clone() };
            if let Some(told) = told {
                let ToldCase { output, order, elements } =
                    told.cases.get(cases.len()).cloned().unwrap_or_default();
                let choices = Choices { output: Some(output.into()), ..choices };
                // Its contents are for the report, which rank 0 writes.
                let resolved = (!references.is_empty()).then(|| case.root.clone());
                cases.push(Case { document: case, choices, label, order, elements, resolved });
                continue;
            }
            let plan = Kind::of(&case).plan(&case, &choices)?;
            for check in sections.checks() {
                plan.known_values.admit(check)?;
                check.limit(&plan.constants)?;
            }
            for (value, _) in &spec.values {
                plan.known_values.admit_path(value)?;
            }
            if first.is_none() {
                comparisons =
                    Comparison::all(references, &document.base, &plan.known_values, &plan.resolved)?;
            }
            let resolved = (!references.is_empty()).then(|| plan.resolved.clone());
            let name: Vec<String> = label.iter().map(|l| file_name(&l.name, &l.text)).collect();
            let output = Some(plan.directory.join(name.join("_")));
            let (order, elements) = (plan.order, plan.mesh.n_elements());
            let choices = Choices { output, ..choices };
            cases.push(Case { document: case, choices, label, order, elements, resolved });
            first.get_or_insert((plan.device.to_string(), plan.directory));
        }
        choices.preparing.store(false, Ordering::SeqCst);
        let (device, directory) = first.unwrap_or_default();
        Ok(Self {
            title: sections.title().to_owned(),
            spec: spec.clone(),
            checks: sections.checks().to_vec(),
            constants: sections.constants().clone(),
            directory,
            former: choices.former(),
            resolved: document.root.clone(),
            command: choices.command.clone(),
            comparisons,
            cases,
            device,
            comm: choices.comm.clone().unwrap_or_else(|| Arc::new(Alone)),
        })
    }

    /// The number of cases.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there are no cases.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Lists the cases and the directory of the results, in words.
    pub fn describe(&self) -> String {
        let axes: Vec<String> =
            self.spec.axes.iter().map(|a| format!("{} ({} values)", a.name, a.values.len())).collect();
        format!(
            "study of {} cases: {}; results in {}",
            self.len(),
            axes.join(" x "),
            self.directory.display()
        )
    }

    /// [`Self::describe`], with a line for each case and the kernels that a GPU runs or would run.
    ///
    /// # Errors
    /// Mistakes in the input that only the solver of a case finds.
    pub fn describe_cases(&self) -> Result<(String, Vec<KernelChoice>), InputError> {
        let (mut text, mut all) = (self.describe(), Vec::new());
        let mut known: HashMap<String, Vec<KernelChoice>> = HashMap::new();
        for case in &self.cases {
            let _ = write!(
                text,
                "\n{}: {} elements of order {}",
                words_of(&case.label),
                grouped(case.elements),
                case.order
            );
            // A finer mesh has the same kernels.
            let of = words_of(case.label.iter().filter(|l| !REFINING.contains(&l.name.as_str())));
            // On a CPU the kernels of a GPU are not worth the set-up of a large solver.
            let large = case.elements * (case.order + 1).pow(2) > LARGE;
            if large && !self.device.starts_with("cuda") && !known.contains_key(&of) {
                continue;
            }
            if !known.contains_key(&of) {
                let choices = Choices { continued: false, ..case.choices.clone() };
                known.insert(of.clone(), Kind::of(&case.document).forecast(&case.document, &choices)?);
            }
            let kernels = &known[&of];
            if !kernels.is_empty() {
                let names: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                let _ = write!(text, "; on a GPU {}", names.join("; "));
            }
            all.extend(kernels.iter().filter(|kernel| !all.contains(*kernel)).cloned().collect::<Vec<_>>());
        }
        for line in print::advice(&all) {
            let _ = write!(text, "\n{line}");
        }
        Ok((text, all))
    }

    /// Runs all cases and writes the table.
    ///
    /// # Errors
    /// [`StudyError`] if a result cannot be written, or for a mistake that only the solver of a case finds.
    /// The first case is set up before anything is written; after a later one the results so far stay.
    pub fn execute(&self, log: &mut Log) -> Result<Report, StudyError> {
        let date = machine::now();
        let mut first = self.cases.first().map(|case| Job::new(&case.document, &case.choices)).transpose()?;
        // Only rank 0 writes results.
        let writes = self.comm.rank() == ROOT;
        let directory = match writes {
            true => Directory::prepare(&self.directory, self.former)?,
            false => Directory::temporary()?,
        };
        log.open(&directory.log(), false)?;
        directory.warning().iter().for_each(|warning| log.warn(warning));
        directory.write_summary(&summary::running(&self.title, &date))?;
        directory.write_pipeline(&self.resolved)?;
        log.note(&self.describe());
        let mut table = Table::new(&self.spec);
        let (mut failure, mut code, mut refused) = (None, None, None);
        let mut before: Option<&Case> = None;
        let mut setup = None;
        for case in &self.cases {
            let words = words_of(&case.label);
            // Also a barrier: a case that continues another one reads its checkpoint.
            let mut stop = [f64::from(u8::from(case.choices.stop.load(Ordering::Relaxed)))];
            self.comm.max(&mut stop)?;
            if stop != [0.0] {
                failure = Some((Status::Stopped, format!("{words}: not started")));
                break;
            }
            log.note(&words);
            let mut choices = case.choices.clone();
            if let Some(before) = before.filter(|_| self.spec.continued) {
                choices.restart.clone_from(&before.choices.output);
            }
            before = Some(case);
            let job = first.take().map_or_else(|| Job::new(&case.document, &choices), Ok);
            let mut job = match job {
                Ok(job) => job,
                Err(error) => {
                    (failure, code, refused) = refusal(&words, error.into());
                    break;
                }
            };
            if case.resolved.is_some() && setup.is_none() {
                setup = Some(job.describe());
            }
            // A case writes to its own log only; the study prints failures and the table.
            let mut own = log.for_a_part();
            let report = match job.execute(&mut own) {
                Ok(report) => report,
                Err(error) => {
                    (failure, code, refused) = refusal(&words, error.into());
                    break;
                }
            };
            let reason = match (report.status, &report.failure) {
                (Status::Stopped, _) => Some("stopped before its end".to_owned()),
                (_, reason) => reason.clone(),
            };
            // Rank 0 knows all results of a case, and decides whether the study goes on.
            let mut ends = vec![u8::from(reason.is_some())];
            self.comm.broadcast(ROOT, &mut ends)?;
            if ends != [0] {
                let reason = reason.unwrap_or_default();
                failure = Some((report.status, format!("{words}: {reason}")));
                code = report.summary.pointer("/failure/code").and_then(Value::as_str).map(str::to_owned);
                break;
            }
            let plan = job.outline();
            table.push(Row::new(case.label.clone(), case.order, (&plan.mesh, plan.refine), &report.summary));
            // The summary so far stays if the study is killed.
            let mut so_far = self.facts(&table);
            so_far.insert("date".into(), json!(date));
            so_far.insert("status".into(), json!("running"));
            directory.write_summary(&Value::Object(so_far))?;
        }
        let text = table.to_string();
        log.result(&text);
        let told = refused.is_some();
        let mut report = self.conclude(&table, (failure, told), code.as_deref(), log);
        report.summary["date"] = json!(date);
        table.chart().write(&directory.convergence())?;
        directory.write_summary(&report.summary)?;
        if let Some(setup) = setup.filter(|_| writes) {
            self.write_report(&table, setup, &report)?;
        }
        refused.map_or(Ok(report), Err)
    }

    /// Writes the report beside published values.
    fn write_report(&self, table: &Table, setup: String, report: &Report) -> Result<(), WriterError> {
        let (command, comparisons) = (self.command.clone(), self.comparisons.clone());
        let frame = Frame { title: self.title.clone(), setup, command, comparisons };
        // The rates of a case are in the table alone.
        let with_rates = |row: &Row| {
            let mut summary = row.summary.clone();
            if let Value::Object(summary) = &mut summary {
                summary.insert("rate".into(), row.rate.clone());
            }
            (words_of(&row.label), summary)
        };
        let rows: Vec<(String, Value)> = table.rows().iter().map(with_rates).collect();
        let cases = self.cases.iter().zip(&rows).filter_map(|(case, (name, summary))| {
            Some(report::Case { name, resolved: case.resolved.as_ref()?, summary })
        });
        let text = report::markdown(&frame, &cases.collect::<Vec<_>>(), report);
        atomic::write(&report::path(&self.directory), text.as_bytes())
    }

    fn facts(&self, table: &Table) -> Map<String, Value> {
        let mut summary = Map::new();
        summary.insert("title".into(), json!(self.title));
        summary.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        summary.insert("machine".into(), machine::names());
        summary.insert("device".into(), json!(self.device));
        summary.insert("table".into(), table.to_json());
        summary
    }

    /// The report; `told` says that the caller tells the failure.
    fn conclude(
        &self,
        table: &Table,
        (failure, told): (Option<(Status, String)>, bool),
        code: Option<&str>,
        log: &mut Log,
    ) -> Report {
        let mut status = failure.as_ref().map_or(Status::Ok, |(status, _)| *status);
        let mut summary = self.facts(table);
        let checks = if status == Status::Ok { self.measure(table, &summary) } else { Vec::new() };
        if !checks::told(&checks, log) {
            status = Status::CheckFailed;
        }
        summary.insert("checks".into(), checks.iter().map(CheckResult::to_json).collect());
        summary.insert("status".into(), json!(status.word()));
        if let Some((_, reason)) = &failure {
            let code = code.and_then(|word| Code::of_word(word).ok());
            let kind = match code {
                _ if status == Status::Stopped => String::new(),
                Some(code) => format!("error[{code}]: "),
                None => "error: ".to_owned(),
            };
            if !told {
                log.warn(&format!("{kind}{reason}"));
                code.iter().for_each(|code| log.warn(&Code::more_about(&[*code])));
            }
            summary.insert("failure".into(), json!({ "code": code.map(Code::word), "message": reason }));
        }
        log.result(&format!("results in {}", self.directory.display()));
        Report { status, summary: Value::Object(summary), failure: failure.map(|(_, reason)| reason), checks }
    }

    /// Checks of `table.…` are evaluated once; checks of `rate.…` for each family, on the slope over its last
    /// three cases; all others on the last, finest case of each family.
    fn measure(&self, table: &Table, summary: &Map<String, Value>) -> Vec<CheckResult> {
        let mut results = Vec::new();
        let whole = Value::Object(summary.clone());
        for check in &self.checks {
            let path = &check.value.value;
            if path.starts_with("table.") {
                results.extend(checks::measure(check, &whole, &self.constants, path.clone()));
                continue;
            }
            for family in table.families() {
                let Some(row) = family.last() else { continue };
                let constants = self.constants.and("order", row.order as f64);
                let value =
                    if path.starts_with("rate.") { table.slopes(&family) } else { row.summary.clone() };
                let name = match table.family_label(row) {
                    label if label.is_empty() => path.clone(),
                    label => format!("{path} ({label})"),
                };
                results.extend(checks::measure(check, &value, &constants, name));
            }
        }
        results
    }
}

/// The end of a study by a case that cannot be run: for the summary with the code, and for the caller.
fn refusal(words: &str, error: CaseError) -> (Option<(Status, String)>, Option<String>, Option<StudyError>) {
    let (message, code) = match &error {
        CaseError::Input(error) => (error.problem.to_string(), error.problem.code()),
        CaseError::Writer(error) => (error.to_string(), error.into()),
    };
    let failure = (Status::Failed, format!("{words}: {message}"));
    let refused = StudyError::Case { case: words.to_owned(), error: Box::new(error) };
    (Some(failure), Some(code.word().to_owned()), Some(refused))
}

/// Why a study could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The solver of the first case rejects the input; nothing has been written then.
    #[error("{0}")]
    Input(#[from] InputError),
    /// A case cannot be run, or its results cannot be written, after the study has begun. Exit code 1.
    #[error("{error}\nin the case {case} of the study")]
    Case {
        /// The values of the case, in words.
        case: String,
        /// The reason: an [`InputError`] or a [`WriterError`].
        error: Box<CaseError>,
    },
    /// A result cannot be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
    /// Other ranks cannot be reached.
    #[error("{0}")]
    Ranks(#[from] CommError),
}

impl StudyError {
    /// The mistake in the input, of which all ranks know.
    pub fn input(&self) -> Option<&InputError> {
        match self {
            Self::Input(error) => Some(error),
            Self::Case { error, .. } => match error.as_ref() {
                CaseError::Input(error) => Some(error),
                CaseError::Writer(_) => None,
            },
            Self::Writer(_) | Self::Ranks(_) => None,
        }
    }
}

/// Why a case of a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Its solver rejects the input, or the input has changed since it was checked.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A result cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
}

/// Returns the value of each axis in a case.
fn label(spec: &StudySpec, overrides: &[Override], constants: &Constants) -> Vec<Label> {
    let labels = spec.axes.iter().zip(overrides).map(|(axis, item)| Label {
        name: axis.name.clone(),
        text: words(&item.node.value),
        number: constants.number(&item.node, &axis.path).ok().map(|x| x.value),
    });
    labels.collect()
}

/// A part of a directory's name: letters, digits, `.`, `+` and `-` only.
fn file_name(name: &str, value: &str) -> String {
    let plain = |text: &str| -> String {
        let kept = text.chars().map(|c| if c.is_alphanumeric() || ".+-".contains(c) { c } else { '-' });
        kept.collect::<String>().trim_matches('-').to_owned()
    };
    format!("{}-{}", plain(name), plain(value))
}
