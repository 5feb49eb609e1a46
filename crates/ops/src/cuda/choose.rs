//! The choice: which layout and which kernels run the elements of a shape.

pub(super) mod fast;
pub(super) mod fast_diffusion;
pub(super) mod part_texts;
pub(super) mod scheme;
