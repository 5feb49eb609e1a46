//! One field of a solution, as the data of a scalar.

use super::Exact;
use crate::trace::Recording;
use std::sync::Arc;

/// One field of a solution.
///
/// ```
/// use dgsuite_physics::exact::{Exact, OneField};
/// use dgsuite_physics::trace::Recording;
/// use std::sync::Arc;
/// let flow = Arc::new(Recording::new(|t, x| [x[1] * t, -x[0], x[0] * x[1]]));
/// let mut out = vec![Vec::new()];
/// OneField { of: flow, field: 2 }.eval(2.0, &[[3.0, 4.0, 0.0]], &mut out);
/// assert_eq!(out, [[12.0]]);
/// ```
#[derive(Clone)]
pub struct OneField {
    /// The solution.
    pub of: Arc<dyn Exact>,
    /// The number of the field.
    pub field: usize,
}

impl Exact for OneField {
    fn n_fields(&self) -> usize {
        1
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), 1, "one field");
        let mut all = vec![Vec::new(); self.of.n_fields()];
        self.of.eval(t, x, &mut all);
        out[0] = all.swap_remove(self.field);
    }

    fn is_steady(&self) -> bool {
        self.of.is_steady()
    }

    fn recorded(&self) -> Option<Recording> {
        let all = self.of.recorded()?;
        Some(Recording::new(|t, x| [all.eval(t, &x)[self.field]]))
    }
}
