//! The precision of a solution.

/// Floating-point precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    #[default]
    Double,
    /// 32 bits.
    Single,
}
