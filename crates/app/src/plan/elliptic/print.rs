//! The plan of an elliptic problem in words.

use std::fmt::Write as _;

use super::EllipticPlan;
use crate::file::number::grouped;
use crate::pipeline::elliptic::solver::OF_POISSON;
use crate::plan::print::results::checks;
use crate::plan::print::{bytes, counted_shapes, has_thin, lines, threads};
use dgsuite_solve::elliptic::{EllipticDescription, EllipticSetup};

/// A device with the ranks that each work on one.
fn ranks(setup: &EllipticSetup, device: String) -> String {
    match &setup.comm {
        Some(comm) if comm.size() > 1 => {
            format!("{} ranks ({}), each on {device}", comm.size(), comm.plane())
        }
        _ => device,
    }
}

/// Describes the plan, one line for each part, with the table of levels.
pub fn plan(plan: &EllipticPlan, described: &EllipticDescription) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key:<11} {value}");
    };
    let (setup, mesh) = (&plan.setup, &plan.setup.mesh);
    line("title", plan.outline.title.clone());
    line(
        "mesh",
        format!(
            "{}: {}, geometry order {}, {} faces",
            plan.outline.mesh_origin,
            counted_shapes(&mesh.set_sizes()),
            mesh.max_order(),
            grouped(mesh.faces.len())
        ),
    );
    line("physics", format!("poisson in {}D: {}", mesh.dim, plan.equation));
    if let Some(exact) = &plan.exact {
        line("exact", format!("u = {}", exact.value.text()));
    }
    line("space", format!("sipdg, order {}, {} times the usual penalty", setup.order, setup.penalty));
    let dofs = grouped(described.dofs);
    line("unknowns", format!("{dofs} ({} for the operator)", bytes(described.operator_bytes)));
    line("memory", crate::plan::print::memory(&plan.outline, None));
    let conditions: Vec<String> =
        setup.boundaries.iter().map(|c| format!("{}: {}", c.name, c.kind_name())).collect();
    if !conditions.is_empty() {
        line("boundaries", conditions.join("; "));
    }
    if described.singular {
        line("", "u is fixed up to a constant: its mean is that of `exact`, or 0".into());
    }
    let solver = &setup.solver;
    line(
        "solver",
        format!(
            "conjugate gradients to {:e} of the first residual, at most {} iterations",
            solver.tolerance,
            grouped(solver.max_iterations)
        ),
    );
    let mut words = OF_POISSON.words(solver);
    if solver.preconditioner.is_multigrid() {
        words.push(format!("degree {}", solver.degree()));
        if solver.aggregation.is_none() {
            words.push(format!("aggregation {}", solver.aggregation_word_on(mesh)));
        }
    }
    let mut preconditioner = solver.preconditioner.word().to_owned();
    // `check` describes a solver without setting up its preconditioner.
    if described.preconditioner_bytes > 0 {
        let per_element = described.preconditioner_bytes as f64 / mesh.n_elements().max(1) as f64;
        let _ = write!(
            preconditioner,
            " ({}, {per_element:.0} bytes an element)",
            bytes(described.preconditioner_bytes)
        );
    }
    if !words.is_empty() {
        let _ = write!(preconditioner, ": {}", words.join(", "));
    }
    line("", preconditioner);
    if !described.levels.is_empty() {
        line("", format!("{:<9} {:>12} {:>14} {:>10}", "level", "rows", "entries", "memory"));
    }
    for level in &described.levels {
        let entries = if level.nonzeros == 0 { "matrix-free".to_owned() } else { grouped(level.nonzeros) };
        line(
            "",
            format!("{:<9} {:>12} {entries:>14} {:>10}", level.kind, grouped(level.rows), bytes(level.bytes)),
        );
    }
    if !described.levels.is_empty() {
        let (products, complexity) = (described.applications, described.operator_complexity());
        line(
            "",
            format!(
                "{products:.1} products with the operator in an iteration; operator complexity {complexity:.2}"
            ),
        );
    }
    if let Some(found) = described.lines.as_ref().filter(|found| has_thin(found)) {
        line("", lines(found, mesh.n_elements()));
    }
    line(
        "device",
        match &described.device_name {
            Some(name) => format!(
                "{}, {name}, {} in its memory; set-up by {} CPU threads",
                setup.device,
                bytes(described.device_bytes),
                described.threads
            ),
            None => ranks(setup, format!("cpu, {}", threads(described.threads))),
        },
    );
    checks(&plan.outline).into_iter().for_each(|checks| line("checks", checks));
    let mut output = plan.outline.directory.display().to_string();
    if let Some(fields) = &plan.fields {
        let names: Vec<&str> = fields.fields.iter().map(|f| f.name.as_str()).collect();
        let _ = write!(output, "; fields {}", names.join(", "));
    }
    line("output", output);
    out
}
