//! Operators of `ops` on a device behind the traits of `amg`.
//!
//! The device stores the error of a launch that fails.

use std::sync::Arc;

use dgsuite_amg::{LinearOperator, Preconditioner, Transfer};
use dgsuite_gpu::{CudaVector, Scalar, Vector};
use dgsuite_ops::cuda::{CudaBlockInverse, CudaGathering, CudaLinelets, CudaMass, CudaPTransfer, CudaSipdg};

use crate::elliptic::ranks::Gather;

/// The discrete operator as a linear map of vectors.
pub(crate) struct OnDevice<T: Scalar>(pub(crate) Arc<CudaSipdg<T>>);

impl<T: Scalar> LinearOperator<CudaVector<T>> for OnDevice<T> {
    fn n_rows(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: &CudaVector<T>, y: &mut CudaVector<T>) {
        let done = self.0.apply(x, y);
        self.0.cuda().note(done);
    }

    fn residual(&self, b: &CudaVector<T>, x: &CudaVector<T>, r: &mut CudaVector<T>) {
        let done = match self.0.is_faster_in_one_pass() {
            true => self.0.residual(b, x, r),
            false => Ok(false),
        };
        match done {
            Ok(true) => {}
            Ok(false) => {
                self.apply(x, r);
                r.axpby(1.0, b, -1.0);
            }
            Err(refused) => self.0.cuda().note(Err(refused)),
        }
    }

    fn relax(
        &self,
        beta: f64,
        inverse_diagonal: &CudaVector<T>,
        b: &CudaVector<T>,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> bool {
        if !self.0.is_faster_in_one_pass() {
            return false;
        }
        let done = self.0.relax(beta, inverse_diagonal, b, x, y);
        done.unwrap_or_else(|refused| {
            self.0.cuda().note(Err(refused));
            true
        })
    }
}

/// The inverses of the element blocks as a preconditioner.
pub(crate) struct Blocks<T: Scalar>(pub(crate) CudaBlockInverse<T>);

impl<T: Scalar> Preconditioner<CudaVector<T>> for Blocks<T> {
    fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) {
        let done = self.0.apply(r, z);
        r.cuda().note(done);
    }
}

/// Point Jacobi with linelets as a preconditioner.
pub(crate) struct Linelets<T: Scalar>(pub(crate) CudaLinelets<T>);

impl<T: Scalar> Preconditioner<CudaVector<T>> for Linelets<T> {
    fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) {
        let done = self.0.apply(r, z);
        r.cuda().note(done);
    }

    fn step(
        &mut self,
        beta: f64,
        b: &CudaVector<T>,
        from: Option<[&CudaVector<T>; 2]>,
        y: &mut CudaVector<T>,
    ) -> bool {
        match self.0.relax(beta, b, from, y) {
            Ok(done) => done,
            Err(error) => {
                b.cuda().note(Err(error));
                true
            }
        }
    }
}

/// The inverse mass matrix as a preconditioner.
pub(crate) struct InverseMass<T: Scalar>(pub(crate) CudaMass<T>);

impl<T: Scalar> Preconditioner<CudaVector<T>> for InverseMass<T> {
    fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) {
        let done = self.0.inverse_mass(r, z);
        r.cuda().note(done);
    }
}

/// The transfer between two levels of different order.
pub(crate) struct BetweenOrders<T: Scalar>(pub(crate) CudaPTransfer<T>);

impl<T: Scalar> Transfer<CudaVector<T>> for BetweenOrders<T> {
    fn restrict(&self, fine: &CudaVector<T>, coarse: &mut CudaVector<T>) {
        let done = self.0.restrict(fine, coarse);
        fine.cuda().note(done);
    }

    fn prolong_add(&self, coarse: &CudaVector<T>, fine: &mut CudaVector<T>) {
        let done = self.0.prolong_add(coarse, fine);
        fine.cuda().note(done);
    }
}

impl<T: Scalar> Gather<CudaVector<T>> for CudaGathering<T> {
    fn gather(&self, part: &CudaVector<T>, whole: &mut CudaVector<T>) {
        let done = CudaGathering::gather(self, part, whole);
        part.cuda().note(done);
    }

    fn put(&self, part: &CudaVector<T>, whole: &mut CudaVector<T>) {
        let done = CudaGathering::put(self, part, whole);
        part.cuda().note(done);
    }

    fn pick(&self, whole: &CudaVector<T>, part: &mut CudaVector<T>) {
        let done = CudaGathering::pick(self, whole, part);
        whole.cuda().note(done);
    }
}
