//! Warnings about steps and intervals that fit but are probably not meant, before a run starts.

use dgsuite_timeint::StepSize;

use crate::file::every::Every;
use crate::file::number::grouped;
use crate::plan::Plan;
use crate::plan::print::FirstSteps;
use dgsuite_solve::flow::{Flow, Law, SampledSet, StepMeasure};

/// Returns the warnings.
pub(super) fn doubts(plan: &Plan, steps: FirstSteps) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(steps.stress.and_then(|stable| large_step_of_stress(plan, stable)));
    found.extend(large_step(plan, steps.stable).filter(|_| found.is_empty()));
    // A given number; by default each element has its own bound.
    let given = (plan.setup.implicit.is_none() && plan.setup.step_measure == StepMeasure::Cfl)
        .then_some(plan.time.step);
    if let (Some(StepSize::Cfl(cfl)), Some(stable)) = (given, steps.stable_cfl)
        && cfl > stable
    {
        let times = cfl / stable;
        found.push(format!(
            "time.cfl {cfl} is {times:.1} times the number that is stable on this mesh, {stable:.4}"
        ));
    }
    found.extend(many_landings(plan, steps.dt));
    found
}

/// Returns the largest stable step at the start, where it is known and bounds the steps: sub-steps of
/// convection are stable by themselves.
pub(super) fn stable_step(plan: &Plan, solver: &mut Flow) -> Option<f64> {
    let explicit = plan.time.stable_radius * solver.stable_dt().ok()?;
    let stable = match (&plan.setup.law, plan.time.step) {
        (Law::Incompressible(law), _) if law.subcycles.is_some() => return None,
        (Law::Incompressible(law), StepSize::Fixed(dt)) if dt > explicit => {
            explicit.max(damped(law.time_order) * law.viscosity / fastest(plan, solver).powi(2))
        }
        _ => explicit,
    };
    (stable > 0.0 && stable.is_finite()).then_some(stable)
}

/// The largest `U² Δt/ν` for which implicit viscosity damps what extrapolated convection excites, on any
/// mesh: waves of the number k with `(γ₀ + νk²Δt) uⁿ⁺¹ = Σ (αᵢ + iUkΔt βᵢ) uⁿ⁻ⁱ` grow for no k.
pub(super) fn damped(time_order: usize) -> f64 {
    match time_order {
        1 => 2.0,
        2 => 1.226,
        _ => 0.463,
    }
}

/// The largest speed at points of the elements.
fn fastest(plan: &Plan, solver: &Flow) -> f64 {
    let dim = solver.dim();
    let square = |set: &SampledSet, i: usize| -> f64 { (0..dim).map(|d| set.values[d][i].powi(2)).sum() };
    let sets = solver.sample(plan.setup.order.clamp(1, 3));
    let squares = sets.iter().flat_map(|set| (0..set.points.len()).map(|i| square(set, i)));
    squares.fold(0.0, f64::max).sqrt()
}

/// A smaller step costs time only; a larger one makes the run blow up.
fn large_step(plan: &Plan, stable: Option<f64>) -> Option<String> {
    let StepSize::Fixed(dt) = plan.time.step else { return None };
    let stable = stable.filter(|_| plan.setup.implicit.is_none())?;
    let times = dt / stable;
    Some(match plan.setup.law {
        // The bound is sufficient: upwind fluxes and walls damp, too.
        Law::Incompressible(_) if times < 3.0 => return None,
        _ if times <= 1.0 => return None,
        Law::Incompressible(_) => format!(
            "time.dt {dt} is {times:.1} times the step at which explicit convection is stable, {stable:.4e}; \
             `time.subcycles: auto` allows steps several times larger"
        ),
        _ => format!("time.dt {dt} is {times:.1} times the step that is stable on this mesh, {stable:.4e}"),
    })
}

/// The same of the stress of a closure in incompressible flow, which is explicit with sub-steps of convection
/// too; its bound is nearly sharp.
fn large_step_of_stress(plan: &Plan, stable: f64) -> Option<String> {
    let StepSize::Fixed(dt) = plan.time.step else { return None };
    (dt > stable).then(|| {
        format!(
            "time.dt {dt} is {:.1} times the step at which the explicit {} is stable, {stable:.4e}",
            dt / stable,
            match &plan.setup.law {
                law if law.closure().is_some() => "stress of the eddy viscosity",
                Law::Incompressible(law) if law.viscosity_formula.is_none() => {
                    "flux of the diffusivity that varies"
                }
                _ => "stress of the viscosity that varies",
            }
        )
    })
}

/// Intervals so short that the steps are made for them. With local steps, each step counts as one unit of
/// time.
fn many_landings(plan: &Plan, first_dt: Option<f64>) -> Vec<String> {
    let local = plan.time.steady.is_some_and(|steady| steady.local_steps);
    let step = if local { Some(1.0) } else { first_dt.filter(|dt| *dt > 0.0) };
    let Some(step) = step else { return Vec::new() };
    let short = plan.intervals().into_iter().filter_map(|(owner, every)| match every {
        Every::Time(interval) if local && owner.writes_files() && interval <= step => Some(format!(
            "{owner} {interval}: with local steps each step counts as 1, so that files are written in every \
             step; write `every_steps: N` or a longer interval"
        )),
        Every::Time(interval) if !local && !plan.is_multistep() && interval < SHORT * step => {
            let (landing, free) = (plan.steps_to_end(step)?, plan.steps_without_landings(step)?);
            Some(format!(
                "{owner} {interval}, but steps are about {step:.4e}: the run takes {} steps to land on these \
                 times, where {} are enough; write `every_steps: N` or a longer interval",
                grouped(landing),
                grouped(free)
            ))
        }
        _ => None,
    });
    short.collect()
}

/// Intervals shorter than this part of a step are taken for mistakes.
const SHORT: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::damped;

    /// The largest growth in a step of waves of all numbers at `q = U² Δt/ν`.
    fn growth(order: usize, q: f64) -> f64 {
        let (g, alpha, beta): (f64, [f64; 3], [f64; 3]) = match order {
            1 => (1.0, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
            2 => (1.5, [2.0, -0.5, 0.0], [2.0, -1.0, 0.0]),
            _ => (11.0 / 6.0, [3.0, -1.5, 1.0 / 3.0], [3.0, -3.0, 1.0]),
        };
        // Of U k Δt, which is a.
        let of_wave = |a: f64| {
            let mut u = [(1.0, 0.3), (0.2, -0.7), (-0.4, 0.1)];
            let mut size = 0.0;
            let steps = 400;
            for n in 0..2 * steps {
                let mut new = (0.0, 0.0);
                for i in 0..3 {
                    new.0 += alpha[i] * u[i].0 - a * beta[i] * u[i].1;
                    new.1 += alpha[i] * u[i].1 + a * beta[i] * u[i].0;
                }
                let f = g + a * a / q;
                let norm = (new.0 / f).hypot(new.1 / f).max(1e-300);
                let last = u[0].0.hypot(u[0].1).max(1e-300);
                // What the start excites has decayed in the second half.
                if n >= steps {
                    size += (norm / last).ln();
                }
                // The size is taken out, so that nothing underflows.
                u = [(new.0 / f, new.1 / f), u[0], u[1]].map(|(x, y)| (x / norm, y / norm));
            }
            (size / f64::from(steps)).exp()
        };
        (1..600).map(|i| of_wave(f64::from(i) * 0.01)).fold(0.0, f64::max)
    }

    #[test]
    fn viscosity_damps_convection_up_to_the_bound() {
        for order in 1..=3 {
            let q = damped(order);
            assert!(growth(order, 0.98 * q) < 1.001, "{order}: {}", growth(order, 0.98 * q));
            assert!(growth(order, 1.3 * q) > 1.003, "{order}: {}", growth(order, 1.3 * q));
        }
    }
}
