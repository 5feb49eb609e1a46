//! What a limiter did in the last stage, and the extremes that it is for.

use super::Hyperbolic;
use dgsuite_ops::Limited;

impl Hyperbolic {
    /// Returns what the limiter did in the last stage; `None` without a limiter.
    #[must_use]
    pub fn limited(&self) -> Option<Limited> {
        self.engine.limited()
    }

    /// Returns the smallest density and the smallest pressure at the points at which the limiter bounds them;
    /// NaN if a value is not a number. `None` without a limiter.
    #[must_use]
    pub fn least(&self) -> Option<[f64; 2]> {
        self.engine.least()
    }
}
