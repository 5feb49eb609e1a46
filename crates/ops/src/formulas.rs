//! Point formulas of an equation for a block of lanes at a time: fluxes, boundaries, reactions.

pub(crate) mod above_wall;
pub(crate) mod boundary;
pub(crate) mod diffusion;
pub(crate) mod diffusive_boundary;
pub(crate) mod directed;
pub(crate) mod equation;
pub(crate) mod pointwise;
pub(crate) mod reacting;
pub(crate) mod two_point;
