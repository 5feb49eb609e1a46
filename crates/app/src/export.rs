//! Stored states of runs as files for other programs: another set of fields, another order, boundaries, cuts,
//! lines.
//!
//! [`Stored`] is the state of a checkpoint with the space of its run, made from the file that the run has
//! written beside its results. It is sampled by the same functions as in the run, so that a field has the
//! same bits as if the run had written it (on a GPU: but for rounding).

mod error;
mod fields;
mod line;
mod slice;
pub(crate) mod solution;

use std::path::{Path, PathBuf};

pub use self::error::ExportError;
pub use self::fields::Fields;
pub use self::line::Line;
use self::solution::Solution;
use crate::checkpoint::{self, CheckpointProblem};
use crate::kind::Kind;
use crate::pipeline::overrides::Override;
use crate::pipeline::source::Located;
use crate::pipeline::{Document, Sections};
use crate::plan::Choices;
use crate::plan::monitors::named_boundaries;
use crate::run::fields::lattice_order;
use crate::run::surfaces;
use crate::systems::hyperbolic::Hyperbolic;
use crate::writer::{CellBlock, Precision, UnstructuredFields, VtuOptions};
use dgsuite_mesh::Mesh;
use dgsuite_ops::Sample;

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
        let of_study = match document.sections()? {
            Sections::Flow(file) => file.study.is_some(),
            Sections::Elliptic(file) => file.study.is_some(),
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
        let (saved, solution) = Kind::of(&document).stored(&document, &choices, &file)?;
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
    pub(crate) fn solver(&self) -> Option<&Hyperbolic> {
        self.solution.hyperbolic()
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

    /// Returns the solution on lattices that determine its polynomials, with gradients if the fields need
    /// them.
    fn polynomials(&self, fields: &Fields) -> Vec<Sample> {
        self.sampled(fields, self.order())
    }

    /// Returns the solution on lattices of order `order`, with gradients if the fields need them.
    fn sampled(&self, fields: &Fields, order: usize) -> Vec<Sample> {
        self.solution.sample(order, fields.need_gradients())
    }

    /// Computes fields from samples, on cells of order `order`.
    fn computed(&self, samples: Vec<Sample>, fields: &Fields, order: usize) -> Vec<CellBlock> {
        self.solution.compute(samples, order, fields)
    }

    /// Returns fields on cells of order `order`, from 1 to
    /// [`MAX_LAGRANGE_ORDER`](crate::writer::MAX_LAGRANGE_ORDER).
    #[must_use]
    pub fn volume(&self, fields: &Fields, order: usize) -> UnstructuredFields {
        let samples = self.sampled(fields, order);
        UnstructuredFields { time: self.time, pieces: self.computed(samples, fields, order) }
    }

    /// Returns fields on the faces of boundaries, from the elements at them, on cells of order `order`.
    ///
    /// # Errors
    /// A boundary that the mesh does not have.
    pub fn surface(
        &self,
        boundaries: &[Located<String>],
        fields: &Fields,
        order: usize,
    ) -> Result<UnstructuredFields, ExportError> {
        let names = named_boundaries(boundaries, &self.mesh().boundary_names())?;
        Ok(surfaces::restrict(&self.volume(fields, order), self.mesh(), &names))
    }
}

/// The checkpoints of a run up to its newest one, by their number of steps. Those of more steps, which a run
/// leaves that is continued from a former state, are not part of it.
///
/// # Errors
/// A folder without checkpoints.
pub fn states(run: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let nothing = || ExportError::NoState { path: run.to_owned() };
    let newest = checkpoint::find(run).map_err(|_| nothing())?;
    let mut files = checkpoint::present(&run.join("checkpoints"), u64::MAX)?;
    let last = files.iter().position(|file| file.file_name() == newest.file_name()).ok_or_else(nothing)?;
    files.truncate(last + 1);
    Ok(files)
}

/// The names of folders inside of one that hold runs, as those of a study.
fn runs_inside(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| entry.path().join("pipeline.yaml").is_file());
    let mut names: Vec<String> = runs.map(|entry| entry.path().display().to_string()).collect();
    names.sort();
    names
}
