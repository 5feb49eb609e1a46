//! The checkpoint that a run starts from, and in what its law was another.

use std::path::{Path, PathBuf};

use super::Choices;
use crate::checkpoint::{self, Checkpoint};
use crate::pipeline::Pipeline;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Place;
use crate::pipeline::state::InitialSpec;
use crate::systems::hyperbolic::Law;

/// Reads the checkpoint that the command line or the file names, if one does.
///
/// # Errors
/// One that cannot be used.
pub(super) fn read(
    pipeline: &Pipeline,
    choices: &Choices,
    directory: &Path,
    law: &Law,
    mesh: u64,
) -> Result<Option<(PathBuf, Checkpoint)>, InputError> {
    let (path, place): (PathBuf, Option<&Place>) = match (&choices.restart, &pipeline.initial) {
        (Some(path), _) if path == Path::new("latest") => {
            (directory.join("checkpoints").join("latest"), None)
        }
        (Some(path), _) => (path.clone(), None),
        (None, InitialSpec::Restart(file)) => (pipeline.resolve(&file.value), Some(&file.place)),
        (None, _) => return Ok(None),
    };
    let refused = |error| {
        let problem = Problem::Restart { error };
        match place {
            Some(place) => InputError::at(place, problem),
            None => InputError::nowhere(problem),
        }
    };
    let file = checkpoint::find(&path).map_err(refused)?;
    let state = checkpoint::read(&file, law.name(), mesh).map_err(refused)?;
    Ok(Some((file, state)))
}

/// Warns of a checkpoint of the same law with other parameters: its unknowns then mean another pressure or temperature.
pub(super) fn other_law(file: &Path, saved: &Checkpoint, law: &Law) -> Option<String> {
    let other = saved.state.other_parameters(&law.parameters());
    (!other.is_empty()).then(|| format!("{} was written with {}", file.display(), other.join(", ")))
}
