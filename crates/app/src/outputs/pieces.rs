//! Field files of several ranks: each rank writes the cells of its part, then rank 0 the file that lists
//! them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dgsuite_gpu::comm::{CommError, Communicator};
use dgsuite_ops::OpsError;
use serde::{Deserialize, Serialize};

use crate::monitors::MonitorError;
use crate::monitors::not_finite::{self, NotFinite};
use dgsuite_output::writer::pvd::Series;
use dgsuite_output::writer::{UnstructuredFields, VtuOptions, WriterError, parallel};
use dgsuite_solve::{ROOT, SystemError};

/// A series of `.pvtu` files, which all ranks write together.
///
/// `fields/fields_000002.pvtu` lists `fields/fields_000002_0000.vtu` of rank 0, and so on. It appears after
/// all of these are on the disk, and is then listed in `fields.pvd`.
pub(super) struct Pieces {
    comm: Arc<dyn Communicator>,
    /// The `.pvd` file in the directory of the results, the same on all ranks.
    path: PathBuf,
    /// The series, on rank 0.
    series: Option<Series>,
    options: VtuOptions,
}

/// What a rank tells rank 0 about its piece.
#[derive(Default, Deserialize, Serialize)]
struct Told {
    /// Why the piece was not written.
    error: Option<String>,
    /// Its arrays; `None` if the rank has no cells.
    arrays: Option<String>,
    /// Names of fields with a value that is not finite, and this value.
    not_finite: Vec<(String, String)>,
}

impl Pieces {
    /// A series at `path`; on rank 0 `series` is what is there already.
    pub(super) fn new(
        comm: Arc<dyn Communicator>,
        path: PathBuf,
        series: Option<Series>,
        options: VtuOptions,
    ) -> Self {
        Self { comm, path, series, options }
    }

    /// Writes the fields of this rank's elements, and on rank 0 the list of all pieces. Collective.
    ///
    /// # Errors
    /// Those of the system on the rank that meets them; on rank 0 also [`WriterError::Rank`] if another one
    /// met them. A failure of the communication is one of the solver.
    pub(super) fn write(
        &mut self,
        fields: &UnstructuredFields,
        not_finite: &NotFinite,
    ) -> Result<(), MonitorError> {
        let lost = |error: CommError| MonitorError::System(SystemError::from(OpsError::from(error)));
        let mut number = self.series.as_ref().map_or(0, Series::next).to_le_bytes().to_vec();
        self.comm.broadcast(ROOT, &mut number).map_err(lost)?;
        let number = number.try_into().map_or(0, usize::from_le_bytes);
        let list = Series::file(&self.path, number, "pvtu");
        let written = self.write_own(fields, &list);
        let told = Told {
            error: written.as_ref().err().map(ToString::to_string),
            arrays: (!fields.pieces.is_empty()).then(|| parallel::arrays(fields, &self.options)),
            not_finite: not_finite::in_fields(fields)
                .map(|(name, x)| (name.to_owned(), x.to_string()))
                .collect(),
        };
        let told = serde_json::to_vec(&told).unwrap_or_default();
        let all = self.comm.gather(ROOT, &told).map_err(lost)?;
        written?;
        match (&mut self.series, all) {
            (Some(series), Some(all)) => Ok(finish(series, &list, fields.time, &all, not_finite)?),
            _ => Ok(()),
        }
    }

    fn write_own(&self, fields: &UnstructuredFields, list: &Path) -> Result<(), WriterError> {
        if fields.pieces.is_empty() {
            return Ok(());
        }
        let folder = list.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder).map_err(WriterError::io(folder))?;
        fields.write(&parallel::piece(list, self.comm.rank()), &self.options).map(|_| ())
    }
}

/// Lists the pieces of all ranks, if all of them are on the disk.
fn finish(
    series: &mut Series,
    list: &Path,
    time: f64,
    all: &[Vec<u8>],
    not_finite: &NotFinite,
) -> Result<(), WriterError> {
    let mut pieces = Vec::new();
    let mut arrays = None;
    for (rank, told) in all.iter().enumerate() {
        let told: Told = serde_json::from_slice(told).unwrap_or_default();
        if let Some(reason) = told.error {
            return Err(WriterError::Rank { rank, reason });
        }
        if told.arrays.is_some() {
            let piece = parallel::piece(list, rank);
            if !piece.is_file() {
                return Err(WriterError::NotShared { rank, path: piece });
            }
            pieces.push(piece);
            arrays = arrays.or(told.arrays);
        }
        for (name, value) in told.not_finite {
            not_finite.add_field(&name, value.parse().unwrap_or(f64::NAN), time);
        }
    }
    parallel::write(list, &pieces, arrays.as_deref().unwrap_or_default())?;
    series.push(time, list)
}
