//! Systems without Unix sockets: no process starts others as ranks.

use std::io;
use std::process::Command;
use std::sync::Arc;

use super::{CommError, Communicator};

/// How the processes of [`run_children`] ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// The exit code of each; 128 + signal if a signal ended it.
    pub codes: Vec<i32>,
    /// The first that a signal ended, with this signal, unless another one had failed before.
    pub killed: Option<(usize, i32)>,
    /// Those that did not end after another one had failed, and were killed.
    pub hung: Vec<usize>,
}

/// Refuses to start processes.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub fn run_children(_: Vec<Command>, _: impl Fn() -> Option<i32>) -> io::Result<Endings> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "several processes of one host need a Unix system"))
}

/// Returns `None`: there is no rank that was started by [`run_children`].
///
/// # Errors
/// None.
pub fn child_rank() -> Result<Option<Arc<dyn Communicator>>, CommError> {
    Ok(None)
}
