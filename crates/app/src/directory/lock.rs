//! The lock on a directory of results, because two runs in one directory would destroy each other's files.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::machine;
use dgsuite_output::writer::WriterError;

/// The file that is locked.
pub(super) const FILE: &str = ".dgsuite.lock";

/// A lock that is held. The file is removed at the end: who has opened it meanwhile sees, with the lock, that
/// the directory has another file or none, and begins again.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Closing it ends the lock.
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Acquires the lock, which is held until the value is dropped, and not longer than the process lives. `None`
/// if the file system has no locks.
///
/// # Errors
/// [`WriterError::InUse`] if another run holds it, [`WriterError::Io`] if the directory cannot be written.
pub(super) fn take(root: &Path) -> Result<Option<Lock>, WriterError> {
    let path = root.join(FILE);
    loop {
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(WriterError::Linked { path });
        }
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(WriterError::io(&path))?;
        match file.try_lock() {
            // Another run may have removed the file after it was opened here.
            Ok(()) if !is_at(&file, &path) => continue,
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(200).read_to_string(&mut holder);
                let holder = holder.trim().escape_debug().to_string();
                return Err(WriterError::InUse { directory: root.to_owned(), holder });
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
        // For the message of another run; the lock holds without it.
        let holder = format!("process {} {}", std::process::id(), machine::host());
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", holder.trim()));
        return Ok(Some(Lock { path, _file: file }));
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(there)) => identity(own) == identity(there),
        _ => false,
    }
}

/// Open files cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time_holds_the_lock_and_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let held = take(root.path()).unwrap().unwrap();
        assert!(
            matches!(take(root.path()), Err(WriterError::InUse { holder, .. }) if holder.contains("process"))
        );
        drop(held);
        assert!(!root.path().join(FILE).exists());
        // Many that take turns never hold it together.
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(Some(held)) = take(root.path()) {
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            std::thread::yield_now();
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(held);
                        }
                    }
                });
            }
        });
        assert!(!root.path().join(FILE).exists());
    }
}
