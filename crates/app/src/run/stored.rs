//! The state in a checkpoint with the space of its run: where another run begins, and what is exported.
//!
//! It is made from the file that the run has written beside its results, and sampled by the same functions as
//! in the run.

mod error;
mod fields;
mod solution;

use std::path::{Path, PathBuf};

pub use self::error::ExportError;
pub use self::fields::Fields;
use self::solution::{Opened, Solution};
use crate::outputs::named::FieldSpec;
use crate::outputs::sampled::lattice_order;
use crate::pipeline::overrides::Override;
use crate::pipeline::{Document, Sections};
use crate::plan::Choices;
use dgsuite_mesh::Mesh;
use dgsuite_ops::Sample;
use dgsuite_output::checkpoint::{self, CheckpointProblem};
use dgsuite_output::writer::{CellBlock, Precision, VtuOptions};
use dgsuite_solve::flow::Flow;

/// Opens the state in a checkpoint of a run.
type Open = fn(&Document, &Choices, &Path) -> Result<Opened, ExportError>;

/// A stored state of a run, with its space.
pub struct Stored {
    /// The checkpoint.
    pub file: PathBuf,
    /// The time of the state.
    pub time: f64,
    /// The number of steps done.
    pub step: u64,
    solution: Box<dyn Solution>,
}

impl Stored {
    /// Opens a state of the run whose results are in the folder `run`: that of the checkpoint `from`, or the
    /// newest one. Nothing on the disk changes, and the run may still go.
    ///
    /// # Errors
    /// A folder without a run or with a study, no checkpoint, one of another model or mesh, and mistakes in
    /// the file of the run, such as a mesh that has been moved.
    pub fn open(run: &Path, from: Option<&Path>) -> Result<Self, ExportError> {
        let pipeline = run.join("pipeline.yaml");
        if !pipeline.is_file() {
            return Err(ExportError::NoRun { path: run.to_owned(), inside: runs_inside(run) });
        }
        // The state is sampled on the CPU, wherever the run was.
        let cpu = Override::option("--device", "device", "cpu")?;
        let document = Document::read(&pipeline, false, &[cpu])?;
        let (of_study, opened): (bool, Open) = match document.sections()? {
            Sections::Flow(file) => (file.study.is_some(), solution::flow),
            Sections::Elliptic(file) => (file.study.is_some(), solution::elliptic),
        };
        if of_study {
            return Err(ExportError::Study { path: run.to_owned(), inside: runs_inside(run) });
        }
        let file = checkpoint::find(from.unwrap_or(run)).map_err(|error| match error.problem {
            CheckpointProblem::NoneThere => ExportError::NoState { path: error.path },
            _ => ExportError::Checkpoint(error),
        })?;
        // A plan checks that its results can be written; those of this one are not.
        let choices =
            Choices { output: Some(std::env::temp_dir().join("dgsuite-export")), ..Choices::default() };
        let (saved, solution) = opened(&document, &choices, &file)?;
        Ok(Self { file, time: saved.now.t, step: saved.now.step, solution })
    }

    /// Describes the state in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        self.solution.describe(&name, self.time, self.step)
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        self.solution.outline().mesh.seen()
    }

    /// The solver of a model in time, with the state.
    pub(crate) fn solver(&self) -> Option<&Flow> {
        self.solution.flow()
    }

    /// The order of the cells that the run itself writes.
    #[must_use]
    pub fn order(&self) -> usize {
        lattice_order(self.solution.outline().order, self.mesh().max_order())
    }

    /// The options of the writer that the run itself uses.
    #[must_use]
    pub fn options(&self) -> VtuOptions {
        let precision = if self.solution.in_double() { Precision::Double } else { Precision::Single };
        VtuOptions { precision, ..VtuOptions::default() }
    }

    /// Compiles fields; without any, those that the run itself writes.
    ///
    /// # Errors
    /// Unknown names, formulas that do not parse, [`ExportError::NotStored`].
    pub(crate) fn compiled(&self, specs: &[FieldSpec]) -> Result<Fields, ExportError> {
        self.solution.fields(specs)
    }

    /// Returns the solution on lattices that determine its polynomials, with gradients if the fields need
    /// them.
    pub(crate) fn polynomials(&self, fields: &Fields) -> Vec<Sample> {
        self.sampled(fields, self.order())
    }

    /// Returns the solution on lattices of order `order`, with gradients if the fields need them.
    pub(crate) fn sampled(&self, fields: &Fields, order: usize) -> Vec<Sample> {
        self.solution.sample(order, fields.need_gradients())
    }

    /// Computes fields from samples, on cells of order `order`.
    pub(crate) fn computed(&self, samples: Vec<Sample>, fields: &Fields, order: usize) -> Vec<CellBlock> {
        self.solution.compute(samples, order, fields)
    }
}

/// The names of folders inside of one that hold runs, as those of a study.
fn runs_inside(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| entry.path().join("pipeline.yaml").is_file());
    let mut names: Vec<String> = runs.map(|entry| entry.path().display().to_string()).collect();
    names.sort();
    names
}
