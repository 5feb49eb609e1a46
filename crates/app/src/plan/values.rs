//! The values of a summary that checks may name, so that a mistyped one is rejected before the run.

use super::variables::Variables;
use crate::pipeline::checks::CheckSpec;
use crate::pipeline::monitors::{ForcesSpec, MonitorKind, MonitorSpec, NamedFormula, Norm};
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::reference::Reference;
use crate::pipeline::source::Located;
use dgsuite_solve::flow::Law;
use dgsuite_solve::post::forces::Coefficients;

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
const OF_SOLVES: [&str; 11] = [
    "linear.pressure.iterations",
    "linear.pressure.max",
    "linear.velocity.iterations",
    "linear.velocity.max",
    "linear.penalty.iterations",
    "linear.penalty.max",
    "timing.phases.advection",
    "timing.phases.pressure",
    "timing.phases.velocity",
    "timing.phases.penalty",
    "timing.phases.rest",
];

/// Paths that the monitor of a limiter adds.
const OF_LIMITERS: [&str; 5] =
    ["limited.mean", "limited.max", "limited.factor", "limited.density", "limited.pressure"];

/// The values that can be checked.
#[derive(Clone, Debug)]
pub struct KnownValues {
    names: Vec<String>,
    study: bool,
}

/// The paths that monitors of the flow add.
fn flow_values(monitors: &[MonitorSpec]) -> Vec<String> {
    let mut names = Vec::new();
    let joined =
        |spec: &ForcesSpec| spec.boundaries.iter().map(|b| b.value.as_str()).collect::<Vec<_>>().join("+");
    let (mut lengths, mut probes, mut samples) = (0, 0, 0);
    let numbered = |name: &str, count: usize| match count {
        1 => name.to_owned(),
        n => format!("{name}-{n}"),
    };
    for monitor in monitors {
        match &monitor.kind {
            MonitorKind::Forces(spec) => {
                let start = format!("forces.{}", joined(spec));
                names.extend(Coefficients::default().named().map(|(c, _)| format!("{start}.{c}")));
                for (vector, axis) in ["force", "pressure_force", "viscous_force", "moment"]
                    .iter()
                    .flat_map(|vector| (0..3).map(move |d| (vector, d)))
                {
                    names.push(format!("{start}.{vector}.{axis}"));
                }
                names.extend(["heat", "wetted_area"].map(|x| format!("{start}.{x}")));
                if spec.from.is_some() {
                    let means = ["mean", "deviation", "amplitude", "min", "max"]
                        .iter()
                        .flat_map(|m| ["cd", "cl"].map(|c| format!("{start}.{m}.{c}")));
                    names.extend(means);
                    names.extend(["from", "strouhal", "strouhal_resolution"].map(|x| format!("{start}.{x}")));
                }
            }
            MonitorKind::Wall(spec) => {
                let start = format!("wall.{}", joined(spec));
                names.extend(["cp_min", "cp_max", "cf_max"].map(|x| format!("{start}.{x}")));
                names.extend(["separation", "attachment"].map(|x| format!("{start}.{x}.count")));
            }
            MonitorKind::Recirculation { .. } => {
                lengths += 1;
                names.push(format!("recirculation.{}", numbered("length", lengths)));
            }
            MonitorKind::Probe { points, fields } => {
                probes += 1;
                let start = numbered("probe", probes);
                let of_field = |field: &NamedFormula| {
                    (0..points.len()).map(|i| format!("{start}.{}.{i}", field.name)).collect::<Vec<_>>()
                };
                names.extend(fields.iter().flat_map(of_field));
                if points.len() == 2 {
                    names.extend(fields.iter().map(|field| format!("{start}.{}.difference", field.name)));
                }
            }
            MonitorKind::Sample { fields, .. } => {
                samples += 1;
                let start = numbered("sample", samples);
                let of_field = |field: &NamedFormula| {
                    ["min", "max", "mean"].map(|number| format!("{start}.{}.{number}", field.name))
                };
                names.extend(fields.iter().flat_map(of_field));
            }
            _ => {}
        }
    }
    names
}

impl KnownValues {
    /// The values of a run of this model with these monitors. `has_exact`: error norms are computed; `study`:
    /// adds rates and the rows of the table.
    pub fn new(
        variables: &Variables,
        monitors: &[MonitorSpec],
        has_exact: bool,
        steady: bool,
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
        let recorded = monitors.iter().any(|monitor| matches!(monitor.kind, MonitorKind::Residual));
        let incompressible = matches!(variables.law(), Law::Incompressible(_));
        let substeps = matches!(variables.law(), Law::Incompressible(law) if law.subcycles.is_some());
        for (section, there) in [("conservation", !incompressible), ("residual", recorded)] {
            let fields = variables.conserved.iter().filter(|_| there);
            names.extend(fields.map(|field| format!("{section}.{field}")));
        }
        if incompressible {
            names.extend(OF_SOLVES.map(str::to_owned));
        }
        if matches!(variables.law(), Law::Incompressible(law) if law.flow_rate.is_some()) {
            names.extend(["flow_rate.mean", "flow_rate.force"].map(str::to_owned));
        }
        if substeps {
            names.extend(["time.substeps.mean", "time.substeps.max"].map(str::to_owned));
        }
        if monitors.iter().any(|monitor| matches!(monitor.kind, MonitorKind::Divergence)) {
            let all = ["l2", "jumps", "growth.l2", "growth.jumps"];
            names.extend(all.map(|name| format!("divergence.{name}")));
        }
        if monitors.iter().any(|monitor| matches!(monitor.kind, MonitorKind::Limited)) {
            names.extend(OF_LIMITERS.map(str::to_owned));
        }
        for monitor in monitors {
            if let MonitorKind::Integral { fields, reference } = &monitor.kind {
                for name in fields.iter().map(|f| &f.name) {
                    names.extend([format!("integral.{name}"), format!("history.{name}.decay")]);
                    names.push(format!("history.{name}.decay_time"));
                    if reference.iter().flat_map(|r| &r.columns).any(|(n, _)| n == name) {
                        names.push(format!("history.{name}.deviation"));
                    }
                }
            }
        }
        names.extend(flow_values(monitors));
        if steady {
            names.push("steady.residual".to_owned());
        }
        names.extend(ALWAYS.map(str::to_owned));
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

    /// Returns whether a path names a level or an iteration of a linear solve, whose numbers are not known
    /// before the run.
    fn is_of_solve(&self, path: &str) -> bool {
        let number = |rest: &str| rest.parse::<usize>().is_ok();
        let level = |rest: &str| {
            rest.split_once('.')
                .is_some_and(|(n, what)| number(n) && ["rows", "nonzeros", "bytes"].contains(&what))
        };
        self.names.iter().any(|name| name == "linear.iterations")
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
