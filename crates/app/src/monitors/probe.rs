//! The monitor `probe`: values at points.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::formulas::{self, Formulas, NamedFormula};
use super::samples::{Placed, coordinates};
use super::{
    Context, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, places, sampling, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{self, Required};
use crate::file::keys::Kind::{List, Vector};
use crate::file::keys::{FLOW, row};
use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::csv::heading;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::{Place, RankMesh};

pub(super) static MONITOR: Kind = Kind {
    name: "probe",
    keys: &[
        section!("probe", FLOW, "Values at points.", Absent::Value("1")),
        beginning!("probe", FLOW),
        &[row("monitors[].probe.points", &[List("points", &[Vector])], Required, "The points.").of(FLOW)],
    ],
    every: Every::Steps(1),
    begins: true,
    read,
    chart: charts::all,
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let fields = formulas::read(section)?;
    Ok(Arc::new(ProbeSpec { points: places::listed(section)?, fields }))
}

#[derive(Debug)]
struct ProbeSpec {
    points: Vec<Located<Vec<f64>>>,
    fields: Vec<NamedFormula>,
}

impl Spec for ProbeSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let points = each(self.points.iter().map(|point| probe_point(point, context.mesh)));
        let (fields, points) = both(Formulas::resolve(&self.fields, context), points)?;
        Ok(Box::new(Probe { points, fields }))
    }

    fn values(&self, table: &str, _: &Variables) -> Vec<String> {
        let two = self.points.len() == 2;
        let numbers = (0..self.points.len()).map(|i| i.to_string());
        let of_field: Vec<String> = numbers.chain(two.then(|| "difference".to_owned())).collect();
        let names = |field: &NamedFormula| {
            of_field.iter().map(|what| format!("{table}.{}.{what}", field.name)).collect::<Vec<_>>()
        };
        self.fields.iter().flat_map(names).collect()
    }
}

struct Probe {
    points: Vec<Placed>,
    fields: Formulas,
}

impl Monitor for Probe {
    fn columns(&self, _: &Variables) -> Vec<String> {
        let of_point = |i: usize| self.fields.names.iter().map(move |n| heading(&format!("{n} at {i}")));
        (0..self.points.len()).flat_map(of_point).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let Formulas { names, formulas, gradients } = &self.fields;
        let rows = sampling::at_points(solver, &self.points, formulas, *gradients);
        let row: Vec<f64> = rows.into_iter().flatten().collect();
        values.put(&[now.name], by_field(names, &row));
        Ok(Some(row))
    }

    fn about(&self) -> [String; 2] {
        let names = self.fields.names.join(", ");
        [format!(" of {names} at {} points", self.points.len()), String::new()]
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.points.iter_mut().map(|(_, place)| place).collect()
    }
}

/// Returns the values of a probe, `[point][field]`, by field and then by the number of the point; of two
/// points also the first value less the second, as `difference`.
fn by_field(names: &[String], values: &[f64]) -> Value {
    let of_field = |(k, name): (usize, &String)| {
        let column: Vec<f64> = values.iter().skip(k).step_by(names.len()).copied().collect();
        let mut by_point: Map<String, Value> =
            column.iter().enumerate().map(|(i, x)| (i.to_string(), json!(x))).collect();
        if let [first, second] = column[..] {
            by_point.insert("difference".to_owned(), json!(first - second));
        }
        (name.clone(), Value::Object(by_point))
    };
    Value::Object(names.iter().enumerate().map(of_field).collect())
}

fn probe_point(point: &Located<Vec<f64>>, mesh: &RankMesh) -> Result<Placed, InputError> {
    let x = coordinates(point, mesh.dim())?;
    if mesh.is_part() {
        return Ok((x, None));
    }
    match mesh.seen().find_point(x) {
        Some(place) => Ok((x, Some(place))),
        None => Err(InputError::at(&point.place, Problem::PointOutside { point: x })),
    }
}
