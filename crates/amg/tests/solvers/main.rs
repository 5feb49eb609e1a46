//! Tests of the solvers, in one program: what all of them instantiate is compiled once.
//!
//! Part of it: `cargo test --release -p dgsuite-amg --test solvers pcg::`.

mod amg;
mod device;
mod gmres;
mod matrix_market;
mod multigrid;
mod pcg;
mod solve;
