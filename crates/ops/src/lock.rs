//! Work space that threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks work space of which each thread has one.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The work space has no invariant, so it can be used after a panic of another thread.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
