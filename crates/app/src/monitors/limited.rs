//! The monitor `limited`: elements that a limiter changed, and the smallest density and pressure.

use std::sync::Arc;

use serde_json::json;

use super::{Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::{Absent::Value, GAS};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_solve::flow::Flow;

pub(super) static MONITOR: Kind = Kind {
    name: "limited",
    keys: &[section!(
        "limited",
        GAS,
        "Share of the elements that a limiter changed in the last stage, the smallest factor of their modes, \
         and the smallest density and pressure.",
        Value("100")
    )],
    every: Every::Steps(100),
    begins: false,
    read,
    chart: charts::all,
};

/// The columns: share of the elements that the last stage changed, the smallest factor of their modes, and
/// the smallest density and pressure.
const COLUMNS: [&str; 4] = ["share", "factor", "density", "pressure"];

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(Limited))
}

#[derive(Debug)]
struct Limited;

impl Spec for Limited {
    fn resolve(&self, _: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        Ok(Box::new(Self))
    }

    fn is_of_limiters(&self) -> bool {
        true
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        let least = COLUMNS[1..].iter().copied();
        ["mean", "max"].into_iter().chain(least).map(|name| format!("limited.{name}")).collect()
    }
}

impl Monitor for Limited {
    fn columns(&self, _: &Variables) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        _: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let (share, factor) = solver.limited().map_or((0.0, 1.0), |limited| (limited.share, limited.least));
        let [density, pressure] = solver.least().unwrap_or([f64::NAN; 2]);
        Ok(Some(vec![share, factor, density, pressure]))
    }

    /// The mean and the largest share of changed elements over all rows, and the smallest values.
    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        let column = |name: &str| end.table.column(name).unwrap_or_default();
        let share = column("share");
        let largest = share.iter().copied().fold(0.0, f64::max);
        let mean = share.iter().sum::<f64>() / share.len().max(1) as f64;
        values.put(&["limited", "mean"], json!(mean));
        values.put(&["limited", "max"], json!(largest));
        for name in &COLUMNS[1..] {
            let least = column(name).iter().copied().fold(f64::INFINITY, f64::min);
            values.put(&["limited", name], json!(least));
        }
        Ok(())
    }
}
