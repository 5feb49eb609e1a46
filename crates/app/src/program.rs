//! The program `dgsuite` with numerical fluxes, boundary conditions and monitors of another crate.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli;
use crate::conditions;
use crate::monitors;
use crate::own::{self, ConditionKind, Own};
use dgsuite_solve::flow::Riemann;
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
    conditions: Vec<ConditionKind>,
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
        self.conditions.push(kind);
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
        conditions::install(self.conditions);
        monitors::install(self.monitors);
    }

    /// A word that is added although it exists, with what it is.
    #[must_use]
    pub fn clash(&self) -> Option<String> {
        let twice = |names: Vec<&'static str>| {
            let mut seen = BTreeSet::new();
            names.into_iter().find(|name| !seen.insert(*name))
        };
        let fluxes = self.own.fluxes.iter().map(|flux| flux.0.name());
        let own = self.conditions.iter().map(|kind| kind.name);
        let monitors = self.monitors.iter().map(|kind| kind.name);
        let all = [
            ("numerical flux", Riemann::WORDS.iter().copied().chain(fluxes).collect()),
            ("boundary condition", conditions::kinds().map(|kind| kind.name).chain(own).collect()),
            ("monitor", monitors::kinds().map(|kind| kind.name).chain(monitors).collect()),
        ];
        all.into_iter().find_map(|(what, names)| Some(format!("{what} `{}`", twice(names)?)))
    }

    /// Runs the command line and returns the exit code.
    pub fn run(self) -> ExitCode {
        if let Some(word) = self.clash() {
            cli::say_error(&format!("this program adds the {word}, which exists"));
            return ExitCode::from(2);
        }
        self.install();
        cli::main(cli::Cli::parse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::keys::GAS;

    #[test]
    fn words_that_exist_are_found() {
        assert_eq!(program().clash(), None);
        let flux = dgsuite_solve::own::flux(dgsuite_physics::Hllc);
        assert_eq!(program().flux(flux).clash().as_deref(), Some("numerical flux `hllc`"));
        let monitor = monitors::KINDS[0];
        assert_eq!(program().monitor(monitor).clash().as_deref(), Some("monitor `residual`"));
        let wall = |name| ConditionKind {
            name,
            models: GAS,
            keys: &[],
            elsewhere: "",
            read: |section, _| Err(section.missing("x", "y")),
        };
        assert_eq!(program().condition(wall("new")).clash(), None);
        let twice = program().condition(wall("new")).condition(wall("new"));
        assert_eq!(twice.clash().as_deref(), Some("boundary condition `new`"));
        let old = program().condition(wall("slip-wall")).clash();
        assert_eq!(old.as_deref(), Some("boundary condition `slip-wall`"));
    }
}
