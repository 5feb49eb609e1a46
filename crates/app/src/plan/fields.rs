//! The fields of the output files: known names and formulas, compiled over the primitive variables.

use dgsuite_physics::formula::Formula;

use super::variables::Variables;
use crate::pipeline::expression::Constants;
use crate::pipeline::output::FieldSpec;
use crate::pipeline::problem::{InputError, Problem};
use crate::systems::hyperbolic::Law;

/// A field of the output files.
#[derive(Debug)]
pub struct OutputField {
    /// Its name in the file.
    pub name: String,
    /// A formula in the primitive variables for each component: one, or three for a vector.
    pub components: Vec<Formula>,
}

/// The fields that are known by name for the Euler equations, in two and three dimensions.
fn euler_fields(dim: usize) -> Vec<(&'static str, Vec<&'static str>)> {
    let three = dim == 3;
    let (energy, mach) = if three {
        ("p/(gamma - 1) + rho*(u^2 + v^2 + w^2)/2", "sqrt((u^2 + v^2 + w^2)*rho/(gamma*p))")
    } else {
        ("p/(gamma - 1) + rho*(u^2 + v^2)/2", "sqrt((u^2 + v^2)*rho/(gamma*p))")
    };
    vec![
        ("Density", vec!["rho"]),
        ("Velocity", if three { vec!["u", "v", "w"] } else { vec!["u", "v", "0"] }),
        ("Pressure", vec!["p"]),
        ("Mach", vec![mach]),
        ("Momentum", if three { vec!["rho*u", "rho*v", "rho*w"] } else { vec!["rho*u", "rho*v", "0"] }),
        ("Energy", vec![energy]),
        ("Temperature", vec!["p/rho"]),
        ("SoundSpeed", vec!["sqrt(gamma*p/rho)"]),
        ("Entropy", vec!["log(p/rho^gamma)"]),
    ]
}

/// The number of fields of [`euler_fields`] that are written where the file names none.
const USUAL: usize = 3;

/// Compiles the fields that the file names, or the usual ones of the model.
///
/// # Errors
/// Unknown names and formulas that do not parse.
pub fn resolve(
    specs: Option<&[FieldSpec]>,
    variables: &Variables,
    constants: &Constants,
) -> Result<Vec<OutputField>, InputError> {
    let known: Vec<(&str, Vec<&str>)> = match variables.law() {
        Law::Euler { .. } => euler_fields(variables.dim()),
        Law::Advection { .. } => Vec::new(),
    };
    let own = match variables.law() {
        Law::Euler { gamma } => Constants::default().and("gamma", *gamma),
        Law::Advection { .. } => Constants::default(),
    };
    let compile = |name: &str, texts: &[&str]| {
        let components = texts
            .iter()
            .map(|text| {
                own.formula(text, &variables.primitive)
                    .map_err(|error| InputError::nowhere(Problem::Formula { key: name.to_owned(), error }))
            })
            .collect::<Result<_, _>>()?;
        Ok(OutputField { name: name.to_owned(), components })
    };
    let Some(specs) = specs else {
        let usual = known.iter().take(USUAL);
        return match variables.law() {
            Law::Euler { .. } => usual.map(|(name, texts)| compile(name, texts)).collect(),
            Law::Advection { .. } => Ok(vec![compile("u", &["u"])?]),
        };
    };
    specs
        .iter()
        .map(|spec| {
            let name = spec.name.value.as_str();
            if let Some(text) = &spec.formula {
                let formula = constants.located_formula(text, &variables.primitive)?;
                return Ok(OutputField { name: name.to_owned(), components: vec![formula] });
            }
            if let Some((name, texts)) = known.iter().find(|(known, _)| *known == name) {
                return compile(name, texts);
            }
            if variables.primitive.contains(&name) {
                return compile(name, &[name]);
            }
            let names = known.iter().map(|(n, _)| *n).chain(variables.primitive.iter().copied());
            Err(InputError::at(
                &spec.name.place,
                Problem::UnknownValue {
                    key: "output.fields.names".into(),
                    found: name.to_owned(),
                    known: names.map(str::to_owned).collect(),
                },
            ))
        })
        .collect()
}
