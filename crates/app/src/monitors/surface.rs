//! The keys `boundary` and `reference` of monitors: boundaries of the mesh, and the scales of coefficients.

use super::Context;
use crate::file::expression::wrong_type;
use crate::file::keys::Absent::{Required, Says};
use crate::file::keys::Kind::{List, Number, Section as Keys, Text, Vector};
use crate::file::keys::Range::{Above, Any};
use crate::file::keys::{FLUID, Kind, Row, row};
use crate::file::node::Value;
use crate::file::number::short;
use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::section::{self, Section};
use crate::file::source::{Located, Place};
use crate::models::reference::unit;
use crate::monitors::samples::coordinates;
use dgsuite_solve::SystemError;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::Surface;
use dgsuite_solve::post::forces::Scales;

const POSITIVE: Kind = Number(Above(0.0));
const BOUNDARY: &[Kind] = &[Text, List("names of boundaries", &[Text])];

pub(super) static KEYS: &[Row] = &[
    row("monitors[].{forces,wall}.boundary", BOUNDARY, Required, "The boundary, or a list of boundaries.")
        .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference",
        &[Keys],
        Says("`physics.reference`"),
        "The scales of the coefficients, where they are not those of `physics.reference`.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.{density,velocity}",
        &[POSITIVE],
        Says("that of `physics.reference`; required without it"),
        "The scale of the dynamic pressure ½ρ|v|².",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.pressure",
        &[Number(Any)],
        Says("that of `physics.reference`, else 0"),
        "The pressure that is subtracted from the pressure on the boundary.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.area",
        &[POSITIVE],
        Says("`length` in the plane; required in space"),
        "The area of force coefficients, in the plane a length.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.length",
        &[POSITIVE],
        Says("that of `physics.reference`; required without it"),
        "The length of moment coefficients and of the Strouhal number.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.direction",
        &[Vector],
        Says("that of `physics.reference`, else the x-axis"),
        "The direction of drag.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.lift",
        &[Vector],
        Says("to the left of drag, in the plane of x and y"),
        "The direction of lift.",
    )
    .of(FLUID),
    row(
        "monitors[].{forces,wall}.reference.origin",
        &[Vector],
        Says("the origin"),
        "The point that moments are taken about.",
    )
    .of(FLUID),
];

/// Boundaries and the scales of coefficients, as written; `None` for the values of `physics.reference`.
#[derive(Clone, Debug)]
pub(super) struct SurfaceSpec {
    /// The boundaries.
    pub(super) boundaries: Vec<Located<String>>,
    /// Density, speed, pressure, area and length.
    pub(super) scales: [Option<f64>; 5],
    /// Direction of drag.
    pub(super) drag: Option<Located<Vec<f64>>>,
    /// Direction of lift.
    pub(super) lift: Option<Located<Vec<f64>>>,
    /// The point that moments are taken about.
    pub(super) origin: Option<Located<Vec<f64>>>,
    /// Where the section starts.
    pub(super) place: Place,
    /// Its key path.
    pub(super) path: String,
}

/// The keys of the scales, in the order of [`SurfaceSpec::scales`].
const SCALES: [&str; 5] = ["density", "velocity", "pressure", "area", "length"];

impl SurfaceSpec {
    /// Reads boundaries and scales.
    pub(super) fn read(section: &Section<'_>) -> Result<Self, InputError> {
        section.known()?;
        let mut spec = Self {
            boundaries: read_boundaries(section)?,
            scales: [None; 5],
            drag: None,
            lift: None,
            origin: None,
            place: section.place().clone(),
            path: section.path().to_owned(),
        };
        if let Some(inner) = section.unchecked("reference")? {
            // The state of the gas is given in `physics.reference`, which also has the default scales.
            for key in ["mach", "reynolds", "temperature", "angle"] {
                if inner.entries().iter().any(|entry| entry.key == key) {
                    let owner = "the scales of coefficients";
                    return Err(inner.misplaced(
                        key,
                        owner,
                        "`physics.reference`, whose density, velocity, pressure and length they are",
                    ));
                }
            }
            inner.known()?;
            for (key, scale) in SCALES.iter().zip(&mut spec.scales) {
                let found = if *key == "pressure" { inner.number(key)? } else { inner.positive(key)? };
                *scale = found.map(|x| x.value);
            }
            spec.drag = inner.vector("direction")?;
            spec.lift = inner.vector("lift")?;
            spec.origin = inner.vector("origin")?;
            spec.place = inner.place().clone();
        }
        Ok(spec)
    }

    /// The names of the boundaries, joined by `+`: the name in tables and in the summary.
    pub(super) fn name(&self) -> String {
        self.boundaries.iter().map(|b| b.value.as_str()).collect::<Vec<_>>().join("+")
    }

    /// Resolves names and scales.
    pub(super) fn resolve(&self, context: &Context<'_>) -> Result<OnBoundaries, InputError> {
        let (mesh, reference) = (context.mesh, context.reference);
        let boundaries = named_boundaries(&self.boundaries, &mesh.boundary_names())?;
        let [density, speed, pressure, area, length] = self.scales;
        let needed = |given: Option<f64>, own: Option<f64>, key: &str, what: &str| {
            given.or(own).ok_or_else(|| {
                let expected = match reference {
                    Some(_) => format!("{what}, here or in `physics.reference`, which has none"),
                    None => format!("{what}, or a `physics.reference`"),
                };
                let key = format!("{}.reference.{key}", self.path);
                InputError::at(&self.place, Problem::MissingKey { key, expected })
            })
        };
        let vector = |given: &Option<Located<Vec<f64>>>| match given {
            Some(v) => coordinates(v, mesh.dim()).and_then(|_| unit(v)).map(Some),
            None => Ok(None),
        };
        let length =
            needed(length, reference.and_then(|r| r.length), "length", "the length of coefficients")?;
        let drag = vector(&self.drag)?.or(reference.map(|r| r.direction)).unwrap_or([1.0, 0.0, 0.0]);
        // In three dimensions a length does not determine the area.
        let own_area = if mesh.dim() == 2 { Some(length) } else { None };
        let area = match area.or(own_area) {
            Some(area) => area,
            None => {
                let key = format!("{}.reference.area", self.path);
                let expected = "the area of coefficients, such as pi/4 for a sphere of diameter 1".to_owned();
                return Err(InputError::at(&self.place, Problem::MissingKey { key, expected }));
            }
        };
        let scales = Scales {
            density: needed(density, reference.map(|r| r.density), "density", "the density of coefficients")?,
            speed: needed(speed, reference.map(|r| r.speed), "velocity", "the speed of coefficients")?,
            // A constant pressure exerts no force on a closed surface.
            pressure: pressure.or(reference.map(|r| r.pressure)).unwrap_or(0.0),
            area,
            length,
            drag,
            lift: vector(&self.lift)?.unwrap_or_else(|| Scales::lift_of(drag)),
            origin: self.origin.as_ref().map_or(Ok([0.0; 3]), |x| coordinates(x, mesh.dim()))?,
        };
        Ok(OnBoundaries { name: boundaries.join("+"), boundaries, scales })
    }
}

/// Reads `boundary: NAME | [NAMES]`.
///
/// # Errors
/// No name, a name twice.
pub(super) fn read_boundaries(section: &Section<'_>) -> Result<Vec<Located<String>>, InputError> {
    let key = section.key("boundary");
    let node =
        section.node("boundary").ok_or_else(|| section.missing("boundary", "the name of a boundary"))?;
    let expected = "the name of a boundary, or a list of them";
    let boundaries = match &node.value {
        Value::List(items) => {
            items.iter().map(|item| section::text(item, &key, expected)).collect::<Result<Vec<_>, _>>()?
        }
        _ => vec![section::text(node, &key, expected)?],
    };
    if boundaries.is_empty() {
        return Err(wrong_type(node, &key, expected));
    }
    section::once(&boundaries)?;
    Ok(boundaries)
}

/// Boundaries and scales, resolved.
#[derive(Clone, Debug)]
pub(super) struct OnBoundaries {
    /// The name in tables and in the summary: the names of the boundaries, joined by `+`.
    pub(super) name: String,
    /// The boundaries.
    pub(super) boundaries: Vec<String>,
    /// Reference quantities of the coefficients.
    pub(super) scales: Scales,
}

/// Returns the names of boundaries, checked against those of the mesh.
///
/// # Errors
/// [`Problem::UnknownBoundary`].
pub fn named_boundaries(given: &[Located<String>], known: &[&str]) -> Result<Vec<String>, InputError> {
    let one = |boundary: &Located<String>| match known.contains(&boundary.value.as_str()) {
        true => Ok(boundary.value.clone()),
        false => {
            let known = known.iter().map(|&name| name.to_owned()).collect();
            let problem = Problem::UnknownBoundary { name: boundary.value.clone(), known };
            Err(InputError::at(&boundary.place, problem))
        }
    };
    each(given.iter().map(one))
}

/// Returns the points of some boundaries, as one surface.
pub(super) fn surface_of(boundaries: &[String], solver: &Flow) -> Result<Surface, SystemError> {
    let mut all = Surface { first: vec![0], ..Surface::default() };
    for name in boundaries {
        all.append(solver.surface(name)?);
    }
    Ok(all)
}

impl OnBoundaries {
    /// Returns the points of all boundaries, as one surface.
    pub(super) fn surface(&self, solver: &Flow) -> Result<Surface, SystemError> {
        surface_of(&self.boundaries, solver)
    }

    /// The reference quantities of coefficients.
    pub(super) fn about(&self) -> String {
        let scales = &self.scales;
        let vector = |v: [f64; 3]| v.map(|x| if x == 0.0 { "0".to_owned() } else { short(x) }).join(" ");
        format!(
            "density {}, speed {}, pressure {}, area {}, length {}, drag along ({}), lift along ({})",
            short(scales.density),
            short(scales.speed),
            short(scales.pressure),
            short(scales.area),
            short(scales.length),
            vector(scales.drag),
            vector(scales.lift)
        )
    }

    /// What the plan says: the boundaries, and the scales.
    pub(super) fn lines(&self) -> [String; 2] {
        [format!(" of {}", self.boundaries.join(", ")), format!("; coefficients by {}", self.about())]
    }
}
