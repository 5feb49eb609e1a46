//! The monitor `wall`: pressure, friction and heat along boundaries, and the points of separation.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::surface::{OnBoundaries, SurfaceSpec};
use super::{
    Context, ENDS, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, section,
};
use crate::file::every::Every;
use crate::file::keys::FLUID;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::wall::{self, Curves};

pub(super) static MONITOR: Kind = Kind {
    name: "wall",
    keys: &[
        section!(
            "wall",
            FLUID,
            "Pressure, friction and heat along boundaries, in `monitors/wall-curve.csv`, with the points of \
             separation.",
            ENDS
        ),
        beginning!("wall", FLUID),
    ],
    every: Every::End,
    begins: true,
    read,
    chart: charts::all,
};

/// The columns: the extremes along the wall.
const COLUMNS: [&str; 4] = ["cp_min", "cp_max", "cf_min", "cf_max"];

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    Ok(Arc::new(WallSpec(SurfaceSpec::read(section)?)))
}

#[derive(Debug)]
struct WallSpec(SurfaceSpec);

impl Spec for WallSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        Ok(Box::new(Wall(self.0.resolve(context)?)))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        let names = ["cp_min", "cp_max", "cf_max", "y_plus_max", "separation.count", "attachment.count"];
        names.map(|name| format!("wall.{}.{name}", self.0.name())).to_vec()
    }
}

struct Wall(OnBoundaries);

impl Monitor for Wall {
    fn columns(&self, _: &Variables) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let dim = solver.dim();
        let curves = wall::curves(&self.0.surface(solver)?, &self.0.scales, dim);
        let path = now.table.path().with_file_name(format!("{}-curve.csv", now.name));
        atomic::write(&path, table(&curves).as_bytes())?;
        values.put(&["wall", &self.0.name], summary(&curves, dim));
        Ok(Some(extremes(&curves).to_vec()))
    }

    fn finish(&self, end: &Finished<'_>, _: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        let curve = end.path.with_file_name(format!("{}-curve.csv", end.name));
        charts::along_a_wall(&Columns::read(&curve)?).write(&curve.with_extension("svg"))?;
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        self.0.lines()
    }
}

/// Returns the entry of the summary.
fn summary(curves: &Curves, dim: usize) -> Value {
    let [cp_min, cp_max, _, cf_max] = extremes(curves);
    let mut summary = json!({ "cp_min": cp_min, "cp_max": cp_max, "cf_max": cf_max });
    let y_plus_max = curves.y_plus.iter().copied().fold(0.0, f64::max);
    if y_plus_max > 0.0 {
        summary["y_plus_max"] = json!(y_plus_max);
    }
    if let (2, Value::Object(map)) = (dim, &mut summary) {
        let turns = wall::turns(curves);
        for (name, separation) in [("separation", true), ("attachment", false)] {
            let points = turns.iter().filter(|turn| turn.separation == separation).map(|turn| turn.point);
            let mut places: Map<String, Value> =
                points.enumerate().map(|(i, x)| (i.to_string(), json!({ "x": x[0], "y": x[1] }))).collect();
            places.insert("count".into(), json!(places.len()));
            map.insert(name.into(), Value::Object(places));
        }
    }
    summary
}

/// Returns the smallest and largest pressure and friction coefficients.
fn extremes(curves: &Curves) -> [f64; 4] {
    let least = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [least(&curves.cp), most(&curves.cp), least(&curves.cf), most(&curves.cf)]
}

/// Returns the curves as a table, a row for each point.
fn table(curves: &Curves) -> String {
    let mut text = "s,x,y,z,cp,cf,p,stress_x,stress_y,stress_z,heat,u_tau,y+\n".to_owned();
    for i in 0..curves.points.len() {
        let ([x, y, z], [a, b, c]) = (curves.points[i], curves.stress[i]);
        let before =
            [curves.arc[i], x, y, z, curves.cp[i], curves.cf[i], curves.p[i], a, b, c, curves.heat[i]];
        let row = [&before[..], &[curves.u_tau[i], curves.y_plus[i]]].concat();
        let row: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
        let _ = writeln!(text, "{}", row.join(","));
    }
    text
}
