//! The monitor `wall`: pressure, friction and heat along boundaries, and the points of separation.
//!
//! With `means`, a row has the curve at all its points, and the means over time are those of the rows: as
//! they come from the table, a run that was stopped and continued has the means of one that was not.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::directions::AXES;
use super::surface::{OnBoundaries, SurfaceSpec};
use super::{
    Context, ENDS, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Value as Is};
use crate::file::keys::Kind::{Flag, Words};
use crate::file::keys::{FLUID, row};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::batches;
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
        &[
            row(
                "monitors[].wall.over",
                &[Words(&AXES)],
                Nothing,
                "In space, the homogeneous direction over which the curves are means, so that they have points of \
                 separation. The points of the boundary must lie above each other, as those of `mesh.extrude`.",
            )
            .of(FLUID),
            row(
                "monitors[].wall.means",
                &[Flag],
                Is("false"),
                "Whether each row has the whole curve, so that its means over time, with their errors and points of \
                 separation, are written to `monitors/wall-mean.csv`. In space `over` is needed.",
            )
            .of(FLUID),
        ],
    ],
    every: Every::End,
    begins: true,
    read,
    chart: |_, table, x| charts::columns(table, "wall", x, &COLUMNS),
};

/// The columns: the extremes along the wall.
const COLUMNS: [&str; 4] = ["cp_min", "cp_max", "cf_min", "cf_max"];

/// The quantities at each point of the curve, for means over time.
const AT_POINTS: [&str; 3] = ["cp", "cf", "heat"];

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    let surface = SurfaceSpec::read(section)?;
    let over = section.choice("over", &[("x", 0), ("y", 1), ("z", 2)])?;
    let means = section.flag("means")?.filter(|means| means.value);
    if means.is_some() && !["every", "every_steps"].iter().any(|key| section.has(key)) {
        return Err(section.missing("every_steps", "the number of steps between the rows that have means"));
    }
    Ok(Arc::new(WallSpec { surface, over, means }))
}

#[derive(Debug)]
struct WallSpec {
    surface: SurfaceSpec,
    /// The homogeneous direction.
    over: Option<Located<usize>>,
    /// Set if there are means over time.
    means: Option<Located<bool>>,
}

impl Spec for WallSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let dim = context.mesh.dim();
        if let Some(over) = self.over.as_ref().filter(|_| dim == 2) {
            let expected = "a mesh in space: in the plane the curves are those of the boundary itself";
            return Err(InputError::range(&over.with(AXES[over.value]), expected));
        }
        if let (Some(means), 3, None) = (&self.means, dim, &self.over) {
            let expected = "`over: z` beside it, the homogeneous direction of a mesh in space";
            return Err(InputError::range(means, expected));
        }
        let over = self.over.as_ref().map(|over| over.value);
        Ok(Box::new(Wall { on: self.surface.resolve(context)?, dim, over, means: self.means.is_some() }))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        let names = ["cp_min", "cp_max", "cf_max", "y_plus_max", "separation.count", "attachment.count"];
        let mut names = names.map(str::to_owned).to_vec();
        if self.means.is_some() {
            let means = ["rows", "cp_min", "cp_max", "cf_max", "separation.count", "attachment.count"];
            names.extend(means.map(|name| format!("mean.{name}")));
        }
        names.iter().map(|name| format!("wall.{}.{name}", self.surface.name())).collect()
    }
}

struct Wall {
    on: OnBoundaries,
    /// The dimension of the mesh.
    dim: usize,
    /// The homogeneous direction.
    over: Option<usize>,
    /// Whether there are means over time.
    means: bool,
}

impl Wall {
    fn curves(&self, solver: &Flow) -> Result<Curves, MonitorError> {
        let surface = self.on.surface(solver)?;
        Ok(match self.over {
            Some(axis) => wall::curves_over(&surface, &self.on.scales, axis)?,
            None => wall::curves(&surface, &self.on.scales, self.dim),
        })
    }

    /// Whether the curves are in order, so that friction has a sign.
    fn in_order(&self) -> bool {
        self.dim == 2 || self.over.is_some()
    }

    /// Returns the entry of the summary.
    fn summary(&self, curves: &Curves) -> Value {
        let [cp_min, cp_max, _, cf_max] = extremes(curves);
        let mut summary = json!({ "cp_min": cp_min, "cp_max": cp_max, "cf_max": cf_max });
        let y_plus_max = curves.y_plus.iter().copied().fold(0.0, f64::max);
        if y_plus_max > 0.0 {
            summary["y_plus_max"] = json!(y_plus_max);
        }
        if let (true, Value::Object(map)) = (self.in_order(), &mut summary) {
            let turns = wall::turns(curves);
            for (name, separation) in [("separation", true), ("attachment", false)] {
                let points = turns.iter().filter(|turn| turn.separation == separation).map(|turn| turn.point);
                let mut places: Map<String, Value> = points
                    .enumerate()
                    .map(|(i, x)| (i.to_string(), json!({ "x": x[0], "y": x[1] })))
                    .collect();
                places.insert("count".into(), json!(places.len()));
                map.insert(name.into(), Value::Object(places));
            }
        }
        summary
    }
}

impl Monitor for Wall {
    fn columns(&self, _: &Variables) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn columns_of(&self, variables: &Variables, solver: &Flow) -> Result<Vec<String>, MonitorError> {
        let mut columns = self.columns(variables);
        if self.over.is_some() || self.means {
            let points = self.curves(solver)?.points.len();
            if self.means {
                let of_point = |i: usize| AT_POINTS.iter().map(move |name| format!("{name} at {i}"));
                columns.extend((0..points).flat_map(of_point).map(|name| heading(&name)));
            }
        }
        Ok(columns)
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let curves = self.curves(solver)?;
        let path = now.table.path().with_file_name(format!("{}-curve.csv", now.name));
        atomic::write(&path, table(&curves).as_bytes())?;
        values.put(&["wall", &self.on.name], self.summary(&curves));
        let mut row = extremes(&curves).to_vec();
        if self.means {
            row.extend((0..curves.points.len()).flat_map(|i| [curves.cp[i], curves.cf[i], curves.heat[i]]));
        }
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        let curve = end.path.with_file_name(format!("{}-curve.csv", end.name));
        let last = Columns::read(&curve)?;
        charts::along_a_wall(&last).write(&curve.with_extension("svg"))?;
        if !self.means {
            return Ok(());
        }
        let means = Means::of(end.table, &last);
        let mut summary = self.summary(&means.curves);
        summary["rows"] = json!(means.rows);
        values.put(&["wall", &self.on.name, "mean"], summary);
        let path = end.path.with_file_name(format!("{}-mean.csv", end.name));
        atomic::write(&path, means.table().as_bytes())?;
        charts::along_a_wall(&Columns::read(&path)?).write(&path.with_extension("svg"))?;
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        let [mut what, scales] = self.on.lines();
        if let Some(axis) = self.over {
            let _ = write!(what, ", means over {}", AXES[axis]);
        }
        if self.means {
            what.push_str(if self.over.is_some() { " and time" } else { ", means over time" });
        }
        [what, scales]
    }
}

/// The curve of the means over the rows of a table.
struct Means {
    /// The number of rows.
    rows: usize,
    /// The means at the places of the last curve.
    curves: Curves,
    /// The errors of the means of `cp` and `cf`, by batches.
    errors: [Vec<f64>; 2],
}

impl Means {
    /// The means of a table, and the last curve.
    fn of(table: &Columns, last: &Columns) -> Self {
        let column = |name: &str| last.column(name).unwrap_or_default();
        let (x, y, z) = (column("x"), column("y"), column("z"));
        let points: Vec<[f64; 3]> = x.iter().zip(y).zip(z).map(|((x, y), z)| [*x, *y, *z]).collect();
        let time = table.column("time").unwrap_or_default();
        // Step and time come first.
        let first = 2 + COLUMNS.len();
        let of = |k: usize, statistic: fn(&[f64], &[f64]) -> f64| -> Vec<f64> {
            let values =
                |i: usize| table.values.get(first + AT_POINTS.len() * i + k).map_or(&[][..], Vec::as_slice);
            (0..points.len()).map(|i| statistic(time, values(i))).collect()
        };
        let [cp, cf, heat] = [0, 1, 2].map(|k| of(k, batches::mean));
        let errors = [0, 1].map(|k| of(k, batches::error));
        let scale = cp.iter().fold(0.0, |most: f64, cp| most.max(cp.abs()));
        let arc = column("s").to_vec();
        Self {
            rows: time.len(),
            curves: Curves { points, arc, cp, cf, heat, scale, ..Curves::default() },
            errors,
        }
    }

    fn table(&self) -> String {
        let mut text = "s,x,y,z,cp,cf,heat,error of cp,error of cf\n".to_owned();
        let Curves { points, arc, cp, cf, heat, .. } = &self.curves;
        for (i, [x, y, z]) in points.iter().enumerate() {
            let row = [arc[i], *x, *y, *z, cp[i], cf[i], heat[i], self.errors[0][i], self.errors[1][i]];
            let row: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            let _ = writeln!(text, "{}", row.join(","));
        }
        text
    }
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
