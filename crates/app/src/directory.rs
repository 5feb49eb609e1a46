//! The directory of a run's results: locked during the run, former results moved aside.

mod former;
mod lock;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

pub use self::former::{Former, PREVIOUS};
use crate::file::node::Node;
use dgsuite_output::writer::{WriterError, atomic};

/// The directory of the checkpoints among the results.
pub const CHECKPOINTS: &str = "checkpoints";

/// The directory of a run's results. No other run writes there while this value lives.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
    lock: Option<Arc<lock::Lock>>,
    /// Deletes a temporary directory with the last copy of this value.
    temporary: Option<Arc<TempDir>>,
}

impl Directory {
    /// Creates the directory, or uses the existing one: results of a former run are moved to `previous`,
    /// deleted, or continued. Other files stay untouched.
    ///
    /// # Errors
    /// [`WriterError::InUse`] if another run writes there, [`WriterError::Linked`] if former results lie
    /// behind a symbolic link, [`WriterError::Io`].
    pub fn prepare(root: &Path, former: Former) -> Result<Self, WriterError> {
        make(root)?;
        let lock = lock::take(root)?.map(Arc::new);
        former::make_room(root, former)?;
        Ok(Self { root: root.to_owned(), lock, temporary: None })
    }

    /// A directory that is deleted after the run, for ranks whose results nobody reads.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn temporary() -> Result<Self, WriterError> {
        let made = tempfile::Builder::new().prefix("dgsuite-").tempdir();
        let made = made.map_err(|source| WriterError::Io { path: std::env::temp_dir(), source })?;
        Ok(Self { root: made.path().to_owned(), lock: None, temporary: Some(Arc::new(made)) })
    }

    /// Returns a warning about the directory, if there is one.
    pub fn warning(&self) -> Option<String> {
        let root = self.root.display();
        (self.lock.is_none() && self.temporary.is_none()).then(|| {
            format!(
                "warning: the file system of {root} has no locks: make sure that no other run writes there"
            )
        })
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Path of the summary.
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// Path of the log.
    pub fn log(&self) -> PathBuf {
        self.root.join("log.txt")
    }

    /// Path of the list of field files, or of the one file of fields, without its extension.
    pub fn fields(&self) -> PathBuf {
        self.root.join("fields")
    }

    /// As [`fields`](Self::fields), of fields on boundaries.
    pub fn surfaces(&self) -> PathBuf {
        self.root.join("surfaces")
    }

    /// Path of the means over time.
    pub fn averages(&self) -> PathBuf {
        self.root.join("averages.vtu")
    }

    /// Path of the state of a failed run.
    pub fn failed(&self) -> PathBuf {
        self.root.join("fields").join("failed.vtu")
    }

    /// Path of the residual of a run that has not become steady.
    pub fn residual(&self) -> PathBuf {
        self.root.join("fields").join("residual.vtu")
    }

    /// Path of the picture of a study's errors.
    pub fn convergence(&self) -> PathBuf {
        self.root.join("convergence.svg")
    }

    /// Directory of the checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join(CHECKPOINTS)
    }

    /// Path of the table of a monitor.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn monitor(&self, name: &str) -> Result<PathBuf, WriterError> {
        let monitors = self.root.join("monitors");
        make(&monitors)?;
        Ok(monitors.join(format!("{name}.csv")))
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn write_summary(&self, summary: &Value) -> Result<(), WriterError> {
        atomic::write(&self.summary(), format!("{summary:#}\n").as_bytes())
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
}

fn make(path: &Path) -> Result<(), WriterError> {
    fs::create_dir_all(path).map_err(|source| {
        // For a file in the way the system reports "already exists", which does not help the user.
        let in_the_way = source.kind() == io::ErrorKind::AlreadyExists;
        let source = if in_the_way { io::ErrorKind::NotADirectory.into() } else { source };
        WriterError::Io { path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory after a run of one step, with files of the user among its results.
    fn after_a_run(root: &Path, content: &str) {
        for (file, content) in [
            ("summary.json", content),
            ("log.txt", content),
            ("notes.md", "mine"),
            ("fields.pvd", content),
            ("fields/fields_000000.vtu", content),
            ("fields/mine.vtu", "mine"),
            ("monitors/error.csv", content),
            ("monitors/my.csv", "mine"),
            ("checkpoints/step-00000010.dgs", content),
            ("checkpoints/latest", content),
            ("checkpoints/.step-00000010.dgs.aB3xYz.tmp", content),
        ] {
            let path = root.join(file);
            make(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    const RESULTS: [&str; 7] = [
        "summary.json",
        "log.txt",
        "fields.pvd",
        "fields/fields_000000.vtu",
        "monitors/error.csv",
        "checkpoints/step-00000010.dgs",
        "checkpoints/latest",
    ];

    fn content(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    #[test]
    fn a_new_run_moves_former_results_aside_and_leaves_all_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("out");
        let mine = |root: &Path| {
            ["notes.md", "fields/mine.vtu", "monitors/my.csv"].iter().all(|f| root.join(f).is_file())
        };
        for run in ["first", "second"] {
            after_a_run(&root, run);
            fs::create_dir_all(root.join("previous")).unwrap();
            fs::write(root.join("previous/mine.txt"), "mine").unwrap();
            Directory::prepare(&root, Former::Continue).unwrap();
            assert!(RESULTS.iter().all(|file| root.join(file).exists()), "a continued run keeps results");
            assert!(!root.join("checkpoints/.step-00000010.dgs.aB3xYz.tmp").exists());
            Directory::prepare(&root, Former::Aside).unwrap();
            for file in RESULTS {
                assert!(!root.join(file).exists(), "{file}");
                assert_eq!(content(&root.join("previous").join(file)).as_deref(), Some(run), "{file}");
            }
            assert!(mine(&root) && root.join("previous/mine.txt").is_file());
        }
        // There is nothing to move, so former results in `previous` stay.
        Directory::prepare(&root, Former::Aside).unwrap();
        assert!(root.join("previous/summary.json").exists());
        after_a_run(&root, "third");
        Directory::prepare(&root, Former::Delete).unwrap();
        assert!(RESULTS.iter().all(|file| !root.join(file).exists()) && mine(&root));
        assert_eq!(content(&root.join("previous/summary.json")).as_deref(), Some("second"));
    }

    #[test]
    fn a_move_that_was_cut_short_is_finished_by_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        after_a_run(root, "first");
        make(&root.join(".previous.partial")).unwrap();
        fs::rename(root.join("summary.json"), root.join(".previous.partial/summary.json")).unwrap();
        Directory::prepare(root, Former::Aside).unwrap();
        for file in RESULTS {
            assert_eq!(content(&root.join("previous").join(file)).as_deref(), Some("first"), "{file}");
        }
        assert!(!root.join(".previous.partial").exists());
    }

    #[test]
    fn one_run_at_a_time_writes_to_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let first = Directory::prepare(dir.path(), Former::Aside).unwrap();
        after_a_run(dir.path(), "first");
        let second = Directory::prepare(dir.path(), Former::Aside).unwrap_err();
        assert!(matches!(second, WriterError::InUse { .. }), "{second}");
        assert!(second.to_string().contains(&format!("process {}", std::process::id())), "{second}");
        assert!(first.summary().exists());
        drop(first);
        Directory::prepare(dir.path(), Former::Continue).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_behind_a_link_is_neither_moved_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let (root, far) = (dir.path().join("out"), dir.path().join("far"));
        after_a_run(&root, "first");
        fs::rename(root.join("fields"), &far).unwrap();
        std::os::unix::fs::symlink(&far, root.join("fields")).unwrap();
        let refused = Directory::prepare(&root, Former::Aside).unwrap_err();
        assert!(matches!(refused, WriterError::Linked { .. }), "{refused}");
        assert!(RESULTS.iter().all(|file| root.join(file).exists()), "nothing was moved");
        Directory::prepare(&root, Former::Delete).unwrap();
        assert_eq!(content(&far.join("fields_000000.vtu")).as_deref(), Some("first"));
        assert!(!root.join("summary.json").exists());
        fs::remove_file(far.join("fields_000000.vtu")).unwrap();
        Directory::prepare(&root, Former::Aside).unwrap();
        assert!(far.join("mine.vtu").exists());
    }
}
