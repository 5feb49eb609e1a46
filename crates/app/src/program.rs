//! The program `dgsuite` with numerical fluxes, boundary conditions and monitors of another crate.

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli;
use crate::monitors;
use crate::own::{self, ConditionKind, Own};
use dgsuite_solve::own::Flux;

/// The program that runs pipeline files, with what another crate adds to it.
///
/// Words, keys, their checks and messages, `dgsuite keys` and the schema know the additions; fluxes and
/// conditions run on CPUs and GPUs like those of this workspace, and meet them.
///
/// ```no_run
/// use dgsuite::{monitors::Kind, own::ConditionKind};
/// use dgsuite_solve::own::Flux;
/// use std::process::ExitCode;
///
/// fn main_with(flux: Flux, wall: ConditionKind, mean: &'static Kind) -> ExitCode {
///     dgsuite::program().flux(flux).condition(wall).monitor(mean).run()
/// }
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Program {
    own: Own,
    monitors: Vec<&'static monitors::Kind>,
}

/// The program as it is.
pub fn program() -> Program {
    Program::default()
}

impl Program {
    /// Adds a numerical flux, made by [`dgsuite_solve::own::flux`].
    pub fn flux(mut self, flux: Flux) -> Self {
        self.own.fluxes.push(flux);
        self
    }

    /// Adds a boundary condition of a gas.
    pub fn condition(mut self, kind: ConditionKind) -> Self {
        self.own.conditions.push(kind);
        self
    }

    /// Adds a monitor.
    pub fn monitor(mut self, kind: &'static monitors::Kind) -> Self {
        self.monitors.push(kind);
        self
    }

    /// Makes the additions known in this process; only the first call does.
    pub fn install(self) {
        own::install(self.own);
        monitors::install(self.monitors);
    }

    /// Runs the command line and returns the exit code.
    pub fn run(self) -> ExitCode {
        self.install();
        cli::main(cli::Cli::parse())
    }
}
