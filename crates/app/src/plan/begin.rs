//! When something begins: an output, a mean, a monitor.

/// When something begins, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begin {
    /// At a time.
    At(f64),
    /// With the trigger of this number.
    Trigger(usize),
}

impl Begin {
    /// From the start of the run.
    pub const START: Self = Self::At(f64::NEG_INFINITY);
}
