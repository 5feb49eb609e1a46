//! The directory of a run's results: chosen, and checked to be writable before the run.

use std::io;
use std::path::{Path, PathBuf};

use super::Choices;
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Place, Source};
use crate::outputs::OutputSpec;

/// Returns the directory of the results. `base` and `stem` are the folder and name of the file; `file` is its
/// place, for errors.
///
/// # Errors
/// A directory whose results would replace the pipeline file, or that is not writable.
pub(super) fn resolve(
    output: &OutputSpec,
    (base, stem): (&Path, &str),
    file: &Place,
    choices: &Choices,
) -> Result<PathBuf, InputError> {
    let (directory, place) = match (&choices.output, &output.directory) {
        (Some(given), _) => {
            let option = Source::new("command line", format!("--output {}", given.display()));
            (given.clone(), Some(Place::whole(&option)))
        }
        (None, Some(written)) => (base.join(&written.value), Some(written.place.clone())),
        (None, None) => (base.join("out").join(stem), None),
    };
    // A copy of the file is written beside the results, and results of a former run are moved.
    let kept = directory.join("pipeline.yaml").canonicalize();
    if let (Ok(kept), Ok(file)) = (kept, Path::new(&file.source.name).canonicalize())
        && kept == file
    {
        return Err(InputError { place, ..InputError::nowhere(Problem::Overwrites { directory }) });
    }
    match try_to_write(&directory) {
        Ok(()) => Ok(directory),
        Err(reason) => {
            Err(InputError { place, ..InputError::nowhere(Problem::Unwritable { directory, reason }) })
        }
    }
}

/// Creates and drops an unnamed file in the directory, or in its nearest existing parent.
fn try_to_write(directory: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(directory)?;
    let there = absolute.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(&absolute);
    // For a file in the way, the system only reports that it is not a directory.
    if !there.is_dir() {
        let message = format!("{} is not a directory", there.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
    }
    tempfile::tempfile_in(there).map(drop)
}
