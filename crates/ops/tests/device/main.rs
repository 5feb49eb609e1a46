//! The operators on the device are compared with the host's. Without device or compiler tests print SKIPPED.

#![allow(clippy::print_stdout, clippy::print_stderr)] // prints what it skips

#[allow(dead_code)] // shared with the tests of the host in tests/laws
#[path = "../laws/testkit.rs"]
mod testkit;

#[allow(dead_code)] // likewise
#[path = "../common/reactions.rs"]
mod reactions_of_gas;

#[path = "../common/several.rs"]
mod several;

mod compile;
mod elliptic;
mod elliptic_parts;
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
