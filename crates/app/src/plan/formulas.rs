//! Formulas that are evaluated during a run, with their places in the file, for messages about bad values.

use dgsuite_physics::formula::Formula;

use crate::file::expression::{COORDINATES, Constants};
use crate::file::problem::InputError;
use crate::file::source::Located;
use crate::models::state::InitialSpec;
use crate::pipeline::Pipeline;
use crate::pipeline::physics::SourceSpec;

/// A formula in `x, y, z, t` of a boundary or a source term.
#[derive(Debug)]
pub struct RunningFormula {
    /// The boundary where it is evaluated; `None` for the whole domain.
    pub boundary: Option<String>,
    /// Its text, with key and place.
    pub text: Located<String>,
    formula: Formula,
}

/// A value of a formula that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bad {
    /// The value.
    pub value: f64,
    /// The point.
    pub point: [f64; 3],
    /// The time.
    pub time: f64,
}

impl RunningFormula {
    /// Returns the first value that is not finite, at any of the times and points.
    pub fn first_bad(&self, times: &[f64], points: &[[f64; 3]]) -> Option<Bad> {
        let column = |d: usize| points.iter().map(|x| x[d]).collect::<Vec<f64>>();
        let (x, y, z) = (column(0), column(1), column(2));
        let mut values = vec![0.0; points.len()];
        times.iter().find_map(|&time| {
            self.formula.eval_batch(&[&x, &y, &z, &[time]], &mut values);
            let i = values.iter().position(|x| !x.is_finite())?;
            Some(Bad { value: values[i], point: points[i], time })
        })
    }
}

/// Returns the formulas of a file's boundaries and of its source term.
///
/// # Errors
/// A formula that does not parse.
pub(super) fn running(file: &Pipeline) -> Result<Vec<RunningFormula>, InputError> {
    let mut all = Vec::new();
    for spec in &file.boundaries {
        // Formulas that use the state are evaluated with it; mistakes in them are reported where they are
        // read.
        let by_place = |text: &&Located<String>| file.constants.formula(&text.value, &COORDINATES).is_ok();
        for text in spec.condition.formulas().into_iter().filter(by_place) {
            all.push(RunningFormula::new(Some(&spec.name.value), text, &file.constants)?);
        }
    }
    let source: Vec<&Located<String>> = match (&file.physics.source, &file.initial) {
        (Some(SourceSpec::Formulas(formulas)), _) => formulas.iter().map(|f| &f.text).collect(),
        // The exact solution from which the source term is derived.
        (Some(SourceSpec::Manufactured(_)), InitialSpec::State(state, _)) => state.formulas().collect(),
        _ => Vec::new(),
    };
    // Formulas that use the state are evaluated with it; mistakes in them are reported where they are read.
    for text in source.into_iter().filter(|text| file.constants.formula(&text.value, &COORDINATES).is_ok()) {
        all.push(RunningFormula::new(None, text, &file.constants)?);
    }
    Ok(all)
}

impl RunningFormula {
    fn new(
        boundary: Option<&String>,
        text: &Located<String>,
        constants: &Constants,
    ) -> Result<Self, InputError> {
        let formula = constants.located_formula(text, &COORDINATES)?;
        Ok(Self { boundary: boundary.cloned(), text: text.clone(), formula })
    }
}
