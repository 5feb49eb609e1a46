//! Why no picture was drawn.

use std::path::PathBuf;

use crate::writer::WriterError;

/// Why no picture was drawn.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The folder has no fields.
    #[error("{} has no fields to draw: {}", path.display(), if !path.exists() {
        "there is no such folder or file; give the folder of results of a run, such as out/vortex".to_owned()
    } else if inside.is_empty() {
        "it needs fields.pvd or fields.vtkhdf, which `dgsuite run` writes (see `output.fields`)".to_owned()
    } else {
        format!("choose a run inside of it: {}", inside.join(", "))
    })]
    NoRun {
        /// The folder or file that was given.
        path: PathBuf,
        /// Folders of runs inside of it.
        inside: Vec<String>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file of fields is damaged or of another program.
    #[error("{} cannot be drawn: {what}; run the pipeline again to write it anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// There is no such time.
    #[error("{} has no fields at {wanted}; it has {have}", path.display())]
    Time {
        /// The series.
        path: PathBuf,
        /// The time that was asked for.
        wanted: String,
        /// The times that exist, in words.
        have: String,
    },
    /// There is no such field.
    #[error("there is no field `{name}`{}; there is: {}; others can be written with `output.fields.names`",
        hint.as_ref().map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default(), known.join(", "))]
    Field {
        /// The name that was asked for.
        name: String,
        /// The nearest name.
        hint: Option<String>,
        /// The names that exist.
        known: Vec<String>,
    },
    /// There is nothing in the picture.
    #[error("there is nothing to draw: {what}")]
    Empty {
        /// Why.
        what: String,
    },
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
    /// The picture cannot be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
}
