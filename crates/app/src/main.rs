//! The binary `dgsuite`: parse the command line, do it, hand back the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    dgsuite::cli::main(dgsuite::cli::Cli::parse())
}
