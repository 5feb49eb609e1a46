//! Source terms of the state, with their coefficients as functions of place: sponge layers, body forces.

use std::sync::Arc;

use dgsuite_physics::coefficients::FormulaCoefficients;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::reaction::SpongeCoefficients;
use dgsuite_physics::{Coefficients, Exact};

use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::source::Located;
use crate::models::state::InitialSpec;
use crate::models::states::States;
use crate::pipeline::Pipeline;
use crate::pipeline::physics::{SourceSpec, SpongeSpec};
use dgsuite_solve::flow::ReactionTerm;

/// The variables of coefficients, which are evaluated once.
const PLACE: [&str; 3] = ["x", "y", "z"];

/// Resolves the source terms of the state. `initial` is the state at the start, and `points` those of the
/// mesh.
///
/// # Errors
/// Formulas that do not parse or depend on time, values that are impossible at one of the points, a force
/// that does not fit the mesh.
pub(super) fn resolve(
    pipeline: &Pipeline,
    states: &States<'_>,
    initial: &Arc<dyn Exact>,
    points: &[[f64; 3]],
) -> Result<Vec<ReactionTerm>, InputError> {
    let physics = &pipeline.physics;
    let sponge = physics.sponge.as_ref().map(|spec| sponge(spec, pipeline, states, initial, points));
    let force = physics.body_force.as_ref().map(|spec| force(spec, states, points));
    let formulas = match &physics.source {
        Some(SourceSpec::Formulas(given)) => states.source_of_state(given).transpose(),
        _ => None,
    };
    let formulas = formulas.map(|formulas| formulas.map(ReactionTerm::Formulas));
    each(sponge.into_iter().chain(force).chain(formulas))
}

fn sponge(
    spec: &SpongeSpec,
    pipeline: &Pipeline,
    states: &States<'_>,
    initial: &Arc<dyn Exact>,
    points: &[[f64; 3]],
) -> Result<ReactionTerm, InputError> {
    let strength = FormulaCoefficients(vec![states.constants.located_formula(&spec.strength, &PLACE)?]);
    check(&strength, &[&spec.strength], points, "a finite number, 0 or more", |x| x.is_finite() && x >= 0.0)?;
    let state = match (&spec.state, &pipeline.initial) {
        (Some(given), _) => {
            let state = states.resolve(given)?;
            states.admissible(state.as_ref(), given, 0.0, points)?;
            state
        }
        (None, InitialSpec::Restart(_)) => {
            let expected = "the state towards which the sponge damps, as a checkpoint has none for it";
            let problem =
                Problem::MissingKey { key: "physics.sponge.exact".into(), expected: expected.into() };
            return Err(InputError::at(&spec.place, problem));
        }
        (None, _) => Arc::clone(initial),
    };
    let steady = state.is_steady() || state.recorded().is_some_and(|state| !state.depends_on_time());
    if !steady {
        let what = Located {
            value: "a state that changes with time".to_owned(),
            key: "physics.sponge".to_owned(),
            place: spec.place.clone(),
        };
        return Err(InputError::range(
            &what,
            "a state that does not depend on time; give formulas in x, y and z, or a steady solution",
        ));
    }
    Ok(ReactionTerm::Sponge(Arc::new(SpongeCoefficients { strength: Arc::new(strength), state })))
}

fn force(
    spec: &VectorQuantity,
    states: &States<'_>,
    points: &[[f64; 3]],
) -> Result<ReactionTerm, InputError> {
    let dim = states.variables.dim();
    if spec.is_list && spec.len != dim || spec.len > dim {
        let shown = spec.key.with(format!("a vector of {} numbers", spec.len));
        let expected = format!("a vector of {dim} numbers, as the mesh has {dim} dimensions");
        return Err(InputError::range(&shown, expected));
    }
    let text = |quantity: &Option<Quantity>| match quantity {
        Some(Quantity::Formula(text)) => text.clone(),
        Some(Quantity::Constant(x)) => x.with(x.value.to_string()),
        None => spec.key.with("0".to_owned()),
    };
    let texts: Vec<Located<String>> = spec.components[..dim].iter().map(text).collect();
    let parse = |text| states.constants.located_formula(text, &PLACE);
    let formulas: Vec<Formula> = each(texts.iter().map(parse))?;
    let coefficients = FormulaCoefficients(formulas);
    check(&coefficients, &texts.iter().collect::<Vec<_>>(), points, "a finite number", f64::is_finite)?;
    Ok(ReactionTerm::BodyForce(Arc::new(coefficients)))
}

/// Rejects coefficients with a value that is not good at one of the points.
fn check(
    coefficients: &dyn Coefficients,
    texts: &[&Located<String>],
    points: &[[f64; 3]],
    expected: &str,
    good: impl Fn(f64) -> bool,
) -> Result<(), InputError> {
    let mut values = vec![Vec::new(); coefficients.count()];
    coefficients.eval(points, &mut values);
    for (values, text) in values.iter().zip(texts) {
        if let Some(i) = values.iter().position(|&x| !good(x)) {
            let [x, y, z] = points[i];
            let shown = text.with(format!("{} at ({x}, {y}, {z})", values[i]));
            return Err(InputError::range(&shown, expected));
        }
    }
    Ok(())
}
