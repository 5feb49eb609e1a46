//! The monitor `spectrum`: spectra of fields along a periodic direction.
//!
//! A row has, for each field, the mean squares of its waves along lines through some points, means over these
//! and over homogeneous directions. At the end they become means over time, from the table: a run that was
//! stopped and continued has the spectra of one that was not.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::directions::{self, AXES};
use super::formulas::{self, Formulas, NamedFormula};
use super::places::{PlacesSpec, listed};
use super::samples::{Placed, Places};
use super::{
    Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, sampling, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{List, Vector, Whole, Words};
use crate::file::keys::{FLUID, key};
use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_output::writer::plot::Chart;
use dgsuite_solve::Place;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::{batches, spectrum};

pub(super) static MONITOR: Kind = Kind {
    name: "spectrum",
    keys: &[
        section!(
            "spectrum",
            FLUID,
            "Spectra along a periodic direction, means over points, homogeneous directions and time, in \
             `monitors/spectrum-mean.csv`.",
            Value("10")
        ),
        beginning!("spectrum", FLUID),
        &[
            key(
                "monitors[].spectrum.along",
                &[Words(&AXES)],
                Required,
                "The direction of the waves, in which the mesh is periodic.",
            )
            .of(FLUID),
            key(
                "monitors[].spectrum.waves",
                &[Whole(1, usize::MAX)],
                Value("32"),
                "The largest number of waves in a period; twice as many values are taken along it.",
            )
            .of(FLUID),
            key(
                "monitors[].spectrum.points",
                &[List("points", &[Vector])],
                Says("the centre of the mesh"),
                "Points of lines, over which spectra are means.",
            )
            .of(FLUID),
            key(
                "monitors[].spectrum.over",
                &[List("the words x, y, z", &[Words(&AXES)])],
                Nothing,
                "Homogeneous directions, in which the mesh is periodic.",
            )
            .of(FLUID),
            key(
                "monitors[].spectrum.samples",
                &[Whole(1, usize::MAX)],
                Value("8"),
                "The number of lines in each homogeneous direction.",
            )
            .of(FLUID),
            key(
                "monitors[].spectrum.fields",
                &[formulas::FORMULAS],
                Says("the components of the velocity"),
                "The quantities: formulas of the solution, such as `p`.",
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

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let along = section.choice("along", &[("x", 0), ("y", 1), ("z", 2)])?;
    Ok(Arc::new(SpectrumSpec {
        along: along.ok_or_else(|| section.missing("along", "the direction of the waves: x, y or z"))?,
        waves: section.count("waves", 1)?.map_or(32, |n| n.value),
        points: if section.node("points").is_some() { Some(listed(section)?) } else { None },
        over: directions::read(section)?.unwrap_or_default(),
        samples: section.count("samples", 1)?.map_or(8, |n| n.value),
        fields: if section.node("fields").is_some() { Some(formulas::read(section)?) } else { None },
    }))
}

#[derive(Debug)]
struct SpectrumSpec {
    /// The direction of the waves.
    along: Located<usize>,
    /// The largest number of waves in a period.
    waves: usize,
    /// Points of the lines.
    points: Option<Vec<Located<Vec<f64>>>>,
    /// Homogeneous directions.
    over: Vec<Located<usize>>,
    samples: usize,
    fields: Option<Vec<NamedFormula>>,
}

impl SpectrumSpec {
    /// The fields, by default the velocity.
    fn fields(&self, dim: usize) -> Vec<NamedFormula> {
        let own = |name: &&str| NamedFormula {
            name: (*name).to_owned(),
            formula: self.along.with((*name).to_owned()),
        };
        self.fields.clone().unwrap_or_else(|| VELOCITY[..dim].iter().map(own).collect())
    }
}

impl Spec for SpectrumSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let (mesh, dim) = (context.mesh, context.mesh.dim());
        let axis = self.along.value;
        directions::periodic(std::slice::from_ref(&self.along), context)?;
        directions::periodic(&self.over, context)?;
        if let Some(same) = self.over.iter().find(|over| over.value == axis) {
            let expected = "a direction other than that of the waves, `along`";
            return Err(InputError::range(&same.with(AXES[same.value]), expected));
        }
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
        let n = self.waves.saturating_mul(2);
        directions::not_too_many(lines.saturating_mul(n), &self.along.with(()))?;
        // [point][sample][place along the line]
        let starts = directions::spread(&points, &self.over, self.samples, context);
        let all = directions::spread(&starts, std::slice::from_ref(&self.along), n, context);
        let all = directions::placed(all, mesh);
        if let Some((point, _)) = all.iter().find(|(_, place)| place.is_none() && !mesh.is_part()) {
            return Err(InputError::at(&self.along.place, Problem::PointOutside { point: *point }));
        }
        Ok(Box::new(Spectrum {
            waves: self.waves,
            wave_number: TAU / context.states.periods[axis],
            axis,
            points: all,
            fields: Formulas::resolve(&self.fields(dim), context)?,
        }))
    }

    fn values(&self, table: &str, variables: &Variables) -> Vec<String> {
        let mut values = vec![format!("{table}.rows")];
        values.extend(self.fields(variables.dim()).iter().map(|f| format!("{table}.{}.variance", f.name)));
        values
    }
}

struct Spectrum {
    /// The largest number of waves in a period.
    waves: usize,
    /// The wave number of one wave in a period.
    wave_number: f64,
    /// The direction of the waves.
    axis: usize,
    /// All places, `[line][place along it]`.
    points: Vec<Placed>,
    fields: Formulas,
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
        let (n, lines) = (2 * self.waves, self.points.len() / (2 * self.waves));
        let mut row = vec![0.0; names.len() * self.waves];
        for line in values.chunks_exact(n) {
            for (k, sums) in row.chunks_exact_mut(self.waves).enumerate() {
                let along: Vec<f64> = line.iter().map(|values| values[k]).collect();
                let found = spectrum::mean_squares(&along);
                sums.iter_mut().zip(&found[1..]).for_each(|(sum, e)| *sum += e / lines as f64);
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
        // Step and time come first.
        let of = |i: usize, statistic: fn(&[f64], &[f64]) -> f64| {
            statistic(time, end.table.values.get(2 + i).map_or(&[][..], Vec::as_slice))
        };
        let names = &self.fields.names;
        let density = |e: f64| e / self.wave_number;
        let mut header = vec![format!("k_{}", AXES[self.axis])];
        header.extend(names.iter().map(|name| heading(&format!("E of {name}"))));
        header.extend(names.iter().map(|name| heading(&format!("error of {name}"))));
        let mut table = Columns { names: header, values: Vec::new() };
        table.values.push((1..=self.waves).map(|m| m as f64 * self.wave_number).collect());
        for statistic in [batches::mean, batches::error] {
            for k in 0..names.len() {
                let column = (0..self.waves).map(|m| density(of(k * self.waves + m, statistic)));
                table.values.push(column.collect());
            }
        }
        for (name, column) in names.iter().zip(&table.values[1..]) {
            let variance = column.iter().sum::<f64>() * self.wave_number;
            values.put(&[end.name, name, "variance"], json!(variance));
        }
        let path = end.path.with_file_name(format!("{}-mean.csv", end.name));
        let mut text = table.names.join(",") + "\n";
        for m in 0..self.waves {
            let row: Vec<String> = table.values.iter().map(|column| format!("{:?}", column[m])).collect();
            let _ = writeln!(text, "{}", row.join(","));
        }
        atomic::write(&path, text.as_bytes())?;
        let shown: Vec<&str> = table.names[1..=names.len()].iter().map(String::as_str).collect();
        let chart = charts::columns(&table, end.name, &table.names[0], &shown);
        let title = format!("{}: means over {} rows", end.name, grouped(time.len()));
        Chart { log_x: true, log_y: true, title, ..chart }.write(&path.with_extension("svg"))?;
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        let (names, lines) = (self.fields.names.join(", "), self.points.len() / (2 * self.waves));
        [
            format!(
                " of {names} along {}, to {} waves, means over {} lines",
                AXES[self.axis],
                self.waves,
                grouped(lines)
            ),
            String::new(),
        ]
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.points.iter_mut().map(|(_, place)| place).collect()
    }
}
