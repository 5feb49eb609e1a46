//! The friction of walls with a model.
//!
//! The fluid slips along such a wall: it has the condition of a boundary of symmetry, and the load `⟨t, φ⟩`
//! of the stress
//!
//! ```text
//! t = −(ν/h) (y⁺/u⁺) v_h,   y⁺ u⁺(y⁺) = |v_h| h/ν
//! ```
//!
//! with the velocity `v_h` along the wall at the height h, extrapolated to the end of the step as explicit
//! terms are.

use super::components::Components;
use super::machine::{Machine, Map};
use super::role::model;
use super::shared::bounded;
use crate::SystemError;
use crate::setup::BoundaryKind;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_ops::{Base, BoundarySamples, Discretization, Height, agree, places_above};
use dgsuite_physics::WallModel;
use std::collections::BTreeMap;

/// The stress on the fluid, per density, at a point with the normal `n`, from the velocity at the height `h`.
pub(super) fn stress(model: WallModel, viscosity: f64, u: [f64; 3], n: [f64; 3], h: f64) -> [f64; 3] {
    let normal: f64 = (0..3).map(|d| u[d] * n[d]).sum();
    let along: [f64; 3] = std::array::from_fn(|d| u[d] - normal * n[d]);
    let speed = along.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (y, plus) = model.at(speed * h / viscosity);
    along.map(|v| -(viscosity / h * y / plus) * v)
}

/// The walls with a model, and their stress in a step.
pub(super) struct Modelled<V> {
    viscosity: f64,
    models: Vec<WallModel>,
    normals: Vec<[f64; 3]>,
    heights: Vec<f64>,
    /// The value of a component at the heights.
    above: Box<dyn Map<V>>,
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
        let walls: Vec<(&str, (WallModel, Height))> =
            kinds.iter().filter_map(|(name, kind)| Some((name.as_str(), model(kind)?))).collect();
        let names: Vec<&str> = walls.iter().map(|wall| wall.0).collect();
        if !bounded(sipdg, &names) {
            return Ok(None);
        }
        let on = sipdg.boundary_points(&names);
        let n = on.len();
        let heights: Vec<Height> = walls.iter().map(|(_, (_, height))| *height).collect();
        let above = sipdg.points_above(&on, &names, &heights);
        let above = match sipdg.ranks() {
            Some(ranks) => agree(ranks.joint().comm().as_ref(), above),
            None => above,
        };
        let above = above.map_err(SystemError::Ops)?;
        let zeros = || machine.numbers(&vec![0.0; n]);
        let stress = (0..sipdg.mesh().dim).map(|_| zeros()).collect::<Result<_, _>>().map(Components)?;
        Ok(Some(Self {
            viscosity,
            models: on.boundary.iter().map(|&b| walls[b as usize].1.0).collect(),
            heights: above.heights,
            above: machine.evaluation(n, &above.value)?,
            load: machine.load(n, &on.load())?,
            normals: on.normals,
            stress,
            work: zeros()?,
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
        let mut all = vec![vec![0.0; self.normals.len()]; velocity.len()];
        for (q, (model, n)) in self.models.iter().zip(&self.normals).enumerate() {
            let u = std::array::from_fn(|d| velocity.get(d).map_or(0.0, |u| u[q]));
            let t = stress(*model, self.viscosity, u, *n, self.heights[q]);
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
pub(super) type Above = (Vec<f64>, Vec<Option<(usize, [f64; 3])>>);

/// The heights and places above the points of `samples`.
pub(super) fn above(
    fields: &Discretization<f64>,
    name: &str,
    height: Height,
    samples: &BoundarySamples,
) -> Option<Above> {
    let mesh = fields.mesh();
    let volumes = mesh.volumes();
    let mut bases = Vec::new();
    for (face, &element) in samples.first.windows(2).zip(&samples.elements) {
        let points = face[0]..face[1];
        let height = height.above(volumes[element], samples.weights[points.clone()].iter().sum());
        bases.extend(points.map(|q| Base {
            element,
            at: samples.points[q],
            normal: samples.normals[q],
            height,
        }));
    }
    let places = places_above(mesh, name, &bases, fields.ranks().is_none()).ok()?;
    Some((bases.iter().map(|base| base.height).collect(), places.into_iter().map(Some).collect()))
}
