//! Limiters, all that the program knows of them: the keys `space.shock` and `space.limiter`, how they are
//! read, written out and printed.

use crate::file::key::{Key, Parts, Usual, key, keys};
use crate::file::keys::Range::Below;
use crate::file::keys::{GAS, Low};
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::tree::Tree;
use dgsuite_ops::{EntropyFilter, Limiting, Neighbourhood};

keys! { KEYS:
    SHOCK: Usual<bool> = key("space.shock")
        .words(&[("none", false), ("entropy-filter", true)])
        .section()
        .of(GAS)
        .text("How shocks are captured. `entropy-filter` damps the modes of elements with shocks, after \
               each stage, until entropy and density are within the bounds of earlier states nearby, and \
               keeps density and pressure positive.")
        .default(false);
    FILTER: Key<Parts> = key("space.shock.entropy-filter")
        .section()
        .of(GAS)
        .text("The entropy filter with its parameters.");
    TOLERANCE: Usual<f64> = key("space.shock.entropy-filter.tolerance")
        .number(Below(Low::From(0.0), 1.0))
        .of(GAS)
        .text("The relative amount by which p/ρ^γ may fall below its bound, less than 1.")
        .default(1e-3);
    GATE: Usual<bool> = key("space.shock.entropy-filter.gate")
        .words(&[("modal", true), ("none", false)])
        .of(GAS)
        .text("`modal` filters only elements whose highest modes of ρp are large, or whose density or \
               pressure falls below half of that of the mean, so that smooth flow keeps its order; `none` \
               filters all.")
        .default(true);
    BOUNDS: Usual<bool> = key("space.shock.entropy-filter.bounds")
        .words(&[("density", true), ("entropy", false)])
        .of(GAS)
        .text("Bounds of density and entropy, or of entropy alone.")
        .default(true);
    LIMITER: Usual<Option<Limiting>> = key("space.limiter")
        .words(&[
            ("none", None),
            ("positivity", Some(Limiting::Positivity)),
            ("barth-jespersen", Some(Limiting::Slopes(Neighbourhood::Faces))),
        ])
        .section()
        .of(GAS)
        .text("A limiter without sensor: `positivity` keeps density and pressure positive; \
               `barth-jespersen` keeps values within the means of neighbours, as well.")
        .default(None);
    SLOPES: Key<Parts> = key("space.limiter.barth-jespersen")
        .section()
        .of(GAS)
        .text("The limiter of Barth and Jespersen.");
    NEIGHBOURS: Usual<Neighbourhood> = key("space.limiter.barth-jespersen.neighbours")
        .words(&[("faces", Neighbourhood::Faces), ("vertices", Neighbourhood::Vertices)])
        .of(GAS)
        .text("The neighbours whose means bound the values: those with a common face, or with a common \
               vertex.")
        .default(Neighbourhood::Faces);
}

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
    }
    let filter = match SHOCK.is_section(section) {
        true => SHOCK.open(section)?,
        false if SHOCK.read(section)? => None,
        false => return Ok(None),
    };
    let filter = filter.map(|kind| FILTER.open(&kind)).transpose()?.flatten();
    Ok(Some(Limiting::EntropyFilter(match filter {
        Some(filter) => EntropyFilter {
            tolerance: TOLERANCE.read(&filter)?,
            gate: GATE.read(&filter)?,
            density: BOUNDS.read(&filter)?,
        },
        None => EntropyFilter { tolerance: TOLERANCE.usual(), gate: GATE.usual(), density: BOUNDS.usual() },
    })))
}

/// `limiter: positivity`, `limiter: barth-jespersen`, or a section with its neighbours.
fn limiter(section: &Section<'_>) -> Result<Option<Limiting>, InputError> {
    if !LIMITER.is_section(section) {
        return LIMITER.read(section);
    }
    let Some(kind) = LIMITER.open(section)? else { return Ok(None) };
    let near = SLOPES.open(&kind)?.map(|slopes| NEIGHBOURS.read(&slopes)).transpose()?;
    Ok(Some(Limiting::Slopes(near.unwrap_or(NEIGHBOURS.usual()))))
}

/// Writes out a limiter, where it is not given by a word alone.
pub(super) fn write(tree: &mut Tree, limiting: Limiting) {
    match limiting {
        Limiting::Positivity => LIMITER.write(tree, &Some(limiting)),
        Limiting::Slopes(near) if !tree.has_text("space.limiter") => NEIGHBOURS.write(tree, &near),
        Limiting::EntropyFilter(filter) if !tree.has_text("space.shock") => {
            TOLERANCE.write(tree, &filter.tolerance);
            GATE.write(tree, &filter.gate);
            BOUNDS.write(tree, &filter.density);
        }
        Limiting::Slopes(_) | Limiting::EntropyFilter(_) => {}
    }
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
