//! Files that appear completely or not at all: written to a temporary file, then renamed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::WriterError;

/// Writes `bytes` to `path`, replacing an existing file in one step.
///
/// A reader sees the old file or the new one, never a part, even if the program or the machine stops during
/// the write.
///
/// # Errors
/// [`WriterError::Io`]; the old file is then untouched, and no temporary file is left.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriterError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write()`], with the bytes streamed by `fill`.
///
/// # Errors
/// [`WriterError::Io`] from the system or from `fill`.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), WriterError> {
    fill_and_rename(path, fill).map_err(WriterError::io(path))
}

fn fill_and_rename(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let draft = Draft::new(path)?;
    let mut file = BufWriter::new(draft.file().try_clone()?);
    fill(&mut file)?;
    file.into_inner()?;
    draft.commit(path)
}

/// A file under a temporary name, which is removed unless the file is given its own.
#[derive(Debug)]
pub struct Draft(NamedTempFile);

impl Draft {
    /// Creates the file that is to become `path`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(path: &Path) -> io::Result<Self> {
        // In the same directory, because renaming works only within a file system.
        beside(path).map(Self)
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        self.0.as_file()
    }

    /// The temporary name.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.0.path()
    }

    /// Gives the file its name, in place of an older file.
    ///
    /// # Errors
    /// Those of the system; an older file is then untouched.
    pub fn commit(self, path: &Path) -> io::Result<()> {
        // The data must be on the disk before the name: otherwise a crash may leave an empty file.
        self.0.as_file().sync_all()?;
        self.0.persist(path)?;
        sync_names(path);
        Ok(())
    }
}

/// Replaces `path` in one step by the file that `make` writes, at a temporary path in the same directory.
///
/// # Errors
/// The error of `make`, and [`WriterError::Io`]; the old file is then untouched.
pub fn replace<E: From<WriterError>>(
    path: &Path,
    make: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let temporary = beside(path).map_err(WriterError::io(path))?.into_temp_path();
    make(&temporary)?;
    temporary.persist(path).map_err(|error| WriterError::io(path)(error.error))?;
    sync_names(path);
    Ok(())
}

/// Writes the name of a file to the disk: until its directory is on the disk, a crash of the machine may undo
/// the renaming. Where directories cannot be synchronised (some network file systems, Windows), the operating
/// system decides when this happens.
fn sync_names(path: &Path) {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if cfg!(unix)
        && let Ok(directory) = File::open(directory.unwrap_or_else(|| Path::new(".")))
    {
        let _ = directory.sync_all();
    }
}

/// Creates a file in the directory of `path`, with the usual permissions.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
        .prefix(&format!(".{name}."))
        .suffix(".tmp")
        .tempfile_in(directory.unwrap_or_else(|| Path::new(".")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        fs::read_dir(directory)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect::<Vec<_>>()
    }

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write(&path, b"long old content").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    /// Other users may read the results as far as the umask allows.
    #[cfg(unix)]
    #[test]
    fn a_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (ours, plain) = (directory.path().join("ours"), directory.path().join("plain"));
        write(&ours, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write(&path, b"old").unwrap();
        let error = write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert!(error.is_storage_full() && error.to_string().contains("a.txt"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn a_missing_directory_is_an_error_with_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none").join("a.txt");
        let error = write(&path, b"x").unwrap_err();
        assert!(matches!(&error, WriterError::Io { path: p, .. } if *p == path), "{error}");
    }
}
