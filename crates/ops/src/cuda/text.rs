//! Texts of kernels: laws, settings, operators, headers, and the universal kernels.

pub(super) mod kernel_text;
pub(super) mod literals;
pub(super) mod operators;
pub(super) mod passes;
pub(super) mod published;
pub(super) mod sections;
pub(super) mod setting;
pub(super) mod speed;
