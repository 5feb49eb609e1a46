//! The binary `dgsuite`: parses the command line, runs the command and returns the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: dgsuite_gpu::HugePages = dgsuite_gpu::HugePages;

fn main() -> ExitCode {
    dgsuite::program().run()
}
