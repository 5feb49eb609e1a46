//! Recorded formulas: the graph and the printed C++ compute the same as Rust.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod compiled;
mod recorded;
mod snapshots;
mod sources;
mod tangents;
