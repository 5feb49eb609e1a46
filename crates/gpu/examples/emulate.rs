//! Runs a program on an emulated NVIDIA device: `emulate PROGRAM ARGUMENTS…`; without a program, prints the
//! device.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::shim::{Emulator, ShimError};

/// The argument with which this program starts itself.
const SHOW: &str = "--show";

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|a| a == SHOW) {
        Cuda::devices()?.iter().for_each(|device| println!("{device}"));
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.is_empty() {
        arguments = vec![std::env::current_exe()?.into(), SHOW.into()];
    }
    let emulator = match Emulator::new() {
        Err(reason @ ShimError::NoCompiler { .. }) => {
            println!("{reason}");
            return Ok(ExitCode::SUCCESS);
        }
        other => other?,
    };
    let status = emulator.command(&arguments[0]).args(&arguments[1..]).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
