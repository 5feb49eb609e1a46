//! Kernels made for triangles and tetrahedra.

pub(super) mod element;
pub(super) mod fragments;
pub(super) mod simplex;
pub(super) mod simplex_diffusion;
