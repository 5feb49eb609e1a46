//! The codes of errors of solvers, of steps in time and of files.

use dgsuite_amg::SolveError;
use dgsuite_ops::OpsError;
use dgsuite_timeint::TimeError;

use super::Code;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::SystemError;
use dgsuite_solve::elliptic::EllipticError;

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
            SystemError::SubSteps { .. } | SystemError::Stage { .. } => Self::StepSize,
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
            EllipticError::Matrix(_)
            | EllipticError::Overflow
            | EllipticError::Underflow { .. }
            | EllipticError::Multigrid(_) => Self::LinearSystem,
            EllipticError::Mesh(_) => Self::Mesh,
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
            | OpsError::NothingAbove { .. }
            | OpsError::Equation { .. }
            | OpsError::TwoPointFlux
            | OpsError::NotOnDevices { .. }
            | OpsError::Elliptic { .. }
            | OpsError::Coefficient { .. }
            | OpsError::Width { .. }
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
