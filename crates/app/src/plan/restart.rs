//! The checkpoint that a run starts from, and differences between its law and the law of the run.

use std::path::{Path, PathBuf};

use dgsuite_timeint::TimePoint;

use super::Choices;
use crate::directory::{Former, PREVIOUS};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::models::state::InitialSpec;
use crate::pipeline::Pipeline;
use dgsuite_output::checkpoint::{self, Checkpoint, CheckpointError, CheckpointProblem};
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::Law;

/// The checkpoint that a run starts from.
#[derive(Default)]
pub(super) struct Found {
    /// Its file and its outline.
    pub(super) restart: Option<(PathBuf, Checkpoint)>,
    /// Whether its state is to be projected from another mesh.
    pub(super) projected: bool,
    /// The place in the pipeline file, if that names it.
    pub(super) place: Option<Place>,
}

/// Reads the outline of the checkpoint that the command line or the file names, if any; the coefficients of
/// its state stay in the file. Of one whose state is to be projected only the state and its time are left.
///
/// # Errors
/// A checkpoint that cannot be used.
pub(super) fn read(
    pipeline: &Pipeline,
    choices: &Choices,
    directory: &Path,
    law: &Law,
    mesh: u64,
) -> Result<Found, InputError> {
    let latest = directory.join("checkpoints").join("latest");
    let chosen = match &choices.restart {
        Some(word) if word == Path::new("latest") => Some(latest),
        // The first job of a chain has nothing to continue.
        Some(word) if word == Path::new("auto") => Some(latest).filter(|file| checkpoint::find(file).is_ok()),
        other => other.clone(),
    };
    let (path, place): (PathBuf, Option<&Place>) = match (chosen, &pipeline.initial) {
        (Some(path), _) => (path, None),
        (None, InitialSpec::Restart(file)) => (pipeline.resolve(&file.value), Some(&file.place)),
        (None, _) => return Ok(Found::default()),
    };
    let refused = |error| {
        let problem = Problem::Restart { error };
        match place {
            Some(place) => InputError::at(place, problem),
            None => InputError::nowhere(problem),
        }
    };
    let file = checkpoint::find(&path).map_err(refused)?;
    // Rank 0 has the means of all elements.
    let averages = choices.comm.as_ref().is_none_or(|comm| comm.rank() == ROOT);
    let of_mesh = (mesh, !choices.project);
    let (mut saved, same) =
        checkpoint::read_outline(&file, law.name(), of_mesh, averages).map_err(refused)?;
    let place = place.cloned();
    if !choices.project {
        return Ok(Found { restart: Some((file, saved)), projected: false, place });
    }
    // Means, errors of steps and past states belong to the run before.
    (saved.averages, saved.sections) = (Vec::new(), Vec::new());
    if let Some(t) = choices.start_time {
        saved.now = TimePoint { t, low: 0.0, step: 0 };
        (saved.state.time, saved.state.step) = (t, 0);
    }
    Ok(Found { restart: Some((file, saved)), projected: !same, place })
}

/// Rejects a checkpoint of incompressible flow with another number of scalars than the run has: there are
/// three sums for each velocity component, for the pressure and for each scalar.
///
/// # Errors
/// [`CheckpointProblem::Mismatch`] at the model.
pub(super) fn same_scalars(found: &Found, law: &Law, dim: usize, place: &Place) -> Result<(), InputError> {
    let (Some((file, saved)), Law::Incompressible(law)) = (&found.restart, law) else { return Ok(()) };
    let [found, wanted] = [(saved.state.tally.len() / 3).saturating_sub(dim + 1), law.scalars.len()];
    if found == wanted {
        return Ok(());
    }
    let what = "a number of scalars, the temperature included, of";
    let problem = CheckpointProblem::Mismatch { what, found: found.to_string(), wanted: wanted.to_string() };
    let error = CheckpointError { path: file.clone(), problem };
    Err(InputError::at(place, Problem::Restart { error }))
}

/// Warns if a checkpoint of the same law has other parameters: its unknowns then mean another pressure or
/// temperature.
pub(super) fn other_law(file: &Path, saved: &Checkpoint, law: &Law) -> Option<String> {
    let other = saved.state.other_parameters(&law.parameters());
    (!other.is_empty()).then(|| format!("{} was written with {}", file.display(), other.join(", ")))
}

/// Returns what happens to the results in `directory`: a run that starts from one of its checkpoints
/// continues them.
///
/// # Errors
/// The checkpoint is among the results that are about to be replaced.
pub(super) fn former(
    restart: Option<&(PathBuf, Checkpoint)>,
    directory: &Path,
    choices: &Choices,
) -> Result<Former, InputError> {
    let Some((file, _)) = restart else { return Ok(choices.former()) };
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if same(folder, &directory.join("checkpoints")) {
        return Ok(Former::Continue);
    }
    let previous = directory.join(PREVIOUS);
    if choices.former() == Former::Aside && same(folder, &previous.join("checkpoints")) {
        let problem = CheckpointProblem::AboutToGo { previous };
        let error = CheckpointError { path: file.clone(), problem };
        return Err(InputError::nowhere(Problem::Restart { error }));
    }
    Ok(choices.former())
}
