//! Matches the boundary conditions in the file with the boundaries of the mesh.

pub(super) mod balance;
mod curved_wall;
pub(super) mod friction;
mod prescribed;
mod scale;
pub(super) mod straight;

use std::collections::BTreeMap;
use std::sync::Arc;

use dgsuite_mesh::{Across, Mesh};
use dgsuite_ops::place_and_time;
use dgsuite_physics::Exact;

use self::prescribed::{Numbers, fits, outward, resolve as numbers, sides_of};

use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::models::state::{BoundarySpec, Condition, StateSpec};
use crate::models::states::States;
use crate::models::variables::AtStart;
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::{BoundaryKind, Riemann};
use dgsuite_solve::post::slow_outflow;

/// Returns the condition on every boundary of the mesh, by name, and warnings about settings that are
/// probably not intended. With `split` the straight faces of a mesh file have been split by refinement.
/// `start` is the state at the start of the run, if it is known.
///
/// # Errors
/// Names that the mesh does not have, boundaries without a condition, conditions on periodic boundaries, data
/// that is not a valid state.
pub fn resolve(
    specs: &[BoundarySpec],
    on_rank: &RankMesh,
    states: &States<'_>,
    start: Option<&dyn Exact>,
    file: &Place,
    split: bool,
) -> Result<(BTreeMap<String, BoundaryKind>, Vec<String>), InputError> {
    let (mesh, open) = (&**on_rank.seen(), on_rank.boundary_names());
    let all: Vec<String> = mesh.boundaries.iter().map(|b| b.name.clone()).collect();
    let (mut conditions, mut warnings) = (BTreeMap::new(), Vec::new());
    let resolved = each(specs.iter().map(|spec| {
        let name = &spec.name.value;
        if !all.contains(name) {
            let problem = Problem::UnknownBoundary { name: name.clone(), known: all.clone() };
            return Err(InputError::at(&spec.name.place, problem));
        }
        if is_periodic(mesh, &open, name) {
            let problem = Problem::PeriodicBoundary { name: name.clone() };
            return Err(InputError::at(&spec.name.place, problem));
        }
        let points = if open.contains(&name.as_str()) { points_of(mesh, name) } else { Vec::new() };
        let (kind, given) = condition(spec, on_rank, states, start, &points)?;
        let said = (name.as_str(), &spec.condition);
        warnings.extend(
            start.and_then(|start| scale::check(said, (&kind, given.as_ref()), states, start, &points)),
        );
        match (&spec.condition, given) {
            (Condition::NoSlipWall { .. }, Some(given)) => {
                let passes = !states.variables.primitive.contains(&"rho");
                warnings.extend(given.leaves_its_place(mesh, name, passes));
            }
            (Condition::SubsonicInflow { direction: Some(direction), .. }, Some(given))
                // A part has some faces of the boundary only.
                if !on_rank.is_part() && given.leads_out(mesh, name) =>
            {
                let shown = direction.key.with("a direction out of the domain");
                return Err(InputError::range(
                    &shown,
                    "one into the domain: the direction of the flow, not the direction from which it comes",
                ));
            }
            (Condition::Outflow, _) => {
                warnings.extend(start.and_then(|start| of_slow_outflow(name, mesh, states, start)));
            }
            (Condition::CurvedSlipWall { normal, .. }, given) => {
                warnings.extend(curved_wall::check(spec, normal.as_ref(), given.as_ref(), mesh, split)?);
            }
            _ => {}
        }
        conditions.insert(name.clone(), kind);
        Ok(())
    }));
    let given: Vec<&str> = specs.iter().map(|spec| spec.name.value.as_str()).collect();
    both(
        resolved,
        none_is_missing(
            &given,
            (mesh, &open),
            specs.first().map_or(file, |spec| &spec.name.place),
            "{ type: outflow }",
        ),
    )?;
    Ok((conditions, warnings))
}

/// Warns of pressure outlets with a flux that lets disturbances grow where gas passes them fast.
pub(super) fn fast_outlets(specs: &[BoundarySpec], riemann: Riemann) -> Vec<String> {
    let outlet = |spec: &&BoundarySpec| matches!(spec.condition, Condition::PressureOutlet { .. });
    let warn = |spec: &BoundarySpec| {
        format!(
            "boundaries.{}: with `riemann: slau2` disturbances gain energy at a pressure outlet that gas passes at \
             more than 0.9 of the speed of sound; take `hllc` or `roe-low-mach` for such a flow",
            spec.name.value
        )
    };
    specs.iter().filter(|_| riemann == Riemann::Slau2).filter(outlet).map(warn).collect()
}

/// Rejects boundaries of the mesh, those in `open`, without a condition. With names in the file that the mesh
/// does not have, some of them are the missing ones, misspelt.
pub(super) fn none_is_missing(
    given: &[&str],
    (mesh, open): (&Mesh, &[&str]),
    place: &Place,
    example: &'static str,
) -> Result<(), InputError> {
    let misspelt = given.iter().any(|name| !mesh.boundaries.iter().any(|b| b.name == *name));
    let missing = open.iter().filter(|name| !given.contains(name));
    let names: Vec<String> = missing.map(|&name| name.to_owned()).collect();
    if misspelt || names.is_empty() {
        return Ok(());
    }
    Err(InputError::at(place, Problem::MissingBoundary { names, example }))
}

/// Returns whether all faces of a boundary are periodic; `open` are the boundaries with other faces.
pub(super) fn is_periodic(mesh: &Mesh, open: &[&str], name: &str) -> bool {
    let named = |i: u32| mesh.boundaries.get(i as usize).is_some_and(|b| b.name == name);
    mesh.links.iter().any(|link| named(link.first) || named(link.second)) && !open.contains(&name)
}

fn condition(
    spec: &BoundarySpec,
    mesh: &RankMesh,
    states: &States<'_>,
    start: Option<&dyn Exact>,
    points: &[[f64; 3]],
) -> Result<(BoundaryKind, Option<Numbers>), InputError> {
    let checked = |spec: &StateSpec| {
        let state = states.resolve(spec)?;
        states.admissible(state.as_ref(), spec, 0.0, points)?;
        Ok::<_, InputError>(state)
    };
    // A state that may be given by formulas of the inner one.
    let at_boundary = |spec: &StateSpec, kind: fn(Arc<dyn Exact>) -> BoundaryKind| {
        let Some(formulas) = states.of_state(spec)? else { return checked(spec).map(kind) };
        let n = formulas.n_outputs();
        if let Some(state) = start {
            let mut values = vec![Vec::new(); n];
            let (variables, formulas) = (states.variables, &formulas);
            AtStart { variables, formulas, state }.eval(0.0, points, &mut values);
            states.possible(values, spec, points)?;
        }
        let place = place_and_time(&formulas, mesh.dim(), n);
        Ok(BoundaryKind::OfState { kind: Box::new(kind(Arc::new(place))), formulas: Arc::new(formulas) })
    };
    let condition = &spec.condition;
    let kind = match condition {
        Condition::Dirichlet(spec) => at_boundary(spec, BoundaryKind::Prescribed)?,
        Condition::FarField(spec) => at_boundary(spec, BoundaryKind::FarField)?,
        Condition::Outflow => BoundaryKind::Outflow,
        Condition::Own(condition) => {
            if let Some(velocity) = &spec.velocity {
                fits(velocity, states)?;
            }
            BoundaryKind::Own(Arc::clone(condition))
        }
        Condition::Open { backflow, exact } => {
            BoundaryKind::Open { backflow: *backflow, data: exact.as_ref().map(checked).transpose()? }
        }
        Condition::SlipWall => BoundaryKind::SlipWall,
        Condition::Symmetry => BoundaryKind::Symmetry,
        Condition::CurvedSlipWall { normal: None, corner } => curved_wall::estimated(spec, mesh, *corner)?,
        Condition::CurvedSlipWall { .. }
        | Condition::PressureOutlet { .. }
        | Condition::SubsonicInflow { .. }
        | Condition::NoSlipWall { .. } => {
            let given = numbers(condition, states, start, points)?;
            return Ok((given.kind(condition), Some(given)));
        }
    };
    let kind = match (&spec.turbulence, kind) {
        (None, kind) => kind,
        (Some(turbulence), BoundaryKind::Prescribed(mean)) => {
            BoundaryKind::Prescribed(turbulence.on(mean, states, points)?)
        }
        (Some(turbulence), BoundaryKind::FarField(mean)) => {
            BoundaryKind::FarField(turbulence.on(mean, states, points)?)
        }
        (Some(turbulence), _) => {
            let found = turbulence.key().with("given beside formulas of the state inside");
            return Err(InputError::range(&found, "beside a state that is given by x, y, z and t alone"));
        }
    };
    Ok((kind, None))
}

/// Warns if the flow through the boundary `name` is not supersonic at the start, at the centres of its faces.
fn of_slow_outflow(name: &str, mesh: &Mesh, states: &States<'_>, start: &dyn Exact) -> Option<String> {
    let gas = states.variables.law().gas()?;
    let sides = sides_of(mesh, name);
    let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
    let normals: Vec<[f64; 3]> = sides.iter().map(|&side| outward(side, mesh)).collect();
    let mut values = vec![Vec::new(); start.n_fields()];
    start.eval(0.0, &points, &mut values);
    states.variables.to_primitive(&mut values);
    let slowest = slow_outflow::slowest(gas, &points, &normals, &values)?;
    Some(slowest.warning(name, "at the start", mesh.dim))
}

/// The geometry nodes on a boundary (some of them twice).
fn points_of(mesh: &Mesh, name: &str) -> Vec<[f64; 3]> {
    let named = |b: u32| mesh.boundaries.get(b as usize).is_some_and(|tag| tag.name == name);
    let sides = mesh.faces.iter().filter(|face| matches!(face.across, Across::Boundary(b) if named(b)));
    sides.flat_map(|face| mesh.side_nodes(face.minus)).map(|node| mesh.points[node as usize]).collect()
}
