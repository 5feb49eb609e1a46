//! Source terms, `∂u/∂t + ∇·F = S(t, x)`: from formulas, or derived from an exact solution.

mod formulas;
mod manufactured;

pub use formulas::FormulaSource;
pub use manufactured::{Manufactured, ScalarDiffusivity, SourceError, source_of};

use crate::trace::{Parameters, TraceError};

/// A source term of the conserved unknowns as a function of time and place.
pub trait Source: Send + Sync {
    /// Number of fields, the `N` of the law.
    fn n_fields(&self) -> usize;

    /// Computes the source term at points `(x, y, z)` and time `t`: `out[k][i]` is field `k` at point `i`,
    /// per volume and time. Each vector of `out` is set to the number of points; nothing is allocated if it
    /// has the capacity.
    ///
    /// # Panics
    /// If `out` does not have one vector per field.
    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]);

    /// Returns whether the source term does not depend on time.
    fn is_steady(&self) -> bool;

    /// Prints `__device__ void source(const Parameters&, const real
    /// (&x)[3], const real t, real (&out)[n_fields])`.
    ///
    /// # Errors
    /// [`TraceError::ParameterConflict`] if a parameter has another value in an earlier function of the
    /// kernel.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// [`Source`] for a type that holds a recording.
macro_rules! source_from_recording {
    ($t:ty) => {
        impl $crate::source::Source for $t {
            fn n_fields(&self) -> usize {
                self.recording.n_outputs()
            }

            fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
                self.recording.eval_batch(t, x, out);
            }

            fn is_steady(&self) -> bool {
                !self.recording.depends_on_time()
            }

            fn device_source(
                &self,
                parameters: &mut $crate::trace::Parameters,
            ) -> Result<String, $crate::trace::TraceError> {
                self.recording.device_fn("source", parameters)
            }
        }
    };
}
use source_from_recording;
