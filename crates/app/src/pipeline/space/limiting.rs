//! Limiters, all that the program knows of them: the keys `space.shock` and `space.limiter`, how they are
//! read, written out and printed. A word is a row of one of the lists here.

use crate::file::keys::Absent::{Nothing, Value as Default};
use crate::file::keys::Kind::{Number, Section as Keys, Words};
use crate::file::keys::Range::AtLeast;
use crate::file::keys::{GAS, Row, row, words};
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use dgsuite_ops::{EntropyFilter, Limiting, Neighbourhood};

/// What a word alone stands for.
type Plain = fn() -> Option<Limiting>;

const SHOCKS: [(&str, Plain); 2] =
    [("none", || None), ("entropy-filter", || Some(Limiting::EntropyFilter(EntropyFilter::default())))];
const SHOCK_WORDS: [&str; 2] = words(&SHOCKS);
const GATES: [(&str, bool); 2] = [("modal", true), ("none", false)];
const GATE_WORDS: [&str; 2] = words(&GATES);
/// Whether the density is bounded, too.
const BOUNDS: [(&str, bool); 2] = [("density", true), ("entropy", false)];
const BOUND_WORDS: [&str; 2] = words(&BOUNDS);
const LIMITERS: [(&str, Plain); 3] = [
    ("none", || None),
    ("positivity", || Some(Limiting::Positivity)),
    ("barth-jespersen", || Some(Limiting::Slopes(Neighbourhood::default()))),
];
const LIMITER_WORDS: [&str; 3] = words(&LIMITERS);
const NEIGHBOURS: [(&str, Neighbourhood); 2] =
    [("faces", Neighbourhood::Faces), ("vertices", Neighbourhood::Vertices)];
const NEIGHBOUR_WORDS: [&str; 2] = words(&NEIGHBOURS);

pub(crate) const KEYS: &[Row] = &[
    row(
        "space.shock",
        &[Words(&SHOCK_WORDS), Keys],
        Default("none"),
        "How shocks are captured. `entropy-filter` damps the modes of elements with shocks, after each \
         stage, until entropy and density are within the bounds of earlier states nearby, and keeps density \
         and pressure positive.",
    )
    .of(GAS),
    row("space.shock.entropy-filter", &[Keys], Nothing, "The entropy filter with its parameters.").of(GAS),
    row(
        "space.shock.entropy-filter.tolerance",
        &[Number(AtLeast(0.0))],
        Default("1e-3"),
        "The relative amount by which p/ρ^γ may fall below its bound, less than 1.",
    )
    .of(GAS),
    row(
        "space.shock.entropy-filter.gate",
        &[Words(&GATE_WORDS)],
        Default("modal"),
        "`modal` filters only elements whose highest modes of ρp are large, or whose density or pressure \
         falls below half of that of the mean, so that smooth flow keeps its order; `none` filters all.",
    )
    .of(GAS),
    row(
        "space.shock.entropy-filter.bounds",
        &[Words(&BOUND_WORDS)],
        Default("density"),
        "Bounds of density and entropy, or of entropy alone.",
    )
    .of(GAS),
    row(
        "space.limiter",
        &[Words(&LIMITER_WORDS), Keys],
        Default("none"),
        "A limiter without sensor: `positivity` keeps density and pressure positive; `barth-jespersen` \
         keeps values within the means of neighbours, as well.",
    )
    .of(GAS),
    row("space.limiter.barth-jespersen", &[Keys], Nothing, "The limiter of Barth and Jespersen.").of(GAS),
    row(
        "space.limiter.barth-jespersen.neighbours",
        &[Words(&NEIGHBOUR_WORDS)],
        Default("faces"),
        "The neighbours whose means bound the values: those with a common face, or with a common vertex.",
    )
    .of(GAS),
];

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
    if let Some(Value::Text(_)) = section.node("shock").map(|node| &node.value) {
        section.lacks(
            "shock",
            &["oscillation-eliminating", "artificial-viscosity", "subcell"],
            "this version captures shocks by `shock: entropy-filter`",
        )?;
        return Ok(section.choice("shock", &SHOCKS)?.and_then(|found| (found.value)()));
    }
    let Some(kind) = section.section("shock")? else { return Ok(None) };
    let default = EntropyFilter::default();
    let Some(filter) = kind.section("entropy-filter")? else {
        return Ok(Some(Limiting::EntropyFilter(default)));
    };
    let tolerance = filter.number("tolerance")?;
    if let Some(tolerance) = tolerance.as_ref().filter(|t| !(0.0..1.0).contains(&t.value)) {
        return Err(InputError::range(tolerance, "at least 0 and below 1"));
    }
    let (gate, density) = (filter.choice("gate", &GATES)?, filter.choice("bounds", &BOUNDS)?);
    Ok(Some(Limiting::EntropyFilter(EntropyFilter {
        tolerance: tolerance.map_or(default.tolerance, |t| t.value),
        gate: gate.map_or(default.gate, |g| g.value),
        density: density.map_or(default.density, |d| d.value),
    })))
}

/// `limiter: positivity`, `limiter: barth-jespersen`, or a section with its neighbours.
fn limiter(section: &Section<'_>) -> Result<Option<Limiting>, InputError> {
    if let Some(Value::Text(_)) = section.node("limiter").map(|node| &node.value) {
        return Ok(section.choice("limiter", &LIMITERS)?.and_then(|found| (found.value)()));
    }
    let Some(kind) = section.section("limiter")? else { return Ok(None) };
    let near = match kind.section("barth-jespersen")? {
        Some(slopes) => slopes.choice("neighbours", &NEIGHBOURS)?,
        None => None,
    };
    Ok(Some(Limiting::Slopes(near.map_or(Neighbourhood::default(), |near| near.value))))
}

/// The key of a limiter, and all that a run writes out where it is not given by a word alone.
pub(crate) fn written(limiting: Limiting) -> (&'static str, Vec<(&'static str, Value)>) {
    let text = |word: &str| Value::Text(word.to_owned());
    match limiting {
        Limiting::Positivity => ("space.limiter", vec![("space.limiter", text("positivity"))]),
        Limiting::Slopes(near) => {
            let key = "space.limiter.barth-jespersen.neighbours";
            ("space.limiter", vec![(key, text(word_of(&NEIGHBOURS, near)))])
        }
        Limiting::EntropyFilter(EntropyFilter { tolerance, gate, density }) => (
            "space.shock",
            vec![
                ("space.shock.entropy-filter.tolerance", Value::Number(tolerance)),
                ("space.shock.entropy-filter.gate", text(word_of(&GATES, gate))),
                ("space.shock.entropy-filter.bounds", text(word_of(&BOUNDS, density))),
            ],
        ),
    }
}

fn word_of<T: PartialEq + Copy>(list: &[(&'static str, T)], value: T) -> &'static str {
    list.iter().find(|(_, of)| *of == value).map_or("", |(word, _)| word)
}

/// The limiter, as the end of the line of the plan about the discretisation.
pub(crate) fn line(limiting: Limiting) -> String {
    match limiting {
        Limiting::Positivity => ", positivity limiter".to_owned(),
        Limiting::Slopes(Neighbourhood::Faces) => ", slopes limited by face neighbours".to_owned(),
        Limiting::Slopes(Neighbourhood::Vertices) => ", slopes limited by vertex neighbours".to_owned(),
        Limiting::EntropyFilter(EntropyFilter { tolerance, gate, density }) => {
            let gate = if gate { "gated " } else { "" };
            let density = if density { " and density" } else { "" };
            format!(", {gate}filter of entropy{density} (tolerance {tolerance:e})")
        }
    }
}
