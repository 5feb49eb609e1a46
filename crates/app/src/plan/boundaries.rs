//! Matches the boundary conditions in the file with the boundaries of the mesh.

pub(super) mod balance;
pub(super) mod friction;
mod scale;
pub(super) mod straight;

use std::collections::BTreeMap;

use dgsuite_mesh::{Across, Mesh};
use dgsuite_physics::Exact;

use crate::conditions::{BoundarySpec, On, Resolved};
use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::models::states::States;
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::{BoundaryKind, Riemann};

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
        let on = On { name: &spec.name, mesh: on_rank, states, start, points: &points, split };
        let Resolved { kind, pressures, warnings: others } = spec.condition.resolve(&on)?;
        warnings.extend(pressures.and_then(|outside| scale::check(&on, &outside)));
        warnings.extend(others);
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

/// Warns of conditions that do not suit the numerical flux.
pub(super) fn with_flux(specs: &[BoundarySpec], riemann: Riemann) -> Vec<String> {
    specs.iter().filter_map(|spec| spec.condition.with_flux(&spec.name.value, riemann)).collect()
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

/// The geometry nodes on a boundary (some of them twice).
fn points_of(mesh: &Mesh, name: &str) -> Vec<[f64; 3]> {
    let named = |b: u32| mesh.boundaries.get(b as usize).is_some_and(|tag| tag.name == name);
    let sides = mesh.faces.iter().filter(|face| matches!(face.across, Across::Boundary(b) if named(b)));
    sides.flat_map(|face| mesh.side_nodes(face.minus)).map(|node| mesh.points[node as usize]).collect()
}
