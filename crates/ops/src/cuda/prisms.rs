//! Kernels made for prisms.

pub(super) mod prism;
pub(super) mod prism_cubature;
pub(super) mod prism_cubature_diffusion;
pub(super) mod prism_diffusion;
