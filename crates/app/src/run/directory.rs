//! The directory of a run's results: made or cleared of the results of the run before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::pipeline::node::Node;
use crate::writer::{WriterError, atomic};

/// Where a run's results go.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// Makes the directory. Results of a former run there are removed, unless it is continued; its checkpoints are
    /// moved into `checkpoints/previous`, so that no restart takes them for this run's.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn prepare(root: &Path, continued: bool) -> Result<Self, WriterError> {
        let directory = Self { root: root.to_owned() };
        make(root)?;
        if !continued {
            directory.clear()?;
        }
        Ok(directory)
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The summary.
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.root.join("log.txt")
    }

    /// The list of field files.
    pub fn fields(&self) -> PathBuf {
        self.root.join("fields.pvd")
    }

    /// The list of files of boundaries.
    pub fn surfaces(&self) -> PathBuf {
        self.root.join("surfaces.pvd")
    }

    /// Means over time.
    pub fn averages(&self) -> PathBuf {
        self.root.join("averages.vtu")
    }

    /// The state at which a run failed.
    pub fn failed(&self) -> PathBuf {
        self.root.join("fields").join("failed.vtu")
    }

    /// The picture of a study's errors.
    pub fn convergence(&self) -> PathBuf {
        self.root.join("convergence.svg")
    }

    /// Checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// The table of a monitor.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn monitor(&self, name: &str) -> Result<PathBuf, WriterError> {
        let monitors = self.root.join("monitors");
        make(&monitors)?;
        Ok(monitors.join(format!("{name}.csv")))
    }

    /// Writes `pipeline.yaml`, the file as it was run.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn write_pipeline(&self, resolved: &Node) -> Result<(), WriterError> {
        let path = self.root.join("pipeline.yaml");
        let yaml = resolved
            .to_yaml()
            .map_err(|error| WriterError::Io { path: path.clone(), source: io::Error::other(error) })?;
        let text = format!("# The file as it was run: overrides applied, defaults written out.\n{yaml}");
        atomic::write(&path, text.as_bytes())
    }

    fn clear(&self) -> Result<(), WriterError> {
        for file in [
            "summary.json",
            "pipeline.yaml",
            "fields.pvd",
            "surfaces.pvd",
            "averages.vtu",
            "log.txt",
            "convergence.svg",
        ] {
            remove(&self.root.join(file))?;
        }
        clear_files(&self.root.join("fields"), "vtu")?;
        clear_files(&self.root.join("surfaces"), "vtu")?;
        clear_files(&self.root.join("monitors"), "csv")?;
        clear_files(&self.root.join("monitors"), "svg")?;
        self.keep_checkpoints()
    }

    fn keep_checkpoints(&self) -> Result<(), WriterError> {
        let checkpoints = self.checkpoints();
        let files = files_of(&checkpoints, "dgs")?;
        remove(&checkpoints.join("latest"))?;
        if files.is_empty() {
            return Ok(());
        }
        let previous = checkpoints.join("previous");
        make(&previous)?;
        clear_files(&previous, "dgs")?;
        for file in files {
            let name = file.file_name().unwrap_or_default();
            fs::rename(&file, previous.join(name))
                .map_err(|source| WriterError::Io { path: file, source })?;
        }
        Ok(())
    }
}

fn make(path: &Path) -> Result<(), WriterError> {
    fs::create_dir_all(path).map_err(|source| {
        // The system says of a file in the way that it exists, which helps nobody.
        let in_the_way = source.kind() == io::ErrorKind::AlreadyExists;
        let source = if in_the_way { io::ErrorKind::NotADirectory.into() } else { source };
        WriterError::Io { path: path.to_owned(), source }
    })
}

fn remove(path: &Path) -> Result<(), WriterError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(WriterError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn clear_files(directory: &Path, extension: &str) -> Result<(), WriterError> {
    files_of(directory, extension)?.iter().try_for_each(|file| remove(file))
}

/// The files of a directory with an extension; none if there is no such directory.
fn files_of(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, WriterError> {
    let failed = |source| WriterError::Io { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_removes_old_results_and_keeps_old_checkpoints_aside() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("out");
        let first = Directory::prepare(&root, false).unwrap();
        fs::write(first.summary(), "{}").unwrap();
        fs::write(first.monitor("error").unwrap(), "step\n").unwrap();
        fs::write(root.join("notes.md"), "mine").unwrap();
        make(&first.checkpoints()).unwrap();
        fs::write(first.checkpoints().join("step-00000010.dgs"), "x").unwrap();
        fs::write(first.checkpoints().join("latest"), "step-00000010.dgs\n").unwrap();

        Directory::prepare(&root, true).unwrap();
        assert!(first.summary().exists(), "a continued run keeps results");

        let second = Directory::prepare(&root, false).unwrap();
        assert!(!second.summary().exists() && !root.join("monitors/error.csv").exists());
        assert!(root.join("notes.md").exists(), "files of the user's own stay");
        assert!(!second.checkpoints().join("latest").exists());
        assert!(second.checkpoints().join("previous/step-00000010.dgs").exists());
    }
}
