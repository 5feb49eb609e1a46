//! Kernels made for quadrilaterals and hexahedra.

pub(super) mod gauss;
pub(super) mod gauss_diffusion;
pub(super) mod tensor;
pub(super) mod tensor_diffusion;
