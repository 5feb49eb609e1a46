//! The monitor `residual`: the L² norm of du/dt of each conserved variable.

use std::sync::Arc;

use serde_json::json;

use super::{Context, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::{Absent::Value, FLOW};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_solve::flow::Flow;

pub(super) static MONITOR: Kind = Kind {
    name: "residual",
    keys: &[section!("residual", FLOW, "The L² norm of du/dt of each conserved variable.", Value("100"))],
    every: Every::Steps(100),
    begins: false,
    read,
    chart: |name, table, _| charts::by_step(name, table),
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(Residual))
}

#[derive(Debug)]
struct Residual;

impl Spec for Residual {
    fn resolve(&self, _: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        Ok(Box::new(Self))
    }

    fn values(&self, _: &str, variables: &Variables) -> Vec<String> {
        variables.conserved.iter().map(|field| format!("residual.{field}")).collect()
    }
}

impl Monitor for Residual {
    fn columns(&self, variables: &Variables) -> Vec<String> {
        variables.conserved.iter().map(|&v| v.to_owned()).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let residual = solver.residual()?;
        // Rates that follow from past steps are infinite at the start, and where the past of a checkpoint
        // does not fit.
        if solver.solves().is_some() && residual.iter().all(|&rate| rate == f64::INFINITY) {
            return Ok(None);
        }
        for (name, x) in solver.variables().iter().zip(&residual) {
            values.put(&["residual", name], json!(x));
        }
        Ok(Some(residual))
    }
}
