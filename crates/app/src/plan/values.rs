//! The values of a summary that checks may name, so that a mistyped one is refused before the run.

use super::variables::Variables;
use crate::pipeline::checks::CheckSpec;
use crate::pipeline::monitors::{MonitorKind, MonitorSpec, Norm};
use crate::pipeline::problem::{InputError, Problem};

/// Paths of the summary that every run has.
const ALWAYS: [&str; 12] = [
    "mesh.faces",
    "mesh.order",
    "space.order",
    "space.dofs",
    "time.steps",
    "time.end",
    "time.dt_min",
    "time.dt_max",
    "timing.setup_s",
    "timing.run_s",
    "timing.rhs_evaluations",
    "timing.gdofs_per_s",
];

/// What can be checked.
#[derive(Clone, Debug)]
pub struct KnownValues {
    names: Vec<String>,
    study: bool,
}

impl KnownValues {
    /// The values of a run of this model with these monitors; `has_exact` if error norms are known; `study` adds
    /// rates and the rows of the table.
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
        for section in ["conservation", "residual"].into_iter().filter(|&s| recorded || s != "residual") {
            names.extend(variables.conserved.iter().map(|field| format!("{section}.{field}")));
        }
        for monitor in monitors {
            if let MonitorKind::Integral { fields } = &monitor.kind {
                names.extend(fields.iter().map(|f| format!("integral.{}", f.value)));
            }
        }
        if steady {
            names.push("steady.residual".to_owned());
        }
        names.extend(ALWAYS.map(str::to_owned));
        Self { names, study }
    }

    /// Refuses a check of a value that the run will not have.
    ///
    /// # Errors
    /// [`Problem::UnknownValue`] with the nearest path.
    pub fn admit(&self, check: &CheckSpec) -> Result<(), InputError> {
        let path = &check.value.value;
        let in_table = self.study && path.starts_with("table.");
        if in_table || path.starts_with("mesh.elements.") || self.names.contains(path) {
            return Ok(());
        }
        Err(InputError::at(
            &check.value.place,
            Problem::UnknownValue {
                key: check.value.key.clone(),
                found: path.clone(),
                known: self.names.clone(),
            },
        ))
    }
}
