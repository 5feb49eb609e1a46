//! The monitor `spectrum`: spectra of fields along a periodic direction, or in a periodic box.
//!
//! A row has, for each field, the mean squares of its waves along lines through some points, means over these
//! and over homogeneous directions, or of the waves of a box by the length of their wave vectors. At the end
//! they become means over time, from the table: a run that was
//! stopped and continued has the spectra of one that was not.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::directions::{self, AXES};
use super::formulas::{self, Formulas, NamedFormula};
use super::places::{PlacesSpec, listed};
use super::reference::ReferenceSpec;
use super::samples::{Placed, Places};
use super::{
    Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, sampling, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{List, Section as Keys, Text, Vector, Whole, Words};
use crate::file::keys::{FLUID, row};
use crate::file::node::Value as Written;
use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_output::writer::plot::{Chart, Curve};
use dgsuite_solve::Place;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::history::Series;
use dgsuite_solve::post::{batches, spectrum};

pub(super) static MONITOR: Kind = Kind {
    name: "spectrum",
    keys: &[
        section!(
            "spectrum",
            FLUID,
            "Spectra along a periodic direction or in a periodic box, means over points, homogeneous directions and time, in \
             `monitors/spectrum-mean.csv`.",
            Value("10")
        ),
        beginning!("spectrum", FLUID),
        &[
            row(
                "monitors[].spectrum.along",
                &[Words(&AXES), List("the words x, y, z", &[Words(&AXES)])],
                Required,
                "The direction of the waves, in which the mesh is periodic; with a list of all directions of the mesh, \
                 the waves of the box by the length of their wave vectors, a three-dimensional spectrum.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.waves",
                &[Whole(1, usize::MAX)],
                Value("32"),
                "The largest number of waves in a period, in a box the longest one; twice as many values are taken \
                 along it.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.points",
                &[List("points", &[Vector])],
                Says("the centre of the mesh"),
                "Points of lines, over which spectra are means.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.over",
                &[List("the words x, y, z", &[Words(&AXES)])],
                Nothing,
                "Homogeneous directions, in which the mesh is periodic.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.samples",
                &[Whole(1, usize::MAX)],
                Value("8"),
                "The number of lines in each homogeneous direction.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.fields",
                &[formulas::FORMULAS],
                Says("the components of the velocity"),
                "The quantities: formulas of the solution, such as `p`.",
            )
            .of(FLUID),
            row("monitors[].spectrum.reference", &[Keys], Nothing, "A table of other spectra to compare with.")
                .of(FLUID),
            row(
                "monitors[].spectrum.reference.file",
                &[Text],
                Required,
                "The path of a table of numbers in columns, the first of them the wave number.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.reference.columns",
                &[Keys],
                Required,
                "The columns of the table by the names of the fields, or `energy`, half the sum over the velocity, \
                 such as `{ energy: 2 }`.",
            )
            .of(FLUID),
            row(
                "monitors[].spectrum.reference.columns.<field>",
                &[Whole(2, usize::MAX)],
                Nothing,
                "The column of a field, counted from 1.",
            )
            .of(FLUID),
        ],
    ],
    every: Every::Steps(10),
    begins: true,
    read,
    chart: charts::all,
};

/// The components of the velocity.
const VELOCITY: [&str; 3] = ["u", "v", "w"];

/// The name of half the sum of the spectra of the velocity.
const ENERGY: &str = "energy";

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let expected = "the direction of the waves: x, y or z, or all directions of the mesh";
    let along = match section.node("along").map(|node| &node.value) {
        Some(Written::List(_)) => directions::read(section, "along")?.unwrap_or_default(),
        _ => section.choice("along", &[("x", 0), ("y", 1), ("z", 2)])?.into_iter().collect(),
    };
    let Some(first) = along.first().cloned() else { return Err(section.missing("along", expected)) };
    if along.len() > 1
        && let Some(key) = ["points", "over", "samples"].into_iter().find(|key| section.has(key))
    {
        return Err(section.misplaced(key, "waves along all directions", "waves along one direction"));
    }
    let fields = if section.node("fields").is_some() { Some(formulas::read(section)?) } else { None };
    let mut spec = SpectrumSpec {
        first,
        along,
        waves: section.count("waves", 1)?.map_or(32, |n| n.value),
        points: if section.node("points").is_some() { Some(listed(section)?) } else { None },
        over: directions::read(section, "over")?.unwrap_or_default(),
        samples: section.count("samples", 1)?.map_or(8, |n| n.value),
        fields,
        reference: None,
    };
    // The mesh may have two directions only.
    let names: Vec<String> = spec.fields(3).into_iter().map(|field| field.name).collect();
    let energy = spec.fields.is_none().then_some(ENERGY);
    let known: Vec<&str> = names.iter().map(String::as_str).chain(energy).collect();
    spec.reference = ReferenceSpec::read(section, &known)?;
    Ok(Arc::new(spec))
}

#[derive(Debug)]
struct SpectrumSpec {
    /// The directions of the waves, and the first of them.
    along: Vec<Located<usize>>,
    first: Located<usize>,
    /// The largest number of waves in a period.
    waves: usize,
    /// Points of the lines.
    points: Option<Vec<Located<Vec<f64>>>>,
    /// Homogeneous directions.
    over: Vec<Located<usize>>,
    samples: usize,
    fields: Option<Vec<NamedFormula>>,
    /// A table to compare the spectra with.
    reference: Option<ReferenceSpec>,
}

impl SpectrumSpec {
    /// The fields, by default the velocity.
    fn fields(&self, dim: usize) -> Vec<NamedFormula> {
        let own = |name: &&str| NamedFormula {
            name: (*name).to_owned(),
            formula: self.first.with((*name).to_owned()),
        };
        self.fields.clone().unwrap_or_else(|| VELOCITY[..dim].iter().map(own).collect())
    }

    /// The points through which lines along `along` go, or the first point of a box.
    fn starts(&self, context: &Context<'_>) -> Result<Vec<[f64; 3]>, InputError> {
        let mesh = context.mesh;
        let points: Vec<[f64; 3]> = match &self.points {
            Some(points) => {
                let places = Places::find(&PlacesSpec::Listed(points.clone()), mesh, context.base)?;
                places.points.iter().map(|(x, _)| *x).collect()
            }
            None => {
                let [low, high] = mesh.bounding_box();
                vec![std::array::from_fn(|d| 0.5 * (low[d] + high[d]))]
            }
        };
        let lines = points.len().saturating_mul(self.samples.saturating_pow(self.over.len() as u32));
        let most = self.waves.saturating_mul(2).saturating_pow(self.along.len() as u32);
        directions::not_too_many(lines.saturating_mul(most), &self.first.with(()))?;
        Ok(directions::spread(&points, &self.over, self.samples, context))
    }
}

impl Spec for SpectrumSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let (mesh, dim) = (context.mesh, context.mesh.dim());
        let axis = self.first.value;
        directions::periodic(&self.along, context)?;
        directions::periodic(&self.over, context)?;
        if self.along.len() > 1 && self.along.len() != dim {
            let expected = format!("one direction, or all {dim} of the mesh");
            return Err(InputError::range(&self.first.with("a list of two"), expected));
        }
        if let Some(same) = self.over.iter().find(|over| over.value == axis) {
            let expected = "a direction other than that of the waves, `along`";
            return Err(InputError::range(&same.with(AXES[same.value]), expected));
        }
        // [point][sample][place along the first direction][second]…
        let mut all = self.starts(context)?;
        let periods: Vec<f64> = self.along.iter().map(|d| context.states.periods[d.value]).collect();
        let longest = periods.iter().copied().fold(0.0, f64::max);
        let values = |period: &f64| ((2 * self.waves) as f64 * period / longest).ceil().max(1.0) as usize;
        let counts: Vec<usize> = periods.iter().map(values).collect();
        for (direction, n) in self.along.iter().zip(&counts) {
            all = directions::spread(&all, std::slice::from_ref(direction), *n, context);
        }
        let all = directions::placed(all, mesh);
        if let Some((point, _)) = all.iter().find(|(_, place)| place.is_none() && !mesh.is_part()) {
            return Err(InputError::at(&self.first.place, Problem::PointOutside { point: *point }));
        }
        let references = self.reference.as_ref().map(|reference| reference.all(context)).transpose()?;
        Ok(Box::new(Spectrum {
            waves: self.waves,
            wave_number: TAU / longest,
            axis: (self.along.len() == 1).then_some(axis),
            counts,
            periods,
            points: all,
            fields: Formulas::resolve(&self.fields(dim), context)?,
            energy: self.fields.is_none(),
            references: references.unwrap_or_default(),
        }))
    }

    fn values(&self, table: &str, variables: &Variables) -> Vec<String> {
        let fields = self.fields(variables.dim()).into_iter().map(|field| field.name);
        let names: Vec<String> = fields.chain(self.fields.is_none().then(|| ENERGY.to_owned())).collect();
        let mut values = vec![format!("{table}.rows")];
        values.extend(names.iter().flat_map(|name| OF_FIELD.map(|what| format!("{table}.{name}.{what}"))));
        let compared = self.reference.iter().flat_map(|reference| &reference.columns);
        values.extend(compared.map(|(name, _)| format!("{table}.deviation.{name}")));
        values
    }

    fn files(&self) -> Vec<(&'static str, &Located<PathBuf>)> {
        self.reference.iter().map(|table| ("reference.file", &table.file)).collect()
    }
}

/// What the summary has of each field: the variance, and the share of waves of more than half of `waves`.
const OF_FIELD: [&str; 2] = ["variance", "upper_half"];

struct Spectrum {
    /// The largest number of waves in a period.
    waves: usize,
    /// The wave number of one wave in a period.
    wave_number: f64,
    /// The direction of the waves, if it is one.
    axis: Option<usize>,
    /// The numbers of values along the directions of the waves, and the periods of the mesh there.
    counts: Vec<usize>,
    periods: Vec<f64>,
    /// All places, `[line or box][place along it]`.
    points: Vec<Placed>,
    fields: Formulas,
    /// Whether the fields are those of the velocity, and half of their sum is the energy.
    energy: bool,
    /// Columns of a table to compare with, by name.
    references: Vec<(String, Series)>,
}

impl Monitor for Spectrum {
    fn columns(&self, _: &Variables) -> Vec<String> {
        let of_field = |name: &String| {
            let name = name.clone();
            (1..=self.waves).map(move |m| heading(&format!("{name} of {m} waves")))
        };
        self.fields.names.iter().flat_map(of_field).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        _: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let Formulas { formulas, gradients, names } = &self.fields;
        let values = sampling::at_points(solver, &self.points, formulas, *gradients);
        let n = self.counts.iter().product::<usize>();
        let lines = self.points.len() / n;
        let mut row = vec![0.0; names.len() * self.waves];
        for line in values.chunks_exact(n) {
            for (k, sums) in row.chunks_exact_mut(self.waves).enumerate() {
                let along: Vec<f64> = line.iter().map(|values| values[k]).collect();
                let found = match self.axis {
                    Some(_) => spectrum::mean_squares(&along)[1..].to_vec(),
                    None => spectrum::shells(&along, &self.counts, &self.periods, self.waves),
                };
                sums.iter_mut().zip(&found).for_each(|(sum, e)| *sum += e / lines as f64);
            }
        }
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        let time = end.table.column("time").unwrap_or_default();
        values.put(&[end.name, "rows"], json!(time.len()));
        if time.is_empty() {
            return Ok(());
        }
        let table = self.means(time, end.table);
        let names = self.names();
        for (name, column) in names.iter().zip(&table.values[1..]) {
            let sum = |column: &[f64]| column.iter().sum::<f64>() * self.wave_number;
            let variance = sum(column);
            let upper = sum(&column[self.waves / 2..]) / variance;
            for (what, value) in OF_FIELD.into_iter().zip([variance, upper]) {
                values.put(&[end.name, name, what], json!(value));
            }
        }
        let path = end.path.with_file_name(format!("{}-mean.csv", end.name));
        let mut text = table.names.join(",") + "\n";
        for m in 0..self.waves {
            let row: Vec<String> = table.values.iter().map(|column| format!("{:?}", column[m])).collect();
            let _ = writeln!(text, "{}", row.join(","));
        }
        atomic::write(&path, text.as_bytes())?;
        let shown: Vec<&str> = table.names[1..=names.len()].iter().map(String::as_str).collect();
        let mut chart = charts::columns(&table, end.name, &table.names[0], &shown);
        for (name, reference) in &self.references {
            let Some(k) = names.iter().position(|n| n == name) else { continue };
            let deviation = reference.deviation(&table.values[0], &table.values[1 + k]);
            values.put(&[end.name, "deviation", name], json!(deviation));
            let (k, e) = reference.clone().into_columns();
            let points = k.into_iter().zip(e).collect();
            chart.curves.push(Curve { name: format!("{name}, reference"), points, alone: true, marks: true });
        }
        let title = format!("{}: means over {} rows", end.name, grouped(time.len()));
        Chart { log_x: true, log_y: true, title, ..chart }.write(&path.with_extension("svg"))?;
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        let names = self.fields.names.join(", ");
        let places = match self.axis {
            Some(axis) => {
                let lines = self.points.len() / (2 * self.waves);
                format!("along {}, to {} waves, means over {} lines", AXES[axis], self.waves, grouped(lines))
            }
            None => format!("in the box, to {} waves, at {} points", self.waves, grouped(self.points.len())),
        };
        [format!(" of {names} {places}"), String::new()]
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.points.iter_mut().map(|(_, place)| place).collect()
    }
}

impl Spectrum {
    /// The names of the columns of the spectra: the fields, and for those of the velocity the energy.
    fn names(&self) -> Vec<String> {
        self.fields.names.iter().cloned().chain(self.energy.then(|| ENERGY.to_owned())).collect()
    }

    /// The wave number, the spectral densities as means over time, and their errors.
    fn means(&self, time: &[f64], rows: &Columns) -> Columns {
        let (names, fields) = (self.names(), self.fields.names.len());
        // Step and time come first.
        let column =
            |k: usize, m: usize| rows.values.get(2 + k * self.waves + m).map_or(&[][..], Vec::as_slice);
        let history = |k: usize, m: usize| match k < fields {
            true => column(k, m).to_vec(),
            false => (0..time.len()).map(|i| (0..fields).map(|k| 0.5 * column(k, m)[i]).sum()).collect(),
        };
        let mut header = vec![self.axis.map_or_else(|| "k".to_owned(), |axis| format!("k_{}", AXES[axis]))];
        header.extend(names.iter().map(|name| heading(&format!("E of {name}"))));
        header.extend(names.iter().map(|name| heading(&format!("error of {name}"))));
        let mut table = Columns { names: header, values: Vec::new() };
        table.values.push((1..=self.waves).map(|m| m as f64 * self.wave_number).collect());
        for statistic in [batches::mean, batches::error] {
            for k in 0..names.len() {
                let density = |m: usize| statistic(time, &history(k, m)) / self.wave_number;
                table.values.push((0..self.waves).map(density).collect());
            }
        }
        table
    }
}
