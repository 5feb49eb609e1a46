//! Scheme, steps and end of a run, resolved.

use dgsuite_timeint::StepSize;

use crate::file::problem::{InputError, Problem};
use crate::models::state::InitialSpec;
use crate::monitors::MonitorPlan;
use crate::pipeline::Pipeline;
use crate::pipeline::time::{AdaptiveSpec, SteadySpec, StepSpec};
use dgsuite_solve::flow::{Setup, StepMeasure};

/// Time stepping, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePlan {
    /// The name of the scheme.
    pub scheme: String,
    /// The step size; with steps by their error, the size of the first step.
    pub step: StepSize,
    /// Steps by an estimate of their error.
    pub adaptive: Option<AdaptiveSpec>,
    /// The largest stable product of step and spectral radius of the scheme.
    pub stable_radius: f64,
    /// The final time.
    pub end: Option<f64>,
    /// The largest number of steps.
    pub steps: Option<usize>,
    /// A steady run.
    pub steady: Option<SteadySpec>,
    /// The largest number of repetitions of a failed step with half its size.
    pub retries: u64,
}

/// The measure of steps. Sub-steps of a fixed step are measured alike, so that one bound serves both.
pub(super) fn step_measure(pipeline: &Pipeline) -> StepMeasure {
    let bound = pipeline.incompressible.as_ref().and_then(|law| law.subcycles?.bound(pipeline.space.order));
    bound.map_or(pipeline.time.step.measure(), |(measure, _)| measure)
}

/// Rejects a run that ends by its forces, or differentiates them, where no monitor records them.
pub(super) fn forces_are_recorded(
    pipeline: &Pipeline,
    time: &TimePlan,
    monitors: &[MonitorPlan],
) -> Result<(), InputError> {
    let forces = monitors.iter().any(|monitor| monitor.monitor.has_forces());
    let wanted =
        !pipeline.time.sensitivities.is_empty() || time.steady.is_some_and(|steady| steady.forces.is_some());
    if forces || !wanted {
        return Ok(());
    }
    let (key, expected) = ("monitors", "a monitor `forces: { boundary: NAME, every_steps: 10 }`");
    let problem = Problem::MissingKey { key: key.to_owned(), expected: expected.to_owned() };
    Err(InputError::at(&pipeline.time.place, problem))
}

/// Warns of means that would begin at or after the end of the run and never be computed.
pub(super) fn late_means(pipeline: &Pipeline, end: Option<f64>) -> Vec<String> {
    let means = pipeline.output.given().filter(|(_, spec)| spec.is_mean());
    let averages =
        means.filter_map(|(kind, spec)| Some((format!("output.{}.from", kind.name), spec.from()?.time()?)));
    let monitors = pipeline.monitors.iter().enumerate().filter_map(|(i, monitor)| {
        Some((format!("monitors.{i}.{}.from", monitor.kind.name), monitor.spec.means()?.time()?))
    });
    let late = |(key, from): (String, f64)| {
        let end = end.filter(|&end| from >= end)?;
        Some(format!("{key} {from} is not before the end, {end}: there will be no means"))
    };
    averages.chain(monitors).filter_map(late).collect()
}

/// Warns of local steps where the steady state depends on the energy at the start.
pub(super) fn lost_energy(time: &TimePlan, setup: &Setup) -> Option<String> {
    let locally = time.steady.is_some_and(|steady| steady.local_steps && !steady.newton);
    (locally && setup.law.gas().is_some() && dgsuite_solve::implicit::is_insulated(setup)).then(|| {
        "local steps do not keep the energy between walls of which none has a temperature, and the steady state \
         depends on it: `time.steady: { solver: explicit }` without `local_steps` keeps it"
            .to_owned()
    })
}

/// The largest implicit step by default, in explicit ones.
pub(super) const MOST_EXPLICIT: f64 = 1000.0;

/// Makes the plan of a run that starts at time `start`.
pub(super) fn time_plan(pipeline: &Pipeline, start: f64) -> Result<TimePlan, InputError> {
    let spec = &pipeline.time;
    if let Some(end) = spec.end.as_ref().filter(|end| end.value < start) {
        return Err(InputError::range(end, format!("at least {start}, where the run starts")));
    }
    // A flow rate sets the fluid in motion before the first step.
    let rate = pipeline.physics.flow_rate.as_ref().is_some_and(|rate| rate.mean != 0.0);
    let moves = rate || pipeline.incompressible.is_none() || !matches!(pipeline.initial, InitialSpec::Rest);
    if !moves && start == 0.0 && matches!(spec.step, StepSpec::Cfl(_)) {
        let expected = "a step size, as the fluid is at rest at the start".to_owned();
        return Err(InputError::at(&spec.place, Problem::MissingKey { key: "time.dt".into(), expected }));
    }
    let order = pipeline.space.order;
    let (scheme, stable_radius) = match &pipeline.incompressible {
        Some(law) => (law.scheme_name(), law.stable_radius(order)),
        None => {
            let implicit = spec.implicit.as_ref().map(|steps| steps.value.scheme.name());
            (implicit.unwrap_or(spec.scheme.name()), spec.scheme.stable_radius(order))
        }
    };
    // Implicit steps without a bound of their own are bounded all the same.
    let most = if spec.implicit.is_some() { MOST_EXPLICIT } else { 1.0 };
    Ok(TimePlan {
        scheme: scheme.to_owned(),
        stable_radius,
        step: match spec.step {
            StepSpec::Cfl(cfl) => StepSize::Cfl(cfl.unwrap_or(most * stable_radius)),
            StepSpec::Fixed(dt) => StepSize::Fixed(dt),
        },
        adaptive: spec.adaptive,
        end: spec.end.as_ref().map(|end| end.value),
        steps: spec.steps,
        steady: spec.steady,
        retries: spec.retries,
    })
}
