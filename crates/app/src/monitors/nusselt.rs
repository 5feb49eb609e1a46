//! The monitor `nusselt`: the heat that a boundary gives to incompressible flow, without dimensions.
//!
//! With the outward normal n,
//!
//! ```text
//! Nu = L/ΔT α/α₀ ∂T/∂n
//! ```
//!
//! at a point of the boundary, and its mean over the boundary: the heat flux into the fluid over `α₀ ΔT/L`,
//! that of conduction alone across a layer of the thickness L with the constant diffusivity α₀, which is α
//! where it does not vary. It is positive where the boundary heats the
//! fluid and ΔT, which is the temperature of the boundary minus that of the fluid, is positive.

use std::sync::Arc;

use serde_json::json;

use super::surface::{named_boundaries, read_boundaries, surface_of};
use super::{Context, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::Absent::{Required, Value};
use crate::file::keys::Kind::{List, Number, Text};
use crate::file::keys::Range::{Above, Any};
use crate::file::keys::{INCOMPRESSIBLE, row};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use dgsuite_solve::flow::{Flow, Law};
use dgsuite_solve::incompressible::TEMPERATURE;
use dgsuite_solve::post::Surface;

pub(super) static MONITOR: Kind = Kind {
    name: "nusselt",
    keys: &[
        section!(
            "nusselt",
            INCOMPRESSIBLE,
            "The Nusselt number L/ΔT ∂T/∂n of boundaries, with n out of the fluid: its mean, least and largest \
             value. Positive where a boundary heats the fluid. Where the diffusivity varies, the heat flux is \
             divided by that of its `constant`.",
            Value("10")
        ),
        &[
            row(
                "monitors[].nusselt.boundary",
                &[Text, List("names of boundaries", &[Text])],
                Required,
                "The boundary, or a list of boundaries.",
            )
            .of(INCOMPRESSIBLE),
            row("monitors[].nusselt.length", &[Number(Above(0.0))], Value("1"), "The length L.")
                .of(INCOMPRESSIBLE),
            row(
                "monitors[].nusselt.difference",
                &[Number(Any)],
                Value("1"),
                "The difference ΔT of the boundary's temperature to that of the fluid; it is negative where the \
                 boundary is colder, and not 0.",
            )
            .of(INCOMPRESSIBLE),
        ],
    ],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: charts::all,
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let boundaries = read_boundaries(section)?;
    let length = section.positive("length")?.map_or(1.0, |length| length.value);
    let difference = match section.number("difference")? {
        Some(given) if given.value == 0.0 => return Err(InputError::range(&given, "not 0")),
        given => given.map_or(1.0, |difference| difference.value),
    };
    Ok(Arc::new(NusseltSpec { boundaries, length, difference }))
}

#[derive(Debug)]
struct NusseltSpec {
    boundaries: Vec<Located<String>>,
    length: f64,
    difference: f64,
}

impl NusseltSpec {
    fn name(&self) -> String {
        self.boundaries.iter().map(|b| b.value.as_str()).collect::<Vec<_>>().join("+")
    }
}

/// The columns.
const COLUMNS: [&str; 3] = ["mean", "min", "max"];

impl Spec for NusseltSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let boundaries = named_boundaries(&self.boundaries, &context.mesh.boundary_names())?;
        let diffusivity = match context.states.variables.law() {
            Law::Incompressible(law) => law.scalars.first().filter(|scalar| scalar.name == TEMPERATURE),
            _ => None,
        };
        let Some(diffusivity) = diffusivity.map(|scalar| scalar.diffusivity) else {
            let (key, expected) = ("physics.temperature", "a temperature, such as { diffusivity: 0.01 }");
            let problem = Problem::MissingKey { key: key.to_owned(), expected: expected.to_owned() };
            return Err(InputError::at(context.place, problem));
        };
        let scale = self.length / (self.difference * diffusivity);
        Ok(Box::new(Nusselt { name: self.name(), boundaries, scale }))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        COLUMNS.map(|column| format!("nusselt.{}.{column}", self.name())).to_vec()
    }
}

struct Nusselt {
    name: String,
    boundaries: Vec<String>,
    /// `L/(α ΔT)`.
    scale: f64,
}

impl Monitor for Nusselt {
    fn columns(&self, _: &Variables) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let found = numbers(&surface_of(&self.boundaries, solver)?, self.scale);
        for (column, number) in COLUMNS.iter().zip(found) {
            values.put(&["nusselt", &self.name, column], json!(number));
        }
        Ok(Some(found.to_vec()))
    }

    fn about(&self) -> [String; 2] {
        [format!(" of {}", self.boundaries.join(", ")), String::new()]
    }
}

/// Mean, least and largest Nusselt number, where `scale` times the heat into the fluid is that of a point.
fn numbers(surface: &Surface, scale: f64) -> [f64; 3] {
    let at: Vec<f64> = surface.heat.iter().map(|heat| -scale * heat).collect();
    let (mut sum, mut area) = (0.0, 0.0);
    for (w, nusselt) in surface.weights.iter().zip(&at) {
        sum += w * nusselt;
        area += w;
    }
    let least = at.iter().copied().fold(f64::INFINITY, f64::min);
    let most = at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [sum / area, least, most]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_has_the_weights_of_the_faces() {
        // Heat of −2 and −5 leaves faces of the areas 3 and 1.
        let surface = Surface { heat: vec![-2.0, -5.0], weights: vec![3.0, 1.0], ..Surface::default() };
        assert_eq!(numbers(&surface, 10.0), [27.5, 20.0, 50.0]);
    }
}
