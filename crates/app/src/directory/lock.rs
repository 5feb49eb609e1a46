//! The lock on a directory of results, because two runs in one directory would destroy each other's files.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::writer::WriterError;

/// The file that is locked. It is never removed: if another run opened it meanwhile, both would have a lock.
pub(super) const FILE: &str = ".dgsuite.lock";

/// Acquires the lock, which is held until the file is closed, also if the process is killed. `None` if the
/// file system has no locks.
///
/// # Errors
/// [`WriterError::InUse`] if another run holds it, [`WriterError::Io`] if the directory cannot be written.
pub(super) fn take(root: &Path) -> Result<Option<File>, WriterError> {
    let path = root.join(FILE);
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(WriterError::Linked { path });
    }
    let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = opened.map_err(WriterError::io(&path))?;
    match file.try_lock() {
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
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let holder = format!("process {} {}", std::process::id(), host.trim());
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", holder.trim()));
    Ok(Some(file))
}
