//! The mean of a field over the domain.

use super::machine::Machine;
use dgsuite_gpu::{GpuError, Vector};

/// The constant 1 with its load `M 1` and the volume.
pub(super) struct Mean<V> {
    pub(super) one: V,
    load: V,
    volume: f64,
}

impl<V: Vector<Scalar = f64>> Mean<V> {
    /// Takes means with the constant `one`.
    pub(super) fn new<M: Machine<V = V>>(machine: &M, one: &V) -> Result<Self, GpuError> {
        let (mut own, mut load) = (one.zeros_like()?, one.zeros_like()?);
        own.copy_from(one);
        machine.mass(one, &mut load);
        let volume = load.dot(one);
        Ok(Self { one: own, load, volume })
    }

    /// Returns the mean of a field.
    pub(super) fn of(&self, x: &V) -> f64 {
        self.load.dot(x) / self.volume
    }
}
