//! Forces per mass and sources of scalars, at the nodes.

use super::components::Components;
use super::machine::{AtNodes, Machine};
use crate::SystemError;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::{ForceTables, Sipdg};
use dgsuite_physics::Source;
use dgsuite_physics::trace::StateRecording;
use std::sync::Arc;

/// A force as a function of place and time, with its values at the nodes.
pub(super) struct Forcing<V> {
    source: Arc<dyn Source>,
    points: Vec<[f64; 3]>,
    /// Entries of vectors that are not nodes.
    padding: Vec<usize>,
    values: Vec<Vec<f64>>,
    at: Option<f64>,
    field: Components<V>,
}

impl<V: Vector<Scalar = f64>> Forcing<V> {
    pub(super) fn new(
        source: Arc<dyn Source>,
        sipdg: &Sipdg<f64>,
        like: &Components<V>,
    ) -> Result<Self, GpuError> {
        let along = sipdg.places();
        let points = (0..sipdg.len()).map(|i| along.each_ref().map(|x| x[i])).collect();
        let values = vec![Vec::new(); source.n_fields()];
        let mut padding = vec![true; sipdg.len()];
        sipdg.unknowns().iter().for_each(|&i| padding[i as usize] = false);
        let padding = (0..sipdg.len()).filter(|&i| padding[i]).collect();
        Ok(Self { source, points, padding, values, at: None, field: like.zeros_like()? })
    }

    /// The force at time `t`.
    pub(super) fn at<M: Machine<V = V>>(&mut self, machine: &M, t: f64) -> Result<&Components<V>, GpuError> {
        if self.at.is_none_or(|at| at != t && !self.source.is_steady()) {
            self.source.eval(t, &self.points, &mut self.values);
            for (field, values) in self.field.0.iter_mut().zip(&mut self.values) {
                self.padding.iter().for_each(|&i| values[i] = 0.0);
                *field = machine.upload(values)?;
            }
            self.at = Some(t);
        }
        Ok(&self.field)
    }
}

/// A force of place and time, with the loads by which a pressure balances gradients.
pub(super) struct GivenForce<V> {
    source: Arc<dyn Source>,
    sipdg: Arc<Sipdg<f64>>,
    tables: ForceTables,
    at: Option<f64>,
    field: Components<V>,
}

impl<V: Vector<Scalar = f64>> GivenForce<V> {
    fn new(
        source: Arc<dyn Source>,
        sipdg: &Arc<Sipdg<f64>>,
        like: &Components<V>,
    ) -> Result<Self, SystemError> {
        let tables = sipdg.force_tables()?;
        Ok(Self { source, sipdg: Arc::clone(sipdg), tables, at: None, field: like.zeros_like()? })
    }

    /// The force at time `t`.
    fn at<M: Machine<V = V>>(&mut self, machine: &M, t: f64) -> Result<&Components<V>, GpuError> {
        if self.at.is_none_or(|at| at != t && !self.source.is_steady()) {
            let source = &self.source;
            let fields = self.sipdg.forces(&self.tables, &|x| {
                let mut values = vec![Vec::new(); source.n_fields()];
                source.eval(t, x, &mut values);
                values
            });
            for (field, values) in self.field.0.iter_mut().zip(&fields) {
                *field = machine.upload(values)?;
            }
            self.at = Some(t);
        }
        Ok(&self.field)
    }
}

/// A force that depends on the scalars: buoyancy, and formulas.
pub(super) struct OfScalars<V> {
    formulas: Box<dyn AtNodes<V>>,
    field: Components<V>,
}

/// All forces per mass on a fluid.
pub(super) struct Forces<V> {
    given: Option<GivenForce<V>>,
    of_scalars: Option<OfScalars<V>>,
}

impl<V: Vector<Scalar = f64>> Forces<V> {
    /// A force of place and time, and one of this number of scalars; velocities are as `like`.
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        (sipdg, like): (&Arc<Sipdg<f64>>, &Components<V>),
        given: Option<Arc<dyn Source>>,
        of_scalars: Option<(StateRecording, usize)>,
    ) -> Result<Self, SystemError> {
        let given = given.map(|source| GivenForce::new(source, sipdg, like)).transpose()?;
        let prepared = |(formulas, scalars)| -> Result<OfScalars<V>, SystemError> {
            Ok(OfScalars { formulas: machine.at_nodes(formulas, scalars)?, field: like.zeros_like()? })
        };
        Ok(Self { given, of_scalars: of_scalars.map(prepared).transpose()? })
    }

    /// `u ← u + a f` with the force f at time `t`, where the fluid has these scalars.
    pub(super) fn add<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        (t, a): (f64, f64),
        scalars: &[&V],
        u: &mut Components<V>,
    ) -> Result<(), GpuError> {
        if let Some(given) = &mut self.given {
            u.axpby(a, given.at(machine, t)?, 1.0);
        }
        if let Some(OfScalars { formulas, field }) = &mut self.of_scalars {
            formulas.eval(t, scalars, &mut field.0)?;
            u.axpby(a, field, 1.0);
        }
        Ok(())
    }

    /// Bytes of tables.
    pub(super) fn bytes(&self) -> usize {
        self.of_scalars.as_ref().map_or(0, |of| of.formulas.bytes())
    }

    /// The number of its vectors.
    pub(super) fn vectors(&self) -> usize {
        let given = self.given.as_ref().map_or(0, |given| given.field.0.len());
        given + self.of_scalars.as_ref().map_or(0, |of| of.field.0.len())
    }
}
