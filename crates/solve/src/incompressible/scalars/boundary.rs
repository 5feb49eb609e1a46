//! The loads of a scalar's conditions.

use crate::SystemError;
use crate::incompressible::machine::{Machine, Map};
use crate::incompressible::shared::bounded;
use crate::setup::{ScalarCondition, ScalarData};
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::{BoundaryPoints, Sipdg, Triplet};
use dgsuite_physics::Exact;
use std::sync::Arc;

/// The loads of prescribed values and fluxes.
pub(super) struct Conditions<V> {
    lists: Vec<List<V>>,
}

/// The numbers of some boundaries, and their load.
struct List<V> {
    points: Vec<[f64; 3]>,
    /// For each boundary its numbers, a factor, and the places of its points.
    of: Vec<(Arc<dyn Exact>, f64, Vec<usize>)>,
    load: Box<dyn Map<V>>,
    values: V,
    /// The time of `values`; kept if they do not change.
    at: Option<f64>,
    steady: bool,
}

/// The numbers of a condition with their factor in the equation with the diffusivity α.
fn numbers(condition: &ScalarCondition, diffusivity: f64) -> (Arc<dyn Exact>, f64) {
    match condition {
        ScalarCondition::Value(value) | ScalarCondition::Inflow(value) => (Arc::clone(value), diffusivity),
        ScalarCondition::Flux(flux) => (Arc::clone(flux), -1.0),
        ScalarCondition::Transfer { coefficient, ambient } => (Arc::clone(ambient), *coefficient),
    }
}

impl<V: Vector<Scalar = f64>> Conditions<V> {
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        sipdg: &Sipdg<f64>,
        data: &ScalarData,
        diffusivity: f64,
    ) -> Result<Self, SystemError> {
        let is_value = |condition: &ScalarCondition| matches!(condition, ScalarCondition::Value(_));
        let is_flux = |condition: &ScalarCondition| {
            matches!(condition, ScalarCondition::Flux(_) | ScalarCondition::Transfer { .. })
        };
        let mut lists = Vec::new();
        let kinds: [(&dyn Fn(&ScalarCondition) -> bool, fn(&BoundaryPoints) -> Vec<Triplet>); 2] =
            [(&is_value, BoundaryPoints::dirichlet_load), (&is_flux, BoundaryPoints::load)];
        for (wanted, load) in kinds {
            let found: Vec<_> = data.conditions.iter().filter(|(_, condition)| wanted(condition)).collect();
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            if !bounded(sipdg, &names) {
                continue;
            }
            let on = sipdg.boundary_points(&names);
            let of = found.iter().enumerate().map(|(b, (_, condition))| {
                let (exact, factor) = numbers(condition, diffusivity);
                (exact, factor, (0..on.len()).filter(|&q| on.boundary[q] as usize == b).collect())
            });
            let of: Vec<_> = of.collect();
            lists.push(List {
                steady: of.iter().all(|(exact, ..)| exact.is_steady()),
                of,
                load: machine.load(on.len(), &load(&on))?,
                values: machine.numbers(&vec![0.0; on.len()])?,
                points: on.points,
                at: None,
            });
        }
        Ok(Self { lists })
    }

    /// Adds the loads of the numbers at time `t`.
    pub(super) fn add<M: Machine<V = V>>(&mut self, machine: &M, t: f64, b: &mut V) -> Result<(), GpuError> {
        for list in &mut self.lists {
            list.update(machine, t)?;
            list.load.add(&list.values, b);
        }
        Ok(())
    }
}

impl<V: Vector<Scalar = f64>> List<V> {
    fn update<M: Machine<V = V>>(&mut self, machine: &M, t: f64) -> Result<(), GpuError> {
        if self.at.is_some_and(|at| self.steady || at == t) {
            return Ok(());
        }
        let mut values = vec![0.0; self.points.len()];
        for (exact, factor, of) in &self.of {
            let x: Vec<[f64; 3]> = of.iter().map(|&q| self.points[q]).collect();
            let mut out = vec![Vec::new(); exact.n_fields()];
            exact.eval(t, &x, &mut out);
            of.iter().zip(&out[0]).for_each(|(&q, v)| values[q] = factor * v);
        }
        self.values = machine.numbers(&values)?;
        self.at = Some(t);
        Ok(())
    }
}
