//! The balance of prescribed velocities of incompressible flow, which must let out what they let in.

use std::collections::BTreeMap;
use std::sync::Arc;

use dgsuite_mesh::{Across, Mesh, Side};
use dgsuite_physics::Exact;

use crate::conditions::faces::area_vector;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use dgsuite_solve::SystemError;
use dgsuite_solve::flow::{BoundaryKind, Law};
use dgsuite_solve::incompressible::wall_velocity;

/// The largest net flux, relative to all flux in and out, that is accepted. What is left may come from the
/// quadrature here, and from faces that deviate from a curved boundary: each step of a run checks its own
/// quadrature more closely.
const ACCEPTED: f64 = 0.02;

/// Net fluxes below this fraction of the terms of which they consist are rounding, as those of a lid that
/// moves along itself.
const ROUNDING: f64 = 1e-12;

/// Number of times of a run at which data that changes is checked, beside its start.
const LOOKS: usize = 16;

/// Rejects prescribed velocities that let in more fluid than out, or less, where no boundary is open: at the
/// time `start` and, if they change, at times until `end`.
///
/// # Errors
/// [`SystemError::NetInflow`] at `place`.
pub(in crate::plan) fn check(
    law: &Law,
    conditions: &BTreeMap<String, BoundaryKind>,
    mesh: &Mesh,
    place: &Place,
    (start, end): (f64, Option<f64>),
) -> Result<(), InputError> {
    let open =
        |kind: &BoundaryKind| matches!(kind, BoundaryKind::Open { .. } | BoundaryKind::PressureOutlet { .. });
    if !matches!(law, Law::Incompressible(_)) || conditions.values().any(open) {
        return Ok(());
    }
    let velocities: Vec<Option<Arc<dyn Exact>>> = mesh
        .boundaries
        .iter()
        .map(|boundary| conditions.get(&boundary.name).and_then(|kind| wall_velocity(kind, mesh.dim)))
        .collect();
    let steady = velocities.iter().flatten().all(|velocity| velocity.is_steady());
    let length = end.map_or(1.0, |end| end - start);
    let mut largest = 0.0_f64;
    for look in 0..=if steady { 0 } else { LOOKS } {
        let time = start + length * look as f64 / LOOKS as f64;
        let (mut net, mut size, mut rounding) = (0.0, 0.0, 0.0);
        for face in &mesh.faces {
            let Across::Boundary(b) = face.across else { continue };
            if let Some(velocity) = velocities.get(b as usize).and_then(Option::as_ref) {
                let (flux, terms) = flux(velocity.as_ref(), time, face.minus, mesh);
                net += flux;
                size += flux.abs();
                rounding += ROUNDING * terms;
            }
        }
        largest = largest.max(size);
        if net.abs() > ACCEPTED * largest + rounding {
            let error = SystemError::NetInflow { inflow: -net, size: largest, time };
            return Err(InputError::at(place, Problem::Setup { error }));
        }
    }
    Ok(())
}

/// The flux out of the domain through a side, by its vertices and its centre: exact for data of degree 3 on
/// edges, and of degree 2 on triangles. The second number is the largest sum of terms of which it consists.
fn flux(velocity: &dyn Exact, time: f64, side: Side, mesh: &Mesh) -> (f64, f64) {
    let vertices = mesh.side_vertices(side);
    let mut points: Vec<[f64; 3]> = vertices.iter().map(|&v| mesh.points[v as usize]).collect();
    points.push(mesh.side_centroid(side));
    let mut values = vec![Vec::new(); velocity.n_fields()];
    velocity.eval(time, &points, &mut values);
    let (corners, centre) = (vertices.len(), vertices.len());
    let share = if corners == 2 { 2.0 / 3.0 } else { 0.75 };
    let inside = mesh.centroid(side.element as usize);
    let area = area_vector(&vertices, mesh);
    let outwards: f64 = (0..3).map(|d| area[d] * (points[centre][d] - inside[d])).sum();
    let along = |i: usize| (0..mesh.dim).map(|d| area[d] * values[d][i]).sum::<f64>();
    let terms = |i: usize| (0..mesh.dim).map(|d| (area[d] * values[d][i]).abs()).sum::<f64>();
    let mean = (0..corners).map(along).sum::<f64>() / corners as f64;
    let largest = (0..=centre).map(terms).fold(0.0, f64::max);
    ((share * along(centre) + (1.0 - share) * mean) * outwards.signum(), largest)
}
