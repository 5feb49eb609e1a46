//! The monitor `forces`: forces on boundaries with their coefficients, means and Strouhal number.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::surface::{OnBoundaries, SurfaceSpec};
use super::{Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, section};
use crate::file::beginning::{Begin, Beginning};
use crate::file::every::Every;
use crate::file::keys::{Absent, FLUID};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::forces::{Coefficients, Forces as Integrals, Scales};
use dgsuite_solve::post::spectrum;

pub(super) static MONITOR: Kind = Kind {
    name: "forces",
    keys: &[
        section!(
            "forces",
            FLUID,
            "Forces on boundaries, with their coefficients, means and Strouhal number.",
            Absent::Value("10")
        ),
        beginning!(
            "forces",
            FLUID,
            "none: no means",
            "The time from which means, amplitudes, extremes and the Strouhal number are computed, or `when: \
             CONDITION`."
        ),
    ],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: |_, table, x| charts::of_forces(table, x),
};

/// The columns.
const COLUMNS: [&str; 16] = [
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

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    let surface = SurfaceSpec::read(section)?;
    Ok(Arc::new(ForcesSpec { surface, means: Beginning::read(section)? }))
}

#[derive(Debug)]
struct ForcesSpec {
    surface: SurfaceSpec,
    /// From when on means and frequencies are computed.
    means: Option<Beginning>,
}

impl Spec for ForcesSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        Ok(Box::new(Forces { on: self.surface.resolve(context)?, means: None }))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        let mut names: Vec<String> =
            Coefficients::default().named().iter().map(|(c, _)| (*c).to_owned()).collect();
        let vectors = ["force", "pressure_force", "viscous_force", "moment"];
        names.extend(vectors.iter().flat_map(|vector| (0..3).map(move |axis| format!("{vector}.{axis}"))));
        names.extend(["heat", "wetted_area"].map(str::to_owned));
        if self.means.is_some() {
            let means = ["mean", "deviation", "amplitude", "min", "max"];
            names.extend(means.iter().flat_map(|m| ["cd", "cl"].map(|c| format!("{m}.{c}"))));
            names.extend(["from", "strouhal", "strouhal_resolution"].map(str::to_owned));
        }
        names.iter().map(|name| format!("forces.{}.{name}", self.surface.name())).collect()
    }

    fn means(&self) -> Option<&Beginning> {
        self.means.as_ref()
    }
}

struct Forces {
    on: OnBoundaries,
    /// From when on means and frequencies are computed, if they are.
    means: Option<Begin>,
}

impl Forces {
    /// Coefficients, forces, moments and heat.
    fn summary(&self, forces: &Integrals) -> Map<String, Value> {
        let named = forces.coefficients(&self.on.scales).named();
        let mut summary: Map<String, Value> =
            named.iter().map(|(name, x)| ((*name).to_owned(), json!(x))).collect();
        summary.insert("force".into(), json!(forces.total()));
        summary.insert("pressure_force".into(), json!(forces.pressure));
        summary.insert("viscous_force".into(), json!(forces.viscous));
        summary.insert("moment".into(), json!(forces.moment()));
        summary.insert("heat".into(), json!(forces.heat));
        summary
    }
}

impl Monitor for Forces {
    fn columns(&self, _: &Variables) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let forces = Integrals::of(&self.on.surface(solver)?, &self.on.scales);
        let named = forces.coefficients(&self.on.scales).named();
        let mut row: Vec<f64> = named.iter().map(|(_, x)| *x).collect();
        row.extend(forces.pressure.into_iter().chain(forces.viscous).chain(forces.moment()));
        row.push(forces.heat);
        let mut summary = self.summary(&forces);
        summary.insert("wetted_area".into(), json!(forces.area));
        summary.insert("table".into(), json!(now.name));
        values.put(&["forces", &self.on.name], summary);
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        let mut chart = end.chart.clone();
        chart.title = charts::title_of_forces(&self.on.name);
        end.write(&chart)?;
        // There are no means before they begin.
        let Some(from) = self.means.and_then(end.began) else { return Ok(()) };
        for (name, value) in history(end.table, from, &self.on.scales) {
            values.put(&["forces", &self.on.name, &name], value);
        }
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        self.on.lines()
    }

    fn means_mut(&mut self) -> Option<&mut Option<Begin>> {
        Some(&mut self.means)
    }

    fn forces(&self, solver: &mut Flow) -> Result<Option<([String; 2], Map<String, Value>)>, MonitorError> {
        let forces = Integrals::of(&self.on.surface(solver)?, &self.on.scales);
        Ok(Some((["forces".to_owned(), self.on.name.clone()], self.summary(&forces))))
    }

    fn has_forces(&self) -> bool {
        true
    }
}

/// Returns means, deviations, amplitudes, extremes and the frequency of lift from a table of forces, starting
/// at a given time.
fn history(table: &Columns, from: f64, scales: &Scales) -> Map<String, Value> {
    let column = |name: &str| table.column(name).unwrap_or_default();
    let (mut t, mut cd, mut cl) = (Vec::new(), Vec::new(), Vec::new());
    for ((&time, &drag), &lift) in column("time").iter().zip(column("cd")).zip(column("cl")) {
        if time >= from {
            t.push(time);
            cd.push(drag);
            cl.push(lift);
        }
    }
    let mut summary = Map::new();
    if let (Some(drag), Some(lift)) =
        (spectrum::mean_and_amplitude(&t, &cd), spectrum::mean_and_amplitude(&t, &cl))
    {
        summary.insert("from".into(), json!(t[0]));
        summary.insert("mean".into(), json!({ "cd": drag.0, "cl": lift.0 }));
        let deviation = |x: &[f64], mean| spectrum::deviation(&t, x, mean);
        summary.insert(
            "deviation".into(),
            json!({ "cd": deviation(&cd, drag.0), "cl": deviation(&cl, lift.0) }),
        );
        summary.insert("amplitude".into(), json!({ "cd": drag.1, "cl": lift.1 }));
        let least = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        summary.insert("min".into(), json!({ "cd": least(&cd), "cl": least(&cl) }));
        summary.insert("max".into(), json!({ "cd": most(&cd), "cl": most(&cl) }));
    }
    if let Some(peak) = spectrum::dominant(&t, &cl) {
        let strouhal = scales.length / scales.speed;
        summary.insert("strouhal".into(), json!(peak.frequency * strouhal));
        summary.insert("strouhal_resolution".into(), json!(peak.resolution * strouhal));
    }
    summary
}
