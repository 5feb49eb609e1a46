//! Closures: what they mean on the mesh, and what does not go together with them.

use dgsuite_mesh::Mesh;
use dgsuite_ops::{OpsError, filter_widths};
use dgsuite_physics::Closure;
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::formula::Formula;

use crate::file::problem::{InputError, Problem};
use crate::pipeline::Pipeline;
use crate::pipeline::closure::ClosureSpec;
use crate::pipeline::physics::{Model, SourceSpec};

/// The variables of the filter width, in the order of its arguments.
const LENGTH: [&str; 4] = ["x", "y", "z", "delta"];

/// The closure with its numbers.
///
/// # Errors
/// Sigma in the plane.
pub(super) fn resolve(spec: &ClosureSpec, dim: usize) -> Result<EddyViscosity, InputError> {
    if spec.closure == Closure::Sigma && dim == 2 {
        let instead = "its eddy viscosity is zero in all flows of two dimensions: wale, vreman or smagorinsky, or \
                       a mesh of three dimensions";
        return Err(unsupported(spec, instead));
    }
    let &ClosureSpec { closure, constant, prandtl, .. } = spec;
    Ok(EddyViscosity { closure, constant, prandtl, mixing: 0.0 })
}

/// The formula of the filter width, if the file gives one.
///
/// # Errors
/// A formula that does not parse or is not a length in an element, a source that is derived from an exact
/// solution.
pub(super) fn width(pipeline: &Pipeline, mesh: &Mesh) -> Result<Option<Formula>, InputError> {
    let (Model::NavierStokes { closure: Some(spec), .. } | Model::Incompressible { closure: Some(spec), .. }) =
        &pipeline.physics.model
    else {
        return Ok(None);
    };
    if let Some(SourceSpec::Manufactured(_)) = &pipeline.physics.source {
        let instead = "a manufactured source does not know the eddy viscosity, which depends on the mesh: leave one \
                       of the two out";
        return Err(unsupported(spec, instead));
    }
    let Some(text) = &spec.length else { return Ok(None) };
    let formula = pipeline.constants.located_formula(text, &LENGTH)?;
    match filter_widths(mesh, pipeline.space.order, Some(&formula)) {
        Ok(_) => Ok(Some(formula)),
        Err(OpsError::Width { element, width }) => {
            let what = text.with(format!("{} is {width} in element {element}", text.value));
            Err(InputError::range(&what, "a length, finite and greater than 0, in each element"))
        }
        Err(error) => Err(InputError::nowhere(Problem::Setup { error: error.into() })),
    }
}

fn unsupported(spec: &ClosureSpec, instead: &str) -> InputError {
    let (key, value, instead) =
        ("physics.closure".to_owned(), spec.closure.name().to_owned(), instead.to_owned());
    InputError::at(&spec.place, Problem::Unsupported { key, value, instead })
}

/// The closure in words, with the smallest and largest filter width of the elements of `mesh`.
pub(super) fn describe(
    closure: &EddyViscosity,
    length: Option<&Formula>,
    order: usize,
    mesh: &Mesh,
) -> String {
    let short = crate::file::number::short;
    let widths = filter_widths(mesh, order, length).unwrap_or_default();
    let least = widths.iter().copied().fold(f64::INFINITY, f64::min);
    let most = widths.iter().copied().fold(0.0, f64::max);
    let range = if most - least <= 1e-9 * most {
        short(most)
    } else {
        format!("{} to {}", short(least), short(most))
    };
    let formula = length.map_or_else(|| format!("|E|^(1/{})/(p + 1)", mesh.dim), |f| f.text().to_owned());
    format!(
        "{}, constant {}, turbulent Prandtl number {}, filter width {formula} = {range}",
        closure.closure.name(),
        short(closure.constant),
        short(closure.prandtl)
    )
}
