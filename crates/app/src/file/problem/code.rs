//! The code of each mistake of a pipeline file.

use super::{InputError, Problem};
use crate::code::Code;

impl Problem {
    /// The kind of the mistake; its word stands in the brackets of `error[…]`.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Unreadable { .. } => Code::UnreadableFile,
            Self::Syntax { .. } | Self::OtherFile { .. } => Code::NotYaml,
            Self::UnknownKey { .. } => Code::UnknownKey,
            Self::MissingKey { .. } => Code::MissingKey,
            Self::WrongType { .. } => Code::WrongType,
            Self::UnknownValue { .. } => Code::UnknownValue,
            Self::OutOfRange { .. } => Code::OutOfRange,
            Self::Conflict { .. } => Code::Conflict,
            Self::Misplaced { .. } => Code::MisplacedKey,
            Self::NoUnit { .. } => Code::NoUnit,
            Self::Formula { .. } => Code::Formula,
            Self::Constant { .. } => Code::ConstantName,
            Self::Exact { .. } => Code::ExactSolution,
            Self::Inadmissible { .. } => Code::InadmissibleState,
            Self::Unsupported { .. } => Code::Unsupported,
            Self::Device { .. } => Code::Device,
            Self::MixedRanks { .. } => Code::Ranks,
            Self::Mesh { .. } | Self::SharedFaces { .. } | Self::Generate { .. } | Self::Prepare { .. } => {
                Code::Mesh
            }
            Self::UnknownBoundary { .. } => Code::UnknownBoundary,
            Self::MissingBoundary { .. } => Code::MissingBoundary,
            Self::UnknownRegion { .. } | Self::MissingRegion { .. } => Code::Region,
            Self::Periodic { .. } | Self::PeriodicBoundary { .. } => Code::Periodic,
            Self::PointOutside { .. } | Self::LineOutside { .. } | Self::SampleOutside { .. } => {
                Code::OutsideMesh
            }
            Self::Memory { .. } => Code::Memory,
            Self::Overwrites { .. } | Self::Unwritable { .. } => Code::Results,
            Self::Twice { .. } => Code::NameTwice,
            Self::Control { .. } => Code::ControlCharacter,
            Self::Times { .. } => Code::OutputTimes,
            Self::Restart { .. } => Code::Checkpoint,
            Self::Elliptic { error } => error.into(),
            Self::Setup { error } | Self::Unsolved { error, .. } => error.into(),
            Self::Override { .. } | Self::Path { .. } => Code::Override,
        }
    }
}

impl InputError {
    /// The codes of the mistakes, in the order in which they are shown.
    #[must_use]
    pub fn codes(&self) -> Vec<Code> {
        std::iter::once(self).chain(&self.more).map(|error| error.problem.code()).collect()
    }
}
