//! What can be wrong with a checkpoint.

use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint that cannot be used, and why not.
#[derive(Debug, thiserror::Error)]
#[error("{} {problem}", path.display())]
pub struct CheckpointError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: CheckpointProblem,
}

/// What is wrong with a checkpoint; the text goes on after the file's name.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// The directory has none.
    #[error("holds no checkpoint")]
    NoneThere,
    /// The file is something else.
    #[error("is not a checkpoint of dgsuite")]
    NotACheckpoint,
    /// The file is shorter than it says, or a checksum is wrong.
    #[error("is damaged: {0}")]
    Damaged(Damage),
    /// A later version of the program wrote it.
    #[error("was written by a newer version of dgsuite: {what}")]
    Newer {
        /// What this version does not know.
        what: String,
    },
    /// A number that no run can have, although the checksums are right.
    #[error("has {what} {found}, which is not {expected}")]
    OutOfRange {
        /// What the number is.
        what: &'static str,
        /// The number.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// The run would replace it.
    #[error(
        "is in {}, where this run would move the results that are in its place now: write to another directory with \
         --output, or delete the present results with --overwrite", previous.display()
    )]
    AboutToGo {
        /// Where former results go.
        previous: PathBuf,
    },
    /// It belongs to another run.
    #[error("has {what} {found}, but this run has {wanted}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// What the file has.
        found: String,
        /// What the run has.
        wanted: String,
    },
}

/// What shows that a checkpoint is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Less is there than is announced.
    #[error("it has {found} bytes where {wanted} are announced")]
    Length {
        /// Bytes found.
        found: u64,
        /// Bytes announced.
        wanted: u64,
    },
    /// The file ends within or between its sections, or goes on after them.
    #[error("it does not end where its sections do")]
    End,
    /// The checksum of a file of the first format.
    #[error("its checksum is wrong")]
    Checksum,
    /// The checksum of a section.
    #[error("the checksum of its section `{0}` is wrong")]
    Section(String),
    /// The description of a section.
    #[error("the header of its section `{0}` cannot be read")]
    Header(String),
    /// A section that every checkpoint has.
    #[error("its section `{0}` is missing")]
    Missing(&'static str),
    /// A section that is there more than once.
    #[error("its section `{0}` is there twice")]
    Twice(String),
}

impl CheckpointProblem {
    /// The error for a file or directory.
    pub(super) fn of(self, path: &Path) -> CheckpointError {
        CheckpointError { path: path.to_owned(), problem: self }
    }
}

impl From<Damage> for CheckpointProblem {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}
