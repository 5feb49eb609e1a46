//! The monitor `profile`: means over homogeneous directions along a line, and their statistics in time.
//!
//! A row has, for each point of the line, the mean over the homogeneous directions of each field and of each
//! product of two velocity components. At the end the rows become the means over time, `⟨φ⟩`, the Reynolds
//! stresses `⟨u_i u_j⟩ − ⟨u_i⟩⟨u_j⟩`, and errors of the means. As they come from the table, a run that was
//! stopped and continued has the statistics of one that was not.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::directions::{self, AXES};
use super::formulas::{self, Formulas, NamedFormula};
use super::places::PlacesSpec;
use super::samples::{Placed, Places};
use super::{
    Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, sampling, section,
};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Value};
use crate::file::keys::Kind::{List, Section as Keys, Text, Vector, Whole, Words};
use crate::file::keys::{FLUID, key};
use crate::file::number::grouped;
use crate::file::problem::mistakes::both;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_output::writer::atomic;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_output::writer::plot::Chart;
use dgsuite_solve::Place;
use dgsuite_solve::flow::{Flow, Law};
use dgsuite_solve::post::batches;
use dgsuite_solve::post::forces::{Forces, Scales};

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
            key("monitors[].profile.line", &[Keys], Required, "Equally spaced points of a line.").of(FLUID),
            key("monitors[].profile.line.{from,to}", &[Vector], Required, "The first and the last point.")
                .of(FLUID),
            key(
                "monitors[].profile.line.points",
                &[Whole(2, usize::MAX)],
                Value("101"),
                "The number of points.",
            )
            .of(FLUID),
            key(
                "monitors[].profile.over",
                &[List("the words x, y, z", &[Words(&AXES)])],
                Required,
                "The homogeneous directions, in which the mesh is periodic.",
            )
            .of(FLUID),
            key(
                "monitors[].profile.fields",
                &[formulas::FORMULAS],
                Nothing,
                "Quantities besides the components of the velocity: formulas of the solution, such as `p` or \
                 `Temperature`.",
            )
            .of(FLUID),
            key(
                "monitors[].profile.samples",
                &[Whole(1, usize::MAX)],
                Value("32"),
                "The number of equally spaced places in each homogeneous direction.",
            )
            .of(FLUID),
            key(
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
    let over = directions::read(section)?.ok_or_else(|| section.missing("over", expected))?;
    Ok(Arc::new(ProfileSpec {
        line,
        over,
        samples: section.count("samples", 1)?.map_or(32, |n| n.value),
        fields: if section.node("fields").is_some() { formulas::read(section)? } else { Vec::new() },
        wall: section.text("wall")?,
    }))
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
}

impl ProfileSpec {
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
        let (fields, places) = both(Formulas::resolve(&all, context), places)?;
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
        let points = directions::placed(directions::spread(&line, &self.over, self.samples, context), mesh);
        Ok(Box::new(Profile {
            s: places.distances.unwrap_or_default(),
            line,
            points,
            names: self.names(dim),
            dim,
            fields,
            wall: self.wall.as_ref().map(|wall| wall.value.clone()),
        }))
    }

    fn values(&self, table: &str, variables: &Variables) -> Vec<String> {
        let mut values = vec![format!("{table}.rows")];
        let stresses = products(variables.dim()).map(|(_, name)| name);
        for name in self.names(variables.dim()).into_iter().chain(stresses) {
            values.extend(["min", "max", "mean"].map(|what| format!("{table}.{name}.{what}")));
        }
        if self.wall.is_some() {
            values.extend(["u_tau", "nu"].map(|name| format!("{table}.{name}")));
        }
        values
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
        let path = end.path.with_file_name(format!("{}-mean.csv", end.name));
        atomic::write(&path, statistics.table(self).as_bytes())?;
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
        for (n, ([a, b], name)) in products(profile.dim).enumerate() {
            let stress = (0..points).map(|i| mean(shown + n, i) - means[a][i] * means[b][i]).collect();
            means.push(stress);
            names.push(name);
        }
        let of_wall = |k: usize| batches::mean(time, &table.values[2 + k]);
        let wall = profile.wall.as_ref().filter(|_| table.values.len() > 3);
        let wall = wall.map(|_| [of_wall(0).sqrt(), of_wall(1)]);
        Self { rows: time.len(), names, means, errors, wall }
    }

    /// The table: distance and place, the means with their errors, the stresses; at a wall the same in wall
    /// units.
    fn table(&self, profile: &Profile) -> String {
        let mut header = vec!["s".to_owned()];
        header.extend(AXES[..profile.dim].iter().map(|x| (*x).to_owned()));
        header.extend(self.names.iter().map(|name| heading(name)));
        header.extend(profile.names.iter().map(|name| heading(&format!("error of {name}"))));
        let stresses = profile.names.len();
        let velocity = |k: &usize| *k < profile.dim;
        let in_wall_units: Vec<usize> =
            (0..self.names.len()).filter(|k| velocity(k) || *k >= stresses).collect();
        if self.wall.is_some() {
            header.push("s+".to_owned());
            header.extend(in_wall_units.iter().map(|&k| format!("{}+", self.names[k])));
        }
        let mut text = header.join(",") + "\n";
        for (i, (s, x)) in profile.s.iter().zip(&profile.line).enumerate() {
            let mut row = vec![*s];
            row.extend(&x[..profile.dim]);
            row.extend(self.means.iter().chain(&self.errors).map(|column| column[i]));
            if let Some([u_tau, nu]) = self.wall {
                row.push(s * u_tau / nu);
                let unit = |k: usize| if k < stresses { u_tau } else { u_tau * u_tau };
                row.extend(in_wall_units.iter().map(|&k| self.means[k][i] / unit(k)));
            }
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
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
