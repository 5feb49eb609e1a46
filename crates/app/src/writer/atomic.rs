//! Files that appear whole or not at all: written beside their place, then renamed into it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::WriterError;

/// Write `bytes` to `path`, replacing what is there in one step.
///
/// A reader sees the old file or the new one, never a part, even if the program or the machine
/// stops meanwhile.
///
/// # Errors
/// [`WriterError::Io`]; the old file is untouched then, and no temporary file is left.
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
    let temporary = beside(path);
    let written = fill_and_rename(&temporary, path, fill);
    if written.is_err() {
        // The first error is the one to report; a file that was never made cannot be removed.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(WriterError::io(path))
}

fn fill_and_rename(
    temporary: &Path,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(temporary)?);
    fill(&mut file)?;
    // The data must be on the disk before the name is: otherwise a crash may leave an empty file.
    file.into_inner()?.sync_all()?;
    fs::rename(temporary, path)
}

/// A name in the same directory (renaming works only within a file system) that no other write of
/// this or another process uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
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
