//! The monitor `recirculation`: the length of the recirculation along a line.

use std::sync::Arc;

use serde_json::json;

use super::samples::coordinates;
use super::{Context, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::Absent::{Required, Value};
use crate::file::keys::Kind::Vector;
use crate::file::keys::{FLOW, row};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::reference::unit;
use crate::models::variables::Variables;
use dgsuite_solve::Place;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::line;

pub(super) static MONITOR: Kind = Kind {
    name: "recirculation",
    keys: &[
        section!("recirculation", FLOW, "The length of the recirculation along a line.", Value("10")),
        &[
            row(
                "monitors[].recirculation.from",
                &[Vector],
                Required,
                "The first point of the line, on the body.",
            )
            .of(FLOW),
            row(
                "monitors[].recirculation.to",
                &[Vector],
                Required,
                "The last point of the line, beyond the recirculation.",
            )
            .of(FLOW),
        ],
    ],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: charts::all,
};

/// Number of points on the line that is searched for the end of a recirculation region.
const LINE_POINTS: usize = 2000;

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let end = |key: &str, expected: &str| section.vector(key)?.ok_or_else(|| section.missing(key, expected));
    let from = end("from", "the point of the body where the wake begins")?;
    let to = end("to", "a point in the wake, beyond the recirculation")?;
    Ok(Arc::new(RecirculationSpec { from, to }))
}

#[derive(Debug)]
struct RecirculationSpec {
    /// The start, on the body.
    from: Located<Vec<f64>>,
    /// The end, in the wake.
    to: Located<Vec<f64>>,
}

impl Spec for RecirculationSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let (mesh, dim) = (context.mesh, context.mesh.dim());
        let (a, b) = (coordinates(&self.from, dim)?, coordinates(&self.to, dim)?);
        let along = unit(&self.to.with((0..dim).map(|d| b[d] - a[d]).collect()))?;
        let (s, points) = line::points(a, b, LINE_POINTS);
        // Done once, because the search goes through all elements. A part gets them from rank 0.
        let find = |&x: &[f64; 3]| if mesh.is_part() { None } else { mesh.seen().find_point(x) };
        let places: Vec<_> = points.iter().map(find).collect();
        if places.iter().all(Option::is_none) && !mesh.is_part() {
            return Err(InputError::at(&self.from.place, Problem::LineOutside { from: a, to: b }));
        }
        Ok(Box::new(Recirculation { s, places, along }))
    }

    fn values(&self, table: &str, _: &Variables) -> Vec<String> {
        vec![format!("recirculation.{}", length_of(table))]
    }
}

/// The name of the length in the summary.
fn length_of(table: &str) -> String {
    table.replacen("recirculation", "length", 1)
}

struct Recirculation {
    /// Distances from the start of the line.
    s: Vec<f64>,
    /// Points along the line with their elements; `None` outside of the mesh.
    places: Vec<Option<Place>>,
    /// The unit vector along the line.
    along: [f64; 3],
}

impl Monitor for Recirculation {
    fn columns(&self, _: &Variables) -> Vec<String> {
        vec!["length".to_owned()]
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let length = self.length(solver);
        values.put(&["recirculation", &length_of(now.name)], json!(length));
        Ok(Some(vec![length.unwrap_or(f64::NAN)]))
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.places.iter_mut().collect()
    }

    /// No length means that there is no recirculation.
    fn is_finite(&self) -> bool {
        false
    }
}

impl Recirculation {
    /// Returns the length of the region; `None` if the flow does not reverse.
    fn length(&self, solver: &Flow) -> Option<f64> {
        let dim = solver.dim();
        let first = solver.primitives().iter().position(|name| *name == "u")?;
        let speed = |values: Option<Vec<f64>>| {
            let along = |w: Vec<f64>| {
                (0..dim).map(|d| w.get(first + d).copied().unwrap_or(0.0) * self.along[d]).sum::<f64>()
            };
            values.map(along)
        };
        let points = self.s.iter().zip(solver.evaluate_in(&self.places));
        let (s, u): (Vec<f64>, Vec<f64>) = points.filter_map(|(&s, w)| Some((s, speed(w)?))).unzip();
        line::end_of_reversed_flow(&s, &u)
    }
}
