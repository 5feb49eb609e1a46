//! The values of a summary that checks may name, so that a mistyped one is rejected before the run.

use crate::communication::PER_STEP;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use crate::models::reference::Reference;
use crate::models::variables::Variables;
use crate::monitors::{MonitorSpec, Norm};
use crate::pipeline::checks::CheckSpec;
use dgsuite_solve::flow::Law;

/// Paths in the summary of every run.
const ALWAYS: [&str; 22] = [
    "ranks",
    "threads",
    "mesh.faces",
    "mesh.order",
    "space.order",
    "space.dofs",
    "time.steps",
    "time.end",
    "time.dt_min",
    "time.dt_max",
    "time.rejected",
    "time.retries",
    "time.counted_from_step",
    "timing.from_step",
    "timing.setup_s",
    "timing.plan_s",
    "timing.run_s",
    "timing.output_s",
    "timing.rhs_evaluations",
    "timing.gdofs_per_s",
    "memory.expected",
    "memory.peak",
];

/// Paths in the summary of incompressible flow.
const OF_SOLVES: [&str; 12] = [
    "linear.pressure.iterations",
    "linear.pressure.max",
    "linear.velocity.iterations",
    "linear.velocity.max",
    "linear.penalty.iterations",
    "linear.penalty.max",
    "timing.phases.advection",
    "timing.phases.pressure",
    "timing.phases.velocity",
    "timing.phases.scalars",
    "timing.phases.penalty",
    "timing.phases.rest",
];

/// Paths in the summary of a run by Newton steps.
const OF_NEWTON: [&str; 8] = [
    "newton.steps",
    "newton.linear_iterations",
    "newton.jacobian_products",
    "newton.product_s",
    "newton.setups",
    "newton.setup_s",
    "newton.solve_s",
    "newton.bytes",
];

/// Values of forces that have derivatives.
const SENSITIVE: [&str; 11] = [
    "cd",
    "cl",
    "cs",
    "cm",
    "cd_pressure",
    "cd_viscous",
    "force",
    "pressure_force",
    "viscous_force",
    "moment",
    "heat",
];

/// What the summary tells of the linelets of a solver.
const LINES: [&str; 6] =
    ["lines", "elements", "longest", "thin_elements_without", "thin_elements_in_short", "bytes"];

/// The values that can be checked.
#[derive(Clone, Debug)]
pub struct KnownValues {
    names: Vec<String>,
    study: bool,
}

impl KnownValues {
    /// The values of a run of this model with these monitors. `has_exact`: error norms are computed; `study`:
    /// adds rates and the rows of the table; `steady`: whether a run to a steady state takes Newton steps.
    pub fn new(
        variables: &Variables,
        monitors: &[MonitorSpec],
        has_exact: bool,
        steady: Option<bool>,
        study: bool,
    ) -> Self {
        let mut names = Vec::new();
        let norms = Norm::ALL.map(|(word, _)| word);
        let mut norms_of = |section: &str| {
            for norm in norms {
                names.extend(variables.all().iter().map(|field| format!("{section}.{norm}.{field}")));
            }
        };
        if has_exact {
            norms_of("error");
            if study {
                norms_of("rate");
            }
        }
        names.extend(crate::monitors::values(monitors, variables));
        let incompressible = matches!(variables.law(), Law::Incompressible(_));
        let substeps = matches!(variables.law(), Law::Incompressible(law) if law.subcycles.is_some());
        if !incompressible {
            names.extend(variables.conserved.iter().map(|field| format!("conservation.{field}")));
        }
        if incompressible {
            names.extend(OF_SOLVES.map(str::to_owned));
        }
        if matches!(variables.law(), Law::Incompressible(law) if !law.scalars.is_empty()) {
            names.extend(["linear.scalars.iterations", "linear.scalars.max"].map(str::to_owned));
        }
        if substeps {
            names.extend(["time.substeps.mean", "time.substeps.max"].map(str::to_owned));
        }
        if steady.is_some() {
            names.push("steady.residual".to_owned());
        }
        if steady == Some(true) {
            names.extend(OF_NEWTON.map(str::to_owned));
        }
        names.extend(ALWAYS.into_iter().chain(PER_STEP).map(str::to_owned));
        Self { names, study }
    }

    /// Adds the reference quantities.
    #[must_use]
    pub fn with_reference(mut self, reference: Option<&Reference>) -> Self {
        let Some(reference) = reference else { return self };
        let names = reference.names().into_iter().map(|(name, _)| name);
        let numbers = reference.gas.map(|_| "mach").into_iter().chain(reference.reynolds.map(|_| "reynolds"));
        self.names.extend(names.chain(numbers).map(|name| format!("reference.{name}")));
        self
    }

    /// Adds the mean velocity of a prescribed flow rate and the force that keeps it.
    #[must_use]
    pub fn with_flow_rate(mut self) -> Self {
        self.names.extend(["flow_rate.mean", "flow_rate.force"].map(str::to_owned));
        self
    }

    /// Adds the derivatives of forces.
    #[must_use]
    pub fn with_sensitivities(mut self, constants: &[Located<String>]) -> Self {
        let derived = |name: &String| -> Vec<String> {
            let mut parts = name.splitn(3, '.');
            let (Some("forces"), Some(on), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
                return Vec::new();
            };
            let first = value.split('.').next().unwrap_or(value);
            if !SENSITIVE.contains(&first) {
                return Vec::new();
            }
            constants.iter().map(|by| format!("forces.{on}.sensitivities.{}.{value}", by.value)).collect()
        };
        let more: Vec<String> = self.names.iter().flat_map(derived).collect();
        self.names.extend(more);
        self
    }

    /// Adds what implicit steps in time cost.
    #[must_use]
    pub fn with_implicit_steps(mut self) -> Self {
        self.names.extend(OF_NEWTON.into_iter().chain(["newton.explicit_steps"]).map(str::to_owned));
        self
    }

    /// Adds the times and steps of triggers.
    #[must_use]
    pub fn with_triggers(mut self, n: usize) -> Self {
        let of_trigger = |i: usize| ["time", "step"].map(|word| format!("triggers.{i}.{word}"));
        self.names.extend((0..n).flat_map(of_trigger));
        self
    }

    /// Makes the set of these values.
    pub fn of(names: Vec<String>, study: bool) -> Self {
        Self { names, study }
    }

    /// Returns whether a path names a separation point of a wall; their number is not known before the run.
    fn is_turn(&self, path: &str) -> bool {
        let rest = |turns: &str| {
            let start =
                self.names.iter().find_map(|n| n.strip_suffix(".count")?.strip_suffix(turns).map(str::len));
            start.and_then(|n| path.get(n..)?.strip_prefix(turns)?.strip_prefix('.'))
        };
        ["separation", "attachment"].iter().filter_map(|turns| rest(turns)).any(|rest| {
            rest.split_once('.')
                .is_some_and(|(n, axis)| n.parse::<usize>().is_ok() && ["x", "y"].contains(&axis))
        })
    }

    /// Returns whether a path names a level, an iteration or the linelets of a linear solve, whose numbers
    /// are not known before the run.
    fn is_of_solve(&self, path: &str) -> bool {
        let known = |name: &str| self.names.iter().any(|n| n == name);
        let of_lines = |solver: &str| {
            let name = path.strip_prefix(solver).and_then(|rest| rest.strip_prefix(".linelets."));
            name.is_some_and(|name| LINES.contains(&name)) && known(&format!("{solver}.iterations"))
        };
        if of_lines("linear") || of_lines("linear.pressure") {
            return true;
        }
        let number = |rest: &str| rest.parse::<usize>().is_ok();
        let level = |rest: &str| {
            rest.split_once('.')
                .is_some_and(|(n, what)| number(n) && ["rows", "nonzeros", "bytes"].contains(&what))
        };
        known("linear.iterations")
            && (path.strip_prefix("linear.residuals.").is_some_and(number)
                || path.strip_prefix("linear.levels.").is_some_and(level))
    }

    /// Rejects a check of a value that the run will not have.
    ///
    /// # Errors
    /// [`Problem::UnknownValue`] with the nearest path.
    pub fn admit(&self, check: &CheckSpec) -> Result<(), InputError> {
        self.admit_path(&check.value)
    }

    /// Rejects the path of a value that the run will not have.
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub fn admit_path(&self, value: &Located<String>) -> Result<(), InputError> {
        let path = &value.value;
        let in_table = self.study && path.starts_with("table.");
        let counted = in_table || self.is_turn(path) || self.is_of_solve(path);
        if counted || path.starts_with("mesh.elements.") || self.names.contains(path) {
            return Ok(());
        }
        Err(InputError::at(
            &value.place,
            Problem::UnknownValue { key: value.key.clone(), found: path.clone(), known: self.names.clone() },
        ))
    }
}
