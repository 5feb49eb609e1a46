//! SIMD: packs of lanes, products of panels with rows of packs, numbers of unknowns. Names no operator.

pub(crate) mod panel;
pub(crate) mod simd;
pub(crate) mod span;
