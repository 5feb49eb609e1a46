//! The fields of the output files: known names and formulas, compiled over the primitive variables.

use dgsuite_physics::formula::Formula;

use super::variables::Variables;
use crate::pipeline::expression::Constants;
use crate::pipeline::mistakes::each;
use crate::pipeline::output::{AveragesSpec, FieldSpec};
use crate::pipeline::problem::{InputError, Problem};
use crate::systems::hyperbolic::Law;

/// A field of the output files.
#[derive(Debug)]
pub struct OutputField {
    /// Its name in the file.
    pub name: String,
    /// A formula in the primitive variables and their derivatives for each component: one, or three for a
    /// vector.
    pub components: Vec<Formula>,
    /// Whether one of them uses a derivative.
    pub gradients: bool,
    /// What it is instead of formulas, if it has one value for each element.
    pub of_element: Option<OfElement>,
}

/// A number of each element that a limiter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfElement {
    /// The sensor of the gate.
    Sensor,
    /// The factor of the modes in the last stage.
    Filter,
}

impl OfElement {
    /// The numbers by name.
    pub const ALL: [(&'static str, Self); 2] = [("Sensor", Self::Sensor), ("Filter", Self::Filter)];
}

/// Whether the fields may have one value for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// They may; the numbers of a limiter exist if there is one.
    Allowed {
        /// Whether there is one.
        limited: bool,
    },
    /// They may not: means over time and faces of boundaries need values at points.
    PointsOnly,
}

/// The fields known by name for a gas, in two and three dimensions.
fn gas_fields(dim: usize) -> Vec<(&'static str, Vec<&'static str>)> {
    let (energy, mach) = if dim == 3 {
        ("p/(gamma - 1) + rho*(u^2 + v^2 + w^2)/2", "sqrt((u^2 + v^2 + w^2)*rho/(gamma*p))")
    } else {
        ("p/(gamma - 1) + rho*(u^2 + v^2)/2", "sqrt((u^2 + v^2)*rho/(gamma*p))")
    };
    let momentum = if dim == 3 { vec!["rho*u", "rho*v", "rho*w"] } else { vec!["rho*u", "rho*v", "0"] };
    let mut fields = vec![
        ("Density", vec!["rho"]),
        velocity(dim),
        ("Pressure", vec!["p"]),
        ("Mach", vec![mach]),
        ("Momentum", momentum),
        ("Energy", vec![energy]),
        ("Temperature", vec!["p/(rho*gas_constant)"]),
        ("SoundSpeed", vec!["sqrt(gamma*p/rho)"]),
        ("Entropy", vec!["log(p/rho^gamma)"]),
    ];
    fields.extend(derivatives(dim));
    // The magnitude of the density gradient, as in schlieren pictures.
    let schlieren = if dim == 3 { "sqrt(rho_x^2 + rho_y^2 + rho_z^2)" } else { "sqrt(rho_x^2 + rho_y^2)" };
    fields.push(("Schlieren", vec![schlieren]));
    fields
}

/// The fields known by name for incompressible flow.
fn incompressible_fields(dim: usize) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut fields = vec![velocity(dim), ("Pressure", vec!["p"])];
    fields.extend(derivatives(dim));
    fields
}

/// The name of the field of the velocity.
pub const VELOCITY: &str = "Velocity";

/// The velocity, with three components.
fn velocity(dim: usize) -> (&'static str, Vec<&'static str>) {
    (VELOCITY, if dim == 3 { vec!["u", "v", "w"] } else { vec!["u", "v", "0"] })
}

/// The fields of derivatives of the velocity.
fn derivatives(dim: usize) -> Vec<(&'static str, Vec<&'static str>)> {
    let three = dim == 3;
    // Q = (|Ω|² − |S|²)/2 = −½ ∂v_i/∂x_j ∂v_j/∂x_i.
    let q = match three {
        true => "-(u_x^2 + v_y^2 + w_z^2)/2 - u_y*v_x - u_z*w_x - v_z*w_y",
        false => "-(u_x^2 + v_y^2)/2 - u_y*v_x",
    };
    vec![
        // In two dimensions it is the component along the normal of the plane.
        ("Vorticity", if three { vec!["w_y - v_z", "u_z - w_x", "v_x - u_y"] } else { vec!["v_x - u_y"] }),
        ("QCriterion", vec![q]),
        ("Divergence", vec![if three { "u_x + v_y + w_z" } else { "u_x + v_y" }]),
    ]
}

/// Returns the fields known by name for a law, and the number of those that are written by default.
fn known_fields(law: &Law, dim: usize) -> (Vec<(&'static str, Vec<&'static str>)>, usize) {
    match law {
        Law::Advection { .. } => (Vec::new(), 0),
        Law::Euler { .. } | Law::NavierStokes(_) => (gas_fields(dim), 3),
        Law::Incompressible(_) => (incompressible_fields(dim), 2),
    }
}

/// The fields whose means are taken: those of the file, and the velocity where its covariances are wanted.
///
/// # Errors
/// Covariances for a law without velocity; a formula of the file that takes the name of the velocity.
pub fn averaged(
    spec: &AveragesSpec,
    mut fields: Vec<OutputField>,
    variables: &Variables,
) -> Result<Vec<OutputField>, InputError> {
    let Some(wanted) = &spec.reynolds_stresses else { return Ok(fields) };
    let refuse = |owner: &str, belongs: &str| {
        let (key, owner, belongs) = (wanted.key.clone(), owner.to_owned(), belongs.to_owned());
        Err(InputError::at(&wanted.place, Problem::Misplaced { key, owner, belongs }))
    };
    if matches!(variables.law(), Law::Advection { .. }) {
        return refuse("an equation without velocity", "flow of a gas or a liquid");
    }
    let velocity = |field: &OutputField| field.name == VELOCITY;
    if fields.iter().any(|field| velocity(field) && field.components.len() != 3) {
        return refuse("a file with a formula of the name `Velocity`", "fields with another name");
    }
    if !fields.iter().any(velocity) {
        let arguments = variables.with_gradients();
        let compiled = self::velocity(variables.dim()).1.into_iter().map(|text| {
            let problem = |error| Problem::Formula { key: VELOCITY.to_owned(), error };
            Constants::default().formula(text, &arguments).map_err(|e| InputError::nowhere(problem(e)))
        });
        let components = compiled.collect::<Result<_, _>>()?;
        fields.push(OutputField {
            name: VELOCITY.to_owned(),
            components,
            gradients: false,
            of_element: None,
        });
    }
    Ok(fields)
}

/// Compiles the fields that the file names, or the default ones of the model.
///
/// # Errors
/// Unknown names and formulas that do not parse.
pub fn resolve(
    specs: Option<&[FieldSpec]>,
    variables: &Variables,
    constants: &Constants,
    elements: Elements,
) -> Result<Vec<OutputField>, InputError> {
    let gas = variables.law().gas();
    let (known, usual) = known_fields(variables.law(), variables.dim());
    let own = match gas {
        Some(gas) => {
            let r = variables.law().gas_constant();
            Constants::default().and("gamma", gas.gamma).and("gas_constant", r)
        }
        None => Constants::default(),
    };
    let arguments = variables.with_gradients();
    let field = |name: &str, components: Vec<Formula>| {
        let gradients = components.iter().any(|f| variables.gradients.iter().any(|name| f.depends_on(name)));
        OutputField { name: name.to_owned(), components, gradients, of_element: None }
    };
    let compile = |name: &str, texts: &[&str]| {
        let components = texts
            .iter()
            .map(|text| {
                own.formula(text, &arguments)
                    .map_err(|error| InputError::nowhere(Problem::Formula { key: name.to_owned(), error }))
            })
            .collect::<Result<_, _>>()?;
        Ok(field(name, components))
    };
    let Some(specs) = specs else {
        let usual = known.iter().take(usual);
        return match known.is_empty() {
            false => usual.map(|(name, texts)| compile(name, texts)).collect(),
            true => Ok(vec![compile("u", &["u"])?]),
        };
    };
    each(specs.iter().map(|spec| {
        let name = spec.name.value.as_str();
        if let Some(text) = &spec.formula {
            return Ok(field(name, vec![constants.located_formula(text, &arguments)?]));
        }
        if let Some((name, texts)) = known.iter().find(|(known, _)| *known == name) {
            return compile(name, texts);
        }
        if arguments.contains(&name) {
            return compile(name, &[name]);
        }
        if let Some(&(_, of_element)) = OfElement::ALL.iter().find(|(known, _)| *known == name) {
            let misplaced = |owner: &str, belongs: &str| {
                let (key, owner, belongs) = (spec.name.key.clone(), owner.to_owned(), belongs.to_owned());
                Err(InputError::at(&spec.name.place, Problem::Misplaced { key, owner, belongs }))
            };
            return match elements {
                Elements::Allowed { limited: true } => {
                    Ok(OutputField { of_element: Some(of_element), ..field(name, Vec::new()) })
                }
                Elements::Allowed { .. } => {
                    misplaced("a scheme without limiter", "`space.shock: entropy-filter` and `space.limiter`")
                }
                Elements::PointsOnly => misplaced("fields at points", "`output.fields`"),
            };
        }
        let names = known.iter().map(|(n, _)| *n).chain(variables.primitive.iter().copied());
        Err(InputError::at(
            &spec.name.place,
            Problem::UnknownValue {
                key: spec.name.key.clone(),
                found: name.to_owned(),
                known: names.map(str::to_owned).collect(),
            },
        ))
    }))
}
