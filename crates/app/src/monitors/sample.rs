//! The monitor `sample`: values at many points, in a table of one row for each.

use std::path::PathBuf;
use std::sync::Arc;

use super::formulas::{self, Formulas, NamedFormula};
use super::places::{PlacesSpec, Spacing};
use super::samples::Places;
use super::{
    Context, ENDS, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, sampling,
    section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Value};
use crate::file::keys::Kind::{List, Section as Keys, Text, Vector, Whole, Words};
use crate::file::keys::{FLOW, row};
use crate::file::number::grouped;
use crate::file::problem::InputError;
use crate::file::problem::mistakes::both;
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::VtuOptions;
use dgsuite_output::writer::csv::heading;
use dgsuite_solve::Place;
use dgsuite_solve::flow::Flow;

pub(super) static MONITOR: Kind = Kind {
    name: "sample",
    keys: &[
        section!(
            "sample",
            FLOW,
            "Values at many points: in `monitors/sample.csv` a row for each point and time, of a plane the last \
             values in `monitors/sample.vtu`.",
            ENDS
        ),
        beginning!("sample", FLOW),
        &[
    row(
        "monitors[].sample.points",
        &[List("points", &[Vector]), Keys],
        Nothing,
        "The points; `line` or `plane` in its place.",
    )
    .of(FLOW),
    row(
        "monitors[].sample.points.file",
        &[Text],
        Required,
        "A table of points, with or without a header: the columns `x`, `y` and `z`, or else the first ones.",
    )
    .of(FLOW),
    row("monitors[].sample.line", &[Keys], Nothing, "Points of a line.").of(FLOW),
    row("monitors[].sample.line.{from,to}", &[Vector], Required, "The first and the last point.").of(FLOW),
    row("monitors[].sample.line.points", &[Whole(2, usize::MAX)], Value("101"), "The number of points.")
        .of(FLOW),
    row(
        "monitors[].sample.line.spacing",
        &[Words(&Spacing::WORDS)],
        Value("uniform"),
        "`cosine` makes them dense at both ends.",
    )
    .of(FLOW),
    row("monitors[].sample.plane", &[Keys], Nothing, "A grid of points on a rectangle or parallelogram.")
        .of(FLOW),
    row("monitors[].sample.plane.corner", &[Vector], Required, "A corner.").of(FLOW),
    row(
        "monitors[].sample.plane.sides",
        &[List("two vectors", &[Vector])],
        Required,
        "The two sides that begin there.",
    )
    .of(FLOW),
    row(
        "monitors[].sample.plane.points",
        &[List("two whole numbers", &[Whole(2, usize::MAX)])],
        Value("[51, 51]"),
        "The numbers of points along the sides.",
    )
    .of(FLOW),
        ],
    ],
    every: Every::End,
    begins: true,
    read,
    chart: |_, table, _| charts::of_sample(table),
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let fields = formulas::read(section)?;
    Ok(Arc::new(SampleSpec { places: PlacesSpec::read(section)?, fields }))
}

#[derive(Debug)]
struct SampleSpec {
    places: PlacesSpec,
    fields: Vec<NamedFormula>,
}

impl Spec for SampleSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let places = Places::find(&self.places, context.mesh, context.base);
        let (fields, places) = both(Formulas::resolve(&self.fields, context), places)?;
        Ok(Box::new(Sample { places, fields }))
    }

    fn values(&self, table: &str, _: &Variables) -> Vec<String> {
        let of_field = |field: &NamedFormula| {
            ["min", "max", "mean"].map(|number| format!("{table}.{}.{number}", field.name))
        };
        self.fields.iter().flat_map(of_field).collect()
    }

    fn files(&self) -> Vec<(&'static str, &Located<PathBuf>)> {
        match &self.places {
            PlacesSpec::File(file) => vec![("points.file", file)],
            _ => Vec::new(),
        }
    }
}

struct Sample {
    places: Places,
    fields: Formulas,
}

impl Monitor for Sample {
    fn columns(&self, variables: &Variables) -> Vec<String> {
        let mut columns = vec!["point".to_owned()];
        columns.extend(self.places.distances.iter().map(|_| "s".to_owned()));
        columns.extend(["x", "y", "z"].iter().take(variables.dim()).map(|x| (*x).to_owned()));
        columns.extend(self.fields.names.iter().map(|n| heading(n)));
        columns
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let (places, Formulas { names, formulas, gradients }) = (&self.places, &self.fields);
        let found = sampling::at_points(solver, &places.points, formulas, *gradients);
        let inside = places.points.iter().zip(&found).filter(|((_, place), _)| place.is_some());
        inside.for_each(|(_, row)| now.not_finite.look_at_row(now.name, names, row, now.time.t));
        let before = [now.time.step as f64, now.time.t];
        let rows = sampling::rows(&before, places, &found, solver.dim());
        values.put(&[now.name], sampling::extremes(names, &found));
        if let Some(cells) = sampling::cells(places, names, &found, now.time.t) {
            cells.write(&now.table.path().with_extension("vtu"), &VtuOptions::default())?;
        }
        now.table.rows(&rows)?;
        Ok(None)
    }

    fn finish(&self, end: &Finished<'_>, _: &mut Values) -> Result<(), MonitorError> {
        // The rows of one time are a curve along a line; other points have none.
        if self.places.distances.is_some() {
            end.write(&end.chart)?;
        }
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        let names = self.fields.names.join(", ");
        [format!(" of {names} at {} points", grouped(self.places.points.len())), String::new()]
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.places.points.iter_mut().map(|(_, place)| place).collect()
    }

    fn has_points(&self) -> bool {
        true
    }
}
