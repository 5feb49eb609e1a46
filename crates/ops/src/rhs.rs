//! The right-hand side on the CPU: the discretisation, its stages, what is exchanged, limiters, step bounds.

pub(crate) mod above_halo;
pub(crate) mod above_wall;
pub(crate) mod boundary_set;
pub(crate) mod diffusion_passes;
pub(crate) mod discretization;
pub(crate) mod finish;
pub(crate) mod halo;
pub(crate) mod limiter;
pub(crate) mod matrix_kernels;
pub(crate) mod one_sided;
pub(crate) mod places_above;
pub(crate) mod published;
pub(crate) mod ranks;
pub(crate) mod reaction;
pub(crate) mod residual;
pub(crate) mod schedule;
pub(crate) mod slopes;
pub(crate) mod source;
pub(crate) mod step_bound;
pub(crate) mod tally;
pub(crate) mod unknown_map;
