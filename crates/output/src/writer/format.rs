//! The formats of fields over time that a run can write.

use std::path::Path;

use super::series::AnySeries;
use super::{VtuOptions, WriterError, pvd, vtkhdf};

/// The format of fields over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A `.vtu` file for each time, and the `.pvd` file that lists them.
    #[default]
    Vtu,
    /// One `.vtkhdf` file with all times.
    Vtkhdf,
}

impl Format {
    /// The end of the name of the file that a program opens.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Vtu => "pvd",
            Self::Vtkhdf => "vtkhdf",
        }
    }

    /// Starts a series at `stem` with the extension of the format.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn create(self, stem: &Path) -> Result<AnySeries, WriterError> {
        let path = stem.with_extension(self.extension());
        Ok(match self {
            Self::Vtu => Box::new(pvd::Series::create(path)?),
            Self::Vtkhdf => Box::new(vtkhdf::Series::create(path)),
        })
    }

    /// Continues the series of [`create`](Self::create) from time `time` with the point fields `names`: later
    /// times are dropped from it. If there is none, a new series is started.
    ///
    /// # Errors
    /// A file that is not of this program; for `.vtkhdf` one with other fields; [`WriterError::Io`].
    pub fn resume(
        self,
        stem: &Path,
        time: f64,
        names: &[&str],
        options: &VtuOptions,
    ) -> Result<AnySeries, WriterError> {
        let path = stem.with_extension(self.extension());
        Ok(match self {
            Self::Vtu => Box::new(pvd::Series::resume(path, time)?),
            Self::Vtkhdf => Box::new(vtkhdf::Series::resume(path, time, names, options.precision)?),
        })
    }
}
