//! The force per mass, at the nodes.

use super::components::Components;
use super::machine::Machine;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_physics::Source;
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
        // The map of an element is a polynomial of its space, or is projected to it.
        let along = [0, 1, 2].map(|d| sipdg.project(&|_, x| x[d]));
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
