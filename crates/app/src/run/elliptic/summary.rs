//! `summary.json` of an elliptic problem.

use serde_json::{Map, Value, json};

use crate::communication::Communication;
use crate::plan::elliptic::EllipticPlan;
use crate::plan::print::{elements_by_shape, lines_to_json};
use dgsuite_solve::elliptic::{Elliptic, Errors, Solved};

/// Returns the summary without its status, errors and checks.
pub(super) fn facts(
    plan: &EllipticPlan,
    solver: &Elliptic,
    (solved, sent): (&Solved, Communication),
    setup_s: f64,
    output_s: f64,
) -> Map<String, Value> {
    let (mesh, described) = (&plan.setup.mesh, solver.describe());
    let per_element = |bytes: usize| bytes as f64 / mesh.n_elements().max(1) as f64;
    let history = solved.history();
    let levels: Vec<Value> = described
        .levels
        .iter()
        .map(|level| {
            json!({
                "kind": level.kind,
                "rows": level.rows,
                "nonzeros": level.nonzeros,
                "bytes": level.bytes,
            })
        })
        .collect();
    let value = json!({
        "title": plan.outline.title,
        "version": env!("CARGO_PKG_VERSION"),
        "device": plan.setup.device.to_string(),
        "device_name": described.device_name,
        "ranks": plan.setup.comm.as_ref().map_or(1, |comm| comm.size()),
        "threads": described.threads,
        "precision": "double",
        "model": "poisson",
        "equation": plan.equation,
        "mesh": {
            "elements": elements_by_shape(&mesh.set_sizes()),
            "faces": mesh.faces.len(),
            "order": mesh.max_order(),
            "boundaries": mesh.boundary_names(),
            "digest": format!("{:016x}", plan.outline.mesh_digest),
        },
        "space": { "order": plan.setup.order, "dofs": described.dofs, "penalty": plan.setup.penalty },
        "timing": { "setup_s": setup_s, "run_s": solved.right_hand_side_s + solved.solve_s, "output_s": output_s },
        "communication": sent.to_json("iteration", solved.iterations() as u64),
        "memory": {
            "expected": plan.outline.memory as u64,
            "peak": crate::plan::memory::peak().map(|peak| peak as u64),
        },
        "integral": { "u": solved.integral },
        "linear": {
            "preconditioner": plan.setup.solver.preconditioner.word(),
            "iterations": solved.iterations(),
            "operator_s": described.operator_s,
            "device_s": described.device_s,
            "preconditioner_s": described.preconditioner_s,
            "setup_s": described.operator_s + described.device_s + described.preconditioner_s,
            "right_hand_side_s": solved.right_hand_side_s,
            "solve_s": solved.solve_s,
            "mdofs_per_s": solved.mdofs_per_s(described.dofs),
            "residual": solved.residual(),
            "reduction": solved.reduction(),
            "rate": solved.rate(),
            "residuals": history,
            "applications_per_iteration": described.applications,
            "operator_bytes_per_element": per_element(described.operator_bytes),
            "device_bytes": described.device_bytes,
            "bytes_per_element": per_element(described.preconditioner_bytes),
            "operator_complexity": described.operator_complexity(),
            "singular": described.singular,
            "imbalance": solved.imbalance.map(|imbalance| imbalance.total),
            "levels": levels,
            "linelets": described.lines.as_ref().map(lines_to_json),
        },
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Norms as `{norm: {u: value}}`.
pub(super) fn errors(errors: &Errors) -> Value {
    let norms = [
        ("l1", Some(errors.l1)),
        ("l2", Some(errors.l2)),
        ("linf", Some(errors.linf)),
        ("energy", errors.energy),
    ];
    let given = norms.into_iter().filter_map(|(norm, value)| Some((norm.to_owned(), json!({ "u": value? }))));
    Value::Object(given.collect())
}
