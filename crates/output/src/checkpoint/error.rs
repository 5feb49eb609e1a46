//! Errors of checkpoints: damaged, newer, or belonging to another run.

use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint that cannot be used, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{} {problem}", path.display())]
pub struct CheckpointError {
    /// The file or directory.
    pub path: PathBuf,
    /// The reason.
    pub problem: CheckpointProblem,
}

/// Why a checkpoint cannot be used; the message follows the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// The directory contains no checkpoint.
    #[error("holds no checkpoint")]
    NoneThere,
    /// The file is not a checkpoint.
    #[error("is not a checkpoint of dgsuite")]
    NotACheckpoint,
    /// The file is shorter than its header says, or a checksum is wrong.
    #[error("is damaged: {0}")]
    Damaged(Damage),
    /// A later version of the program wrote the file.
    #[error("was written by a newer version of dgsuite: {what}")]
    Newer {
        /// The part that this version cannot read.
        what: String,
    },
    /// A number that no run can have, although the checksums match.
    #[error("has {what} {found}, which is not {expected}")]
    OutOfRange {
        /// Name of the number.
        what: &'static str,
        /// The number.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// The run would replace the file.
    #[error(
        "is in {}, where this run would move the results of the output directory: write to another \
         directory with --output, or delete these results with --overwrite", previous.display()
    )]
    AboutToGo {
        /// The directory of the former results.
        previous: PathBuf,
    },
    /// The file is to be projected, but the run that wrote it is not there.
    #[error(
        "was written on another mesh, which pipeline.yaml beside its folder describes: {} does not exist",
        pipeline.display()
    )]
    MeshUnknown {
        /// The file of the run.
        pipeline: PathBuf,
    },
    /// The file is to be projected onto a mesh that reaches beyond its own.
    #[error(
        "has no value at ({}, {}, {}): the nearest element of its mesh, {extent:.3e} long, is {distance:.3e} away, and at \
         most {limit} of its length is allowed", point[0], point[1], point[2]
    )]
    Outside {
        /// The point.
        point: [f64; 3],
        /// The distance of the nearest element; infinite if all are far away.
        distance: f64,
        /// The length of this element.
        extent: f64,
        /// The largest allowed distance, as a share of this length.
        limit: f64,
    },
    /// The file belongs to another run.
    #[error("has {what} {found}, but this run has {wanted}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// The value in the file.
        found: String,
        /// The value of the run.
        wanted: String,
    },
}

/// The evidence that a checkpoint is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// There are fewer bytes than the header announces.
    #[error("it has {found} bytes where {wanted} are announced")]
    Length {
        /// Bytes found.
        found: u64,
        /// Bytes announced.
        wanted: u64,
    },
    /// The file ends within or between its sections, or continues after the last one.
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
    /// A section that every checkpoint must have.
    #[error("its section `{0}` is missing")]
    Missing(&'static str),
    /// A section that occurs twice.
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
