//! The tables of monitors: their names and columns.

use crate::plan::monitors::{MonitorJob, MonitorPlan};
use crate::plan::variables::Variables;

/// The columns of a table of forces, after step and time.
const FORCE_COLUMNS: [&str; 16] = [
    "cd",
    "cl",
    "cs",
    "cm",
    "cd_pressure",
    "cd_viscous",
    "pressure_x",
    "pressure_y",
    "pressure_z",
    "viscous_x",
    "viscous_y",
    "viscous_z",
    "moment_x",
    "moment_y",
    "moment_z",
    "heat",
];

/// The columns of a table of extremes along a wall, after step and time.
const WALL_COLUMNS: [&str; 4] = ["cp_min", "cp_max", "cf_min", "cf_max"];

/// The columns of a table of limited elements, after step and time: share of the elements that the last stage
/// changed, the smallest factor of their modes, and the smallest density and pressure.
pub const LIMITED_COLUMNS: [&str; 4] = ["share", "factor", "density", "pressure"];

/// Returns the name of each monitor's table, and its columns after step and time; of samples none, as their
/// rows are points.
pub fn tables(monitors: &[MonitorPlan], variables: &Variables) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<&str> = Vec::new();
    let mut table = |monitor: &MonitorPlan| {
        let name = monitor.kind.name();
        names.push(name);
        let count = names.iter().filter(|n| **n == name).count();
        let file = if count == 1 { name.to_owned() } else { format!("{name}-{count}") };
        let rows = !matches!(monitor.kind, MonitorJob::Sample { .. });
        let columns = if rows { monitor.kind.columns(variables).split_off(2) } else { Vec::new() };
        (file, columns)
    };
    monitors.iter().map(&mut table).collect()
}

impl MonitorJob {
    /// Returns the name of the monitor in the pipeline file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Error { .. } => "error",
            Self::Integral { .. } => "integral",
            Self::Divergence(_) => "divergence",
            Self::FlowRate => "flow_rate",
            Self::Limited => "limited",
            Self::Probe { .. } => "probe",
            Self::Sample { .. } => "sample",
            Self::Forces(_) => "forces",
            Self::Wall(_) => "wall",
            Self::Recirculation { .. } => "recirculation",
        }
    }

    /// Returns the columns of the table.
    pub fn columns(&self, variables: &Variables) -> Vec<String> {
        let mut columns = vec!["step".to_owned(), "time".to_owned()];
        match self {
            Self::Residual => columns.extend(variables.conserved.iter().map(|&v| v.to_owned())),
            Self::Error { norms, .. } => {
                let fields = variables.all();
                columns.extend(norms.iter().flat_map(|n| fields.iter().map(|f| format!("{}_{f}", n.name()))));
            }
            Self::Integral { names, .. } => columns.extend(names.iter().map(|n| quoted(n))),
            Self::Probe { points, names, .. } => {
                for i in 0..points.len() {
                    columns.extend(names.iter().map(|n| quoted(&format!("{n} at {i}"))));
                }
            }
            Self::Sample { places, names, .. } => {
                columns.push("point".to_owned());
                columns.extend(places.distances.iter().map(|_| "s".to_owned()));
                columns.extend(["x", "y", "z"].iter().take(variables.dim()).map(|x| (*x).to_owned()));
                columns.extend(names.iter().map(|n| quoted(n)));
            }
            Self::Divergence(_) => columns.extend(["l2", "jumps"].map(str::to_owned)),
            Self::FlowRate => columns.extend(["mean", "force"].map(str::to_owned)),
            Self::Limited => columns.extend(LIMITED_COLUMNS.map(str::to_owned)),
            Self::Forces(_) => columns.extend(FORCE_COLUMNS.map(str::to_owned)),
            Self::Wall(_) => columns.extend(WALL_COLUMNS.map(str::to_owned)),
            Self::Recirculation { .. } => columns.push("length".to_owned()),
        }
        columns
    }
}

/// Quotes the name of a column if it contains a comma or begins as a formula of a spreadsheet does.
fn quoted(name: &str) -> String {
    if name.contains([',', '"']) || name.starts_with(['=', '+', '-', '@']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
