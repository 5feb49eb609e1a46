//! Stored states of runs as files for other programs: another set of fields, another order, boundaries, cuts,
//! lines.
//!
//! [`Stored`] is the state of a checkpoint with the space of its run, made from the file that the run has
//! written beside its results. It is sampled by the same functions as in the run, so that a field has the
//! same bits as if the run had written it (on a GPU: but for rounding).

mod fields;
mod line;
mod slice;

use std::path::{Path, PathBuf};

pub use self::line::Line;
use crate::file::source::Located;
use crate::monitors::surface::named_boundaries;
use crate::outputs::surfaces;
pub use crate::run::stored::{ExportError, Fields, Stored};
use dgsuite_output::checkpoint;
use dgsuite_output::writer::UnstructuredFields;

impl Stored {
    /// Returns fields on cells of order `order`, from 1 to
    /// [`MAX_LAGRANGE_ORDER`](dgsuite_output::writer::MAX_LAGRANGE_ORDER).
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
