//! The elliptic operators of a flow, as the host makes them for every machine.

use super::role::{Role, named};
use crate::SystemError;
use crate::elliptic::EllipticKind;
use crate::elliptic::bridge::Operator;
use crate::setup::{BoundaryKind, Incompressible, ScalarCondition, Setup};
use dgsuite_gpu::Host;
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::{EllipticRanks, PTransfer, Sipdg, SipdgOptions};
use std::sync::Arc;

/// The elliptic operators of a flow on the host: those of the pressure, of each velocity component and of
/// each scalar, which are the same where the conditions are.
pub(super) struct Elliptics {
    /// The operator with the conditions of the pressure, for functions of the velocity's order. Its nodes are
    /// those of all fields.
    pub(super) nodes: Arc<Sipdg<f64>>,
    /// The operator of the pressure: the one above, or that of a lower order.
    pub(super) pressure: Arc<Sipdg<f64>>,
    /// Those of the velocity components, then those of the scalars.
    pub(super) components: Vec<Arc<Sipdg<f64>>>,
    /// The boundaries of symmetry that are not normal to an axis. The operators of the velocity have the
    /// Neumann condition there; [`Slip`](super::slip::Slip) adds the terms of the normal velocity.
    pub(super) oblique: Vec<String>,
    /// On several ranks, the operators of order 1 on the whole mesh.
    pub(super) whole: Option<Whole>,
}

/// The operators of order 1 on the whole mesh, with which coarse levels are solved on each of several ranks.
pub(super) struct Whole {
    pub(super) pressure: Operator<f64>,
    pub(super) components: Vec<Operator<f64>>,
}

impl Elliptics {
    /// On several ranks, `shared` is the share of this one. Collective.
    pub(super) fn new(
        setup: &Setup,
        law: &Incompressible,
        host: &Arc<Host>,
        shared: Option<&Arc<EllipticRanks>>,
    ) -> Result<Self, SystemError> {
        let dim = setup.mesh.dim();
        let options = SipdgOptions::new(setup.order);
        let (one, zero) = (|_: usize, _: [f64; 3]| 1.0, |_: usize, _: [f64; 3]| 0.0);
        let operator = |conditions: &[(String, EllipticKind)]| {
            let host = Arc::clone(host);
            let operator = match shared {
                Some(ranks) => Sipdg::on_ranks(ranks, &options, &one, &zero, conditions, host),
                None => Sipdg::new(Arc::clone(setup.mesh.seen()), &options, &one, &zero, conditions, host),
            };
            operator.map(Arc::new)
        };
        let on_whole = |conditions: &[(String, EllipticKind)]| {
            let of = |ranks: &Arc<EllipticRanks>| {
                let whole = Arc::clone(ranks.whole());
                let whole = Sipdg::at(whole, (&options, 1), &one, &zero, conditions, Arc::clone(host))?;
                Ok::<_, OpsError>(Operator(Arc::new(whole)))
            };
            shared.map(of).transpose()
        };
        let conditions = |of: &dyn Fn(&str, &BoundaryKind) -> EllipticKind| -> Vec<(String, EllipticKind)> {
            setup.boundaries.iter().map(|(name, kind)| (name.clone(), of(name, kind))).collect()
        };
        let of_nodes = conditions(&|_, kind| match Role::of(kind) {
            Some(Role::Open) => EllipticKind::Dirichlet,
            _ => EllipticKind::Neumann,
        });
        let (nodes, whole_nodes) = (operator(&of_nodes)?, on_whole(&of_nodes)?);
        // All ranks know the normals of whole boundaries.
        let known_everywhere = whole_nodes.as_ref().map_or(&nodes, |whole| &whole.0);
        let (mut planes, mut oblique) = (Vec::new(), Vec::new());
        for name in named(&setup.boundaries, Role::Symmetry) {
            match axis(known_everywhere, name) {
                Some(d) => planes.push((name, d)),
                None => oblique.push(name.to_owned()),
            }
        }
        let mut known: Vec<(Vec<(String, EllipticKind)>, [Option<Operator<f64>>; 2])> = Vec::new();
        let (mut components, mut whole_components) = (Vec::new(), Vec::new());
        let of_velocity = (0..dim).map(|d| {
            conditions(&|name, kind| match Role::of(kind) {
                Some(Role::Wall) => EllipticKind::Dirichlet,
                Some(Role::Symmetry) if planes.contains(&(name, d)) => EllipticKind::Dirichlet,
                _ => EllipticKind::Neumann,
            })
        });
        let scalars = law.scalars.iter().zip(&setup.scalars);
        let of_scalars = scalars.map(|(scalar, data)| {
            conditions(&|name, _| match data.conditions.get(name) {
                Some(ScalarCondition::Value(_)) => EllipticKind::Dirichlet,
                Some(ScalarCondition::Transfer { coefficient, .. }) => {
                    EllipticKind::Robin { alpha: coefficient / scalar.diffusivity }
                }
                _ => EllipticKind::Neumann,
            })
        });
        for own in of_velocity.chain(of_scalars) {
            let found = known.iter().find(|(of, _)| *of == own).map(|(_, found)| found.clone());
            let [a, on_whole] = match found {
                Some(found) => found,
                None => {
                    let both = [Some(Operator(operator(&own)?)), on_whole(&own)?];
                    known.push((own, both.clone()));
                    both
                }
            };
            components.extend(a.map(|a| a.0));
            whole_components.extend(on_whole);
        }
        let order = law.pressure_order.of(setup.order);
        let pressure = match order {
            order if order < setup.order => Arc::new(nodes.at_lower_order(order)?),
            _ => Arc::clone(&nodes),
        };
        let whole_pressure = match (shared, whole_nodes) {
            // Its penalty is that of the velocity's order.
            (Some(ranks), Some(_)) if order == 1 && order < setup.order => {
                let whole = Arc::clone(ranks.whole());
                let whole = Sipdg::new(whole, &options, &one, &zero, &of_nodes, Arc::clone(host))?;
                Some(Operator(Arc::new(whole.at_lower_order(order)?)))
            }
            (_, nodes) => nodes,
        };
        let whole = whole_pressure.map(|pressure| Whole { pressure, components: whole_components });
        Ok(Self { nodes, pressure, components, oblique, whole })
    }

    /// The transfer from the velocity's order to that of the pressure, if it is lower.
    pub(super) fn transfer(&self) -> Result<Option<PTransfer<f64>>, OpsError> {
        let lower = !Arc::ptr_eq(&self.nodes, &self.pressure);
        lower.then(|| Sipdg::transfer(&self.nodes, &self.pressure)).transpose()
    }
}

/// The axis along the normals of a boundary, if there is one.
fn axis(a: &Sipdg<f64>, name: &str) -> Option<usize> {
    const ALONG: f64 = 1.0 - 1e-6;
    let on = a.boundary_points(&[name]);
    let along = |d: usize| on.normals.iter().all(|n| n[d].abs() > ALONG);
    (0..a.mesh().dim).find(|&d| along(d))
}
