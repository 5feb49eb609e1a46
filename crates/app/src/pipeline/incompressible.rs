//! The keys of incompressible flow in `space`, `time` and `solver`.

use super::elliptic::solver::{self, OF_PRESSURE, RELATIVE};
use super::time::CFL_OF_CONVECTION;
use crate::file::every::AUTO;
use crate::file::key::{Usual, key, keys};
use crate::file::keys::Range::AtLeast;
use crate::file::keys::{INCOMPRESSIBLE, INCOMPRESSIBLE_FLOW};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::tree::Tree;
use crate::pipeline::space::{self, ORDER_OF_IMPLICIT};
use dgsuite_solve::incompressible::{
    Incompressible, Penalties, PressureOrder, Splitting, Subcycling, VelocityOptions, VelocityPreconditioner,
};
use dgsuite_timeint::Scheme;

/// The factors of the penalties, where they are on.
const ON: Penalties = Penalties { divergence: 1.0, continuity: 1.0 };

keys! { SPACE:
    PRESSURE_ORDER: Usual<PressureOrder> = key("space.pressure_order")
        .words(&[("equal", PressureOrder::Equal), ("lower", PressureOrder::Lower)])
        .of(INCOMPRESSIBLE)
        .text("The polynomial order of the pressure: that of the velocity, or one less, which needs `order` \
               2 or more and the penalty on the divergence.")
        .default(PressureOrder::Equal);
    PENALTIES: Usual<Penalties> = key("space.penalties")
        .words(&[("on", ON), ("none", Penalties::NONE)])
        .section()
        .of(INCOMPRESSIBLE)
        .text("The penalties on divergence and normal jumps of the velocity, which keep under-resolved flow \
               stable: both, none, or a section with their factors.")
        .default(ON);
    FACTOR: Usual<f64> = key("space.penalties.{divergence,continuity}")
        .number(AtLeast(0.0))
        .of(INCOMPRESSIBLE)
        .text("The factor of the penalty on the divergence in elements, or on the normal jumps between \
               them; 0 for none.")
        .default(1.0);
    LAX_FRIEDRICHS: Usual<f64> = key("space.lax_friedrichs")
        .number(AtLeast(0.0))
        .of(INCOMPRESSIBLE)
        .text("The factor of |n·u| in the numerical flux of convection: 1 for the speed of the flow, 2 for \
               the largest wave speed of the convective term.")
        .default(1.0);
}

keys! { TIME:
    ORDER: Usual<usize> = key("time.scheme")
        .words(&[("bdf1", 1), ("bdf2", 2), ("bdf3", 3)])
        .of(INCOMPRESSIBLE)
        .text("The backward difference formula of order 1, 2 or 3. Convection is extrapolated with the same \
               order.")
        .default(2);
    SPLITTING: Usual<bool> = key("time.splitting")
        .words(&[("dual", false), ("pressure-correction", true)])
        .of(INCOMPRESSIBLE)
        .text("How velocity and pressure are decoupled: dual splitting solves for the pressure first, \
               pressure correction for the velocity.")
        .default(false);
    ROTATIONAL: Usual<bool> = key("time.rotational")
        .flag()
        .of(INCOMPRESSIBLE)
        .text("Whether `pressure-correction` has the rotational form, which is more accurate at walls.")
        .default(true);
    SUBCYCLES: Usual<Option<usize>> = key("time.subcycles")
        .words(&[(AUTO, None)])
        .or_whole(0, usize::MAX, Some, |n| *n)
        .of(INCOMPRESSIBLE)
        .text("The number of explicit sub-steps of convection in each step, so that steps can be larger; 0 \
               for none. `auto` takes as many as `cfl` requires in steps of size `dt`.")
        .default(Some(0));
    GRADED_START: Usual<bool> = key("time.graded_start")
        .flag()
        .of(INCOMPRESSIBLE)
        .text("Whether the first step is a hundredth of the others and the next ones grow, so that the \
               first steps, which are of order 1, do not limit the accuracy.")
        .default(true);
}

keys! { VELOCITY:
    PRECONDITIONER: Usual<Option<VelocityPreconditioner>> = key("solver.velocity.preconditioner")
        .found(preconditioners)
        .of(INCOMPRESSIBLE)
        .text("The preconditioner of the viscous step: the inverse mass matrix; the inverse diagonal; that with \
               linelets, lines of elements across thin layers; or multigrid. `auto` chooses it in each step: `mass` \
               if the step is small for the viscosity on all elements, `pmg-amg` if it is large in all directions \
               of some, `linelets` if it is large across thin elements only, otherwise `jacobi`.")
        .default(None);
    TOLERANCE: Usual<f64> = key("solver.velocity.tolerance")
        .number(RELATIVE)
        .why(": it is relative")
        .of(INCOMPRESSIBLE)
        .text("The residual at which the solver stops, relative to the right-hand side; that of the penalties also \
               stops at a thousandth of its first residual.")
        .default(1e-8);
    MAX_ITERATIONS: Usual<usize> = key("solver.velocity.max_iterations")
        .whole(1, usize::MAX)
        .of(INCOMPRESSIBLE)
        .text("The number of iterations after which the run fails.")
        .default(500);
}

/// The words for the preconditioner of the velocity.
fn preconditioners() -> Vec<(&'static str, Option<VelocityPreconditioner>)> {
    let words = VelocityPreconditioner::WORDS.iter().map(|(word, kind)| (*word, Some(*kind)));
    [(AUTO, None)].into_iter().chain(words).collect()
}

/// Reads the parameters of the law with this viscosity.
///
/// # Errors
/// Unknown words, values out of range, keys that exclude each other.
pub fn read(top: &Section<'_>, viscosity: f64) -> Result<Incompressible, InputError> {
    let default = Incompressible::new(viscosity);
    let space = top.section_or_empty("space")?;
    let time = top.section_or_empty("time")?;
    let solver = top.section_or_empty(solver::SOLVER.name())?;
    solver.of_model(INCOMPRESSIBLE_FLOW)?;
    let of_velocity = solver.section_or_empty(solver::VELOCITY.name())?;
    Ok(Incompressible {
        viscosity,
        // The plan parses it with the names of the scalars.
        viscosity_formula: default.viscosity_formula,
        time_order: order(&time)?,
        graded_start: GRADED_START.read(&time)?,
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
        lax_friedrichs: LAX_FRIEDRICHS.read(&space)?,
        pressure: OF_PRESSURE.read(&solver.section_or_empty(solver::PRESSURE.name())?)?,
        velocity: VelocityOptions {
            preconditioner: PRECONDITIONER.read(&of_velocity)?,
            tolerance: TOLERANCE.read(&of_velocity)?,
            max_iterations: MAX_ITERATIONS.read(&of_velocity)?,
        },
    })
}

/// Reads `scheme: bdf1 | bdf2 | bdf3`.
fn order(time: &Section<'_>) -> Result<usize, InputError> {
    let word = time.node(ORDER.name()).and_then(|node| node.value.scalar_text());
    if word.is_some_and(|word| Scheme::ALL.iter().any(|scheme| scheme.name() == word)) {
        let belongs = "the models with explicit steps; incompressible flow has bdf1, bdf2 and bdf3";
        return Err(time.misplaced("scheme", "the model incompressible", belongs));
    }
    ORDER.read(time)
}

/// Reads `subcycles: N | auto`, the latter with `cfl`.
fn subcycles(time: &Section<'_>) -> Result<Option<Subcycling>, InputError> {
    Ok(match SUBCYCLES.read(time)? {
        None => Some(Subcycling::Cfl(CFL_OF_CONVECTION.read(time)?)),
        Some(0) => None,
        Some(n) => Some(Subcycling::Number(n)),
    })
}

/// Reads `splitting: dual | pressure-correction` and `rotational`.
fn splitting(time: &Section<'_>) -> Result<Splitting, InputError> {
    match SPLITTING.read(time)? {
        true => Ok(Splitting::PressureCorrection { rotational: ROTATIONAL.read(time)? }),
        false if ROTATIONAL.is_given(time) => {
            Err(time.misplaced("rotational", "dual splitting", "`splitting: pressure-correction`"))
        }
        false => Ok(Splitting::Dual),
    }
}

/// Reads `penalties: on | none | { divergence, continuity }`.
fn penalties(space: &Section<'_>) -> Result<Penalties, InputError> {
    if !PENALTIES.is_section(space) {
        return PENALTIES.read(space);
    }
    let Some(section) = PENALTIES.open(space)? else { return Ok(PENALTIES.usual()) };
    Ok(Penalties {
        divergence: FACTOR.read_as(&section, "divergence")?,
        continuity: FACTOR.read_as(&section, "continuity")?,
    })
}

/// Reads `pressure_order: equal | lower`; the latter needs order 2 and the penalty on the divergence.
fn pressure_order(space: &Section<'_>) -> Result<PressureOrder, InputError> {
    let found = PRESSURE_ORDER.read(space)?;
    let refused = |owner, belongs| Err(space.misplaced("pressure_order", owner, belongs));
    if found == PressureOrder::Lower && ORDER_OF_IMPLICIT.read(space)? < 2 {
        return refused("velocities of order 1 with the value `lower`", "orders from 2 on");
    }
    if found == PressureOrder::Lower && penalties(space)?.divergence == 0.0 {
        let owner = "flow without the penalty on the divergence with the value `lower`";
        return refused(owner, "flow with `space.penalties: on`, or with a factor of `divergence`");
    }
    Ok(found)
}

/// Writes out the discretisation in space.
pub(crate) fn write_space(tree: &mut Tree, law: &Incompressible, order: usize) {
    space::write_implicit(tree, order);
    PRESSURE_ORDER.write(tree, &law.pressure_order);
    PENALTIES.write(tree, &law.penalties);
    LAX_FRIEDRICHS.write(tree, &law.lax_friedrichs);
}

/// Writes out the solvers.
pub(crate) fn write_solver(tree: &mut Tree, law: &Incompressible) {
    OF_PRESSURE.write(tree, &law.pressure);
    PRECONDITIONER.write(tree, &law.velocity.preconditioner);
    TOLERANCE.write(tree, &law.velocity.tolerance);
    MAX_ITERATIONS.write(tree, &law.velocity.max_iterations);
}

/// Writes out how velocity and pressure are decoupled, and the sub-steps.
pub(crate) fn write_time(tree: &mut Tree, law: &Incompressible) {
    match &law.splitting {
        Splitting::Dual => SPLITTING.write(tree, &false),
        Splitting::PressureCorrection { rotational } => ROTATIONAL.write(tree, rotational),
    }
    match law.subcycles {
        None => SUBCYCLES.write(tree, &Some(0)),
        Some(Subcycling::Number(n)) => SUBCYCLES.write(tree, &Some(n)),
        Some(Subcycling::Cfl(cfl)) => CFL_OF_CONVECTION.write(tree, &cfl),
    }
    GRADED_START.write(tree, &law.graded_start);
    ORDER.write(tree, &law.time_order);
}
