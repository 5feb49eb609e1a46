//! Sub-steps of convection on a device: the carried field and its carrier as one state, by fused stages.

use super::carrier::Carrier;
use super::components::Components;
use dgsuite_gpu::cuda::Permutation;
use dgsuite_gpu::{CudaVector, GpuError, Vector};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{OpsError, StageWeights};
use dgsuite_timeint::{Rhs, Scheme, Stage, Stepper};

type V = CudaVector<f64>;

/// The vectors of the stages.
pub(super) struct Carried {
    stepper: Stepper<V>,
    /// Times of the stages, as fractions of a step.
    fractions: Vec<f64>,
    len: usize,
}

impl Carried {
    /// Sub-steps of states like `u`.
    pub(super) fn new(scheme: Scheme, u: &V) -> Result<Self, GpuError> {
        let stepper = Stepper::new(scheme, u)?;
        Ok(Self { stepper, fractions: scheme.tableau().c, len: u.len() })
    }

    /// Carries `field` by steps of `size` that begin at `begins`. `u` is work space, the fields of which are
    /// at `places`: first those of the field, then those of the carrier.
    pub(super) fn carry(
        &mut self,
        discretization: &mut CudaDiscretization<f64>,
        places: &[Permutation],
        u: &mut V,
        (begins, size): (&[f64], f64),
        carrier: &Carrier<'_, V>,
        field: &mut Components<V>,
    ) -> Result<(), OpsError> {
        let (own, by) = places.split_at(field.0.len());
        let fields: Vec<_> = own.iter().zip(field.0.iter().map(|v| [(1.0, v)])).collect();
        Permutation::scatter_each(&fields, u.buffer_mut());
        let Self { stepper, fractions, .. } = self;
        let fractions = &*fractions;
        let mut times = begins.iter().flat_map(|begin| fractions.iter().map(move |c| begin + c * size));
        let first = times.next();
        let mut stages = Stages { discretization, by, carrier, times: &mut times };
        stages.enter(first, u);
        stages.discretization.set_step(size)?;
        for &begin in begins {
            stepper.step(&mut stages, begin, size, u)?;
        }
        let mut fields: Vec<_> = own.iter().zip(&mut field.0).collect();
        Permutation::gather_each(u.buffer(), &mut fields);
        Ok(())
    }

    pub(super) const fn bytes(&self) -> usize {
        2 * 8 * self.len
    }
}

struct Stages<'a, 'b> {
    discretization: &'a mut CudaDiscretization<f64>,
    by: &'a [Permutation],
    carrier: &'a Carrier<'b, V>,
    /// The times of the stages to come.
    times: &'a mut dyn Iterator<Item = f64>,
}

impl Stages<'_, '_> {
    /// Writes the carrier of this time into a state.
    fn enter(&mut self, time: Option<f64>, u: &mut V) {
        let Some(time) = time else { return };
        let terms = self.carrier.terms(time);
        let of = |d: usize| -> Vec<(f64, &V)> { terms.iter().map(|(c, past)| (*c, &past.0[d])).collect() };
        let components: Vec<_> = self.by.iter().enumerate().map(|(d, places)| (places, of(d))).collect();
        Permutation::scatter_each(&components, u.buffer_mut());
    }
}

impl Rhs for Stages<'_, '_> {
    type Vector = V;
    type Error = OpsError;

    fn eval(&mut self, t: f64, u: &V, du: &mut V) -> Result<(), OpsError> {
        Ok(self.discretization.eval(t, u.buffer(), du.buffer_mut())?)
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &V,
        u0: Option<&V>,
        reg: &mut V,
        next: &mut V,
    ) -> Result<(), OpsError> {
        let weights = StageWeights { a: s.a, b: s.b, c: s.c, dt: s.dt, keep: s.keep };
        let (start, reg, out) = (u0.map(V::buffer), reg.buffer_mut(), next.buffer_mut());
        self.discretization.stage(t, 0.0, weights, u.buffer(), start, reg, out)?;
        let time = self.times.next();
        self.enter(time, next);
        Ok(())
    }
}
