//! The space: schemes, reference elements in groups and parts, layouts, geometry, connectivity, liftings.

pub(crate) mod above;
pub(crate) mod chain;
pub(crate) mod connect;
pub(crate) mod directions;
pub(crate) mod geometry;
pub(crate) mod group;
pub(crate) mod layout;
pub(crate) mod lifting;
pub(crate) mod lines;
pub(crate) mod packing;
pub(crate) mod positions;
pub(crate) mod quadratic;
pub(crate) mod sample;
pub(crate) mod scheme;
pub(crate) mod step_measure;
pub(crate) mod widths;
