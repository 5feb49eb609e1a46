//! The keys `space.shock` and `space.limiter`.

use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use dgsuite_ops::{EntropyFilter, Limiting, Neighbourhood};

/// Reads both keys; `None` if there is no limiter.
///
/// # Errors
/// Unknown words, a tolerance out of range, two limiters that exclude each other.
pub(super) fn limiting(section: &Section<'_>, model: &str) -> Result<Option<Limiting>, InputError> {
    let (shock, limiter) = (shock(section)?, limiter(section)?);
    for key in ["shock", "limiter"] {
        if model == "advection" && section.has(key) && (shock.is_some() || limiter.is_some()) {
            return Err(section.misplaced(key, "the model advection", "the models euler and navier-stokes"));
        }
    }
    match (shock, limiter) {
        (Some(_), Some(limiter)) => {
            let belongs = match limiter {
                Limiting::Positivity => {
                    "`shock: none`; the filter itself keeps density and pressure positive"
                }
                _ => "`shock: none`; choose one of them",
            };
            Err(section.misplaced("limiter", "a scheme with a filter at shocks", belongs))
        }
        (shock, limiter) => Ok(shock.or(limiter)),
    }
}

/// `shock: entropy-filter`, or a section with its parameters.
fn shock(section: &Section<'_>) -> Result<Option<Limiting>, InputError> {
    let plain = Limiting::EntropyFilter(EntropyFilter::default());
    if let Some(Value::Text(_)) = section.node("shock").map(|node| &node.value) {
        section.lacks(
            "shock",
            &["oscillation-eliminating", "artificial-viscosity", "subcell"],
            "this version captures shocks by `shock: entropy-filter`",
        )?;
        let found = section.choice("shock", &[("none", None), ("entropy-filter", Some(plain))])?;
        return Ok(found.and_then(|found| found.value));
    }
    let Some(kind) = section.section("shock")? else { return Ok(None) };
    let Some(filter) = kind.section("entropy-filter")? else { return Ok(Some(plain)) };
    let default = EntropyFilter::default();
    let tolerance = filter.number("tolerance")?;
    if let Some(tolerance) = tolerance.as_ref().filter(|t| !(0.0..1.0).contains(&t.value)) {
        return Err(InputError::range(tolerance, "at least 0 and below 1"));
    }
    let gate = filter.choice("gate", &[("modal", true), ("none", false)])?;
    let density = filter.choice("bounds", &[("density", true), ("entropy", false)])?;
    Ok(Some(Limiting::EntropyFilter(EntropyFilter {
        tolerance: tolerance.map_or(default.tolerance, |t| t.value),
        gate: gate.map_or(default.gate, |g| g.value),
        density: density.map_or(default.density, |d| d.value),
    })))
}

/// `limiter: positivity`, `limiter: barth-jespersen`, or a section with its neighbours.
fn limiter(section: &Section<'_>) -> Result<Option<Limiting>, InputError> {
    let plain = Limiting::Slopes(Neighbourhood::default());
    if let Some(Value::Text(_)) = section.node("limiter").map(|node| &node.value) {
        let words =
            [("none", None), ("positivity", Some(Limiting::Positivity)), ("barth-jespersen", Some(plain))];
        return Ok(section.choice("limiter", &words)?.and_then(|found| found.value));
    }
    let Some(kind) = section.section("limiter")? else { return Ok(None) };
    let Some(slopes) = kind.section("barth-jespersen")? else { return Ok(Some(plain)) };
    let words = [("faces", Neighbourhood::Faces), ("vertices", Neighbourhood::Vertices)];
    let near = slopes.choice("neighbours", &words)?;
    Ok(Some(Limiting::Slopes(near.map_or(Neighbourhood::default(), |near| near.value))))
}
