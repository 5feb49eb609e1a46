//! The monitor `flow_rate`: the mean velocity and the force that keeps it.

use std::sync::Arc;

use super::{Context, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::{Absent::Value, VISCOUS};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_solve::flow::Flow;

pub(super) static MONITOR: Kind = Kind {
    name: "flow_rate",
    keys: &[section!(
        "flow_rate",
        VISCOUS,
        "The mean velocity and the force per mass that keeps it, with `physics.flow_rate`.",
        Value("10")
    )],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: charts::all,
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(FlowRate))
}

#[derive(Debug)]
struct FlowRate;

impl Spec for FlowRate {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        if context.states.driven {
            return Ok(Box::new(Self));
        }
        let (key, expected) = ("physics.flow_rate", "a mean velocity, such as { mean: 1 }");
        let problem = Problem::MissingKey { key: key.to_owned(), expected: expected.to_owned() };
        Err(InputError::at(context.place, problem))
    }
}

impl Monitor for FlowRate {
    fn columns(&self, _: &Variables) -> Vec<String> {
        ["mean", "force"].map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        _: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        // No row without a step whose force it could name: at the start, and where the past of a checkpoint
        // does not fit.
        let driven = solver.driven().filter(|driven| driven.after_step);
        Ok(driven.map(|driven| vec![driven.mean, driven.force]))
    }
}
