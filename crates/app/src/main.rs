//! The binary `dgsuite`: parses the command line, runs the command and returns the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: dgsuite_gpu::HugePages = dgsuite_gpu::HugePages;

fn main() -> ExitCode {
    dgsuite::cli::main(dgsuite::cli::Cli::parse())
}
