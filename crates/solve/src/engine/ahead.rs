//! Steps that a device takes while the host waits for earlier ones.

use dgsuite_ops::cuda::ControlStart;
use dgsuite_timeint::TimePoint;

/// Steps that are started together.
#[derive(Clone, Copy, Debug)]
pub enum Ahead<'a> {
    /// Steps with these starts and sizes.
    Sizes(&'a [(TimePoint, f64)]),
    /// `n` steps, each the multiple `cfl` of the step bound of its own state. `from` is the start of the
    /// first one; `None` continues after the steps in progress.
    Cfl {
        /// The multiple.
        cfl: f64,
        /// The number of steps.
        n: usize,
        /// The start of the first.
        from: Option<TimePoint>,
    },
    /// `n` steps at time `t` in which each element takes the multiple `cfl` of its own bound.
    Local {
        /// The time of sources and boundary data.
        t: f64,
        /// The multiple.
        cfl: f64,
        /// The number of steps.
        n: usize,
    },
    /// `n` attempts at steps by their error. `from` is the start of the first one with the initial values of
    /// the control; `None` continues after the attempts in progress.
    Attempts {
        /// The number of attempts.
        n: usize,
        /// The start of the first.
        from: Option<(TimePoint, ControlStart)>,
    },
}
