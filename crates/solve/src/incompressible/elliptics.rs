//! The elliptic operators of a flow, as the host makes them for every machine.

use super::role::{Role, named};
use crate::SystemError;
use crate::elliptic::EllipticKind;
use crate::setup::{BoundaryKind, Incompressible, Setup};
use dgsuite_gpu::Host;
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::{PTransfer, Sipdg, SipdgOptions};
use std::sync::Arc;

/// The elliptic operators of a flow on the host: those of the pressure and of each velocity component, which
/// are the same where the conditions are.
pub(super) struct Elliptics {
    /// The operator with the conditions of the pressure, for functions of the velocity's order. Its nodes are
    /// those of all fields.
    pub(super) nodes: Arc<Sipdg<f64>>,
    /// The operator of the pressure: the one above, or that of a lower order.
    pub(super) pressure: Arc<Sipdg<f64>>,
    pub(super) velocity: Vec<Arc<Sipdg<f64>>>,
    /// The boundaries of symmetry that are not normal to an axis. The operators of the velocity have the
    /// Neumann condition there; [`Slip`](super::slip::Slip) adds the terms of the normal velocity.
    pub(super) oblique: Vec<String>,
}

impl Elliptics {
    pub(super) fn new(setup: &Setup, law: &Incompressible, host: &Arc<Host>) -> Result<Self, SystemError> {
        let dim = setup.mesh.dim();
        let options = SipdgOptions::new(setup.order);
        let operator = |conditions: &[(String, EllipticKind)]| {
            let (one, zero) = (|_: usize, _: [f64; 3]| 1.0, |_: usize, _: [f64; 3]| 0.0);
            let mesh = Arc::clone(setup.mesh.seen());
            Sipdg::new(mesh, &options, &one, &zero, conditions, Arc::clone(host)).map(Arc::new)
        };
        let conditions = |of: &dyn Fn(&str, &BoundaryKind) -> EllipticKind| -> Vec<(String, EllipticKind)> {
            setup.boundaries.iter().map(|(name, kind)| (name.clone(), of(name, kind))).collect()
        };
        let nodes = operator(&conditions(&|_, kind| match Role::of(kind) {
            Some(Role::Open) => EllipticKind::Dirichlet,
            _ => EllipticKind::Neumann,
        }))?;
        let (mut planes, mut oblique) = (Vec::new(), Vec::new());
        for name in named(&setup.boundaries, Role::Symmetry) {
            match axis(&nodes, name) {
                Some(d) => planes.push((name, d)),
                None => oblique.push(name.to_owned()),
            }
        }
        let mut known: Vec<(Vec<(String, EllipticKind)>, Arc<Sipdg<f64>>)> = Vec::new();
        let mut velocity = Vec::new();
        for d in 0..dim {
            let own = conditions(&|name, kind| match Role::of(kind) {
                Some(Role::Wall) => EllipticKind::Dirichlet,
                Some(Role::Symmetry) if planes.contains(&(name, d)) => EllipticKind::Dirichlet,
                _ => EllipticKind::Neumann,
            });
            let found = known.iter().find(|(of, _)| *of == own).map(|(_, a)| Arc::clone(a));
            let a = match found {
                Some(a) => a,
                None => {
                    let a = operator(&own)?;
                    known.push((own, Arc::clone(&a)));
                    a
                }
            };
            velocity.push(a);
        }
        let pressure = match law.pressure_order.of(setup.order) {
            order if order < setup.order => Arc::new(nodes.at_lower_order(order)?),
            _ => Arc::clone(&nodes),
        };
        Ok(Self { nodes, pressure, velocity, oblique })
    }

    /// The transfer from the velocity's order to that of the pressure, if it is lower.
    pub(super) fn transfer(&self) -> Result<Option<PTransfer<f64>>, OpsError> {
        let lower = !Arc::ptr_eq(&self.nodes, &self.pressure);
        lower.then(|| Sipdg::transfer(&self.nodes, &self.pressure)).transpose()
    }

    /// The diagonal of the mass matrix; zero in padding.
    pub(super) fn mass_diagonal(&self) -> Vec<f64> {
        let a = &self.nodes;
        let blocks = a.blocks_of_unknowns();
        let (mut unit, mut column) = (vec![0.0; a.len()], vec![0.0; a.len()]);
        let mut diagonal = vec![0.0; a.len()];
        for j in 0..blocks.iter().map(Vec::len).max().unwrap_or(0) {
            unit.fill(0.0);
            blocks.iter().filter_map(|block| block.get(j)).for_each(|&i| unit[i as usize] = 1.0);
            a.mass(&unit, &mut column);
            for &i in blocks.iter().filter_map(|block| block.get(j)) {
                diagonal[i as usize] = column[i as usize];
            }
        }
        diagonal
    }
}

/// The axis along the normals of a boundary, if there is one.
fn axis(a: &Sipdg<f64>, name: &str) -> Option<usize> {
    const ALONG: f64 = 1.0 - 1e-6;
    let on = a.boundary_points(&[name]);
    let along = |d: usize| on.normals.iter().all(|n| n[d].abs() > ALONG);
    (0..a.mesh().dim).find(|&d| along(d))
}
