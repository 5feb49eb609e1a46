//! Work on which all ranks agree: sums, maxima, and the first failure of the communication.

use std::sync::{Arc, Mutex, PoisonError};

use super::{CommError, Communicator};
use crate::{ExactSum, sum_all};

/// A communicator that keeps the first failure instead of returning it, for work that cannot end at once.
///
/// After a failure sums and maxima are NaN, so that an iteration ends; [`take_failure`](Self::take_failure)
/// then tells the cause.
pub struct Joint {
    comm: Arc<dyn Communicator>,
    failure: Mutex<Option<CommError>>,
}

impl Joint {
    /// The ranks of a communicator.
    pub fn new(comm: Arc<dyn Communicator>) -> Self {
        Self { comm, failure: Mutex::new(None) }
    }

    /// The communicator.
    pub fn comm(&self) -> &Arc<dyn Communicator> {
        &self.comm
    }

    /// Sums over all ranks, rounded once; NaN after a failure. Collective.
    #[must_use]
    pub fn sum(&self, sums: &mut [ExactSum]) -> Vec<f64> {
        let n = sums.len();
        self.kept(sum_all(self.comm.as_ref(), sums)).unwrap_or_else(|| vec![f64::NAN; n])
    }

    /// Replaces each value by the largest one of all ranks; by NaN after a failure. Collective.
    pub fn max(&self, values: &mut [f64]) {
        if self.kept(self.comm.max(values)).is_none() {
            values.fill(f64::NAN);
        }
    }

    /// The result, or `None` after keeping the failure.
    pub fn kept<V>(&self, result: Result<V, CommError>) -> Option<V> {
        result
            .map_err(|error| {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                // The first failure is the cause of all that follow.
                failure.get_or_insert(error);
            })
            .ok()
    }

    /// Returns the first failure since the last call.
    #[must_use]
    pub fn take_failure(&self) -> Option<CommError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
