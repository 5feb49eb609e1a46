//! Forces on an incompressible fluid by formulas that read its scalars.

use std::sync::Arc;

use dgsuite_physics::Real;
use dgsuite_physics::formula::{Formula, FormulaError, FormulaErrorKind};
use dgsuite_physics::incompressible::ScalarFormulas;
use dgsuite_physics::trace::{StateRecording, Sym};
use dgsuite_solve::incompressible::{Scalar, TEMPERATURE};

use crate::file::expression::COORDINATES;
use crate::file::problem::InputError;
use crate::file::problem::mistakes::each;
use crate::file::source::Located;
use crate::pipeline::Pipeline;
use crate::pipeline::physics::SourceSpec;

/// The components of the velocity.
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// The formulas of `physics.forcing` in `dim` dimensions, if one of them reads a scalar; those of place and
/// time alone are a source.
///
/// # Errors
/// Formulas that do not parse, or read unknowns that are not scalars.
pub(super) fn resolve(
    pipeline: &Pipeline,
    scalars: &[Scalar],
    dim: usize,
) -> Result<Option<Box<ScalarFormulas>>, InputError> {
    let Some(SourceSpec::Formulas(given)) = &pipeline.physics.source else { return Ok(None) };
    let constants = &pipeline.constants;
    // A constant with the name of a scalar keeps its meaning.
    if given.iter().all(|of| constants.formula(&of.text.value, &COORDINATES).is_ok()) {
        return Ok(None);
    }
    let names: Vec<&str> = scalars.iter().map(|scalar| scalar.name).chain(COORDINATES).collect();
    let parse = |text: &Located<String>| {
        constants.formula(&text.value, &names).map_err(|error| misread(text, error, scalars))
    };
    let parsed = each(given.iter().map(|of| parse(&of.text)))?;
    let of = |name: &&str| given.iter().position(|of| of.variable.value == *name);
    let places: Vec<Option<usize>> = COMPONENTS[..dim].iter().map(of).collect();
    let texts = places.iter().map(|at| at.map_or("0".to_owned(), |k| given[k].text.value.clone()));
    let components: Vec<Option<&Formula>> = places.iter().map(|at| at.map(|k| &parsed[k])).collect();
    let recording = StateRecording::new(scalars.len(), |w, t, x| {
        let values: Vec<Sym> = w.iter().chain(x).copied().chain([t]).collect();
        components.iter().map(|of| of.map_or_else(|| Sym::lit(0.0), |of| of.trace(&values))).collect()
    });
    Ok(Some(Box::new(ScalarFormulas::new(texts.collect(), scalars.len(), Arc::new(recording)))))
}

/// The mistake of a formula of the force, with a hint at names of the state that it cannot read.
fn misread(text: &Located<String>, mut error: FormulaError, scalars: &[Scalar]) -> InputError {
    if let FormulaErrorKind::UnknownName(name) = &error.kind {
        let known: Vec<&str> = scalars.iter().map(|scalar| scalar.name).chain(COORDINATES).collect();
        if name == TEMPERATURE {
            error.hint = Some("add `physics.temperature: { diffusivity: 0.01 }`".to_owned());
        } else if COMPONENTS.contains(&name.as_str()) || name == "p" {
            let reads = "a force reads scalars, place and time, not velocity or pressure";
            error.hint = Some(format!("{reads}: {}", known.join(", ")));
        }
    }
    InputError::formula(text, error)
}
