//! Plans of the same flow with something changed, on the elements of the run.

use crate::file::problem::InputError;
use crate::pipeline::Document;
use crate::pipeline::overrides::Override;
use crate::plan::{Choices, Plan};

/// The plan of a file with one key set to another value. Each rank has the elements that it has in the run,
/// if the mesh is the same. Collective.
///
/// # Errors
/// Mistakes that only the other value leads to.
pub(super) fn plan_with(
    document: &Document,
    choices: &Choices,
    plan: &Plan,
    set: &str,
) -> Result<Plan, InputError> {
    // The state is that of the run.
    let choices = Choices { restart: None, project: false, ..choices.clone() };
    let case = document.case(&[Override::parse(set)?])?;
    let mut other = match &choices.comm {
        Some(comm) => Plan::on_ranks(&case, &choices, comm)?,
        None => Plan::new(&case, &choices)?,
    };
    if other.outline.mesh_digest == plan.outline.mesh_digest {
        other.setup.mesh = plan.setup.mesh.clone();
    }
    Ok(other)
}
