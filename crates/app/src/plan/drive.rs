//! A prescribed flow rate of a gas: what it means on the mesh, and what does not go together with it.

use dgsuite_mesh::Mesh;
use dgsuite_solve::flow::Drive;
use dgsuite_solve::incompressible::FlowRate;

use super::{fitting, mesh};
use crate::file::problem::{InputError, Problem};
use crate::models::reference::unit;
use crate::pipeline::Pipeline;
use crate::pipeline::physics::{FlowRateSpec, Model};

/// The direction as a unit vector, and the mean velocity.
///
/// # Errors
/// A vector of another dimension, or of length 0.
pub(super) fn rate(spec: &FlowRateSpec, dim: usize) -> Result<FlowRate, InputError> {
    let direction = match &spec.direction {
        None => [1.0, 0.0, 0.0],
        Some(vector) => fitting(vector, dim).and_then(|_| unit(vector))?,
    };
    Ok(FlowRate { direction, mean: spec.mean })
}

/// The force on a gas, with warnings; `None` where the file gives no flow rate of a gas.
///
/// # Errors
/// A direction across which nothing is periodic; steps that do not know the force.
pub(super) fn resolve(
    pipeline: &Pipeline,
    dim: usize,
    of_mesh: Option<&Mesh>,
) -> Result<Option<(Drive, Vec<String>)>, InputError> {
    let (Model::NavierStokes { .. }, Some(spec)) = (&pipeline.physics.model, &pipeline.physics.flow_rate)
    else {
        return Ok(None);
    };
    let rate = rate(spec, dim)?;
    let refused = |key: &str, value: String, instead: &str| {
        let (key, instead) = (key.to_owned(), instead.to_owned());
        Err(InputError::at(&spec.place, Problem::Unsupported { key, value, instead }))
    };
    let value = format!("mean {}", spec.mean);
    if pipeline.time.steady.is_some() {
        let instead =
            "the force of a flow rate belongs to steps in time: `time.end` in place of `time.steady`";
        return refused("physics.flow_rate", value, instead);
    }
    if let Some(steps) = &pipeline.time.implicit {
        let instead = format!(
            "the force acts between the steps, which suits small steps: an explicit `time.scheme` in place of {}",
            steps.value.scheme
        );
        return refused("physics.flow_rate", value, &instead);
    }
    let open = |of_mesh: &&Mesh| {
        let periods = mesh::periods(of_mesh);
        of_mesh.links.iter().all(|link| link.is_translation())
            && (0..dim).all(|d| periods[d] == 0.0 || rate.direction[d] == 0.0)
    };
    if of_mesh.filter(open).is_some() {
        let instead = "the mesh has no period along the flow: join the boundaries that the flow crosses by \
                       `mesh.periodic`, or choose another `physics.flow_rate.direction`";
        return refused("physics.flow_rate", value, instead);
    }
    let mut warnings = Vec::new();
    if !spec.balanced && !pipeline.boundaries.iter().any(|spec| spec.condition.passes_heat()) {
        warnings.push(
            "physics.flow_rate: no boundary takes up the heat of friction, so that the gas gets warmer all the \
             time; `heat: balanced`, or walls with a `temperature`"
                .to_owned(),
        );
    }
    Ok(Some((Drive { rate, balanced: spec.balanced }, warnings)))
}
