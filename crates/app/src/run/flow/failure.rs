//! Why a run in time failed, and what to do about it.

use dgsuite_timeint::{StepSize, TimeError, TimePoint};

use crate::code::Code;
use crate::file::number::short;
use crate::file::problem::unsolved;
use crate::plan::{Plan, thin};
use crate::run::RunError;
use crate::run::log::Log;
use crate::run::outputs::Outputs;
use dgsuite_solve::SystemError;
use dgsuite_solve::flow::{
    BoundaryKind, Coldest, Flow, Form, LargestRate, Law, Origin, Riemann, Setup, StepMeasure, Trail,
};

const NO_CHECKPOINT: &str =
    "hint: `output.checkpoint: { every: T }` writes checkpoints from which a run can be restarted";

const FINITE: &str = "hint: the formula must be finite during the whole run";

/// A residual that does not fall below this part of the solution may be that of a jump.
const NEARLY: f64 = 1e-3;
const LOOSER: &str = "hint: allow a larger time.newton.tolerance, or try a smaller step: the right-hand side may have a jump here, as at an open boundary along which the flow runs, where it turns from entering to leaving";

/// What to try where implicit steps fail: with `dt`, with `cfl`, with `adaptive`.
const TRY_SMALLER: [&str; 3] = [
    "hint: try a smaller time.dt, time.retries: 10 (a failed step is repeated with half its size), or time.adaptive",
    "hint: try a smaller time.cfl, time.retries: 10 (a failed step is repeated with half its size), or time.adaptive",
    "hint: no step from this state can be solved; look for a formula, a boundary value or a source term that drives the gas there, or try a finer mesh",
];

/// Prints what stopped a run, writes the state for inspection, and names the last good checkpoint.
pub(super) fn explain(
    error: &RunError,
    outputs: &Outputs<'_>,
    solver: &mut Flow,
    (plan, (stable_cfl, stable_dt), trail): (&Plan, (Option<f64>, Option<f64>), &Trail),
    now: TimePoint,
    log: &mut Log,
) {
    if let RunError::Writer(_) = error {
        return;
    }
    log.warn(&format!("error[{}]: {error}", Code::from(error)));
    if Code::from(error) == Code::Ranks {
        // The state is fine, but its other parts are lost.
        log.warn(&match outputs.latest_checkpoint() {
            Some(path) => format!(
                "hint: continue with --restart latest on any number of ranks; the last checkpoint is {}",
                path.display()
            ),
            None => NO_CHECKPOINT.to_owned(),
        });
        return;
    }
    let unsolved = match error {
        RunError::System(error @ SystemError::Solve { system, cause }) => {
            Some((*system, cause, thin::causes_in_step(plan, error)))
        }
        _ => None,
    };
    unsolved.iter().for_each(|(_, cause, _)| log.warn(&unsolved::residuals(cause)));
    if let RunError::NotSteady { stagnant, .. } = error {
        if let Ok(Some(LargestRate { element, at: [x, y, z], variable, change })) = solver.largest_rate() {
            log.warn(&format!(
                "the residual is largest in element {element} at ({x:.6}, {y:.6}, {z:.6}): an explicit step there changes {variable} by {change:.1e} of its largest value"
            ));
        }
        match outputs.write_rates(solver) {
            Ok(Some(path)) => log.warn(&format!("these changes of all variables are in {}", path.display())),
            Ok(None) => {}
            Err(second) => log.warn(&format!("the residual could not be written: {second}")),
        }
        log.warn(match stagnant.is_some() {
            _ if plan.setup.newton.is_some() => {
                "hint: if shares of steps are small, try a smaller time.newton.growth or begin at a lower order (time.newton.from_order: 0); if linear iterations are at their limit, a finer mesh or solver: explicit; the flow may have no steady state"
            }
            true => "hint: the flow may have no steady state here; try time.steady.damping, local steps, a lower space.order, or a larger tolerance",
            false => "hint: continue with --restart latest and a larger time.steady.max_steps, or allow a larger tolerance; time.steady.damping damps waves",
        });
        return;
    }
    let of_formula = bad_formula(plan, solver, trail, now);
    of_formula.iter().for_each(|text| log.warn(text));
    if let RunError::System(SystemError::Stage { failure, .. }) = error {
        // The state of the start of the step is as it was.
        log.warn(&match outputs.latest_checkpoint() {
            Some(path) => format!("the last checkpoint is {}", path.display()),
            None => NO_CHECKPOINT.to_owned(),
        });
        log.warn(match plan.time.step {
            _ if of_formula.is_some() => FINITE,
            // NaN is not small.
            _ if failure.residual < NEARLY => LOOSER,
            StepSize::Fixed(_) => TRY_SMALLER[0],
            StepSize::Cfl(_) if plan.time.adaptive.is_some() => TRY_SMALLER[2],
            StepSize::Cfl(_) => TRY_SMALLER[1],
        });
        return;
    }
    if let RunError::System(SystemError::NetInflow { .. }) = error {
        log.warn(
            "hint: let the prescribed velocities balance at all times, or let one boundary be an `outflow`",
        );
        return;
    }
    if let RunError::Time(TimeError::Rejected { .. }) | RunError::Stalled { by_error: true, .. } = error {
        log.warn("hint: allow a larger time.adaptive.tolerance; rounding alone is about 1e-15 of the solution, in single precision 1e-7");
        return;
    }
    if let Some(Origin { element, at: [x, y, z], bad }) = solver.origin_of_failure() {
        log.warn(&format!(
            "it is not finite in {bad} elements, and began near the middle of them: element {element} at ({x:.6}, {y:.6}, {z:.6})"
        ));
    }
    let before = solver.before(trail);
    if let Some(Coldest { element, at: [x, y, z], temperature, state, time, .. }) = &before {
        let state: Vec<String> = state.iter().map(|(name, value)| format!("{name} = {value:.6e}")).collect();
        log.warn(&format!(
            "before this step, at time {time:.6e}, the lowest temperature was {temperature:.6e}, in element {element} at ({x:.6}, {y:.6}, {z:.6}): {}",
            state.join(", ")
        ));
    }
    match outputs.write_failed(solver, now) {
        Ok(path) => log.warn(&format!("the state at the failure is in {}", path.display())),
        Err(second) => log.warn(&format!("the state at the failure could not be written: {second}")),
    }
    match outputs.latest_checkpoint() {
        Some(path) => log.warn(&format!("the last good checkpoint is {}", path.display())),
        None => log.warn(NO_CHECKPOINT),
    }
    if of_formula.is_some() {
        log.warn(FINITE);
        return;
    }
    super::backflow::hints(solver).iter().for_each(|hint| log.warn(&format!("hint: {hint}")));
    // Sub-steps of convection bound the step no more.
    if let (Law::Incompressible(law), StepSize::Fixed(dt), Some(stable)) =
        (&solver.setup().law, plan.time.step, stable_dt)
        && law.subcycles.is_none()
        && dt > stable
    {
        let (what, more) = match law.has_explicit_stress() {
            false => {
                ("explicit convection was", "`time.subcycles: auto` allows steps several times larger, or ")
            }
            true => ("explicit convection and stress were", ""),
        };
        log.warn(&format!(
            "hint: at the start {what} stable for steps up to {stable:.4e}, and time.dt is {dt}: {more}choose a \
             smaller time.dt"
        ));
        return;
    }
    // Buoyancy moves a fluid that is at rest at the start, where no bound of the step is known.
    if let (Law::Incompressible(law), StepSize::Fixed(dt), None) =
        (&solver.setup().law, plan.time.step, stable_dt)
        && law.subcycles.is_none()
        && law.has_forces()
    {
        let most = short(super::doubts::damped(law.time_order) * law.viscosity);
        log.warn(&format!(
            "hint: at the start, where the fluid was at rest, the stable step of explicit convection was not known; \
             for the largest velocity U it is about {most}/U^2, and time.dt is {dt}: `time.subcycles: auto` allows \
             steps several times larger, or choose a smaller time.dt"
        ));
        return;
    }
    if let Some((system, cause, causes)) = unsolved {
        log.warn(&format!("hint: {}", unsolved::hint(system, cause, &causes)));
        return;
    }
    let flux = flux_to_try(solver.setup());
    if let RunError::TooFast { .. }
    | RunError::TooFastAtBoundary { .. }
    | RunError::Stalled { .. }
    | RunError::StepsFail { .. } = error
    {
        let flux = flux.map_or_else(String::new, |flux| format!("try {flux}; otherwise "));
        log.warn(&format!(
            "hint: {flux}look for a source term, a boundary value or a step that drives the gas there"
        ));
        return;
    }
    let time = &plan.time;
    let stable = before.map(|before| time.stable_radius * before.limit);
    // A step beyond the stable one is reason enough.
    let too_large = match time.step {
        _ if time.adaptive.is_some() => false,
        StepSize::Fixed(dt) => stable.is_some_and(|stable| dt > stable && stable > 0.0),
        StepSize::Cfl(cfl) => {
            let by_radius = solver.setup().step_measure == StepMeasure::Radius;
            !by_radius && stable_cfl.is_some_and(|stable| cfl > stable)
        }
    };
    let size = match (time.step, stable) {
        _ if time.adaptive.is_some() => "time.adaptive.tolerance".to_owned(),
        (StepSize::Fixed(dt), Some(stable)) if dt > stable && stable > 0.0 => {
            format!("time.dt than {dt} (the stable step was {stable:.4e} before)")
        }
        (StepSize::Fixed(_), _) => "time.dt".to_owned(),
        (StepSize::Cfl(cfl), _) => match stable_cfl {
            Some(stable) if solver.setup().step_measure == StepMeasure::Radius => {
                format!("time.cfl than {stable:.4}, the stable number at the start of this run")
            }
            Some(stable) if cfl > stable => format!("time.cfl than {cfl} (up to {stable:.4} is stable)"),
            _ => "time.cfl".to_owned(),
        },
    };
    let setup = solver.setup();
    let shocks = match setup.law.gas().is_some() && setup.limiting.is_none() && !too_large {
        true => "`space.shock: entropy-filter` if the flow has shocks, or strong gradients; otherwise ",
        false => "",
    };
    // Without a limiter density and pressure have no bounds that a flux could keep.
    let flux = flux.filter(|_| setup.limiting.is_some() && !too_large);
    let flux = flux.map_or_else(String::new, |flux| format!("{flux}; otherwise "));
    // On the way from an impulsive start to a steady state, high orders fail at steps of any size.
    let start = plan.time.steady.is_some_and(|steady| steady.local_steps) && !too_large;
    if start && setup.order > 1 && setup.law.gas().is_some() {
        let newton = match (setup.limiting.is_none() && setup.form != Form::Split, setup.riemann) {
            (false, _) => "",
            (true, Riemann::Rusanov | Riemann::Hll) => {
                "leave out `time.steady.local_steps`, so that Newton steps are taken, with `space.riemann: hllc`; or "
            }
            (true, _) => "leave out `time.steady.local_steps`, so that Newton steps are taken; or ",
        };
        log.warn(&format!(
            "hint: local steps of order {p} may fail on the way from the initial state, however small they are: \
             {newton}run with `space.order: 1` first, then continue with `--restart latest --set space.order={p}`, \
             or take global steps (`time.steady.local_steps: false`)",
            p = setup.order
        ));
    }
    // An impulsive start at walls was stable with Roe's own flux, and not with this one at any step.
    let dissipation = match setup.riemann {
        Riemann::RoeLowMach if !too_large => {
            "`space.riemann: roe`, which dissipates more, at least at the start; "
        }
        _ => "",
    };
    let size = if start { String::new() } else { format!("a smaller {size}, ") };
    log.warn(&format!("hint: try {shocks}{dissipation}{flux}{size}a lower space.order, or a finer mesh"));
    let outflow = |kind: &BoundaryKind| setup.law.gas().is_some() && matches!(kind, BoundaryKind::Outflow);
    let open: Vec<String> = setup
        .boundaries
        .iter()
        .filter(|(_, kind)| outflow(kind))
        .map(|(name, _)| format!("`boundaries.{name}`"))
        .collect();
    if !open.is_empty() {
        log.warn(&format!(
            "hint: the condition `outflow` of {} is for supersonic flow; where sound can enter, use \
             `pressure-outlet` or `far-field`",
            open.join(", ")
        ));
    }
}

/// Returns the flux to try at near vacuum in place of one that does not keep density and pressure positive.
///
/// # Source
/// Einfeldt, Munz, Roe and Sjögreen (1991): no linearised Riemann solver keeps them positive. Batten, Clarke,
/// Lambert and Causon (1997): HLLC does.
fn flux_to_try(setup: &Setup) -> Option<&'static str> {
    setup.law.gas()?;
    matches!(setup.riemann, Riemann::Roe | Riemann::RoeLowMach)
        .then_some("`space.riemann: hllc`, as Roe's flux does not keep density and pressure positive")
}

/// Number of times within a step at which formulas are checked: the stages of any scheme are close to one of
/// them.
const LOOKS: usize = 16;

/// Returns a message about the formula of a boundary or source term that is not finite in the step that
/// failed, with its place in the file.
fn bad_formula(plan: &Plan, solver: &Flow, trail: &Trail, now: TimePoint) -> Option<String> {
    let (start, dt) = trail.last_step().unwrap_or((now.t, solver.time() - now.t));
    let times: Vec<f64> = (0..=LOOKS).map(|i| start + dt * i as f64 / LOOKS as f64).collect();
    let order = plan.setup.order.max(1);
    plan.formulas.iter().find_map(|formula| {
        let points: Vec<[f64; 3]> = match &formula.boundary {
            Some(name) => solver.surface(name).map(|surface| surface.points).unwrap_or_default(),
            None => solver.sample(order).into_iter().flat_map(|set| set.points).collect(),
        };
        let bad = formula.first_bad(&times, &points)?;
        let ([x, y, z], place) = (bad.point, &formula.text.place);
        Some(format!(
            "`{}` is {} at ({x:.6}, {y:.6}, {z:.6}) at time {:.6e}\n --> {place}\n{}",
            formula.text.key,
            bad.value,
            bad.time,
            place.excerpt()
        ))
    })
}
