//! `summary.json` of a run in time.

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::monitors::Norm;
use crate::monitors::{Values, norm_of};
use crate::plan::Plan;
use crate::plan::memory;
use crate::plan::print::{elements_by_shape, lines_to_json};
use crate::run::RunError;
use crate::run::counts::{Counts, Solves, Tally};
use dgsuite_solve::elliptic::LineDescription;
use dgsuite_solve::flow::{Description, Flow, KernelChoice, Norms, Precision};
use dgsuite_solve::{Iterations, PhaseSeconds, SystemError};

/// Data at the end of a run.
pub(super) struct Facts<'a> {
    /// The plan.
    pub(super) plan: &'a Plan,
    /// The solver's description of itself.
    pub(super) description: &'a Description,
    /// Counters of the time loop.
    pub(super) tally: &'a Tally,
    /// Counts of the whole run.
    pub(super) counts: &'a Counts,
    /// The number of steps before this part of the run.
    pub(super) start: u64,
    /// The last time and the number of steps, including steps before a restart.
    pub(super) end: (f64, u64),
    /// Seconds of set-up.
    pub(super) setup_s: f64,
    /// Seconds of its first part, reading the mesh and making the plan.
    pub(super) plan_s: f64,
    /// Seconds spent on results.
    pub(super) output_s: f64,
    /// Last values of the monitors.
    pub(super) last: &'a Values,
    /// What Newton steps at lower orders took before the first step.
    pub(super) lower: &'a [Value],
}

/// Returns the summary without its status, errors and checks.
pub(super) fn facts(facts: &Facts<'_>, solver: &Flow) -> Map<String, Value> {
    let (plan, counts) = (facts.plan, facts.counts);
    let mesh = &plan.setup.mesh;
    let run_s = facts.tally.spent.as_secs_f64();
    let evaluations = solver.rhs_evaluations();
    let work = facts.description.dofs as f64 * evaluations as f64;
    let mut summary = Map::new();
    // A monitor of another crate does not replace what every summary has.
    let mut put = |key: &str, value: Value| {
        summary.entry(key).or_insert(value);
    };
    put("title", json!(plan.outline.title));
    put("version", json!(env!("CARGO_PKG_VERSION")));
    put("device", json!(facts.description.device));
    put("device_name", json!(facts.description.device_name));
    put("ranks", json!(plan.setup.comm.size()));
    put("plane", json!(plan.setup.comm.plane()));
    put("threads", json!(facts.description.threads));
    put("kernel", json!(facts.description.kernel));
    put("kernels", json!(facts.description.kernels.iter().map(KernelChoice::to_json).collect::<Vec<_>>()));
    put("precision", json!(if plan.setup.precision == Precision::Double { "double" } else { "single" }));
    put("model", json!(plan.variables.law().name()));
    put(
        "mesh",
        json!({
            "elements": elements_by_shape(&mesh.set_sizes()),
            "faces": mesh.n_faces(),
            "order": mesh.max_order(),
            "boundaries": mesh.boundary_names(),
            "digest": format!("{:016x}", plan.outline.mesh_digest),
        }),
    );
    put("space", json!({ "order": plan.setup.order, "dofs": facts.description.dofs }));
    let mut time = json!({
        "steps": facts.end.1,
        "end": facts.end.0,
        "dt_min": counts.dt_min,
        "dt_max": counts.dt_max,
        "rejected": counts.rejected,
        "retries": counts.retries,
        "counted_from_step": counts.from_step,
    });
    let substeps = counts.solves.as_ref().filter(|solves| solves.substeps.most > 0);
    if let (Some(Solves { steps, substeps, .. }), Value::Object(time)) = (substeps, &mut time) {
        let mean = substeps.total as f64 / (*steps).max(1) as f64;
        time.insert("substeps".to_owned(), json!({ "mean": mean, "max": substeps.most }));
    }
    if let (Some(true), Value::Object(time)) = (plan.time.steady.map(|s| s.local_steps), &mut time) {
        time.insert("local_steps".to_owned(), json!(true));
    }
    put("time", time);
    let mut timing = json!({
        "from_step": facts.start,
        "setup_s": facts.setup_s,
        "plan_s": facts.plan_s,
        "run_s": run_s,
        "output_s": facts.output_s,
        "rhs_evaluations": evaluations,
        "gdofs_per_s": if run_s > 0.0 { work / run_s / 1e9 } else { 0.0 },
    });
    if let (Some(solves), Value::Object(timing)) = (solver.solves(), &mut timing) {
        timing.insert("phases".to_owned(), of_phases(&solves.seconds));
    }
    put("timing", timing);
    put("communication", facts.tally.communication.to_json("step", facts.tally.steps));
    put(
        "memory",
        json!({ "expected": plan.outline.memory as u64, "peak": memory::peak().map(|peak| peak as u64) }),
    );
    match &counts.solves {
        Some(solves) => put("linear", of_solves(solves, facts.description.lines.as_ref())),
        // Velocity and pressure have no conserved totals.
        None => {
            let defects = solver.conservation().into_iter().map(|(name, x)| (name, json!(x)));
            put("conservation", Value::Object(defects.collect()));
        }
    };
    if let Some(newton) = solver.newton_statistics() {
        let mut taken = json!({
            "steps": newton.steps,
            "linear_iterations": newton.linear_iterations,
            "jacobian_products": newton.products,
            "product_s": newton.product_s,
            "setups": newton.setups,
            "setup_s": newton.setup_s,
            "solve_s": newton.solve_s,
            "bytes": newton.bytes,
        });
        if let (Some(steps), Value::Object(taken)) = (facts.tally.explicit_steps, &mut taken) {
            taken.insert("explicit_steps".to_owned(), json!(steps));
        }
        if let (false, Value::Object(taken)) = (facts.tally.newton.is_empty(), &mut taken) {
            taken.insert("history".to_owned(), history(facts.tally));
        }
        if let (false, Value::Object(taken)) = (facts.lower.is_empty(), &mut taken) {
            taken.insert("lower_orders".to_owned(), json!(facts.lower));
        }
        put("newton", taken);
    }
    if let Some(ratio) = facts.tally.ratio {
        put("steady", json!({ "residual": ratio }));
    }
    for (name, values) in facts.last.all() {
        put(name, values.clone());
    }
    if let Some(driven) = solver.driven() {
        put("flow_rate", json!({ "mean": driven.mean, "force": driven.force }));
    }
    if let Some(reference) = &plan.reference {
        let names = reference.names().into_iter().map(|(name, x)| (name.to_owned(), json!(x)));
        let mut values: Map<String, Value> = names.collect();
        if let Some(gas) = reference.gas {
            values.insert("mach".into(), json!(gas.mach));
        }
        values.insert("reynolds".into(), json!(reference.reynolds));
        put("reference", Value::Object(values));
    }
    summary
}

/// The iterations of each linear solver: their mean over the steps (and over the components of the velocity)
/// and the largest number of one solve.
fn of_solves(solves: &Solves, lines: Option<&LineDescription>) -> Value {
    let per_step = |total: u64, solvers: usize| match (solves.steps, solvers) {
        (0, _) | (_, 0) => 0.0,
        (steps, solvers) => total as f64 / steps as f64 / solvers as f64,
    };
    let one = |solver: &Iterations| json!({ "iterations": per_step(solver.total, 1), "max": solver.most });
    let several = |all: &[Iterations]| {
        let total = all.iter().map(|component| component.total).sum();
        let most = all.iter().map(|component| component.most).max();
        json!({ "iterations": per_step(total, all.len()), "max": most })
    };
    let mut pressure = one(&solves.pressure);
    if let (Some(lines), Value::Object(pressure)) = (lines, &mut pressure) {
        pressure.insert("linelets".to_owned(), lines_to_json(lines));
    }
    let mut all = json!({
        "pressure": pressure,
        "velocity": several(&solves.velocity),
        "penalty": one(&solves.penalty),
    });
    if let (false, Value::Object(all)) = (solves.scalars.is_empty(), &mut all) {
        all.insert("scalars".to_owned(), several(&solves.scalars));
    }
    all
}

/// The Newton steps of a steady run as columns.
fn history(tally: &Tally) -> Value {
    let steps = &tally.newton;
    json!({
        "step": steps.iter().map(|(number, ..)| number).collect::<Vec<_>>(),
        "residual": steps.iter().map(|(_, residual, _)| residual).collect::<Vec<_>>(),
        "cfl": steps.iter().map(|(.., step)| step.cfl).collect::<Vec<_>>(),
        "share": steps.iter().map(|(.., step)| step.share).collect::<Vec<_>>(),
        "linear_iterations": steps.iter().map(|(.., step)| step.iterations).collect::<Vec<_>>(),
    })
}

/// The seconds of each phase of the steps.
fn of_phases(seconds: &PhaseSeconds) -> Value {
    let PhaseSeconds { advection, pressure, velocity, scalars, penalty, rest } = seconds;
    json!({
        "advection": advection,
        "pressure": pressure,
        "velocity": velocity,
        "scalars": scalars,
        "penalty": penalty,
        "rest": rest,
    })
}

/// Norms as `{norm: {field: value}}`.
pub(super) fn norms(norms: &Norms) -> Value {
    let one = |norm: Norm| -> Map<String, Value> {
        norms.names.iter().cloned().zip(norm_of(norms, norm).iter().map(|x| json!(x))).collect()
    };
    Value::Object(
        Norm::ALL.iter().map(|(word, norm)| ((*word).to_owned(), Value::Object(one(*norm)))).collect(),
    )
}

/// Returns the cause of a failed run, for the summary.
pub(super) fn failure(error: &RunError) -> Value {
    let mut failure = json!({ "code": Code::from(error).word(), "message": error.to_string() });
    let more = match error {
        RunError::System(SystemError::NotFinite { time, step, element, coordinates, what, state }) => json!({
            "time": time,
            "step": step,
            "element": element,
            "coordinates": coordinates,
            "no_longer": what,
            // JSON cannot represent numbers that are not finite.
            "state": state.iter().map(|(name, x)| (name.clone(), json!(x.to_string()))).collect::<Map<_, _>>(),
        }),
        RunError::TooFast { time, step, element, at, .. } => {
            json!({ "time": time, "step": step, "element": element, "coordinates": at })
        }
        RunError::Stalled { time, step, .. } | RunError::StepsFail { time, step, .. } => {
            json!({ "time": time, "step": step })
        }
        RunError::System(SystemError::Solve { cause, .. }) => json!({ "residuals": cause.history() }),
        _ => json!({}),
    };
    if let (Value::Object(failure), Value::Object(more)) = (&mut failure, more) {
        failure.extend(more);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::summary::number_at;

    #[test]
    fn iterations_are_means_over_steps_and_components() {
        let iterations = |total, most| Iterations { total, most };
        let solves = Solves {
            steps: 4,
            pressure: iterations(10, 5),
            velocity: vec![iterations(8, 3), iterations(16, 6)],
            ..Solves::default()
        };
        let linear = of_solves(&solves, None);
        let found = ["pressure.iterations", "pressure.max", "velocity.iterations", "velocity.max"]
            .map(|path| number_at(&linear, path));
        assert_eq!(found, [Some(2.5), Some(5.0), Some(3.0), Some(6.0)]);
        assert_eq!(number_at(&of_solves(&Solves::default(), None), "velocity.iterations"), Some(0.0));
    }
}
