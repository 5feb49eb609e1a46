//! The keys of incompressible flow in `space`, `time` and `solver`.

use super::elliptic::solver::read_limits;
use super::time::{read_cfl, subcycles_follow};
use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::pipeline::elliptic::solver::read_from as read_solver;
use dgsuite_solve::incompressible::{
    Incompressible, Penalties, PressureOrder, Splitting, Subcycling, VelocityOptions, VelocityPreconditioner,
};
use dgsuite_timeint::Scheme;

/// Reads the parameters of the law with this viscosity.
///
/// # Errors
/// Unknown words, values out of range, keys that exclude each other.
pub fn read(top: &Section<'_>, viscosity: f64) -> Result<Incompressible, InputError> {
    let default = Incompressible::new(viscosity);
    let space = top.section_or_empty("space")?;
    let time = top.section_or_empty("time")?;
    let solver = top.section_or_empty("solver")?;
    solver.of_model(INCOMPRESSIBLE_FLOW)?;
    let of_velocity = solver.section_or_empty("velocity")?;
    let (tolerance, max_iterations) = read_limits(&of_velocity)?;
    let preconditioner = of_velocity.choice("preconditioner", &velocity_preconditioners())?;
    let graded = time.flag("graded_start")?;
    Ok(Incompressible {
        viscosity,
        // The plan parses it with the names of the scalars.
        viscosity_formula: default.viscosity_formula,
        time_order: order(&time)?,
        graded_start: graded.map_or(default.graded_start, |flag| flag.value),
        splitting: splitting(&time)?,
        subcycles: subcycles(&time)?,
        // The plan resolves them with the mesh.
        scalars: default.scalars,
        buoyancy: default.buoyancy,
        forcing: default.forcing,
        closure: default.closure,
        // The plan resolves it with the mesh.
        flow_rate: default.flow_rate,
        pressure_order: pressure_order(&space)?,
        penalties: penalties(&space)?,
        lax_friedrichs: not_negative(&space, "lax_friedrichs")?.unwrap_or(default.lax_friedrichs),
        pressure: read_solver(&solver.section_or_empty("pressure")?, default.pressure)?,
        velocity: VelocityOptions {
            preconditioner: preconditioner.and_then(|word| word.value),
            tolerance: tolerance.unwrap_or(default.velocity.tolerance),
            max_iterations: max_iterations.unwrap_or(default.velocity.max_iterations),
        },
    })
}

/// The words for the preconditioner of the velocity.
fn velocity_preconditioners() -> Vec<(&'static str, Option<VelocityPreconditioner>)> {
    let words = VelocityPreconditioner::WORDS.iter().map(|(word, kind)| (*word, Some(*kind)));
    [("auto", None)].into_iter().chain(words).collect()
}

/// The default order of the backward difference formula.
const DEFAULT_ORDER: usize = 2;

/// Reads `scheme: bdf1 | bdf2 | bdf3`.
fn order(time: &Section<'_>) -> Result<usize, InputError> {
    if let Some(word) = time.text("scheme")?
        && Scheme::ALL.iter().any(|scheme| scheme.name() == word.value)
    {
        let belongs = "the models with explicit steps; incompressible flow has bdf1, bdf2 and bdf3";
        return Err(time.misplaced("scheme", "the model incompressible", belongs));
    }
    let scheme = time.choice("scheme", &[("bdf1", 1), ("bdf2", 2), ("bdf3", 3)])?;
    Ok(scheme.map_or(DEFAULT_ORDER, |order| order.value))
}

/// Reads `subcycles: N | auto`, the latter with `cfl`.
fn subcycles(time: &Section<'_>) -> Result<Option<Subcycling>, InputError> {
    if subcycles_follow(time) {
        return Ok(Some(Subcycling::Cfl(read_cfl(time)?)));
    }
    let number = time.count("subcycles", 0)?.filter(|n| n.value > 0);
    Ok(number.map(|n| Subcycling::Number(n.value)))
}

/// Reads `splitting: dual | pressure-correction` and `rotational`.
fn splitting(time: &Section<'_>) -> Result<Splitting, InputError> {
    let rotational = time.flag("rotational")?;
    match time.choice("splitting", &[("dual", false), ("pressure-correction", true)])? {
        Some(correction) if correction.value => {
            Ok(Splitting::PressureCorrection { rotational: rotational.is_none_or(|flag| flag.value) })
        }
        _ if rotational.is_some() => {
            Err(time.misplaced("rotational", "dual splitting", "`splitting: pressure-correction`"))
        }
        _ => Ok(Splitting::Dual),
    }
}

/// Reads `penalties: on | none | { divergence, continuity }`.
fn penalties(space: &Section<'_>) -> Result<Penalties, InputError> {
    let default = Penalties::default();
    let Some(node) = space.node("penalties") else { return Ok(default) };
    if !matches!(node.value, Value::Map(_)) {
        let words = [("on", default), ("none", Penalties::NONE)];
        return Ok(space.choice("penalties", &words)?.map_or(default, |word| word.value));
    }
    let Some(section) = space.section("penalties")? else { return Ok(default) };
    Ok(Penalties {
        divergence: not_negative(&section, "divergence")?.unwrap_or(default.divergence),
        continuity: not_negative(&section, "continuity")?.unwrap_or(default.continuity),
    })
}

/// Reads `pressure_order: equal | lower`; the latter needs order 2 and the penalty on the divergence.
fn pressure_order(space: &Section<'_>) -> Result<PressureOrder, InputError> {
    let words = [("equal", PressureOrder::Equal), ("lower", PressureOrder::Lower)];
    let Some(found) = space.choice("pressure_order", &words)? else { return Ok(PressureOrder::default()) };
    let refused = |owner, belongs| Err(space.misplaced("pressure_order", owner, belongs));
    if found.value == PressureOrder::Lower && space.count("order", 0)?.is_some_and(|p| p.value < 2) {
        return refused("velocities of order 1 with the value `lower`", "orders from 2 on");
    }
    if found.value == PressureOrder::Lower && penalties(space)?.divergence == 0.0 {
        let owner = "flow without the penalty on the divergence with the value `lower`";
        return refused(owner, "flow with `space.penalties: on`, or with a factor of `divergence`");
    }
    Ok(found.value)
}

/// A number that is 0 or more.
fn not_negative(section: &Section<'_>, key: &str) -> Result<Option<f64>, InputError> {
    match section.number(key)? {
        Some(x) if x.value < 0.0 => Err(InputError::range(&x, "0 or more")),
        other => Ok(other.map(|x| x.value)),
    }
}
