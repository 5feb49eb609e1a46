//! Transfers between two orders of one elliptic problem: interpolation and its transpose.
//!
//! Prolongation evaluates the coarse polynomials at the fine nodes: by one-dimensional factors, one direction
//! after the other, on quadrilaterals and hexahedra, by a dense matrix on other shapes. Restriction is its
//! transpose.

use super::Sipdg;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::rhs::matrix_kernels;
use crate::rhs::matrix_kernels::MultiplyAdd;
use crate::rhs::residual::{before_last, multiply};
use crate::space::chain::Chain;
use crate::space::layout::Layout;
use dgsuite_basis::{LagrangeBasis, Matrix, NodeSet, Shape};
use dgsuite_gpu::{Buffer, Host, SimdLevel};
use rayon::prelude::*;
use std::sync::Arc;

use super::tables::clean;

/// Interpolation from a coarse order to a fine one, and its transpose.
pub struct PTransfer<T> {
    host: Arc<Host>,
    level: SimdLevel,
    groups: Vec<GroupTransfer<T>>,
}

struct GroupTransfer<T> {
    fine: Layout,
    coarse: Layout,
    /// Offsets of the group in the vectors of both orders.
    offsets: [usize; 2],
    prolong: Chain<T>,
    restrict: Chain<T>,
    shape: Shape,
    /// The factors of both directions, for a device.
    factors: [Vec<Rows>; 2],
}

impl<T: PackScalar> Sipdg<T> {
    /// Sets up the transfer between two orders of one problem.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if they are not on the same mesh, or if the coarse order is the higher one.
    pub fn transfer(fine: &Self, coarse: &Self) -> Result<PTransfer<T>, OpsError> {
        let refuse = |reason: &str| Err(OpsError::Elliptic { reason: reason.to_owned() });
        if !Arc::ptr_eq(fine.mesh(), coarse.mesh()) || fine.level != coarse.level {
            return refuse("a transfer is between two orders on one mesh");
        }
        if fine.order() < coarse.order() {
            return refuse("the coarse level of a transfer has the higher order");
        }
        let mut groups = Vec::new();
        for (f, c) in fine.space.groups.iter().zip(&coarse.space.groups) {
            let (to, from) = (&f.parts[0].reference, &c.parts[0].reference);
            let rows = T::panel_rows(fine.level, 1);
            let chain = |stages: &[(Rows, usize)]| Chain::new(stages, rows, f.state.lanes);
            let (prolong, restrict) = if to.tensor.is_some() {
                // The same factor in every direction.
                let (nf, nc) = (fine.order() + 1, coarse.order() + 1);
                let line =
                    |order: usize| LagrangeBasis::with_nodes(Shape::Line, order, NodeSet::GaussLegendre);
                let m = clean(&line(coarse.order())?.eval(line(fine.order())?.nodes()));
                let dim = f.shape.dim();
                (along(&m, dim, nf, nc), along(&m.transpose(), dim, nc, nf))
            } else {
                let nodes = to.nodes.as_deref().unwrap_or_default();
                let m = clean(&from.evaluate(nodes));
                (vec![(Rows::dense(&m), m.rows())], vec![(Rows::dense(&m.transpose()), m.cols())])
            };
            groups.push(GroupTransfer {
                fine: f.state,
                coarse: c.state,
                offsets: [f.offset, c.offset],
                prolong: chain(&prolong),
                restrict: chain(&restrict),
                shape: f.shape,
                factors: [prolong, restrict].map(|stages| stages.into_iter().map(|(m, _)| m).collect()),
            });
        }
        Ok(PTransfer { host: Arc::clone(fine.host()), level: fine.level, groups })
    }
}

/// Allocates buffers between the factors of a chain; `None` if memory is exhausted.
fn room_for<T: PackScalar>(len: usize) -> Option<[Buffer<T>; 2]> {
    Some([Buffer::zeros(len).ok()?, Buffer::zeros(len).ok()?])
}

/// `m ⊗ … ⊗ m` a direction at a time; `m` has `rows` rows and `cols` columns.
pub(super) fn along(m: &Matrix, dim: usize, rows: usize, cols: usize) -> Vec<(Rows, usize)> {
    let mut sizes = vec![cols; dim];
    (0..dim)
        .map(|d| {
            let mut out = Rows::identity(1);
            for (e, &n) in sizes.iter().enumerate().rev() {
                out = out.kron(&if e == d { Rows::dense(m) } else { Rows::identity(n) });
            }
            sizes[d] = rows;
            (out, rows)
        })
        .collect()
}

impl<T: PackScalar> PTransfer<T> {
    /// `fine ← fine + P coarse`.
    ///
    /// # Panics
    /// If the length of a vector is not that of its operator's vectors.
    pub fn prolong(&self, coarse: &[T], fine: &mut [T]) {
        self.check(fine.len(), coarse.len());
        self.host.install(|| {
            let mut rest = fine;
            for group in &self.groups {
                let (own, others) = rest.split_at_mut(group.fine.len());
                rest = others;
                let (len, from) = (group.fine.block_len(), group.coarse.block_len());
                let room = group.prolong.widest() * group.fine.lanes;
                own.par_chunks_mut(len).enumerate().for_each_init(
                    || room_for::<T>(room),
                    |between, (b, out)| {
                        let Some(between) = between else { return };
                        let coarse = &coarse[group.offsets[1] + b * from..][..from];
                        let Some((last, before)) = group.prolong.stages.split_last() else { return };
                        let b = before_last(self.level, 1, before, coarse, between);
                        let product = MultiplyAdd { fields: 1, a: last, b: b.unwrap_or(coarse), out };
                        matrix_kernels::multiply_add(self.level, product);
                    },
                );
            }
        });
    }

    /// `coarse ← Pᵀ fine`.
    ///
    /// # Panics
    /// If the length of a vector is not that of its operator's vectors.
    pub fn restrict(&self, fine: &[T], coarse: &mut [T]) {
        self.check(fine.len(), coarse.len());
        self.host.install(|| {
            let mut rest = coarse;
            for group in &self.groups {
                let (own, others) = rest.split_at_mut(group.coarse.len());
                rest = others;
                let (len, from) = (group.coarse.block_len(), group.fine.block_len());
                let room = group.restrict.widest() * group.fine.lanes;
                own.par_chunks_mut(len).enumerate().for_each_init(
                    || room_for::<T>(room),
                    |between, (b, out)| {
                        let Some(between) = between else { return };
                        let fine = &fine[group.offsets[0] + b * from..][..from];
                        multiply(self.level, 1, &group.restrict, fine, between, out);
                    },
                );
            }
        });
    }

    /// The factors of interpolation and of its transpose for elements of a shape; the first is applied first.
    pub(crate) fn factors_of(&self, shape: Shape) -> Option<[&[Rows]; 2]> {
        let group = self.groups.iter().find(|g| g.shape == shape)?;
        Some([&group.factors[0], &group.factors[1]])
    }

    fn check(&self, fine: usize, coarse: usize) {
        let sum = |of: fn(&GroupTransfer<T>) -> usize| self.groups.iter().map(of).sum::<usize>();
        assert_eq!(fine, sum(|g| g.fine.len()), "entries of the fine vector");
        assert_eq!(coarse, sum(|g| g.coarse.len()), "entries of the coarse vector");
    }
}
