//! Whether the flow passes the boundary of the domain; where it does not, convection keeps integrals.

use crate::incompressible::laws::wall_velocity;
use crate::incompressible::role::Role;
use crate::setup::BoundaryKind;
use dgsuite_ops::elliptic::Sipdg;
use std::collections::BTreeMap;

/// Times after the start at which velocities that depend on time are looked at.
const LATER: [f64; 5] = [0.0, 0.37, 1.7, 13.1, 97.3];

/// The largest normal component, relative to the largest velocity, of a wall that moves in its plane.
const TANGENTIAL: f64 = 1e-12;

/// Whether nothing passes the boundaries: prescribed velocities have no normal component. Collective.
pub(in crate::incompressible) fn closed(
    kinds: &BTreeMap<String, BoundaryKind>,
    a: &Sipdg<f64>,
    start: f64,
) -> bool {
    let dim = a.mesh().dim;
    let passes = |name: &str, kind: &BoundaryKind| {
        let velocity = match Role::of(kind) {
            Some(Role::Symmetry) => return false,
            Some(Role::Wall) => wall_velocity(kind, dim),
            Some(Role::Open) | None => None,
        };
        let Some(velocity) = velocity else { return true };
        let on = a.boundary_points(&[name]);
        let times = if velocity.is_steady() { &LATER[..1] } else { &LATER[..] };
        times.iter().any(|after| {
            let mut values = vec![Vec::new(); velocity.n_fields()];
            velocity.eval(start + after, &on.points, &mut values);
            let at = |q: usize| values.iter().take(dim).map(move |v| v[q]);
            let (mut through, mut largest) = (0.0_f64, 0.0_f64);
            for (q, normal) in on.normals.iter().enumerate() {
                through = through.max(at(q).zip(normal).map(|(v, n)| v * n).sum::<f64>().abs());
                largest = largest.max(at(q).map(|v| v * v).sum::<f64>().sqrt());
            }
            through > TANGENTIAL * largest
        })
    };
    let mut open = [f64::from(u8::from(kinds.iter().any(|(name, kind)| passes(name, kind))))];
    if let Some(ranks) = a.ranks() {
        ranks.joint().max(&mut open);
    }
    open[0] == 0.0
}
