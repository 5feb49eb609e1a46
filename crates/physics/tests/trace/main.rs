//! Recorded formulas: the graph computes what Rust computes, and so does the printed C++.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod compiled;
mod recorded;
mod snapshots;
mod sources;
