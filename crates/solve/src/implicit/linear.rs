//! The linear problem of a Newton step, `(1/Δτ − R′(u)) δ = R(u)`, and its preconditioner.

use std::time::Instant;

use dgsuite_amg::{Gmres, LinearOperator, Preconditioner};
use dgsuite_gpu::{GpuError, Vector};

use super::NewtonStatistics;
use super::parts::Parts;
use crate::setup::Newton;

/// Directions of the smoother after the problem of order one.
const DIRECTIONS: usize = 3;

/// The linear problem of a step with its preconditioner.
pub(super) struct Linear<P: Parts> {
    pub(super) parts: P,
    made: bool,
    /// Some directions of the smoother.
    directions: Gmres<P::Vector>,
    work: [P::Vector; 2],
    /// What the present preconditioner has cost.
    cost: Cost,
    pub(super) newton: Newton,
}

/// The cost of a preconditioner, in products with the Jacobian.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Of making it.
    setup: u64,
    /// Of its first step, and of all steps beyond that much.
    first: Option<u64>,
    extra: u64,
    /// Whether it is of no use any more.
    spent: bool,
}

impl<P: Parts> Linear<P> {
    pub(super) fn new(parts: P, newton: Newton) -> Result<Self, GpuError> {
        let zeros = parts.zeros()?;
        let directions = Gmres::new(&zeros, DIRECTIONS)?;
        let work = [zeros.zeros_like()?, zeros];
        Ok(Self { parts, made: false, directions, work, cost: Cost::default(), newton })
    }

    /// Makes the preconditioner for the present pseudo-time: anew when its steps have taken as many products
    /// beyond those of its first as it takes to make it, or if it did not solve a problem.
    pub(super) fn prepare(&mut self, statistics: &mut NewtonStatistics) -> Result<(), GpuError> {
        let begun = Instant::now();
        if !self.made || self.cost.spent {
            let before = self.parts.products();
            self.parts.make()?;
            self.made = true;
            self.cost = Cost { setup: self.parts.products() - before, ..Cost::default() };
            statistics.setups += 1;
        }
        self.parts.factorise()?;
        statistics.setup_s += begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// Whether there is a preconditioner.
    pub(super) fn is_made(&self) -> bool {
        self.made
    }

    /// Leaves it to [`prepare`](Self::prepare) to make the preconditioner anew.
    pub(super) fn forget(&mut self) {
        self.made = false;
    }

    /// Notes the products that a step took, and whether its problem was solved.
    pub(super) fn took(&mut self, products: u64, solved: bool) {
        let cost = &mut self.cost;
        let old = cost.first.is_some();
        let first = *cost.first.get_or_insert(products);
        cost.extra += products.saturating_sub(first);
        cost.spent = cost.extra > cost.setup || (old && !solved);
    }

    /// The operator, and the preconditioner that was made for it.
    pub(super) fn problem(&mut self) -> (Operator<'_, P>, Inverse<'_, P>) {
        let Self { parts, directions, work, .. } = self;
        (Operator(parts), Inverse { parts, directions, work })
    }
}

/// The scaled operator `S (1/Δτ − R′(u))`.
pub(super) struct Operator<'a, P: Parts>(&'a P);

impl<P: Parts> LinearOperator<P::Vector> for Operator<'_, P> {
    fn n_rows(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: &P::Vector, y: &mut P::Vector) {
        self.0.apply(x, y);
    }
}

/// The smoother of the scaled operator.
struct Smoother<'a, P: Parts>(&'a P);

impl<P: Parts> Preconditioner<P::Vector> for Smoother<'_, P> {
    fn apply(&mut self, r: &P::Vector, z: &mut P::Vector) {
        self.0.smooth(r, z);
    }
}

/// The preconditioner of the scaled operator: the problem of order one, then some directions of the smoother.
pub(super) struct Inverse<'a, P: Parts> {
    parts: &'a P,
    directions: &'a mut Gmres<P::Vector>,
    work: &'a mut [P::Vector; 2],
}

impl<P: Parts> Preconditioner<P::Vector> for Inverse<'_, P> {
    fn apply(&mut self, r: &P::Vector, z: &mut P::Vector) {
        if !self.parts.has_coarse() {
            // The smoother is that of the whole problem.
            return self.parts.smooth(r, z);
        }
        z.fill(0.0);
        self.parts.add_coarse(r, z);
        let [rest, change] = &mut *self.work;
        let operator = Operator(self.parts);
        operator.apply(z, rest);
        rest.axpby(1.0, r, -1.0);
        self.directions.approximate(&operator, &mut Smoother(self.parts), rest, change);
        z.axpby(1.0, change, 1.0);
    }
}
