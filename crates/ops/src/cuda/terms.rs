//! The terms of an equation beside its fluxes, on a device: boundaries, sources, reactions, formulas at
//! nodes.

pub(super) mod above_wall;
pub(super) mod at_nodes;
pub(super) mod boundary;
pub(super) mod diffusive_boundary;
pub(super) mod exact_sums;
pub(super) mod reaction;
pub(super) mod source_term;
