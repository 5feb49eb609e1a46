//! The stages of a step as calls for the device.

use std::convert::Infallible;

use dgsuite_gpu::CudaVector;
use dgsuite_ops::cuda::StageAddresses;
use dgsuite_ops::{PackScalar, StageWeights};
use dgsuite_timeint::{Rhs, RunningSum, Scheme, Stage};

/// One stage as work for the device: an operation and its arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StageCall {
    /// Time of the stage as a share of the step, and weight of its boundary fluxes in the step.
    pub(super) part: f64,
    pub(super) share: f64,
    /// The step size in these weights is 0, because the device computes it.
    pub(super) weights: StageWeights,
    pub(super) at: StageAddresses,
    /// Factors and address of the running sum.
    pub(super) sum: Option<([f64; 3], u64)>,
    /// A mean computed after the stage.
    pub(super) mean: Option<MeanCall>,
    /// Address of the state after the step, if this is its last stage.
    pub(super) end: Option<u64>,
}

/// A mean of states as work for the device, `mean ← Σ f v`: factors and addresses of two or three vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeanCall {
    pub(super) mean: u64,
    pub(super) two: [(f64, u64); 2],
    pub(super) more: Option<(f64, u64)>,
}

/// A right-hand side that only records the calls of a stepper.
pub(super) struct Recorder<T: PackScalar> {
    pub(super) calls: Vec<StageCall>,
    /// Number of the next stage in its step.
    pub(super) stage: usize,
    parts: Vec<f64>,
    shares: Vec<f64>,
    scalar: std::marker::PhantomData<fn(T)>,
}

impl<T: PackScalar> Recorder<T> {
    pub(super) fn new(scheme: Scheme) -> Self {
        let (parts, shares) = (scheme.tableau().c, scheme.tableau().b);
        Self { calls: Vec::new(), stage: 0, parts, shares, scalar: std::marker::PhantomData }
    }

    fn record(
        &mut self,
        s: &Stage,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &CudaVector<T>,
        next: &CudaVector<T>,
        sum: Option<([f64; 3], u64)>,
    ) {
        let at = StageAddresses {
            u: u.buffer().ptr(),
            start: u0.filter(|_| s.b != 0.0).map_or(0, |v| v.buffer().ptr()),
            register: reg.buffer().ptr(),
            next: next.buffer().ptr(),
        };
        let (part, share) = (self.parts[self.stage], self.shares[self.stage]);
        let weights = StageWeights { a: s.a, b: s.b, c: s.c, dt: 0.0, keep: s.keep };
        self.calls.push(StageCall { part, share, weights, at, sum, mean: None, end: None });
        self.stage += 1;
    }
}

impl<T: PackScalar> Rhs for Recorder<T> {
    type Vector = CudaVector<T>;
    type Error = Infallible;

    /// No scheme evaluates a residual alone.
    fn eval(&mut self, _: f64, _: &CudaVector<T>, _: &mut CudaVector<T>) -> Result<(), Infallible> {
        Ok(())
    }

    fn stage(
        &mut self,
        _: f64,
        s: &Stage,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &mut CudaVector<T>,
        next: &mut CudaVector<T>,
    ) -> Result<(), Infallible> {
        self.record(s, u, u0, reg, next, None);
        Ok(())
    }

    fn stage_with_sum(
        &mut self,
        _: f64,
        s: &Stage,
        r: &RunningSum,
        u: &CudaVector<T>,
        u0: Option<&CudaVector<T>>,
        reg: &mut CudaVector<T>,
        next: &mut CudaVector<T>,
        sum: &mut CudaVector<T>,
    ) -> Result<(), Infallible> {
        self.record(s, u, u0, reg, next, Some(([r.p, r.q, r.d], sum.buffer().ptr())));
        Ok(())
    }

    fn mean(&mut self, mean: &mut CudaVector<T>, terms: &[(f64, &CudaVector<T>)]) -> Result<(), Infallible> {
        let of = |&(factor, v): &(f64, &CudaVector<T>)| (factor, v.buffer().ptr());
        // The two newest first; a third one is added to them.
        let call = match terms {
            [a, b] => Some(MeanCall { mean: mean.buffer().ptr(), two: [of(a), of(b)], more: None }),
            [a, b, c] => Some(MeanCall { mean: mean.buffer().ptr(), two: [of(b), of(c)], more: Some(of(a)) }),
            _ => None,
        };
        debug_assert!(call.is_some(), "means are of two or three states");
        if let Some(last) = self.calls.last_mut() {
            last.mean = call;
        }
        Ok(())
    }
}
