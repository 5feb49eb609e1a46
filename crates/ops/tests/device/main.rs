//! The device's operators against the host's. Without a device or a compiler a test says SKIPPED.

#![allow(clippy::print_stdout, clippy::print_stderr)] // says what it skips

#[allow(dead_code)] // shared with the laws of the host
#[path = "../laws/testkit.rs"]
mod testkit;

mod compile;
mod elliptic;
mod emulated;
mod march;
mod residual;
mod resources;
mod sanitized;
mod viscous;
