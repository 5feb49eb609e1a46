//! The choice: which layout and which kernels run the elements of a shape.
//!
//! A scheme first gets the basis that fast kernels want (`scheme`). The host then builds the groups in the
//! layout that `layout` returns, and a [`Plan`](plan::Plan) names the kernels of each part of a group: fast
//! ones that `fast` finds, or with diffusion `fast_diffusion`, or else the universal ones. `part_texts`
//! builds the texts of a plan; [`ChosenKernels`](part_texts::ChosenKernels) shows it to users.

pub(super) mod fast;
pub(super) mod fast_diffusion;
pub(super) mod layout;
pub(super) mod part_texts;
pub(super) mod plan;
pub(super) mod scheme;
