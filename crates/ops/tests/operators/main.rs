//! Tests of the operators, in one program: what all of them instantiate is compiled once.
//!
//! Part of it: `cargo test --release -p dgsuite-ops --test operators laws::`.

mod device;
mod elliptic;
mod laws;
mod parallel;
mod properties;
mod reactions_of_gas;
mod refusals;
mod several;
mod testkit;
