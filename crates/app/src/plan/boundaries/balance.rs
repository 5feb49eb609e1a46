//! The balance of prescribed velocities of incompressible flow, which must let out what they let in.

use std::collections::BTreeMap;

use dgsuite_mesh::{Across, Mesh, Side};
use dgsuite_physics::Exact;

use super::prescribed::area_vector;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Place;
use crate::systems::SystemError;
use crate::systems::hyperbolic::{BoundaryKind, Law};

/// The largest net flux, relative to all flux in and out, that is accepted. The solver distributes what is
/// left, which may come from the quadrature here and from faces that deviate from a curved boundary.
const ACCEPTED: f64 = 0.05;

/// Rejects prescribed velocities at t = 0 that let in more fluid than out, or less, where no boundary is
/// open.
///
/// # Errors
/// [`SystemError::NetInflow`] at `place`.
pub(in crate::plan) fn check(
    law: &Law,
    conditions: &BTreeMap<String, BoundaryKind>,
    mesh: &Mesh,
    place: &Place,
) -> Result<(), InputError> {
    let open =
        |kind: &BoundaryKind| matches!(kind, BoundaryKind::Open { .. } | BoundaryKind::PressureOutlet { .. });
    if !matches!(law, Law::Incompressible(_)) || conditions.values().any(open) {
        return Ok(());
    }
    let (mut net, mut size) = (0.0, 0.0);
    for face in &mesh.faces {
        let Across::Boundary(b) = face.across else { continue };
        let kind = mesh.boundaries.get(b as usize).and_then(|boundary| conditions.get(&boundary.name));
        if let Some(BoundaryKind::Prescribed(velocity)) = kind {
            let flux = flux(velocity.as_ref(), face.minus, mesh);
            net += flux;
            size += flux.abs();
        }
    }
    if net.abs() <= ACCEPTED * size {
        return Ok(());
    }
    Err(InputError::at(place, Problem::Setup { error: SystemError::NetInflow { inflow: -net, size } }))
}

/// The flux out of the domain through a side, by its vertices and its centre: exact for data of degree 3 on
/// edges, and of degree 2 on triangles.
fn flux(velocity: &dyn Exact, side: Side, mesh: &Mesh) -> f64 {
    let vertices = mesh.side_vertices(side);
    let mut points: Vec<[f64; 3]> = vertices.iter().map(|&v| mesh.points[v as usize]).collect();
    points.push(mesh.side_centroid(side));
    let mut values = vec![Vec::new(); velocity.n_fields()];
    velocity.eval(0.0, &points, &mut values);
    let (corners, centre) = (vertices.len(), vertices.len());
    let share = if corners == 2 { 2.0 / 3.0 } else { 0.75 };
    let inside = mesh.centroid(side.element as usize);
    let area = area_vector(&vertices, mesh);
    let outwards: f64 = (0..3).map(|d| area[d] * (points[centre][d] - inside[d])).sum();
    let along = |i: usize| (0..mesh.dim).map(|d| area[d] * values[d][i]).sum::<f64>();
    let mean = (0..corners).map(along).sum::<f64>() / corners as f64;
    (share * along(centre) + (1.0 - share) * mean) * outwards.signum()
}
