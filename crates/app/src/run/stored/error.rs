//! Why a state was not exported.

use std::path::PathBuf;

use crate::file::problem::InputError;
use dgsuite_output::checkpoint::CheckpointError;
use dgsuite_output::writer::WriterError;

/// Why a state was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder has no run.
    #[error("{} has no run to export: {}", path.display(), if !path.exists() {
        "there is no such folder; give the folder of results of a run, such as out/vortex".to_owned()
    } else if inside.is_empty() {
        "it needs pipeline.yaml and a checkpoint, which `dgsuite run` writes".to_owned()
    } else {
        format!("choose a run inside of it: {}", inside.join(", "))
    })]
    NoRun {
        /// The folder that was given.
        path: PathBuf,
        /// Folders of runs inside of it.
        inside: Vec<String>,
    },
    /// The folder has the results of a study.
    #[error("{} has the results of a study: choose a case of it: {}", path.display(), inside.join(", "))]
    Study {
        /// The folder.
        path: PathBuf,
        /// Folders of its cases.
        inside: Vec<String>,
    },
    /// The run has no checkpoint.
    #[error(
        "{0} holds no checkpoint, and so no state to export\nhint: a run writes one at its end, unless `output.checkpoint` is \
         `none` or the run is a case of a study; `dgsuite run {0}/pipeline.yaml --output DIR` runs it again, --from FILE \
         names another checkpoint",
        path.display()
    )]
    NoState {
        /// The folder.
        path: PathBuf,
    },
    /// The checkpoint cannot be used.
    #[error("cannot export: {0}")]
    Checkpoint(CheckpointError),
    /// A stored solution of an elliptic problem of another order.
    #[error("{} does not hold a solution of order {order} on the mesh of this run", path.display())]
    Order {
        /// The checkpoint.
        path: PathBuf,
        /// The order of the run.
        order: usize,
    },
    /// A field that checkpoints do not store.
    #[error(
        "the field `{name}` describes the last step, which a checkpoint does not store\nhint: a run writes it with \
         `output.fields: {{ names: [{name}] }}`"
    )]
    NotStored {
        /// The field.
        name: String,
    },
    /// A mistake in the file of the run, or on the command line.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An option has no meaning.
    #[error("{option} cannot be `{found}`: {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// The value.
        found: String,
        /// What it can be.
        expected: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
}
