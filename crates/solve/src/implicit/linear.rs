//! The linear problem of a Newton step, `(1/Δτ − R′(u)) δ = R(u)`, and its preconditioner.

use std::sync::Arc;
use std::time::Instant;

use dgsuite_amg::{Gmres, LinearOperator, Preconditioner};
use dgsuite_gpu::{GpuError, Host, HostVector, Vector};

use super::NewtonStatistics;
use super::blocks::Blocks;
use super::coarse::{Between, Coarse};
use super::jacobian::Jacobian;
use crate::setup::Newton;

/// Directions of block Jacobi after the problem of order one.
const DIRECTIONS: usize = 3;

/// The linear problem of a step with its preconditioner.
pub(super) struct Linear {
    pub(super) jacobian: Jacobian,
    pub(super) host: Arc<Host>,
    pub(super) order: usize,
    pub(super) neighbours: Vec<Vec<u32>>,
    /// Colours of elements that are no neighbours, and those of elements without a common neighbour.
    pub(super) near: Vec<Vec<u32>>,
    pub(super) apart: Vec<Vec<u32>>,
    pub(super) between: Option<Vec<Arc<Between>>>,
    pub(super) made: Option<Made>,
    /// What the present preconditioner has cost.
    cost: Cost,
    /// `1/Δτ` and the scale of the rows of each element.
    pub(super) shifts: Vec<f64>,
    pub(super) scales: Vec<f64>,
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

/// What a preconditioner consists of. At order one the sparse matrix is that of the whole problem.
pub(super) struct Made {
    blocks: Option<Blocks>,
    coarse: Option<Coarse>,
    /// Some directions of the smoother.
    directions: Gmres<HostVector<f64>>,
}

impl Linear {
    pub(super) fn new(
        jacobian: Jacobian,
        host: &Arc<Host>,
        (order, between): (usize, Option<Vec<Arc<Between>>>),
        neighbours: Vec<Vec<u32>>,
        newton: Newton,
    ) -> Self {
        let [near, apart] = [false, true].map(|apart| super::colours::colours(&neighbours, apart));
        Self {
            jacobian,
            host: Arc::clone(host),
            order,
            neighbours,
            near,
            apart,
            between,
            made: None,
            cost: Cost::default(),
            shifts: Vec::new(),
            scales: Vec::new(),
            newton,
        }
    }

    /// Bytes of Jacobian and preconditioner.
    pub(super) fn bytes(&self) -> usize {
        let made = self.made.as_ref().map_or(0, |made| {
            made.blocks.as_ref().map_or(0, Blocks::bytes) + made.coarse.as_ref().map_or(0, Coarse::bytes)
        });
        self.jacobian.bytes() + made
    }

    /// Makes the preconditioner for the present shifts: anew when its steps have taken as many products
    /// beyond those of its first as it takes to make it, or if it did not solve a problem.
    pub(super) fn prepare(&mut self, statistics: &mut NewtonStatistics) -> Result<(), GpuError> {
        let begun = Instant::now();
        if self.made.is_none() || self.cost.spent {
            // The former one is not needed meanwhile.
            self.made = None;
            let before = self.jacobian.products();
            let whole = self.order < 2 && self.between.is_some();
            let blocks = (!whole).then(|| Blocks::new(&self.jacobian, &self.near));
            let coarse = self
                .between
                .as_ref()
                .map(|between| Coarse::new(&self.jacobian, between.clone(), &self.neighbours, &self.apart));
            let zeros = HostVector::zeros(&self.host, self.jacobian.len())?;
            self.made = Some(Made { blocks, coarse, directions: Gmres::new(&zeros, DIRECTIONS)? });
            self.cost = Cost { setup: self.jacobian.products() - before, ..Cost::default() };
            statistics.setups += 1;
        }
        // What is singular leads to a step that is rejected, and to larger shifts.
        if let Some(Made { blocks, coarse, .. }) = &mut self.made {
            if let Some(blocks) = blocks {
                blocks.invert(&self.host, &self.shifts);
            }
            if let Some(coarse) = coarse {
                coarse.factorise(&self.shifts);
            }
        }
        statistics.setup_s += begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// Notes the products that a step took, and whether its problem was solved.
    pub(super) fn took(&mut self, products: u64, solved: bool) {
        let cost = &mut self.cost;
        let old = cost.first.is_some();
        let first = *cost.first.get_or_insert(products);
        cost.extra += products.saturating_sub(first);
        cost.spent = cost.extra > cost.setup || (old && !solved);
    }

    /// `v ← S v`, or `S⁻¹ v`.
    pub(super) fn scale(&self, v: &mut [f64], back: bool) {
        for (range, &scale) in self.jacobian.offsets.windows(2).zip(&self.scales) {
            let scale = if back { 1.0 / scale } else { scale };
            v[range[0]..range[1]].iter_mut().for_each(|x| *x *= scale);
        }
    }
}

/// The scaled operator `S (1/Δτ − R′(u))`. The scale of an element is its explicit step, so that rows of
/// small and large elements count alike.
pub(super) struct Operator<'a>(pub(super) &'a Linear);

impl LinearOperator<HostVector<f64>> for Operator<'_> {
    fn n_rows(&self) -> usize {
        self.0.jacobian.len()
    }

    fn apply(&self, x: &HostVector<f64>, y: &mut HostVector<f64>) {
        let linear = self.0;
        linear.jacobian.multiply(x, y);
        let elements = linear.jacobian.offsets.windows(2).zip(linear.shifts.iter().zip(&linear.scales));
        for (range, (&shift, &scale)) in elements {
            for (y, x) in y[range[0]..range[1]].iter_mut().zip(&x[range[0]..range[1]]) {
                *y = scale * (shift * x - *y);
            }
        }
    }
}

/// The inverses of the diagonal blocks of the scaled operator.
struct OfBlocks<'a> {
    linear: &'a Linear,
    blocks: &'a Blocks,
    r: Vec<f64>,
}

impl Preconditioner<HostVector<f64>> for OfBlocks<'_> {
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        self.r.copy_from_slice(r);
        self.linear.scale(&mut self.r, true);
        self.blocks.apply(&self.linear.host, &self.linear.jacobian.offsets, &self.r, z);
    }
}

/// The preconditioner of the scaled operator: the problem of order one, then some directions of block Jacobi.
pub(super) struct Inverse<'a> {
    linear: &'a Linear,
    coarse: &'a mut Option<Coarse>,
    smoother: Option<OfBlocks<'a>>,
    directions: &'a mut Gmres<HostVector<f64>>,
    work: [HostVector<f64>; 2],
}

impl<'a> Inverse<'a> {
    /// The preconditioner that was made for a linear problem.
    pub(super) fn new(linear: &'a Linear, made: &'a mut Made) -> Result<Self, GpuError> {
        let Made { blocks, coarse, directions } = made;
        let n = linear.jacobian.len();
        let zeros = || HostVector::zeros(&linear.host, n);
        let work = [zeros()?, zeros()?];
        let smoother = blocks.as_ref().map(|blocks| OfBlocks { linear, blocks, r: vec![0.0; n] });
        Ok(Self { linear, coarse, smoother, directions, work })
    }
}

impl Preconditioner<HostVector<f64>> for Inverse<'_> {
    fn apply(&mut self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        z.fill(0.0);
        let [rest, change] = &mut self.work;
        rest.copy_from(r);
        if let Some(coarse) = self.coarse {
            self.linear.scale(rest, true);
            coarse.add_correction(&self.linear.jacobian.offsets, rest, z);
        }
        let Some(smoother) = &mut self.smoother else { return };
        let operator = Operator(self.linear);
        if self.coarse.is_some() {
            operator.apply(z, rest);
            rest.axpby(1.0, r, -1.0);
        }
        self.directions.approximate(&operator, smoother, rest, change);
        z.axpby(1.0, change, 1.0);
    }
}
