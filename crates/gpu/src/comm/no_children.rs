//! Systems without Unix sockets: no process starts others as ranks.

use std::io;
use std::process::Command;
use std::sync::Arc;

use super::{CommError, Communicator};

/// Refuses to start processes.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub fn run_children(_: Vec<Command>, _: impl Fn() -> Option<i32>) -> io::Result<Vec<i32>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "several processes of one host need a Unix system"))
}

/// Returns `None`: there is no rank that was started by [`run_children`].
///
/// # Errors
/// None.
pub fn child_rank() -> Result<Option<Arc<dyn Communicator>>, CommError> {
    Ok(None)
}
