//! The friction of walls with a model.
//!
//! The fluid slips along such a wall: it has the condition of a boundary of symmetry, and the load `⟨t, φ⟩`
//! of the stress
//!
//! ```text
//! t = −(ν/h) (y⁺/u⁺) v_h,   y⁺ u⁺(y⁺) = |v_h| h/ν
//! ```
//!
//! with the velocity `v_h` along the wall at the height h, less that of the wall, extrapolated to the end of
//! the step as explicit terms are.

use super::components::Components;
use super::machine::{Machine, Map};
use super::role::{WithModel, model};
use super::shared::bounded;
use crate::SystemError;
use crate::setup::BoundaryKind;
use dgsuite_gpu::comm::{CommError, Joint};
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::{SharedPlaces, Sipdg};
use dgsuite_ops::{Base, BoundarySamples, Discretization, Height, LoanExchange, OpsError, PlaceAbove};
use dgsuite_ops::{Loan, places_above};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stress on the fluid, per density, at a point with the normal `n`, from the velocity at the height `h`.
pub(super) fn stress(wall: &WithModel, viscosity: f64, u: [f64; 3], n: [f64; 3], h: f64) -> [f64; 3] {
    let u: [f64; 3] = std::array::from_fn(|d| u[d] - wall.velocity[d]);
    let normal: f64 = (0..3).map(|d| u[d] * n[d]).sum();
    let along: [f64; 3] = std::array::from_fn(|d| u[d] - normal * n[d]);
    let speed = along.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (y, plus) = wall.model.at(speed * h / viscosity);
    along.map(|v| -(viscosity / h * y / plus) * v)
}

/// Velocities at places in elements of other ranks.
struct Borrowed {
    exchange: LoanExchange,
    /// The points with such places, those of one rank after the other.
    points: Vec<usize>,
    dim: usize,
    arrived: Vec<f64>,
}

impl Borrowed {
    /// Prepares the exchange. Collective.
    fn new(joint: &Arc<Joint>, loans: &[SharedPlaces], dim: usize) -> Result<Self, CommError> {
        let of = |loan: &SharedPlaces| (loan.rank, [loan.lent * dim, loan.borrowed.len() * dim]);
        let exchange = LoanExchange::new::<f64>(joint, loans.iter().map(of))?;
        let points: Vec<usize> = loans.iter().flat_map(|loan| &loan.borrowed).copied().collect();
        Ok(Self { exchange, dim, arrived: vec![0.0; points.len() * dim], points })
    }

    /// Sends the velocities at lent places, `[place][component]`, and gives those that arrive to `put`, each
    /// with its point. Collective.
    fn bring(&mut self, lent: &[f64], mut put: impl FnMut(usize, &[f64])) {
        self.exchange.start(lent);
        self.exchange.finish(&mut self.arrived);
        self.points.iter().zip(self.arrived.chunks_exact(self.dim)).for_each(|(&q, u)| put(q, u));
    }
}

/// The walls with a model, and their stress in a step.
pub(super) struct Modelled<V> {
    viscosity: f64,
    walls: Vec<WithModel>,
    normals: Vec<[f64; 3]>,
    heights: Vec<f64>,
    /// The value of a component at the heights, then at the places lent to other ranks.
    above: Box<dyn Map<V>>,
    borrowed: Option<Borrowed>,
    load: Box<dyn Map<V>>,
    stress: Components<V>,
    work: V,
}

impl<V: Vector<Scalar = f64>> Modelled<V> {
    /// The walls with a model; `None` without any.
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        sipdg: &Sipdg<f64>,
        kinds: &BTreeMap<String, BoundaryKind>,
        viscosity: f64,
    ) -> Result<Option<Self>, SystemError> {
        let walls: Vec<(&str, WithModel)> =
            kinds.iter().filter_map(|(name, kind)| Some((name.as_str(), model(kind)?))).collect();
        let names: Vec<&str> = walls.iter().map(|wall| wall.0).collect();
        if !bounded(sipdg, &names) {
            return Ok(None);
        }
        let on = sipdg.boundary_points(&names);
        let n = on.len();
        let heights: Vec<Height> = walls.iter().map(|(_, wall)| wall.height).collect();
        let above = sipdg.points_above(&on, &names, &heights).map_err(SystemError::Ops)?;
        let dim = sipdg.mesh().dim;
        let borrowed = sipdg.ranks().map(|ranks| Borrowed::new(ranks.joint(), &above.loans, dim));
        let borrowed = borrowed.transpose().map_err(OpsError::from)?;
        let rows = n + above.loans.iter().map(|loan| loan.lent).sum::<usize>();
        let zeros = |n: usize| machine.numbers(&vec![0.0; n]);
        let stress = (0..dim).map(|_| zeros(n)).collect::<Result<_, _>>().map(Components)?;
        Ok(Some(Self {
            viscosity,
            walls: on.boundary.iter().map(|&b| walls[b as usize].1).collect(),
            heights: above.heights,
            above: machine.evaluation(rows, &above.value)?,
            borrowed,
            load: machine.load(n, &on.load())?,
            normals: on.normals,
            stress,
            work: zeros(rows)?,
        }))
    }

    /// Computes the stress from the velocity `star`.
    pub(super) fn update<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        star: &Components<V>,
    ) -> Result<(), GpuError> {
        let mut velocity = Vec::new();
        for u in &star.0 {
            self.above.apply(u, &mut self.work);
            velocity.push(machine.read(&self.work)?);
        }
        let (n, dim) = (self.normals.len(), velocity.len());
        if let Some(borrowed) = &mut self.borrowed {
            let rows = n..velocity[0].len();
            let lent: Vec<f64> = rows.flat_map(|row| velocity.iter().map(move |u| u[row])).collect();
            borrowed.bring(&lent, |q, arrived| velocity.iter_mut().zip(arrived).for_each(|(u, a)| u[q] = *a));
        }
        let mut all = vec![vec![0.0; n]; dim];
        for (q, (wall, n)) in self.walls.iter().zip(&self.normals).enumerate() {
            let u = std::array::from_fn(|d| velocity.get(d).map_or(0.0, |u| u[q]));
            let t = stress(wall, self.viscosity, u, *n, self.heights[q]);
            all.iter_mut().zip(t).for_each(|(all, t)| all[q] = t);
        }
        self.stress = Components(all.iter().map(|t| machine.numbers(t)).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Adds the load of the stress.
    pub(super) fn add_to_velocity(&self, b: &mut Components<V>) {
        self.stress.0.iter().zip(&mut b.0).for_each(|(t, b)| self.load.add(t, b));
    }
}

/// Places above the points of a boundary, for samples of it.
#[derive(Default)]
pub(super) struct Above {
    pub(super) heights: Vec<f64>,
    /// The place of each point; `None` in elements of other ranks.
    places: Vec<Option<PlaceAbove>>,
    /// The places of points of other ranks.
    lent: Vec<Option<PlaceAbove>>,
    borrowed: Option<Borrowed>,
}

impl Above {
    /// The heights and places above the points of the samples of a boundary. Collective on several ranks, of
    /// which some may have no samples.
    pub(super) fn new(
        fields: &Discretization<f64>,
        name: &str,
        height: Height,
        samples: Option<&BoundarySamples>,
    ) -> Result<Self, OpsError> {
        let mesh = fields.mesh();
        let volumes = mesh.volumes();
        let mut bases = Vec::new();
        let faces =
            samples.map(|samples| samples.first.windows(2).zip(&samples.elements).map(move |f| (samples, f)));
        for (samples, (face, &element)) in faces.into_iter().flatten() {
            let points = face[0]..face[1];
            let height = height.above(volumes[element], samples.weights[points.clone()].iter().sum());
            bases.extend(points.map(|q| Base {
                element,
                at: samples.points[q],
                normal: samples.normals[q],
                height,
            }));
        }
        let ranks = fields.ranks();
        let among = ranks.map(|ranks| ranks.among());
        let places = places_above(mesh, name, &bases, among.as_ref())?;
        let shared = |loan: &Loan| SharedPlaces {
            rank: loan.rank,
            lent: loan.lent.len(),
            borrowed: loan.borrowed.clone(),
        };
        let loans: Vec<SharedPlaces> = places.loans.iter().map(shared).collect();
        let borrowed = ranks.map(|ranks| Borrowed::new(ranks.joint(), &loans, mesh.dim)).transpose()?;
        Ok(Self {
            heights: bases.iter().map(|base| base.height).collect(),
            places: places.own,
            lent: places.loans.into_iter().flat_map(|loan| loan.lent).map(Some).collect(),
            borrowed,
        })
    }

    /// The velocities at the places, from those at places of this rank. Collective on several ranks.
    pub(super) fn velocities(
        &mut self,
        dim: usize,
        states_at: impl Fn(&[Option<PlaceAbove>]) -> Vec<Option<Vec<f64>>>,
    ) -> Vec<[f64; 3]> {
        let velocity = |state: Option<Vec<f64>>| -> [f64; 3] {
            std::array::from_fn(|d| state.as_ref().filter(|_| d < dim).map_or(0.0, |state| state[d]))
        };
        let mut all: Vec<[f64; 3]> = states_at(&self.places).into_iter().map(velocity).collect();
        if let Some(borrowed) = &mut self.borrowed {
            let lent = states_at(&self.lent).into_iter().map(velocity);
            let lent: Vec<f64> = lent.flat_map(|u| u.into_iter().take(dim)).collect();
            borrowed.bring(&lent, |q, u| all[q][..dim].copy_from_slice(u));
        }
        all
    }
}
