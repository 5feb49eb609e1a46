//! The codes of errors with which a command ends.

use dgsuite_gpu::comm::CommError;
use dgsuite_mesh::MeshError;

use crate::code::Code;
use crate::export::ExportError;
use crate::file::problem::InputError;
use crate::report::html::HtmlError;
use crate::scale::ScaleError;
use crate::study::{CaseError, StudyError};
use dgsuite_output::picture::PictureError;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::bench::BenchError;
use dgsuite_solve::flow::DeviceError;

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
        match error.downcast_ref() {
            Some(StudyError::Input(error)) => return error.codes(),
            Some(StudyError::Case { error, .. }) => {
                return match error.as_ref() {
                    CaseError::Input(error) => error.codes(),
                    CaseError::Writer(error) => vec![error.into()],
                };
            }
            _ => {}
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
