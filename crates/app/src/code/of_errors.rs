//! The codes of errors that do not come from the text of a pipeline file.

use dgsuite_amg::SolveError;
use dgsuite_gpu::comm::CommError;
use dgsuite_mesh::MeshError;
use dgsuite_ops::OpsError;
use dgsuite_timeint::TimeError;

use super::Code;
use crate::bench::BenchError;
use crate::bench::scale::ScaleError;
use crate::export::ExportError;
use crate::picture::PictureError;
use crate::pipeline::problem::InputError;
use crate::report::html::HtmlError;
use crate::run::error::RunError;
use crate::study::StudyError;
use crate::systems::SystemError;
use crate::systems::elliptic::EllipticError;
use crate::systems::hyperbolic::DeviceError;
use crate::writer::WriterError;

impl From<&RunError> for Code {
    fn from(error: &RunError) -> Self {
        match error {
            RunError::System(error) => error.into(),
            RunError::Writer(error) => error.into(),
            RunError::Time(error) => error.into(),
            RunError::TooFast { .. } | RunError::TooFastAtBoundary { .. } => Self::StepSize,
            RunError::NotSteady { .. } => Self::NotSteady,
        }
    }
}

impl From<&SystemError> for Code {
    fn from(error: &SystemError) -> Self {
        match error {
            SystemError::NotFinite { .. } => Self::NotFinite,
            SystemError::BoundaryNotForLaw { .. }
            | SystemError::Unavailable { .. }
            | SystemError::NetInflow { .. }
            | SystemError::Source(_)
            | SystemError::Closed { .. } => Self::SetUp,
            SystemError::OtherLaw { .. }
            | SystemError::Coefficients { .. }
            | SystemError::OtherBasis { .. } => Self::Checkpoint,
            SystemError::NoBoundary { .. } => Self::UnknownBoundary,
            SystemError::Solve { cause, .. } => cause.into(),
            SystemError::SubSteps { .. } => Self::StepSize,
            SystemError::Elliptic(error) => error.as_ref().into(),
            SystemError::Mesh(_) => Self::Mesh,
            SystemError::Ops(error) => error.into(),
            SystemError::Machine(_) => Self::Device,
        }
    }
}

impl From<&EllipticError> for Code {
    fn from(error: &EllipticError) -> Self {
        match error {
            EllipticError::Operator(error) => error.into(),
            EllipticError::Matrix(_) | EllipticError::Overflow | EllipticError::Multigrid(_) => {
                Self::LinearSystem
            }
            EllipticError::NearlySingular | EllipticError::Floating { .. } => Self::SetUp,
            EllipticError::Machine(_) => Self::Device,
        }
    }
}

impl From<&OpsError> for Code {
    fn from(error: &OpsError) -> Self {
        match error {
            OpsError::Machine(_) => Self::Device,
            OpsError::Ranks(_)
            | OpsError::Parts { .. }
            | OpsError::Message(_)
            | OpsError::OtherRank { .. }
            | OpsError::NotOnRanks { .. } => Self::Ranks,
            OpsError::Empty | OpsError::Jacobian { .. } => Self::Mesh,
            OpsError::State { .. } => Self::NotFinite,
            OpsError::BoundaryWithoutCondition { .. } => Self::MissingBoundary,
            OpsError::Basis(_)
            | OpsError::ReactionCoefficient { .. }
            | OpsError::Trace(_)
            | OpsError::Dimension { .. }
            | OpsError::FacePoints { .. }
            | OpsError::TurnedPeriodicity { .. }
            | OpsError::BoundaryWithoutDiffusion { .. }
            | OpsError::Equation { .. }
            | OpsError::TwoPointFlux
            | OpsError::NotOnDevices { .. }
            | OpsError::Elliptic { .. }
            | OpsError::Coefficient { .. }
            | OpsError::Scheme { .. } => Self::SetUp,
        }
    }
}

impl From<&TimeError> for Code {
    fn from(error: &TimeError) -> Self {
        match error {
            TimeError::UnknownScheme { .. } => Self::UnknownValue,
            TimeError::NotPositive { .. } | TimeError::BadTime { .. } => Self::OutOfRange,
            TimeError::Endless => Self::MissingKey,
            TimeError::TooManyTimes { .. } => Self::OutputTimes,
            TimeError::StepLimit { .. } | TimeError::StepTooSmall { .. } | TimeError::Rejected { .. } => {
                Self::StepSize
            }
        }
    }
}

impl From<&SolveError> for Code {
    fn from(error: &SolveError) -> Self {
        match error {
            SolveError::NotFinite { .. } => Self::NotFinite,
            SolveError::MaxIterations { .. }
            | SolveError::Stagnated { .. }
            | SolveError::NotPositiveDefinite { .. }
            | SolveError::PreconditionerNotPositive { .. }
            | SolveError::Range { .. }
            | SolveError::Diverged { .. } => Self::LinearSystem,
        }
    }
}

impl From<&WriterError> for Code {
    fn from(_: &WriterError) -> Self {
        Self::Results
    }
}

impl From<&PictureError> for Code {
    fn from(error: &PictureError) -> Self {
        match error {
            PictureError::NoRun { .. } => Self::NoResults,
            PictureError::Read { .. } | PictureError::Damaged { .. } => Self::DamagedResults,
            PictureError::Time { .. } | PictureError::Field { .. } => Self::UnknownField,
            PictureError::Empty { .. } => Self::NothingToDraw,
            PictureError::Option { .. } => Self::BadOption,
            PictureError::Writer(error) => error.into(),
        }
    }
}

impl From<&HtmlError> for Code {
    fn from(error: &HtmlError) -> Self {
        match error {
            HtmlError::NoRun { .. } => Self::NoResults,
            HtmlError::Damaged { .. } => Self::DamagedResults,
        }
    }
}

impl From<&BenchError> for Code {
    fn from(error: &BenchError) -> Self {
        match error {
            BenchError::Word { .. } => Self::BadOption,
            BenchError::Machine(_) => Self::Device,
            BenchError::Operator { error, .. } => error.into(),
            BenchError::System(error) => error.into(),
        }
    }
}

impl From<&ScaleError> for Code {
    fn from(error: &ScaleError) -> Self {
        match error {
            ScaleError::Ranks => Self::BadOption,
            ScaleError::Start { .. } | ScaleError::Run { .. } => Self::Ranks,
        }
    }
}

/// The codes of an export that failed.
fn of_export(error: &ExportError) -> Vec<Code> {
    vec![match error {
        ExportError::NoRun { .. } | ExportError::Study { .. } | ExportError::NoState { .. } => {
            Code::NoResults
        }
        ExportError::Checkpoint(_) | ExportError::Order { .. } => Code::Checkpoint,
        ExportError::NotStored { .. } => Code::UnknownField,
        ExportError::Input(error) => return error.codes(),
        ExportError::Option { .. } => Code::BadOption,
        ExportError::Writer(error) => error.into(),
    }]
}

impl Code {
    /// The codes of an error of the program, one for each mistake; empty if it has none.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Vec<Self> {
        if let Some(StudyError::Input(error)) = error.downcast_ref() {
            return error.codes();
        }
        if let Some(error) = error.downcast_ref::<InputError>() {
            return error.codes();
        }
        if let Some(error) = error.downcast_ref() {
            return of_export(error);
        }
        let of_results = [
            error.downcast_ref::<PictureError>().map(Self::from),
            error.downcast_ref::<HtmlError>().map(Self::from),
            error.downcast_ref::<BenchError>().map(Self::from),
            error.downcast_ref::<ScaleError>().map(Self::from),
        ];
        if let Some(code) = of_results.into_iter().flatten().next() {
            return vec![code];
        }
        let writes = error.is::<WriterError>() || matches!(error.downcast_ref(), Some(StudyError::Writer(_)));
        let ranks = error.is::<CommError>() || matches!(error.downcast_ref(), Some(StudyError::Ranks(_)));
        let code = match () {
            () if writes => Self::Results,
            () if ranks => Self::Ranks,
            () if error.is::<MeshError>() => Self::Mesh,
            () if error.is::<DeviceError>() => Self::Device,
            () => return Vec::new(),
        };
        vec![code]
    }
}
