//! The directory of a run's results: chosen, and found fit for writing before any work is done.

use std::io;
use std::path::{Path, PathBuf};

use super::Choices;
use crate::pipeline::output::OutputSpec;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::{Place, Source};

/// Where results go. `base` and `stem` are the folder and name of the file, `file` where it starts.
///
/// # Errors
/// A directory whose results would replace the pipeline file, or in which nothing can be written.
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
    // The file that was run is kept beside the results, and results of a former run are moved.
    let kept = directory.join("pipeline.yaml").canonicalize();
    if let (Ok(kept), Ok(file)) = (kept, Path::new(&file.source.name).canonicalize())
        && kept == file
    {
        return Err(InputError { problem: Box::new(Problem::Overwrites { directory }), place });
    }
    match try_to_write(&directory) {
        Ok(()) => Ok(directory),
        Err(reason) => {
            Err(InputError { problem: Box::new(Problem::Unwritable { directory, reason }), place })
        }
    }
}

/// Makes a file without a name in the directory, or in the nearest one above it that is there, and drops it.
fn try_to_write(directory: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(directory)?;
    let there = absolute.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(&absolute);
    // The system says of a file in the way only that it is no directory.
    if !there.is_dir() {
        let message = format!("{} is not a directory", there.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
    }
    tempfile::tempfile_in(there).map(drop)
}
