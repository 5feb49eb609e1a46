//! The monitor `mean_mach`: the mean Mach number over the domain.

use std::sync::Arc;

use dgsuite::file::every::Every;
use dgsuite::file::keys::{Absent, GAS};
use dgsuite::file::problem::InputError;
use dgsuite::file::section::Section;
use dgsuite::models::variables::Variables;
use dgsuite::monitor_section;
use dgsuite::monitors::{Context, Kind, Monitor, MonitorError, Now, Spec, Values, charts};
use dgsuite_physics::formula::Formula;
use dgsuite_solve::flow::Flow;

/// The monitor as pipeline files know it.
pub(crate) static MONITOR: Kind = Kind {
    name: "mean_mach",
    keys: &[monitor_section!("mean_mach", GAS, "The mean Mach number.", Absent::Value("10"))],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: charts::all,
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(AsWritten))
}

/// It has no keys of its own.
#[derive(Debug)]
struct AsWritten;

impl Spec for AsWritten {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let formula = |text: &str| context.vocabulary.known("monitors.mean_mach", text);
        let square = if context.mesh.dim() == 3 { "u^2 + v^2 + w^2" } else { "u^2 + v^2" };
        let mach = formula(&format!("sqrt(({square})*rho/(gamma*p))"))?;
        Ok(Box::new(MeanMach { mach, one: formula("1")? }))
    }

    /// What `checks` may name.
    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        vec!["mean_mach".to_owned()]
    }
}

struct MeanMach {
    mach: Formula,
    one: Formula,
}

impl Monitor for MeanMach {
    fn columns(&self, _: &Variables) -> Vec<String> {
        vec!["mean".to_owned()]
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let integrals = solver.integral_of_derivatives(&[&self.mach, &self.one]);
        let mean = integrals[0] / integrals[1];
        values.put(&["mean_mach"], mean);
        Ok(Some(vec![mean]))
    }
}
