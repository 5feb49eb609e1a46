//! A run of any model, as the program and its studies use it: with a report beside published values.

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::file::problem::InputError;
use crate::kind::Kind;
use crate::pipeline::Document;
use crate::plan::comparison::Comparison;
use crate::plan::{Choices, Outline};
use crate::report::{self, Frame};
use crate::run::log::Log;
use crate::run::{Report, Run};
use dgsuite_output::writer::{WriterError, atomic};
use dgsuite_solve::flow::KernelChoice;

/// A run that is ready to start.
pub struct Job {
    run: Box<dyn Run>,
    /// The command and the tables of published values, if there are some.
    frame: Option<Frame>,
}

impl Job {
    /// Makes the plan and the solver.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        choices.preparing.store(true, Ordering::SeqCst);
        let run = Kind::of(document).run(document, choices)?;
        // The report of a study has all of its cases.
        let specs = match choices.case_of_study {
            true => Vec::new(),
            false => document.sections()?.references().to_vec(),
        };
        let Outline { title, known_values, resolved, .. } = run.outline();
        let comparisons = Comparison::all(&specs, &document.base, known_values, resolved)?;
        let frame = (!comparisons.is_empty()).then(|| Frame {
            title: title.clone(),
            setup: String::new(),
            command: choices.command.clone(),
            comparisons,
        });
        choices.preparing.store(false, Ordering::SeqCst);
        Ok(Self { run, frame })
    }

    /// Returns the directory of the results.
    pub fn directory(&self) -> &Path {
        &self.run.outline().directory
    }

    /// Describes the plan in words.
    pub fn describe(&mut self) -> String {
        self.run.describe()
    }

    /// As [`describe`](Self::describe), with the kernels that a GPU runs or would run, if the model marches
    /// in time.
    pub fn describe_with_kernels(&mut self) -> (String, Vec<KernelChoice>) {
        let mut text = self.describe();
        let kernels = self.run.forecast(&mut text);
        (text, kernels)
    }

    /// Runs, writes results and the summary, and a report if there are published values to compare with.
    ///
    /// # Errors
    /// Only if the summary or the report cannot be written; every other failure is in the report.
    pub fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        let setup = if self.frame.is_some() { self.describe() } else { String::new() };
        let report = self.run.execute(log)?;
        let writes = self.run.writes();
        if let Some(frame) = self.frame.as_mut().filter(|_| writes) {
            frame.setup = setup;
            let Outline { directory, resolved, .. } = self.run.outline();
            let case = report::Case { name: "", resolved, summary: &report.summary };
            atomic::write(&report::path(directory), report::markdown(frame, &[case], &report).as_bytes())?;
        }
        Ok(report)
    }

    /// What the plan has in common with those of other models.
    pub fn outline(&self) -> &Outline {
        self.run.outline()
    }
}
