//! Matches the conditions in the file with the boundaries of the mesh.

use std::sync::Arc;

use dgsuite_mesh::Mesh;

use super::formula;
use super::functions::{Coefficient, ExactSolution};
use crate::file::expression::Constants;
use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::pipeline::elliptic::boundaries::{BoundarySpec, DataSpec, KindSpec};
use crate::plan::boundaries::{is_periodic, none_is_missing};
use dgsuite_solve::elliptic::{BoundaryFunction, EllipticCondition, EllipticKind};

/// Returns the condition on every boundary of the mesh.
///
/// # Errors
/// Names that the mesh does not have, boundaries without a condition, conditions on periodic boundaries,
/// formulas that do not parse.
pub(super) fn resolve(
    specs: &[BoundarySpec],
    mesh: &Mesh,
    kappa: &Arc<Coefficient>,
    exact: Option<&ExactSolution>,
    constants: &Constants,
    file: &Place,
) -> Result<Vec<EllipticCondition>, InputError> {
    let open: Vec<&str> = mesh.boundary_names();
    let mut conditions = Vec::new();
    let resolved = each(specs.iter().map(|spec| {
        let name = &spec.name.value;
        if !mesh.boundaries.iter().any(|b| b.name == *name) {
            let known = mesh.boundaries.iter().map(|b| b.name.clone()).collect();
            return Err(InputError::at(
                &spec.name.place,
                Problem::UnknownBoundary { name: name.clone(), known },
            ));
        }
        if is_periodic(mesh, &open, name) {
            return Err(InputError::at(&spec.name.place, Problem::PeriodicBoundary { name: name.clone() }));
        }
        let kind = match spec.kind {
            KindSpec::Dirichlet => EllipticKind::Dirichlet,
            KindSpec::Neumann => EllipticKind::Neumann,
            KindSpec::Robin { alpha } => EllipticKind::Robin { alpha },
        };
        let data: BoundaryFunction = match (&spec.data, exact, spec.kind) {
            (DataSpec::Formula(text), ..) => {
                let scalar = formula(constants, text)?;
                Arc::new(move |_, x, _| scalar.at(x))
            }
            (DataSpec::Exact, Some(exact), KindSpec::Dirichlet) => {
                let value = exact.value.clone();
                Arc::new(move |_, x, _| value.at(x))
            }
            (DataSpec::Exact, Some(exact), KindSpec::Neumann) => exact.flux(kappa, 0.0),
            (DataSpec::Exact, Some(exact), KindSpec::Robin { alpha }) => exact.flux(kappa, alpha),
            (DataSpec::Exact, None, _) => {
                let expected =
                    "the solution from which the data are derived, a formula in x, y, z".to_owned();
                let problem = Problem::MissingKey { key: "physics.exact".into(), expected };
                return Err(InputError::at(&spec.name.place, problem));
            }
        };
        if open.contains(&name.as_str()) {
            conditions.push(EllipticCondition { name: name.clone(), kind, data });
        }
        Ok(())
    }));
    let given: Vec<&str> = specs.iter().map(|spec| spec.name.value.as_str()).collect();
    let place = specs.first().map_or(file, |spec| &spec.name.place);
    both(resolved, none_is_missing(&given, (mesh, &open), place, "{ type: dirichlet, u: 0 }"))?;
    Ok(conditions)
}
