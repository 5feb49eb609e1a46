//! Results of a former run: recognises their files, and moves or deletes them for a new run.
//!
//! Only files with the names that a run uses are results. All other files in the directory belong to the user
//! and stay untouched, as does everything behind symbolic links.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::make;
use crate::monitors;
use dgsuite_output::writer::WriterError;

/// What happens to the results of a former run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Former {
    /// They are moved to `previous/`, where they replace the results of an earlier run.
    #[default]
    Aside,
    /// They are deleted.
    Delete,
    /// This run continues them.
    Continue,
}

/// The directory of the results of the previous run.
pub const PREVIOUS: &str = "previous";

/// A temporary directory during the move: a run that is killed meanwhile loses nothing.
const PARTIAL: &str = ".previous.partial";

/// Results in the directory itself.
const FILES: [&str; 19] = [
    "summary.json",
    "pipeline.yaml",
    "fields.pvd",
    "fields.vtkhdf",
    "surfaces.pvd",
    "surfaces.vtkhdf",
    "averages.vtu",
    "log.txt",
    "convergence.svg",
    "report.md",
    "report.html",
    "export.vtu",
    "export.vtkhdf",
    "surface.vtu",
    "surface.vtkhdf",
    "slice.vtu",
    "slice.vtkhdf",
    "line.csv",
    "samples.csv",
];

/// Directories with results; the first is the root.
const FOLDERS: [&str; 5] = ["", "fields", "surfaces", "monitors", "checkpoints"];

/// Returns whether a run writes a file of this name into this folder.
fn is_result(folder: &str, name: &str) -> bool {
    match folder {
        "" => FILES.contains(&name) || name.starts_with("picture-") && name.ends_with(".png"),
        "fields" => {
            let of_ranks = numbered(name, "fields_", ".pvtu") || is_piece(name);
            name == "failed.vtu" || numbered(name, "fields_", ".vtu") || of_ranks
        }
        "surfaces" => numbered(name, "surfaces_", ".vtu"),
        "monitors" => is_monitor(name),
        "checkpoints" => name == "latest" || numbered(name, "step-", ".dgs"),
        _ => false,
    }
}

fn numbered(name: &str, before: &str, after: &str) -> bool {
    let digits = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    digits.is_some_and(|digits| digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The part of a rank: `fields_000012_0003.vtu`.
fn is_piece(name: &str) -> bool {
    let stem = name.strip_suffix(".vtu").and_then(|stem| stem.rsplit_once('_'));
    stem.is_some_and(|(list, rank)| {
        let digits = rank.len() >= 4 && rank.bytes().all(|b| b.is_ascii_digit());
        digits && numbered(list, "fields_", "")
    })
}

/// `forces.csv`, `error-2.svg`, `wall-curve.csv`, `sample.vtu`.
fn is_monitor(name: &str) -> bool {
    let stem = [".csv", ".svg", ".vtu"].iter().find_map(|end| name.strip_suffix(end));
    let Some(stem) = stem.map(|stem| stem.strip_suffix("-curve").unwrap_or(stem)) else { return false };
    let kind = match stem.rsplit_once('-') {
        Some((kind, n)) if n.parse::<u32>().is_ok() => kind,
        _ => stem,
    };
    monitors::kinds().any(|known| known.name == kind)
}

/// An unfinished file of a killed run: `.NAME.XXXXXX.tmp`.
fn is_unfinished(folder: &str, name: &str) -> bool {
    let middle = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
    middle.and_then(|middle| middle.rsplit_once('.')).is_some_and(|(of, random)| {
        is_result(folder, of) && !random.is_empty() && random.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Lists the files of a folder that `wanted` accepts, relative to the root.
fn list(root: &Path, folder: &str, wanted: fn(&str, &str) -> bool) -> Result<Vec<PathBuf>, WriterError> {
    let directory = root.join(folder);
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(WriterError::io(&directory)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(WriterError::io(&directory))?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| wanted(folder, name))
            && entry.file_type().is_ok_and(|kind| !kind.is_dir())
        {
            files.push(Path::new(folder).join(name));
        }
    }
    Ok(files)
}

/// Returns whether a folder of the directory is a symbolic link.
fn is_link(root: &Path, folder: &str) -> bool {
    !folder.is_empty() && fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_symlink())
}

/// Lists the results in a directory that are not behind links.
fn results(root: &Path) -> Result<Vec<PathBuf>, WriterError> {
    let mut all = Vec::new();
    for folder in FOLDERS.into_iter().filter(|folder| !is_link(root, folder)) {
        all.extend(list(root, folder, is_result)?);
    }
    Ok(all)
}

/// Makes room for a new run in `root`.
pub(super) fn make_room(root: &Path, former: Former) -> Result<(), WriterError> {
    for folder in FOLDERS.into_iter().filter(|folder| !is_link(root, folder)) {
        for file in list(root, folder, is_unfinished)? {
            remove(&root.join(file))?;
        }
    }
    match former {
        Former::Continue => Ok(()),
        Former::Delete => delete(root),
        Former::Aside => set_aside(root),
    }
}

fn delete(root: &Path) -> Result<(), WriterError> {
    results(root)?.iter().try_for_each(|file| remove(&root.join(file)))?;
    remove_empty(root);
    Ok(())
}

fn set_aside(root: &Path) -> Result<(), WriterError> {
    for folder in FOLDERS {
        if is_link(root, folder) && !list(root, folder, is_result)?.is_empty() {
            return Err(WriterError::Linked { path: root.join(folder) });
        }
    }
    let (partial, previous) = (root.join(PARTIAL), root.join(PREVIOUS));
    if is_link(root, PREVIOUS) || is_link(root, PARTIAL) {
        return Err(WriterError::Linked { path: previous });
    }
    let former = results(root)?;
    if former.is_empty() && !partial.is_dir() {
        return Ok(());
    }
    // First moves the former results to a temporary directory, then removes the older ones, then moves the
    // newer ones into their place.
    shift(root, &partial, &former)?;
    delete(&previous)?;
    let _ = fs::remove_dir(&previous);
    if fs::rename(&partial, &previous).is_err() {
        // The folder contains files of the user.
        shift(&partial, &previous, &results(&partial)?)?;
        let _ = fs::remove_dir(&partial);
    }
    Ok(())
}

/// Moves files of a directory to the same places in another.
fn shift(from: &Path, to: &Path, files: &[PathBuf]) -> Result<(), WriterError> {
    for file in files {
        let (old, new) = (from.join(file), to.join(file));
        make(new.parent().unwrap_or(to))?;
        fs::rename(&old, &new).map_err(WriterError::io(&old))?;
    }
    remove_empty(from);
    Ok(())
}

/// Removes the folders of results that are empty.
fn remove_empty(root: &Path) {
    for folder in FOLDERS.into_iter().skip(1).filter(|folder| !is_link(root, folder)) {
        let _ = fs::remove_dir(root.join(folder));
    }
}

fn remove(path: &Path) -> Result<(), WriterError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriterError::io(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_results_are_told_from_others() {
        for (folder, name) in [
            ("", "summary.json"),
            ("", "report.html"),
            ("", "picture-mach.png"),
            ("fields", "fields_000012.vtu"),
            ("fields", "fields_000012.pvtu"),
            ("fields", "fields_000012_0003.vtu"),
            ("fields", "failed.vtu"),
            ("surfaces", "surfaces_1234567.vtu"),
            ("monitors", "residual.csv"),
            ("monitors", "error-2.svg"),
            ("monitors", "wall-3-curve.csv"),
            ("checkpoints", "step-00000010.dgs"),
            ("checkpoints", "latest"),
        ] {
            assert!(is_result(folder, name), "{folder}/{name}");
            assert!(is_unfinished(folder, &format!(".{name}.aB3xYz.tmp")), "{folder}/{name}");
        }
        for (folder, name) in [
            ("", "notes.md"),
            ("", "mesh.msh"),
            ("", "my-picture.png"),
            ("fields", "mine.vtu"),
            ("fields", "fields_final.vtu"),
            ("fields", "fields_12.vtu"),
            ("fields", "fields_12_0003.vtu"),
            ("fields", "fields_000012_3.vtu"),
            ("monitors", "my.csv"),
            ("monitors", "error-analysis.csv"),
            ("monitors", "residual.csv.bak"),
            ("checkpoints", "good.dgs"),
            ("fields", ".mine.vtu.aB3xYz.tmp"),
        ] {
            assert!(!is_result(folder, name) && !is_unfinished(folder, name), "{folder}/{name}");
        }
    }
}
