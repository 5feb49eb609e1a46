//! The program `dgsuite` with a numerical flux, a boundary condition and a monitor of its own: three files,
//! and this one, which adds them. Everything else is as in `dgsuite`: commands, keys, checks, CPUs and GPUs.
//!
//! ```text
//! cargo run --release -p own-flux -- run examples/own-flux/pulse.yaml
//! cargo run --release -p own-flux -- keys boundaries.NAME.porosity
//! ```
#![forbid(unsafe_code)]

mod davis;
mod mean_mach;
mod porous_wall;

use std::process::ExitCode;

/// As in `dgsuite`: large arrays of the solver are on huge pages.
#[global_allocator]
static ALLOCATOR: dgsuite_gpu::HugePages = dgsuite_gpu::HugePages;

fn main() -> ExitCode {
    dgsuite::program()
        .flux(dgsuite_solve::own::flux(davis::Davis))
        .condition(porous_wall::CONDITION)
        .monitor(&mean_mach::MONITOR)
        .run()
}
