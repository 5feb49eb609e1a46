//! What is fuzzed, as plain functions.

pub mod mutate;
pub mod targets;
