//! The monitor `profile`: means over homogeneous directions along a line, and their statistics in time.
//!
//! A row has, for each point of the line, the mean over the homogeneous directions of each field and of each
//! product of two velocity components. At the end the rows become the means over time, `⟨φ⟩`, the Reynolds
//! stresses `⟨u_i u_j⟩ − ⟨u_i⟩⟨u_j⟩`, and errors of the means. As they come from the table, a run that was
//! stopped and continued has the statistics of one that was not.

mod budget;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use self::budget::Budget;

use serde_json::json;

use super::directions::{self, AXES};
use super::formulas::{self, Formulas, NamedFormula};
use super::places::{PlacesSpec, Spacing};
use super::reference::ReferenceSpec;
use super::samples::{Placed, Places};
use super::{
    Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, sampling, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Value};
use crate::file::keys::Kind::{Flag, List, Section as Keys, Text, Vector, Whole, Words};
use crate::file::keys::{FLUID, row};
use crate::file::number::grouped;
use crate::file::problem::mistakes::both;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_output::writer::plot::{Chart, Curve};
use dgsuite_solve::Place;
use dgsuite_solve::flow::{Flow, Law};
use dgsuite_solve::post::batches;
use dgsuite_solve::post::forces::{Forces, Scales};
use dgsuite_solve::post::history::Series;

pub(super) static MONITOR: Kind = Kind {
    name: "profile",
    keys: &[
        section!(
            "profile",
            FLUID,
            "Means over homogeneous directions along a line, and their means over time with Reynolds stresses, in \
             `monitors/profile-mean.csv`.",
            Value("10")
        ),
        beginning!("profile", FLUID),
        &[
            row("monitors[].profile.line", &[Keys], Required, "Points of a line.").of(FLUID),
            row("monitors[].profile.line.{from,to}", &[Vector], Required, "The first and the last point.")
                .of(FLUID),
            row(
                "monitors[].profile.line.points",
                &[Whole(2, usize::MAX)],
                Value("101"),
                "The number of points.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.line.spacing",
                &[Words(&Spacing::WORDS)],
                Value("uniform"),
                "`cosine` makes them dense at both ends.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.over",
                &[List("the words x, y, z", &[Words(&AXES)])],
                Required,
                "The homogeneous directions, in which the mesh is periodic.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.fields",
                &[formulas::FORMULAS],
                Nothing,
                "Quantities besides the components of the velocity: formulas of the solution, such as `p` or \
                 `Temperature`.",
            )
            .of(FLUID),
            row("monitors[].profile.reference", &[Keys], Nothing, "A table of other means to compare with.")
                .of(FLUID),
            row(
                "monitors[].profile.reference.file",
                &[Text],
                Required,
                "The path of a table of numbers in columns, the first of them `s+` for columns in wall units, `s` for \
                 others.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.reference.columns",
                &[Keys],
                Required,
                "The columns of the table, such as `{ u+: 2, uu+: 3 }`.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.reference.columns.<mean>",
                &[Whole(2, usize::MAX)],
                Nothing,
                "The column that a column of `profile-mean.csv` is compared with, counted from 1.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.budget",
                &[Flag],
                Value("false"),
                "The budget of the turbulent kinetic energy along the line, which lies along the only direction that \
                 is not among `over`.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.samples",
                &[Whole(1, usize::MAX)],
                Value("32"),
                "The number of equally spaced places in each homogeneous direction.",
            )
            .of(FLUID),
            row(
                "monitors[].profile.wall",
                &[Text],
                Nothing,
                "The boundary at which the line begins. Its mean friction gives the friction velocity, with which \
                 the means are also written in wall units.",
            )
            .of(FLUID),
        ],
    ],
    every: Every::Steps(10),
    begins: true,
    read,
    chart: charts::all,
};

/// The products of velocity components, by direction.
const PRODUCTS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [0, 2]];

/// The names of the components.
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// The columns of a wall: the square of the friction velocity, and the kinematic viscosity.
const OF_WALL: [&str; 2] = ["u_tau^2", "nu_wall"];

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let line = PlacesSpec::line(section)?;
    let line =
        line.ok_or_else(|| section.missing("line", "the ends of a line, { from: [0, 0], to: [0, 1] }"))?;
    let expected = "a list of the homogeneous directions, such as [x, z]";
    let over = directions::read(section, "over")?.ok_or_else(|| section.missing("over", expected))?;
    let mut spec = ProfileSpec {
        line,
        over,
        samples: section.count("samples", 1)?.map_or(32, |n| n.value),
        fields: if section.node("fields").is_some() { formulas::read(section)? } else { Vec::new() },
        wall: section.text("wall")?,
        budget: section.flag("budget")?.filter(|wanted| wanted.value),
        reference: None,
    };
    let known = spec.comparable();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    spec.reference = ReferenceSpec::read(section, &known)?;
    Ok(Arc::new(spec))
}

#[derive(Debug)]
struct ProfileSpec {
    line: PlacesSpec,
    /// Homogeneous directions.
    over: Vec<Located<usize>>,
    samples: usize,
    /// Fields besides the velocity.
    fields: Vec<NamedFormula>,
    wall: Option<Located<String>>,
    /// Present if the budget of the turbulent kinetic energy is wanted.
    budget: Option<Located<bool>>,
    /// A table to compare the means with.
    reference: Option<ReferenceSpec>,
}

impl ProfileSpec {
    /// The direction of the line, if it is the only one that is not homogeneous.
    ///
    /// # Errors
    /// Others that are not, where the budget is wanted.
    fn axis(&self, line: &[[f64; 3]], dim: usize) -> Result<Option<usize>, InputError> {
        let Some(wanted) = &self.budget else { return Ok(None) };
        let homogeneous = |d: &usize| self.over.iter().any(|axis| axis.value == *d);
        let rest: Vec<usize> = (0..dim).filter(|d| !homogeneous(d)).collect();
        let straight = |n: usize| (0..dim).all(|d| d == n || line.iter().all(|x| x[d] == line[0][d]));
        match rest[..] {
            [n] if straight(n) => Ok(Some(n)),
            _ => {
                let expected = "false, but for a line along the only direction that is not among `over`";
                Err(InputError::range(&wanted.with("true"), expected))
            }
        }
    }

    /// The columns of the table of means that a reference may have, in three dimensions.
    fn comparable(&self) -> Vec<String> {
        let mut names = self.names(3);
        names.extend(products(3).map(|(_, name)| name));
        names.extend(self.budget.iter().flat_map(|_| budget::terms(true)).map(str::to_owned));
        let of_field = |name: &String| self.fields.iter().any(|field| field.name == *name);
        let in_wall_units: Vec<String> = match self.wall {
            Some(_) => names.iter().filter(|name| !of_field(name)).map(|name| format!("{name}+")).collect(),
            None => Vec::new(),
        };
        names.extend(in_wall_units);
        names
    }

    /// The names of the means, of the velocity first.
    fn names(&self, dim: usize) -> Vec<String> {
        let velocity = COMPONENTS[..dim].iter().map(|name| (*name).to_owned());
        velocity.chain(self.fields.iter().map(|field| field.name.clone())).collect()
    }
}

/// The products in `dim` dimensions, and their names.
fn products(dim: usize) -> impl Iterator<Item = ([usize; 2], String)> {
    let within = move |pair: &[usize; 2]| pair.iter().all(|&d| d < dim);
    PRODUCTS.into_iter().filter(within).map(|pair| (pair, pair.map(|d| COMPONENTS[d]).concat()))
}

impl Spec for ProfileSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let (mesh, dim) = (context.mesh, context.mesh.dim());
        let line = match &self.line {
            PlacesSpec::Line { from, .. } => from.with(()),
            _ => Located { value: (), key: String::new(), place: context.place.clone() },
        };
        let of_text =
            |name: &str, text: String| NamedFormula { name: name.to_owned(), formula: line.with(text) };
        let velocity = COMPONENTS[..dim].iter().map(|name| of_text(name, (*name).to_owned()));
        let squares = products(dim)
            .map(|([a, b], name)| of_text(&name, format!("{}*{}", COMPONENTS[a], COMPONENTS[b])));
        let all: Vec<NamedFormula> = velocity.chain(self.fields.iter().cloned()).chain(squares).collect();
        let places = Places::find(&self.line, mesh, context.base);
        let (mut fields, places) = both(Formulas::resolve(&all, context), places)?;
        directions::periodic(&self.over, context)?;
        let per_point = self.samples.saturating_pow(self.over.len() as u32);
        directions::not_too_many(places.points.len().saturating_mul(per_point), &line)?;
        if let Some(wall) =
            self.wall.as_ref().filter(|wall| !mesh.boundary_names().contains(&wall.value.as_str()))
        {
            let known = mesh.boundary_names().into_iter().map(str::to_owned).collect();
            let (key, found) = (wall.key.clone(), wall.value.clone());
            return Err(InputError::at(&wall.place, Problem::UnknownValue { key, found, known }));
        }
        let line: Vec<[f64; 3]> = places.points.iter().map(|(x, _)| *x).collect();
        let budget = self.axis(&line, dim)?.map(|axis| Budget::new(axis, context)).transpose()?;
        for (name, formula) in budget.iter().flat_map(|budget| &budget.formulas) {
            fields.names.push(name.clone());
            fields.formulas.push(formula.clone());
            fields.gradients = true;
        }
        let points = directions::placed(directions::spread(&line, &self.over, self.samples, context), mesh);
        let references = self.reference.as_ref().map(|reference| reference.all(context)).transpose()?;
        Ok(Box::new(Profile {
            references: references.unwrap_or_default(),
            s: places.distances.unwrap_or_default(),
            line,
            points,
            names: self.names(dim),
            dim,
            fields,
            wall: self.wall.as_ref().map(|wall| wall.value.clone()),
            budget,
        }))
    }

    fn values(&self, table: &str, variables: &Variables) -> Vec<String> {
        let mut values = vec![format!("{table}.rows")];
        let stresses = products(variables.dim()).map(|(_, name)| name);
        for name in self.names(variables.dim()).into_iter().chain(stresses) {
            values.extend(["min", "max", "mean"].map(|what| format!("{table}.{name}.{what}")));
        }
        if self.budget.is_some() {
            let terms = budget::terms(variables.law().closure().is_some());
            let names = terms.into_iter().chain(["residual_share"]);
            values.extend(names.map(|name| format!("{table}.{name}")));
        }
        let compared = self.reference.iter().flat_map(|reference| &reference.columns);
        values.extend(compared.map(|(name, _)| format!("{table}.deviation.{name}")));
        if self.wall.is_some() {
            values.extend(["u_tau", "nu"].map(|name| format!("{table}.{name}")));
        }
        values
    }

    fn files(&self) -> Vec<(&'static str, &Located<PathBuf>)> {
        self.reference.iter().map(|table| ("reference.file", &table.file)).collect()
    }
}

struct Profile {
    /// Distances from the start of the line, and its points.
    s: Vec<f64>,
    line: Vec<[f64; 3]>,
    /// All places, `[point of the line][place]`.
    points: Vec<Placed>,
    /// The names of the means; then come the products of the velocity.
    names: Vec<String>,
    dim: usize,
    fields: Formulas,
    wall: Option<String>,
    budget: Option<Budget>,
    /// Columns of the table of means to compare with, by name.
    references: Vec<(String, Series)>,
}

impl Monitor for Profile {
    fn columns(&self, _: &Variables) -> Vec<String> {
        let wall = self.wall.iter().flat_map(|_| OF_WALL.map(str::to_owned));
        let of_point = |i: usize| self.fields.names.iter().map(move |n| heading(&format!("{n} at {i}")));
        wall.chain((0..self.line.len()).flat_map(of_point)).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        _: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let mut row = Vec::new();
        if let Some(wall) = &self.wall {
            row.extend(friction(solver, wall)?);
        }
        let Formulas { formulas, gradients, names } = &self.fields;
        let values = sampling::at_points(solver, &self.points, formulas, *gradients);
        let places = self.points.len() / self.line.len();
        for values in values.chunks_exact(places) {
            // Places outside of a mesh with holes have no values.
            let mean = |k: usize| {
                let inside = values.iter().map(|value| value[k]).filter(|x| !x.is_nan());
                let (sum, n) = inside.fold((0.0, 0), |(sum, n), x| (sum + x, n + 1));
                sum / f64::from(n)
            };
            row.extend((0..names.len()).map(mean));
        }
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        let statistics = Statistics::of(self, end.table);
        values.put(&[end.name, "rows"], json!(statistics.rows));
        if statistics.rows == 0 {
            return Ok(());
        }
        for (name, column) in statistics.names.iter().zip(&statistics.means) {
            let least = column.iter().copied().fold(f64::INFINITY, f64::min);
            let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            values.put(&[end.name, name], json!({ "min": least, "max": most, "mean": mean }));
        }
        if let Some([u_tau, nu]) = statistics.wall {
            values.put(&[end.name, "u_tau"], json!(u_tau));
            values.put(&[end.name, "nu"], json!(nu));
        }
        if !statistics.budget.is_empty() {
            for (name, term) in self.terms().iter().zip(&statistics.budget) {
                let largest = term.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
                values.put(&[end.name, name], json!(largest));
            }
            values.put(&[end.name, "residual_share"], json!(budget::share(&statistics.budget)));
            let path = end.path.with_file_name(format!("{}-budget.svg", end.name));
            statistics.chart_of_budget(self, end.name).write(&path)?;
        }
        let path = end.path.with_file_name(format!("{}-mean.csv", end.name));
        let table = statistics.table(self);
        atomic::write(&path, text_of(&table).as_bytes())?;
        self.compare(end, &table, values)?;
        statistics.chart(self, end.name).write(&path.with_extension("svg"))?;
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        let places = self.points.len() / self.line.len();
        let (points, names) = (self.line.len(), self.names.join(", "));
        [
            format!(" of {names} at {points} points, each a mean over {} places", grouped(places)),
            String::new(),
        ]
    }

    fn places(&mut self) -> Vec<&mut Option<Place>> {
        self.points.iter_mut().map(|(_, place)| place).collect()
    }
}

impl Profile {
    /// The names of the terms of the budget; none without one.
    fn terms(&self) -> Vec<&'static str> {
        self.budget.iter().flat_map(Budget::names).collect()
    }

    /// Puts the deviations of columns of the table from the reference into the summary, and draws both.
    fn compare(&self, end: &Finished<'_>, table: &Columns, values: &mut Values) -> Result<(), MonitorError> {
        let mut curves = Vec::new();
        for (name, reference) in &self.references {
            let along = if name.ends_with('+') { "s+" } else { "s" };
            let (Some(s), Some(column)) = (table.column(along), table.column(name)) else { continue };
            let ours: Vec<(f64, f64)> = s.iter().copied().zip(column.iter().copied()).collect();
            let (at, data) = reference.clone().into_columns();
            values.put(&[end.name, "deviation", name], json!(deviation(&ours, &at, &data)));
            // The reference may end in the middle of a channel.
            let last = at.last().copied().unwrap_or(f64::INFINITY);
            let within = ours.into_iter().filter(|(s, _)| *s <= 1.02 * last).collect();
            curves.push(Curve { name: name.clone(), points: within, ..Curve::default() });
            let points = at.into_iter().zip(data).collect();
            curves.push(Curve { name: format!("{name}, reference"), points, alone: true, marks: true });
        }
        if curves.is_empty() {
            return Ok(());
        }
        let x = if self.references.iter().all(|(name, _)| name.ends_with('+')) { "s+" } else { "s" };
        let title = format!("{} and reference", end.name);
        let chart =
            Chart { title, x: x.to_owned(), curves, of_panel: 2, log_x: x == "s+", ..Chart::default() };
        chart.write(&end.path.with_file_name(format!("{}-reference.svg", end.name)))?;
        Ok(())
    }
}

/// The largest difference of a curve from data at the places `at` that it has, over the largest size of the
/// data there.
fn deviation(curve: &[(f64, f64)], at: &[f64], data: &[f64]) -> f64 {
    let value = |x: f64| {
        let after = curve.partition_point(|(s, _)| *s < x);
        match (after.checked_sub(1).and_then(|i| curve.get(i)), curve.get(after)) {
            (_, Some((s, y))) if *s == x => Some(*y),
            (Some((a, y)), Some((b, z))) => Some(y + (z - y) * (x - a) / (b - a)),
            _ => None,
        }
    };
    let compared = at.iter().zip(data).filter_map(|(&x, &y)| Some((value(x)? - y, y)));
    let (far, large) =
        compared.fold((0.0_f64, 0.0_f64), |(far, large), (d, y)| (far.max(d.abs()), large.max(y.abs())));
    far / large
}

/// A table as text.
fn text_of(table: &Columns) -> String {
    let mut text = table.names.join(",") + "\n";
    for i in 0..table.values.first().map_or(0, Vec::len) {
        let cells: Vec<String> = table.values.iter().map(|column| column[i].to_string()).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

/// The square of the friction velocity, `|∫τ|/(A ρ)` with the friction τ of a boundary of area A, and the
/// kinematic viscosity, from the mean state there.
fn friction(solver: &Flow, wall: &str) -> Result<[f64; 2], MonitorError> {
    let surface = solver.surface(wall)?;
    let scales = Scales {
        density: 1.0,
        speed: 1.0,
        pressure: 0.0,
        area: 1.0,
        length: 1.0,
        drag: [0.0; 3],
        lift: [0.0; 3],
        origin: [0.0; 3],
    };
    let forces = Forces::of(&surface, &scales);
    let stress = forces.viscous.iter().map(|f| f * f).sum::<f64>().sqrt() / forces.area;
    let mean =
        |values: &[f64]| values.iter().zip(&surface.weights).map(|(x, w)| x * w).sum::<f64>() / forces.area;
    let of_gas = |law: &dgsuite_physics::NavierStokes| {
        let density = surface.values.first().map_or(1.0, |rho| mean(rho));
        let energy = mean(surface.pressure()) / ((law.gas.gamma - 1.0) * density);
        [stress / density, law.viscosity_at(energy) / density]
    };
    Ok(match &solver.setup().law {
        Law::NavierStokes(law) => of_gas(law),
        Law::Incompressible(law) => [stress, law.viscosity],
        Law::Advection { .. } | Law::Euler { .. } => [0.0; 2],
    })
}

/// The means over the rows of a table.
struct Statistics {
    /// The number of rows.
    rows: usize,
    /// The names of the columns: means, then stresses.
    names: Vec<String>,
    /// Values, `[column][point]`.
    means: Vec<Vec<f64>>,
    /// The errors of the means; the stresses have none.
    errors: Vec<Vec<f64>>,
    /// Friction velocity and kinematic viscosity at the wall.
    wall: Option<[f64; 2]>,
    /// The terms of the budget, `[term][point]`; empty if it is not wanted.
    budget: Vec<Vec<f64>>,
}

impl Statistics {
    fn of(profile: &Profile, table: &Columns) -> Self {
        // Step and time come first.
        let first = 2 + profile.wall.as_ref().map_or(0, |_| OF_WALL.len());
        let (points, fields) = (profile.line.len(), profile.fields.names.len());
        let column =
            |k: usize, i: usize| table.values.get(first + i * fields + k).map_or(&[][..], Vec::as_slice);
        let time = table.values.get(1).map_or(&[][..], Vec::as_slice);
        let mean = |k: usize, i: usize| batches::mean(time, column(k, i));
        let shown = profile.names.len();
        let mut means: Vec<Vec<f64>> =
            (0..shown).map(|k| (0..points).map(|i| mean(k, i)).collect()).collect();
        let errors = (0..shown).map(|k| (0..points).map(|i| batches::error(time, column(k, i))).collect());
        let errors = errors.collect();
        let mut names = profile.names.clone();
        let means_of_velocity = means[..profile.dim].to_vec();
        for (n, ([a, b], name)) in products(profile.dim).enumerate() {
            let stress = (0..points).map(|i| mean(shown + n, i) - means[a][i] * means[b][i]).collect();
            means.push(stress);
            names.push(name);
        }
        let budget = profile.budget.as_ref().map(|budget| {
            let raw = |k: usize| (0..points).map(|i| mean(shown + k, i)).collect::<Vec<_>>();
            let products: Vec<[usize; 2]> = products(profile.dim).map(|(pair, _)| pair).collect();
            let of =
                |a: usize, b: usize| products.iter().position(|&pair| pair == [a.min(b), a.max(b)]).map(raw);
            let with_axis = (0..profile.dim).filter_map(|i| of(i, budget.axis)).collect::<Vec<_>>();
            let squares = (0..profile.dim).filter_map(|i| of(i, i)).collect::<Vec<_>>();
            let energy: Vec<f64> =
                (0..points).map(|q| 0.5 * squares.iter().map(|s| s[q]).sum::<f64>()).collect();
            let means: Vec<Vec<f64>> =
                (products.len()..products.len() + budget.formulas.len()).map(raw).collect();
            let along: Vec<f64> = profile.line.iter().map(|x| x[budget.axis]).collect();
            budget.terms(&along, &means_of_velocity, &with_axis, &energy, &means)
        });
        let of_wall = |k: usize| batches::mean(time, &table.values[2 + k]);
        let wall = profile.wall.as_ref().filter(|_| table.values.len() > 3);
        let wall = wall.map(|_| [of_wall(0).sqrt(), of_wall(1)]);
        Self { rows: time.len(), names, means, errors, wall, budget: budget.unwrap_or_default() }
    }

    /// The table: distance and place, the means with their errors, the stresses; at a wall the same in wall
    /// units; the terms of the budget.
    fn table(&self, profile: &Profile) -> Columns {
        let mut all: Vec<(String, Vec<f64>)> = vec![("s".to_owned(), profile.s.clone())];
        for (d, axis) in AXES[..profile.dim].iter().enumerate() {
            all.push(((*axis).to_owned(), profile.line.iter().map(|x| x[d]).collect()));
        }
        let heading_of = |name: &String| heading(name);
        all.extend(self.names.iter().map(heading_of).zip(self.means.iter().cloned()));
        let errors = profile.names.iter().map(|name| heading(&format!("error of {name}")));
        all.extend(errors.zip(self.errors.iter().cloned()));
        let stresses = profile.names.len();
        let scaled = |column: &[f64], unit: f64| column.iter().map(|x| x / unit).collect::<Vec<_>>();
        if let Some([u_tau, nu]) = self.wall {
            all.push(("s+".to_owned(), scaled(&profile.s, nu / u_tau)));
            let velocity = |k: &usize| *k < profile.dim || *k >= stresses;
            for k in (0..self.names.len()).filter(velocity) {
                let unit = if k < stresses { u_tau } else { u_tau * u_tau };
                all.push((format!("{}+", self.names[k]), scaled(&self.means[k], unit)));
            }
        }
        let names = profile.terms();
        let terms = || names.iter().zip(&self.budget);
        all.extend(terms().map(|(name, term)| ((*name).to_owned(), term.clone())));
        if let Some([u_tau, nu]) = self.wall {
            all.extend(terms().map(|(name, term)| (format!("{name}+"), scaled(term, u_tau.powi(4) / nu))));
        }
        let (names, values) = all.into_iter().unzip();
        Columns { names, values }
    }

    /// The terms of the budget over the distance.
    fn chart_of_budget(&self, profile: &Profile, name: &str) -> Chart {
        let terms = profile.terms();
        let names = terms.iter().map(|name| (*name).to_owned());
        let table = Columns {
            names: ["s".to_owned()].into_iter().chain(names).collect(),
            values: [profile.s.clone()].into_iter().chain(self.budget.iter().cloned()).collect(),
        };
        let mut chart = charts::columns(&table, name, "s", &terms);
        chart.title = format!("{name}: budget of the turbulent kinetic energy");
        chart
    }

    /// The means of the velocity over the distance; at a wall its first component in wall units.
    fn chart(&self, profile: &Profile, name: &str) -> Chart {
        let table = Columns {
            names: ["s".to_owned()].into_iter().chain(self.names.iter().cloned()).collect(),
            values: [profile.s.clone()].into_iter().chain(self.means.iter().cloned()).collect(),
        };
        let shown: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let mut chart = charts::columns(&table, name, "s", &shown);
        chart.title = format!("{name}: means over {} rows", grouped(self.rows));
        chart
    }
}
