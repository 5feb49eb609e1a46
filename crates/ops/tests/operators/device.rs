//! The operators on the device are compared with the host's. Without device or compiler tests print SKIPPED.

#![allow(clippy::print_stdout, clippy::print_stderr)] // prints what it skips

mod compile;
mod compiled;
mod elliptic;
mod elliptic_parts;
mod elliptic_ranks;
mod emulated;
mod integrals;
mod limiter;
mod march;
mod places;
mod ranks;
mod reactions;
mod residual;
mod resources;
mod sanitized;
mod unknowns;
mod viscous;
