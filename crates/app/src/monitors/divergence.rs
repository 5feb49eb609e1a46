//! The monitor `divergence`: norms of the divergence of the velocity and of its normal jumps.

use std::sync::Arc;

use dgsuite_physics::formula::Formula;
use serde_json::{Map, json};

use super::{Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::{Absent::Value, INCOMPRESSIBLE};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::Flow;

pub(super) static MONITOR: Kind = Kind {
    name: "divergence",
    keys: &[section!(
        "divergence",
        INCOMPRESSIBLE,
        "Norms of the divergence of the velocity and of its normal jumps.",
        Value("100")
    )],
    every: Every::Steps(100),
    begins: false,
    read,
    chart: |name, table, _| charts::by_step(name, table),
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(DivergenceSpec))
}

#[derive(Debug)]
struct DivergenceSpec;

impl Spec for DivergenceSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let dim = context.states.variables.dim();
        let text = if dim == 3 { "(u_x + v_y + w_z)^2" } else { "(u_x + v_y)^2" };
        Ok(Box::new(Divergence(context.vocabulary.known("monitors.divergence", text)?)))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        ["l2", "jumps", "growth.l2", "growth.jumps"].map(|name| format!("divergence.{name}")).to_vec()
    }
}

/// The square of the divergence, as a formula in the primitive variables, their derivatives, and
/// `x, y, z, t`.
struct Divergence(Formula);

impl Monitor for Divergence {
    fn columns(&self, _: &Variables) -> Vec<String> {
        ["l2", "jumps"].map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let norm = solver.integral_of_derivatives(&[&self.0]).iter().sum::<f64>().sqrt();
        let jumps = solver.normal_jumps()?.unwrap_or(f64::NAN);
        values.put(&["divergence", "l2"], json!(norm));
        values.put(&["divergence", "jumps"], json!(jumps));
        Ok(Some(vec![norm, jumps]))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        values.put(&["divergence", "growth"], growth(end.table));
        Ok(())
    }
}

/// Returns by how much each norm in a table grows: its largest value in the last quarter of the run's time
/// over that in the quarter before; nothing where one of them has no rows.
fn growth(table: &Columns) -> Map<String, serde_json::Value> {
    let t = table.column("time").unwrap_or_default();
    let [first, last] = [t.first(), t.last()].map(|t| t.copied().unwrap_or_default());
    let quarters: Vec<f64> = t.iter().map(|t| 4.0 * (t - first) / (last - first)).collect();
    let mut all = Map::new();
    // The norms follow step and time.
    for (name, x) in table.names.iter().zip(&table.values).skip(2) {
        let largest = |from: f64, to: f64| {
            let within = quarters.iter().zip(x).filter(|(q, _)| (from..to).contains(*q));
            within.map(|(_, x)| *x).reduce(f64::max)
        };
        if let (Some(before), Some(after)) = (largest(2.0, 3.0), largest(3.0, f64::INFINITY)) {
            all.insert(name.clone(), json!(after / before));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_grow_by_the_largest_values_of_the_last_two_quarters() {
        let growth = |rows: &[[f64; 2]]| {
            let column = |value: &dyn Fn(&[f64; 2]) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
            growth(&Columns {
                names: ["step", "time", "l2", "jumps"].map(str::to_owned).to_vec(),
                values: vec![column(&|_| 0.0), column(&|r| r[0]), column(&|r| r[1]), column(&|_| 1.0)],
            })
        };
        // From t = 10 to 18: the third quarter begins at 14, the last one at 16.
        let all = growth(&[[10.0, 9.0], [13.9, 9.0], [14.0, 2.0], [15.9, 4.0], [16.0, 5.0], [18.0, 6.0]]);
        assert_eq!(all["l2"], 1.5);
        assert_eq!(all["jumps"], 1.0);
        assert!(growth(&[[0.0, 1.0], [1.0, 1.0]]).is_empty() && growth(&[[0.0, 1.0]]).is_empty());
    }
}
