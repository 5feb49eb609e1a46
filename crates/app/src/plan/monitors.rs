//! Monitors with everything that they name resolved: solutions, formulas, and points in the mesh.

use std::sync::Arc;

use dgsuite_mesh::Mesh;
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;

use super::states::States;
use super::variables::Variables;
use crate::pipeline::expression::COORDINATES;
use crate::pipeline::monitors::{MonitorKind, MonitorSpec, Norm};
use crate::pipeline::output::Every;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Located;

/// A monitor, resolved.
pub struct MonitorPlan {
    /// What it records.
    pub kind: MonitorJob,
    /// When; also at the end.
    pub every: Every,
}

/// What a monitor records, resolved.
pub enum MonitorJob {
    /// The residual.
    Residual,
    /// Errors.
    Error {
        /// Against this solution.
        exact: Arc<dyn Exact>,
        /// In these norms.
        norms: Vec<Norm>,
    },
    /// Integrals over the domain.
    Integral {
        /// Names: the formulas as written.
        names: Vec<String>,
        /// Formulas in the variables of [`integral_variables`].
        formulas: Vec<Formula>,
    },
    /// Values at points.
    Probe {
        /// The points.
        points: Vec<[f64; 3]>,
        /// Names: the formulas as written.
        names: Vec<String>,
        /// Formulas in the primitive variables.
        formulas: Vec<Formula>,
    },
}

/// The arguments of integrated formulas: conserved variables, primitive variables, then `x, y, z, t`.
///
/// Where a name is in both lists, it means the conserved one; the place of the primitive one stays, as `primitive_…`,
/// so that positions do not depend on the law.
pub fn integral_variables(variables: &Variables) -> Vec<String> {
    let conserved = variables.conserved.iter().map(|&name| name.to_owned());
    let primitive = variables.primitive.iter().map(|&name| match variables.conserved.contains(&name) {
        true => format!("primitive_{name}"),
        false => name.to_owned(),
    });
    conserved.chain(primitive).chain(COORDINATES.map(str::to_owned)).collect()
}

/// Monitors with their solutions and formulas resolved.
///
/// # Errors
/// Names that are not known, formulas that do not parse, points that are in no element.
pub fn resolve(
    specs: &[MonitorSpec],
    states: &States<'_>,
    mesh: &Mesh,
) -> Result<Vec<MonitorPlan>, InputError> {
    let named =
        |fields: &[Located<String>], variables: &[&str]| -> Result<(Vec<String>, Vec<Formula>), InputError> {
            let formulas = fields
                .iter()
                .map(|f| states.constants.located_formula(f, variables))
                .collect::<Result<_, _>>()?;
            Ok((fields.iter().map(|f| f.value.clone()).collect(), formulas))
        };
    specs
        .iter()
        .map(|spec| {
            let kind = match &spec.kind {
                MonitorKind::Residual => MonitorJob::Residual,
                MonitorKind::Error { exact, norms } => {
                    MonitorJob::Error { exact: states.resolve(exact)?, norms: norms.clone() }
                }
                MonitorKind::Integral { fields } => {
                    let variables = integral_variables(states.variables);
                    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
                    let (names, formulas) = named(fields, &variables)?;
                    MonitorJob::Integral { names, formulas }
                }
                MonitorKind::Probe { points, fields } => {
                    let (names, formulas) = named(fields, &states.variables.primitive)?;
                    let points =
                        points.iter().map(|point| probe_point(point, mesh)).collect::<Result<_, _>>()?;
                    MonitorJob::Probe { points, names, formulas }
                }
            };
            Ok(MonitorPlan { kind, every: spec.every })
        })
        .collect()
}

fn probe_point(point: &Located<Vec<f64>>, mesh: &Mesh) -> Result<[f64; 3], InputError> {
    if point.value.len() != mesh.dim {
        let expected = format!("{0} numbers, as the mesh has {0} dimensions", mesh.dim);
        return Err(InputError::range(&point.with(format!("{:?}", point.value)), expected));
    }
    let mut x = [0.0; 3];
    x[..mesh.dim].copy_from_slice(&point.value);
    match mesh.find_point(x) {
        Some(_) => Ok(x),
        None => Err(InputError::at(&point.place, Problem::PointOutside { point: x })),
    }
}
